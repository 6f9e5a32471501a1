// Count sketches of rows.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X, typename H, typename S>
struct SketchArgs {
  X* wide;
  const H* h;
  const X* s;
  S* narrow;
  long long from, to;
  long long count;
};
template <typename I, typename X, typename H, typename S>
struct sketch {
  typedef SketchArgs<X, H, S> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.from);
    const long long k = i - row * static_cast<I>(a.from), at = mx::Load<long long>(a.h, k);
    if (at >= 0 && at < a.to) atomicAdd(a.narrow + row * a.to + at, mx::Load<S>(a.wide, i) * mx::Load<S>(a.s, k));
  }
};
// One thread for each row: the sums have one order.
template <typename I, typename X, typename H, typename S>
struct sketch_in_order {
  typedef SketchArgs<X, H, S> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long row) {
    for (long long k = 0; k < a.from; ++k) {
      const long long at = mx::Load<long long>(a.h, k);
      if (at >= 0 && at < a.to) a.narrow[row * a.to + at] += mx::Load<S>(a.wide, row * a.from + k) * mx::Load<S>(a.s, k);
    }
  }
};
template <typename I, typename X, typename H, typename S>
struct sketch_back {
  typedef typename mx::Real<X>::Type A;
  typedef SketchArgs<X, H, S> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.from);
    const long long k = i - row * static_cast<I>(a.from), at = mx::Load<long long>(a.h, k);
    const bool inside = at >= 0 && at < a.to;
    mx::Store(a.wide, i, inside ? mx::Load<A>(a.narrow, row * a.to + at) * mx::Load<A>(a.s, k) : A(0));
  }
};
}  // namespace kernels
