// Loops over bytes. Products of two numbers of 16 bits, added in pairs, are one instruction on each
// level, so MultiplyRows takes them widened: saturating sums of bytes, which are faster, would not
// be exact.
#include "operator/quantized/intgemm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// R rows of a with C rows of b.
template <int R, int C>
void Tile(const int16_t* a, int64_t a_pitch, const int16_t* b, int64_t b_pitch, int64_t k, int32_t* sums, int64_t pitch) {
  static_assert(R <= 2 && C <= 4, "rows are named below");
  const int16_t *a0 = a, *a1 = a + (R - 1) * a_pitch;
  const int16_t *b0 = b, *b1 = b + (C > 1 ? b_pitch : 0), *b2 = b + (C > 2 ? 2 * b_pitch : 0), *b3 = b + (C > 3 ? 3 * b_pitch : 0);
  int32_t s[8] = {};
  if (R == 2 && C == 4) {
    int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    for (int64_t i = 0; i < k; ++i) {
      s00 += a0[i] * b0[i];
      s01 += a0[i] * b1[i];
      s02 += a0[i] * b2[i];
      s03 += a0[i] * b3[i];
      s10 += a1[i] * b0[i];
      s11 += a1[i] * b1[i];
      s12 += a1[i] * b2[i];
      s13 += a1[i] * b3[i];
    }
    const int32_t all[8] = {s00, s01, s02, s03, s10, s11, s12, s13};
    for (int i = 0; i < 8; ++i) s[i] = all[i];
  } else if (C == 4) {
    int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0;
    for (int64_t i = 0; i < k; ++i) {
      s00 += a0[i] * b0[i];
      s01 += a0[i] * b1[i];
      s02 += a0[i] * b2[i];
      s03 += a0[i] * b3[i];
    }
    s[0] = s00, s[1] = s01, s[2] = s02, s[3] = s03;
  } else {
    for (int r = 0; r < R; ++r) {
      int32_t sum = 0;
      const int16_t* row = r ? a1 : a0;
      for (int64_t i = 0; i < k; ++i) sum += row[i] * b0[i];
      s[r * 4] = sum;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sums[r * pitch + c] = s[r * 4 + c];
}

template <int R>
void Rows(const int16_t* a, int64_t a_pitch, const int16_t* b, int64_t columns, int64_t b_pitch, int64_t k, int32_t* sums, int64_t pitch) {
  int64_t j = 0;
  for (; j + 4 <= columns; j += 4) Tile<R, 4>(a, a_pitch, b + j * b_pitch, b_pitch, k, sums + j, pitch);
  for (; j < columns; ++j) Tile<R, 1>(a, a_pitch, b + j * b_pitch, b_pitch, k, sums + j, pitch);
}

}  // namespace

float LargestMagnitude(const float* x, int64_t n) {
  float largest = 0;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i] < 0 ? -x[i] : x[i];
    largest = v > largest ? v : largest;
  }
  return largest;
}

void QuantizeBytes(const float* x, float scale, int64_t n, int8_t* out) {
  constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i] * scale;
    v = v != v ? 0.0f : v;
    v = v > 127.0f ? 127.0f : v;
    v = v < -127.0f ? -127.0f : v;
    out[i] = static_cast<int8_t>(static_cast<int32_t>((v + kWhole) - kWhole));
  }
}

void WidenBytes(const void* x, bool is_unsigned, int64_t n, int16_t* out) {
  const auto* whole = static_cast<const int8_t*>(x);
  const auto* natural = static_cast<const uint8_t*>(x);
  if (is_unsigned) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = natural[i];
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = whole[i];
}

void MultiplyRows(const int16_t* a, int64_t rows, int64_t a_pitch, const int16_t* b, int64_t columns, int64_t b_pitch, int64_t k,
                  int32_t* sums, int64_t pitch) {
  int64_t i = 0;
  for (; i + 2 <= rows; i += 2) Rows<2>(a + i * a_pitch, a_pitch, b, columns, b_pitch, k, sums + i * pitch, pitch);
  if (i < rows) Rows<1>(a + i * a_pitch, a_pitch, b, columns, b_pitch, k, sums + i * pitch, pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
