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

using quantized::SumsFinish;

constexpr int64_t kMost = 64;       // columns at a time
constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction

inline float Cut(float v, float low, float high) {
  v = v > low ? v : low;
  return v < high ? v : high;
}

/* v[j] = the nearest whole number, ties to the even one. */
void RoundAll(float low, float high, int64_t n, float* v) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) v[j] = (Cut(v[j], low, high) + kWhole) - kWhole;
}

void AddAddend(const SumsFinish& f, const void* addend, int64_t n, float* v) {
  if (f.addend_type == kFloat32) {
    const float* from = static_cast<const float*>(addend);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += from[j];
    return;
  }
  const float scale = f.addend_scale, zero = f.addend_zero;
  const auto add = [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = __builtin_fmaf(static_cast<float>(from[j]) - zero, scale, v[j]);
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
  float v[kMost] = {};
  const float* scales = f.scales + at;
  const float* bias = f.bias + at;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) v[j] = static_cast<float>(sums[j]) * scales[j] + bias[j];
  if (f.between) {
    RoundAll(f.between_low, f.between_high, n, v);
    const float scale = f.between_scale;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] *= scale;
  }
  if (f.later) {
    const float* later = f.later + at;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += later[j];
  }
  if (addend) AddAddend(f, addend, n, v);
  if (f.out_type == kFloat32) {
    float* to = static_cast<float*>(out);
    const float low = f.low, high = f.high;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] = Cut(v[j], low, high);
    return;
  }
  RoundAll(f.low, f.high, n, v);
  int8_t* to = static_cast<int8_t*>(out);
  const int zero = f.zero;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) to[j] = static_cast<int8_t>(static_cast<int32_t>(v[j]) + zero);
}

#if defined(__AVX2__)

constexpr int64_t kTwo = 16;  // columns of two vectors

enum class Addend { kNone, kInt8, kUint8 };
enum class Between { kNone, kRounds, kBiasLater };

template <Addend ADDEND, Between BETWEEN>
inline __attribute__((always_inline)) __m256 Values(const SumsFinish& f, const int32_t* sums, int64_t at, const char* addend) {
  __m256 v = _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums)));
  v = _mm256_add_ps(_mm256_mul_ps(v, _mm256_loadu_ps(f.scales + at)), _mm256_loadu_ps(f.bias + at));
  if (BETWEEN != Between::kNone) {
    v = _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(f.between_low)), _mm256_set1_ps(f.between_high));
    v = _mm256_mul_ps(_mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), _mm256_set1_ps(f.between_scale));
  }
  if (BETWEEN == Between::kBiasLater) v = _mm256_add_ps(v, _mm256_loadu_ps(f.later + at));
  if (ADDEND != Addend::kNone) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(addend));
    const __m256i wide = ADDEND == Addend::kUint8 ? _mm256_cvtepu8_epi32(bytes) : _mm256_cvtepi8_epi32(bytes);
    const __m256 less = _mm256_sub_ps(_mm256_cvtepi32_ps(wide), _mm256_set1_ps(f.addend_zero));
    v = _mm256_fmadd_ps(less, _mm256_set1_ps(f.addend_scale), v);
  }
  return v;
}

/* Rows of sums, and where they and their results lie. */
struct Rows {
  int64_t count;
  const int32_t* sums;
  int64_t pitch;
  const char* addend;
  char* out;
  int64_t out_pitch;
};

/* Results of 8 bits, whose values' limits are those of the whole numbers. The arrays of columns,
 * and sums, have whole vectors. */
template <Addend ADDEND, Between BETWEEN>
struct ByteRows {
  const SumsFinish& f;
  const __m256 high = _mm256_set1_ps(f.high);
  const __m256i low = _mm256_set1_epi16(static_cast<int16_t>(f.low)), zero = _mm256_set1_epi16(static_cast<int16_t>(f.zero));
  const bool is_unsigned = f.out_type == kUint8;

  /* The nearest whole numbers without the lower limit, which is kept where numbers have 16 bits.
   * The upper one is kept before: what is beyond 32 bits is converted to the least number, as NaN
   * is. */
  __attribute__((always_inline)) __m256i Below(__m256 v) const { return _mm256_cvtps_epi32(_mm256_min_ps(high, v)); }

  /* 16 columns, in the order 0-3, 8-11, 4-7, 12-15. */
  __attribute__((always_inline)) __m256i Mixed(const int32_t* sums, int64_t at, const char* addend) const {
    const __m256i a = Below(Values<ADDEND, BETWEEN>(f, sums, at, addend));
    const __m256i b = Below(Values<ADDEND, BETWEEN>(f, sums + 8, at + 8, addend + 8));
    return _mm256_add_epi16(_mm256_max_epi16(_mm256_packs_epi32(a, b), low), zero);
  }

  __attribute__((always_inline)) void ThirtyTwo(const int32_t* sums, int64_t at, const char* addend, char* out) const {
    const __m256i first = Mixed(sums, at, addend), second = Mixed(sums + kTwo, at + kTwo, addend + kTwo);
    const __m256i bytes = is_unsigned ? _mm256_packus_epi16(first, second) : _mm256_packs_epi16(first, second);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(bytes, order));
  }
  __attribute__((always_inline)) void Sixteen(const int32_t* sums, int64_t at, const char* addend, char* out) const {
    const __m256i mixed = Mixed(sums, at, addend);
    const __m128i first = _mm256_castsi256_si128(mixed), second = _mm256_extracti128_si256(mixed, 1);
    const __m128i bytes = is_unsigned ? _mm_packus_epi16(first, second) : _mm_packs_epi16(first, second);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi32(bytes, _MM_SHUFFLE(3, 1, 2, 0)));
  }
  void Some(const int32_t* sums, int64_t at, int64_t n, const char* addend, char* out) const {
    char beside[kTwo] = {}, bytes[kTwo];
    if (ADDEND != Addend::kNone) std::memcpy(beside, addend, static_cast<size_t>(n));
    Sixteen(sums, at, beside, bytes);
    std::memcpy(out, bytes, static_cast<size_t>(n));
  }
};

#if defined(__AVX512BW__)

/* ByteRows by vectors twice as wide, whole 32 columns of all rows: what belongs to columns is read
 * once. */
template <Addend ADDEND, Between BETWEEN>
struct WideRows {
  const SumsFinish& f;

  struct Columns {
    __m512 scales, bias, later;
  };
  Columns ColumnsAt(int64_t at) const {
    return {_mm512_loadu_ps(f.scales + at), _mm512_loadu_ps(f.bias + at),
            BETWEEN == Between::kBiasLater ? _mm512_loadu_ps(f.later + at) : _mm512_setzero_ps()};
  }

  __attribute__((always_inline)) __m512i Below(const Columns& c, const int32_t* sums, const char* addend) const {
    __m512 v = _mm512_cvtepi32_ps(_mm512_loadu_si512(sums));
    v = _mm512_add_ps(_mm512_mul_ps(v, c.scales), c.bias);
    if (BETWEEN != Between::kNone) {
      v = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(f.between_low)), _mm512_set1_ps(f.between_high));
      v = _mm512_mul_ps(_mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), _mm512_set1_ps(f.between_scale));
    }
    if (BETWEEN == Between::kBiasLater) v = _mm512_add_ps(v, c.later);
    if (ADDEND != Addend::kNone) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(addend));
      const __m512i wide = ADDEND == Addend::kUint8 ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
      const __m512 less = _mm512_sub_ps(_mm512_cvtepi32_ps(wide), _mm512_set1_ps(f.addend_zero));
      v = _mm512_fmadd_ps(less, _mm512_set1_ps(f.addend_scale), v);
    }
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(f.high), v));
  }

  void Run(const Rows& rows, int64_t at, int64_t j) const {
    const Columns first = ColumnsAt(at + j), second = ColumnsAt(at + j + 16);
    const __m512i low = _mm512_set1_epi16(static_cast<int16_t>(f.low)), zero = _mm512_set1_epi16(static_cast<int16_t>(f.zero));
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const char* addend = (ADDEND == Addend::kNone ? rows.out : rows.addend) + j;
    const int32_t* sums = rows.sums + j;
    char* out = rows.out + j;
    for (int64_t i = 0; i < rows.count; ++i, sums += rows.pitch, addend += rows.out_pitch, out += rows.out_pitch) {
      const __m512i mixed = _mm512_packs_epi32(Below(first, sums, addend), Below(second, sums + 16, addend + 16));
      const __m256i bytes = _mm512_cvtepi16_epi8(_mm512_add_epi16(_mm512_max_epi16(mixed, low), zero));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(bytes, order));
    }
  }
};

#endif

template <Addend ADDEND, Between BETWEEN>
void Bytes(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
#if defined(__AVX512BW__)
  const WideRows<ADDEND, BETWEEN> wide{f};
  const int64_t whole = n / (2 * kTwo) * (2 * kTwo);
  for (int64_t j = 0; j < whole; j += 2 * kTwo) wide.Run(rows, at, j);
#else
  constexpr int64_t whole = 0;
#endif
  if (whole == n) return;
  const ByteRows<ADDEND, BETWEEN> finish{f};
  for (int64_t i = 0; i < rows.count; ++i) {
    const int32_t* sums = rows.sums + i * rows.pitch;
    const char* addend = ADDEND == Addend::kNone ? rows.out : rows.addend + i * rows.out_pitch;
    char* out = rows.out + i * rows.out_pitch;
    int64_t j = whole;
    for (; j + 2 * kTwo <= n; j += 2 * kTwo) finish.ThirtyTwo(sums + j, at + j, addend + j, out + j);
    if (j + kTwo <= n) finish.Sixteen(sums + j, at + j, addend + j, out + j), j += kTwo;
    if (j < n) finish.Some(sums + j, at + j, n - j, addend + j, out + j);
  }
}

template <Addend ADDEND>
void BytesOf(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
  if (!f.between)
    Bytes<ADDEND, Between::kNone>(f, rows, at, n);
  else if (!f.later)
    Bytes<ADDEND, Between::kRounds>(f, rows, at, n);
  else
    Bytes<ADDEND, Between::kBiasLater>(f, rows, at, n);
}

/* False: not of this kind. */
bool FastBytes(const SumsFinish& f, const Rows& rows, int64_t at, int64_t n) {
  if ((f.later && !f.between) || f.out_type == kFloat32 || f.out_type == kInt32) return false;
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
