// Eigenvectors of matrices of two diagonals, for every instruction set that the machine has: each
// satisfies its equation, they are orthonormal, and eigenvalues ascend. Among the matrices are
// those with eigenvalues that lie as close as numbers do.
#include "operator/linalg/factors/divide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cpu_levels.h"

namespace mxnet {
namespace linalg {
namespace {

using DivideTest = CpuLevelTest;

struct Diagonals {
  std::string name;
  std::function<double(int64_t i, int64_t n)> diagonal, beside;
};

std::vector<Diagonals> Matrices(unsigned seed) {
  const auto draw = [generator = std::make_shared<std::mt19937>(seed)](int64_t, int64_t) {
    return std::normal_distribution<double>()(*generator);
  };
  const auto number = [](double v) { return [v](int64_t, int64_t) { return v; }; };
  const auto powers = [](double base) {
    return [base](int64_t i, int64_t n) { return std::pow(base, 30.0 * static_cast<double>(i) / static_cast<double>(n)); };
  };
  return {{"random", draw, draw},
          {"differences", number(2), number(-1)},
          {"zeros", number(0), number(0)},
          {"ones", number(1), number(0)},
          {"beside only", number(0), number(1)},
          {"weak links", draw, number(1e-9)},
          {"Wilkinson", [](int64_t i, int64_t n) { return std::abs(static_cast<double>(2 * i - n + 1)) / 2; }, number(1)},
          {"glued", [](int64_t i, int64_t) { return std::abs(static_cast<double>(i % 21 - 10)); },
           [](int64_t i, int64_t) { return i % 21 == 20 ? 1e-6 : 1.0; }},
          {"graded", powers(0.3), powers(0.25)},
          {"graded upwards", powers(2.5), powers(2)},
          {"large", [draw](int64_t i, int64_t n) { return 1e15 * draw(i, n); }, [draw](int64_t i, int64_t n) { return 1e15 * draw(i, n); }},
          {"little", [draw](int64_t i, int64_t n) { return 1e-15 * draw(i, n); }, number(-1e-15)},
          {"blocks", number(3), [](int64_t i, int64_t) { return i % 5 == 4 ? 0.0 : -2.0; }},
          {"one strong link", number(1e-6), [](int64_t i, int64_t n) { return i == n / 2 - 1 ? 1e3 : 1e-7; }}};
}

template <typename T>
void Check(const Diagonals& matrix, int64_t n) {
  SCOPED_TRACE(matrix.name + ", " + std::to_string(n) + " rows of " + std::to_string(sizeof(T)) + " bytes");
  const auto size = static_cast<size_t>(n);
  std::vector<T> diagonal(size), beside(size);
  double norm = 1e-30;
  for (size_t i = 0; i < size; ++i) {
    diagonal[i] = static_cast<T>(matrix.diagonal(static_cast<int64_t>(i), n));
    beside[i] = i + 1 < size ? static_cast<T>(matrix.beside(static_cast<int64_t>(i), n)) : T(0);
    norm = std::max({norm, std::abs(static_cast<double>(diagonal[i])), std::abs(static_cast<double>(beside[i]))});
  }
  std::vector<T> values = diagonal, lost = beside, vectors(size * size, std::numeric_limits<T>::quiet_NaN());
  ASSERT_EQ(DivideAndConquer(n, values.data(), lost.data(), vectors.data()), 0);
  ASSERT_TRUE(std::is_sorted(values.begin(), values.end()));
  const double least = 20 * std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
  double residual = 0, product = 0;
  for (size_t k = 0; k < size; ++k) {
    const T* v = vectors.data() + k * size;
    for (size_t i = 0; i < size; ++i) {
      double sum = (static_cast<double>(diagonal[i]) - static_cast<double>(values[k])) * static_cast<double>(v[i]);
      if (i > 0) sum += static_cast<double>(beside[i - 1]) * static_cast<double>(v[i - 1]);
      if (i + 1 < size) sum += static_cast<double>(beside[i]) * static_cast<double>(v[i + 1]);
      residual = std::max(residual, sum == sum ? std::abs(sum) / norm : INFINITY);
    }
    for (size_t other = 0; other <= k; ++other) {
      double dot = other == k ? -1 : 0;
      for (size_t i = 0; i < size; ++i) dot += static_cast<double>(v[i]) * static_cast<double>(vectors[other * size + i]);
      product = std::max(product, dot == dot ? std::abs(dot) : INFINITY);
    }
  }
  EXPECT_LE(residual, least);
  EXPECT_LE(product, least);
}

TEST_P(DivideTest, VectorsSolveTheirEquations) {
  unsigned seed = 0;
  for (int64_t n : {1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 129, 200, 321})
    for (const Diagonals& matrix : Matrices(++seed)) {
      Check<float>(matrix, n);
      Check<double>(matrix, n);
    }
}

MXNET_ON_CPU_LEVELS(DivideTest);

}  // namespace
}  // namespace linalg
}  // namespace mxnet
