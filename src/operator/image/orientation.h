/* Images that a camera took turned or mirrored. */
#ifndef MXNET_OPERATOR_IMAGE_ORIENTATION_H_
#define MXNET_OPERATOR_IMAGE_ORIENTATION_H_

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace image {

/* 1 to 8, as EXIF numbers them; 1, upright, for what is no JPEG file or says nothing. As in 1.9.1
 * the first APP1 segment decides. `behind_jfif`: also of a file that begins with a JFIF segment;
 * iterators of 1.9.1 read that, its imdecode does not. */
int JpegOrientation(const uint8_t* file, size_t size, bool behind_jfif);

/* Whether height and width change places. */
inline bool SwapsSides(int orientation) { return orientation >= 5; }

/* Makes an image of height * width upright that was decoded as it lies in such a file. */
void PutUpright(const uint8_t* from, int64_t height, int64_t width, int64_t channels, int orientation, uint8_t* to);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_ORIENTATION_H_
