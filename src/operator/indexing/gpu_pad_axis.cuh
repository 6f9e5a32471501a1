// Padding of one dimension: small (outer, size, inner), large (outer, large_size, inner).
#include "rtc/loop.cuh"

namespace kernels {

enum PadAxisMode { kConstant, kEdge, kReflect, kSymmetric, kMaximum, kMinimum };  // as in numpy_pad.cc

// The entry that place s of a dimension shows, or -1. kMaximum, kMinimum: the one behind the last.
template <int mode>
__device__ __forceinline__ long long Shown(long long s, long long size) {
  if (s >= 0 && s < size) return s;
  if constexpr (mode == kConstant) return -1;
  if constexpr (mode == kMaximum || mode == kMinimum) return size;
  if constexpr (mode == kEdge) return s < 0 ? 0 : size - 1;
  if (size == 1) return 0;
  const long long period = mode == kReflect ? 2 * (size - 1) : 2 * size;
  const long long r = (s % period + period) % period;
  return r < size ? r : (mode == kReflect ? period : period - 1) - r;
}

template <typename X>
struct PadAxisArgs {
  X *small, *large;
  long long small_size, size, large_size, before, inner;
  double value;
  long long count;
};

template <typename I, typename X, int mode>
struct pad_axis {
  typedef PadAxisArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long inner = i % a.inner, line = i / a.inner, outer = line / a.large_size;
    const long long from = Shown<mode>(line % a.large_size - a.before, a.size);
    if (from >= 0)
      a.large[i] = a.small[(outer * a.small_size + from) * a.inner + inner];
    else
      mx::StoreNumber(a.large, i, a.value);
  }
};

template <typename I, typename X, int mode>
struct pad_axis_backward {
  typedef PadAxisArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long inner = i % a.inner, line = i / a.inner, outer = line / a.size, s = line % a.size;
    double sum = 0;
    for (long long at = 0; at < a.large_size; ++at)
      if (Shown<mode>(at - a.before, a.size) == s) sum += mx::Load<double>(a.large, (outer * a.large_size + at) * a.inner + inner);
    mx::StoreNumber(a.small, i, sum);
  }
};
}  // namespace kernels
