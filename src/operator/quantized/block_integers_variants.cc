// Weights of 4 bits times data of 8 bits, in blocks that have scales: sums of a block are integers.
#include <cmath>
#include <limits>

#include "operator/quantized/block_dense.h"

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kPiece = IntegerRow::kPiece;

/* Row i behind the given one. */
inline BlockRows RowOf(const BlockRows& w, int64_t i) {
  BlockRows row = w;
  row.packed += i * w.blocks * w.bytes, row.scale += i * w.blocks;
  if (row.shift) row.shift += i * w.blocks;
  return row;
}

#ifdef __AVX512BW__

/* Numbers of the blocks that a piece's bytes are of, one for four bytes. */
struct PerBlock {
  explicit PerBlock(const BlockRows& w) : each(w.bytes >= kPiece ? 1 : kPiece / w.bytes), pieces_of_block(w.bytes / kPiece) {
    alignas(64) int32_t places[16];
    for (int i = 0; i < 16; ++i) places[i] = static_cast<int32_t>(i * each / 16);
    index = _mm512_load_si512(places);
  }
  __m512 Of(const float* from, int64_t first, __mmask16 there) const {
    return _mm512_permutexvar_ps(index, _mm512_maskz_loadu_ps(there, from + first));
  }
  int64_t each, pieces_of_block;
  __m512i index;
};

/* kCount rows of the weight with kRows rows of data. Sums of two products fit into 16 bits. */
template <int kCount, int kRows, bool kShifted>
void Products(const BlockRows& w, const PerBlock& per, const IntegerRow* data, float* out, int64_t out_pitch) {
  const int64_t bytes = w.blocks * w.bytes, pieces = IntegerRow::Pieces(bytes);
  const __m512i low_bits = _mm512_set1_epi8(15), ones = _mm512_set1_epi16(1);
  const __m512 eight = _mm512_set1_ps(8);
  __m512 sums[kCount][kRows];
#pragma GCC unroll 4
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sums[c][r] = _mm512_setzero_ps();
  int64_t block = 0, of_block = 0;  // the first one of a piece, and how many pieces of it have gone by
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t left = bytes - p * kPiece, blocks = w.blocks - block < per.each ? w.blocks - block : per.each;
    const __mmask64 there = left >= kPiece ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const auto of = static_cast<__mmask16>((1u << blocks) - 1);
    __m512i low[kCount], high[kCount];
    __m512 scale[kCount], shift[kCount];
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      const __m512i packed = _mm512_maskz_loadu_epi8(there, w.packed + c * bytes + p * kPiece);
      low[c] = _mm512_and_si512(packed, low_bits), high[c] = _mm512_and_si512(_mm512_srli_epi16(packed, 4), low_bits);
      scale[c] = per.Of(w.scale + c * w.blocks, block, of);
      shift[c] = kShifted ? per.Of(w.shift + c * w.blocks, block, of) : _mm512_mul_ps(scale[c], eight);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int8_t* x = data[r].numbers + p * 2 * kPiece;
      const __m512i first = _mm512_loadu_si512(x), second = _mm512_loadu_si512(x + kPiece);
      const __m512 own = _mm512_loadu_ps(data[r].scales + p * kPiece / 4), whole = _mm512_loadu_ps(data[r].sums + p * kPiece / 4);
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        const __m512i pairs = _mm512_add_epi16(_mm512_maddubs_epi16(low[c], first), _mm512_maddubs_epi16(high[c], second));
        const __m512 products = _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs, ones));
        sums[c][r] = _mm512_fnmadd_ps(shift[c], whole, _mm512_fmadd_ps(products, _mm512_mul_ps(scale[c], own), sums[c][r]));
      }
    }
    if (per.pieces_of_block <= 1)
      block += per.each;
    else if (++of_block == per.pieces_of_block)
      ++block, of_block = 0;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) out[r * out_pitch + c] = _mm512_reduce_add_ps(sums[c][r]);
}

#elif defined(__AVX2__)

constexpr int64_t kHalf = 32;

struct PerBlock {
  explicit PerBlock(const BlockRows&) {}
};

template <int kCount, int kRows, bool kShifted>
void Products(const BlockRows& w, const PerBlock&, const IntegerRow* data, float* out, int64_t out_pitch) {
  const int64_t bytes = w.blocks * w.bytes, halves = (bytes + kHalf - 1) / kHalf, units = w.bytes / 16;
  const __m256i low_bits = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  const __m256 eight = _mm256_set1_ps(8);
  __m256 sums[kCount][kRows];
#pragma GCC unroll 4
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sums[c][r] = _mm256_setzero_ps();
  int64_t block = 0, unit = 0;  // of 16 bytes, in the block
  for (int64_t h = 0; h < halves; ++h) {
    const bool whole_one = bytes - h * kHalf >= kHalf;  // else 16 bytes
    const int64_t next = units == 1 && whole_one ? block + 1 : block;
    const auto both = [&](const float* of) { return _mm256_set_m128(_mm_set1_ps(of[next]), _mm_set1_ps(of[block])); };
    __m256i low[kCount], high[kCount];
    __m256 scale[kCount], shift[kCount];
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      const auto* from = reinterpret_cast<const __m128i*>(w.packed + c * bytes + h * kHalf);
      const __m256i packed = _mm256_set_m128i(whole_one ? _mm_loadu_si128(from + 1) : _mm_setzero_si128(), _mm_loadu_si128(from));
      low[c] = _mm256_and_si256(packed, low_bits), high[c] = _mm256_and_si256(_mm256_srli_epi16(packed, 4), low_bits);
      scale[c] = both(w.scale + c * w.blocks);
      shift[c] = kShifted ? both(w.shift + c * w.blocks) : _mm256_mul_ps(scale[c], eight);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int8_t* x = data[r].numbers + h / 2 * 2 * kPiece + h % 2 * kHalf;
      const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
                    second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + kPiece));
      const __m256 own = _mm256_loadu_ps(data[r].scales + h * kHalf / 4), whole = _mm256_loadu_ps(data[r].sums + h * kHalf / 4);
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(low[c], first), _mm256_maddubs_epi16(high[c], second));
        const __m256 products = _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, ones));
        sums[c][r] = _mm256_fnmadd_ps(shift[c], whole, _mm256_fmadd_ps(products, _mm256_mul_ps(scale[c], own), sums[c][r]));
      }
    }
    unit += 2;
    while (unit >= units) ++block, unit -= units;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      __m128 four = _mm_add_ps(_mm256_castps256_ps128(sums[c][r]), _mm256_extractf128_ps(sums[c][r], 1));
      four = _mm_add_ps(four, _mm_movehl_ps(four, four));
      out[r * out_pitch + c] = _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
    }
}

#else

struct PerBlock {
  explicit PerBlock(const BlockRows&) {}
};

template <int kCount, int kRows, bool kShifted>
void Products(const BlockRows& w, const PerBlock&, const IntegerRow* data, float* out, int64_t out_pitch) {
  const int64_t bytes = w.blocks * w.bytes;
  for (int c = 0; c < kCount; ++c)
    for (int r = 0; r < kRows; ++r) {
      float sum = 0;
      for (int64_t at = 0; at < bytes; at += 4) {
        const uint8_t* packed = w.packed + c * bytes + at;
        const int8_t* x = data[r].numbers + at / kPiece * 2 * kPiece + at % kPiece;
        int32_t part = 0;
        for (int64_t j = 0; j < 4; ++j) part += (packed[j] & 15) * x[j] + (packed[j] >> 4) * x[kPiece + j];
        const int64_t block = c * w.blocks + at / w.bytes;
        sum += static_cast<float>(part) * (w.scale[block] * data[r].scales[at / 4]);
        sum -= (kShifted ? w.shift[block] : 8 * w.scale[block]) * data[r].sums[at / 4];
      }
      out[r * out_pitch + c] = sum;
    }
}

#endif

template <int kCount, bool kShifted>
void AllRows(const BlockRows& w, const PerBlock& per, const IntegerRow* data, int64_t rows, float* out, int64_t out_pitch) {
  for (; rows >= 4; rows -= 4, data += 4, out += 4 * out_pitch) Products<kCount, 4, kShifted>(w, per, data, out, out_pitch);
  for (; rows > 0; --rows, ++data, out += out_pitch) Products<kCount, 1, kShifted>(w, per, data, out, out_pitch);
}

}  // namespace

void IntegerBlocks(const float* x, int64_t blocks, int64_t bytes, const IntegerRow& out) {
  const int64_t all = blocks * bytes, end = IntegerRow::Pieces(all) * kPiece;
  for (int64_t b = 0; b < blocks; ++b) {
    const float* from = x + b * bytes * 2;
    float largest = 0, nothing = 0;
#pragma omp simd reduction(max : largest) reduction(+ : nothing)
    for (int64_t j = 0; j < 2 * bytes; ++j) {
      const float size = std::fabs(from[j]);
      largest = size > largest ? size : largest;
      nothing += from[j] * 0.f;  // NaN of what is no number
    }
    const float scale = largest / 127 + nothing, by = 127 / largest;
    const float steps = scale > 0 && by <= std::numeric_limits<float>::max() ? by : 0;
    for (int64_t at = b * bytes; at < (b + 1) * bytes; at += 16, from += 32) {  // one place of a piece
      int8_t* to = out.numbers + at / kPiece * 2 * kPiece + at % kPiece;
      int32_t low[16], high[16];
#pragma omp simd
      for (int j = 0; j < 16; ++j) {
        low[j] = static_cast<int32_t>(std::nearbyint(steps > 0 ? from[2 * j] * steps : 0.f));
        high[j] = static_cast<int32_t>(std::nearbyint(steps > 0 ? from[2 * j + 1] * steps : 0.f));
      }
      for (int j = 0; j < 16; ++j) to[j] = static_cast<int8_t>(low[j]), to[j + kPiece] = static_cast<int8_t>(high[j]);
      for (int j = 0; j < 16; j += 4) {
        const int32_t sum = low[j] + low[j + 1] + low[j + 2] + low[j + 3] + high[j] + high[j + 1] + high[j + 2] + high[j + 3];
        out.scales[(at + j) / 4] = scale, out.sums[(at + j) / 4] = static_cast<float>(sum) * scale;
      }
    }
  }
  for (int64_t at = all; at < end; at += 4) {
    for (int64_t j = at; j < at + 4; ++j) {
      const int64_t to = j / kPiece * 2 * kPiece + j % kPiece;
      out.numbers[to] = out.numbers[to + kPiece] = 0;
    }
    out.scales[at / 4] = out.sums[at / 4] = 0;
  }
}

void DotIntegers(const BlockRows& weight, int64_t count, const IntegerRow* data, int64_t rows, float* out, int64_t out_pitch) {
  const PerBlock per(weight);
  const auto four = weight.shift ? AllRows<4, true> : AllRows<4, false>, one = weight.shift ? AllRows<1, true> : AllRows<1, false>;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) four(RowOf(weight, i), per, data, rows, out + i, out_pitch);
  for (; i < count; ++i) one(RowOf(weight, i), per, data, rows, out + i, out_pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
