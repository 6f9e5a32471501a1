// Householder's reflections and Cholesky's factor of matrices of many shapes, for every instruction
// set that the machine has, on one thread and on several: what they make is multiplied back.
#include "operator/linalg/factors/condense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "cpu_levels.h"
#include "operator/linalg/factors/blocked_cholesky.h"
#include "operator/linalg/factors/reflections.h"
#include "operator/linalg/factors/row_kernels.h"

namespace mxnet {
namespace linalg {
namespace {

using CondenseTest = CpuLevelTest;

// Row-major, in double.
struct Matrix {
  int64_t rows, columns;
  std::vector<double> numbers;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), numbers(static_cast<size_t>(r * c), 0.0) {}
  double& operator()(int64_t r, int64_t c) { return numbers[static_cast<size_t>(r * columns + c)]; }
  double operator()(int64_t r, int64_t c) const { return numbers[static_cast<size_t>(r * columns + c)]; }
};

Matrix Product(const Matrix& a, const Matrix& b, bool a_transposed = false) {
  const int64_t rows = a_transposed ? a.columns : a.rows, inner = a_transposed ? a.rows : a.columns;
  Matrix out(rows, b.columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k) {
      const double factor = a_transposed ? a(k, i) : a(i, k);
      for (int64_t j = 0; j < b.columns; ++j) out(i, j) += factor * b(k, j);
    }
  return out;
}

Matrix Draw(int64_t rows, int64_t columns) {
  Matrix out(rows, columns);
  std::mt19937 generator(static_cast<unsigned>(rows * 1000 + columns));
  std::normal_distribution<double> normal;
  for (double& v : out.numbers) v = static_cast<float>(normal(generator));
  return out;
}

template <typename T>
std::vector<T> Narrow(const Matrix& a, int64_t pitch) {
  std::vector<T> out(static_cast<size_t>(a.rows * pitch), std::numeric_limits<T>::quiet_NaN());  // gaps are not read
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t c = 0; c < a.columns; ++c) out[static_cast<size_t>(r * pitch + c)] = static_cast<T>(a(r, c));
  return out;
}

template <typename T>
Matrix Widen(const std::vector<T>& a, int64_t rows, int64_t columns, int64_t pitch) {
  Matrix out(rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) out(r, c) = static_cast<double>(a[static_cast<size_t>(r * pitch + c)]);
  return out;
}

// q of `count` reflections of `length` numbers, from TimesFactor of the identity.
template <typename T>
Matrix Factor(int64_t count, int64_t length, const T* rows, int64_t pitch, const T* scale) {
  Matrix identity(length, length);
  for (int64_t i = 0; i < length; ++i) identity(i, i) = 1;
  std::vector<T> q = Narrow<T>(identity, length);
  if (count > 0) TimesFactor(Reflections<T>{count, length, pitch, rows, scale}, length, q.data(), length);
  return Widen(q, length, length, length);
}

template <typename T>
void Near(const Matrix& got, const Matrix& want, double size) {
  ASSERT_EQ(got.numbers.size(), want.numbers.size());
  double most = 0;
  for (size_t i = 0; i < got.numbers.size(); ++i) most = std::max(most, std::abs(got.numbers[i] - want.numbers[i]));
  EXPECT_LE(most, 40 * size * static_cast<double>(std::numeric_limits<T>::epsilon())) << got.rows << " x " << got.columns;
}

double Largest(const Matrix& a) {
  double most = 1;
  for (double v : a.numbers) most = std::max(most, std::abs(v));
  return most * std::sqrt(static_cast<double>(std::max(a.rows, a.columns)));
}

template <typename T>
void CheckLq(int64_t m, int64_t n, bool small) {
  const Matrix a = Draw(m, n);
  std::vector<T> q = Narrow<T>(a, n), scale(static_cast<size_t>(m)), lower(static_cast<size_t>(m * m));
  if (small) {
    MXNET_CPU_CALL(SmallLq)(sizeof(T) == 8, m, n, q.data(), lower.data());
  } else {
    FactorRows(m, n, q.data(), scale.data());
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c <= r; ++c) lower[static_cast<size_t>(r * m + c)] = q[static_cast<size_t>(r * n + c)];
    RowsOfFactor(m, n, q.data(), scale.data());
  }
  const Matrix l = Widen(lower, m, m, m), rows = Widen(q, m, n, n);
  Near<T>(Product(l, rows), a, Largest(a));
  Matrix square(m, m), identity(m, m);
  for (int64_t i = 0; i < m; ++i) {
    identity(i, i) = 1;
    for (int64_t j = 0; j < m; ++j)
      for (int64_t c = 0; c < n; ++c) square(i, j) += rows(i, c) * rows(j, c);
  }
  Near<T>(square, identity, std::sqrt(static_cast<double>(n)));
}

template <typename T>
void CheckTridiagonal(int64_t n) {
  Matrix a = Draw(n, n);
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c < r; ++c) a(r, c) = a(c, r);
  const int64_t pitch = RowPitch(n);
  std::vector<T> rows = Narrow<T>(a, pitch), diagonal(static_cast<size_t>(n)), beside(diagonal), scale(diagonal);
  Tridiagonal(n, rows.data(), diagonal.data(), beside.data(), scale.data());
  Matrix t(n, n), q(n, n);
  const Matrix part = Factor(n - 1, n - 1, rows.data() + 1, pitch, scale.data());
  for (int64_t i = 0; i < n; ++i) {
    t(i, i) = static_cast<double>(diagonal[static_cast<size_t>(i)]);
    if (i + 1 < n) t(i, i + 1) = t(i + 1, i) = static_cast<double>(beside[static_cast<size_t>(i)]);
    for (int64_t j = 0; j < n; ++j) q(i, j) = i == 0 || j == 0 ? (i == j) : part(i - 1, j - 1);
  }
  Near<T>(Product(q, Product(t, q), true), a, Largest(a));
}

template <typename T>
void CheckBidiagonal(int64_t m, int64_t n) {
  const Matrix a = Draw(m, n);
  const int64_t pitch = RowPitch(n);
  std::vector<T> rows = Narrow<T>(a, pitch), diagonal(static_cast<size_t>(m)), beside(diagonal), scale(diagonal), right(diagonal);
  std::vector<T> columns(static_cast<size_t>(m * m), std::numeric_limits<T>::quiet_NaN());
  Bidiagonal(m, n, rows.data(), diagonal.data(), beside.data(), scale.data(), columns.data(), right.data());
  const Matrix q = Factor(m, n, rows.data(), pitch, scale.data()), part = Factor(m - 1, m - 1, columns.data() + 1, m, right.data());
  Matrix b(m, n), p(m, m);
  for (int64_t i = 0; i < m; ++i) {
    b(i, i) = static_cast<double>(diagonal[static_cast<size_t>(i)]);
    if (i > 0) b(i, i - 1) = static_cast<double>(beside[static_cast<size_t>(i - 1)]);
    for (int64_t j = 0; j < m; ++j) p(i, j) = i == 0 || j == 0 ? (i == j) : part(i - 1, j - 1);
  }
  Near<T>(Product(p, Product(b, q), true), a, Largest(a));
}

template <typename T>
void CheckCholesky(bool lower, int64_t n) {
  const Matrix part = Draw(n, n);
  Matrix a(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      for (int64_t k = 0; k < n; ++k) a(i, j) += part(i, k) * part(j, k);
      a(i, j) = a(j, i) = static_cast<double>(static_cast<T>(a(i, j) + (i == j ? static_cast<double>(n) : 0)));
    }
  std::vector<T> f = Narrow<T>(a, n);
  ASSERT_EQ(BlockedCholesky(lower, n, f.data()), 0);
  Matrix u(n, n);
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = r; c < n; ++c) u(r, c) = static_cast<double>(f[static_cast<size_t>(lower ? c * n + r : r * n + c)]);
  Near<T>(Product(u, u, true), a, Largest(a));
  for (int64_t bad : {int64_t{0}, n / 2, n - 1}) {
    f = Narrow<T>(a, n);
    f[static_cast<size_t>(bad * n + bad)] = T(-1);
    EXPECT_EQ(BlockedCholesky(lower, n, f.data()), bad + 1);
  }
}

TEST_P(CondenseTest, RowsAreReflected) {
  for (const auto& [m, n] : std::vector<std::tuple<int64_t, int64_t>>{
           {1, 1}, {1, 7}, {2, 2}, {16, 16}, {17, 40}, {33, 33}, {64, 64}, {63, 128}, {65, 300}, {130, 131}, {200, 200}}) {
    for (bool small : {false, true}) {
      if (small && !IsSmallLq(m, n)) continue;
      CheckLq<float>(m, n, small);
      CheckLq<double>(m, n, small);
    }
  }
}

TEST_P(CondenseTest, SymmetricMatricesBecomeTridiagonal) {
  for (int64_t n : {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 150, 200}) {
    CheckTridiagonal<float>(n);
    CheckTridiagonal<double>(n);
  }
}

TEST_P(CondenseTest, MatricesBecomeBidiagonal) {
  for (const auto& [m, n] : std::vector<std::tuple<int64_t, int64_t>>{
           {1, 1}, {1, 9}, {2, 2}, {15, 17}, {16, 16}, {32, 33}, {33, 50}, {65, 65}, {100, 160}, {150, 150}}) {
    CheckBidiagonal<float>(m, n);
    CheckBidiagonal<double>(m, n);
  }
}

TEST_P(CondenseTest, CholeskyFactors) {
  for (int64_t n : {1, 5, 64, 65, 100, 128, 129, 200})
    for (bool lower : {false, true}) {
      CheckCholesky<float>(lower, n);
      CheckCholesky<double>(lower, n);
    }
}

// Large enough for threads that share one pass over a matrix: norm and trace stay.
TEST_P(CondenseTest, LargeMatricesKeepNormAndTrace) {
  const int64_t n = 1500, pitch = RowPitch(n);
  Matrix a = Draw(n, n);
  double trace = 0, squares = 0;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < r; ++c) a(r, c) = a(c, r);
    trace += a(r, r);
  }
  for (double v : a.numbers) squares += v * v;
  std::vector<float> rows = Narrow<float>(a, pitch), diagonal(static_cast<size_t>(n)), beside(diagonal), scale(diagonal), right(diagonal);
  Tridiagonal(n, rows.data(), diagonal.data(), beside.data(), scale.data());
  double got_trace = 0, got = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = static_cast<double>(diagonal[static_cast<size_t>(i)]), e = static_cast<double>(beside[static_cast<size_t>(i)]);
    got_trace += d, got += d * d + (i + 1 < n ? 2 * e * e : 0);
  }
  EXPECT_NEAR(got_trace, trace, 1e-2);
  EXPECT_NEAR(got / squares, 1, 1e-4);
  rows = Narrow<float>(a, pitch);
  std::vector<float> columns(static_cast<size_t>(n * n));
  Bidiagonal(n, n, rows.data(), diagonal.data(), beside.data(), scale.data(), columns.data(), right.data());
  got = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = static_cast<double>(diagonal[static_cast<size_t>(i)]), e = static_cast<double>(beside[static_cast<size_t>(i)]);
    got += d * d + (i + 1 < n ? e * e : 0);
  }
  EXPECT_NEAR(got / squares, 1, 1e-4);
}

MXNET_ON_CPU_LEVELS(CondenseTest);

}  // namespace
}  // namespace linalg
}  // namespace mxnet
