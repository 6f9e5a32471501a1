#include "operator/image/codec_library.h"

#include <dlfcn.h>

#include <cstring>

#include "base/build_info.h"
#include "base/device/own_library.h"
#include "base/foreign_env.h"
#include "mxnet/error.h"

namespace mxnet {
namespace image {
namespace {

bool HasOpenCV() {
  size_t count = 0;
  const BuildFeature* features = BuildFeatures(&count);
  for (size_t i = 0; i < count; ++i)
    if (std::strcmp(features[i].name, "OPENCV") == 0) return features[i].enabled;
  return false;
}

}  // namespace

Codec::Codec(const char* file) {
  void* object = OpenOwnLibrary(file, &why);
  if (object == nullptr) return;
  decode = reinterpret_cast<DecodeFunction>(dlsym(object, "mxnet_decode_image"));
  encode = reinterpret_cast<EncodeFunction>(dlsym(object, "mxnet_encode_image"));
}

const Codec& JpegCodec() {
  static const Codec codec("libmxnet_jpeg.so");
  return codec;
}

const Codec& OpenCVCodec() {
  static const Codec codec("libmxnet_opencv.so");
  return codec;
}

std::string WhyNot(const Codec& codec, const char* instead) {
  static const bool built = HasOpenCV();
  if (&codec != &OpenCVCodec() || built) return "the library for this kind of file could not be loaded: " + codec.why;
  return std::string("this build reads and writes JPEG files alone, because it has no OpenCV; build with -DUSE_OPENCV=ON, or ") + instead;
}

namespace {
/* That of OpenCV's decoders holds for all. */
double MostPixels() {
  static const double given = ForeignNumber("OPENCV_IO_MAX_IMAGE_PIXELS", 0);
  return given > 0 ? given : static_cast<double>(1 << 30);
}
}  // namespace

Decoded DecodeFile(DecodeRequest* request, const std::string& who) {
  request->most_pixels = MostPixels();
  Decoded done = Decoded::kNotMine;
  if (JpegCodec().decode) done = JpegCodec().decode(request);
  if (done != Decoded::kNotMine) return done;
  MXNET_CHECK_KIND(request->size <= size_t{0x7fffffff}, Value)  // OpenCV counts bytes with an int
      << who << "the file has " << request->size << " bytes; accepted are files of less than 2 GiB";
  MXNET_CHECK_KIND(OpenCVCodec().decode != nullptr, Generic)
      << who << WhyNot(OpenCVCodec(), "decode with another package and give the pixels to mx.nd.array");
  return OpenCVCodec().decode(request);
}

}  // namespace image
}  // namespace mxnet
