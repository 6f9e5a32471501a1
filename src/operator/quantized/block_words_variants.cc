// Rows of data in 8 bits times panels of a weight of few bits, which stay as small as they are:
// numbers become bytes in registers, and rows of data go by together.
#include "operator/quantized/block_columns.h"
#include "operator/quantized/block_words.h"
#include "operator/quantized/four_bytes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

#ifdef __AVX512BW__

namespace {

constexpr int64_t kColumns = BlockWords::kColumns, kLine = BlockWords::kLine;
static_assert(kColumns == kLanes, "a line is a vector");

constexpr int kMostRows = 8, kMostPanels = 4;  // of a tile, whose sums are in registers: eight vectors twice

/* R rows with P panels. Sums of a block begin with what a zero point in the middle takes away. */
template <int kBits, int R, int P, bool kShifted>
__attribute__((target("avx512vnni"))) void Tile(const BlockRows& w, const char* panels, const ByteRow* data, const ByteResult& out) {
  constexpr int kPlaces = 8 / kBits;
  const __m512i mask = _mm512_set1_epi8(static_cast<char>((1 << kBits) - 1));
  const int64_t apart = BlockWords::PanelBytes(w), words = w.bytes / 4;
  const int8_t* x[R];
  __m512 sums[R][P];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    x[r] = data[r].numbers;
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) sums[r][p] = _mm512_setzero_ps();
  }
  for (int64_t b = 0; b < w.blocks; ++b) {
    __m512i products[R][P];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) products[r][p] = kShifted ? _mm512_setzero_si512() : _mm512_set1_epi32(data[r].less[b]);
    for (int64_t i = 0; i < words; ++i, panels += kLine) {
      __m512i raw[P];
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) raw[p] = _mm512_loadu_si512(panels + p * apart);
#pragma GCC unroll 4
      for (int place = 0; place < kPlaces; ++place) {
        __m512i numbers[P];
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p)
          numbers[p] = kBits == 8 ? raw[p] : _mm512_and_si512(_mm512_srli_epi16(raw[p], static_cast<unsigned>(place * kBits)), mask);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const __m512i four = _mm512_set1_epi32(FourBytes(x[r] + place * 4));
#pragma GCC unroll 4
          for (int p = 0; p < P; ++p) products[r][p] = _mm512_dpbusd_epi32(products[r][p], numbers[p], four);
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) x[r] += kPlaces * 4;
    }
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const __m512 scale = _mm512_loadu_ps(panels + p * apart), shift = kShifted ? _mm512_loadu_ps(panels + p * apart + kLine) : scale;
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const __m512 own = _mm512_mul_ps(scale, _mm512_set1_ps(data[r].scales[b]));
        sums[r][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[r][p]), own, sums[r][p]);
        if (kShifted) sums[r][p] = _mm512_fnmadd_ps(shift, _mm512_set1_ps(data[r].sums[b]), sums[r][p]);
      }
    }
    panels += kShifted ? 2 * kLine : kLine;
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    const int64_t at = p * kColumns, left = out.columns - at;
    const __mmask16 there = left >= kColumns ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
    const __m512 bias = out.bias ? _mm512_maskz_loadu_ps(there, out.bias + at) : _mm512_setzero_ps();
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      __m512 sum = _mm512_add_ps(sums[r][p], bias);
      if (out.addend) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, out.addend + r * out.pitch + at));
      _mm512_mask_storeu_ps(out.to + r * out.pitch + at, there, sum);
    }
  }
}

/* R rows with all panels, as many at a time as there are registers for. */
template <int kBits, int R, bool kShifted>
void AllPanels(const BlockRows& w, const char* panels, const ByteRow* data, ByteResult out) {
  constexpr int kTogether = std::min(kMostPanels, kMostRows / R);
  const int64_t bytes = BlockWords::PanelBytes(w);
  const auto next = [&](int64_t count) {
    panels += count * bytes, out.to += count * kColumns, out.columns -= count * kColumns;
    if (out.bias) out.bias += count * kColumns;
    if (out.addend) out.addend += count * kColumns;
  };
  for (; out.columns > (kTogether - 1) * kColumns; next(kTogether)) Tile<kBits, R, kTogether, kShifted>(w, panels, data, out);
  for (; out.columns > 0; next(1)) Tile<kBits, R, 1, kShifted>(w, panels, data, out);
}

template <int kBits, int R, bool kShifted>
void OfRows(const BlockRows& w, const char* panels, const ByteRow* data, int64_t rows, const ByteResult& out) {
  if constexpr (R > 0) {
    if (rows == R) return AllPanels<kBits, R, kShifted>(w, panels, data, out);
    OfRows<kBits, R - 1, kShifted>(w, panels, data, rows, out);
  }
}

/* Tiles of nearly equal height. */
template <int kBits, bool kShifted>
void AllRows(const BlockRows& w, const char* panels, const ByteRow* data, int64_t rows, ByteResult out) {
  const int64_t tiles = (rows + kMostRows - 1) / kMostRows;
  for (int64_t t = 0, from = 0, to; t < tiles; ++t, from = to) {
    to = rows * (t + 1) / tiles;
    OfRows<kBits, kMostRows, kShifted>(w, panels, data + from, to - from, out);
    out.to += (to - from) * out.pitch;
    if (out.addend) out.addend += (to - from) * out.pitch;
  }
}

}  // namespace

void PackBlockWords(const BlockRows& weight, int64_t count, char* panel) {
  ColumnsOf rows(weight, 0, count);
  for (int64_t b = 0; b < weight.blocks; ++b) {
    for (int64_t at = 0; at < weight.bytes; at += 4 * kWords) {
      const int64_t some = std::min<int64_t>(4 * kWords, weight.bytes - at);
      Words words[kWords];
      rows.WordsAt(b * weight.bytes + at, some, words);
      std::memcpy(panel, words, static_cast<size_t>(some / 4 * kLine));
      panel += some / 4 * kLine;
    }
    Vec scales[kWords], shifts[kWords];
    rows.Factors(b, 1, 0, scales, shifts);
    std::memcpy(panel, scales, kLine);
    panel += kLine;
    if (!weight.shift) continue;
    std::memcpy(panel, shifts, kLine);
    panel += kLine;
  }
}

void MultiplyBlockWords(const BlockRows& weight, const char* panels, const ByteRow* data, int64_t rows, const ByteResult& out) {
  const auto run = weight.shift ? (weight.bits == 8   ? AllRows<8, true>
                                   : weight.bits == 4 ? AllRows<4, true>
                                                      : AllRows<2, true>)
                                : (weight.bits == 8   ? AllRows<8, false>
                                   : weight.bits == 4 ? AllRows<4, false>
                                                      : AllRows<2, false>);
  run(weight, panels, data, rows, out);
}

#else

void PackBlockWords(const BlockRows&, int64_t, char*) {}
void MultiplyBlockWords(const BlockRows&, const char*, const ByteRow*, int64_t, const ByteResult&) {}

#endif

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
