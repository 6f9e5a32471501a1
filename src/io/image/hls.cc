// Hue, lightness and saturation (Foley et al., Computer Graphics, 13.3) with 8 bits each, as OpenCV
// has them: hue in units of two degrees.
#include <algorithm>
#include <cmath>

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {
namespace {

int Byte(float v) { return static_cast<int>(std::lrint(std::min(std::max(v, 0.f), 255.f))); }

void ToHls(const uint8_t* rgb, int* hls) {
  const float r = static_cast<float>(rgb[0]) / 255, g = static_cast<float>(rgb[1]) / 255, b = static_cast<float>(rgb[2]) / 255;
  const float high = std::max(std::max(r, g), b), low = std::min(std::min(r, g), b), range = high - low, light = (high + low) * 0.5f;
  float hue = 0, saturation = 0;
  if (range > 1e-7f) {
    saturation = light < 0.5f ? range / (high + low) : range / (2 - high - low);
    const float unit = 60.f / range;
    hue = high == r ? (g - b) * unit : high == g ? (b - r) * unit + 120 : (r - g) * unit + 240;
    if (hue < 0) hue += 360;
  }
  hls[0] = Byte(hue * 0.5f), hls[1] = Byte(light * 255), hls[2] = Byte(saturation * 255);
}

void FromHls(const int* hls, uint8_t* rgb) {
  const float light = static_cast<float>(hls[1]) / 255, saturation = static_cast<float>(hls[2]) / 255;
  if (hls[2] == 0) {
    rgb[0] = rgb[1] = rgb[2] = static_cast<uint8_t>(hls[1]);
    return;
  }
  const float upper = light <= 0.5f ? light * (1 + saturation) : light + saturation - light * saturation, lower = 2 * light - upper;
  float hue = static_cast<float>(hls[0]) / 30;
  if (hue >= 6) hue -= 6;
  const int sector = std::min(static_cast<int>(hue), 5);
  const float part = hue - static_cast<float>(sector), down = lower + (upper - lower) * (1 - part), up = lower + (upper - lower) * part;
  const float all[6][3] = {{upper, up, lower},   {down, upper, lower}, {lower, upper, up},
                           {lower, down, upper}, {up, lower, upper},   {upper, lower, down}};
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(Byte(all[sector][c] * 255));
}

}  // namespace

void ShiftHls(Pixels* image, int hue, int lightness, int saturation) {
  for (int64_t i = 0; i < image->height * image->width; ++i) {
    int hls[3];
    ToHls(image->pixels + 3 * i, hls);
    hls[0] = std::min(std::max(hls[0] + hue, 0), 180);
    hls[1] = std::min(std::max(hls[1] + lightness, 0), 255);
    hls[2] = std::min(std::max(hls[2] + saturation, 0), 255);
    FromHls(hls, image->pixels + 3 * i);
  }
}

}  // namespace image
}  // namespace mxnet
