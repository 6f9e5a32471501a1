/* The shared objects of codec.h, as operators use them. */
#ifndef MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_
#define MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_

#include <string>

#include "operator/image/codec.h"

namespace mxnet {
namespace image {

/* What an object offers; null functions, with the reason, if it cannot be opened. It stays open. */
struct Codec {
  DecodeFunction decode = nullptr;
  EncodeFunction encode = nullptr;
  std::string why;
  explicit Codec(const char* file);
};

/* Opened by the first call. Any thread may call. */
const Codec& JpegCodec();
const Codec& OpenCVCodec();

/* Why `codec` cannot be used: this build is without it, then `instead` says what the user may do;
 * or it could not be opened. */
std::string WhyNot(const Codec& codec, const char* instead);

/* Calls the decoder that knows the file. Throws Error(kGeneric) if this build has none or it cannot
 * be opened. Any number of threads may call it. */
Decoded DecodeFile(DecodeRequest* request, const std::string& who);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_
