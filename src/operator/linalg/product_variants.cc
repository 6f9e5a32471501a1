// Products of small matrices, row-major, whose results stay in registers until they are complete.
// This file is compiled once for each level of instruction sets.
#include <cstdint>
#include <type_traits>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kMostFactor = 4096;  // numbers of b; matmul_cpu.cc asks for no more

#ifdef __AVX__
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
// Numbers that lie anywhere.
template <typename T, int bytes>
struct Pack {
  typedef T Type __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};

// rows x (packs * the numbers of a pack) numbers of c = a b; element (i, p) of a is
// a[i * ai + p * ak]. Each row's sums begin with those of `start`, if there are any.
template <typename T, int rows, int packs, int bytes>
inline void ProductBlock(const T* a, int64_t ai, int64_t ak, const T* b, int64_t n, const T* start, T* c, int64_t k) {
  typedef typename Pack<T, bytes>::Type V;
  constexpr int kWidth = bytes / sizeof(T);
  V sum[rows][packs] = {};
  if (start)
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < packs; ++j) sum[i][j] = *reinterpret_cast<const V*>(start + j * kWidth);
  for (int64_t p = 0; p < k; ++p) {
    V row[packs];
#pragma GCC unroll 2
    for (int j = 0; j < packs; ++j) row[j] = *reinterpret_cast<const V*>(b + p * n + j * kWidth);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < packs; ++j) sum[i][j] += a[i * ai + p * ak] * row[j];
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < packs; ++j) *reinterpret_cast<V*>(c + i * n + j * kWidth) = sum[i][j];
}

// The next columns; returns how many.
template <typename T, int packs, int bytes>
inline int64_t ProductColumns(const T* a, int64_t ai, int64_t ak, const T* b, const T* start, T* c, int64_t m, int64_t n, int64_t k) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) ProductBlock<T, 4, packs, bytes>(a + i * ai, ai, ak, b, n, start, c + i * n, k);
  for (; i < m; ++i) ProductBlock<T, 1, packs, bytes>(a + i * ai, ai, ak, b, n, start, c + i * n, k);
  return packs * bytes / static_cast<int>(sizeof(T));
}

// The last columns, fewer than a pack has numbers. Beside b's there are zeros, and what whole packs
// write behind a row is overwritten: by the next rows here, by their first columns afterwards.
template <typename T, int bytes>
void ProductRest(const T* a, int64_t ai, int64_t ak, const T* b, const T* start, T* c, int64_t m, int64_t n, int64_t k, int64_t columns) {
  typedef typename Pack<T, bytes>::Type V;
  constexpr int kWidth = bytes / sizeof(T), kTogether = 4;
  T wide[kMostFactor];
  V first = {};
  if (start) __builtin_memcpy(&first, start, columns * sizeof(T));
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < kWidth; ++j) wide[p * kWidth + j] = j < columns ? b[p * n + j] : T(0);
  const int64_t end = (m - 1) * n + columns;
  auto block = [&](int64_t i, auto count) {
    constexpr int kRows = decltype(count)::value;
    V sum[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sum[r] = first;
    for (int64_t p = 0; p < k; ++p) {
      const V row = *reinterpret_cast<const V*>(wide + p * kWidth);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r] += a[(i + r) * ai + p * ak] * row;
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      if ((i + r) * n + kWidth <= end)
        *reinterpret_cast<V*>(c + (i + r) * n) = sum[r];
      else
        __builtin_memcpy(c + (i + r) * n, &sum[r], columns * sizeof(T));
    }
  };
  int64_t i = 0;
  for (; i + kTogether <= m; i += kTogether) block(i, std::integral_constant<int, kTogether>());
  for (; i < m; ++i) block(i, std::integral_constant<int, 1>());
}

// Columns from j on, one number at a time; element (p, j) of b is b[p * bk + j * bj].
template <typename T>
inline void SingleColumns(const T* a, int64_t ai, int64_t ak, const T* b, int64_t bk, int64_t bj, const T* start, T* c, int64_t m,
                          int64_t n, int64_t k, int64_t j) {
  for (; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      T sum = start ? start[j] : T(0);
      for (int64_t p = 0; p < k; ++p) sum += a[i * ai + p * ak] * b[p * bk + j * bj];
      c[i * n + j] = sum;
    }
}

template <typename T>
void Product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, const T* start, T* c) {
  constexpr int64_t kWidth = kBytes / sizeof(T), kHalf = 16 / sizeof(T);
  const int64_t ai = ta ? 1 : k, ak = ta ? m : 1;
  if (n < kHalf && m < 4) return SingleColumns(a, ai, ak, b, tb ? 1 : n, tb ? k : 1, start, c, m, n, k, 0);
  T turned[kMostFactor];
  if (tb) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p) turned[p * n + j] = b[j * k + p];
    b = turned;
  }
  auto from = [&](int64_t j) { return start ? start + j : nullptr; };
  if (const int64_t rest = n % kWidth, j = n - rest; rest > 0 && k * kWidth <= kMostFactor) {
    if (rest > kHalf)
      ProductRest<T, kBytes>(a, ai, ak, b + j, from(j), c + j, m, n, k, rest);
    else
      ProductRest<T, 16>(a, ai, ak, b + j, from(j), c + j, m, n, k, rest);
    if (j == 0) return;
  }
  int64_t j = 0;
  while (j + 2 * kWidth <= n) j += ProductColumns<T, 2, kBytes>(a, ai, ak, b + j, from(j), c + j, m, n, k);
  if (j + kWidth <= n) j += ProductColumns<T, 1, kBytes>(a, ai, ak, b + j, from(j), c + j, m, n, k);
  if (k * kWidth <= kMostFactor) return;
  SingleColumns(a, ai, ak, b, n, 1, start, c, m, n, k, j);
}

// The sum of a pack's numbers, by halves.
template <typename T>
inline T SumOfPack(const typename Pack<T, kBytes>::Type& v) {
  constexpr int kWidth = kBytes / sizeof(T);
  T part[kWidth];
  __builtin_memcpy(part, &v, sizeof(part));
#pragma GCC unroll 4
  for (int half = kWidth / 2; half > 0; half /= 2)
#pragma GCC unroll 4
    for (int j = 0; j < half; ++j) part[j] += part[j + half];
  return part[0];
}

// Products of `rows` neighbouring rows of k numbers with x: sums of kPiece numbers in their own
// type, in `packs` packs each, which are added up in double. A sum does not depend on `rows`.
template <typename T, int rows, int packs>
void InnerRows(const T* a, const T* x, int64_t k, double* all) {
  typedef typename Pack<T, kBytes>::Type V;
  constexpr int64_t kWidth = kBytes / sizeof(T), kStep = packs * kWidth, kPiece = 4096;
  for (int r = 0; r < rows; ++r) all[r] = 0;
  for (int64_t first = 0; first < k; first += kPiece) {
    const int64_t last = k - first < kPiece ? k : first + kPiece;
    V sum[rows][packs] = {};
    int64_t i = first;
    for (; i + kStep <= last; i += kStep)
#pragma GCC unroll 4
      for (int j = 0; j < packs; ++j) {
        const V part = *reinterpret_cast<const V*>(x + i + j * kWidth);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) sum[r][j] += *reinterpret_cast<const V*>(a + r * k + i + j * kWidth) * part;
      }
    for (; i + kWidth <= last; i += kWidth) {
      const V part = *reinterpret_cast<const V*>(x + i);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) sum[r][0] += *reinterpret_cast<const V*>(a + r * k + i) * part;
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      V one = sum[r][0];
#pragma GCC unroll 4
      for (int j = 1; j < packs; ++j) one += sum[r][j];
      T piece = SumOfPack<T>(one);
      for (int64_t j = i; j < last; ++j) piece += a[r * k + j] * x[j];
      all[r] += static_cast<double>(piece);
    }
  }
}

template <typename T>
double Inner(const T* a, const T* b, int64_t n) {
  double sum;
  InnerRows<T, 1, 4>(a, b, n, &sum);
  return sum;
}

template <typename T>
void Inners(int64_t rows, int64_t k, const T* a, const T* x, T* y) {
  constexpr int kTogether = 4;
  double sums[kTogether];
  int64_t i = 0;
  for (; i + kTogether <= rows; i += kTogether) {
    InnerRows<T, kTogether, 2>(a + i * k, x, k, sums);
    for (int r = 0; r < kTogether; ++r) y[i + r] = static_cast<T>(sums[r]);
  }
  for (; i < rows; ++i) {
    InnerRows<T, 1, 2>(a + i * k, x, k, sums);
    y[i] = static_cast<T>(sums[0]);
  }
}

}  // namespace

/* y[i] = row i of a times x; rows of k numbers. */
void InnerProducts(bool wide, int64_t rows, int64_t k, const void* a, const void* x, void* y) {
  if (wide) return Inners(rows, k, static_cast<const double*>(a), static_cast<const double*>(x), static_cast<double*>(y));
  Inners(rows, k, static_cast<const float*>(a), static_cast<const float*>(x), static_cast<float*>(y));
}
double InnerProduct(bool wide, int64_t k, const void* a, const void* b) {
  return wide ? Inner(static_cast<const double*>(a), static_cast<const double*>(b), k)
              : Inner(static_cast<const float*>(a), static_cast<const float*>(b), k);
}

/* c = op(a) op(b); op(a) is m x k, op(b) k x n. `start`, if any: n numbers that are added to each
 * row. */
void SmallProduct(bool wide, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void* a, const void* b, const void* start, void* c) {
  if (wide)
    return Product(ta, tb, m, n, k, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<const double*>(start),
                   static_cast<double*>(c));
  Product(ta, tb, m, n, k, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<const float*>(start),
          static_cast<float*>(c));
}

/* c[i] = factor * x[i] */
void ScaledVector(bool wide, int64_t n, double factor, const void* x, void* c) {
  auto scale = [n, factor](const auto* from, auto* to) {
    const auto f = static_cast<std::decay_t<decltype(*to)>>(factor);
    for (int64_t i = 0; i < n; ++i) to[i] = f * from[i];
  };
  if (wide) return scale(static_cast<const double*>(x), static_cast<double*>(c));
  scale(static_cast<const float*>(x), static_cast<float*>(c));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
