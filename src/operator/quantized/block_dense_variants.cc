// Numbers of few bits become floats in registers: their bytes are all that is read of a weight.
#include "operator/quantized/block_dense.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kPiece = 32;  // bytes of a block that become floats at a time

template <int kBits>
void Dot(const BlockRows& row, const float* split, int64_t pitch, int64_t rows, float* out, int64_t out_pitch) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  float numbers[kPiece];
  for (int64_t r = 0; r < rows; ++r) out[r * out_pitch] = 0;
  for (int64_t b = 0; b < row.blocks; ++b) {
    const float scale = row.scale[b], shift = row.shift ? row.shift[b] : scale * static_cast<float>((kMask + 1) / 2);
    for (int64_t at = 0; at < row.bytes; at += kPiece) {
      const int64_t count = row.bytes - at < kPiece ? row.bytes - at : kPiece;
      const uint8_t* packed = row.packed + b * row.bytes + at;
      for (int place = 0; place < kPlaces; ++place) {
        const float* x = split + b * row.bytes * kPlaces + place * row.bytes + at;
#pragma omp simd
        for (int64_t j = 0; j < count; ++j) numbers[j] = static_cast<float>((packed[j] >> (place * kBits)) & kMask) * scale - shift;
        for (int64_t r = 0; r < rows; ++r) {
          float sum = 0;
#pragma omp simd reduction(+ : sum)
          for (int64_t j = 0; j < count; ++j) sum += numbers[j] * x[r * pitch + j];
          out[r * out_pitch] += sum;
        }
      }
    }
  }
}

#ifdef __AVX512F__
/* Of 4 bits, where blocks are whole registers: kCount rows of the weight with kRows of the data. */
template <int kCount, int kRows, bool kShifted>
void DotNibbles(const BlockRows& weight, const float* split, int64_t pitch, float* out, int64_t out_pitch) {
  const __m512 numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 table = kShifted ? numbers : _mm512_sub_ps(numbers, _mm512_set1_ps(8));
  const int64_t row_bytes = weight.blocks * weight.bytes;
  __m512 sums[kCount][kRows];
#pragma GCC unroll 4
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sums[c][r] = _mm512_setzero_ps();
  const uint8_t* packed = weight.packed;
  const float* x = split;
  for (int64_t b = 0; b < weight.blocks; ++b, x += weight.bytes * 2) {
    for (int64_t at = 0; at < weight.bytes; at += 16, packed += 16) {
      __m512 low[kCount], high[kCount];
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        const __m512 scale = _mm512_set1_ps(weight.scale[c * weight.blocks + b]),
                     shift = kShifted ? _mm512_set1_ps(weight.shift[c * weight.blocks + b]) : _mm512_setzero_ps();
        const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + c * row_bytes)));
        // The index of a permutation is its lowest 4 bits.
        const __m512 first = _mm512_permutexvar_ps(bytes, table), second = _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table);
        low[c] = kShifted ? _mm512_fmsub_ps(first, scale, shift) : _mm512_mul_ps(first, scale);
        high[c] = kShifted ? _mm512_fmsub_ps(second, scale, shift) : _mm512_mul_ps(second, scale);
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m512 first = _mm512_loadu_ps(x + r * pitch + at), second = _mm512_loadu_ps(x + r * pitch + at + weight.bytes);
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c) sums[c][r] = _mm512_fmadd_ps(low[c], first, sums[c][r]);
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c) sums[c][r] = _mm512_fmadd_ps(high[c], second, sums[c][r]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) out[r * out_pitch + c] = _mm512_reduce_add_ps(sums[c][r]);
}

template <int kCount, bool kShifted>
void NibbleRows(const BlockRows& weight, const float* split, int64_t pitch, int64_t rows, float* out, int64_t out_pitch) {
  for (; rows >= 4; rows -= 4, split += 4 * pitch, out += 4 * out_pitch)
    DotNibbles<kCount, 4, kShifted>(weight, split, pitch, out, out_pitch);
  for (; rows > 0; --rows, split += pitch, out += out_pitch) DotNibbles<kCount, 1, kShifted>(weight, split, pitch, out, out_pitch);
}
#endif

}  // namespace

void SplitBlocks(const float* x, int64_t blocks, int64_t bytes, int bits, float* out) {
  const int places = 8 / bits;
  for (int64_t b = 0; b < blocks; ++b) {
    const float* from = x + b * bytes * places;
    float* to = out + b * bytes * places;
    for (int place = 0; place < places; ++place)
      for (int64_t j = 0; j < bytes; ++j) to[place * bytes + j] = from[j * places + place];
  }
}

void DotBlocks(const BlockRows& weight, int64_t count, const float* split, int64_t pitch, int64_t rows, float* out, int64_t out_pitch) {
  BlockRows row = weight;
  const auto next = [&](int64_t n) {
    row.packed += n * row.blocks * row.bytes, row.scale += n * row.blocks;
    if (row.shift) row.shift += n * row.blocks;
    out += n, count -= n;
  };
#ifdef __AVX512F__
  if (row.bits == 4 && row.bytes % 16 == 0) {
    const auto four = row.shift ? NibbleRows<4, true> : NibbleRows<4, false>, one = row.shift ? NibbleRows<1, true> : NibbleRows<1, false>;
    for (; count >= 4; next(4)) four(row, split, pitch, rows, out, out_pitch);
    for (; count > 0; next(1)) one(row, split, pitch, rows, out, out_pitch);
    return;
  }
#endif
  for (; count > 0; next(1)) {
    if (row.bits == 4)
      Dot<4>(row, split, pitch, rows, out, out_pitch);
    else
      row.bits == 8 ? Dot<8>(row, split, pitch, rows, out, out_pitch) : Dot<2>(row, split, pitch, rows, out, out_pitch);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
