// Windows of volumes (planes, in...) as columns (planes, taps, out...), and their sums back.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct WindowArgs {
  X *image, *columns;
  long long in[3], out[3], kernel[3], stride[3], dilate[3], pad[3];
  long long count;
};

template <typename I, typename X>
struct image_to_columns {
  typedef typename mx::Real<X>::Type A;
  typedef WindowArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long at[3], rest = i, pixel = 0, size = 1;
    bool inside = true;
#pragma unroll
    for (int k = 2; k >= 0; --k) at[k] = rest % a.out[k], rest /= a.out[k];
#pragma unroll
    for (int k = 2; k >= 0; --k) {
      const long long x = at[k] * a.stride[k] - a.pad[k] + rest % a.kernel[k] * a.dilate[k];
      rest /= a.kernel[k];
      inside = inside && x >= 0 && x < a.in[k];
      pixel += x * size, size *= a.in[k];
    }
    mx::Store(a.columns, i, inside ? mx::Load<A>(a.image, rest * size + pixel) : A(0));
  }
};

// Each pixel looks for the windows that cover it, tap after tap.
template <typename I, typename X>
struct columns_to_image {
  typedef typename mx::Real<X>::Type A;
  typedef WindowArgs<X> Args;
  static __device__ __forceinline__ bool Position(const Args& a, int k, long long x, long long tap, long long* at) {
    const long long from = x + a.pad[k] - tap * a.dilate[k];
    *at = from / a.stride[k];
    return from >= 0 && from % a.stride[k] == 0 && *at < a.out[k];
  }
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long x[3], rest = i, at[3];
#pragma unroll
    for (int k = 2; k >= 0; --k) x[k] = rest % a.in[k], rest /= a.in[k];
    A sum = A(0);
    for (long long p = 0; p < a.kernel[0]; ++p) {
      if (!Position(a, 0, x[0], p, &at[0])) continue;
      for (long long q = 0; q < a.kernel[1]; ++q) {
        if (!Position(a, 1, x[1], q, &at[1])) continue;
        for (long long r = 0; r < a.kernel[2]; ++r)
          if (Position(a, 2, x[2], r, &at[2])) {
            const long long row = ((rest * a.kernel[0] + p) * a.kernel[1] + q) * a.kernel[2] + r;
            sum += mx::Load<A>(a.columns, ((row * a.out[0] + at[0]) * a.out[1] + at[1]) * a.out[2] + at[2]);
          }
      }
    }
    mx::Store(a.image, i, sum);
  }
};
}  // namespace kernels
