// The samplers of distributions.cuh over the counters of a launch.
#include "operator/random/philox.cuh"
#include "rtc/std_math.cuh"

#define MX_DEVICE __device__
struct Philox {
  unsigned word[4];
  __device__ Philox(unsigned long long seed, unsigned long long counter, unsigned long long high = 0) {
    const mx::Philox r = mx::Draw(seed, counter, high);
    for (int k = 0; k < 4; ++k) word[k] = r.w[k];
  }
  static __device__ double ToDouble(unsigned high, unsigned low) { return mx::ToDouble(high, low); }
};
#include "operator/random/distributions.cuh"
#undef MX_DEVICE
