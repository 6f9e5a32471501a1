// The Khatri-Rao product: a row of the result is the elementwise product of one row of each input;
// the row of the last input changes fastest.
#include "rtc/loop.cuh"

namespace kernels {

template <typename I, typename X, int inputs>
struct khatri_rao {
  typedef typename mx::Choose<mx::IsReal<X>::value, typename mx::Real<X>::Type, long long>::Type A;
  struct Input {
    const X* data;
    long long rows;
  };
  struct Args {
    X* out;
    long long columns;
    Input in[inputs];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i / static_cast<I>(a.columns);
    const I c = i - rest * static_cast<I>(a.columns);
    A v = A(1);
#pragma unroll
    for (int k = inputs - 1; k >= 0; --k) {
      v *= mx::Load<A>(a.in[k].data, (rest % static_cast<I>(a.in[k].rows)) * a.columns + c);
      rest /= static_cast<I>(a.in[k].rows);
    }
    mx::Store(a.out, i, v);
  }
};
}  // namespace kernels
