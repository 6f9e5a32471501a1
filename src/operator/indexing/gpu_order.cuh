// Sorting of lines (outer, size, inner) along the middle, stable: in shared memory for short lines,
// else by radix over all lines at once.
#include "rtc/loop.cuh"

namespace kernels {

/*
 * Unsigned numbers in the order of the values, as in order_cpu.cc, with as few bits as the type
 * has; NaNs come last. Key is their type, kAll the largest of them.
 */
template <typename S>
struct SortKey {
  static constexpr int kBits = 8 * sizeof(S);
  typedef typename mx::Choose<sizeof(S) == 8, unsigned long long, unsigned>::Type Key;
  static constexpr Key kAll = static_cast<Key>(~0ull >> (64 - kBits));
  static __device__ __forceinline__ Key Of(S v) {
    if constexpr (S(-1) < S(0)) return (static_cast<Key>(v) ^ (Key(1) << (kBits - 1))) & kAll;
    return v;
  }
};
template <>
struct SortKey<double> {
  typedef unsigned long long Key;
  static constexpr Key kAll = ~0ull;
  static __device__ __forceinline__ Key Of(double v) {
    if (v != v) return ~0ull;
    v += 0.0;
    const Key u = static_cast<Key>(__double_as_longlong(v));
    return u >> 63 ? ~u : u | 1ull << 63;
  }
};
template <>
struct SortKey<float> {
  typedef unsigned Key;
  static constexpr Key kAll = 0xffffffffu;
  static __device__ __forceinline__ Key Of(float v) {
    if (v != v) return 0xffffffffu;
    v += 0.0f;
    const Key u = __float_as_uint(v);
    return u >> 31 ? ~u : u | 0x80000000u;
  }
};
template <unsigned infinity>  // beyond it are NaNs
struct ShortFloatKey {
  typedef unsigned Key;
  static constexpr Key kAll = 0xffffu;
  template <typename S>
  static __device__ __forceinline__ Key Of(S v) {
    const Key u = v.bits, size = u & 0x7fffu;
    if (size > infinity) return 0xffffu;
    if (size == 0) return 0x8000u;
    return u >> 15 ? 0xffffu & ~u : u | 0x8000u;
  }
};
template <>
struct SortKey<mx::half> : ShortFloatKey<0x7c00u> {};
template <>
struct SortKey<mx::bfloat> : ShortFloatKey<0x7f80u> {};
template <>
struct SortKey<mx::boolean> {
  typedef unsigned Key;
  static constexpr Key kAll = 0xffu;
  static __device__ __forceinline__ Key Of(mx::boolean v) { return v.bits != 0; }
};
template <bool ascending, typename S>
__device__ __forceinline__ typename SortKey<S>::Key OrderedKey(S v) {
  return ascending ? SortKey<S>::Of(v) : SortKey<S>::Of(v) ^ SortKey<S>::kAll;
}

// The whole line in shared memory, sorted by (key, position) in a bitonic network: every pair
// differs, so the result is stable. padded: a power of two, size or more.
template <typename X, int padded, bool ascending, bool has_values, bool has_positions>
struct order_line {
  typedef typename SortKey<X>::Key Key;
  struct Args {
    const X* data;
    X* values;
    long long* positions;
    long long size, inner, k;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ Key keys[padded];
    __shared__ int at[padded];
    const long long o = row / a.inner, q = row % a.inner;
    for (int s = threadIdx.x; s < padded; s += 256) {
      // what is not there stands behind everything: the largest key with a larger position
      keys[s] = s < a.size ? OrderedKey<ascending>(a.data[(o * a.size + s) * a.inner + q]) : SortKey<X>::kAll;
      at[s] = s;
    }
    __syncthreads();
    for (int width = 2; width <= padded; width *= 2)
      for (int step = width / 2; step > 0; step /= 2) {
        for (int s = threadIdx.x; s < padded; s += 256) {
          const int other = s ^ step;
          if (other > s) {
            const bool up = (s & width) == 0, above = keys[s] > keys[other] || (keys[s] == keys[other] && at[s] > at[other]);
            if (above == up) {
              const Key kept = keys[s];
              keys[s] = keys[other];
              keys[other] = kept;
              const int place = at[s];
              at[s] = at[other];
              at[other] = place;
            }
          }
        }
        __syncthreads();
      }
    for (int s = threadIdx.x; s < a.k; s += 256) {
      const long long to = (o * a.k + s) * a.inner + q;
      if constexpr (has_values) a.values[to] = a.data[(o * a.size + at[s]) * a.inner + q];
      if constexpr (has_positions) a.positions[to] = at[s];
    }
  }
};

// ---- radix sort of (key, element number) pairs

template <typename I, typename X, typename Key, bool ascending>
struct order_keys {
  struct Args {
    const X* data;
    Key* key;
    long long* element;
    long long size, inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I line = i / static_cast<I>(a.size), s = i - line * static_cast<I>(a.size), o = line / static_cast<I>(a.inner);
    a.key[i] = OrderedKey<ascending>(a.data[(o * a.size + s) * a.inner + (line - o * static_cast<I>(a.inner))]);
    a.element[i] = i;
  }
};

// A pass sorts by four bits of the key, or (by_line) of the line's number; a block has a tile of
// 2048 pairs.
template <typename Key, bool by_line>
struct RadixArgs {
  const Key* key;
  const long long* element;
  Key* key_to;
  long long* element_to;
  long long* counts;  // of each digit in each tile
  long long n, shift, line;
  long long count;
  __device__ __forceinline__ unsigned Digit(long long e) const {
    if constexpr (by_line) return static_cast<unsigned>(element[e] / line >> shift) & 15u;
    return static_cast<unsigned>(key[e] >> shift) & 15u;
  }
};
template <typename Key, bool by_line>
struct radix_count {
  typedef RadixArgs<Key, by_line> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ unsigned number[16];
    if (threadIdx.x < 16) number[threadIdx.x] = 0;
    __syncthreads();
    for (int j = 0; j < 8; ++j) {
      const long long e = row * 2048 + j * 256 + threadIdx.x;
      if (e < a.n) atomicAdd(&number[a.Digit(e)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 16) a.counts[threadIdx.x * a.count + row] = number[threadIdx.x];
  }
};
template <typename Key, bool by_line>
struct radix_scatter {
  typedef RadixArgs<Key, by_line> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    // A thread has eight neighbours. number[d][t]: how many of digit d threads before t have,
    // behind those of smaller digits.
    __shared__ unsigned short number[16 * 256];
    __shared__ unsigned shared[256];
    for (int d = 0; d < 16; ++d) number[d * 256 + threadIdx.x] = 0;
    __syncthreads();
    const long long first = row * 2048 + threadIdx.x * 8;
    for (long long e = first; e < first + 8 && e < a.n; ++e) ++number[a.Digit(e) * 256 + threadIdx.x];
    __syncthreads();
    unsigned mine = 0, total;
    for (int j = 0; j < 16; ++j) mine += number[threadIdx.x * 16 + j];
    unsigned before = mx::BlockScan(mine, shared, &total);
    for (int j = 0; j < 16; ++j) {
      const unsigned here = number[threadIdx.x * 16 + j];
      number[threadIdx.x * 16 + j] = static_cast<unsigned short>(before);
      before += here;
    }
    __syncthreads();
    if (threadIdx.x < 16) shared[threadIdx.x] = number[threadIdx.x * 256];
    __syncthreads();
    for (long long e = first; e < first + 8 && e < a.n; ++e) {
      const unsigned d = a.Digit(e), place = number[d * 256 + threadIdx.x]++;
      const long long to = a.counts[d * a.count + row] + (place - shared[d]);
      a.key_to[to] = a.key[e];
      a.element_to[to] = a.element[e];
    }
  }
};

template <typename I, typename X, bool has_values, bool has_positions>
struct order_results {
  struct Args {
    const X* data;
    const long long* element;
    X* values;
    long long* positions;
    long long size, inner, k;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I line = i / static_cast<I>(a.k), s = i - line * static_cast<I>(a.k), o = line / static_cast<I>(a.inner),
            q = line - o * static_cast<I>(a.inner);
    const long long at = a.element[line * a.size + s] - line * a.size, to = (o * a.k + s) * a.inner + q;
    if constexpr (has_values) a.values[to] = a.data[(o * a.size + at) * a.inner + q];
    if constexpr (has_positions) a.positions[to] = at;
  }
};
}  // namespace kernels
