#include "operator/image/codec_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
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

/*
 * OPENCV_IO_MAX_IMAGE_PIXELS, for all decoders. OpenCV reads it while it is loaded, and ends the
 * process where it cannot, so that it is looked at before. Throws Error(kValue).
 */
double MostPixels() {
  static const double most = [] {
    constexpr const char* kName = "OPENCV_IO_MAX_IMAGE_PIXELS";
    if (!ForeignIsSet(kName)) return static_cast<double>(1 << 30);
    const std::string text = ForeignText(kName);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string unit = text.substr(digits);
    for (char& c : unit) c = static_cast<char>(std::toupper(c));
    const double factor = unit.empty() ? 1 : unit == "KB" ? 1 << 10 : unit == "MB" ? 1 << 20 : 0;
    const double given = digits > 0 && digits < 19 ? factor * std::strtod(text.c_str(), nullptr) : 0;
    MXNET_CHECK_KIND(given > 0, Value) << "[environment] " << kName << "='" << text
                                       << "'; accepted: a whole number of at least 1, also with KB or MB (2**10, 2**20) behind it";
    return given;
  }();
  return most;
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
  MostPixels();
  static const Codec codec("libmxnet_opencv.so");
  return codec;
}

std::string WhyNot(const Codec& codec, const char* instead) {
  static const bool built = HasOpenCV();
  if (&codec != &OpenCVCodec() || built) return "the library for this kind of file could not be loaded: " + codec.why;
  return std::string("this build reads and writes JPEG files alone, because it has no OpenCV; build with -DUSE_OPENCV=ON, or ") + instead;
}

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
