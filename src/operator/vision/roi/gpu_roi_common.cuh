// Regions (image, ...) of images (images, channels, h, w), and bins (regions, results, ph, pw).
#include "rtc/loop.cuh"

namespace kernels {

using mx::Product;  // edges and points lie where the CPU has them

template <typename A>
__device__ __forceinline__ bool Finite(A v) {
  return v - v == A(0);
}
// -1: not in the batch
template <typename A>
__device__ __forceinline__ long long ImageOf(A number, long long images) {
  return number > A(-1) && number < static_cast<A>(images) ? static_cast<long long>(number) : -1;
}
template <typename A>
__device__ __forceinline__ long long Clipped(A v, long long size) {
  if (!(v > A(0))) return 0;
  return v < static_cast<A>(size) ? static_cast<long long>(v) : size;
}

struct Sizes {
  long long images, channels, h, w;
  long long regions, results, ph, pw;
};

// A place among the bins or the pixels.
struct Place {
  long long x, y, c, n;
  template <typename I>
  __device__ __forceinline__ Place(I i, long long w, long long h, long long channels) {
    I rest = i;
    x = rest % static_cast<I>(w), rest /= static_cast<I>(w);
    y = rest % static_cast<I>(h), rest /= static_cast<I>(h);
    c = rest % static_cast<I>(channels), n = rest / static_cast<I>(channels);
  }
};
}  // namespace kernels
