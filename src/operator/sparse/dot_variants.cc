// Products of csr and dense matrices, rows of the dense one in vectors.
#include <algorithm>
#include <cstring>

#include "operator/sparse/dot_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using sparse::DotCall;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

/* How many elements ahead rows of the dense matrix are asked for. */
constexpr int64_t kAhead = 8;

template <typename T, int kBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
};

/* `kCount` vectors of neighbouring elements, which live in registers. */
template <typename T, int kBytes, int kCount>
struct Block {
  using V = typename VectorOf<T, kBytes>::Type;
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  static constexpr int kElements = kLanes * kCount;
  V first = {};
  Block<T, kBytes, kCount - 1> rest;

  static inline __attribute__((always_inline)) V At(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof(V));
    return v;
  }
  inline __attribute__((always_inline)) void Load(const T* p) {
    first = At(p);
    rest.Load(p + kLanes);
  }
  inline __attribute__((always_inline)) void Store(T* p) const {
    std::memcpy(p, &first, sizeof(V));
    rest.Store(p + kLanes);
  }
  inline __attribute__((always_inline)) void AddProduct(T value, const T* p) {
    first += value * At(p);
    rest.AddProduct(value, p + kLanes);
  }
  inline __attribute__((always_inline)) void AddTo(T value, T* p) const {
    const V sum = At(p) + value * first;
    std::memcpy(p, &sum, sizeof(V));
    rest.AddTo(value, p + kLanes);
  }
  inline __attribute__((always_inline)) void Add(const Block& o) {
    first += o.first;
    rest.Add(o.rest);
  }
};
template <typename T, int kBytes>
struct Block<T, kBytes, 0> {
  inline __attribute__((always_inline)) void Load(const T*) {}
  inline __attribute__((always_inline)) void Store(T*) const {}
  inline __attribute__((always_inline)) void AddProduct(T, const T*) {}
  inline __attribute__((always_inline)) void AddTo(T, T*) const {}
  inline __attribute__((always_inline)) void Add(const Block&) {}
};

template <typename T>
inline void PrefetchRow(const T* row, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(reinterpret_cast<const char*>(row) + b);
}

/* How many elements ahead those of the csr matrix are asked for: the processor's own prefetching
 * ends with each page. */
constexpr int64_t kStream = 256;

template <typename T, typename I>
inline void PrefetchElements(const I* index, const T* values, int64_t n) {
  __builtin_prefetch(index + n + kStream * static_cast<int64_t>(sizeof(int64_t) / sizeof(I)));
  __builtin_prefetch(values + n + kStream);
}

/* Columns `at` to `at + B::kElements` of all rows. */
template <typename T, typename B, bool kFar>
void GatherBlock(const DotCall<T>& c, int64_t at) {
  const T *const dense = c.dense + at, *const values = c.values;
  const int64_t *const index = c.index, step = c.dense_step, total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B sum, other;
    int64_t n = c.indptr[r];
    const int64_t last = c.indptr[r + 1];
    for (; n + 1 < last; n += 2) {
      PrefetchElements(index, values, n);
      if (kFar && n + kAhead + 1 < total) {
        PrefetchRow(dense + index[n + kAhead] * step, B::kElements * static_cast<int64_t>(sizeof(T)));
        PrefetchRow(dense + index[n + kAhead + 1] * step, B::kElements * static_cast<int64_t>(sizeof(T)));
      }
      sum.AddProduct(values[n], dense + index[n] * step);
      other.AddProduct(values[n + 1], dense + index[n + 1] * step);
    }
    if (n < last) sum.AddProduct(values[n], dense + index[n] * step);
    sum.Add(other);
    sum.Store(c.out + r * c.out_step + at);
  }
}

// Vectors of single elements from all over memory are slower than the elements.
#if defined(__GNUC__) && !defined(__clang__)
#define MXNET_SCALAR __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define MXNET_SCALAR
#endif

/* use(the columns of elements as they lie in memory). */
template <typename T, typename F>
void VisitIndex(const DotCall<T>& c, F&& use) {
  if (c.narrow_bytes == 2) return use(static_cast<const uint16_t*>(c.narrow));
  if (c.narrow_bytes == 4) return use(static_cast<const uint32_t*>(c.narrow));
  use(c.index);
}

/* kOne: a vector; else rows of it are `step` elements apart. */
template <bool kOne, typename T, typename I>
MXNET_SCALAR void GatherColumn(const DotCall<T>& c, int64_t at, const I* index) {
  const T *const dense = c.dense + at, *const values = c.values;
  const int64_t step = kOne ? 1 : c.dense_step;
  for (int64_t r = c.begin; r < c.end; ++r) {
    T a = 0, b = 0, d = 0, e = 0;
    int64_t n = c.indptr[r];
    const int64_t last = c.indptr[r + 1];
    for (; n + 8 <= last; n += 8) {
      PrefetchElements(index, values, n);
      a += values[n] * dense[index[n] * step];
      b += values[n + 1] * dense[index[n + 1] * step];
      d += values[n + 2] * dense[index[n + 2] * step];
      e += values[n + 3] * dense[index[n + 3] * step];
      a += values[n + 4] * dense[index[n + 4] * step];
      b += values[n + 5] * dense[index[n + 5] * step];
      d += values[n + 6] * dense[index[n + 6] * step];
      e += values[n + 7] * dense[index[n + 7] * step];
    }
    for (; n < last; ++n) a += values[n] * dense[index[n] * step];
    c.out[r * c.out_step + at] = (a + b) + (d + e);
  }
}

/* The elements of a row whose column is within [low, high), first and last; `sorted` rows alone. */
struct Range {
  int64_t low, high;
  bool sorted;
  bool all() const { return low == 0 && high == INT64_MAX; }
  template <typename I>
  void Clip(const I* index, int64_t* first, int64_t* last) const {
    if (all() || !sorted) return;
    const auto before = [](I column, int64_t bound) { return static_cast<int64_t>(column) < bound; };
    *first = std::lower_bound(index + *first, index + *last, low, before) - index;
    *last = std::lower_bound(index + *first, index + *last, high, before) - index;
  }
  bool Skips(int64_t column) const { return !sorted && (column < low || column >= high); }
};

template <typename T, typename B, bool kFar>
void ScatterBlock(const DotCall<T>& c, int64_t at, const Range& range) {
  T* const out = c.out + at;
  const T* const values = c.values;
  const int64_t *const index = c.index, step = c.out_step, total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B row;
    row.Load(c.dense + r * c.dense_step + at);
    int64_t n = c.indptr[r], last = c.indptr[r + 1];
    range.Clip(index, &n, &last);
    for (; n < last; ++n) {
      if (range.Skips(index[n])) continue;
      PrefetchElements(index, values, n);
      if (kFar && n + kAhead < total) PrefetchRow(out + index[n + kAhead] * step, B::kElements * static_cast<int64_t>(sizeof(T)));
      row.AddTo(values[n], out + index[n] * step);
    }
  }
}

template <bool kOne, typename T, typename I>
MXNET_SCALAR void ScatterColumn(const DotCall<T>& c, int64_t at, const Range& range, const I* index) {
  T* __restrict const out = c.out + at;
  const T* const values = c.values;
  const int64_t step = kOne ? 1 : c.out_step;
  for (int64_t r = c.begin; r < c.end; ++r) {
    const T row = c.dense[r * c.dense_step + at];
    int64_t n = c.indptr[r], last = c.indptr[r + 1];
    range.Clip(index, &n, &last);
    if (!range.sorted) {
      for (; n < last; ++n)
        if (!range.Skips(index[n])) out[index[n] * step] += values[n] * row;
      continue;
    }
    for (; n + 8 <= last; n += 8) {
      PrefetchElements(index, values, n);
      for (int k = 0; k < 8; ++k) out[index[n + k] * step] += values[n + k] * row;
    }
    for (; n < last; ++n) out[index[n] * step] += values[n] * row;
  }
}

/* use(block, first column) for blocks that cover the columns of the call, wide ones first. */
template <typename T, typename F>
void VisitBlocks(const DotCall<T>& c, F&& use) {
  int64_t at = 0;
  const auto pass = [&](auto block) {
    using B = decltype(block);
    for (; at + B::kElements <= c.columns; at += B::kElements) use(block, at);
  };
  pass(Block<T, kVectorBytes, 4>());
  pass(Block<T, kVectorBytes, 2>());
  pass(Block<T, kVectorBytes, 1>());
  if constexpr (kVectorBytes > 32) pass(Block<T, 32, 1>());
  if constexpr (kVectorBytes > 16) pass(Block<T, 16, 1>());
  if constexpr (sizeof(T) < 8) pass(Block<T, 8, 1>());
  pass(Block<T, sizeof(T), 1>());
}

template <typename T>
void Gather(const DotCall<T>& c) {
  VisitBlocks(c, [&](auto block, int64_t at) {
    using B = decltype(block);
    if constexpr (B::kElements == 1)
      VisitIndex(c, [&](const auto* index) { c.dense_step == 1 ? GatherColumn<true>(c, at, index) : GatherColumn<false>(c, at, index); });
    else
      c.far ? GatherBlock<T, B, true>(c, at) : GatherBlock<T, B, false>(c, at);
  });
}

template <typename T>
void Scatter(const DotCall<T>& c, int64_t low, int64_t high, bool sorted) {
  const Range range{low, high, sorted || (low == 0 && high == INT64_MAX)};
  VisitBlocks(c, [&](auto block, int64_t at) {
    using B = decltype(block);
    if constexpr (B::kElements == 1)
      VisitIndex(c, [&](const auto* index) {
        c.out_step == 1 ? ScatterColumn<true>(c, at, range, index) : ScatterColumn<false>(c, at, range, index);
      });
    else
      c.far ? ScatterBlock<T, B, true>(c, at, range) : ScatterBlock<T, B, false>(c, at, range);
  });
}

}  // namespace

void GatherFloat(const DotCall<float>& call) { Gather(call); }
void GatherDouble(const DotCall<double>& call) { Gather(call); }
void ScatterFloat(const DotCall<float>& call, int64_t low, int64_t high, bool sorted) { Scatter(call, low, high, sorted); }
void ScatterDouble(const DotCall<double>& call, int64_t low, int64_t high, bool sorted) { Scatter(call, low, high, sorted); }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
