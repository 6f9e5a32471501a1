#include "operator/image/image_common.h"

namespace mxnet {
namespace image {

void NeedImages(const Attrs& attrs, const Shape& shape, bool batches) {
  MXNET_CHECK_KIND(shape.ndim() == 3 || (batches && shape.ndim() == 4), Value)
      << Named(attrs) << "data has shape " << shape << "; accepted are (height, width, channels)"
      << (batches ? " and (images, height, width, channels)" : "");
}

void NeedGrayOrColour(const Attrs& attrs, int64_t channels, const Shape& shape) {
  MXNET_CHECK_KIND(channels == 1 || channels == 3 || channels == Shape::kUnknownDim, Value)
      << Named(attrs) << "data of shape " << shape << " has " << channels << " channels; accepted are 1 and 3";
}

bool SameImageShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  NeedImages(attrs, data, false);
  NeedGrayOrColour(attrs, data[2], data);
  return data.known();
}

}  // namespace image
}  // namespace mxnet
