// SmallEigen on matrices that are hard in one way or another, for every instruction set that the
// machine has: A u = w u, and orthonormal rows of u.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "cpu_levels.h"
#include "operator/linalg/factors/small.h"

namespace mxnet {
namespace {

using Element = std::function<double(int64_t row, int64_t column)>;

using SmallEigenTest = CpuLevelTest;

// Errors in units of the rounding. LAPACK's own reach 20 at these orders.
template <typename T>
void Check(int64_t n, const Element& element) {
  std::vector<T> a(n * n), w(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) a[i * n + j] = a[j * n + i] = static_cast<T>(element(i, j));
  std::vector<T> u = a;
  for (int64_t i = 0; i < n; ++i)  // is not read
    for (int64_t j = i + 1; j < n; ++j) u[i * n + j] = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> only = w, rest = u;
  ASSERT_EQ(MXNET_CPU_CALL(SmallEigen)(sizeof(T) == 8, true, u.data(), w.data(), n), 0);
  ASSERT_EQ(MXNET_CPU_CALL(SmallEigen)(sizeof(T) == 8, false, rest.data(), only.data(), n), 0);
  ASSERT_EQ(only, w);
  const double unit = std::numeric_limits<T>::epsilon();
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(static_cast<double>(a[i * n + j]));
    norm = std::max(norm, sum);
  }
  for (int64_t k = 0; k < n; ++k) {
    const T* row = u.data() + k * n;
    ASSERT_LE(w[std::max<int64_t>(k - 1, 0)], w[k]);
    for (int64_t i = 0; i < n; ++i) {
      double residual = -static_cast<double>(w[k]) * row[i], product = i == k ? -1 : 0;
      for (int64_t j = 0; j < n; ++j) {
        residual += static_cast<double>(a[i * n + j]) * row[j];
        product += static_cast<double>(u[i * n + j]) * row[j];
      }
      ASSERT_LE(std::abs(residual), 40 * unit * norm) << n << ": vector " << k << ", row " << i;
      ASSERT_LE(std::abs(product), 40 * unit) << n << ": vectors " << k << " and " << i;
    }
  }
}

void CheckBoth(const std::function<Element(double large, double small)>& made, int64_t most = kSmallMatrix) {
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64}) {
    if (n <= std::min(most, SmallEigenMatrix(false))) Check<float>(n, made(1e36, 1e-34));
    if (n <= std::min(most, SmallEigenMatrix(true))) Check<double>(n, made(1e306, 1e-304));
  }
}

TEST_P(SmallEigenTest, RandomNumbers) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  CheckBoth([&](double, double) { return [&](int64_t, int64_t) { return normal(engine); }; });
  CheckBoth([&](double large, double) { return [&, large](int64_t, int64_t) { return large * normal(engine); }; });
  CheckBoth([&](double, double small) { return [&, small](int64_t, int64_t) { return small * normal(engine); }; });
  // Many equal entries and equal eigenvalues.
  CheckBoth([&](double, double) { return [&](int64_t i, int64_t j) { return i != j && normal(engine) > 1; }; });
}

TEST_P(SmallEigenTest, FewDifferentEigenvalues) {
  CheckBoth([](double, double) { return [](int64_t, int64_t) { return 0; }; });
  CheckBoth([](double, double) { return [](int64_t, int64_t) { return 1; }; });
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return i == j ? 3 : 0; }; });
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return std::sin(1 + i) * std::sin(1 + j); }; });
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return (i == j ? 1 : 0) + 1e-7 * std::cos(i * j); }; });
}

TEST_P(SmallEigenTest, Bands) {
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return i == j ? std::cos(5 * i) : 0; }; });
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return i - j == 1; }; });
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return i == j ? std::abs(i - 8) : i - j == 1; }; });
}

TEST_P(SmallEigenTest, LargeNumbersBesideSmallOnes) {
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return std::cos(i + 2 * j) * std::pow(10., -0.5 * (i + j)); }; }, 32);
  CheckBoth([](double, double) { return [](int64_t i, int64_t j) { return std::cos(i + 2 * j) * std::pow(10., 0.5 * (i + j - 64)); }; },
            32);
  CheckBoth([](double large, double small) {
    return [large, small](int64_t i, int64_t j) { return i == j ? (i % 2 ? large : small) : i - j == 1 ? small : 0; };
  });
}

TEST_P(SmallEigenTest, PairsAreExact) {
  double u[] = {1, 0, 1, 1}, w[2];
  ASSERT_EQ(MXNET_CPU_CALL(SmallEigen)(true, true, u, w, 2), 0);
  EXPECT_EQ(w[0], 0);
  EXPECT_EQ(w[1], 2);
}

MXNET_ON_CPU_LEVELS(SmallEigenTest);

}  // namespace
}  // namespace mxnet
