// A step of a decoder: the queries of a group, some four rows, look at all keys. Each key is read
// once from memory; the rest comes from the first-level cache.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/vector_bytes.h"
#include "operator/nn/attention/attention_rows.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using nn::FloatRows;

constexpr int kLanes = kVectorBytes / 4, kAhead = 16;
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

inline __attribute__((always_inline)) Vector Load(const float* p) {
  Vector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/* The first `count` of the lanes, zeros behind. */
inline Vector LoadSome(const float* p, int64_t count) {
  float lanes[kLanes] = {};
  std::copy(p, p + count, lanes);
  return Load(lanes);
}

// ---- sums of the lanes of kLanes vectors, as the lanes of one

/* Of each 2 * S lanes: first S sums of neighbours at distance S of a, then S of b. */
template <int S, int... I>
inline __attribute__((always_inline)) Vector Fold(Vector a, Vector b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I / S % 2 == 0 ? I : kLanes + I - S)...) +
         __builtin_shufflevector(a, b, (I / S % 2 == 0 ? I + S : kLanes + I)...);
}

template <int S>
inline __attribute__((always_inline)) void FoldAll(Vector* v) {
  if constexpr (S > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < S; ++i) v[i] = Fold<S>(v[i], v[i + S], std::make_integer_sequence<int, kLanes>());
    FoldAll<S / 2>(v);
  }
}

/* One query and kLanes keys. Those `ahead` elements behind them come next: one stream of reads does
 * not fill the memory's pipeline. */
inline Vector Products(int64_t size, const float* query, const float* const* keys, int64_t ahead) {
  Vector sum[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Vector q = Load(query + i);
#pragma GCC unroll 16
    for (int j = 0; j < kLanes; ++j) {
      sum[j] += q * Load(keys[j] + i);
      if (ahead > 0) __builtin_prefetch(keys[j] + ahead + i, 0, 3);
    }
  }
  if (i < size) {
    const Vector q = LoadSome(query + i, size - i);
    for (int j = 0; j < kLanes; ++j) sum[j] += q * LoadSome(keys[j] + i, size - i);
  }
  FoldAll<kLanes / 2>(sum);
  return sum[0];
}

// ---- weights and values

/* M rows of sums over all keys, of C vectors of columns. With few sums each is U, of every U-th
 * key, so that no addition waits for the one before. */
template <int M, int C, int U>
void Sums(int64_t keys, FloatRows weights, const float* value, int64_t value_row, bool add, float* y, int64_t y_row) {
  Vector sum[U][M][C] = {};
  const auto add_key = [&](int64_t j, Vector(&to)[M][C]) __attribute__((always_inline)) {
    Vector v[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      v[c] = Load(value + j * value_row + c * kLanes);
      __builtin_prefetch(value + (j + kAhead) * value_row + c * kLanes, 0, 3);
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) to[m][c] += v[c] * weights.data[m * weights.row + j];
  };
  int64_t j = 0;
  for (; j + U <= keys; j += U)
#pragma GCC unroll 4
    for (int u = 0; u < U; ++u) add_key(j + u, sum[u]);
  for (; j < keys; ++j) add_key(j, sum[0]);
  for (int m = 0; m < M; ++m)
    for (int c = 0; c < C; ++c) {
      Vector all = sum[0][m][c];
      for (int u = 1; u < U; ++u) all += sum[u][m][c];
      float* const to = y + m * y_row + c * kLanes;
      if (add) all += Load(to);
      std::memcpy(to, &all, sizeof all);
    }
}

template <int M>
void Columns(int64_t keys, int64_t size, FloatRows weights, FloatRows value, bool add, float* y, int64_t y_row) {
  constexpr int kWide = kLanes == 16 ? 4 : 2, kApart = M == 1 ? 4 : M == 2 ? 2 : 1;
  int64_t c = 0;
  for (; c + kWide * kLanes <= size; c += kWide * kLanes)
    Sums<M, kWide, kLanes == 16 ? kApart : (kApart + 1) / 2>(keys, weights, value.data + c, value.row, add, y + c, y_row);
  for (; c + kLanes <= size; c += kLanes) Sums<M, 1, kApart>(keys, weights, value.data + c, value.row, add, y + c, y_row);
  for (; c < size; ++c)
    for (int m = 0; m < M; ++m) {
      float sum = add ? y[m * y_row + c] : 0.f;
      for (int64_t j = 0; j < keys; ++j) sum += weights.data[m * weights.row + j] * value.data[j * value.row + c];
      y[m * y_row + c] = sum;
    }
}

}  // namespace

void KeyProducts(int64_t rows, int64_t keys, int64_t size, float scale, FloatRows query, FloatRows key, float* scores, int64_t line) {
  const float* at[kLanes];
  for (int64_t first = 0; first < keys; first += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, keys - first);
    for (int64_t j = 0; j < kLanes; ++j) at[j] = key.data + (first + std::min(j, count - 1)) * key.row;
    for (int64_t i = 0; i < rows; ++i) {
      const Vector sum = Products(size, query.data + i * query.row, at, i == 0 ? kLanes * key.row : 0) * scale;
      std::memcpy(scores + i * line + first, &sum, static_cast<size_t>(count) * sizeof(float));
    }
  }
}

void ValueSums(int64_t rows, int64_t keys, int64_t size, FloatRows weights, FloatRows value, bool add, float* y, int64_t y_row) {
  for (int64_t i = 0; i < rows;) {
    const int64_t left = rows - i, m = left >= 4 ? 4 : left;
    const auto run = m == 4 ? Columns<4> : m == 3 ? Columns<3> : m == 2 ? Columns<2> : Columns<1>;
    run(keys, size, {weights.data + i * weights.row, weights.row}, value, add, y + i * y_row, y_row);
    i += m;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
