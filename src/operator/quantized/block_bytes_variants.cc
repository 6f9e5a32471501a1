// Numbers of few bits as panels of bytes, times rows of data in 8 bits: one instruction multiplies
// and sums four of each column.
#include <cmath>
#include <limits>

#include "base/cpu_limit.h"
#include "base/round_up.h"
#include "operator/quantized/block_columns.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

#ifdef __AVX512BW__

namespace {

constexpr int64_t kColumns = 2 * kLanes;  // of a panel
constexpr int kTile = 6;                  // rows of data whose sums fit into the registers

template <int kBits>
void Fill(const BlockRows& w, int64_t count, int64_t first, int64_t blocks, int64_t ahead, const BytePanel& panel) {
  constexpr int kPlaces = 8 / kBits;
  constexpr uint32_t kMask = ((1u << kBits) - 1) * 0x01010101u;
  for (int64_t column = 0; column < kColumns; column += kLanes) {
    ColumnsOf rows(w, column, count);
    rows.Ask(first * w.bytes + ahead, ahead ? blocks * w.bytes : 0);
    uint8_t* to = panel.numbers + column * 4;
    for (int64_t at = first * w.bytes, end = (first + blocks) * w.bytes; at < end; at += 16) {
      const int64_t some = std::min<int64_t>(16, end - at);
      Words words[kWords];
      rows.WordsAt(at, some, words);
      for (int i = 0; i * 4 < some; ++i)
#pragma GCC unroll 4
        for (int place = 0; place < kPlaces; ++place, to += kColumns * 4) {
          const Words numbers = words[i] >> (place * kBits) & kMask;
          std::memcpy(to, &numbers, sizeof(numbers));
        }
    }
    for (int64_t b = 0; b < blocks; b += kWords) {
      Vec scales[kWords], shifts[kWords];
      rows.Factors(first + b, std::min<int64_t>(kWords, blocks - b), 0, scales, shifts);
      for (int64_t i = 0; i < std::min<int64_t>(kWords, blocks - b); ++i) {
        std::memcpy(panel.scales + (b + i) * kColumns + column, &scales[i], sizeof(Vec));
        if (w.shift) std::memcpy(panel.shifts + (b + i) * kColumns + column, &shifts[i], sizeof(Vec));
      }
    }
  }
}

inline int32_t Four(const int8_t* p) {
  int32_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return bits;
}

/* R rows of data with a panel, whose numbers are four rows of four bytes for each column. Sums of a
 * block begin with what a zero point in the middle takes away. */
template <int R, bool kShifted>
__attribute__((target("avx512vnni"))) void Tile(const BytePanel& panel, const ByteRow* data, const ByteResult& out) {
  __m512 sums[R][2];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_ps();
  const uint8_t* numbers = panel.numbers;
  const int8_t* x[R];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) x[r] = data[r].numbers + panel.first * panel.size;
  for (int64_t b = 0; b < panel.blocks; ++b) {
    __m512i products[R][2];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
      products[r][0] = products[r][1] = kShifted ? _mm512_setzero_si512() : _mm512_set1_epi32(data[r].less[panel.first + b]);
    for (int64_t i = 0; i < panel.size; i += 4, numbers += kColumns * 4) {
      const __m512i low = _mm512_loadu_si512(numbers), high = _mm512_loadu_si512(numbers + kLanes * 4);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const __m512i four = _mm512_set1_epi32(Four(x[r] + i));
        products[r][0] = _mm512_dpbusd_epi32(products[r][0], low, four);
        products[r][1] = _mm512_dpbusd_epi32(products[r][1], high, four);
      }
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) x[r] += panel.size;
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __m512 scale = _mm512_loadu_ps(panel.scales + b * kColumns + v * kLanes),
                   shift = kShifted ? _mm512_loadu_ps(panel.shifts + b * kColumns + v * kLanes) : scale;
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const __m512 own = _mm512_mul_ps(scale, _mm512_set1_ps(data[r].scales[panel.first + b]));
        sums[r][v] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[r][v]), own, sums[r][v]);
        if (kShifted) sums[r][v] = _mm512_fnmadd_ps(shift, _mm512_set1_ps(data[r].sums[panel.first + b]), sums[r][v]);
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int64_t v = 0; v < 2; ++v) {
      const int64_t at = v * kLanes, left = out.columns - at;
      if (left <= 0) break;
      const __mmask16 there = left >= kLanes ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
      __m512 sum = sums[r][v];
      if (out.bias) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, out.bias + at));
      if (out.addend) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, out.addend + r * out.pitch + at));
      _mm512_mask_storeu_ps(out.to + r * out.pitch + at, there, sum);
    }
}

template <int R, bool kShifted>
void Rest(const BytePanel& panel, const ByteRow* data, int64_t rows, const ByteResult& out) {
  if constexpr (R > 0) {
    if (rows == R) return Tile<R, kShifted>(panel, data, out);
    Rest<R - 1, kShifted>(panel, data, rows, out);
  }
}

/* Tiles of nearly equal height. */
template <bool kShifted>
void AllRows(const BytePanel& panel, const ByteRow* data, int64_t rows, ByteResult out) {
  const int64_t tiles = (rows + kTile - 1) / kTile;
  for (int64_t t = 0, from = 0, to; t < tiles; ++t, from = to) {
    to = rows * (t + 1) / tiles;
    Rest<kTile, kShifted>(panel, data + from, to - from, out);
    out.to += (to - from) * out.pitch;
    if (out.addend) out.addend += (to - from) * out.pitch;
  }
}

/* Of 16 numbers, in groups of four bytes' as `places` numbers each: the first ones of bytes come
 * first. */
typedef uint8_t Sixteen __attribute__((vector_size(16)));
inline Sixteen Ordered(Sixteen v, int places) {
  if (places == 2) return __builtin_shuffle(v, Sixteen{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15});
  if (places == 4) return __builtin_shuffle(v, Sixteen{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  return v;
}

// ---- few rows: numbers go by as they lie, and a lane sums those of four bytes

constexpr int64_t kPiece = 64;  // bytes of the weight

/* Numbers of the blocks that a piece's bytes are of, one for each lane. */
template <bool kWhole>  // blocks are whole pieces
struct PerLane {
  explicit PerLane(const BlockRows& w) : each(kWhole ? 1 : kPiece / w.bytes) {
    alignas(64) int32_t places[16];
    for (int i = 0; i < 16; ++i) places[i] = static_cast<int32_t>(i * each / 16);
    index = _mm512_load_si512(places);
  }
  __m512 Of(const float* from, __mmask16 there) const {
    return kWhole ? _mm512_set1_ps(*from) : _mm512_permutexvar_ps(index, _mm512_maskz_loadu_ps(there, from));
  }
  int64_t each;
  __m512i index;
};

/* kCount rows of the weight with R rows of data. Where blocks are whole pieces, integers are summed
 * over those of a block; what they begin with and `sums` stand in the first one. */
template <int kBits, int kCount, int R, bool kShifted, bool kWhole>
__attribute__((target("avx512vnni"))) void Lanes(const BlockRows& w, const PerLane<kWhole>& per, const ByteLanes* data, float* out,
                                                 int64_t pitch) {
  constexpr int kPlaces = 8 / kBits;
  const int64_t bytes = w.blocks * w.bytes, step = kWhole ? w.bytes : kPiece;
  const __m512i mask = _mm512_set1_epi8((1 << kBits) - 1);
  __m512 sums[kCount][R];
#pragma GCC unroll 4
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sums[c][r] = _mm512_setzero_ps();
  for (int64_t at = 0, block = 0; at < bytes; at += step, block += per.each) {
    const int64_t left = bytes - at, blocks = w.blocks - block < per.each ? w.blocks - block : per.each;
    const __mmask64 there = left >= kPiece ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const auto of = static_cast<__mmask16>((1u << blocks) - 1);
    __m512i products[kCount][R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) products[c][r] = kShifted ? _mm512_setzero_si512() : _mm512_loadu_si512(data[r].less + at / 4);
    for (int64_t i = at; i < at + step; i += kPiece)
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        const uint8_t* from = w.packed + c * bytes + i;
        const __m512i packed = kWhole ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(there, from);
        __builtin_prefetch(from + kCount * bytes, 0, 3);  // rows are short: the next ones are wanted soon
#pragma GCC unroll 4
        for (int place = 0; place < kPlaces; ++place) {
          const __m512i numbers = kBits == 8 ? packed : _mm512_and_si512(_mm512_srli_epi16(packed, place * kBits), mask);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r)
            products[c][r] =
                _mm512_dpbusd_epi32(products[c][r], numbers, _mm512_loadu_si512(data[r].numbers + i * kPlaces + place * kPiece));
        }
      }
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      const __m512 scale = per.Of(w.scale + c * w.blocks + block, of),
                   shift = kShifted ? per.Of(w.shift + c * w.blocks + block, of) : scale;
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m512 own = _mm512_mul_ps(scale, _mm512_loadu_ps(data[r].scales + at / 4));
        sums[c][r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[c][r]), own, sums[c][r]);
        if (kShifted) sums[c][r] = _mm512_fnmadd_ps(shift, _mm512_loadu_ps(data[r].sums + at / 4), sums[c][r]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) out[r * pitch + c] = _mm512_reduce_add_ps(sums[c][r]);
}

template <int kBits, int R, bool kShifted, bool kWhole>
void LanesOf(const BlockRows& w, int64_t count, const ByteLanes* data, float* out, int64_t pitch) {
  constexpr int kCount = R > 3 ? 2 : 4;  // as many as there are registers for
  const PerLane<kWhole> per(w);
  int64_t i = 0;
  for (; i + kCount <= count; i += kCount) Lanes<kBits, kCount, R, kShifted, kWhole>(w.From(i), per, data, out + i, pitch);
  for (; i < count; ++i) Lanes<kBits, 1, R, kShifted, kWhole>(w.From(i), per, data, out + i, pitch);
}

template <int kBits, int R>
void DotLanes(const BlockRows& w, int64_t count, const ByteLanes* data, float* out, int64_t pitch) {
  const bool whole = w.bytes % kPiece == 0;
  const auto run = w.shift ? (whole ? LanesOf<kBits, R, true, true> : LanesOf<kBits, R, true, false>)
                           : (whole ? LanesOf<kBits, R, false, true> : LanesOf<kBits, R, false, false>);
  run(w, count, data, out, pitch);
}

template <int R>
void DotLanes(const BlockRows& w, int64_t count, const ByteLanes* data, float* out, int64_t pitch) {
  const auto run = w.bits == 8 ? DotLanes<8, R> : w.bits == 4 ? DotLanes<4, R> : DotLanes<2, R>;
  run(w, count, data, out, pitch);
}

/* f(first, count, numbers) for each 16 numbers of a block in 8 bits; returns their scale. */
template <typename F>
float InBytes(const float* x, int64_t size, const F& f) {
  float largest = 0, nothing = 0;
#pragma omp simd reduction(max : largest) reduction(+ : nothing)
  for (int64_t j = 0; j < size; ++j) {
    const float magnitude = std::fabs(x[j]);
    largest = magnitude > largest ? magnitude : largest;
    nothing += x[j] * 0.f;  // NaN of what is no number
  }
  const float scale = largest / 127 + nothing, by = 127 / largest;
  const float steps = scale > 0 && by <= std::numeric_limits<float>::max() ? by : 0;
  for (int64_t j = 0; j < size; j += 16) {
    const int64_t count = std::min<int64_t>(16, size - j);
    const __m512 some = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), x + j);
    f(j, count, steps > 0 ? _mm512_cvtps_epi32(_mm512_mul_ps(some, _mm512_set1_ps(steps))) : _mm512_setzero_si512());
  }
  return scale;
}

}  // namespace

int64_t BytePanelColumns() { return HasVnni() ? kColumns : 0; }

void FillBytePanel(const BlockRows& weight, int64_t count, int64_t first, int64_t blocks, int64_t ahead, const BytePanel& panel) {
  const auto fill = weight.bits == 8 ? Fill<8> : weight.bits == 4 ? Fill<4> : Fill<2>;
  fill(weight, count, first, blocks, ahead, panel);
}

void MultiplyBytePanel(const BytePanel& panel, const ByteRow* data, int64_t rows, const ByteResult& out) {
  (panel.shifts ? AllRows<true> : AllRows<false>)(panel, data, rows, out);
}

void FillByteRow(const float* x, const BlockRows& weight, const ByteRow& out) {
  const int64_t size = weight.bytes * 8 / weight.bits;
  for (int64_t b = 0; b < weight.blocks; ++b) {
    int32_t sum = 0;
    const float scale = InBytes(x + b * size, size, [&](int64_t j, int64_t count, __m512i wide) {
      sum += _mm512_reduce_add_epi32(wide);
      const Sixteen bytes = Ordered(reinterpret_cast<Sixteen>(_mm512_cvtepi32_epi8(wide)), 8 / weight.bits);
      std::memcpy(out.numbers + b * size + j, &bytes, static_cast<size_t>(count));
    });
    out.scales[b] = scale, out.sums[b] = static_cast<float>(sum) * scale;
    out.less[b] = -sum * (1 << (weight.bits - 1));
  }
}

void FillByteLanes(const float* x, const BlockRows& weight, const ByteLanes& out) {
  const int64_t places = 8 / weight.bits, size = weight.bytes * places, bytes = weight.blocks * weight.bytes;
  for (int64_t b = 0; b < weight.blocks; ++b) {
    const float scale = InBytes(x + b * size, size, [&](int64_t j, int64_t count, __m512i wide) {
      const Sixteen numbers = Ordered(reinterpret_cast<Sixteen>(_mm512_cvtepi32_epi8(wide)), static_cast<int>(places));
      const int64_t at = b * weight.bytes + j / places;  // of the byte that the first number meets
      for (int64_t i = 0; i < count; i += 4) {           // words of these, of one place each
        const int64_t byte = at + i / (4 * places) * 4, place = i / 4 % places;
        std::memcpy(out.numbers + byte / kPiece * kPiece * places + place * kPiece + byte % kPiece,
                    reinterpret_cast<const char*>(&numbers) + i, 4);
      }
    });
    for (int64_t i = b * weight.bytes; i < (b + 1) * weight.bytes; i += 4) out.scales[i / 4] = scale;
  }
  for (int64_t i = 0; i < RoundUp(bytes, kPiece); i += 4) {
    const int64_t piece = i / kPiece * kPiece, block = i / weight.bytes * weight.bytes,
                  first = weight.bytes > kPiece ? block + i % kPiece : i;  // where the lane's sums stand
    int32_t sum = 0;
    for (int64_t place = 0; place < places; ++place) {
      int8_t* four = out.numbers + piece * places + place * kPiece + i % kPiece;
      if (i >= bytes) std::memset(four, 0, 4);
      sum += four[0] + four[1] + four[2] + four[3];
    }
    if (i >= bytes) out.scales[i / 4] = 0;
    const float before = first < i ? out.sums[first / 4] : 0;
    out.sums[first / 4] = before + static_cast<float>(sum) * out.scales[i / 4];
    out.less[first / 4] = (first < i ? out.less[first / 4] : 0) - sum * (1 << (weight.bits - 1));
  }
}

void DotByteLanes(const BlockRows& weight, int64_t count, const ByteLanes* data, int64_t rows, float* out, int64_t pitch) {
  for (; rows >= 4; rows -= 4, data += 4, out += 4 * pitch) DotLanes<4>(weight, count, data, out, pitch);
  if (rows == 3) DotLanes<3>(weight, count, data, out, pitch);
  if (rows == 2) DotLanes<2>(weight, count, data, out, pitch);
  if (rows == 1) DotLanes<1>(weight, count, data, out, pitch);
}

#else

int64_t BytePanelColumns() { return 0; }
void FillBytePanel(const BlockRows&, int64_t, int64_t, int64_t, int64_t, const BytePanel&) {}
void MultiplyBytePanel(const BytePanel&, const ByteRow*, int64_t, const ByteResult&) {}
void FillByteRow(const float*, const BlockRows&, const ByteRow&) {}
void FillByteLanes(const float*, const BlockRows&, const ByteLanes&) {}
void DotByteLanes(const BlockRows&, int64_t, const ByteLanes*, int64_t, float*, int64_t) {}

#endif

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
