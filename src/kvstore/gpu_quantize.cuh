// Two-bit gradient compression: what is sent, and what is kept for the next time.
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct quantize_two_bit {
  struct Args {
    const float* in;
    float *residual, *out;
    double threshold;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const float t = static_cast<float>(a.threshold), sum = a.residual[i] + a.in[i];
    const float q = sum >= t ? t : sum <= -t ? -t : 0.0f;
    a.residual[i] = sum - q;
    a.out[i] = q;
  }
};
}  // namespace kernels
