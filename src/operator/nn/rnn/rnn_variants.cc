// Inner loops of RNN.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mxnet/base.h"
#include "operator/nn/rnn/rnn_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"

using nn::CellClip;

// ---- products with packed weights: panels of two vectors of columns, row k after row k

#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr int kPanel = 2 * kLanes;
constexpr int64_t kDepth = 512;  // of one pass over a panel: its part stays in the first-level cache's neighbourhood
static_assert(nn::kPackColumns % kPanel == 0, "blocks of columns hold whole panels");
typedef float Vec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

// C(ROWS, columns of PANELS panels) += A B. `width`: columns that exist in C, of each panel where
// they do not lie side by side (`apart`: their distance).
template <int ROWS, int PANELS, bool kApart = false>
void Tile(int64_t k, const float* a, int64_t lda, const float* b, int64_t between, float* c, int64_t ldc, int64_t width,
          int64_t apart = kPanel) {
  Vec sum[ROWS][2 * PANELS] = {};
  for (int64_t i = 0; i < k; ++i) {
    Vec row[2 * PANELS];
    for (int p = 0; p < PANELS; ++p)
      for (int j = 0; j < 2; ++j) row[2 * p + j] = *reinterpret_cast<const Vec*>(b + p * between + i * kPanel + j * kLanes);
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < 2 * PANELS; ++j) sum[r][j] += row[j] * a[r * lda + i];
  }
  if (width >= (kApart ? 1 : PANELS) * kPanel) {
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < 2 * PANELS; ++j) *reinterpret_cast<Vec*>(c + r * ldc + j / 2 * apart + j % 2 * kLanes) += sum[r][j];
    return;
  }
  for (int r = 0; r < ROWS; ++r) {
    float line[PANELS * kPanel];
    for (int j = 0; j < 2 * PANELS; ++j) *reinterpret_cast<Vec*>(line + j * kLanes) = sum[r][j];
    if (kApart) {
      for (int p = 0; p < PANELS; ++p)
        for (int64_t j = 0; j < width; ++j) c[r * ldc + p * apart + j] += line[p * kPanel + j];
    } else {
      for (int64_t j = 0; j < width; ++j) c[r * ldc + j] += line[j];
    }
  }
}

template <int ROWS>
void Rest(int64_t rows, int64_t k, const float* a, int64_t lda, const float* b, float* c, int64_t ldc, int64_t width) {
  if constexpr (ROWS > 0) {
    if (rows == ROWS) return Tile<ROWS, 1>(k, a, lda, b, 0, c, ldc, width);
    Rest<ROWS - 1>(rows, k, a, lda, b, c, ldc, width);
  }
}

template <typename T>
void Lstm(int64_t n, int64_t stride, const CellClip& clip, T* gates, T* cell, T* kept, T* hidden) {
  T *gi = gates, *gf = gates + stride, *gg = gates + 2 * stride, *go = gates + 3 * stride;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    gi[j] = sigmoid(gi[j]);
    gf[j] = sigmoid(gf[j]);
    gg[j] = tanh(gg[j]);
    go[j] = sigmoid(go[j]);
    cell[j] = gf[j] * cell[j] + gi[j] * gg[j];
  }
  if (clip.on) {
    const T low = static_cast<T>(clip.low), high = static_cast<T>(clip.high);
    for (int64_t j = 0; j < n; ++j) {
      if (clip.nan && cell[j] != cell[j]) cell[j] = high;
      cell[j] = cell[j] < low ? low : cell[j] > high ? high : cell[j];
    }
  }
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    kept[j] = cell[j];
    hidden[j] = go[j] * tanh(cell[j]);
  }
}

template <typename T>
void LstmGradient(int64_t n, const CellClip& clip, const T* gates, const T* kept, const T* before, const T* up, T* dcell, T* dgates) {
  const T *gi = gates, *gf = gates + n, *gg = gates + 2 * n, *go = gates + 3 * n;
  const T low = static_cast<T>(clip.low), high = static_cast<T>(clip.high);
  const bool on = clip.on;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T tc = tanh(kept[j]), raw = gf[j] * before[j] + gi[j] * gg[j];
    T dc = dcell[j] + up[j] * go[j] * (T(1) - tc * tc);
    dc = on && !(raw > low && raw < high) ? T(0) : dc;
    dgates[3 * n + j] = up[j] * tc * go[j] * (T(1) - go[j]);
    dgates[j] = dc * gg[j] * gi[j] * (T(1) - gi[j]);
    dgates[n + j] = dc * before[j] * gf[j] * (T(1) - gf[j]);
    dgates[2 * n + j] = dc * gi[j] * (T(1) - gg[j] * gg[j]);
    dcell[j] = dc * gf[j];
  }
}

template <typename T>
void Gru(int64_t n, int64_t stride, T* gates, const T* r, const T* before, T* kept, T* hidden) {
  T *gr = gates, *gz = gates + stride, *gn = gates + 2 * stride;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    gr[j] = sigmoid(gr[j] + r[j]);
    gz[j] = sigmoid(gz[j] + r[stride + j]);
    kept[j] = r[2 * stride + j];
    gn[j] = tanh(gn[j] + gr[j] * kept[j]);
    hidden[j] = (T(1) - gz[j]) * gn[j] + gz[j] * before[j];
  }
}

template <typename T>
void GruGradient(int64_t n, const T* gates, const T* kept, const T* before, const T* up, T* dgates, T* drecurrent, T* keep) {
  const T *gr = gates, *gz = gates + n, *gn = gates + 2 * n;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T candidate = up[j] * (T(1) - gz[j]) * (T(1) - gn[j] * gn[j]);
    dgates[2 * n + j] = candidate;
    drecurrent[2 * n + j] = candidate * gr[j];
    dgates[j] = drecurrent[j] = candidate * kept[j] * gr[j] * (T(1) - gr[j]);
    dgates[n + j] = drecurrent[n + j] = up[j] * (before[j] - gn[j]) * gz[j] * (T(1) - gz[j]);
    keep[j] = up[j] * gz[j];
  }
}

template <typename T>
void Tanh(int64_t n, T* gates, T* hidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) hidden[j] = gates[j] = tanh(gates[j]);
}

template <typename T>
void Relu(int64_t n, T* gates, T* hidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) hidden[j] = gates[j] = gates[j] > T(0) ? gates[j] : T(0);
}

template <typename T>
void PlainGradient(int64_t n, bool relu, const T* gates, const T* up, T* dgates) {
  if (relu) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) dgates[j] = gates[j] > T(0) ? up[j] : T(0);
  } else {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) dgates[j] = up[j] * (T(1) - gates[j] * gates[j]);
  }
}

template <typename F>
inline void OfType(int dtype, F&& f) {
  if (dtype == kFloat64)
    f(double{});
  else
    f(float{});
}
template <typename T>
T* Out(void* p, T) {
  return static_cast<T*>(p);
}
template <typename T>
const T* In(const void* p, T) {
  return static_cast<const T*>(p);
}

}  // namespace

void PackColumns(bool transposed, int64_t n, int64_t k, const float* b, int64_t ld, float* packed) {
  for (int64_t first = 0; first < nn::PackedColumns(n); first += kPanel, packed += k * kPanel) {
    const int64_t width = std::min<int64_t>(kPanel, n - first);
    if (width < kPanel) std::fill(packed, packed + k * kPanel, 0.f);
    if (transposed) {
      for (int64_t i0 = 0; i0 < k; i0 += 16)  // some rows at a time, so that lines of the result are written while they are near
        for (int64_t j = 0; j < width; ++j)
          for (int64_t i = i0; i < std::min(k, i0 + 16); ++i) packed[i * kPanel + j] = b[(first + j) * ld + i];
    } else if (width > 0) {
      for (int64_t i = 0; i < k; ++i) std::copy(b + i * ld + first, b + i * ld + first + width, packed + i * kPanel);
    }
  }
}

void PackedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packed, float* c, int64_t ldc) {
  constexpr int kWide = 4;  // panels at once for few rows, so that there are enough independent sums
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    int64_t first = 0;
    if (m <= 2) {
      for (; first + kWide * kPanel <= n; first += kWide * kPanel) {
        const float* b = packed + first * k + k0 * kPanel;
        if (m == 1) Tile<1, kWide>(depth, a + k0, lda, b, k * kPanel, c + first, ldc, n - first);
        if (m == 2) Tile<2, kWide / 2>(depth, a + k0, lda, b, k * kPanel, c + first, ldc, n - first);
        if (m == 2)
          Tile<2, kWide / 2>(depth, a + k0, lda, b + 2 * k * kPanel, k * kPanel, c + first + 2 * kPanel, ldc, n - first - 2 * kPanel);
      }
    }
    for (; first < n; first += kPanel) {
      const float* b = packed + first * k + k0 * kPanel;
      int64_t r = 0;
      for (; r + kRows <= m; r += kRows) Tile<kRows, 1>(depth, a + r * lda + k0, lda, b, 0, c + r * ldc + first, ldc, n - first);
      Rest<kRows - 1>(m - r, depth, a + r * lda + k0, lda, b, c + r * ldc + first, ldc, n - first);
    }
  }
}

void PackedGates(int64_t m, int64_t n, int64_t k, int64_t gates, const float* a, int64_t lda, const float* packed, int64_t gate_size,
                 float* c, int64_t ldc, int64_t gate_columns) {
  constexpr int kTogether = kLanes == 16 ? 2 : 1;  // rows whose sums fit into the registers with those of all gates
  if (m > kTogether || gates < 3) {
    for (int64_t g = 0; g < gates; ++g) PackedGemm(m, n, k, a, lda, packed + g * gate_size, c + g * gate_columns, ldc);
    return;
  }
  for (int64_t first = 0; first < n; first += kPanel) {
    const float* b = packed + first * k;
    const int64_t width = std::min<int64_t>(kPanel, n - first);
    if (m == 1 && gates == 4) Tile<1, 4, true>(k, a, lda, b, gate_size, c + first, ldc, width, gate_columns);
    if (m == 1 && gates == 3) Tile<1, 3, true>(k, a, lda, b, gate_size, c + first, ldc, width, gate_columns);
    if constexpr (kTogether == 2) {
      if (m == 2 && gates == 4) Tile<2, 4, true>(k, a, lda, b, gate_size, c + first, ldc, width, gate_columns);
      if (m == 2 && gates == 3) Tile<2, 3, true>(k, a, lda, b, gate_size, c + first, ldc, width, gate_columns);
    }
  }
}

void LstmRow(int dtype, int64_t n, int64_t stride, const nn::CellClip& clip, void* gates, void* cell, void* kept, void* hidden) {
  OfType(dtype, [&](auto t) { Lstm(n, stride, clip, Out(gates, t), Out(cell, t), Out(kept, t), Out(hidden, t)); });
}
void LstmRowGradient(int dtype, int64_t n, const nn::CellClip& clip, const void* gates, const void* kept, const void* before,
                     const void* up, void* dcell, void* dgates) {
  OfType(dtype, [&](auto t) { LstmGradient(n, clip, In(gates, t), In(kept, t), In(before, t), In(up, t), Out(dcell, t), Out(dgates, t)); });
}
void GruRow(int dtype, int64_t n, int64_t stride, void* gates, const void* recurrent, const void* before, void* kept, void* hidden) {
  OfType(dtype, [&](auto t) { Gru(n, stride, Out(gates, t), In(recurrent, t), In(before, t), Out(kept, t), Out(hidden, t)); });
}
void GruRowGradient(int dtype, int64_t n, const void* gates, const void* kept, const void* before, const void* up, void* dgates,
                    void* drecurrent, void* keep) {
  OfType(dtype, [&](auto t) {
    GruGradient(n, In(gates, t), In(kept, t), In(before, t), In(up, t), Out(dgates, t), Out(drecurrent, t), Out(keep, t));
  });
}
void TanhRow(int dtype, int64_t n, void* gates, void* hidden) {
  OfType(dtype, [&](auto t) { Tanh(n, Out(gates, t), Out(hidden, t)); });
}
void ReluRow(int dtype, int64_t n, void* gates, void* hidden) {
  OfType(dtype, [&](auto t) { Relu(n, Out(gates, t), Out(hidden, t)); });
}
void PlainRowGradient(int dtype, int64_t n, bool relu, const void* gates, const void* up, void* dgates) {
  OfType(dtype, [&](auto t) { PlainGradient(n, relu, In(gates, t), In(up, t), Out(dgates, t)); });
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
