/*
 * Decoders of image files live in shared objects beside libmxnet.so, which are opened when the
 * first file is decoded: who decodes nothing does not load OpenCV and what that needs. The
 * objects contain nothing but one function each, and use nothing of libmxnet.so.
 *
 *   libmxnet_jpeg.so     *_jpeg.cc    JPEG files of one or three channels, by libjpeg-turbo
 *   libmxnet_opencv.so   *_opencv.cc  the others, by OpenCV
 */
#ifndef MXNET_OPERATOR_IMAGE_CODEC_H_
#define MXNET_OPERATOR_IMAGE_CODEC_H_

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace image {

struct DecodeRequest {
  const uint8_t* bytes;
  size_t size;
  bool gray;        // one channel, else three
  bool blue_first;  // else red first
  /* Memory for height * width pixels, rows one behind the other; null: give up. Called once at
   * most. Does not throw. */
  uint8_t* (*allocate)(void* context, int64_t height, int64_t width);
  void* context;
  char message[200];  // why it failed
};

enum class Decoded : int { kDone, kNotMine, kFailed };

/* The function that an object exports, under kDecodeFunction. Any number of threads may call it. */
using DecodeFunction = Decoded (*)(DecodeRequest*);
#define MXNET_DECODE_FUNCTION mxnet_decode_image

/* Pixels that a file of so many bytes may have: all formats need some bits for a block of pixels. A
 * file that promises more is damaged, and memory for it is not allocated. */
inline bool PlausiblePixels(int64_t height, int64_t width, size_t bytes) {
  constexpr double kAlways = 1 << 24, kPerByte = 8192;
  return height > 0 && width > 0 &&
         static_cast<double>(height) * static_cast<double>(width) <= kAlways + kPerByte * static_cast<double>(bytes);
}

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_CODEC_H_
