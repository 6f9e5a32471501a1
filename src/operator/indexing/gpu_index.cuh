// Indices, and pieces of arrays that they choose.
#include "rtc/loop.cuh"

namespace kernels {

// ---- reading indices

// As ToIndex of index_common_cpu.cc.
__device__ __forceinline__ long long ToIndex(double v) {
  if (v >= 9223372036854775808.0) return 9223372036854775807ll;
  if (!(v >= -9223372036854775808.0)) return -9223372036854775807ll - 1;
  return static_cast<long long>(v);
}
template <typename In>
__device__ __forceinline__ long long IndexAt(const In* in, long long i) {
  if constexpr (mx::IsReal<In>::value) return ToIndex(mx::Load<double>(in, i));
  return mx::Load<long long>(in, i);
}
template <>
__device__ __forceinline__ long long IndexAt(const unsigned long long* in, long long i) {
  return in[i] > 9223372036854775807ull ? 9223372036854775807ll : static_cast<long long>(in[i]);
}

template <typename I, typename In>
struct read_indices {
  struct Args {
    const In* in;
    long long* out;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.out[i] = IndexAt(a.in, i); }
};

enum IndexMode { kClip, kWrap, kRaise, kFromEnd };  // as index_common.h

// `finding`: how far from the end the first index is that is out of range.
template <typename I, typename In, int mode>
struct indices_in_range {
  struct Args {
    const In* in;
    long long* out;
    long long size;
    unsigned long long* finding;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long v = IndexAt(a.in, i);
    if constexpr (mode == kClip) {
      v = v < 0 ? 0 : v >= a.size ? a.size - 1 : v;
    } else if constexpr (mode == kWrap) {
      v %= a.size;
      if (v < 0) v += a.size;
    } else {
      static_assert(mode == kRaise || mode == kFromEnd, "a mode of indices");
      if (mode == kFromEnd && v < 0 && v >= -a.size) v += a.size;
      if (v < 0 || v >= a.size) atomicMax(a.finding, static_cast<unsigned long long>(a.count - i));
    }
    a.out[i] = v;
  }
};

// One position for the indices of m dimensions.
template <typename I, int m>
struct flat_indices {
  struct Args {
    const long long* in;
    long long* flat;
    unsigned long long* finding;
    long long size[m];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long at = 0;
#pragma unroll
    for (int d = 0; d < m; ++d) {
      long long v = a.in[d * a.count + i];
      if (v < 0) v += a.size[d];
      if (v < 0 || v >= a.size[d]) {
        atomicMax(a.finding, static_cast<unsigned long long>((a.count - i) * m - d));
        v = 0;
      }
      at = at * a.size[d] + v;
    }
    a.flat[i] = at;
  }
};

template <typename I, int ndim>
struct ravel_indices {
  struct Args {
    const unsigned long long* columns;
    unsigned long long* flat;
    unsigned long long size[ndim];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    unsigned long long at = a.columns[i];
#pragma unroll
    for (int d = 1; d < ndim; ++d) at = at * a.size[d] + a.columns[d * a.count + i];
    a.flat[i] = at;
  }
};
template <typename I, int ndim>
struct unravel_indices {
  struct Args {
    const long long* flat;
    long long* columns;
    long long size[ndim];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long rest = a.flat[i];
#pragma unroll
    for (int d = ndim - 1; d > 0; --d) {
      a.columns[d * a.count + i] = rest % a.size[d];
      rest /= a.size[d];
    }
    a.columns[i] = rest;
  }
};

// Coordinate k of `width` for each element.
template <typename I>
struct index_array {
  struct Args {
    long long* out;
    long long size, inner, k, width;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    a.out[i * a.width + a.k] = i / static_cast<I>(a.inner) % static_cast<I>(a.size);
  }
};

// ---- rows

// Whether an element of the mask is chosen; the last item is 0.
template <typename I, typename Mask>
struct chosen {
  struct Args {
    const Mask* mask;
    long long* counts;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    a.counts[i] = i + 1 < a.count && mx::Load<double>(a.mask, i) != 0.0;
  }
};
template <typename I, typename Unit>
struct put_chosen {
  struct Args {
    const Unit* chosen;
    Unit* out;
    const long long* before;  // chosen elements before each
    long long size, n, inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.size), s = r - o * static_cast<I>(a.size);
    const long long at = a.before[s];
    a.out[i] = a.before[s + 1] > at ? a.chosen[(o * a.n + at) * a.inner + (i - r * static_cast<I>(a.inner))] : Unit(0);
  }
};

// `units` neighbours are moved at a time.
template <typename I, typename U, int units>
struct take_rows {
  typedef mx::Pack<U, units> Unit;
  struct Args {
    const Unit* data;
    Unit* out;
    const long long* index;
    long long size;
    mx::Divisor inner, num;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = mx::Over(i, a.inner), o = mx::Over(r, a.num);
    a.out[i] = a.data[(o * a.size + a.index[r - o * static_cast<I>(a.num.d)]) * a.inner.d + (i - r * static_cast<I>(a.inner.d))];
  }
};

// owner: 1 + the last row for each place.
template <typename I>
struct claim_rows {
  struct Args {
    const long long* index;
    unsigned long long* owner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    atomicMax(a.owner + a.index[i], static_cast<unsigned long long>(i) + 1);
  }
};
template <typename I, typename Unit>
struct put_rows {
  struct Args {
    const Unit* rows;
    Unit* data;
    const long long *index, *owner;
    long long size, inner, num;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.num), n = r - o * static_cast<I>(a.num);
    const long long to = a.index[n];
    if (a.owner[to] == static_cast<long long>(n) + 1) a.data[(o * a.size + to) * a.inner + (i - r * static_cast<I>(a.inner))] = a.rows[i];
  }
};

// Zeros for rows that are not their place's last.
template <typename I, typename Unit>
struct take_kept_rows {
  struct Args {
    const Unit* data;
    Unit* out;
    const long long *index, *owner;
    long long size, inner, num;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.num), n = r - o * static_cast<I>(a.num);
    const long long at = a.index[n];
    const bool kept = a.owner[at] == static_cast<long long>(n) + 1;
    a.out[i] = kept ? a.data[(o * a.size + at) * a.inner + (i - r * static_cast<I>(a.inner))] : Unit(0);
  }
};

// Sums in S. In the order of the rows: `index` is sorted, and the first of equal ones sums for all.
template <typename I, typename Row, typename Data, typename S, bool add>
struct add_rows_in_order {
  struct Args {
    const Row* rows;
    Data* data;
    const long long* index;
    long long size, inner, num;
    const long long* order;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.inner), k = i - r * static_cast<I>(a.inner), o = r / static_cast<I>(a.num);
    long long n = r - o * static_cast<I>(a.num);
    const long long to = a.index[n];
    if (n > 0 && a.index[n - 1] == to) return;
    const long long at = (o * a.size + to) * a.inner + k;
    S sum = add ? mx::Load<S>(a.data, at) : S(0);
    for (; n < a.num && a.index[n] == to; ++n) sum += mx::Load<S>(a.rows, (o * a.num + a.order[n]) * a.inner + k);
    mx::Store(a.data, at, sum);
  }
};
template <typename I, typename Row, typename Data>
struct add_rows {
  struct Args {
    const Row* rows;
    Data* data;
    const long long* index;
    long long size;
    mx::Divisor inner, num;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = mx::Over(i, a.inner), o = mx::Over(r, a.num);
    const long long to = (o * a.size + a.index[r - o * static_cast<I>(a.num.d)]) * a.inner.d + (i - r * static_cast<I>(a.inner.d));
    atomicAdd(a.data + to, mx::Load<Data>(a.rows, i));
  }
};

// ---- single entries

// One entry of each line: `small` is (outer, k, inner), `large` (outer, size, inner).
template <typename Unit>
struct LineArgs {
  Unit *small, *large;
  const long long* index;
  long long size, inner, k;
  long long count;
  template <typename I>
  __device__ __forceinline__ long long Place(I i) const {
    const I r = i / static_cast<I>(inner), o = r / static_cast<I>(k);
    return (o * size + index[i]) * inner + (i - r * static_cast<I>(inner));
  }
};
template <typename I, typename Unit>
struct take_lines {
  typedef LineArgs<Unit> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.small[i] = a.large[a.Place(i)]; }
};
template <typename I, typename Unit>
struct put_lines {
  typedef LineArgs<Unit> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.large[a.Place(i)] = a.small[i]; }
};

template <typename I, typename Out>
struct one_hot {
  struct Args {
    Out* out;
    const long long* index;
    long long depth;
    double on;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long at = a.index[i];
    if (at >= 0 && at < a.depth) mx::StoreNumber(a.out, i * a.depth + at, a.on);
  }
};

template <typename S>
__device__ __forceinline__ bool IsTrue(S v) {
  return v != S(0);
}
template <>
__device__ __forceinline__ bool IsTrue(mx::half v) {
  return (v.bits & 0x7fff) != 0;
}
template <>
__device__ __forceinline__ bool IsTrue(mx::bfloat v) {
  return (v.bits & 0x7fff) != 0;
}
template <>
__device__ __forceinline__ bool IsTrue(mx::boolean v) {
  return v.bits != 0;
}
template <typename I, typename Condition, typename Unit>
struct select_where {
  struct Args {
    const Condition* condition;
    const Unit *x, *y;
    Unit* out;
    long long inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    a.out[i] = IsTrue(a.condition[i / static_cast<I>(a.inner)]) ? a.x[i] : a.y[i];
  }
};

// ---- places in a sorted vector, where NaN is behind every number

template <typename Data>
__device__ __forceinline__ bool Below(const Data* a, long long i, const Data* b, long long j) {
  if constexpr (mx::IsReal<Data>::value) {
    const double x = mx::Load<double>(a, i), y = mx::Load<double>(b, j);
    return x < y || (y != y && x == x);
  } else if constexpr (mx::IsBoolean<Data>::value) {
    return a[i].bits < b[j].bits;
  } else {
    return a[i] < b[j];
  }
}

template <typename I, typename Data, int right>
struct searchsorted {
  struct Args {
    const Data *data, *values;
    long long* out;
    long long size;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long low = 0, high = a.size;
    while (low < high) {
      const long long middle = (low + high) / 2;
      if (right ? !Below(a.values, i, a.data, middle) : Below(a.data, middle, a.values, i))
        low = middle + 1;
      else
        high = middle;
    }
    a.out[i] = low;
  }
};

// ---- histogram: whole numbers are added atomically, so their order does not matter

template <typename I, typename Data>
struct histogram {
  struct Args {
    const Data *data, *edges;
    unsigned long long* counts;
    long long bins;
    double low, high;  // of bins of one width
    long long even;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const double v = mx::Load<double>(a.data, i);
    if (a.even) {
      if (!(v >= a.low && v <= a.high)) return;
      long long bin = static_cast<long long>((v - a.low) / (a.high - a.low) * static_cast<double>(a.bins));
      if (bin > a.bins - 1) bin = a.bins - 1;
      if (bin > 0 && v < mx::Load<double>(a.edges, bin))
        --bin;
      else if (bin + 1 < a.bins && v >= mx::Load<double>(a.edges, bin + 1))
        ++bin;
      atomicAdd(a.counts + bin, 1ull);
      return;
    }
    if (!(v >= mx::Load<double>(a.edges, 0) && v <= mx::Load<double>(a.edges, a.bins))) return;
    long long low = 0, high = a.bins + 1;  // the first edge above v
    while (low < high) {
      const long long middle = (low + high) / 2;
      if (mx::Load<double>(a.edges, middle) > v)
        high = middle;
      else
        low = middle + 1;
    }
    const long long bin = low - 1 < 0 ? 0 : low - 1 > a.bins - 1 ? a.bins - 1 : low - 1;
    atomicAdd(a.counts + bin, 1ull);
  }
};
}  // namespace kernels
