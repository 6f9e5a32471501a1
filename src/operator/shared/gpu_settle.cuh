// Are the index parts of a sparse array what they have to be? finding[0]: something leads outside,
// or rows of a row_sparse array do not ascend; finding[1]: columns of a csr row do not.
#include "operator/shared/search.cuh"
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct settle_begin {
  struct Args {
    long long* finding;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.finding[i] = 0; }
};

// An item looks at element i of either array. Whoever finds something writes the same.
template <typename I, bool csr>
struct settle_parts {
  struct Args {
    const long long *index, *indptr;
    long long* finding;
    long long elements, rows, limit;
    long long count;
  };
  // Does a row begin at element i? Whatever the pointers are, all that is read is theirs.
  static __device__ __forceinline__ bool Begins(const Args& a, long long i) {
    return a.indptr[mx::FirstNotBelow(a.indptr, 0, a.rows, i)] == i;
  }
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    if (csr && i <= a.rows) {
      const long long at = a.indptr[i];
      if ((i == 0 && at != 0) || (i == a.rows ? at != a.elements : at > a.indptr[i + 1])) a.finding[0] = 1;
    }
    if (i >= a.elements) return;
    const long long number = a.index[i];
    if (number < 0 || number >= a.limit) a.finding[0] = 1;
    if (i == 0 || a.index[i - 1] < number) return;
    if constexpr (csr) {
      if (!Begins(a, i)) a.finding[1] = 1;
    } else {
      a.finding[0] = 1;
    }
  }
};
}  // namespace kernels
