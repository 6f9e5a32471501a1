// Windows of 3 x 3 of single channels: numbers of lines 0 and 1 lie beside each other, so that a
// column of a window serves all windows that it is part of.
#include <type_traits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "operator/quantized/packed_depthwise.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::NineTaps;

constexpr int64_t kEight = 8, kNumbers = 3 * 2 * kEight * 2;  // of eight channels' weights

#if defined(__AVX2__)

template <bool kUnsigned>
struct Column {
  __m256i both, last;
  __attribute__((always_inline)) void Load(const NineTaps& taps, int k, int64_t p, int64_t c) {
    const auto eight = [&](int i) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(taps.tap[3 * i + k] + p * taps.step[i] + c));
    };
    const __m128i beside = _mm_unpacklo_epi8(eight(0), eight(1)), third = eight(2);
    both = kUnsigned ? _mm256_cvtepu8_epi16(beside) : _mm256_cvtepi8_epi16(beside);
    last = kUnsigned ? _mm256_cvtepu8_epi32(third) : _mm256_cvtepi8_epi32(third);
  }
};

template <bool kUnsigned, int kFresh>
void Eight(const NineTaps& taps, int64_t c, const int16_t* w, const int32_t* start, int32_t* sums, int64_t pitch) {
  __m256i weights[6];
  for (int i = 0; i < 6; ++i) weights[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + i * 2 * kEight));
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start));
  const auto add = [&](__m256i sum, const Column<kUnsigned>& column, int k) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(column.both, weights[2 * k]));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(column.last, weights[2 * k + 1]));
  };
  Column<kUnsigned> x0, x1, x2;
  if (kFresh == 1) x1.Load(taps, 0, 0, c), x2.Load(taps, 1, 0, c);
  if (kFresh == 2) x2.Load(taps, 0, 0, c);
  for (int64_t p = 0; p < taps.count; ++p) {
    if (kFresh == 1) x0 = x1, x1 = x2;
    if (kFresh == 2) x0 = x2;
    if (kFresh == 3) x0.Load(taps, 0, p, c);
    if (kFresh >= 2) x1.Load(taps, 1, p, c);
    x2.Load(taps, 2, p, c);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + p * pitch), add(add(add(first, x0, 0), x1, 1), x2, 2));
  }
}

#else

template <bool kUnsigned, int>
void Eight(const NineTaps& taps, int64_t c, const int16_t* w, const int32_t* start, int32_t* sums, int64_t pitch) {
  using T = std::conditional_t<kUnsigned, uint8_t, int8_t>;
  for (int64_t p = 0; p < taps.count; ++p) {
    int32_t sum[kEight];
    for (int64_t j = 0; j < kEight; ++j) sum[j] = start[j];
    for (int k = 0; k < 3; ++k) {
      const int16_t* of = w + k * 4 * kEight;
      const T* x[3];
      for (int i = 0; i < 3; ++i) x[i] = reinterpret_cast<const T*>(taps.tap[3 * i + k] + p * taps.step[i] + c);
      for (int64_t j = 0; j < kEight; ++j) sum[j] += x[0][j] * of[2 * j] + x[1][j] * of[2 * j + 1] + x[2][j] * of[2 * kEight + 2 * j];
    }
    for (int64_t j = 0; j < kEight; ++j) sums[p * pitch + j] = sum[j];
  }
}

#endif

template <bool kUnsigned, int kFresh>
void All(const NineTaps& taps, const int16_t* packed, const int32_t* start, int64_t channels, int32_t* sums, int64_t pitch) {
  for (int64_t c = 0; c < channels; c += kEight, packed += kNumbers)
    Eight<kUnsigned, kFresh>(taps, c, packed, start + c, sums + c, pitch);
}

template <bool kUnsigned>
void OfType(const NineTaps& taps, const int16_t* packed, const int32_t* start, int64_t channels, int32_t* sums, int64_t pitch) {
  const auto run = taps.fresh == 1 ? All<kUnsigned, 1> : taps.fresh == 2 ? All<kUnsigned, 2> : All<kUnsigned, 3>;
  run(taps, packed, start, channels, sums, pitch);
}

}  // namespace

void DepthwiseNines(const NineTaps& taps, bool is_unsigned, const int16_t* packed, const int32_t* start, int64_t channels, int32_t* sums,
                    int64_t pitch) {
  (is_unsigned ? OfType<true> : OfType<false>)(taps, packed, start, channels, sums, pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
