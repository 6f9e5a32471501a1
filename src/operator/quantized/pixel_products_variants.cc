// Products of pixels' bytes and panels of weights, and their results, in registers. Values are the
// same on each level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include <algorithm>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "operator/quantized/four_bytes.h"
#include "operator/quantized/pixel_products.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

using quantized::kPanelPair;
using quantized::PixelFinish;
using quantized::PixelRows;

#if defined(__AVX512BW__)
namespace {

#define MXNET_VNNI __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) inline

constexpr int kTileRows = 12;

/* What becomes of values before they are rounded, or of those that stay floats. */
enum class After { kNone, kRound, kAdd, kRoundAndAdd, kFloats, kAddFloats };
constexpr bool Adds(After after) { return after == After::kAdd || after == After::kRoundAndAdd || after == After::kAddFloats; }
constexpr bool Floats(After after) { return after == After::kFloats || after == After::kAddFloats; }

/* Of one tile of registers, beside whose sums `ahead` bytes of `next` are fetched for each quad. */
struct Operands {
  const uint8_t* a;
  int64_t row, quads;
  const int8_t* b;
  const PixelFinish& f;
  int64_t filter, some;  // the first one, and how many there are
  const char* addend;
  char* out;
  int64_t pitch;
  const char* next;
  int64_t ahead;
};

/* Whole numbers of 16 filters; the lower limit and the zero point come later. An addend was widened
 * to 32 bits. */
template <After AFTER>
MXNET_VNNI __m512 Value(const Operands& o, int64_t at, __m512i sum) {
  const __m512 v = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(o.f.scales + at)), _mm512_loadu_ps(o.f.bias + at));
  if (AFTER != After::kRound && AFTER != After::kRoundAndAdd) return v;
  const __m512 cut = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(o.f.between_low)), _mm512_set1_ps(o.f.between_high));
  const __m512 whole = _mm512_roundscale_ps(cut, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return _mm512_add_ps(_mm512_mul_ps(whole, _mm512_set1_ps(o.f.between_scale)), _mm512_loadu_ps(o.f.between_bias + at));
}
/* 16 floats of filters in their order. What is no number stays none. */
template <After AFTER>
MXNET_VNNI void WriteFloats(const Operands& o, __mmask16 mask, int64_t at, __m512i sum, const char* addend, char* out) {
  __m512 v = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(o.f.scales + at)), _mm512_loadu_ps(o.f.bias + at));
  if (Adds(AFTER)) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(mask, addend));
  _mm512_mask_storeu_ps(out, mask, _mm512_min_ps(_mm512_set1_ps(o.f.high), _mm512_max_ps(_mm512_set1_ps(o.f.low), v)));
}
MXNET_VNNI __m512i Whole(const Operands& o, __m512 v) { return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(o.f.most), v)); }
MXNET_VNNI __m512i Whole(const Operands& o, __m512 v, __m512i addend) {
  return Whole(o, _mm512_fmadd_ps(_mm512_cvtepi32_ps(addend), _mm512_set1_ps(o.f.addend_scale), v));
}

/* A row of one panel. */
template <After AFTER>
MXNET_VNNI void Write(const Operands& o, __mmask32 mask, __m512i sum, const char* addend, char* out) {
  if (Floats(AFTER)) return WriteFloats<AFTER>(o, static_cast<__mmask16>(mask), o.filter, sum, addend, out);
  const __m512 value = Value<AFTER>(o, o.filter, sum);
  __m512i whole;
  if (Adds(AFTER)) {
    const __m128i bytes = _mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), addend);
    const __m512i wide = o.f.addend_type == kUint8 ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
    whole = Whole(o, value, _mm512_sub_epi32(wide, _mm512_set1_epi32(o.f.addend_zero)));
  } else {
    whole = Whole(o, value);
  }
  const __m512i cut = _mm512_add_epi32(_mm512_max_epi32(whole, _mm512_set1_epi32(o.f.least)), _mm512_set1_epi32(o.f.zero));
  _mm_mask_storeu_epi8(out, static_cast<__mmask16>(mask), _mm512_cvtepi32_epi8(cut));
}

/* Of two panels, of which eight neighbours lie in both. */
template <After AFTER>
MXNET_VNNI void Write(const Operands& o, __mmask32 mask, __m512i first, __m512i second, const char* addend, char* out) {
  if (Floats(AFTER)) {
    const __m512i begin = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    WriteFloats<AFTER>(o, static_cast<__mmask16>(mask), o.filter, _mm512_permutex2var_epi32(first, begin, second), addend, out);
    if (mask >> 16 == 0) return;
    const __m512i rest = _mm512_permutex2var_epi32(first, _mm512_or_si512(begin, _mm512_set1_epi32(8)), second);
    return WriteFloats<AFTER>(o, static_cast<__mmask16>(mask >> 16), o.filter + 16, rest, addend + 64, out + 64);
  }
  const __m512 one = Value<AFTER>(o, o.filter, first), other = Value<AFTER>(o, o.filter + 16, second);
  __m512i low, high;
  if (Adds(AFTER)) {
    const __m256i bytes = _mm256_maskz_loadu_epi8(mask, addend);
    const __m512i wide = o.f.addend_type == kUint8 ? _mm512_cvtepu8_epi16(bytes) : _mm512_cvtepi8_epi16(bytes);
    const __m512i words = _mm512_sub_epi16(wide, _mm512_set1_epi16(static_cast<int16_t>(o.f.addend_zero)));
    const __m512i sign = _mm512_srai_epi16(words, 15);
    low = Whole(o, one, _mm512_unpacklo_epi16(words, sign)), high = Whole(o, other, _mm512_unpackhi_epi16(words, sign));
  } else {
    low = Whole(o, one), high = Whole(o, other);
  }
  const __m512i words = _mm512_max_epi16(_mm512_packs_epi32(low, high), _mm512_set1_epi16(static_cast<int16_t>(o.f.least)));
  const __m512i cut = _mm512_add_epi16(words, _mm512_set1_epi16(static_cast<int16_t>(o.f.zero)));
  _mm256_mask_storeu_epi8(out, mask, _mm512_cvtepi16_epi8(cut));
}

/* Sums of rows, each a variable of its own: compilers keep arrays of so many in memory. */
template <int ROWS, int PANELS, After AFTER>
struct Sums {
  __m512i first, second;
  Sums<ROWS - 1, PANELS, AFTER> rest;
  MXNET_VNNI void Begin(__m512i a, __m512i b) {
    first = a, second = b;
    rest.Begin(a, b);
  }
  MXNET_VNNI void Multiply(const uint8_t* a, int64_t row, __m512i low, __m512i high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    first = _mm512_dpbusd_epi32(first, x, low);
    if (PANELS == 2) second = _mm512_dpbusd_epi32(second, x, high);
    rest.Multiply(a + row, row, low, high);
  }
  /* New values: for what becomes of them afterwards GCC would store sums each time that they are
   * added to. */
  MXNET_VNNI void Settle() {
    asm volatile("" : "+v"(first));
    if (PANELS == 2) asm volatile("" : "+v"(second));
    rest.Settle();
  }
  MXNET_VNNI void WriteTo(const Operands& o, __mmask32 mask, const char* addend, char* out) const {
    if (PANELS == 2)
      Write<AFTER>(o, mask, first, second, addend, out);
    else
      Write<AFTER>(o, mask, first, addend, out);
    rest.WriteTo(o, mask, addend + o.pitch, out + o.pitch);
  }
};
template <int PANELS, After AFTER>
struct Sums<0, PANELS, AFTER> {
  MXNET_VNNI void Begin(__m512i, __m512i) {}
  MXNET_VNNI void Multiply(const uint8_t*, int64_t, __m512i, __m512i) {}
  MXNET_VNNI void Settle() {}
  MXNET_VNNI void WriteTo(const Operands&, __mmask32, const char*, char*) const {}
};

template <int ROWS, int PANELS, After AFTER>
__attribute__((target("avx512vnni,avx512vl,avx512bw"))) void Tile(const Operands& o) {
  constexpr int64_t kSecond = PANELS == 2 ? 16 : 0;
  Sums<ROWS, PANELS, AFTER> sums;
  sums.Begin(_mm512_loadu_si512(o.f.start + o.filter), _mm512_loadu_si512(o.f.start + o.filter + kSecond));
  if (Adds(AFTER))
    for (int r = 0; r < ROWS; ++r) __builtin_prefetch(o.addend + r * o.pitch);
  const uint8_t* a = o.a;
  const int8_t* b = o.b;
  const char* next = o.next;
  const int64_t row = o.row, ahead = o.ahead;
  for (int64_t i = o.quads; i > 0; --i, a += 4, b += 64 * PANELS, next += ahead) {
    __builtin_prefetch(next, 0, 2);
    sums.Multiply(a, row, _mm512_loadu_si512(b), _mm512_loadu_si512(b + 4 * kSecond));
  }
  sums.Settle();
  sums.WriteTo(o, static_cast<__mmask32>((uint64_t{1} << o.some) - 1), o.addend, o.out);
}

template <int ROWS, int PANELS, After AFTER>
void TileOf(int64_t rows, const Operands& o) {
  if (rows == ROWS) return Tile<ROWS, PANELS, AFTER>(o);
  if constexpr (ROWS > 1) TileOf<ROWS - 1, PANELS, AFTER>(rows, o);
}

template <After AFTER>
void Panels(const PixelRows& rows, const int8_t* packed, const PixelFinish& finish, int64_t begin, int64_t end, int64_t filters) {
  const int64_t tiles = (rows.count + kTileRows - 1) / kTileRows, size = Floats(AFTER) ? 4 : 1;
  Operands o{nullptr, rows.row, rows.quads, nullptr, finish, 0, 0, nullptr, nullptr, rows.pitch, nullptr, 0};
  o.ahead = (4 * kPanelPair + tiles - 1) / tiles;  // the next pair comes evenly beside all tiles
  for (int64_t filter = begin; filter < end; filter += kPanelPair) {
    o.filter = filter, o.some = std::min(kPanelPair, end - filter), o.b = packed + filter * 4 * rows.quads;
    const int64_t after = filter + kPanelPair < end ? filter + kPanelPair : begin;
    const char* next = reinterpret_cast<const char*>(packed + after * 4 * rows.quads);
    for (int64_t t = 0; t < tiles; ++t, next += rows.quads * o.ahead) {
      const int64_t from = rows.count * t / tiles, to = rows.count * (t + 1) / tiles;
      o.a = rows.a + from * rows.row, o.next = next;
      o.out = rows.out + from * rows.pitch + filter * size;
      if (Adds(AFTER)) o.addend = rows.addend + from * rows.pitch + filter * size;
      if (quantized::PixelWidth(filters - filter) == kPanelPair)
        TileOf<kTileRows, 2, AFTER>(to - from, o);
      else
        TileOf<kTileRows, 1, AFTER>(to - from, o);
    }
  }
}

}  // namespace

void PixelsTimesPanels(const PixelRows& rows, const int8_t* packed, const PixelFinish& finish, int64_t begin, int64_t end,
                       int64_t filters) {
  const auto floats = rows.addend ? Panels<After::kAddFloats> : Panels<After::kFloats>;
  const auto add = finish.between ? Panels<After::kRoundAndAdd> : Panels<After::kAdd>;
  const auto bytes = rows.addend ? add : finish.between ? Panels<After::kRound> : Panels<After::kNone>;
  (finish.floats ? floats : bytes)(rows, packed, finish, begin, end, filters);
}

#else

// Not called: there are no instructions to take.
void PixelsTimesPanels(const PixelRows&, const int8_t*, const PixelFinish&, int64_t, int64_t, int64_t) {}

#endif

void PixelStart(const int32_t* sums, int64_t n, int zero, int32_t* start) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) start[i] = -zero * sums[i];
}

void FlipBytes(const uint8_t* from, int64_t n, uint8_t flip, uint8_t* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ flip;
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
