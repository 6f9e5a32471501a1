// Products of small matrices, row-major, whose results stay in registers until they are complete.
// This file is compiled once for each level of instruction sets.
#include <cstdint>

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
// a[i * ai + p * ak].
template <typename T, int rows, int packs, int bytes>
inline void ProductBlock(const T* a, int64_t ai, int64_t ak, const T* b, int64_t n, T* c, int64_t k) {
  typedef typename Pack<T, bytes>::Type V;
  constexpr int kWidth = bytes / sizeof(T);
  V sum[rows][packs] = {};
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
inline int64_t ProductColumns(const T* a, int64_t ai, int64_t ak, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) ProductBlock<T, 4, packs, bytes>(a + i * ai, ai, ak, b, n, c + i * n, k);
  for (; i < m; ++i) ProductBlock<T, 1, packs, bytes>(a + i * ai, ai, ak, b, n, c + i * n, k);
  return packs * bytes / static_cast<int>(sizeof(T));
}

template <typename T>
void Product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  constexpr int64_t kWidth = kBytes / sizeof(T), kHalf = 16 / sizeof(T);
  const int64_t ai = ta ? 1 : k, ak = ta ? m : 1;
  T turned[kMostFactor];
  if (tb) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p) turned[p * n + j] = b[j * k + p];
    b = turned;
  }
  int64_t j = 0;
  while (j + 2 * kWidth <= n) j += ProductColumns<T, 2, kBytes>(a, ai, ak, b + j, c + j, m, n, k);
  if (j + kWidth <= n) j += ProductColumns<T, 1, kBytes>(a, ai, ak, b + j, c + j, m, n, k);
  if (j + kHalf <= n) j += ProductColumns<T, 1, 16>(a, ai, ak, b + j, c + j, m, n, k);
  for (; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * ai + p * ak] * b[p * n + j];
      c[i * n + j] = sum;
    }
}

}  // namespace

/* c = op(a) op(b); op(a) is m x k, op(b) k x n. */
void SmallProduct(bool wide, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c) {
  if (wide) return Product(ta, tb, m, n, k, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(c));
  Product(ta, tb, m, n, k, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
