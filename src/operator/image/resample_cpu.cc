// Resampling by separable filters: positions and weights along each axis are tabulated, rows are
// filtered horizontally once and then mixed. No product and sum may be contracted into one
// rounding: results are those of OpenCV 3.4, which has none.
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

#include "base/cpu_dispatch.h"
#include "mxnet/base.h"
#include "operator/image/pick_pixels.h"
#include "operator/image/resample_picture.h"

namespace mxnet {

MXNET_CPU_DECLARE(void BilinearPixels3(const uint8_t* from, const int32_t* offsets, const int32_t* weights, int64_t n, int16_t* to);
                  void MixBilinearRows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n, uint8_t* to);
                  void CubicPixels(const uint8_t* from, const int32_t* offsets, const int32_t* outer, const int32_t* inner, int64_t n,
                                   int64_t channels, float* to);
                  void MixFloatRows(const float* const* rows, const float* weight, int taps, int64_t n, float* to);
                  void MixCubicRows(const float* const* rows, const float* weight, int64_t n, uint8_t* to);)

namespace image {

void CubicWeights(float x, float* w) {
  constexpr float a = -0.75f;
  w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.f - w[0] - w[1] - w[2];
}

// sinc(x) sinc(x / 4). The sines of the eight taps are those of one angle, turned by multiples of
// 45 degrees.
void LanczosWeights(float x, float* w) {
  constexpr double h = 0.70710678118654752440, pi = 3.1415926535897932384626433832795;
  static const double turns[8][2] = {{1, 0}, {-h, -h}, {0, 1}, {h, -h}, {-1, 0}, {h, h}, {0, -1}, {-h, h}};
  if (x < std::numeric_limits<float>::epsilon()) {
    std::fill(w, w + 8, 0.f);
    w[3] = 1;
    return;
  }
  float sum = 0;
  const double y0 = -(x + 3) * pi * 0.25, s0 = std::sin(y0), c0 = std::cos(y0);
  for (int i = 0; i < 8; ++i) {
    const double y = -(x + 3 - static_cast<float>(i)) * pi * 0.25;
    w[i] = static_cast<float>((turns[i][0] * s0 + turns[i][1] * c0) / (y * y));
    sum += w[i];
  }
  sum = 1.f / sum;
  for (int i = 0; i < 8; ++i) w[i] *= sum;
}

namespace {

constexpr int kFixedBits = 11, kFixedOne = 1 << kFixedBits;

// Taps of one axis: position d of the part of the result is the sum over k of weight[d * taps + k]
// times source[at[d * taps + k]].
struct Taps {
  int taps = 0;
  std::vector<int64_t> at;
  std::vector<float> weight;
  std::vector<int> fixed;  // the weights times kFixedOne
};

// The tap left of the sample, and how far behind it the sample lies.
int64_t SamplePlace(const Axis& axis, bool area, int64_t d, float* fraction) {
  if (area) {  // of an image that grows
    const int64_t s = static_cast<int64_t>(std::floor(static_cast<double>(d) * axis.scale));
    const float f = static_cast<float>(static_cast<double>(d + 1) - static_cast<double>(s + 1) * axis.inverse);
    *fraction = f <= 0 ? 0.f : f - std::floor(f);
    return s;
  }
  const float f = static_cast<float>((static_cast<double>(d) + 0.5) * axis.scale - 0.5);
  const int64_t s = static_cast<int64_t>(std::floor(f));
  *fraction = f - static_cast<float>(s);
  return s;
}

Taps MakeTaps(const Axis& axis, Interpolation method, bool columns) {
  Taps t;
  t.taps = method == kCubic ? 4 : method == kLanczos ? 8 : 2;
  t.at.resize(static_cast<size_t>(axis.count * t.taps));
  t.weight.resize(t.at.size());
  for (int64_t d = 0; d < axis.count; ++d) {
    float f, *w = &t.weight[static_cast<size_t>(d * t.taps)];
    int64_t s = SamplePlace(axis, method == kArea, axis.first + d, &f);
    if (t.taps == 2 && columns && s < 0) s = 0, f = 0;
    if (t.taps == 2 && columns && s >= axis.from - 1) s = axis.from - 1, f = 0;
    if (method == kCubic) {
      CubicWeights(f, w);
    } else if (method == kLanczos) {
      LanczosWeights(f, w);
    } else {
      w[0] = 1.f - f, w[1] = f;
    }
    for (int k = 0; k < t.taps; ++k)
      t.at[static_cast<size_t>(d * t.taps + k)] = std::min(std::max<int64_t>(s + k - (t.taps / 2 - 1), 0), axis.from - 1);
  }
  t.fixed.resize(t.weight.size());
  for (size_t i = 0; i < t.fixed.size(); ++i) t.fixed[i] = Round(static_cast<double>(t.weight[i] * kFixedOne));
  return t;
}

template <typename T, int kTaps, int kChannels, typename To>
void FilterRow(const T* from, const Taps& taps, int64_t channels, int64_t first, int64_t width, To* to) {
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t d = first; d < width; ++d) {
    const int64_t* at = &taps.at[static_cast<size_t>(d * kTaps)];
    const T* tap[kTaps];
    Sum<T> w[kTaps];
    for (int k = 0; k < kTaps; ++k) {
      tap[k] = from + at[k] * channels;
      if constexpr (std::is_same<T, uint8_t>::value)
        w[k] = taps.fixed[static_cast<size_t>(d * kTaps + k)];
      else
        w[k] = static_cast<T>(taps.weight[static_cast<size_t>(d * kTaps + k)]);
    }
    for (int64_t c = 0; c < channels; ++c) {
      Sum<T> sum = static_cast<Sum<T>>(tap[0][c]) * w[0];
      for (int k = 1; k < kTaps; ++k) sum += static_cast<Sum<T>>(tap[k][c]) * w[k];
      to[d * channels + c] = static_cast<To>(sum);
    }
  }
}

// From pixel `first` of the result on.
template <typename T, int kTaps, typename To>
void FilterRowOf(const T* from, const Taps& taps, int64_t channels, int64_t first, int64_t width, To* to) {
  if (channels == 3) return FilterRow<T, kTaps, 3>(from, taps, channels, first, width, to);
  if (channels == 1) return FilterRow<T, kTaps, 1>(from, taps, channels, first, width, to);
  FilterRow<T, kTaps, 0>(from, taps, channels, first, width, to);
}

// How many pixels of three or four floats may be read as four: one lies behind their taps.
template <int kTaps>
int64_t WidePixels(const Taps& taps, int64_t channels, int64_t pixels, int64_t width) {
  if (channels != 3 && channels != 4) return 0;
  int64_t n = 0;
  while (n < width && taps.at[static_cast<size_t>((n + 1) * kTaps - 1)] < pixels - (channels == 3 ? 1 : 0)) ++n;
  return n;
}

// Filters the first n pixels; four elements are written for each.
template <int kTaps, int kChannels>
void FilterFloats(const float* from, const Taps& taps, int64_t n, float* to) {
#if defined(__SSE4_1__)
  const int64_t* at = taps.at.data();
  const float* w = taps.weight.data();
  for (int64_t d = 0; d < n; ++d, at += kTaps, w += kTaps) {
    __m128 sum = _mm_mul_ps(_mm_loadu_ps(from + at[0] * kChannels), _mm_set1_ps(w[0]));
    for (int k = 1; k < kTaps; ++k) sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(from + at[k] * kChannels), _mm_set1_ps(w[k])));
    _mm_storeu_ps(to + d * kChannels, sum);
  }
#else
  FilterRow<float, kTaps, kChannels>(from, taps, kChannels, 0, n, to);
#endif
}

// Pixels of one float whose taps lie side by side, from `first` to `end`.
struct TapRun {
  int64_t first = 0, end = 0;
  TapRun(const Taps& taps, int64_t width) {
    auto good = [&](int64_t d) {
      const int64_t* at = &taps.at[static_cast<size_t>(d * taps.taps)];
      return at[taps.taps - 1] == at[0] + taps.taps - 1;
    };
    while (first < width && !good(first)) ++first;
    for (end = first; end < width && good(end);) ++end;
  }
};

// Four at a time: how far it came.
template <int kTaps>
int64_t FilterGray(const float* from, const Taps& taps, const TapRun& run, float* to) {
  int64_t d = run.first;
#if defined(__SSE4_1__)
  for (; d + 4 <= run.end; d += 4) {
    const int64_t* at = &taps.at[static_cast<size_t>(d * kTaps)];
    const float* w = &taps.weight[static_cast<size_t>(d * kTaps)];
    __m128 sum;
    if constexpr (kTaps == 2) {
      auto two = [&](int k) {  // products of two pixels
        const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(from + at[2 * k]));
        return _mm_mul_ps(_mm_loadh_pi(low, reinterpret_cast<const __m64*>(from + at[2 * k + 2])), _mm_loadu_ps(w + 2 * k));
      };
      const __m128 a = two(0), b = two(2);
      sum = _mm_add_ps(_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd));
    } else {
      for (int half = 0; half < kTaps; half += 4) {
        auto four = [&](int k) { return _mm_mul_ps(_mm_loadu_ps(from + at[k * kTaps] + half), _mm_loadu_ps(w + k * kTaps + half)); };
        __m128 a = four(0), b = four(1), c = four(2), e = four(3);
        _MM_TRANSPOSE4_PS(a, b, c, e);
        sum = _mm_add_ps(_mm_add_ps(_mm_add_ps(half == 0 ? a : _mm_add_ps(sum, a), b), c), e);
      }
    }
    _mm_storeu_ps(to + d, sum);
  }
#endif
  return d;
}

// Mixes filtered rows of floats or doubles.
template <typename T, int kTaps>
void MixRows(const T* const* rows, const float* weight, const int*, int64_t n, T* to) {
  if constexpr (std::is_same<T, float>::value) return MXNET_CPU_CALL(MixFloatRows)(rows, weight, kTaps, n, to);
  T w[kTaps];
  for (int k = 0; k < kTaps; ++k) w[k] = static_cast<T>(weight[k]);
  for (int64_t i = 0; i < n; ++i) {
    T sum = rows[0][i] * w[0];
    for (int k = 1; k < kTaps; ++k) sum += rows[k][i] * w[k];
    to[i] = sum;
  }
}

template <typename T, int kTaps>
void MixRows(const int* const* rows, const float*, const int* fixed, int64_t n, uint8_t* to) {
  for (int64_t i = 0; i < n; ++i) {
    int sum = 0;
    for (int k = 0; k < kTaps; ++k) sum += rows[k][i] * fixed[k];
    to[i] = Saturated<uint8_t>((sum + (1 << (2 * kFixedBits - 1))) >> (2 * kFixedBits));
  }
}

template <int kTaps>
void FilterFloatRow(const float* from, const Taps& taps, int64_t channels, int64_t wide, const TapRun& run, int64_t width, float* to) {
  if (channels == 1) {
    FilterRowOf<float, kTaps>(from, taps, channels, 0, run.first, to);
    wide = FilterGray<kTaps>(from, taps, run, to);
  } else if (channels == 3) {
    FilterFloats<kTaps, 3>(from, taps, wide, to);
  } else if (channels == 4) {
    FilterFloats<kTaps, 4>(from, taps, wide, to);
  }
  FilterRowOf<float, kTaps>(from, taps, channels, wide, width, to);
}

template <typename T, int kTaps>
void Separable(const Picture<T>& p, Interpolation method) {
  const Taps columns = MakeTaps(p.columns(), method, true), lines = MakeTaps(p.lines(), method, false);
  const int64_t n = p.row(), room = n + 1, channels = p.size.channels;
  const int64_t wide = std::is_same<T, float>::value ? WidePixels<kTaps>(columns, channels, p.size.width, p.width) : 0;
  const TapRun run(columns, p.width);
  p.Rows([&](int64_t begin, int64_t end) {
    std::vector<Sum<T>> rows(static_cast<size_t>(room * kTaps));
    int64_t held[kTaps];  // which row of the source lies filtered in which place
    std::fill(held, held + kTaps, -1);
    for (int64_t y = begin; y < end; ++y) {
      const int64_t* at = &lines.at[static_cast<size_t>(y * kTaps)];
      const Sum<T>* mixed[kTaps];
      for (int k = 0; k < kTaps; ++k) {  // at[k] % kTaps: neighbours never share a place
        const int64_t place = at[k] % kTaps;
        Sum<T>* row = &rows[static_cast<size_t>(place * room)];
        if (held[place] != at[k]) {
          const T* from = p.from + at[k] * p.pitch;
          if constexpr (std::is_same<T, float>::value) {
            FilterFloatRow<kTaps>(from, columns, channels, wide, run, p.width, row);
          } else {
            FilterRowOf<T, kTaps>(from, columns, channels, 0, p.width, row);
          }
        }
        held[place] = at[k];
        mixed[k] = row;
      }
      MixRows<T, kTaps>(mixed, &lines.weight[static_cast<size_t>(y * kTaps)], &lines.fixed[static_cast<size_t>(y * kTaps)], n,
                        p.to + y * n);
    }
  });
}

// Pixels of three channels whose two neighbours lie side by side and may be read as 8 bytes: the
// first `count` of a row.
struct NearPixels {
  int64_t count = 0;
  std::vector<int32_t> offsets, weights;
  NearPixels(const Taps& taps, int64_t pixels, int64_t width) {
    for (; count < width; ++count) {
      const size_t i = static_cast<size_t>(2 * count);
      if (taps.at[i + 1] != taps.at[i] + 1 || 3 * taps.at[i] + 8 > 3 * pixels || taps.at[i] > (1 << 29)) return;
      offsets.push_back(static_cast<int32_t>(3 * taps.at[i]));
      weights.push_back(taps.fixed[i + 1] << 16 | taps.fixed[i]);
    }
  }
};

// Bilinear filtering of a row of bytes: 15 bits of each sum, from pixel `first` on.
template <int kChannels>
void BilinearRow(const uint8_t* from, const Taps& taps, int64_t channels, int64_t first, int64_t width, int16_t* to) {
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t d = first; d < width; ++d) {
    const size_t i = static_cast<size_t>(2 * d);
    const uint8_t *one = from + taps.at[i] * channels, *next = from + taps.at[i + 1] * channels;
    for (int64_t c = 0; c < channels; ++c)
      to[d * channels + c] = static_cast<int16_t>((one[c] * taps.fixed[i] + next[c] * taps.fixed[i + 1]) >> 4);
  }
}

void BilinearBytes(const Picture<uint8_t>& p, Interpolation method) {
  const Taps columns = MakeTaps(p.columns(), method, true), lines = MakeTaps(p.lines(), method, false);
  const int64_t n = p.row(), room = n + 4, channels = p.size.channels;
  const auto rest = channels == 3 ? BilinearRow<3> : channels == 1 ? BilinearRow<1> : BilinearRow<0>;
  const NearPixels near(columns, p.size.width, channels == 3 ? p.width : 0);
  p.Rows([&](int64_t begin, int64_t end) {
    std::vector<int16_t> rows(static_cast<size_t>(2 * room));
    int64_t held[2] = {-1, -1};
    for (int64_t y = begin; y < end; ++y) {
      const int16_t* mixed[2];
      for (int k = 0; k < 2; ++k) {
        const int64_t at = lines.at[static_cast<size_t>(2 * y + k)], place = at % 2;
        int16_t* row = &rows[static_cast<size_t>(place * room)];
        if (held[place] != at) {
          MXNET_CPU_CALL(BilinearPixels3)(p.from + at * p.pitch, near.offsets.data(), near.weights.data(), near.count, row);
          rest(p.from + at * p.pitch, columns, channels, near.count, p.width, row);
        }
        held[place] = at;
        mixed[k] = row;
      }
      const int16_t a = static_cast<int16_t>(lines.fixed[static_cast<size_t>(2 * y)]),
                    b = static_cast<int16_t>(lines.fixed[static_cast<size_t>(2 * y + 1)]);
      MXNET_CPU_CALL(MixBilinearRows)(mixed[0], mixed[1], a, b, n, p.to + y * n);
    }
  });
}

// Pixels of 1, 3 or 4 channels whose four neighbours lie side by side, and may be read with as many
// bytes as CubicPixels does: from `first` to `end`.
struct CubicRun {
  int64_t first = 0, end = 0;
  std::vector<int32_t> offsets, outer, inner;
  CubicRun(const Taps& taps, int64_t channels, int64_t pixels, int64_t width) {
    if (channels != 1 && channels != 3 && channels != 4) return;
    auto good = [&](int64_t d) {
      const int64_t* at = &taps.at[static_cast<size_t>(4 * d)];
      return at[3] == at[0] + 3 && at[1] == at[0] + 1 && (channels == 1 || at[0] * channels + 16 <= pixels * channels) && at[0] < (1 << 28);
    };
    while (first < width && !good(first)) ++first;
    for (end = first; end < width && good(end); ++end) {
      const int* w = &taps.fixed[static_cast<size_t>(4 * end)];
      offsets.push_back(static_cast<int32_t>(taps.at[static_cast<size_t>(4 * end)] * channels));
      outer.push_back(w[1] * (1 << 16) | (w[0] & 0xffff));
      inner.push_back(w[3] * (1 << 16) | (w[2] & 0xffff));
    }
  }
};

// Bicubic filtering of bytes. Blocks of eight elements of a row are mixed in float, the others in
// fixed point.
void CubicBytes(const Picture<uint8_t>& p) {
  const Taps columns = MakeTaps(p.columns(), kCubic, true), lines = MakeTaps(p.lines(), kCubic, false);
  const int64_t n = p.row(), room = n + 1, channels = p.size.channels, blocks = n / 8 * 8;
  const CubicRun run(columns, channels, p.size.width, p.width);
  constexpr float unit = 1.f / (static_cast<float>(kFixedOne) * kFixedOne);
  p.Rows([&](int64_t begin, int64_t end) {
    std::vector<float> rows(static_cast<size_t>(4 * room));  // of integers
    int64_t held[4] = {-1, -1, -1, -1};
    for (int64_t y = begin; y < end; ++y) {
      const size_t first = static_cast<size_t>(4 * y);
      const float* mixed[4];
      float weight[4];
      for (size_t k = 0; k < 4; ++k) {  // neighbours never share a place
        const int64_t at = lines.at[first + k], place = at % 4;
        float* row = &rows[static_cast<size_t>(place * room)];
        if (held[place] != at) {
          const uint8_t* from = p.from + at * p.pitch;
          FilterRowOf<uint8_t, 4>(from, columns, channels, 0, run.first, row);
          MXNET_CPU_CALL(CubicPixels)
          (from, run.offsets.data(), run.outer.data(), run.inner.data(), run.end - run.first, channels, row + run.first * channels);
          FilterRowOf<uint8_t, 4>(from, columns, channels, run.end, p.width, row);
        }
        held[place] = at;
        mixed[k] = row;
        weight[k] = static_cast<float>(lines.fixed[first + k]) * unit;
      }
      MXNET_CPU_CALL(MixCubicRows)(mixed, weight, blocks, p.to + y * n);
      for (int64_t i = blocks; i < n; ++i) {
        int sum = 0;
        for (size_t k = 0; k < 4; ++k) sum += static_cast<int>(mixed[k][i]) * lines.fixed[first + k];
        p.to[y * n + i] = Saturated<uint8_t>((sum + (1 << (2 * kFixedBits - 1))) >> (2 * kFixedBits));
      }
    }
  });
}

template <typename T>
void Nearest(const Picture<T>& p) {
  const Axis x = p.columns(), y = p.lines();
  const int64_t bytes = p.size.channels * static_cast<int64_t>(sizeof(T)), row = p.width * bytes;
  std::vector<int64_t> at(static_cast<size_t>(p.width));  // in bytes
  auto place = [](const Axis& axis, int64_t d) {
    return std::min(static_cast<int64_t>(std::floor(static_cast<double>(axis.first + d) * axis.scale)), axis.from - 1);
  };
  for (int64_t d = 0; d < p.width; ++d) at[static_cast<size_t>(d)] = place(x, d) * bytes;
  p.Rows([&](int64_t begin, int64_t end) {
    int64_t before = -1;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t line = place(y, r);
      auto* to = reinterpret_cast<char*>(p.to + r * p.row());
      if (line == before)
        std::memcpy(to, to - row, static_cast<size_t>(row));
      else
        PickPixels(reinterpret_cast<const char*>(p.from + line * p.pitch), at.data(), p.width, bytes, to);
      before = line;
    }
  });
}

// Bilinear with weights of 8 bits and one rounding at the end.
void LinearExact(const Picture<uint8_t>& p) {
  struct Pair {
    int64_t a, b;
    int wa, wb;
  };
  auto pairs = [](const Axis& axis) {
    std::vector<Pair> all(static_cast<size_t>(axis.count));
    for (int64_t d = 0; d < axis.count; ++d) {
      const double f = (static_cast<double>(axis.first + d) + 0.5) * axis.scale - 0.5;
      const int64_t s = static_cast<int64_t>(std::floor(f));
      const int w = s < 0 || s >= axis.from - 1 ? 0 : Round((f - static_cast<double>(s)) * 256);
      const int64_t a = std::min(std::max<int64_t>(s, 0), axis.from - 1);
      all[static_cast<size_t>(d)] = {a, std::min(a + 1, axis.from - 1), 256 - w, w};
    }
    return all;
  };
  const std::vector<Pair> columns = pairs(p.columns()), lines = pairs(p.lines());
  const int64_t channels = p.size.channels;
  p.Rows([&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Pair& y = lines[static_cast<size_t>(r)];
      const uint8_t *above = p.from + y.a * p.pitch, *below = p.from + y.b * p.pitch;
      uint8_t* to = p.to + r * p.row();
      for (const Pair& x : columns)
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t a = x.a * channels + c, b = x.b * channels + c;
          const int upper = above[a] * x.wa + above[b] * x.wb, lower = below[a] * x.wa + below[b] * x.wb;
          *to++ = static_cast<uint8_t>((upper * y.wa + lower * y.wb + (1 << 15)) >> 16);
        }
    }
  });
}

template <typename T>
void Run(const Picture<T>& p, Interpolation method) {
  if (p.full_height == p.size.height && p.full_width == p.size.width) {
    for (int64_t r = 0; r < p.height; ++r)
      std::memcpy(p.to + r * p.row(), p.from + (p.top + r) * p.pitch + p.left * p.size.channels, static_cast<size_t>(p.row()) * sizeof(T));
    return;
  }
  if (method == kLinearExact) {
    if constexpr (std::is_same<T, uint8_t>::value) return LinearExact(p);
    method = kLinear;
  }
  if (method == kNearest) return Nearest(p);
  const Axis x = p.columns(), y = p.lines();
  const bool blocks = x.IsWhole() && y.IsWhole();
  if (method == kLinear && blocks && x.Whole() == 2 && y.Whole() == 2) method = kArea;
  if (method == kArea && x.Shrinks() && y.Shrinks()) {
    return ShrinkToMeans(p);
  }
  if (method == kCubic) {
    if constexpr (std::is_same<T, uint8_t>::value) return CubicBytes(p);
    return Separable<T, 4>(p, method);
  }
  if (method == kLanczos) return Separable<T, 8>(p, method);
  if constexpr (std::is_same<T, uint8_t>::value)
    BilinearBytes(p, method);
  else
    Separable<T, 2>(p, method);
}

}  // namespace

bool CanResample(int dtype, int method) {
  if (method < 0 || method >= kInterpolations) return false;
  if (method == kNearest && (dtype == kInt8 || dtype == kInt32 || dtype == kInt64)) return true;
  return dtype == kUint8 || dtype == kFloat32 || dtype == kFloat64;
}

void Resample(int dtype, Interpolation method, const void* from, ImageSize size, int64_t pitch, void* to, int64_t height, int64_t width) {
  auto picture = [&](auto tag) {
    using T = decltype(tag);
    return Picture<T>{static_cast<const T*>(from), size, pitch, static_cast<T*>(to), height, width, 0, 0, height, width, false};
  };
  auto run = [&](auto tag) { Run(picture(tag), method); };
  if (dtype == kInt8) return Nearest(picture(int8_t{}));
  if (dtype == kInt32) return Nearest(picture(int32_t{}));
  if (dtype == kInt64) return Nearest(picture(int64_t{}));
  if (dtype == kUint8) return run(uint8_t{});
  if (dtype == kFloat32) return run(float{});
  run(double{});
}

Window ResampleSource(Interpolation method, ImageSize size, int64_t height, int64_t width, const Window& want) {
  if (size.height == height && size.width == width) return want;        // a copy. Else taps of weight 0 are read as well.
  const int64_t margin = method == kLinear || method == kArea ? 2 : 5;  // taps, and more than any rounding
  auto range = [&](int64_t from, int64_t to, int64_t begin, int64_t n, int64_t* first, int64_t* count) {
    const Axis axis(from, to);
    *first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(static_cast<double>(begin) * axis.scale)) - margin);
    *count = std::min(from, static_cast<int64_t>(std::ceil(static_cast<double>(begin + n) * axis.scale)) + margin) - *first;
  };
  Window source;
  range(size.height, height, want.y, want.height, &source.y, &source.height);
  range(size.width, width, want.x, want.width, &source.x, &source.width);
  return source;
}

void ResampleWindow(Interpolation method, const uint8_t* from, ImageSize size, const Window& have, uint8_t* to, int64_t height,
                    int64_t width, const Window& want) {
  // Where the whole source would begin; nothing outside of `have` is read.
  const int64_t pitch = have.width * size.channels, before = have.y * pitch + have.x * size.channels;
  const auto* whole = reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(from) - static_cast<uintptr_t>(before));
  Run(Picture<uint8_t>{whole, size, pitch, to, height, width, want.y, want.x, want.height, want.width, true}, method);
}

}  // namespace image
}  // namespace mxnet
