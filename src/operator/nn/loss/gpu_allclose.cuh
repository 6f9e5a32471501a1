// Whether two arrays agree: threads that find a difference all store the same.
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct allclose_begin {
  struct Args {
    unsigned char* out;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long) { *a.out = 1; }
};

template <typename I, typename X>
struct allclose {
  struct Args {
    const X *a, *b;
    unsigned char* out;
    double rtol, atol;
    long long equal_nan;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    if constexpr (!mx::IsReal<X>::value)
      if (a.a[i] == a.b[i]) return;
    const double x = mx::Load<double>(a.a, i), y = mx::Load<double>(a.b, i);
    if (mx::IsReal<X>::value && x == y) return;
    bool close = false;
    if (x != x || y != y)
      close = a.equal_nan && x != x && y != y;
    else
      close = x - x == 0 && y - y == 0 && ::fabs(x - y) <= a.atol + a.rtol * ::fabs(y);
    if (!close) *a.out = 0;
  }
};
}  // namespace kernels
