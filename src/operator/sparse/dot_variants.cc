// Products of csr and dense matrices, rows of the dense one in vectors.
#include <algorithm>
#include <cstring>
#include <type_traits>

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
constexpr int64_t kStream = 768;

template <typename T, typename I>
inline void PrefetchElements(const I* index, const T* values, int64_t n, int64_t ahead = kStream) {
  __builtin_prefetch(index + n + ahead * static_cast<int64_t>(sizeof(int64_t) / sizeof(I)));
  __builtin_prefetch(values + n + ahead);
}

enum class Reach { kNear, kFar, kPart };

/* Columns `at` to `at + B::kElements` of all rows; kPart: of the call's elements of them. */
template <typename T, typename B, Reach kReach>
void GatherBlock(const DotCall<T>& c, int64_t at) {
  constexpr int64_t kRowBytes = B::kElements * static_cast<int64_t>(sizeof(T));
  constexpr int64_t kRowsAhead = 8;
  constexpr bool kPart = kReach == Reach::kPart;
  const T *const dense = c.dense + at, *const values = c.values;
  const int64_t *const index = c.index, step = c.dense_step, total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B sum, other;
    int64_t n = kPart ? c.first[r] : c.indptr[r];
    const int64_t last = kPart ? c.last[r] : c.indptr[r + 1];
    const int64_t ahead = kPart ? c.first[std::min(r + kRowsAhead, c.end - 1)] - n : kStream;
    if (kPart && c.adds) sum.Load(c.out + r * c.out_step + at);
    for (; n + 3 < last; n += 4) {  // asking for what comes costs as much as an element
      PrefetchElements(index, values, n, ahead);
      if (kReach == Reach::kFar && n + kAhead + 3 < total)
        for (int64_t k = n + kAhead; k < n + kAhead + 4; ++k) PrefetchRow(dense + index[k] * step, kRowBytes);
      sum.AddProduct(values[n], dense + index[n] * step);
      other.AddProduct(values[n + 1], dense + index[n + 1] * step);
      sum.AddProduct(values[n + 2], dense + index[n + 2] * step);
      other.AddProduct(values[n + 3], dense + index[n + 3] * step);
    }
    for (; n < last; ++n) sum.AddProduct(values[n], dense + index[n] * step);
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

/*
 * Products of neighbouring elements in one small vector, whose numbers are then used one by one in
 * their order. Loads bound loops over single columns: this saves one for most elements.
 */
template <typename T>
struct Few {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(T));
  using V = typename VectorOf<T, 16>::Type;

  static inline __attribute__((always_inline)) V At(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof(V));
    return v;
  }
  /* out[index[k] * step] += v[k]; numbers of `index` may be the same. */
  template <typename I>
  static inline __attribute__((always_inline)) void AddTo(T* out, int64_t step, const I* index, const V& v) {
    for (int k = 0; k < kCount; ++k) out[index[k] * step] += v[k];
  }
  template <typename I>
  static inline __attribute__((always_inline)) void Multiply(const T* values, const T* from, int64_t step, const I* index, T* to) {
    V v;
    for (int k = 0; k < kCount; ++k) v[k] = from[index[k] * step];
    v *= At(values);
    std::memcpy(to, &v, sizeof(V));
  }
};

/* use(the columns of elements as they lie in memory). */
template <typename T, typename F>
void VisitIndex(const DotCall<T>& c, F&& use) {
  if (c.narrow_bytes == 2) return use(static_cast<const uint16_t*>(c.narrow));
  if (c.narrow_bytes == 4) return use(static_cast<const uint32_t*>(c.narrow));
  use(c.index);
}

/* Rows begin to end of the column `at`. kOne: the right factor is a vector; else rows of it are
 * `step` elements apart. */
template <bool kOne, typename T, typename I>
MXNET_SCALAR void GatherRows(const DotCall<T>& c, int64_t at, const I* index, int64_t begin, int64_t end) {
  const T *const dense = c.dense + at, *const values = c.values;
  const int64_t step = kOne ? 1 : c.dense_step;
  for (int64_t r = begin; r < end; ++r) {
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

/*
 * Short rows of different lengths: a loop over each ends with a branch that nothing predicts, which
 * takes as long as ten elements. So what belongs to the elements of some rows goes through a
 * buffer, whose loop does not know of rows.
 */
template <typename T>
struct ShortRows {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int64_t kRows = 64, kElements = 1024;
  using V = typename VectorOf<T, kVectorBytes>::Type;
  using M = typename VectorOf<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>, kVectorBytes>::Type;
  T buffer[kElements + 32] = {};  // behind the last element, more is written and not used

  /* Does the call have such rows, of `most` elements on average? Lengths of a few tell whether they
   * differ. */
  static bool In(const DotCall<T>& c, int64_t most) {
    if (c.indptr[c.end] - c.indptr[c.begin] > most * (c.end - c.begin)) return false;
    const int64_t sample = std::min<int64_t>(c.end - c.begin, 256), *const p = c.indptr + c.begin;
    int64_t changes = 0;
    for (int64_t i = 1; i < sample; ++i) changes += p[i + 1] - p[i] != p[i] - p[i - 1];
    return 8 * changes > sample;
  }
  /* use(begin, end): all rows of the call, some at a time. A row that the buffer is too small for
   * comes alone. */
  template <typename F>
  static void Visit(const DotCall<T>& c, F&& use) {
    for (int64_t r = c.begin; r < c.end;) {
      int64_t e = r;
      while (e < c.end && e - r < kRows && c.indptr[e + 1] - c.indptr[r] <= kElements) ++e;
      use(r, std::max(e, r + 1));
      r = std::max(e, r + 1);
    }
  }
  static bool Fits(const DotCall<T>& c, int64_t begin, int64_t end) { return c.indptr[end] - c.indptr[begin] <= kElements; }
  /* The first `count` of what lies at `from`, added up. */
  static inline T Sum(const T* from, int64_t count) {
    M lane = {};
    for (int i = 0; i < kLanes; ++i) lane[i] = i;
    M bits;
    V sum = {};
    int64_t k = 0;
    do {
      std::memcpy(&bits, from + k, sizeof(M));
      bits &= lane < static_cast<decltype(+lane[0])>(count - k);
      V some;
      std::memcpy(&some, &bits, sizeof(V));
      sum += some;
      k += kLanes;
    } while (k < count);
    return AddUp<kLanes>(&sum);
  }
  template <int kCount>
  static inline __attribute__((always_inline)) T AddUp(const void* v) {
    if constexpr (kCount == 1) {
      T x;
      std::memcpy(&x, v, sizeof(T));
      return x;
    } else {
      using Half = typename VectorOf<T, kCount / 2 * static_cast<int>(sizeof(T))>::Type;
      Half half[2];
      std::memcpy(half, v, sizeof(half));
      half[0] += half[1];
      return AddUp<kCount / 2>(half);
    }
  }
  /* The first `count` of `from` times `factor`. `readable`: elements there are at `from`. */
  static inline void Multiply(T factor, const T* from, T* to, int64_t count, int64_t readable) {
    int64_t k = 0;
    if (count + kLanes > readable) {
      for (; k < count; ++k) to[k] = factor * from[k];
      return;
    }
    do {
      V some;
      std::memcpy(&some, from + k, sizeof(V));
      some *= factor;
      std::memcpy(to + k, &some, sizeof(V));
      k += kLanes;
    } while (k < count);
  }
};

/* The products of elements `n` to `last`. */
template <bool kOne, typename T, typename I>
MXNET_SCALAR void Products(const DotCall<T>& c, int64_t at, const I* index, int64_t n, int64_t last, T* __restrict to) {
  using F = Few<T>;
  const T *const dense = c.dense + at, *const values = c.values;
  const int64_t step = kOne ? 1 : c.dense_step;
  for (; n + 8 <= last; n += 8, to += 8) {
    PrefetchElements(index, values, n);
    for (int k = 0; k < 8; k += F::kCount) F::Multiply(values + n + k, dense, step, index + n + k, to + k);
  }
  for (; n < last; ++n) *to++ = values[n] * dense[index[n] * step];
}

template <bool kOne, typename T, typename I>
void GatherColumn(const DotCall<T>& c, int64_t at, const I* index) {
  using Short = ShortRows<T>;
  // Of few rows the processor knows the lengths from the call before.
  constexpr int64_t kMany = 1 << 16;
  const int64_t most = c.end - c.begin < kMany ? Short::kLanes / 2 : Short::kLanes;
  if (!Short::In(c, most)) return GatherRows<kOne>(c, at, index, c.begin, c.end);
  Short rows;
  Short::Visit(c, [&](int64_t begin, int64_t end) {
    if (!Short::Fits(c, begin, end)) return GatherRows<kOne>(c, at, index, begin, end);
    const int64_t first = c.indptr[begin];
    Products<kOne>(c, at, index, first, c.indptr[end], rows.buffer);
    for (int64_t r = begin; r < end; ++r)
      c.out[r * c.out_step + at] = Short::Sum(rows.buffer + (c.indptr[r] - first), c.indptr[r + 1] - c.indptr[r]);
  });
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
  constexpr int64_t kRowBytes = B::kElements * static_cast<int64_t>(sizeof(T));
  T* const out = c.out + at;
  const T* const values = c.values;
  const int64_t *const index = c.index, step = c.out_step, total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B row;
    row.Load(c.dense + r * c.dense_step + at);
    int64_t n = c.indptr[r], last = c.indptr[r + 1];
    range.Clip(index, &n, &last);
    for (; range.sorted && n + 3 < last; n += 4) {
      PrefetchElements(index, values, n);
      if (kFar && n + kAhead + 3 < total)
        for (int64_t k = n + kAhead; k < n + kAhead + 4; ++k) PrefetchRow(out + index[k] * step, kRowBytes);
      for (int64_t k = n; k < n + 4; ++k) row.AddTo(values[k], out + index[k] * step);
    }
    for (; n < last; ++n)
      if (!range.Skips(index[n])) row.AddTo(values[n], out + index[n] * step);
  }
}

template <bool kOne, typename T, typename I>
MXNET_SCALAR void ScatterRows(const DotCall<T>& c, int64_t at, const Range& range, const I* index, int64_t begin, int64_t end) {
  using F = Few<T>;
  T* __restrict const out = c.out + at;
  const T* const values = c.values;
  const int64_t step = kOne ? 1 : c.out_step;
  for (int64_t r = begin; r < end; ++r) {
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
      for (int64_t k = n; k < n + 8; k += F::kCount) F::AddTo(out, step, index + k, F::At(values + k) * row);
    }
    for (; n + F::kCount <= last; n += F::kCount) F::AddTo(out, step, index + n, F::At(values + n) * row);
    for (; n < last; ++n) out[index[n] * step] += values[n] * row;
  }
}

/* What lies at `product` to the columns of elements `n` to `last`. */
template <bool kOne, typename T, typename I>
MXNET_SCALAR void AddProducts(const DotCall<T>& c, int64_t at, const I* index, int64_t n, int64_t last, const T* product) {
  using F = Few<T>;
  T* __restrict const out = c.out + at;
  const int64_t step = kOne ? 1 : c.out_step;
  for (; n + 8 <= last; n += 8, product += 8) {
    PrefetchElements(index, c.values, n);
    for (int k = 0; k < 8; k += F::kCount) F::AddTo(out, step, index + n + k, F::At(product + k));
  }
  for (; n < last; ++n) out[index[n] * step] += *product++;
}

template <bool kOne, typename T, typename I>
void ScatterColumn(const DotCall<T>& c, int64_t at, const Range& range, const I* index) {
  constexpr int64_t kShort = 12;
  using Short = ShortRows<T>;
  if (!range.all() || !Short::In(c, kShort)) return ScatterRows<kOne>(c, at, range, index, c.begin, c.end);
  Short rows;
  Short::Visit(c, [&](int64_t begin, int64_t end) {
    if (!Short::Fits(c, begin, end)) return ScatterRows<kOne>(c, at, range, index, begin, end);
    const int64_t first = c.indptr[begin];
    for (int64_t r = begin; r < end; ++r) {
      const int64_t n = c.indptr[r];
      Short::Multiply(c.dense[r * c.dense_step + at], c.values + n, rows.buffer + (n - first), c.indptr[r + 1] - n, c.indptr[c.end] - n);
    }
    AddProducts<kOne>(c, at, index, first, c.indptr[end], rows.buffer);
  });
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
    else if (c.first)
      GatherBlock<T, B, Reach::kPart>(c, at);
    else
      c.far ? GatherBlock<T, B, Reach::kFar>(c, at) : GatherBlock<T, B, Reach::kNear>(c, at);
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
