// Colours are changed in float (double for float64), a piece of an image at a time.
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/threads/omp.h"
#include "operator/image/colour.h"
#include "operator/image/image_common.h"

namespace mxnet {
namespace image {
namespace {

constexpr int64_t kPiece = 512;      // pixels
constexpr int64_t kGrain = 1 << 12;  // pixels
constexpr float kGray[] = {0.299f, 0.587f, 0.114f};

// Red, green, blue of 0 to 255 to hue (degrees), lightness, saturation and back with another hue
// (Foley et al., Computer Graphics, 13.3). Choices are values rather than branches: colours of
// neighbours differ, and a branch that is guessed wrongly costs more than both values.
template <typename A>
void TurnHues(A* red, A* green, A* blue, int64_t n, A degrees) {
  constexpr A scale = std::is_same<A, double>::value ? static_cast<A>(6.0 / 360.0) : static_cast<A>(6.f / 360.f);
  constexpr A least = static_cast<A>(std::numeric_limits<float>::epsilon());
  for (int64_t i = 0; i < n; ++i) {
    const A r = red[i] / A(255), g = green[i] / A(255), b = blue[i] / A(255);
    const A rg = r > g ? r : g, high = rg > b ? rg : b, gr = r < g ? r : g, low = gr < b ? gr : b, range = high - low;
    const A light = (high + low) * A(0.5);
    const bool gray = !(range > least);
    const A saturation = range / (light < A(0.5) ? high + low : A(2) - high - low), unit = A(60) / (gray ? A(1) : range);
    const A of_red = (g - b) * unit, of_green = (b - r) * unit + A(120), of_blue = (r - g) * unit + A(240);
    A hue = high == r ? of_red : high == g ? of_green : of_blue;
    hue = ((hue < A(0) ? hue + A(360) : hue) + degrees) * scale;
    hue = std::abs(hue) < A(1e6) ? hue : A(0);
    const A turned = hue - std::floor(hue / A(6)) * A(6);
    hue = (hue < A(0)) | (hue >= A(12)) ? turned : hue;
    hue = hue >= A(6) ? hue - A(6) : hue;
    const A upper = light <= A(0.5) ? light * (A(1) + saturation) : light + saturation - light * saturation;
    const A lower = A(2) * light - upper;
    const A floor = std::floor(hue), sector = floor < A(5) ? floor : A(5);
    const A part = hue - sector, down = lower + (upper - lower) * (A(1) - part), up = lower + (upper - lower) * part;
    const A of_r = (sector == A(0)) | (sector == A(5)) ? upper : sector == A(1) ? down : sector == A(4) ? up : lower;
    const A of_g = (sector == A(1)) | (sector == A(2)) ? upper : sector == A(0) ? up : sector == A(3) ? down : lower;
    const A of_b = (sector == A(3)) | (sector == A(4)) ? upper : sector == A(2) ? up : sector == A(5) ? down : lower;
    red[i] = (gray ? light : of_r) * A(255);
    green[i] = (gray ? light : of_g) * A(255);
    blue[i] = (gray ? light : of_b) * A(255);
  }
}

// n pixels; x may be `from`.
template <typename A>
void Change3(const Recolour& how, const A* from, A* x, int64_t n) {
  const A a = static_cast<A>(how.a), b = static_cast<A>(how.b);
  switch (how.change) {
    case Change::kScale:
#pragma GCC ivdep
      for (int64_t i = 0; i < 3 * n; ++i) x[i] = from[i] * a + b;
      return;
    case Change::kSaturation:
      for (int64_t i = 0; i < 3 * n; i += 3) {
        const A red = from[i], green = from[i + 1], blue = from[i + 2];
        const A gray = blue * static_cast<A>(kGray[2]) * b;  // of the last channel alone, as 1.9.1 and 2.0 have it
        x[i] = gray + red * a;
        x[i + 1] = gray + green * a;
        x[i + 2] = gray + blue * a;
      }
      return;
    case Change::kHue: {
      A planes[3][kPiece];
      for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < 3; ++c) planes[c][i] = from[3 * i + c];
      TurnHues(planes[0], planes[1], planes[2], n, a * A(360));
      for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < 3; ++c) x[3 * i + c] = planes[c][i];
      return;
    }
    case Change::kShift: {
      A shift[12];  // of four pixels, so that whole vectors are added
      for (int k = 0; k < 12; ++k) shift[k] = static_cast<A>(how.shift[k % 3]);
      int64_t i = 0;
      for (; i + 12 <= 3 * n; i += 12) {
#pragma GCC ivdep
        for (int k = 0; k < 12; ++k) x[i + k] = from[i + k] + shift[k];
      }
      for (int k = 0; i + k < 3 * n; ++k) x[i + k] = from[i + k] + shift[k];
      return;
    }
  }
}

template <typename T, typename A>
void StorePiece(const A* x, int64_t n, T* to) {
  if constexpr (std::is_same<T, uint8_t>::value) {
    for (int64_t i = 0; i < n; ++i) {
      const A v = x[i] > A(0) ? x[i] : A(0);  // NaN is 0
      to[i] = static_cast<uint8_t>(static_cast<int>(v < A(255) ? v : A(255)));
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = Wrapped<T>(x[i]);
  }
}

template <typename T, typename A>
void LoadPiece(const T* from, int64_t n, A* x) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<A>(from[i]);
}

// f(T{}, A{}): the type of elements and that of computations.
template <typename F>
void Visit(int dtype, F&& f) {
  VisitImageDType(dtype, "_image", [&](auto tag) {
    using T = decltype(tag);
    f(tag, std::conditional_t<std::is_same<T, double>::value, double, float>{});
  });
}

}  // namespace

void RecolourPixels(int dtype, const Recolour& how, const void* from, void* to, int64_t n, int64_t channels) {
  Visit(dtype, [&](auto t, auto a) {
    using T = decltype(t);
    using A = decltype(a);
    const T* source = static_cast<const T*>(from);
    T* result = static_cast<T*>(to);
    if (channels == 1 && how.change != Change::kScale) {
      if (from != to) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
      return;
    }
    const int64_t elements = n * channels;
    ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
      A piece[3 * kPiece];
      for (int64_t at = begin * channels; at < end * channels; at += 3 * kPiece) {
        const int64_t count = std::min(std::min(end * channels, elements) - at, 3 * kPiece);
        if constexpr (std::is_same<T, A>::value) {
          if (channels == 3) {
            Change3(how, source + at, result + at, count / 3);
            continue;
          }
        }
        LoadPiece(source + at, count, piece);
        if (channels == 3) {
          Change3(how, static_cast<const A*>(piece), piece, count / 3);
        } else {
          for (int64_t i = 0; i < count; ++i) piece[i] = piece[i] * static_cast<A>(how.a) + static_cast<A>(how.b);
        }
        StorePiece(piece, count, result + at);
      }
    });
  });
}

double MeanGray(int dtype, const void* from, int64_t n, int64_t channels) {
  double mean = 0;
  Visit(dtype, [&](auto t, auto a) {
    using T = decltype(t);
    using A = decltype(a);
    const T* source = static_cast<const T*>(from);
    const int64_t pieces = (n + kGrain - 1) / kGrain;  // sums of pieces are added in their order, whatever the threads
    std::vector<double> sums(static_cast<size_t>(pieces));
    ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        double sum = 0;
        for (int64_t i = p * kGrain; i < std::min(n, (p + 1) * kGrain); ++i) {
          const T* x = source + i * channels;
          if (channels == 1)
            sum += static_cast<double>(x[0]);
          else
            sum += static_cast<double>(static_cast<A>(x[0]) * kGray[0] + static_cast<A>(x[1]) * kGray[1] + static_cast<A>(x[2]) * kGray[2]);
        }
        sums[static_cast<size_t>(p)] = sum;
      }
    });
    for (double s : sums) mean += s;
    mean /= static_cast<double>(n);
  });
  return mean;
}

}  // namespace image
}  // namespace mxnet
