/* Images that a camera took turned or mirrored. */
#ifndef MXNET_IO_IMAGE_ORIENTATION_H_
#define MXNET_IO_IMAGE_ORIENTATION_H_

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {

/* 1 to 8, as EXIF numbers them; 1, upright, for what is no JPEG file or says nothing. */
int JpegOrientation(const uint8_t* file, size_t size);

/* Makes an image upright that was decoded as it lies in such a file. */
void TurnCanvas(Canvas* canvas, int orientation);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_ORIENTATION_H_
