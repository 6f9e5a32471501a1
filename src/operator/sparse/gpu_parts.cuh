// Rows and elements of sparse arrays: where they are, and where they go.
#include "operator/shared/search.cuh"
#include "rtc/loop.cuh"

namespace kernels {

// Whoever finds something writes the same.
template <typename I>
struct numbers_differ {
  struct Args {
    const long long *a, *b;
    long long* differs;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    if (a.a[i] != a.b[i]) *a.differs = 1;
  }
};

template <typename I>
struct shift_numbers {
  struct Args {
    const long long* from;
    long long* to;
    long long by;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.to[i] = a.from[i] + a.by; }
};

// The row of each element: the last one that does not begin behind it.
template <typename I>
struct rows_of_elements {
  struct Args {
    const long long* pointers;
    long long* row;
    long long rows;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    a.row[i] = mx::FirstNotBelow(a.pointers, 1, a.rows, item + 1) - 1;
  }
};

template <typename I, typename Unit>
struct dense_at_elements {
  struct Args {
    const long long *row, *column;
    Unit* out;
    const Unit* data;
    long long row_step, column_step;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    a.out[i] = a.data[a.row[i] * a.row_step + a.column[i] * a.column_step];
  }
};
template <typename I, typename Unit>
struct stored_at_elements {
  struct Args {
    const long long *row, *column;
    Unit* out;
    const long long *indptr, *index;
    const Unit* values;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long end = a.indptr[a.row[i] + 1], n = mx::FirstNotBelow(a.index, a.indptr[a.row[i]], end, a.column[i]);
    a.out[i] = n < end && a.index[n] == a.column[i] ? a.values[n] : Unit(0);
  }
};

// Rows by their numbers; what is not stored is 0.
template <typename I, typename Unit>
struct gather_stored_rows {
  struct Args {
    const Unit* values;
    const long long* stored;
    long long stored_count;
    const long long* number;
    Unit* out;
    mx::Divisor units;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = mx::Over(i, a.units);
    const long long wanted = a.number[n], at = mx::FirstNotBelow(a.stored, 0, a.stored_count, wanted);
    const bool has = at < a.stored_count && a.stored[at] == wanted;
    a.out[i] = has ? a.values[at * a.units.d + (i - n * static_cast<I>(a.units.d))] : Unit(0);
  }
};

template <typename I>
struct places_of_rows {
  struct Args {
    const long long* number;
    long long* places;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) { a.places[a.number[i]] = item + 1; }
};

template <typename I, typename Unit>
struct spread_rows {
  struct Args {
    const Unit* from;
    const long long* number;
    Unit* to;
    mx::Divisor units;  // of a row
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = mx::Over(i, a.units);
    a.to[a.number[n] * a.units.d + (i - n * static_cast<I>(a.units.d))] = a.from[i];
  }
};
}  // namespace kernels
