// One triangle of matrices (rows, columns); rows of the source are `pitch` apart.
#include "rtc/loop.cuh"

namespace kernels {

template <typename I, typename X, int lower>
struct triangle {
  struct Args {
    const X* from;
    X* to;
    long long rows, columns, pitch, k, count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long column = i % a.columns, line = i / a.columns, above = column - line % a.rows;
    if (lower ? above <= a.k : above >= a.k)
      a.to[i] = a.from[line * a.pitch + column];
    else
      mx::StoreNumber(a.to, i, 0);
  }
};
}  // namespace kernels
