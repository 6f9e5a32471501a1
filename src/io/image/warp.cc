// Affine warping of bytes as OpenCV 3.4's warpAffine has it: positions in 1/32 of a pixel, weights
// of 15 bits, one rounding.
#pragma GCC optimize("fp-contract=off")

#include "io/image/warp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

namespace mxnet {
namespace image {
namespace {

constexpr int kFractionBits = 5, kFractions = 1 << kFractionBits, kPlaceBits = 10, kWeightBits = 15, kOne = 1 << kWeightBits;

int Round(double v) { return static_cast<int>(std::lrint(std::min(std::max(v, -2147483648.0), 2147483647.0))); }

// Weights of taps x taps pixels for each pair of fractions. What rounding leaves of their sum goes
// to one of the four in the middle.
template <int kTaps>
struct Weights {
  std::vector<int> of;
  Weights() : of(static_cast<size_t>(kFractions * kFractions * kTaps * kTaps)) {
    float line[kFractions][kTaps];
    for (int f = 0; f < kFractions; ++f) {
      const float x = static_cast<float>(f) / kFractions;
      if constexpr (kTaps == 2) {
        line[f][0] = 1 - x, line[f][1] = x;
      } else if constexpr (kTaps == 4) {
        CubicWeights(x, line[f]);
      } else {
        LanczosWeights(x, line[f]);
      }
    }
    for (int fy = 0; fy < kFractions; ++fy)
      for (int fx = 0; fx < kFractions; ++fx) Fill(line[fy], line[fx], &of[static_cast<size_t>((fy * kFractions + fx) * kTaps * kTaps)]);
  }
  static void Fill(const float* down, const float* across, int* w) {
    int sum = 0;
    for (int k = 0; k < kTaps * kTaps; ++k) {
      w[k] = std::min(Round(static_cast<double>(down[k / kTaps] * across[k % kTaps] * kOne)), kTaps == 2 ? kOne : kOne - 1);
      sum += w[k];
    }
    if (sum == kOne || kTaps == 2) return;
    constexpr int half = kTaps / 2;
    int least = half * kTaps + half, most = least;
    for (int i = half; i < half + 2; ++i)
      for (int j = half; j < half + 2; ++j) {
        const int k = i * kTaps + j;
        if (w[k] < w[least])
          least = k;
        else if (w[k] > w[most])
          most = k;
      }
    w[sum < kOne ? most : least] -= sum - kOne;
  }
};

// A pixel all of whose taps lie in the image. Of three channels, four bytes are read and written.
template <int kTaps, int kChannels>
void MixInside(const uint8_t* from, int64_t pitch, int64_t channels, const int* w, uint8_t* to) {
#if defined(__SSE4_1__)
  if constexpr (kChannels >= 3) {
    __m128i sum = _mm_set1_epi32(1 << (kWeightBits - 1));
    for (int i = 0; i < kTaps; ++i, from += pitch)
      for (int j = 0; j < kTaps; ++j) {
        int32_t bytes;
        std::memcpy(&bytes, from + j * kChannels, sizeof(bytes));
        sum = _mm_add_epi32(sum, _mm_mullo_epi32(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes)), _mm_set1_epi32(w[i * kTaps + j])));
      }
    sum = _mm_srai_epi32(sum, kWeightBits);
    sum = _mm_packs_epi32(sum, sum);
    const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
    std::memcpy(to, &bytes, sizeof(bytes));
    return;
  }
#endif
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t c = 0; c < channels; ++c) {
    int sum = 1 << (kWeightBits - 1);
    for (int i = 0; i < kTaps; ++i)
      for (int j = 0; j < kTaps; ++j) sum += w[i * kTaps + j] * from[i * pitch + j * channels + c];
    to[c] = static_cast<uint8_t>(std::min(std::max(sum >> kWeightBits, 0), 255));
  }
}

// A pixel some of whose taps are `fill`.
template <int kTaps>
void MixAtEdge(const Pixels& from, int64_t sx, int64_t sy, const int* w, int fill, uint8_t* to) {
  const bool none = sx >= from.width || sy >= from.height || sx + kTaps <= 0 || sy + kTaps <= 0;
  for (int64_t c = 0; c < from.channels; ++c) {
    int sum = 1 << (kWeightBits - 1);
    for (int i = 0; i < kTaps; ++i)
      for (int j = 0; j < kTaps; ++j) {
        const int64_t u = sx + j, v = sy + i;
        const bool there = !none && u >= 0 && v >= 0 && u < from.width && v < from.height;
        sum += w[i * kTaps + j] * (there ? from.pixels[(v * from.width + u) * from.channels + c] : fill);
      }
    to[c] = static_cast<uint8_t>(std::min(std::max(sum >> kWeightBits, 0), 255));
  }
}

template <int kTaps, int kChannels>
void WarpPixels(const Pixels& from, const double m[6], const Window& want, int fill, uint8_t* out) {
  static const Weights<kTaps> weights;
  const int64_t channels = from.channels, first = kTaps / 2 - 1, pitch = from.width * channels;
  std::vector<int> across(static_cast<size_t>(2 * want.width));
  constexpr double unit = 1 << kPlaceBits;
  for (int64_t x = 0; x < want.width; ++x) {
    across[static_cast<size_t>(2 * x)] = Round(m[0] * static_cast<double>(want.x + x) * unit);
    across[static_cast<size_t>(2 * x + 1)] = Round(m[3] * static_cast<double>(want.x + x) * unit);
  }
  constexpr int64_t shift = kPlaceBits - kFractionBits, half = 1 << (shift - 1);
  for (int64_t y = want.y; y < want.y + want.height; ++y) {
    const int64_t x0 = Round((m[1] * static_cast<double>(y) + m[2]) * unit) + half,
                  y0 = Round((m[4] * static_cast<double>(y) + m[5]) * unit) + half;
    for (int64_t x = 0; x < want.width; ++x, out += channels) {
      const int64_t px = (x0 + across[static_cast<size_t>(2 * x)]) >> shift, py = (y0 + across[static_cast<size_t>(2 * x + 1)]) >> shift;
      const int64_t sx = (px >> kFractionBits) - first, sy = (py >> kFractionBits) - first;
      const int* w = &weights.of[static_cast<size_t>(((py & (kFractions - 1)) * kFractions + (px & (kFractions - 1))) * kTaps * kTaps)];
      if (sx >= 0 && sy >= 0 && sx + kTaps <= from.width && sy + kTaps <= from.height)
        MixInside<kTaps, kChannels>(from.pixels + sy * pitch + sx * channels, pitch, channels, w, out);
      else
        MixAtEdge<kTaps>(from, sx, sy, w, fill, out);
    }
  }
}

template <int kTaps>
void WarpWith(const Pixels& from, const double m[6], const Window& want, int fill, uint8_t* out) {
  if (from.channels == 3) return WarpPixels<kTaps, 3>(from, m, want, fill, out);
  if (from.channels == 1) return WarpPixels<kTaps, 1>(from, m, want, fill, out);
  WarpPixels<kTaps, 0>(from, m, want, fill, out);
}

}  // namespace

void WarpCanvas(Canvas* canvas, const double matrix[6], const Window& want, int method, int fill) {
  const Pixels from = canvas->current();
  uint8_t* to = canvas->Next(want.height, want.width, from.channels);  // which has some bytes behind it, as `from`
  const double* a = matrix;
  double d = a[0] * a[4] - a[1] * a[3];
  d = d != 0 ? 1. / d : 0;
  double m[6] = {a[4] * d, a[1] * -d, 0, a[3] * -d, a[0] * d, 0};  // the inverse
  m[2] = -m[0] * a[2] - m[1] * a[5], m[5] = -m[3] * a[2] - m[4] * a[5];
  if (method == kCubic) {
    WarpWith<4>(from, m, want, fill, to);
  } else if (method == kLanczos) {
    WarpWith<8>(from, m, want, fill, to);
  } else {
    WarpWith<2>(from, m, want, fill, to);
  }
  canvas->Done();
}

}  // namespace image
}  // namespace mxnet
