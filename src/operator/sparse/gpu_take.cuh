// Rows of csr arrays by their numbers.
#include "rtc/loop.cuh"

namespace kernels {

// How many elements each has; behind the last one 0.
template <typename I>
struct lengths_of_rows {
  struct Args {
    const long long *indptr, *number;
    long long* lengths;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    a.lengths[i] = item + 1 == a.count ? 0 : a.indptr[a.number[i] + 1] - a.indptr[a.number[i]];
  }
};

template <typename I, typename Unit>
struct take_csr_rows {
  struct Args {
    const long long *row, *ends;
    const long long *indptr, *number, *column;
    const Unit* values;
    long long* to_column;
    Unit* to;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long row = a.row[i], from = a.indptr[a.number[row]] + (item - a.ends[row]);
    a.to_column[i] = a.column[from];
    a.to[i] = a.values[from];
  }
};
}  // namespace kernels
