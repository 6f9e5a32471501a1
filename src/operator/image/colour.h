/* Changes of colour as functions of pixels in float or double: what the records of colour.cc do to
 * pieces of an image. */
#ifndef MXNET_OPERATOR_IMAGE_COLOUR_H_
#define MXNET_OPERATOR_IMAGE_COLOUR_H_

#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {
namespace image {

enum class Change { kScale, kSaturation, kHue, kShift };

/*
 * kScale       x * a + b
 * kSaturation  x * a + gray * b
 * kHue         the hue turned by a * 360 degrees
 * kShift       x + shift of its channel
 */
struct Recolour {
  Change change = Change::kScale;
  float a = 1, b = 0;
  float shift[3] = {0, 0, 0};
};

/*
 * to = the change of from, n pixels of 1 or 3 channels; hues and shifts leave one channel as it is.
 * Bytes are limited to 0 to 255, other integers wrap; both keep the integral part. `from` and `to`
 * may be one array.
 */
void RecolourPixels(int dtype, const Recolour& how, const void* from, void* to, int64_t n, int64_t channels);

/* Mean brightness: 0.299 R + 0.587 G + 0.114 B, or the mean of one channel. */
double MeanGray(int dtype, const void* from, int64_t n, int64_t channels);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_COLOUR_H_
