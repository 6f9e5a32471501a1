#include <algorithm>
#include <cmath>

#include "base/cpu_dispatch.h"
#include "io/image/pipeline.h"
#include "mxnet/error.h"

namespace mxnet {

MXNET_CPU_DECLARE(void RowToFloats(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const float* mean, const float* factor,
                                   const float* mean_row, float contrast, float illumination, float* to, int64_t plane);
                  void RowToBytes(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const int* shift, uint8_t* to,
                                  int64_t plane);
                  void RowToFloatsLast(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const float* mean,
                                       const float* factor, const float* mean_row, int64_t plane, float contrast, float illumination,
                                       float* to);
                  void RowToBytesLast(const uint8_t* from, int64_t n, int64_t channels, bool mirror, const int* shift, uint8_t* to);)

namespace image {

void WriteElements(const Pixels& image, const Normalization& how, bool mirror, bool channels_last, int dtype, void* to) {
  const int64_t plane = image.height * image.width, row = image.width * image.channels;
  int shift[4];
  for (int c = 0; c < 4; ++c) shift[c] = static_cast<int>(std::lround(std::min(std::max(how.mean[c], -1e6f), 1e6f)));
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t* from = image.pixels + y * row;
    const int64_t at = y * image.width;
    const float* mean_row = how.mean_image ? how.mean_image + at : nullptr;
    const int* shifts = dtype == kInt8 ? shift : nullptr;
    if (dtype == kFloat32 && channels_last) {
      MXNET_CPU_CALL(RowToFloatsLast)
      (from, image.width, image.channels, mirror, how.mean, how.factor, mean_row, plane, how.contrast, how.illumination,
       static_cast<float*>(to) + y * row);
    } else if (dtype == kFloat32) {
      MXNET_CPU_CALL(RowToFloats)
      (from, image.width, image.channels, mirror, how.mean, how.factor, mean_row, how.contrast, how.illumination,
       static_cast<float*>(to) + at, plane);
    } else if (channels_last) {
      MXNET_CPU_CALL(RowToBytesLast)(from, image.width, image.channels, mirror, shifts, static_cast<uint8_t*>(to) + y * row);
    } else {
      MXNET_CPU_CALL(RowToBytes)(from, image.width, image.channels, mirror, shifts, static_cast<uint8_t*>(to) + at, plane);
    }
  }
}

}  // namespace image
}  // namespace mxnet
