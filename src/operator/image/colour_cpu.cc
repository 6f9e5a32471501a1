// Colours are changed in float (double for float64), a piece of an image at a time.
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/omp.h"
#include "operator/image/colour.h"
#include "operator/image/image_common.h"

namespace mxnet {
namespace image {
namespace {

constexpr int64_t kPiece = 512;      // pixels
constexpr int64_t kGrain = 1 << 12;  // pixels
constexpr float kGray[] = {0.299f, 0.587f, 0.114f};

// Red, green, blue of 0 to 255 to hue (degrees), lightness, saturation and back with another hue
// (Foley et al., Computer Graphics, 13.3).
template <typename A>
void TurnHue(A* rgb, A degrees) {
  const A r = rgb[0] / A(255), g = rgb[1] / A(255), b = rgb[2] / A(255);
  const A high = std::max(std::max(r, g), b), low = std::min(std::min(r, g), b), range = high - low;
  const A light = (high + low) * A(0.5);
  if (!(range > static_cast<A>(std::numeric_limits<float>::epsilon()))) {  // gray
    rgb[0] = rgb[1] = rgb[2] = light * A(255);
    return;
  }
  const A saturation = light < A(0.5) ? range / (high + low) : range / (A(2) - high - low), unit = A(60) / range;
  A hue = high == r ? (g - b) * unit : high == g ? (b - r) * unit + A(120) : (r - g) * unit + A(240);
  if (hue < 0) hue += A(360);
  hue = (hue + degrees) * (std::is_same<A, double>::value ? static_cast<A>(6.0 / 360.0) : static_cast<A>(6.f / 360.f));
  if (!(std::abs(hue) < A(1e6))) hue = 0;
  if (hue < 0 || hue >= 12) hue -= std::floor(hue / A(6)) * A(6);
  if (hue >= 6) hue -= A(6);
  const A upper = light <= A(0.5) ? light * (A(1) + saturation) : light + saturation - light * saturation;
  const A lower = A(2) * light - upper;
  const int sector = std::min(static_cast<int>(hue), 5);
  const A part = hue - static_cast<A>(sector), down = lower + (upper - lower) * (A(1) - part), up = lower + (upper - lower) * part;
  const A values[] = {upper, lower, down, up};
  static const int places[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
  for (int c = 0; c < 3; ++c) rgb[c] = values[places[sector][c]] * A(255);
}

template <typename A>
void Change3(const Recolour& how, A* x, int64_t n) {
  const A a = static_cast<A>(how.a), b = static_cast<A>(how.b);
  switch (how.change) {
    case Change::kScale:
      for (int64_t i = 0; i < 3 * n; ++i) x[i] = x[i] * a + b;
      return;
    case Change::kSaturation:
      for (int64_t i = 0; i < n; ++i) {
        const A gray = x[3 * i + 2] * static_cast<A>(kGray[2]) * b;  // of the last channel alone, as 1.9.1 and 2.0 have it
        for (int c = 0; c < 3; ++c) x[3 * i + c] = gray + x[3 * i + c] * a;
      }
      return;
    case Change::kHue:
      for (int64_t i = 0; i < n; ++i) TurnHue(x + 3 * i, a * A(360));
      return;
    case Change::kShift:
      for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < 3; ++c) x[3 * i + c] += static_cast<A>(how.shift[c]);
      return;
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
        LoadPiece(source + at, count, piece);
        if (channels == 3) {
          Change3(how, piece, count / 3);
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
