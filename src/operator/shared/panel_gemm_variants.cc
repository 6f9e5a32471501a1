// Products with packed matrices.
#include <algorithm>
#include <cstdint>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "operator/shared/panel_gemm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// Panels of two vectors of columns, row k after row k.

#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr int kPanel = 2 * kLanes;
constexpr int64_t kDepth = 512;  // of one pass over a panel: its part stays in the first-level cache's neighbourhood
static_assert(kPackColumns % kPanel == 0, "blocks of columns hold whole panels");
typedef float Vec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

// C(ROWS, columns of PANELS panels) = A B, to which `add` adds what C was. Of each panel the first
// VECTORS vectors are looked at. `width`: columns that exist in C, of each panel where they do not
// lie side by side (`apart`: their distance).
template <int ROWS, int PANELS, bool kApart = false, int VECTORS = 2>
void Tile(int64_t k, const float* a, int64_t lda, const float* b, int64_t between, float* c, int64_t ldc, int64_t width, bool add,
          int64_t apart = kPanel) {
  constexpr int kVectors = VECTORS * PANELS;
  Vec sum[ROWS][kVectors] = {};
  for (int64_t i = 0; i < k; ++i) {
    Vec row[kVectors];
    for (int p = 0; p < PANELS; ++p)
      for (int j = 0; j < VECTORS; ++j) row[VECTORS * p + j] = *reinterpret_cast<const Vec*>(b + p * between + i * kPanel + j * kLanes);
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < kVectors; ++j) sum[r][j] += row[j] * a[r * lda + i];
  }
  if (width >= (kApart ? 1 : PANELS) * VECTORS * kLanes) {
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < kVectors; ++j) {
        Vec* const to = reinterpret_cast<Vec*>(c + r * ldc + j / VECTORS * apart + j % VECTORS * kLanes);
        *to = add ? *to + sum[r][j] : sum[r][j];
      }
    return;
  }
  for (int r = 0; r < ROWS; ++r) {
    float line[kVectors * kLanes];
    for (int j = 0; j < kVectors; ++j) *reinterpret_cast<Vec*>(line + j * kLanes) = sum[r][j];
    for (int p = 0; p < (kApart ? PANELS : 1); ++p)
      for (int64_t j = 0; j < width; ++j) {
        float* const to = c + r * ldc + p * apart + j;
        *to = (add ? *to : 0.f) + line[p * VECTORS * kLanes + j];
      }
  }
}

template <int ROWS, int VECTORS>
void Rest(int64_t rows, int64_t k, const float* a, int64_t lda, const float* b, float* c, int64_t ldc, int64_t width, bool add) {
  if constexpr (ROWS > 0) {
    if (rows == ROWS) return Tile<ROWS, 1, false, VECTORS>(k, a, lda, b, 0, c, ldc, width, add);
    Rest<ROWS - 1, VECTORS>(rows, k, a, lda, b, c, ldc, width, add);
  }
}

/* All rows with one panel. */
template <int VECTORS>
void OnePanel(int64_t m, int64_t k, const float* a, int64_t lda, const float* b, float* c, int64_t ldc, int64_t width, bool add) {
  int64_t r = 0;
  for (; r + kRows <= m; r += kRows) Tile<kRows, 1, false, VECTORS>(k, a + r * lda, lda, b, 0, c + r * ldc, ldc, width, add);
  Rest<kRows - 1, VECTORS>(m - r, k, a + r * lda, lda, b, c + r * ldc, ldc, width, add);
}

#if defined(__AVX__)
/* to[i * kPanel + j] = from[j * ld + i] for 8 x 8 of them. */
inline void Transpose8(const float* from, int64_t ld, float* to) {
  __m256 r[8], t[8];
  for (int j = 0; j < 8; ++j) r[j] = _mm256_loadu_ps(from + j * ld);
  for (int j = 0; j < 8; j += 2) t[j] = _mm256_unpacklo_ps(r[j], r[j + 1]), t[j + 1] = _mm256_unpackhi_ps(r[j], r[j + 1]);
  for (int j = 0; j < 8; j += 4) {
    r[j] = _mm256_shuffle_ps(t[j], t[j + 2], 0x44), r[j + 1] = _mm256_shuffle_ps(t[j], t[j + 2], 0xee);
    r[j + 2] = _mm256_shuffle_ps(t[j + 1], t[j + 3], 0x44), r[j + 3] = _mm256_shuffle_ps(t[j + 1], t[j + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * kPanel, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * kPanel, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#endif

/* packed[i * kPanel + j] = b[j * ld + i] for j < width and i < k. */
void PackTransposed(int64_t width, int64_t k, const float* b, int64_t ld, float* packed) {
  int64_t done = 0;  // columns
#if defined(__AVX__)
  const int64_t depth = k / 8 * 8;
  for (; done + 8 <= width; done += 8) {
    for (int64_t i = 0; i < depth; i += 8) Transpose8(b + done * ld + i, ld, packed + i * kPanel + done);
    for (int64_t i = depth; i < k; ++i)
      for (int64_t j = done; j < done + 8; ++j) packed[i * kPanel + j] = b[j * ld + i];
  }
#endif
  for (int64_t i0 = 0; i0 < k; i0 += 16)  // some rows at a time, so that lines of the result are written while they are near
    for (int64_t j = done; j < width; ++j)
      for (int64_t i = i0; i < std::min(k, i0 + 16); ++i) packed[i * kPanel + j] = b[j * ld + i];
}

/*
 * C(ROWS, VECTORS vectors) of A' B, with a[i * lda + r] and b[i * ldb + j] as they lie, to which
 * `add` adds what C was.
 */
template <int ROWS, int VECTORS>
void DownTile(int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add) {
  Vec sum[ROWS][VECTORS] = {};
  for (int64_t i = 0; i < k; ++i, a += lda, b += ldb) {
    Vec row[VECTORS];
    for (int j = 0; j < VECTORS; ++j) row[j] = *reinterpret_cast<const Vec*>(b + j * kLanes);
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < VECTORS; ++j) sum[r][j] += row[j] * a[r];
  }
  for (int r = 0; r < ROWS; ++r)
    for (int j = 0; j < VECTORS; ++j) {
      Vec* const to = reinterpret_cast<Vec*>(c + r * ldc + j * kLanes);
      *to = add ? *to + sum[r][j] : sum[r][j];
    }
}

template <int ROWS, int VECTORS>
void DownRest(int64_t rows, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add) {
  if constexpr (ROWS > 0) {
    if (rows == ROWS) return DownTile<ROWS, VECTORS>(k, a, lda, b, ldb, c, ldc, add);
    DownRest<ROWS - 1, VECTORS>(rows, k, a, lda, b, ldb, c, ldc, add);
  }
}

/* All rows with so many vectors of columns. */
template <int VECTORS>
void DownColumns(int64_t m, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add) {
  int64_t r = 0;
  for (; r + kRows <= m; r += kRows) DownTile<kRows, VECTORS>(k, a + r, lda, b, ldb, c + r * ldc, ldc, add);
  DownRest<kRows - 1, VECTORS>(m - r, k, a + r, lda, b, ldb, c + r * ldc, ldc, add);
}

}  // namespace

void PackColumns(bool transposed, int64_t n, int64_t k, const float* b, int64_t ld, float* packed) {
  for (int64_t first = 0; first < PackedColumns(n); first += kPanel, packed += k * kPanel) {
    const int64_t width = std::min<int64_t>(kPanel, n - first);
    if (width < kPanel) std::fill(packed, packed + k * kPanel, 0.f);
    if (transposed) {
      PackTransposed(width, k, b + first * ld, ld, packed);
    } else if (width > 0) {
      for (int64_t i = 0; i < k; ++i) std::copy(b + i * ld + first, b + i * ld + first + width, packed + i * kPanel);
    }
  }
}

void PackedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packed, float* c, int64_t ldc, bool add) {
  constexpr int kWide = 4;  // panels at once for few rows, so that there are enough independent sums
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    const bool more = add || k0 > 0;
    int64_t first = 0;
    if (m <= 2) {
      for (; first + kWide * kPanel <= n; first += kWide * kPanel) {
        const float* b = packed + first * k + k0 * kPanel;
        if (m == 1) Tile<1, kWide>(depth, a + k0, lda, b, k * kPanel, c + first, ldc, n - first, more);
        if (m == 2) Tile<2, kWide / 2>(depth, a + k0, lda, b, k * kPanel, c + first, ldc, n - first, more);
        if (m == 2)
          Tile<2, kWide / 2>(depth, a + k0, lda, b + 2 * k * kPanel, k * kPanel, c + first + 2 * kPanel, ldc, n - first - 2 * kPanel, more);
      }
    }
    for (; first < n; first += kPanel) {
      const float* b = packed + first * k + k0 * kPanel;
      if (kLanes > 8 && n - first <= kLanes)
        OnePanel<1>(m, depth, a + k0, lda, b, c + first, ldc, n - first, more);
      else
        OnePanel<2>(m, depth, a + k0, lda, b, c + first, ldc, n - first, more);
    }
  }
}

void TransposedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
                    bool add) {
  constexpr int64_t kShallow = 64;            // up to here C is most of what is written and read: row after row
  alignas(64) float last[kDepth * kLanes];    // columns that fill no vector, beside zeros
  alignas(64) float results[kRows * kLanes];  // of these
  const int64_t whole = n / kLanes * kLanes, left = n - whole;
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    const bool more = add || k0 > 0;
    const float *from = a + k0 * lda, *with = b + k0 * ldb;
    const int64_t step = depth <= kShallow ? kRows : m;
    for (int64_t i = 0; left > 0 && i < depth; ++i) {
      float* const to = last + i * kLanes;
      std::fill(std::copy(with + i * ldb + whole, with + i * ldb + n, to), to + kLanes, 0.f);
    }
    for (int64_t r = 0; r < m; r += step) {
      const int64_t rows = std::min(step, m - r);
      int64_t first = 0;
      for (; first + kPanel <= n; first += kPanel)
        DownColumns<2>(rows, depth, from + r, lda, with + first, ldb, c + r * ldc + first, ldc, more);
      if (first < whole) DownColumns<1>(rows, depth, from + r, lda, with + first, ldb, c + r * ldc + first, ldc, more);
    }
    for (int64_t r = 0; left > 0 && r < m; r += kRows) {
      const int64_t rows = std::min<int64_t>(kRows, m - r);
      DownColumns<1>(rows, depth, from + r, lda, last, kLanes, results, kLanes, false);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < left; ++j) {
          float* const to = c + (r + i) * ldc + whole + j;
          *to = (more ? *to : 0.f) + results[i * kLanes + j];
        }
    }
  }
}

void PackedGates(int64_t m, int64_t n, int64_t k, int64_t gates, const float* a, int64_t lda, const float* packed, int64_t gate_size,
                 float* c, int64_t ldc, int64_t gate_columns) {
  constexpr int kTogether = kLanes == 16 ? 2 : 1;  // rows whose sums fit into the registers with those of all gates
  if (m > kTogether || gates < 3) {
    for (int64_t g = 0; g < gates; ++g) PackedGemm(m, n, k, a, lda, packed + g * gate_size, c + g * gate_columns, ldc, true);
    return;
  }
  for (int64_t first = 0; first < n; first += kPanel) {
    const float* b = packed + first * k;
    const int64_t width = std::min<int64_t>(kPanel, n - first);
    if (m == 1 && gates == 4) Tile<1, 4, true>(k, a, lda, b, gate_size, c + first, ldc, width, true, gate_columns);
    if (m == 1 && gates == 3) Tile<1, 3, true>(k, a, lda, b, gate_size, c + first, ldc, width, true, gate_columns);
    if constexpr (kTogether == 2) {
      if (m == 2 && gates == 4) Tile<2, 4, true>(k, a, lda, b, gate_size, c + first, ldc, width, true, gate_columns);
      if (m == 2 && gates == 3) Tile<2, 3, true>(k, a, lda, b, gate_size, c + first, ldc, width, true, gate_columns);
    }
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
