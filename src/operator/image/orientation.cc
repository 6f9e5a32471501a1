// How a camera was held, from the EXIF block of JPEG files (CIPA DC-008, tag 274).
#include "operator/image/orientation.h"

#include <cstring>

namespace mxnet {
namespace image {
namespace {

uint32_t Number(const uint8_t* p, int bytes, bool little) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v = v << 8 | p[little ? bytes - 1 - i : i];
  return v;
}

// Of a TIFF block.
int InTiff(const uint8_t* p, size_t size) {
  if (size < 8) return 1;
  const bool little = p[0] == 'I';
  if (std::memcmp(p, little ? "II\x2a\0" : "MM\0\x2a", 4) != 0) return 1;
  const size_t at = Number(p + 4, 4, little);
  if (at + 2 > size) return 1;
  const size_t count = Number(p + at, 2, little);
  for (size_t i = 0; i < count && at + 2 + 12 * (i + 1) <= size; ++i) {
    const uint8_t* entry = p + at + 2 + 12 * i;
    if (Number(entry, 2, little) != 0x112) continue;
    const uint32_t value = Number(entry + 8, 2, little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int JpegOrientation(const uint8_t* file, size_t size, bool behind_jfif) {
  if (size < 4 || file[0] != 0xff || file[1] != 0xd8) return 1;
  for (size_t at = 2; at + 4 <= size && file[at] == 0xff;) {
    const uint8_t marker = file[at + 1];
    if (marker == 0xff || marker == 0xda || marker == 0xd9) return 1;  // filling, or pixels begin
    const size_t length = Number(file + at + 2, 2, false);
    if (length < 2 || at + 2 + length > size) return 1;
    const auto is = [&](const char* name, size_t count) { return length >= 2 + count && std::memcmp(file + at + 4, name, count) == 0; };
    if (marker == 0xe1) return is("Exif\0\0", 6) ? InTiff(file + at + 10, length - 8) : 1;
    if (marker == 0xe0 && !behind_jfif && is("JFIF", 5)) return 1;
    at += 2 + length;
  }
  return 1;
}

void PutUpright(const uint8_t* from, int64_t from_height, int64_t from_width, int64_t channels, int orientation, uint8_t* to) {
  const bool swap = SwapsSides(orientation), up = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8,
             left = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const int64_t height = swap ? from_width : from_height, width = swap ? from_height : from_width;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t v = up ? height - 1 - y : y, u = left ? width - 1 - x : x;
      const uint8_t* pixel = from + (swap ? u * from_width + v : v * from_width + u) * channels;
      for (int64_t c = 0; c < channels; ++c) *to++ = pixel[c];
    }
}

}  // namespace image
}  // namespace mxnet
