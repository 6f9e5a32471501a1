/* The shared objects of codec.h, as operators use them. */
#ifndef MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_
#define MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_

#include <string>

#include "mxnet/op.h"
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

/* Throws Error(kGeneric) if this build has no codecs; `instead` says what the user may do. */
void NeedCodecs(const Attrs& attrs, const char* instead);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_CODEC_LIBRARY_H_
