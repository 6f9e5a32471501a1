// Loops of dropout on every instruction set, against the generator one counter at a time.
#include <gtest/gtest.h>

#include <vector>

#include "mxnet/base.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/shared/random_philox.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 0x123456789abcdefull, kCounter = 0xfffffff0ull;  // the counters pass 2^32
constexpr float kScale = 1.25f;

float Expected(uint64_t keep, int64_t i) {
  return Philox(kSeed, kCounter + static_cast<uint64_t>(i) / 4).word[i % 4] < keep ? kScale : 0.0f;
}

template <typename F>
void AtEveryLevel(const F& check) {
  for (CpuLevel cap : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4})
    if (CapCpuLevel(cap) == cap) check();
  CapCpuLevel(DetectedCpuLevel());
}

TEST(Dropout, MaskIsTheGenerators) {
  AtEveryLevel([] {
    for (uint64_t keep : {uint64_t{0}, uint64_t{1} << 30, uint64_t{3865470566}, uint64_t{1} << 32})
      for (int64_t begin : {0, 4, 132})
        for (int64_t n : {0, 1, 31, 128, 301}) {
          std::vector<float> mask(500, 7.0f);
          std::vector<double> wide(500, 7.0);
          MXNET_CPU_CALL(DropoutMask)(kFloat32, kSeed, kCounter, keep, kScale, mask.data(), begin, begin + n);
          MXNET_CPU_CALL(DropoutMask)(kFloat64, kSeed, kCounter, keep, kScale, wide.data(), begin, begin + n);
          for (int64_t i = 0; i < 500; ++i) {
            const float expected = i >= begin && i < begin + n ? Expected(keep, i) : 7.0f;
            ASSERT_EQ(mask[i], expected) << i << " of " << begin << " + " << n;
            ASSERT_EQ(wide[i], expected) << i << " of " << begin << " + " << n;
          }
        }
  });
}

TEST(Dropout, AppliesFromAnyElementOn) {
  AtEveryLevel([] {
    for (uint64_t keep : {uint64_t{0}, uint64_t{3865470566}, uint64_t{1} << 32})
      for (int64_t first : {0, 1, 2, 3, 5, 131})
        for (int64_t n : {0, 1, 3, 64, 127, 128, 301}) {
          std::vector<float> x(400), y(400, 7.0f);
          for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
          MXNET_CPU_CALL(DropoutApply)(kSeed, kCounter, keep, kScale, first, x.data(), y.data(), n);
          for (int64_t i = 0; i < 400; ++i)
            ASSERT_EQ(y[i], i < n ? x[i] * Expected(keep, first + i) : 7.0f) << i << " of " << n << " from " << first;
          MXNET_CPU_CALL(DropoutApply)(kSeed, kCounter, keep, kScale, first, x.data(), x.data(), n);  // in place
          for (int64_t i = 0; i < n; ++i) ASSERT_EQ(x[i], y[i]);
        }
  });
}

}  // namespace
}  // namespace mxnet
