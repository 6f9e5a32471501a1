// Products of Winograd tiles of 8-bit integers by VNNI: one instruction multiplies pairs of 16-bit
// numbers and adds them to a sum, modulo 2^32, and takes the pair of a tile from memory itself.
#include <algorithm>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "base/cpu_limit.h"
#include "operator/quantized/four_bytes.h"
#include "operator/quantized/packed_winograd.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
#if defined(__AVX512BW__)
namespace {

using quantized::kWideColumns;

constexpr int kTileRows = 12, kTilePanels = 2;  // 24 sums in registers

/* Of one tile of registers, beside whose sums `ahead` bytes of `next` are fetched for each pair. */
struct Operands {
  const int16_t* a;  // rows `row` apart
  int64_t row, pairs;
  const int16_t* b;  // panels `panel` apart
  int64_t panel;
  int32_t* sums;
  int64_t pitch;
  const char* next;
  int64_t ahead;
};

template <int ROWS, int PANELS>
__attribute__((target("avx512vnni"))) void Tile(const Operands& o) {
  __m512i sum[ROWS][PANELS];
#pragma GCC unroll 16
  for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 2
    for (int p = 0; p < PANELS; ++p) sum[r][p] = _mm512_setzero_si512();
  const int16_t *a = o.a, *b = o.b;
  const char* next = o.next;
  for (int64_t i = 0; i < o.pairs; ++i, a += 2, b += 2 * kWideColumns, next += o.ahead) {
    __builtin_prefetch(next, 0, 2);
    __m512i w[PANELS];
#pragma GCC unroll 2
    for (int p = 0; p < PANELS; ++p) w[p] = _mm512_loadu_si512(b + p * o.panel);
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; ++r) {
      const __m512i x = _mm512_set1_epi32(FourBytes(a + r * o.row));
#pragma GCC unroll 2
      for (int p = 0; p < PANELS; ++p) sum[r][p] = _mm512_dpwssd_epi32(sum[r][p], x, w[p]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 2
    for (int p = 0; p < PANELS; ++p) _mm512_storeu_si512(o.sums + r * o.pitch + p * kWideColumns, sum[r][p]);
}

template <int ROWS, int PANELS>
void TileOf(int64_t rows, const Operands& o) {
  if (rows == ROWS) return Tile<ROWS, PANELS>(o);
  if constexpr (ROWS > 1) TileOf<ROWS - 1, PANELS>(rows, o);
}

/* The part of the next panels, 1 or 2, that comes beside group g of rows. */
void Fetch(const int16_t* panels, int64_t count, int64_t groups, int64_t g, Operands* o) {
  const int64_t each = (groups + count - 1) / count;  // groups for a panel
  o->ahead = (2 * kWideColumns * static_cast<int64_t>(sizeof *panels) + each - 1) / each;
  o->next = reinterpret_cast<const char*>(panels + g / each * o->panel) + g % each * o->pairs * o->ahead;
}

bool IsFast() {
  static const bool fast = HasVnni();
  return fast;
}

}  // namespace

int64_t ByteRows() { return IsFast() ? kTileRows : WideRows(); }

void MultiplyPoints(const nn::WinogradDims& d, const BytePart& v, int64_t tiles, const int16_t* u, int64_t begin, int64_t end,
                    const ProductPart& m) {
  if (!IsFast()) return MultiplyWidePoints(d, v, tiles, u, begin, end, m);
  const int64_t pairs = quantized::WidePairs(d.c), chunk = pairs * 2 * kWideColumns, points = d.Points();
  const int64_t groups = (tiles + kTileRows - 1) / kTileRows;
  Operands o{nullptr, v.tile, pairs, nullptr, points * chunk, nullptr, m.tile, nullptr, 0};
  for (int64_t point = 0; point < points; ++point)
    for (int64_t p = begin, some; p < end; p += some) {
      some = std::min<int64_t>(kTilePanels, end - p);
      const bool wraps = p + some == end;  // the next point's first panels come then; none behind the last
      const int64_t after = wraps ? begin : p + some, of = wraps ? std::min(point + 1, points - 1) : point;
      o.b = u + (p * points + point) * chunk;
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t from = tiles * g / groups, to = tiles * (g + 1) / groups;
        o.a = v.v + from * v.tile + point * v.point;
        o.sums = m.m + from * m.tile + point * m.point + (p - begin) * kWideColumns;
        Fetch(u + (after * points + of) * chunk, std::min<int64_t>(kTilePanels, end - after), groups, g, &o);
        some == kTilePanels ? TileOf<kTileRows, kTilePanels>(to - from, o) : TileOf<kTileRows, 1>(to - from, o);
      }
    }
}

#else

int64_t ByteRows() { return WideRows(); }

void MultiplyPoints(const nn::WinogradDims& d, const BytePart& v, int64_t tiles, const int16_t* u, int64_t begin, int64_t end,
                    const ProductPart& m) {
  MultiplyWidePoints(d, v, tiles, u, begin, end, m);
}

#endif

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
