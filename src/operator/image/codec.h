/*
 * Decoders and encoders of image files live in shared objects beside libmxnet.so, which are opened
 * when the first file is decoded or encoded: who does neither does not load OpenCV and what that
 * needs. The objects contain nothing but two functions each, and use nothing of libmxnet.so.
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
  bool gray;        // one channel, else three, unless `unchanged`
  bool blue_first;  // else red first
  /* Memory for height * width pixels, rows one behind the other; null: give up. Called once at
   * most. Does not throw. */
  uint8_t* (*allocate)(void* context, int64_t height, int64_t width);
  void* context;
  char message[200];  // why it failed
  /* As many channels as the file has: 1, 3 or 4 (blue, green, red, alpha; or red first). The
   * decoder writes them here before it allocates. Files of more than 8 bits a channel are not
   * decoded. */
  bool unchanged = false;
  int channels = 0;
  /* Says which part of height * width pixels is wanted, before `allocate`, which is given the size
   * of that part: first row and column, height, width. It lies inside of the image. Null: all of
   * it. Pixels of a part are the same as those of the whole.
   * `eighths` is null unless the decoder can make the image smaller: a number of 1 to 7 that is
   * written there gives it sides of so many eighths, rounded up. The part is then one of that. */
  void (*choose)(void* context, int64_t height, int64_t width, int64_t window[4], int* eighths) = nullptr;
  /* Pixels that the file may have at most: a small one may hold a very large picture of one
   * colour. */
  double most_pixels = 0;
};

enum class Decoded : int { kDone, kNotMine, kFailed };

/* The function that an object exports, under kDecodeFunction. Any number of threads may call it. */
using DecodeFunction = Decoded (*)(DecodeRequest*);
#define MXNET_DECODE_FUNCTION mxnet_decode_image

struct EncodeRequest {
  const uint8_t* pixels;  // rows one behind the other
  int64_t height, width;
  int channels;     // 1, 3 or 4; a JPEG file leaves the fourth out
  bool blue_first;  // else red first
  int quality;      // of JPEG 0 to 100, of PNG the level of compression, 0 to 9; the next where beyond
  /* Takes a copy of the file; false: give up. Called once at most. Does not throw. */
  bool (*take)(void* context, const uint8_t* bytes, size_t size);
  void* context;
  char message[200];  // why it failed
};

/* The function that an object exports, under this name: libmxnet_jpeg.so makes JPEG files,
 * libmxnet_opencv.so PNG files. False: it failed. Any number of threads may call it. */
using EncodeFunction = bool (*)(EncodeRequest*);
#define MXNET_ENCODE_FUNCTION mxnet_encode_image

/* Pixels that a file of so many bytes may have: all formats need some bits for a block of pixels. A
 * file that promises more is damaged, and memory for it is not allocated. */
inline bool PlausiblePixels(int64_t height, int64_t width, size_t bytes, double most) {
  constexpr double kAlways = 1 << 24, kPerByte = 8192;
  const double pixels = static_cast<double>(height) * static_cast<double>(width);
  return height > 0 && width > 0 && pixels <= kAlways + kPerByte * static_cast<double>(bytes) && pixels <= most;
}

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_CODEC_H_
