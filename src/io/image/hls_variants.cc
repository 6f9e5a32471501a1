// Hue, lightness and saturation (Foley et al., Computer Graphics, 13.3) with 8 bits each, as OpenCV
// has them: hue in units of two degrees. Choices are values rather than branches, as in
// operator/image/colour_cpu.cc.
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace {

constexpr int64_t kPiece = 512;  // pixels that are taken apart at once

// Limited after it is rounded: rounding only what is in range would be a branch.
inline int Byte(float v) {
  const float whole = std::nearbyint(v), low = whole > 0.f ? whole : 0.f;
  return static_cast<int>(low < 255.f ? low : 255.f);
}

// Which value is red, green and blue in each sector. A table: choices by `?:` became branches.
constexpr uint8_t kChosen[6][3] = {{0, 1, 3}, {2, 0, 3}, {3, 0, 1}, {3, 2, 0}, {1, 3, 0}, {0, 3, 2}};

inline int Limited(int v, int most) {
  const int low = v > 0 ? v : 0;
  return low < most ? low : most;
}

// n pixels of three planes: the sixth of the circle that their hues lie in, and the values that
// kChosen chooses from.
void ShiftPlanes(const int* red, const int* green, const int* blue, int64_t n, int by_hue, int by_light, int by_saturation, int* sectors,
                 int (*values)[kPiece]) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float r = static_cast<float>(red[i]) / 255, g = static_cast<float>(green[i]) / 255, b = static_cast<float>(blue[i]) / 255;
    const float rg = r > g ? r : g, high = rg > b ? rg : b, gr = r < g ? r : g, low = gr < b ? gr : b;
    const float range = high - low, mean = (high + low) * 0.5f;
    const bool gray = !(range > 1e-7f);
    const float of_range = range / (mean < 0.5f ? high + low : 2 - high - low), unit = 60.f / (gray ? 1.f : range);
    const float of_red = (g - b) * unit, of_green = (b - r) * unit + 120, of_blue = (r - g) * unit + 240;
    const float turn = high == r ? of_red : high == g ? of_green : of_blue, degrees = turn < 0 ? turn + 360 : turn;
    const int h = Limited(Byte((gray ? 0.f : degrees) * 0.5f) + by_hue, 180), l = Limited(Byte(mean * 255) + by_light, 255),
              s = Limited(Byte((gray ? 0.f : of_range) * 255) + by_saturation, 255);
    const float light = static_cast<float>(l) / 255, saturation = static_cast<float>(s) / 255;
    const float upper = light <= 0.5f ? light * (1 + saturation) : light + saturation - light * saturation, lower = 2 * light - upper;
    const float sixths = static_cast<float>(h) / 30, hue = sixths >= 6 ? sixths - 6 : sixths;
    const float whole = std::floor(hue), sector = whole < 5 ? whole : 5;
    const float part = hue - sector, down = lower + (upper - lower) * (1 - part), up = lower + (upper - lower) * part;
    sectors[i] = static_cast<int>(sector);
    values[0][i] = Byte(upper * 255);  // of saturation 0, all four are the lightness
    values[1][i] = Byte(up * 255);
    values[2][i] = Byte(down * 255);
    values[3][i] = Byte(lower * 255);
  }
}

}  // namespace

namespace MXNET_CPU_VARIANT {

/* Adds to hue (0 to 180), lightness and saturation (0 to 255) of n pixels, red, green and blue. */
void ShiftHlsPixels(uint8_t* pixels, int64_t n, int hue, int lightness, int saturation) {
  int planes[3][kPiece], sectors[kPiece], values[4][kPiece];
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t count = std::min(n - at, kPiece);
    uint8_t* piece = pixels + 3 * at;
    for (int64_t i = 0; i < count; ++i)
      for (int c = 0; c < 3; ++c) planes[c][i] = piece[3 * i + c];
    ShiftPlanes(planes[0], planes[1], planes[2], count, hue, lightness, saturation, sectors, values);
    for (int64_t i = 0; i < count; ++i)
      for (int c = 0; c < 3; ++c) piece[3 * i + c] = static_cast<uint8_t>(values[kChosen[sectors[i]][c]][i]);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
