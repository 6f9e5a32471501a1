// Products of few rows with a matrix: several rows of weights are read side by side, because one
// stream of reads does not fill the memory's pipeline (Zen 3, 151 MB of weights: 1 stream 12 GB/s,
// 4 streams 17, 8 streams 19).
#include <cstring>
#include <type_traits>

#include "base/vector_bytes.h"
#include "operator/nn/cpu_gemm/small_m_gemm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kLanes = kVectorBytes / 4;
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

inline Vector Load(const float* p) {
  Vector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline float Sum(Vector v) {
  float lane[kLanes];
  std::memcpy(lane, &v, sizeof v);
  for (int width = kLanes / 2; width; width /= 2)
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  return lane[0];
}

// M rows of data with R rows of weights. The M x R accumulators, R weights and one element of data
// are what AVX2 has registers for.
template <int M, int R>
void Block(int64_t n, int64_t k, const float* x, const float* w, const float* bias, float* y) {
  Vector acc[M][R] = {};
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    Vector v[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      v[r] = Load(w + r * k + i);
      if (R > 1) __builtin_prefetch(w + (R + r) * k + i, 0, 2);
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const Vector data = Load(x + m * k + i);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[m][r] += v[r] * data;
    }
  }
  for (int m = 0; m < M; ++m)
    for (int r = 0; r < R; ++r) {
      float sum = Sum(acc[m][r]);
      for (int64_t j = i; j < k; ++j) sum += x[m * k + j] * w[r * k + j];
      y[m * n + r] = bias ? sum + bias[r] : sum;
    }
}

// All rows of data see R rows of weights, which then are in the second-level cache, before the next
// R. Pieces of k instead, which would keep the data in the first level, were slower: the reads of
// weights jump.
template <int M, int R>
void Columns(int64_t m, int64_t n, int64_t k, const float* x, const float* w, const float* bias, float* y, int64_t begin, int64_t end) {
  const auto rows = [&](auto width, int64_t j) {
    constexpr int kWidth = decltype(width)::value;
    const float* b = bias ? bias + j : nullptr;
    int64_t at = 0;
    for (; at + M <= m; at += M) Block<M, kWidth>(n, k, x + at * k, w + j * k, b, y + at * n + j);
    for (; at < m; ++at) Block<1, kWidth>(n, k, x + at * k, w + j * k, b, y + at * n + j);
  };
  int64_t j = begin;
  for (; j + R <= end; j += R) rows(std::integral_constant<int, R>(), j);
  for (; j < end; ++j) rows(std::integral_constant<int, 1>(), j);
}

}  // namespace

void SmallMGemm(int64_t m, int64_t n, int64_t k, const float* data, const float* weight, const float* bias, float* out, int64_t begin,
                int64_t end) {
  const auto run = m == 1 ? Columns<1, 8> : m == 2 ? Columns<2, 5> : m % 3 == 0 ? Columns<3, 3> : Columns<4, 3>;
  run(m, n, k, data, weight, bias, out, begin, end);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
