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

/* A column of a window: where it lies, and what was read. */
template <bool kUnsigned>
struct Column {
  __m256i both, last;
  const char* at[3];
  Column(const NineTaps& taps, int k, int64_t c) : at{taps.tap[k] + c, taps.tap[3 + k] + c, taps.tap[6 + k] + c} {}
  __attribute__((always_inline)) void Load() {
    const auto eight = [&](int i) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at[i])); };
    const __m128i beside = _mm_unpacklo_epi8(eight(0), eight(1)), third = eight(2);
    both = kUnsigned ? _mm256_cvtepu8_epi16(beside) : _mm256_cvtepi8_epi16(beside);
    last = kUnsigned ? _mm256_cvtepu8_epi32(third) : _mm256_cvtepi8_epi32(third);
  }
  __attribute__((always_inline)) void LoadNext(const int64_t (&step)[3]) {
    Load();
    for (int i = 0; i < 3; ++i) at[i] += step[i];
  }
  __attribute__((always_inline)) void Take(const Column& other) { both = other.both, last = other.last; }
};

template <bool kUnsigned>
struct Weights {
  __m256i weights[6], start;
  Weights(const int16_t* w, const int32_t* from) : start(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))) {
    for (int i = 0; i < 6; ++i) weights[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + i * 2 * kEight));
  }
  __attribute__((always_inline)) __m256i Product(const Column<kUnsigned>& column, int k) const {
    return _mm256_add_epi32(_mm256_madd_epi16(column.both, weights[2 * k]), _mm256_madd_epi16(column.last, weights[2 * k + 1]));
  }
  template <int kFresh>
  __attribute__((always_inline)) int32_t* Run(const NineTaps& taps, int64_t c, int32_t* sums, int64_t pitch) const {
    const int64_t step[3] = {taps.step[0], taps.step[1], taps.step[2]};
    Column<kUnsigned> x0(taps, 0, c), x1(taps, 1, c), x2(taps, 2, c);
    if (kFresh == 1) x0.Load(), x1.Load();
    if (kFresh == 2) x0.Load();
    for (int64_t p = taps.count; p > 0; --p, sums += pitch) {
      if (kFresh == 3) x0.LoadNext(step);
      if (kFresh >= 2) x1.LoadNext(step);
      x2.LoadNext(step);
      const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(start, Product(x0, 0)), _mm256_add_epi32(Product(x1, 1), Product(x2, 2)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), sum);
      if (kFresh == 1) x0.Take(x1), x1.Take(x2);
      if (kFresh == 2) x0.Take(x2);
    }
    return sums;
  }
};

template <bool kUnsigned>
void Eight(const NineTaps* runs, int64_t count, int64_t c, const int16_t* w, const int32_t* start, int32_t* sums, int64_t pitch) {
  const Weights<kUnsigned> weights(w, start);
  for (const NineTaps* taps = runs; taps != runs + count; ++taps) switch (taps->fresh) {
      case 1: sums = weights.template Run<1>(*taps, c, sums, pitch); break;
      case 2: sums = weights.template Run<2>(*taps, c, sums, pitch); break;
      default: sums = weights.template Run<3>(*taps, c, sums, pitch);
    }
}

#else

template <bool kUnsigned>
void Run(const NineTaps& taps, int64_t c, const int16_t* w, const int32_t* start, int32_t* sums, int64_t pitch) {
  using T = std::conditional_t<kUnsigned, uint8_t, int8_t>;
  for (int64_t p = 0; p < taps.count; ++p) {
    int32_t sum[kEight];
    for (int64_t j = 0; j < kEight; ++j) sum[j] = start[j];
    for (int k = 0; k < 3; ++k) {
      const int16_t* of = w + k * 4 * kEight;
      int from = k;
      int64_t place = p;
      for (; place > 0 && from < 3 - taps.fresh; --place) from += taps.fresh;
      const T* x[3];
      for (int i = 0; i < 3; ++i) x[i] = reinterpret_cast<const T*>(taps.tap[3 * i + from] + place * taps.step[i] + c);
      for (int64_t j = 0; j < kEight; ++j) sum[j] += x[0][j] * of[2 * j] + x[1][j] * of[2 * j + 1] + x[2][j] * of[2 * kEight + 2 * j];
    }
    for (int64_t j = 0; j < kEight; ++j) sums[p * pitch + j] = sum[j];
  }
}

template <bool kUnsigned>
void Eight(const NineTaps* runs, int64_t count, int64_t c, const int16_t* w, const int32_t* start, int32_t* sums, int64_t pitch) {
  for (int64_t r = 0; r < count; sums += runs[r++].count * pitch) Run<kUnsigned>(runs[r], c, w, start, sums, pitch);
}

#endif

}  // namespace

void DepthwiseNines(const NineTaps* runs, int64_t count, bool is_unsigned, const int16_t* packed, const int32_t* start, int64_t begin,
                    int64_t end, int32_t* sums, int64_t pitch) {
  const auto eight = is_unsigned ? Eight<true> : Eight<false>;
  for (int64_t c = begin; c < end; c += kEight) eight(runs, count, c, packed + c / kEight * kNumbers, start + c, sums + c - begin, pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
