// Experimental operators of the first opsets, which files of Caffe2, CoreML's converter and PyTorch
// have; onnxruntime knows most of them still.
#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

/* The shape of attribute shape, or of the input, as it is or with extra_shape behind it. */
Sizes FilledShape(const Call& c) {
  const Sizes extra = c.Attr("extra_shape", Sizes{});
  Sizes shape = c.Attr("shape", Sizes{});
  if (c.Attr("input_as_shape", int64_t{0}) != 0) {
    shape = c.Ints(0);
  } else if (c.has(0)) {
    shape = DimsOf(c.in(0).shape());
  }
  shape.insert(shape.end(), extra.begin(), extra.end());
  CheckSmall(c, "the shape", shape, 0);
  return shape;
}

void ConvertConstantFill(Call& c) {
  const int dtype = c.has_attr("dtype") ? c.DTypeAttr("dtype", kFloat32) : static_cast<int>(kFloat32);
  c.Out(c.Filled(Shape(FilledShape(c)), dtype, c.Attr("value", 0.0f)));
}

void ConvertGivenTensorFill(Call& c) {
  const Shape shape(FilledShape(c));
  const std::vector<float> values = c.Attr("values", std::vector<float>{});
  if (static_cast<int64_t>(values.size()) != shape.Size())
    c.Refuse("there are " + Text(static_cast<int64_t>(values.size())) + " values for shape " + Text(shape));
  c.Out(c.Tensor(shape, kFloat32, values.data()));
}

void ConvertAffine(Call& c) { c.Out(AddNumber(c, MulNumber(c, c.in(0), c.Attr("alpha", 1.0f)), c.Attr("beta", 0.0f))); }

void ConvertScaledTanh(Call& c) {
  c.Out(MulNumber(c, Unary(c, "tanh", MulNumber(c, c.in(0), c.Attr("beta", 1.0f))), c.Attr("alpha", 1.0f)));
}

void ConvertParametricSoftplus(Call& c) {
  const Value soft = c.Op("Activation", {MulNumber(c, c.in(0), c.Attr("beta", 1.0f))}, {{"act_type", "softrelu"}});
  c.Out(MulNumber(c, soft, c.Attr("alpha", 1.0f)));
}

void ConvertScale(Call& c) { c.Out(MulNumber(c, c.in(0), c.Attr("scale", 1.0f))); }

void ConvertImageScaler(Call& c) {
  CheckRank(c, 0, 4, 4);
  const std::vector<float> bias = c.Attr("bias", std::vector<float>{});
  const Value scaled = MulNumber(c, c.in(0), c.Attr("scale", 1.0f));
  if (static_cast<int64_t>(bias.size()) != c.in(0).shape()[1])
    c.Refuse("attribute bias has " + Text(static_cast<int64_t>(bias.size())) + " numbers for data of shape " + Text(c.in(0).shape()));
  const std::vector<double> numbers(bias.begin(), bias.end());
  c.Out(Add(c, scaled, FloatsLike(c, numbers, {1, c.in(0).shape()[1], 1, 1}, c.in(0).dtype())));
}

void ConvertCrop(Call& c) {  // border: left, top, right, bottom; scale: height and width of what stays
  CheckRank(c, 0, 4, 4);
  const Sizes border = c.Attr("border", Sizes{}), size = c.Attr("scale", Sizes{});
  const Shape& s = c.in(0).shape();
  if (border.size() != 4 || (!size.empty() && size.size() != 2))
    c.Refuse("attributes border and scale are " + Text(border) + " and " + Text(size));
  CheckSmall(c, "border", border, 0), CheckSmall(c, "scale", size, 1);
  const int64_t bottom = size.empty() ? s[2] - border[3] : border[1] + size[0],
                right = size.empty() ? s[3] - border[2] : border[0] + size[1];
  if (border[1] >= bottom || border[0] >= right || bottom > s[2] || right > s[3])
    c.Refuse("attributes border and scale are " + Text(border) + " and " + Text(size) + " for data of shape " + Text(s));
  c.Out(SliceAxis(c, SliceAxis(c, c.in(0), 2, border[1], bottom), 3, border[0], right));
}

void ConvertDynamicSlice(Call& c) { ConvertAs(c, "Slice", 10, c.inputs()); }

}  // namespace

const Rules& ExperimentalRules() {
  static const Rules rules = {
      {"", "ConstantFill", 1, kNewest, ConvertConstantFill, nullptr},
      {"", "GivenTensorFill", 1, kNewest, ConvertGivenTensorFill, nullptr},
      {"", "Affine", 1, kNewest, ConvertAffine, nullptr},
      {"", "ScaledTanh", 1, kNewest, ConvertScaledTanh, nullptr},
      {"", "ParametricSoftplus", 1, kNewest, ConvertParametricSoftplus, nullptr},
      {"", "Scale", 1, kNewest, ConvertScale, nullptr},
      {"", "ImageScaler", 1, kNewest, ConvertImageScaler, nullptr},
      {"", "Crop", 1, kNewest, ConvertCrop, nullptr},
      {"", "DynamicSlice", 1, kNewest, ConvertDynamicSlice, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
