// SmallMGemm against a plain sum, for every instruction set that the machine has, whole and in
// parts.
#include "operator/nn/cpu_gemm/small_m_gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cpu_levels.h"

namespace mxnet {
namespace {

std::vector<float> Random(size_t n, int seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> out(n);
  for (float& v : out) v = distribution(engine);
  return out;
}

using SmallMGemmTest = CpuLevelTest;

TEST_P(SmallMGemmTest, EqualsPlainSums) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8})
    for (int64_t n : {1, 7, 8, 30})
      for (int64_t k : {0, 1, 15, 16, 83}) {
        const auto x = Random(m * k, 1), w = Random(n * k, 2), b = Random(n, 3);
        for (bool bias : {false, true}) {
          std::vector<float> y(m * n, -7);
          const int64_t middle = n / 3;
          MXNET_CPU_CALL(SmallMGemm)(m, n, k, x.data(), w.data(), bias ? b.data() : nullptr, y.data(), 0, middle);
          MXNET_CPU_CALL(SmallMGemm)(m, n, k, x.data(), w.data(), bias ? b.data() : nullptr, y.data(), middle, n);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double sum = bias ? b[j] : 0;
              for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(x[i * k + l]) * w[j * k + l];
              ASSERT_NEAR(y[i * n + j], sum, 2e-5) << m << ' ' << n << ' ' << k << " at " << i << ' ' << j;
            }
        }
      }
}

MXNET_ON_CPU_LEVELS(SmallMGemmTest);

}  // namespace
}  // namespace mxnet
