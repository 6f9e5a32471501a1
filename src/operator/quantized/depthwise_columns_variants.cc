// Depthwise convolutions of bytes by columns of windows: bytes of three lines and a zero are
// brought beside each other once for all windows that they are part of. Values are the same on each
// level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include <algorithm>
#include <cmath>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "operator/quantized/depthwise_columns.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::ColumnFinish;
using quantized::NineTaps;

#if defined(__AVX512BW__)

#define MXNET_VNNI __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) static inline

/* What intrinsics of all widths are called alike. */
#define MXNET_BYTE_VECTORS(PRE)                                                                                       \
  MXNET_VNNI I All(int v) { return PRE##_set1_epi8(static_cast<char>(v)); }                                           \
  MXNET_VNNI I Words(int v) { return PRE##_set1_epi16(static_cast<short>(v)); }                                       \
  MXNET_VNNI F Floats(float v) { return PRE##_set1_ps(v); }                                                           \
  MXNET_VNNI F LoadFloats(const float* p) { return PRE##_loadu_ps(p); }                                               \
  MXNET_VNNI I Low8(I a, I b) { return PRE##_unpacklo_epi8(a, b); }                                                   \
  MXNET_VNNI I High8(I a, I b) { return PRE##_unpackhi_epi8(a, b); }                                                  \
  MXNET_VNNI I Low16(I a, I b) { return PRE##_unpacklo_epi16(a, b); }                                                 \
  MXNET_VNNI I High16(I a, I b) { return PRE##_unpackhi_epi16(a, b); }                                                \
  MXNET_VNNI I Add4(I sum, I a, I b) { return PRE##_dpbusd_epi32(sum, a, b); }                                        \
  MXNET_VNNI F Scaled(I v, F scale, F bias) { return PRE##_add_ps(PRE##_mul_ps(PRE##_cvtepi32_ps(v), scale), bias); } \
  MXNET_VNNI I Rounded(F v, F most) { return PRE##_cvtps_epi32(PRE##_min_ps(most, v)); }                              \
  MXNET_VNNI I Pack32(I a, I b) { return PRE##_packs_epi32(a, b); }                                                   \
  MXNET_VNNI I AddWords(I a, I b) { return PRE##_adds_epi16(a, b); }                                                  \
  MXNET_VNNI I MaxWords(I a, I b) { return PRE##_max_epi16(a, b); }                                                   \
  MXNET_VNNI I MinWords(I a, I b) { return PRE##_min_epi16(a, b); }                                                   \
  MXNET_VNNI I Pack16(I a, I b, bool is_unsigned) { return is_unsigned ? PRE##_packus_epi16(a, b) : PRE##_packs_epi16(a, b); }

/* Vectors of 64, 32 and 16 bytes. */
struct V64 {
  using I = __m512i;
  using F = __m512;
  MXNET_VNNI I Load(const void* p, __mmask64) { return _mm512_loadu_si512(p); }
  MXNET_VNNI void Store(void* p, __mmask64, I v) { _mm512_storeu_si512(p, v); }
  MXNET_VNNI I Xor(I a, I b) { return _mm512_xor_si512(a, b); }
  MXNET_BYTE_VECTORS(_mm512)
};

struct V32 {
  using I = __m256i;
  using F = __m256;
  MXNET_VNNI I Load(const void* p, __mmask64) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  MXNET_VNNI void Store(void* p, __mmask64, I v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  MXNET_VNNI I Xor(I a, I b) { return _mm256_xor_si256(a, b); }
  MXNET_BYTE_VECTORS(_mm256)
};

struct V16 {  // or fewer
  using I = __m128i;
  using F = __m128;
  MXNET_VNNI I Load(const void* p, __mmask64 some) { return _mm_maskz_loadu_epi8(static_cast<__mmask16>(some), p); }
  MXNET_VNNI void Store(void* p, __mmask64 some, I v) { _mm_mask_storeu_epi8(p, static_cast<__mmask16>(some), v); }
  MXNET_VNNI I Xor(I a, I b) { return _mm_xor_si128(a, b); }
  MXNET_BYTE_VECTORS(_mm)
};

constexpr __mmask64 kWhole = ~__mmask64{0};

/* Some channels: what is the same for all windows. */
template <typename V, bool kSigned, bool kUnsignedOut>
struct Channels {
  using I = typename V::I;
  using F = typename V::F;
  static constexpr int64_t kBytes = sizeof(I), kFloats = kBytes / 4;
  const int8_t* weights;
  const ColumnFinish& finish;
  const int32_t* start;
  const float *scales, *bias;
  __mmask64 some;

  /* A column of a window. */
  MXNET_VNNI void Read(const char* const (&at)[3], __mmask64 some, I (&to)[4]) {
    I a = V::Load(at[0], some), b = V::Load(at[1], some), c = V::Load(at[2], some);
    if (kSigned) {
      const I flip = V::All(0x80);
      a = V::Xor(a, flip), b = V::Xor(b, flip), c = V::Xor(c, flip);
    }
    const I none = V::All(0), low = V::Low8(a, b), high = V::High8(a, b), low2 = V::Low8(c, none), high2 = V::High8(c, none);
    to[0] = V::Low16(low, low2), to[1] = V::High16(low, low2), to[2] = V::Low16(high, high2), to[3] = V::High16(high, high2);
  }

  __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) inline void Write(const I (&sums)[4], char* out) const {
    const F most = V::Floats(finish.most);
    I steps[4];
    for (int q = 0; q < 4; ++q)
      steps[q] = V::Rounded(V::Scaled(sums[q], V::LoadFloats(scales + q * kFloats), V::LoadFloats(bias + q * kFloats)), most);
    const I zero = V::Words(finish.zero), low = V::Words(finish.low), high = V::Words(finish.high);
    const auto cut = [&](I v) __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) {
      return V::MinWords(V::MaxWords(V::AddWords(v, zero), low), high);
    };
    V::Store(out, some, V::Pack16(cut(V::Pack32(steps[0], steps[1])), cut(V::Pack32(steps[2], steps[3])), kUnsignedOut));
  }

  __attribute__((target("avx512vnni,avx512vl,avx512bw"))) char* Run(const NineTaps& taps, int64_t c, char* out, int64_t pitch) const {
    return taps.fresh == 1   ? RunOf<1>(taps, c, out, pitch)
           : taps.fresh == 2 ? RunOf<2>(taps, c, out, pitch)
                             : RunOf<3>(taps, c, out, pitch);
  }

  /* Sums of three windows are under way where each column is part of three. */
  template <int kFresh>
  __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) inline char* RunOf(const NineTaps& taps, int64_t c, char* out,
                                                                                            int64_t pitch) const {
    const char* at[3][3];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) at[k][i] = taps.tap[3 * i + k] + c;
    I w[3][4], column[4], sums[4], next[4];
    for (int k = 0; k < 3; ++k)
      for (int q = 0; q < 4; ++q) w[k][q] = V::Load(weights + (4 * k + q) * kBytes, kWhole);
    const auto begin = [&](I(&to)[4]) __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) {
      for (int q = 0; q < 4; ++q) to[q] = V::Load(start + q * kFloats, kWhole);
    };
    const auto add = [&](I(&to)[4], int k) __attribute__((always_inline, target("avx512vnni,avx512vl,avx512bw"))) {
      for (int q = 0; q < 4; ++q) to[q] = V::Add4(to[q], column[q], w[k][q]);
    };
    begin(sums);
    if (kFresh < 3) Read(at[0], some, column), add(sums, 0);
    if (kFresh == 1) begin(next), Read(at[1], some, column), add(sums, 1), add(next, 0);
    for (int64_t p = taps.count; p > 0; --p, out += pitch) {
      if (kFresh == 3) begin(sums);
      for (int k = 3 - kFresh; k < 3; ++k) {
        Read(at[k], some, column);
        add(sums, k);
        for (int i = 0; i < 3; ++i) at[k][i] += taps.step[i];
      }
      Write(sums, out);
      // The last column is the middle of the next window, and the first of that behind it.
      if (kFresh == 1) {
        for (int q = 0; q < 4; ++q) sums[q] = next[q];
        add(sums, 1);
        begin(next), add(next, 0);
      }
      if (kFresh == 2) begin(sums), add(sums, 0);
    }
    return out;
  }
};

template <typename V, bool kSigned>
__attribute__((target("avx512vnni,avx512vl,avx512bw"))) void RunAll(const NineTaps* runs, int64_t count, const int8_t* packed,
                                                                    const ColumnFinish& f, int64_t c, int64_t n, char* out, int64_t pitch) {
  const __mmask64 some = n < 16 ? (__mmask64{1} << n) - 1 : kWhole;
  const auto all = [&](const auto& channels) __attribute__((target("avx512vnni,avx512vl,avx512bw"))) {
    for (const NineTaps* taps = runs; taps != runs + count; ++taps) out = channels.Run(*taps, c, out, pitch);
  };
  if (f.is_unsigned)
    all(Channels<V, kSigned, true>{packed + 12 * c, f, f.start + c, f.scales + c, f.bias + c, some});
  else
    all(Channels<V, kSigned, false>{packed + 12 * c, f, f.start + c, f.scales + c, f.bias + c, some});
}

template <typename V>
void Block(const NineTaps* runs, int64_t count, uint8_t flip, const int8_t* packed, const ColumnFinish& f, int64_t c, int64_t n, char* out,
           int64_t pitch) {
  (flip ? RunAll<V, true> : RunAll<V, false>)(runs, count, packed, f, c, n, out, pitch);
}

void Some(const NineTaps* runs, int64_t count, uint8_t flip, const int8_t* packed, const ColumnFinish& f, int64_t c, int64_t n,
          int64_t width, char* out, int64_t pitch) {
  (width == 64 ? Block<V64> : width == 32 ? Block<V32> : Block<V16>)(runs, count, flip, packed, f, c, n, out, pitch);
}

#else

void Some(const NineTaps* runs, int64_t count, uint8_t flip, const int8_t* packed, const ColumnFinish& f, int64_t c, int64_t n,
          int64_t width, char* out, int64_t pitch) {
  const int8_t* weights = packed + 12 * c;
  for (const NineTaps* taps = runs; taps != runs + count; ++taps)
    for (int64_t p = 0; p < taps->count; ++p, out += pitch)
      for (int64_t j = 0; j < n; ++j) {
        const int64_t at = quantized::InColumnOrder(width, j);
        int32_t sum = f.start[c + at];
        for (int k = 0; k < 3; ++k) {
          int from = k;
          int64_t place = p;
          for (; place > 0 && from < 3 - taps->fresh; --place) from += taps->fresh;
          for (int i = 0; i < 3; ++i) {
            const auto x = static_cast<uint8_t>(taps->tap[3 * i + from][place * taps->step[i] + c + j]);
            sum += static_cast<uint8_t>(x ^ flip) * weights[(k * width + at) * 4 + i];
          }
        }
        const float value = std::min(f.most, static_cast<float>(sum) * f.scales[c + at] + f.bias[c + at]);
        const float steps = std::max(-32768.0f, std::min(32767.0f, std::nearbyint(value)));
        out[j] = static_cast<char>(std::min(f.high, std::max(f.low, static_cast<int>(steps) + f.zero)));
      }
}

#endif

}  // namespace

void ByteColumns(const NineTaps* runs, int64_t count, uint8_t flip, const int8_t* packed, const ColumnFinish& finish, int64_t begin,
                 int64_t end, char* out, int64_t pitch) {
  for (int64_t c = begin; c < end;) {
    const int64_t width = quantized::ColumnChannels(end - c), n = std::min(width, end - c);
    Some(runs, count, flip, packed, finish, c, n, width, out + c - begin, pitch);
    c += n;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
