/* Copies of single pixels. */
#ifndef MXNET_OPERATOR_IMAGE_PICK_PIXELS_H_
#define MXNET_OPERATOR_IMAGE_PICK_PIXELS_H_

#include <cstdint>

namespace mxnet {
namespace image {

/* n pixels of `bytes` bytes, side by side, from those that lie `at` bytes behind `from`. */
void PickPixels(const char* from, const int64_t* at, int64_t n, int64_t bytes, char* to);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_PICK_PIXELS_H_
