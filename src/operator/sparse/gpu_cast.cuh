// Dense arrays and what of them is not 0.
#include "rtc/loop.cuh"

namespace kernels {

// A power of two of `lanes` threads share a row of the dense array.
template <typename Unit>
struct CastArgs {
  const Unit* data;
  long long rows, columns, lanes;
  long long mask;  // the bits that matter: -0 is 0
  // Neither 0 nor -0?
  __device__ __forceinline__ bool NonZero(long long row, long long column) const {
    return row < rows && column < columns && (data[row * columns + column] & static_cast<Unit>(mask)) != 0;
  }
};

// counts[row]: how many elements are not 0; behind the last row 0.
template <typename I, typename Unit>
struct count_nonzero {
  struct Args : CastArgs<Unit> {
    long long* counts;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.lanes), lane = i & static_cast<I>(a.lanes - 1);
    int n = 0;
    for (long long c = lane; c < a.columns; c += a.lanes) n += a.NonZero(row, c);
    for (long long step = a.lanes / 2; step > 0; step /= 2) n += __shfl_xor_sync(0xffffffffu, n, static_cast<int>(step));
    if (lane == 0 && row <= a.rows) a.counts[row] = n;
  }
};

// The elements of each row that are not 0, from place indptr[row] on.
template <typename I, typename Unit>
struct write_nonzero {
  struct Args : CastArgs<Unit> {
    const long long* indptr;
    long long* index;
    Unit* values;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.lanes), lane = i & static_cast<I>(a.lanes - 1);
    long long place = row < a.rows ? a.indptr[row] : 0;
    for (long long first = 0; first < a.columns; first += a.lanes) {  // all threads come by as often: they meet in the shuffles
      const bool has = a.NonZero(row, first + lane);
      int upto = has, all = has;
      for (int step = 1; step < a.lanes; step *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, upto, static_cast<unsigned>(step));
        if (lane >= step) upto += before;
        all += __shfl_xor_sync(0xffffffffu, all, step);
      }
      if (has) {
        a.index[place + upto - 1] = first + lane;
        a.values[place + upto - 1] = a.data[row * a.columns + first + lane];
      }
      place += all;
    }
  }
};

// Which rows have something.
template <typename I>
struct mark_counts {
  struct Args {
    const long long* counts;
    unsigned char* has;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.has[i] = a.counts[i] != 0; }
};
template <typename I>
struct write_chosen {
  struct Args {
    const long long* before;
    long long* ids;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    if (a.before[i + 1] != a.before[i]) a.ids[a.before[i]] = item;
  }
};

// to += what a csr array stores, or -=; of each row one thread after another where a row may have a
// column twice.
template <typename I, typename T, bool minus>
struct add_csr {
  typedef typename mx::Choose<mx::IsReal<T>::value, typename mx::Real<T>::Type, long long>::Type C;
  struct Args {
    const long long *indptr, *index;
    const T* values;
    T* to;
    long long columns, lanes;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.lanes), lane = i & static_cast<I>(a.lanes - 1);
    for (long long n = a.indptr[row] + lane; n < a.indptr[row + 1]; n += a.lanes) {
      const long long at = row * a.columns + a.index[n];
      const C was = mx::Load<C>(a.to, at), value = mx::Load<C>(a.values, n);
      mx::Store(a.to, at, minus ? was - value : was + value);
    }
  }
};
template <typename I, typename T, bool minus>
struct add_rows_of_sparse {
  typedef typename mx::Choose<mx::IsReal<T>::value, typename mx::Real<T>::Type, long long>::Type C;
  struct Args {
    const long long* number;
    const T* values;
    T* to;
    mx::Divisor size;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = mx::Over(i, a.size);
    const long long at = a.number[n] * a.size.d + (i - n * static_cast<I>(a.size.d));
    const C was = mx::Load<C>(a.to, at), value = mx::Load<C>(a.values, i);
    mx::Store(a.to, at, minus ? was - value : was + value);
  }
};
}  // namespace kernels
