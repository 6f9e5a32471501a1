// Differences of neighbours of lines (outer, size, inner), and their gradient.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct DifferencesArgs {
  const X* from;
  X* to;
  long long size, inner, count;
};

// What numbers are subtracted in: integers wrap around, halves go through float.
template <typename X>
struct Wide {
  typedef X C;
};
template <>
struct Wide<mx::half> {
  typedef float C;
};
template <>
struct Wide<mx::bfloat> {
  typedef float C;
};
template <>
struct Wide<int> {
  typedef unsigned C;
};
template <>
struct Wide<long long> {
  typedef unsigned long long C;
};

template <typename X>
__device__ __forceinline__ void StoreDifference(X* p, long long i, typename Wide<X>::C a, typename Wide<X>::C b) {
  mx::Store<X, typename Wide<X>::C>(p, i, static_cast<typename Wide<X>::C>(a - b));
}

template <typename I, typename X>
struct differences {
  typedef DifferencesArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    typedef typename Wide<X>::C C;
    const long long k = i % a.inner, line = i / a.inner, parts = a.size - 1;
    const long long at = (line / parts * a.size + line % parts) * a.inner + k;
    StoreDifference(a.to, i, mx::Load<C>(a.from, at + a.inner), mx::Load<C>(a.from, at));
  }
};

template <typename I, typename X>
struct differences_backward {
  typedef DifferencesArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    typedef typename Wide<X>::C C;
    const long long k = i % a.inner, line = i / a.inner, place = line % a.size;
    const long long at = (line / a.size * (a.size - 1) + place) * a.inner + k;
    StoreDifference(a.to, i, place > 0 ? mx::Load<C>(a.from, at - a.inner) : C(0), place < a.size - 1 ? mx::Load<C>(a.from, at) : C(0));
  }
};
}  // namespace kernels
