/* Affine warping of images. */
#ifndef MXNET_IO_IMAGE_WARP_H_
#define MXNET_IO_IMAGE_WARP_H_

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {

/*
 * The pixel at (x, y) goes to (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]) of a new image, of
 * which the part `want` is made. What lies outside of the old one is `fill`. Methods but kCubic and
 * kLanczos are bilinear.
 */
void WarpCanvas(Canvas* canvas, const double matrix[6], const Window& want, int method, int fill);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_WARP_H_
