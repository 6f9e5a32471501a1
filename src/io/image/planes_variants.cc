// From bytes of pixels to elements of a batch.
#pragma GCC optimize("fp-contract=off")

#include <cstdint>
#include <cstring>

#if defined(__SSSE3__)
#include <immintrin.h>
#endif

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace {

constexpr int64_t kPiece = 512;  // pixels of a row that are taken apart at once

#if defined(__SSSE3__)
// Which byte of three registers with 16 pixels goes where: mask[c][r] picks channel c from
// register r.
struct Masks {
  alignas(16) int8_t mask[3][3][16];
  explicit Masks(bool mirror) {
    std::memset(mask, -1, sizeof(mask));
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 16; ++i) mask[c][(3 * i + c) / 16][mirror ? 15 - i : i] = static_cast<int8_t>((3 * i + c) % 16);
  }
};
#endif

// n pixels of three channels to three rows of bytes. Mirrored: the last pixel comes first.
void TakeApart3(const uint8_t* from, int64_t n, bool mirror, uint8_t* to) {
  int64_t i = 0;
#if defined(__SSSE3__)
  static const Masks straight(false), mirrored(true);
  const Masks& masks = mirror ? mirrored : straight;
  __m128i m[3][3];
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r) m[c][r] = _mm_load_si128(reinterpret_cast<const __m128i*>(masks.mask[c][r]));
  for (; i + 16 <= n; i += 16) {
    const auto* p = reinterpret_cast<const __m128i*>(from + 3 * i);
    const __m128i x = _mm_loadu_si128(p), y = _mm_loadu_si128(p + 1), z = _mm_loadu_si128(p + 2);
    const int64_t at = mirror ? n - 16 - i : i;
    for (int c = 0; c < 3; ++c) {
      const __m128i v =
          _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(x, m[c][0]), _mm_shuffle_epi8(y, m[c][1])), _mm_shuffle_epi8(z, m[c][2]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + c * kPiece + at), v);
    }
  }
#endif
  for (; i < n; ++i)
    for (int c = 0; c < 3; ++c) to[c * kPiece + (mirror ? n - 1 - i : i)] = from[3 * i + c];
}

void TakeApart(const uint8_t* from, int64_t n, int64_t channels, bool mirror, uint8_t* to) {
  if (channels == 3) return TakeApart3(from, n, mirror, to);
  for (int64_t c = 0; c < channels; ++c)  // at most four
    for (int64_t i = 0; i < n; ++i) to[c * kPiece + (mirror ? n - 1 - i : i)] = from[channels * i + c];
}

inline uint8_t Shifted(uint8_t x, int shift) {
  const int v = x - shift, low = v < -128 ? -128 : v;
  return static_cast<uint8_t>(static_cast<int8_t>(low > 127 ? 127 : low));
}

}  // namespace

namespace MXNET_CPU_VARIANT {

/*
 * A row of n pixels to rows of planes: ((x - mean) * contrast + illumination) * factor. Mean is
 * `mean` of the channel, or if there is mean_row, the element of its plane. Planes lie `plane`
 * elements apart.
 */
void RowToFloats(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const float* mean, const float* factor,
                 const float* mean_row, float contrast, float illumination, float* to, int64_t plane) {
  uint8_t apart[4 * kPiece];
  const bool plain = contrast == 1 && illumination == 0;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t count = n - begin < kPiece ? n - begin : kPiece, at = mirror ? n - begin - count : begin;
    TakeApart(from + begin * channels, count, channels, mirror, apart);
    for (int64_t c = 0; c < channels; ++c) {
      const uint8_t* x = apart + c * kPiece;
      float* row = to + c * plane + at;
      const float m = mean[c], f = factor[c];
      if (mean_row) {  // it is not mirrored by itself: a pixel keeps its mean
        const float* means = mean_row + c * plane + begin;
        for (int64_t i = 0; i < count; ++i)
          row[i] = ((static_cast<float>(x[i]) - means[mirror ? count - 1 - i : i]) * contrast + illumination) * f;
      } else if (plain) {
        for (int64_t i = 0; i < count; ++i) row[i] = (static_cast<float>(x[i]) - m) * f;
      } else {
        for (int64_t i = 0; i < count; ++i) row[i] = ((static_cast<float>(x[i]) - m) * contrast + illumination) * f;
      }
    }
  }
}

/* As above to bytes; with `shift`, x - shift of its channel, limited to -128 to 127. */
void RowToBytes(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const int* shift, uint8_t* to, int64_t plane) {
  uint8_t apart[4 * kPiece];
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t count = n - begin < kPiece ? n - begin : kPiece, at = mirror ? n - begin - count : begin;
    TakeApart(from + begin * channels, count, channels, mirror, apart);
    for (int64_t c = 0; c < channels; ++c) {
      const uint8_t* x = apart + c * kPiece;
      uint8_t* row = to + c * plane + at;
      if (!shift) {
        std::memcpy(row, x, static_cast<size_t>(count));
        continue;
      }
      for (int64_t i = 0; i < count; ++i) row[i] = Shifted(x[i], shift[c]);
    }
  }
}

/* As RowToFloats, to pixels. The mean image has planes. */
void RowToFloatsLast(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const float* mean, const float* factor,
                     const float* mean_row, int64_t plane, float contrast, float illumination, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* x = from + i * channels;
    float* pixel = to + (mirror ? n - 1 - i : i) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const float m = mean_row ? mean_row[c * plane + i] : mean[c];
      pixel[c] = ((static_cast<float>(x[c]) - m) * contrast + illumination) * factor[c];
    }
  }
}

/* As RowToBytes, to pixels. */
void RowToBytesLast(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const int* shift, uint8_t* to) {
  if (!mirror && !shift) {
    std::memcpy(to, from, static_cast<size_t>(n * channels));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    uint8_t* pixel = to + (mirror ? n - 1 - i : i) * channels;
    for (int64_t c = 0; c < channels; ++c) pixel[c] = shift ? Shifted(from[i * channels + c], shift[c]) : from[i * channels + c];
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
