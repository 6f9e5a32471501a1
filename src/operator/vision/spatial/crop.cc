// Crop: a rectangle of images, by position or as large as another array.
#include <string>
#include <vector>

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct CropParam : public Parameter<CropParam> {
  int num_args;
  Shape offset, h_w;
  bool center_crop;
  MXNET_DECLARE_PARAM(CropParam) {
    MXNET_FIELD(num_args).set_range(1, 3).describe("1: h_w says how large the rectangle is; 2: the second input does.");
    MXNET_FIELD(offset).set_default(Shape({0, 0})).describe("Row and column of the rectangle's first pixel.");
    MXNET_FIELD(h_w).set_default(Shape({0, 0})).describe("Height and width of the rectangle.");
    MXNET_FIELD(center_crop).set_default(false).describe("Take the rectangle out of the middle; offset is then ignored.");
  }
};
MXNET_REGISTER_PARAM(CropParam);

namespace {

void CheckPair(const Attrs& attrs, const char* what, const Shape& pair, int64_t least) {
  MXNET_CHECK_KIND(pair.ndim() >= 2 && pair[0] >= least && pair[1] >= least, Value)
      << Named(attrs) << what << " " << pair << "; two numbers of at least " << least << " are needed";
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<CropParam>();
  MXNET_CHECK_KIND(in->size() <= 2, Value) << Named(attrs) << "num_args " << p.num_args << "; 1 or 2 inputs are accepted";
  Shape expected(4);
  for (const Shape& s : *in) {
    if (!s.ndim_known()) continue;
    MXNET_CHECK_KIND(s.ndim() == 4, Value) << Named(attrs) << "an input has shape " << s << "; (batch, channels, height, width) is needed";
  }
  if (in->size() == 2) {
    if ((*in)[1].ndim_known()) expected[2] = (*in)[1][2], expected[3] = (*in)[1][3];
  } else {
    CheckPair(attrs, "h_w", p.h_w, 1);
    expected[2] = p.h_w[0], expected[3] = p.h_w[1];
  }
  if (!p.center_crop) CheckPair(attrs, "offset", p.offset, 0);
  Shape& data = (*in)[0];
  if (!data.ndim_known()) {
    AssignShape(attrs, "output", &(*out)[0], expected);
    return false;
  }
  expected[0] = data[0], expected[1] = data[1];
  for (int i = 2; i < 4; ++i) {
    if (data[i] < 0 || expected[i] < 0) continue;
    const int64_t room = data[i] - expected[i];
    MXNET_CHECK_KIND(room >= 0 && (p.center_crop || p.offset[i - 2] <= room), Value)
        << Named(attrs) << "a rectangle of " << expected[2] << " x " << expected[3]
        << (p.center_crop ? "" : " at offset " + std::to_string(p.offset[0]) + ", " + std::to_string(p.offset[1]))
        << " does not fit into data of shape " << data;
  }
  AssignShape(attrs, "output", &(*out)[0], expected);
  AssignShape(attrs, "data", &data, Shape{(*out)[0][0], (*out)[0][1], Shape::kUnknownDim, Shape::kUnknownDim});
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return (*out)[0].known();
}

// Copies between the rectangle of `image` and `cropped`.
void Copy(KernelArgs& a, const TBlob& image, const TBlob& cropped, bool back) {
  const auto& p = a.param<CropParam>();
  const Shape &s = image.shape, &c = cropped.shape;
  const int64_t row = p.center_crop ? (s[2] - c[2]) / 2 : p.offset[0], column = p.center_crop ? (s[3] - c[3]) / 2 : p.offset[1];
  const int64_t shape[3] = {c[0] * c[1], c[2], c[3]};
  const int64_t in_image[3] = {s[2] * s[3], s[3], 1}, in_cropped[3] = {c[2] * c[3], c[3], 1};
  const size_t size = DTypeSize(image.dtype);
  char* corner = image.data<char>() + (row * s[3] + column) * static_cast<int64_t>(size);
  if (back)
    CopyStrided(a.run, cropped.dptr, in_cropped, corner, in_image, shape, 3, size);
  else
    CopyStrided(a.run, corner, in_image, cropped.dptr, in_cropped, shape, 3, size);
}

void Forward(KernelArgs& args) {
  if (Wanted(args, 0) && args.out[0].Size()) Copy(args, args.in[0], args.out[0], false);
}

void Backward(KernelArgs& args) {  // ograd, data, [like] -> data_grad, [like_grad]
  for (int i = 0; i < args.out.size(); ++i)
    if (Wanted(args, i) && args.out[i].Size()) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
  if (Wanted(args, 0) && args.in[0].Size()) Copy(args, args.out[0], args.in[0], true);
}

int Inputs(const Attrs& a) { return a.get<CropParam>().num_args; }

std::vector<std::string> InputNames(const Attrs& a) {
  std::vector<std::string> names;
  for (int i = 0; i < Inputs(a); ++i) names.push_back("arg" + std::to_string(i));
  return names;
}

MXNET_REGISTER_OP(Crop)
    .describe(
        "Takes a rectangle out of images (batch, channels, height, width).\n\n"
        "With one input the rectangle is of size h_w, with two it has the height and width of the second one. Its first pixel lies at "
        "offset,\n"
        "or, with center_crop, where as many pixels are cut away on either side. Any dtype.")
    .set_param<CropParam>()
    .set_variadic("data", Inputs)
    .set_dtypes(dtypes::kAll)
    .set_list_inputs(InputNames)
    .set_infer_shape(ForwardShape)
    .set_shape_only_from(1)
    .set_gradient(BackwardNode("_backward_Crop", kGradInputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_Crop)
    .describe("Gradient of Crop with respect to data; that of a second input is 0.")
    .set_param<CropParam>()
    .set_variadic("data", [](const Attrs& a) { return 1 + Inputs(a); })
    .set_dtypes(dtypes::kAll)
    .set_num_outputs(Inputs)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear
      std::vector<NodeEntry> inputs = {ograds[0]}, grads(node->inputs.size());
      if (node->inputs.size() > 2) inputs.push_back(node->inputs[2]);
      grads[0] = NodeEntry{MakeNodeLike("Crop", *node, std::move(inputs)), 0, 0};
      return grads;
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
