#include "operator/record/like_inputs.h"

namespace mxnet {

InferShapeFn LikeInputsShape(int first) {
  return [first](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
    bool known = true;
    for (size_t i = 0; i < out->size(); ++i) {
      AssignShape(attrs, "gradient", &(*out)[i], (*in)[first + i]);
      AssignShape(attrs, "input", &(*in)[first + i], (*out)[i]);
      known = known && (*out)[i].known();
    }
    for (const Shape& s : *in) known = known && s.known();
    return known;
  };
}

InferTypeFn LikeInputsType(int first) {
  return [first](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    bool known = true;
    for (size_t i = 0; i < out->size(); ++i) {
      AssignType(attrs, "gradient", &(*out)[i], (*in)[first + i]);
      AssignType(attrs, "input", &(*in)[first + i], (*out)[i]);
      known = known && (*out)[i] != kDTypeUnknown;
    }
    for (int t : *in) known = known && t != kDTypeUnknown;
    return known;
  };
}

}  // namespace mxnet
