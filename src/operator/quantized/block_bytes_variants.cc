// Numbers of few bits as panels of bytes, times rows of data in 8 bits: one instruction multiplies
// and sums four of each column.
#include <cmath>
#include <limits>

#include "base/cpu_limit.h"
#include "base/round_up.h"
#include "operator/quantized/block_columns.h"
#include "operator/quantized/four_bytes.h"

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
        const __m512i four = _mm512_set1_epi32(FourBytes(x[r] + i));
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

/* kCount rows of the weight, `apart` from each other, with R rows of data, sixteen blocks at a
 * time, whose scales and shifts are applied to those of the data at once. kWhole: blocks are whole
 * pieces; integers are summed over those of a block. Else a piece has several blocks, and `per`
 * says which one each lane is of. kJoined: the rows of data are the planes of one, and scales and
 * sums are those of the last. */
template <int kBits, int kCount, int R, bool kShifted, bool kWhole, bool kJoined>
__attribute__((target("avx512vnni"))) void Lanes(const BlockRows& w, int64_t apart, __m512i per, const ByteLanes* data, float* out,
                                                 int64_t pitch) {
  constexpr int64_t kPlaces = 8 / kBits, kGroup = ByteLanes::kGroup;
  constexpr int kResults = kJoined ? 1 : R;  // of a row of the weight
  const ByteLanes* factors = data + (R - kResults);
  const int64_t bytes = w.blocks * w.bytes, all = w.blocks, further_row = apart * all, each = kWhole ? 1 : kPiece / w.bytes,
                pieces = kWhole ? w.bytes / kPiece : 1;
  const __m512i mask = _mm512_set1_epi8((1 << kBits) - 1), further = _mm512_set1_epi32(static_cast<int>(each));
  const float *scale = w.scale, *shift = w.shift;
  const uint8_t *packed[kCount], *const end = w.packed + bytes;
  const int8_t* numbers[R];
  const int32_t* less[R];
  __m512 sums[kCount][kResults];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) numbers[r] = data[r].numbers, less[r] = data[r].less;
#pragma GCC unroll 4
  for (int c = 0; c < kCount; ++c) {
    packed[c] = w.packed + c * apart * bytes;
#pragma GCC unroll 4
    for (int r = 0; r < kResults; ++r) sums[c][r] = _mm512_setzero_ps();
  }
  for (int64_t block = 0; block < all; block += kGroup) {
    const int64_t blocks = all - block < kGroup ? all - block : kGroup;
    const auto of = static_cast<__mmask16>((1u << blocks) - 1);
    __m512 scales[kCount][kResults];
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      const __m512 some = _mm512_maskz_loadu_ps(of, scale + c * further_row + block);
#pragma GCC unroll 4
      for (int r = 0; r < kResults; ++r) {
        scales[c][r] = _mm512_mul_ps(some, _mm512_loadu_ps(factors[r].scales + block));
        if (kShifted)
          sums[c][r] = _mm512_fnmadd_ps(_mm512_maskz_loadu_ps(of, shift + c * further_row + block),
                                        _mm512_loadu_ps(factors[r].sums + block), sums[c][r]);
      }
    }
    __m512i index = per;
    for (int64_t i = 0; i < blocks; i += each, index = _mm512_add_epi32(index, further)) {
      __m512i products[kCount][R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m512i before = kShifted ? _mm512_setzero_si512() : _mm512_loadu_si512(less[r]);
        less[r] += pieces * (kPiece / 4);
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c) products[c][r] = before;
      }
      for (int64_t j = 0; j < pieces; ++j) {
        const int64_t left = kWhole ? kPiece : end - packed[0];
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c) {
          const __m512i raw =
              left >= kPiece ? _mm512_loadu_si512(packed[c]) : _mm512_maskz_loadu_epi8((__mmask64{1} << left) - 1, packed[c]);
          packed[c] += kPiece;
#pragma GCC unroll 4
          for (int64_t place = 0; place < kPlaces; ++place) {
            const __m512i few = kBits == 8 ? raw : _mm512_and_si512(_mm512_srli_epi16(raw, static_cast<unsigned>(place) * kBits), mask);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r)
              products[c][r] = _mm512_dpbusd_epi32(products[c][r], few, _mm512_loadu_si512(numbers[r] + place * kPiece));
          }
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) numbers[r] += kPlaces * kPiece;
      }
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < kResults; ++r) {
          __m512 product = _mm512_cvtepi32_ps(products[c][r]);
          if constexpr (kJoined) {
            const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(products[c][0], 8), products[c][1]);
            product = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256), _mm512_cvtepi32_ps(products[c][2]));
          }
          sums[c][r] = _mm512_fmadd_ps(product, _mm512_permutexvar_ps(index, scales[c][r]), sums[c][r]);
        }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kResults; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) out[r * pitch + c * apart] = _mm512_reduce_add_ps(sums[c][r]);
}

template <int kBits, int R, bool kShifted, bool kWhole, bool kJoined = false>
void LanesOf(const BlockRows& w, int64_t count, const ByteLanes* data, float* out, int64_t pitch) {
  constexpr int kCount = R > 3 ? 2 : 4;  // as many as there are registers for
  alignas(64) int32_t places[16];
  for (int i = 0; i < 16; ++i) places[i] = kWhole ? 0 : static_cast<int32_t>(i * 4 / w.bytes);
  const __m512i per = _mm512_load_si512(places);
  // Each of the rows that go together is in a part of the weight of its own, so that the processor
  // sees few long runs of addresses and fetches ahead of them.
  const int64_t apart = count / kCount;
  for (int64_t i = 0; i < apart; ++i) Lanes<kBits, kCount, R, kShifted, kWhole, kJoined>(w.From(i), apart, per, data, out + i, pitch);
  for (int64_t i = apart * kCount; i < count; ++i) Lanes<kBits, 1, R, kShifted, kWhole, kJoined>(w.From(i), 0, per, data, out + i, pitch);
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

/* f(first, count, numbers) for each 16 numbers of a block, of which the largest becomes kMost;
 * returns what kMost / 127 stands for, as a scale. */
template <int kMost, typename F>
inline __attribute__((always_inline)) float InSteps(const float* x, int64_t size, const F& f) {
  __m512 most = _mm512_setzero_ps(), zeros = _mm512_setzero_ps();
  for (int64_t j = 0; j < size; j += 16) {
    const __m512 some =
        size - j >= 16 ? _mm512_loadu_ps(x + j) : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << (size - j)) - 1), x + j);
    most = _mm512_max_ps(most, _mm512_abs_ps(some));
    zeros = _mm512_fmadd_ps(some, _mm512_setzero_ps(), zeros);  // NaN of what is no number
  }
  const float largest = _mm512_reduce_max_ps(most);
  const float nothing = _mm512_cmp_ps_mask(zeros, zeros, _CMP_UNORD_Q) ? std::numeric_limits<float>::quiet_NaN() : 0.f;
  const float scale = largest / 127 + nothing, by = kMost / largest;
  const float steps = scale > 0 && by <= std::numeric_limits<float>::max() ? by : 0;
  for (int64_t j = 0; j < size; j += 16) {
    const int64_t count = std::min<int64_t>(16, size - j);
    const __m512 some = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), x + j);
    f(j, count, steps > 0 ? _mm512_cvtps_epi32(_mm512_mul_ps(some, _mm512_set1_ps(steps))) : _mm512_setzero_si512());
  }
  return scale;
}

/* Numbers [j, j + count) of a block of the data, a byte each. */
inline __attribute__((always_inline)) void PutLanes(__m512i wide, int64_t b, int64_t j, int64_t count, const BlockRows& weight,
                                                    int8_t* numbers) {
  const int64_t places = 8 / weight.bits, at = b * weight.bytes + j / places;  // of the byte that the first number meets
  const Sixteen bytes = Ordered(reinterpret_cast<Sixteen>(_mm512_cvtepi32_epi8(wide)), static_cast<int>(places));
  if (places == 1) {
    std::memcpy(numbers + at, &bytes, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; i += 4) {  // words of these, of one place each
    const int64_t byte = at + i / (4 * places) * 4, place = i / 4 % places;
    std::memcpy(numbers + byte / kPiece * kPiece * places + place * kPiece + byte % kPiece, reinterpret_cast<const char*>(&bytes) + i, 4);
  }
}

/* What follows from the numbers and scales of blocks. */
__attribute__((target("avx512vnni"))) void SumLanes(const BlockRows& weight, const ByteLanes& out) {
  const int64_t places = 8 / weight.bits, bytes = weight.blocks * weight.bytes, pieces = ByteLanes::Pieces(bytes);
  std::fill_n(out.sums, RoundUp(weight.blocks, ByteLanes::kGroup), 0.f);
  for (int64_t b = weight.blocks; b < RoundUp(weight.blocks, ByteLanes::kGroup); ++b) out.scales[b] = 0;
  const int64_t together = std::max<int64_t>(1, weight.bytes / kPiece);  // pieces whose lanes' sums stand in the first of them
  for (int64_t piece = 0; piece < pieces; piece += together) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = piece * places; i < (piece + together) * places; ++i)
      sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_loadu_si512(out.numbers + i * kPiece));
    _mm512_storeu_si512(out.less + piece * (kPiece / 4),
                        _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(sum, static_cast<unsigned>(weight.bits - 1))));
    alignas(64) int32_t lanes[16];
    _mm512_store_si512(lanes, sum);
    for (int64_t i = 0; i < std::min(kPiece, bytes - piece * kPiece); i += 4)
      out.sums[(piece * kPiece + i) / weight.bytes] += static_cast<float>(lanes[i / 4]);
  }
  for (int64_t b = 0; b < weight.blocks; ++b) out.sums[b] *= out.scales[b];
}

void ClearLastPiece(const BlockRows& weight, int8_t* numbers) {
  const int64_t bytes = weight.blocks * weight.bytes, each = kPiece * 8 / weight.bits;
  if (bytes % kPiece) std::memset(numbers + bytes / kPiece * each, 0, static_cast<size_t>(each));
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
    const float scale = InSteps<127>(x + b * size, size, [&](int64_t j, int64_t count, __m512i wide) {
      sum += _mm512_reduce_add_epi32(wide);
      const Sixteen bytes = Ordered(reinterpret_cast<Sixteen>(_mm512_cvtepi32_epi8(wide)), 8 / weight.bits);
      std::memcpy(out.numbers + b * size + j, &bytes, static_cast<size_t>(count));
    });
    out.scales[b] = scale, out.sums[b] = static_cast<float>(sum) * scale;
    out.less[b] = -sum * (1 << (weight.bits - 1));
  }
}

void FillByteLanes(const float* x, const BlockRows& weight, const ByteLanes& out) {
  const int64_t size = weight.bytes * 8 / weight.bits;
  ClearLastPiece(weight, out.numbers);
  for (int64_t b = 0; b < weight.blocks; ++b)
    out.scales[b] =
        InSteps<127>(x + b * size, size, [&](int64_t j, int64_t count, __m512i wide) { PutLanes(wide, b, j, count, weight, out.numbers); });
  SumLanes(weight, out);
}

bool FillPlanes(const float* x, const BlockRows& weight, const ByteLanes* out) {
  constexpr float kLeast = 1e-24f;  // scales of three planes are normal numbers, and so are steps
  const int64_t size = weight.bytes * 8 / weight.bits;
  for (int p = 0; p < ByteLanes::kPlanes; ++p) ClearLastPiece(weight, out[p].numbers);
  for (int64_t b = 0; b < weight.blocks; ++b) {
    const float scale = InSteps<127 << 16>(x + b * size, size, [&](int64_t j, int64_t count, __m512i wide) {
      for (int p = ByteLanes::kPlanes - 1; p >= 0; --p) {  // the lowest byte, whose sign the others make good
        PutLanes(wide, b, j, count, weight, out[p].numbers);
        wide = _mm512_srai_epi32(_mm512_add_epi32(wide, _mm512_set1_epi32(128)), 8);
      }
    });
    if (!(scale == 0 || (scale >= kLeast && scale <= std::numeric_limits<float>::max()))) return false;
    float of_plane = scale;
    for (int p = 0; p < ByteLanes::kPlanes; ++p, of_plane /= 256) out[p].scales[b] = of_plane;
  }
  for (int p = 0; p < ByteLanes::kPlanes; ++p) SumLanes(weight, out[p]);
  for (int64_t b = 0; b < weight.blocks; ++b) out[2].sums[b] += out[1].sums[b] + out[0].sums[b];
  return true;
}

void DotPlanes(const BlockRows& weight, int64_t count, const ByteLanes* data, float* out) {
  constexpr int kRows = ByteLanes::kPlanes;
  const bool whole = weight.bytes % kPiece == 0;
  const auto run = weight.shift ? (whole ? LanesOf<8, kRows, true, true, true> : LanesOf<8, kRows, true, false, true>)
                                : (whole ? LanesOf<8, kRows, false, true, true> : LanesOf<8, kRows, false, false, true>);
  run(weight, count, data, out, 0);
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
bool FillPlanes(const float*, const BlockRows&, const ByteLanes*) { return false; }
void DotPlanes(const BlockRows&, int64_t, const ByteLanes*, float*) {}
void DotByteLanes(const BlockRows&, int64_t, const ByteLanes*, int64_t, float*, int64_t) {}

#endif

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
