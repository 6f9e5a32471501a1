/* What the records of images share. Images are (height, width, channels), batches of them (images,
 * height, width, channels). */
#ifndef MXNET_OPERATOR_IMAGE_IMAGE_COMMON_H_
#define MXNET_OPERATOR_IMAGE_IMAGE_COMMON_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/dtype.h"
#include "mxnet/op.h"

namespace mxnet {
namespace image {

/* "[operator] ", the beginning of a message. */
inline std::string Named(const Attrs& attrs) { return "[" + attrs.op->name + "] "; }

struct Images {
  int64_t count, height, width, channels;
  int64_t pixels() const { return height * width; }
  int64_t size() const { return pixels() * channels; }  // of one image
};
/* REQUIRES: 3 or 4 dimensions. */
inline Images ImagesOf(const Shape& s) {
  const int at = s.ndim() - 3;
  return {at ? s[0] : 1, s[at], s[at + 1], s[at + 2]};
}

/* Throws Error(kValue) unless the shape is one image or, if `batches`, several. */
void NeedImages(const Attrs& attrs, const Shape& shape, bool batches);
/* Throws Error(kValue) unless `channels` is 1, 3 or unknown. */
void NeedGrayOrColour(const Attrs& attrs, int64_t channels, const Shape& shape);
/* One image of 1 or 3 channels, and a result of that shape. */
bool SameImageShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);

/* The integral part, of which the lowest bits where T is too small; 0 for what no integer holds. */
template <typename T, typename A>
T Wrapped(A v) {
  if constexpr (std::is_integral<T>::value) {
    const bool holds = std::abs(v) < static_cast<A>(9.2e18);
    return static_cast<T>(holds ? static_cast<int64_t>(v) : 0);
  } else {
    return static_cast<T>(v);
  }
}

/* f(T{}) for the dtypes that images have; records refuse the others. */
template <typename F>
void VisitImageDType(int dtype, const char* op, F&& f) {
  if (IsFloating(dtype)) return VisitFloating(dtype, op, f);
  switch (dtype) {
    case kUint8: return f(uint8_t{});
    case kInt8: return f(int8_t{});
    case kInt32: return f(int32_t{});
    case kInt64: return f(int64_t{});
    default: ThrowDType(dtype, op, "uint8, int8, int32, int64, float32, float64, float16, bfloat16");
  }
}

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_IMAGE_COMMON_H_
