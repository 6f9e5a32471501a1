// Elements of two csr arrays, by row and column.
#include "operator/shared/search.cuh"
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct element_keys {
  struct Args {
    const long long *row, *column;
    long long* keys;
    long long columns;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.keys[i] = a.row[i] * a.columns + a.column[i]; }
};

// The values of both at each place that either has: of one or two elements, those below `of_a` are
// a's.
template <typename I, typename Unit>
struct pair_elements {
  struct Args {
    const long long *begin, *element;
    const Unit *a, *b;
    Unit *to_a, *to_b;
    long long of_a;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    Unit x = 0, y = 0;
    for (long long n = a.begin[i]; n < a.begin[i + 1]; ++n) {
      const long long e = a.element[n];
      if (e < a.of_a)
        x = a.a[e];
      else
        y = a.b[e - a.of_a];
    }
    a.to_a[i] = x;
    a.to_b[i] = y;
  }
};

template <typename I, typename Unit, bool both>
struct keep_elements {
  struct Args {
    const long long* begin;
    const Unit* values;
    unsigned char* keep;
    long long mask;  // the bits that matter: -0 is 0
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    a.keep[i] = (a.values[i] & static_cast<Unit>(a.mask)) != 0 && (!both || a.begin[i + 1] - a.begin[i] == 2);
  }
};
template <typename I, typename Unit>
struct write_elements {
  struct Args {
    const long long *before, *keys;
    const Unit* values;
    long long* column;
    Unit* to;
    long long columns;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long at = a.before[i];
    if (a.before[i + 1] == at) return;
    a.column[at] = a.keys[i] % a.columns;
    a.to[at] = a.values[i];
  }
};
// How many kept elements are in front of each row.
template <typename I>
struct write_indptr {
  struct Args {
    const long long *before, *keys;
    long long* indptr;
    long long columns, elements;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    a.indptr[i] = a.before[mx::FirstNotBelow(a.keys, 0, a.elements, item * a.columns)];
  }
};
}  // namespace kernels
