// Elements of csr arrays that are kept.
#include "rtc/loop.cuh"

namespace kernels {

// Elements of some columns.
template <typename I>
struct keep_columns {
  struct Args {
    const long long* column;
    unsigned char* keep;
    long long low, high;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.keep[i] = a.column[i] >= a.low && a.column[i] < a.high; }
};
// Elements whose number has a place.
template <typename I>
struct keep_places {
  struct Args {
    const long long *number, *places;
    unsigned char* keep;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.keep[i] = a.places[a.number[i]] != 0; }
};

template <typename I, typename Unit>
struct write_kept {
  struct Args {
    const long long *before, *column;
    const Unit* values;
    long long* to_column;
    Unit* to;
    long long shift;  // of columns
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long at = a.before[i];
    if (a.before[i + 1] == at) return;
    a.to_column[at] = a.column[i] + a.shift;
    a.to[at] = a.values[i];
  }
};
// `first`: the element that before[0] is of.
template <typename I>
struct kept_pointers {
  struct Args {
    const long long *before, *pointers;
    long long* to;
    long long first;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.to[i] = a.before[a.pointers[i] - a.first]; }
};

// Index pointers of `rows` rows that stand in a larger array, from row `first` on.
template <typename I>
struct pointers_around {
  struct Args {
    const long long* pointers;
    long long* to;
    long long first, rows;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long row = item - a.first;
    a.to[i] = a.pointers[row < 0 ? 0 : row > a.rows ? a.rows : row];
  }
};
}  // namespace kernels
