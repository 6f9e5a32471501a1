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
void Dot(const BlockRow& row, const float* split, int64_t pitch, int64_t rows, float* out) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  float numbers[kPiece];
  for (int64_t r = 0; r < rows; ++r) out[r] = 0;
  for (int64_t b = 0; b < row.blocks; ++b) {
    const float scale = row.scale[b], shift = row.shift[b];
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
          out[r] += sum;
        }
      }
    }
  }
}

#ifdef __AVX512F__
/* Of 4 bits, where blocks are whole registers. */
template <int kRows>
void DotNibbles(const BlockRow& row, const float* split, int64_t pitch, float* out) {
  const __m512 table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512 sums[kRows];
  for (int r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_ps();
  const uint8_t* packed = row.packed;
  const float* x = split;
  for (int64_t b = 0; b < row.blocks; ++b, x += row.bytes * 2) {
    const __m512 scale = _mm512_set1_ps(row.scale[b]), shift = _mm512_set1_ps(row.shift[b]);
    for (int64_t at = 0; at < row.bytes; at += 16, packed += 16) {
      const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed)));
      // The index of a permutation is its lowest 4 bits.
      const __m512 low = _mm512_fmsub_ps(_mm512_permutexvar_ps(bytes, table), scale, shift);
      const __m512 high = _mm512_fmsub_ps(_mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table), scale, shift);
      for (int r = 0; r < kRows; ++r) {
        const float* from = x + r * pitch + at;
        sums[r] = _mm512_fmadd_ps(low, _mm512_loadu_ps(from), sums[r]);
        sums[r] = _mm512_fmadd_ps(high, _mm512_loadu_ps(from + row.bytes), sums[r]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) out[r] = _mm512_reduce_add_ps(sums[r]);
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

void DotBlocks(const BlockRow& row, const float* split, int64_t pitch, int64_t rows, float* out) {
#ifdef __AVX512F__
  if (row.bits == 4 && row.bytes % 16 == 0) {
    if (rows == kBlockRows) return DotNibbles<kBlockRows>(row, split, pitch, out);
    for (; rows >= 4; rows -= 4, split += 4 * pitch, out += 4) DotNibbles<4>(row, split, pitch, out);
    for (; rows > 0; --rows, split += pitch, ++out) DotNibbles<1>(row, split, pitch, out);
    return;
  }
#endif
  if (row.bits == 4) return Dot<4>(row, split, pitch, rows, out);
  row.bits == 8 ? Dot<8>(row, split, pitch, rows, out) : Dot<2>(row, split, pitch, rows, out);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
