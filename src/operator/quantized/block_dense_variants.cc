// Numbers of few bits become floats in registers: their bytes are all that is read of a weight.
#include <cstring>

#include "base/vector_bytes.h"
#include "operator/quantized/block_dense.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kWidest = kVectorBytes / 4;  // lanes of a register

template <int kLanes>
struct Lanes {
  typedef float Vec __attribute__((vector_size(kLanes * 4)));
  typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));
};

template <typename Out, typename In>
inline __attribute__((always_inline)) Out Load(const In* p) {
  Out v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

/* Bytes as integers: the compiler's conversion of vectors goes by elements. */
template <int kLanes>
inline __attribute__((always_inline)) typename Lanes<kLanes>::Ints Widened(const uint8_t* p) {
  using Ints = typename Lanes<kLanes>::Ints;
#ifdef __AVX512F__
  if constexpr (kLanes == 16) return reinterpret_cast<Ints>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#endif
#ifdef __AVX2__
  if constexpr (kLanes == 8) return reinterpret_cast<Ints>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#endif
  Ints wide;
  for (int i = 0; i < kLanes; ++i) wide[i] = p[i];
  return wide;
}

/* By halves, which the lanes of a register add at once. */
template <int kLanes>
inline __attribute__((always_inline)) float SumOf(typename Lanes<kLanes>::Vec v) {
#ifdef __AVX512F__
  if constexpr (kLanes == 16) return _mm512_reduce_add_ps(reinterpret_cast<__m512>(v));
#endif
  float lanes[kLanes];
  std::memcpy(lanes, &v, sizeof(v));
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

/* Blocks of any size. */
template <int kBits>
void Dot(const BlockRows& row, const float* split, int64_t pitch, int64_t rows, float* out, int64_t out_pitch) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  for (int64_t r = 0; r < rows; ++r) out[r * out_pitch] = 0;
  for (int64_t b = 0; b < row.blocks; ++b) {
    const float scale = row.scale[b], shift = row.shift ? row.shift[b] : scale * static_cast<float>((kMask + 1) / 2);
    const uint8_t* packed = row.packed + b * row.bytes;
    for (int place = 0; place < kPlaces; ++place) {
      const float* x = split + (b * kPlaces + place) * row.bytes;
      for (int64_t r = 0; r < rows; ++r) {
        float sum = 0;
        for (int64_t j = 0; j < row.bytes; ++j)
          sum += (static_cast<float>((packed[j] >> (place * kBits)) & kMask) * scale - shift) * x[r * pitch + j];
        out[r * out_pitch] += sum;
      }
    }
  }
}

/* Where blocks are whole registers: kCount rows of the weight with kRows of the data. */
template <int kBits, int kLanes, int kCount, int kRows>
void DotWhole(const BlockRows& weight, const float* split, int64_t pitch, float* out, int64_t out_pitch) {
  using Vec = typename Lanes<kLanes>::Vec;
  using Ints = typename Lanes<kLanes>::Ints;
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  const int64_t row_bytes = weight.blocks * weight.bytes;
  Vec sums[kCount][kRows] = {};
  const uint8_t* packed = weight.packed;
  const float* x = split;
  for (int64_t b = 0; b < weight.blocks; ++b, x += weight.bytes * kPlaces) {
    float scale[kCount], shift[kCount];
    for (int c = 0; c < kCount; ++c) {
      scale[c] = weight.scale[c * weight.blocks + b];
      shift[c] = weight.shift ? weight.shift[c * weight.blocks + b] : scale[c] * static_cast<float>((kMask + 1) / 2);
    }
    for (int64_t at = 0; at < weight.bytes; at += kLanes, packed += kLanes) {
      Ints wide[kCount];
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) wide[c] = Widened<kLanes>(packed + c * row_bytes);
#pragma GCC unroll 4
      for (int place = 0; place < kPlaces; ++place) {
        Vec numbers[kCount];
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c)
          numbers[c] = __builtin_convertvector((wide[c] >> (place * kBits)) & kMask, Vec) * scale[c] - shift[c];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const Vec data = Load<Vec>(x + r * pitch + place * weight.bytes + at);
#pragma GCC unroll 4
          for (int c = 0; c < kCount; ++c) sums[c][r] += numbers[c] * data;
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kCount; ++c) out[r * out_pitch + c] = SumOf<kLanes>(sums[c][r]);
}

/* As many sums as the registers hold. */
template <int kBits, int kLanes, int kCount>
void WholeRows(const BlockRows& weight, const float* split, int64_t pitch, int64_t rows, float* out, int64_t out_pitch) {
  for (; rows >= 4; rows -= 4, split += 4 * pitch, out += 4 * out_pitch)
    DotWhole<kBits, kLanes, kCount, 4>(weight, split, pitch, out, out_pitch);
  if (rows == 3) DotWhole<kBits, kLanes, kCount, 3>(weight, split, pitch, out, out_pitch);
  if (rows == 2) DotWhole<kBits, kLanes, kCount, 2>(weight, split, pitch, out, out_pitch);
  if (rows == 1) DotWhole<kBits, kLanes, kCount, 1>(weight, split, pitch, out, out_pitch);
}

using RowLoop = void (*)(const BlockRows&, const float*, int64_t, int64_t, float*, int64_t);

/* A loop for kCount rows of the weight whose blocks are whole registers of some width, or null. */
template <int kBits, int kCount>
RowLoop WholeLoop(int64_t bytes) {
  if (bytes % kWidest == 0) return WholeRows<kBits, kWidest, kCount>;
  if constexpr (kWidest > 8)
    if (bytes % 8 == 0) return WholeRows<kBits, 8, kCount>;
  return bytes % 4 == 0 ? WholeRows<kBits, 4, kCount> : nullptr;
}

template <int kCount>
RowLoop WholeLoop(const BlockRows& row) {
  return row.bits == 8   ? WholeLoop<8, kCount>(row.bytes)
         : row.bits == 4 ? WholeLoop<4, kCount>(row.bytes)
                         : WholeLoop<2, kCount>(row.bytes);
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
  if (rows == 3) DotNibbles<kCount, 3, kShifted>(weight, split, pitch, out, out_pitch);
  if (rows == 2) DotNibbles<kCount, 2, kShifted>(weight, split, pitch, out, out_pitch);
  if (rows == 1) DotNibbles<kCount, 1, kShifted>(weight, split, pitch, out, out_pitch);
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
  if (const RowLoop two = WholeLoop<2>(row), one = WholeLoop<1>(row); two) {
    for (; count >= 2; next(2)) two(row, split, pitch, rows, out, out_pitch);
    for (; count > 0; next(1)) one(row, split, pitch, rows, out, out_pitch);
    return;
  }
  const auto any = row.bits == 8 ? Dot<8> : row.bits == 4 ? Dot<4> : Dot<2>;
  for (; count > 0; next(1)) any(row, split, pitch, rows, out, out_pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
