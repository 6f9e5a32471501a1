// What becomes of sums of products of 8-bit integers: values, and 8 bits again. Values are the same
// on each level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include <algorithm>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "mxnet/base.h"
#include "operator/quantized/packed_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::Division;
using quantized::SumsFinish;

constexpr int64_t kMost = 64;       // columns at a time
constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction

inline float Cut(float v, float low, float high) {
  v = v > low ? v : low;
  return v < high ? v : high;
}

/* A number times the inverse of a step is rounded as the quotient is, unless it is so near to the
 * middle of two whole numbers that the errors of both could decide: quotients are at most 2^9, so
 * each errs by less than 2^-15 times 3. */
constexpr float kSure = 0.5f - 2e-4f;

/* `whole` is not v: whole[j] = the nearest whole number to v[j] / step, ties to the even one. */
void Divide(const Division& d, const float* v, int64_t n, float* whole) {
  const float low = d.low, high = d.high;
  if (d.inverse != 0) {
    const float inverse = d.inverse;
    float worst = 0;
#pragma omp simd reduction(max : worst)
    for (int64_t j = 0; j < n; ++j) {
      const float x = Cut(v[j] * inverse, low, high), w = (x + kWhole) - kWhole;
      const float apart = x > w ? x - w : w - x;
      worst = worst > apart ? worst : apart;
      whole[j] = w;
    }
    if (worst < kSure) return;
  }
  const float step = d.step;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) whole[j] = (Cut(v[j] / step, low, high) + kWhole) - kWhole;
}

void AddAddend(const SumsFinish& f, const void* addend, int64_t n, float* v) {
  if (f.addend_type == kFloat32) {
    const float* from = static_cast<const float*>(addend);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += from[j];
    return;
  }
  const float step = f.addend_step, zero = f.addend_zero;
  const auto add = [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += step * (static_cast<float>(from[j]) - zero);
  };
  f.addend_type == kUint8 ? add(static_cast<const uint8_t*>(addend)) : add(static_cast<const int8_t*>(addend));
}

void Sums(const int32_t* sums, const int32_t* addend, int64_t n, int32_t* out) {
  if (!addend) {
    std::copy_n(sums, n, out);
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    const int64_t sum = static_cast<int64_t>(sums[j]) + addend[j];
    out[j] = static_cast<int32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, sum)));
  }
}

void Piece(const SumsFinish& f, const int32_t* sums, int64_t at, int64_t n, const void* addend, void* out) {
  float v[kMost] = {}, whole[kMost];
  const float* scales = f.scales + at;
  const float* bias = f.bias + at;
  if (f.bias_last) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = static_cast<float>(sums[j]) * scales[j];
  } else {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = static_cast<float>(sums[j]) * scales[j] + bias[j];
  }
  if (f.between) {
    Divide(f.rounding, v, n, whole);
    const float step = f.rounding.step;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = whole[j] * step;
  }
  if (f.bias_last) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += bias[j];
  }
  if (addend) AddAddend(f, addend, n, v);
  if (f.out_type == kFloat32) {
    float* to = static_cast<float*>(out);
    const float low = f.low, high = f.high;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] = Cut(v[j], low, high);
    return;
  }
  Divide(f.result, v, n, whole);
  int8_t* to = static_cast<int8_t*>(out);
  const int zero = f.zero;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) to[j] = static_cast<int8_t>(static_cast<int32_t>(whole[j]) + zero);
}

#if defined(__AVX2__)

constexpr int64_t kTwo = 16;  // columns of two vectors

struct Vectors {
  __m256 step, inverse, low, high;
  explicit Vectors(const Division& d)
      : step(_mm256_set1_ps(d.step)), inverse(_mm256_set1_ps(d.inverse)), low(_mm256_set1_ps(d.low)), high(_mm256_set1_ps(d.high)) {}
  /* The nearest whole numbers to v / step; `worst`: how far one was away. */
  __m256 Divide(__m256 v, __m256* worst) const {
    const __m256 x = _mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(v, inverse), low), high);
    const __m256 whole = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    *worst = _mm256_max_ps(*worst, _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(x, whole)));
    return whole;
  }
};

enum class Addend { kNone, kInt8, kUint8 };
enum class Between { kNone, kBiasFirst, kBiasLast };

template <Addend ADDEND, Between BETWEEN>
__m256 Values(const SumsFinish& f, const Vectors& between, const int32_t* sums, int64_t at, const char* addend, __m256* worst) {
  __m256 v = _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums)));
  v = _mm256_mul_ps(v, _mm256_loadu_ps(f.scales + at));
  if (BETWEEN != Between::kBiasLast) v = _mm256_add_ps(v, _mm256_loadu_ps(f.bias + at));
  if (BETWEEN != Between::kNone) v = _mm256_mul_ps(between.Divide(v, worst), between.step);
  if (BETWEEN == Between::kBiasLast) v = _mm256_add_ps(v, _mm256_loadu_ps(f.bias + at));
  if (ADDEND != Addend::kNone) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(addend));
    const __m256i wide = ADDEND == Addend::kUint8 ? _mm256_cvtepu8_epi32(bytes) : _mm256_cvtepi8_epi32(bytes);
    const __m256 less = _mm256_sub_ps(_mm256_cvtepi32_ps(wide), _mm256_set1_ps(f.addend_zero));
    v = _mm256_add_ps(v, _mm256_mul_ps(_mm256_set1_ps(f.addend_step), less));
  }
  return v;
}

/* Results of 8 bits, whose values' limits are those of the whole numbers. The arrays of columns,
 * and sums, have whole vectors. */
/* Rows of sums, and where they and their results lie. */
struct Rows {
  int64_t count;
  const int32_t* sums;
  int64_t pitch;
  const char* addend;
  char* out;
  int64_t out_pitch;
};

template <Addend ADDEND, Between BETWEEN>
void Bytes(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
  const Vectors between(f.rounding), result(f.result);
  const __m128i zero = _mm_set1_epi16(static_cast<int16_t>(f.zero));
  const __m256 sure = _mm256_set1_ps(kSure);
  const bool is_unsigned = f.out_type == kUint8;
  for (int64_t i = 0; i < rows.count; ++i) {
    const int32_t* sums = rows.sums + i * rows.pitch;
    const char* addend = ADDEND == Addend::kNone ? nullptr : rows.addend + i * rows.out_pitch;
    char* out = rows.out + i * rows.out_pitch;
    for (int64_t j = 0; j < n; j += kTwo) {
      const int64_t some = std::min(kTwo, n - j);
      char copied[kTwo];
      const char* beside = ADDEND == Addend::kNone ? copied : addend + j;
      if (ADDEND != Addend::kNone && some < kTwo) {
        std::memcpy(copied, beside, static_cast<size_t>(some));
        beside = copied;
      }
      __m256 worst = _mm256_setzero_ps();
      const __m256 a = result.Divide(Values<ADDEND, BETWEEN>(f, between, sums + j, at + j, beside, &worst), &worst);
      const __m256 b = result.Divide(Values<ADDEND, BETWEEN>(f, between, sums + j + 8, at + j + 8, beside + 8, &worst), &worst);
      if (_mm256_movemask_ps(_mm256_cmp_ps(worst, sure, _CMP_GE_OQ))) {
        Piece(f, sums + j, at + j, some, ADDEND == Addend::kNone ? nullptr : addend + j, out + j);
        continue;
      }
      const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
      const __m256i whole = _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0));
      const __m128i low = _mm_add_epi16(_mm256_castsi256_si128(whole), zero),
                    high = _mm_add_epi16(_mm256_extracti128_si256(whole, 1), zero);
      const __m128i bytes = is_unsigned ? _mm_packus_epi16(low, high) : _mm_packs_epi16(low, high);
      if (some == kTwo) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j), bytes);
      } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(copied), bytes);
        std::memcpy(out + j, copied, static_cast<size_t>(some));
      }
    }
  }
}

template <Addend ADDEND>
void BytesOf(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
  if (!f.between)
    Bytes<ADDEND, Between::kNone>(f, rows, at, n);
  else if (!f.bias_last)
    Bytes<ADDEND, Between::kBiasFirst>(f, rows, at, n);
  else
    Bytes<ADDEND, Between::kBiasLast>(f, rows, at, n);
}

/* False: not of this kind. */
bool FastBytes(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
  if ((f.bias_last && !f.between) || f.out_type == kFloat32 || f.out_type == kInt32) return false;
  if (f.result.inverse == 0 || (f.between && f.rounding.inverse == 0)) return false;
  if (!rows.addend)
    BytesOf<Addend::kNone>(f, rows, at, n);
  else if (f.addend_type == kUint8)
    BytesOf<Addend::kUint8>(f, rows, at, n);
  else
    BytesOf<Addend::kInt8>(f, rows, at, n);
  return true;
}

#endif

void Row(const SumsFinish& f, const int32_t* sums, int64_t at, int64_t n, const char* addend, char* out) {
  if (f.out_type == kInt32) return Sums(sums, reinterpret_cast<const int32_t*>(addend), n, reinterpret_cast<int32_t*>(out));
  const int64_t size = f.out_type == kFloat32 ? 4 : 1;
  for (int64_t from = 0; from < n; from += kMost)
    Piece(f, sums + from, at + from, std::min(kMost, n - from), addend ? addend + from * size : nullptr, out + from * size);
}

}  // namespace

void FinishSums(const SumsFinish& f, int64_t rows, const int32_t* sums, int64_t pitch, int64_t at, int64_t n, const void* addend, void* out,
                int64_t out_pitch) {
  const char* added = static_cast<const char*>(addend);
  char* to = static_cast<char*>(out);
#if defined(__AVX2__)
  if (FastBytes(f, {rows, sums, pitch, added, to, out_pitch}, at, n)) return;
#endif
  const int64_t bytes = out_pitch * (f.out_type == kFloat32 || f.out_type == kInt32 ? 4 : 1);
  for (int64_t i = 0; i < rows; ++i) Row(f, sums + i * pitch, at, n, added ? added + i * bytes : nullptr, to + i * bytes);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
