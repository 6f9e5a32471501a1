#include "base/cpu_dispatch.h"
#include "io/image/pipeline.h"

namespace mxnet {

MXNET_CPU_DECLARE(void ShiftHlsPixels(uint8_t* pixels, int64_t n, int hue, int lightness, int saturation);)

namespace image {

void ShiftHls(Pixels* image, int hue, int lightness, int saturation) {
  MXNET_CPU_CALL(ShiftHlsPixels)(image->pixels, image->height * image->width, hue, lightness, saturation);
}

}  // namespace image
}  // namespace mxnet
