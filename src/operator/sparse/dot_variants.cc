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

/* Columns `at` to `at + B::kElements` of all rows. */
template <typename T, typename B>
void GatherBlock(const DotCall<T>& c, int64_t at) {
  const T* const dense = c.dense + at;
  const int64_t total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B sum, other;
    int64_t n = c.indptr[r];
    const int64_t last = c.indptr[r + 1];
    for (; n + 1 < last; n += 2) {
      if (n + kAhead + 1 < total) {
        PrefetchRow(dense + c.index[n + kAhead] * c.columns, B::kElements * static_cast<int64_t>(sizeof(T)));
        PrefetchRow(dense + c.index[n + kAhead + 1] * c.columns, B::kElements * static_cast<int64_t>(sizeof(T)));
      }
      sum.AddProduct(c.values[n], dense + c.index[n] * c.columns);
      other.AddProduct(c.values[n + 1], dense + c.index[n + 1] * c.columns);
    }
    if (n < last) sum.AddProduct(c.values[n], dense + c.index[n] * c.columns);
    sum.Add(other);
    sum.Store(c.out + r * c.columns + at);
  }
}

template <typename T>
void GatherColumn(const DotCall<T>& c, int64_t at) {
  constexpr int kLanes = 4;
  const T* const dense = c.dense + at;
  for (int64_t r = c.begin; r < c.end; ++r) {
    T sum[kLanes] = {};
    int64_t n = c.indptr[r];
    const int64_t last = c.indptr[r + 1];
    for (; n + kLanes <= last; n += kLanes)
      for (int k = 0; k < kLanes; ++k) sum[k] += c.values[n + k] * dense[c.index[n + k] * c.columns];
    for (; n < last; ++n) sum[0] += c.values[n] * dense[c.index[n] * c.columns];
    c.out[r * c.columns + at] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/* use(block, first column) for blocks that cover the columns of the call, wide ones first. */
template <typename T, typename F>
void VisitBlocks(const DotCall<T>& c, F&& use) {
  int64_t at = c.first_column;
  const auto pass = [&](auto block) {
    using B = decltype(block);
    for (; at + B::kElements <= c.last_column; at += B::kElements) use(block, at);
  };
  pass(Block<T, kVectorBytes, 4>());
  pass(Block<T, kVectorBytes, 2>());
  pass(Block<T, kVectorBytes, 1>());
  if constexpr (kVectorBytes > 32) pass(Block<T, 32, 1>());
  if constexpr (kVectorBytes > 16) pass(Block<T, 16, 1>());
  if constexpr (sizeof(T) < 8) pass(Block<T, 8, 1>());
  pass(Block<T, sizeof(T), 1>());
}

template <typename T, typename B>
void ScatterBlock(const DotCall<T>& c, int64_t at, int64_t low, int64_t high, bool sorted) {
  T* const out = c.out + at;
  const bool all = low == 0 && high == INT64_MAX;
  const int64_t total = c.indptr[c.end];
  for (int64_t r = c.begin; r < c.end; ++r) {
    B row;
    row.Load(c.dense + r * c.columns + at);
    int64_t n = c.indptr[r], last = c.indptr[r + 1];
    if (!all && sorted) {
      n = std::lower_bound(c.index + n, c.index + last, low) - c.index;
      last = std::lower_bound(c.index + n, c.index + last, high) - c.index;
    }
    for (; n < last; ++n) {
      const int64_t column = c.index[n];
      if (!all && !sorted && (column < low || column >= high)) continue;
      if (n + kAhead < total) PrefetchRow(out + c.index[n + kAhead] * c.columns, B::kElements * static_cast<int64_t>(sizeof(T)));
      row.AddTo(c.values[n], out + column * c.columns);
    }
  }
}

template <typename T>
void Gather(const DotCall<T>& c) {
  VisitBlocks(c, [&](auto block, int64_t at) {
    if constexpr (decltype(block)::kElements == 1)
      GatherColumn(c, at);
    else
      GatherBlock<T, decltype(block)>(c, at);
  });
}

template <typename T>
void Scatter(const DotCall<T>& c, int64_t low, int64_t high, bool sorted) {
  VisitBlocks(c, [&](auto block, int64_t at) { ScatterBlock<T, decltype(block)>(c, at, low, high, sorted); });
}

}  // namespace

void GatherFloat(const DotCall<float>& call) { Gather(call); }
void GatherDouble(const DotCall<double>& call) { Gather(call); }
void ScatterFloat(const DotCall<float>& call, int64_t low, int64_t high, bool sorted) { Scatter(call, low, high, sorted); }
void ScatterDouble(const DotCall<double>& call, int64_t low, int64_t high, bool sorted) { Scatter(call, low, high, sorted); }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
