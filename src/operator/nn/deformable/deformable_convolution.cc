// Records of the deformable convolutions (Dai et al., ICCV 2017; modulated: Zhu et al., CVPR 2019).
#include "operator/nn/deformable/deformable_convolution.h"

#include "operator/control/written_out.h"
#include "operator/nn/common/backward_shape.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/window.h"
#include "operator/nn/deformable/deformable_twice.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace nn {

enum DeformLayout : int { kDeformNCW, kDeformNCHW, kDeformNCDHW };

// What both have, before and behind the fields of their own.
#define MXNET_DEFORMABLE_WINDOW                                                                                              \
  MXNET_FIELD(kernel).describe("Window: (h, w).");                                                                           \
  MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in both dimensions when not given.");             \
  MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");            \
  MXNET_FIELD(pad).set_default(Shape()).describe("Zeros put on both sides; 0 when not given.");                              \
  MXNET_FIELD(num_filter).set_lower_bound(1).describe("Number of output channels.");                                         \
  MXNET_FIELD(num_group).set_default(1).describe("Number of groups that channels and filters are divided into.");            \
  MXNET_FIELD(num_deformable_group).set_default(1).describe("Number of groups of channels that have offsets of their own."); \
  MXNET_FIELD(workspace).set_default(1024).set_lower_bound(0).describe(                                                      \
      "Accepted for compatibility; workspace memory is planned by need.");                                                   \
  MXNET_FIELD(no_bias).set_default(false).describe("Leave the bias out.")
#define MXNET_DEFORMABLE_LAYOUT          \
  MXNET_FIELD(layout)                    \
      .add_enum("NCW", kDeformNCW)       \
      .add_enum("NCHW", kDeformNCHW)     \
      .add_enum("NCDHW", kDeformNCDHW)   \
      .set_default(std::optional<int>()) \
      .describe("Order of data's dimensions: NCHW.")

struct DeformableConvolutionParam : public Parameter<DeformableConvolutionParam> {
  Shape kernel, stride, dilate, pad;
  int num_filter, num_group, num_deformable_group;
  uint64_t workspace;
  bool no_bias;
  std::optional<int> layout;
  MXNET_DECLARE_PARAM(DeformableConvolutionParam) {
    MXNET_DEFORMABLE_WINDOW;
    MXNET_DEFORMABLE_LAYOUT;
  }
  static constexpr bool kMasked = false;
  static constexpr Beyond kBeyond = Beyond::kNearest;
};
MXNET_REGISTER_PARAM(DeformableConvolutionParam);

struct ModulatedDeformableConvolutionParam : public Parameter<ModulatedDeformableConvolutionParam> {
  Shape kernel, stride, dilate, pad;
  uint32_t num_filter, num_group, num_deformable_group;
  uint64_t workspace;
  bool no_bias;
  uint32_t im2col_step;
  std::optional<int> layout;
  MXNET_DECLARE_PARAM(ModulatedDeformableConvolutionParam) {
    MXNET_DEFORMABLE_WINDOW;
    MXNET_FIELD(im2col_step).set_default(64).describe("Accepted for compatibility: images are divided by what memory they need.");
    MXNET_DEFORMABLE_LAYOUT;
  }
  static constexpr bool kMasked = true;
  static constexpr Beyond kBeyond = Beyond::kZeros;
};
MXNET_REGISTER_PARAM(ModulatedDeformableConvolutionParam);

namespace {

template <typename P>
void CheckParam(const Attrs& attrs, const P& p) {
  MXNET_CHECK_KIND(p.kernel.ndim() == 2, Value) << Named(attrs) << "kernel " << p.kernel << "; windows of 2 dimensions are accepted";
  CheckWindow(attrs, p.kernel, p.stride, p.dilate, p.pad);
  MXNET_CHECK_KIND(!p.layout.has_value() || p.layout.value() == kDeformNCHW, Value)
      << Named(attrs) << "layout has " << (p.layout.value() == kDeformNCW ? 1 : 3) << " spatial dimensions; NCHW is accepted";
  MXNET_CHECK_KIND(p.num_group >= 1 && p.num_filter % p.num_group == 0, Value)
      << Named(attrs) << "num_group " << p.num_group << "; it must divide num_filter " << p.num_filter;
  MXNET_CHECK_KIND(p.num_deformable_group >= 1, Value)
      << Named(attrs) << "num_deformable_group " << p.num_deformable_group << "; it must be at least 1";
}

template <typename P>
bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<P>();
  CheckParam(attrs, p);
  constexpr int kWeight = P::kMasked ? 3 : 2;
  const int64_t filters = p.num_filter, groups = p.num_group, own = p.num_deformable_group;
  if (!p.no_bias) AssignShape(attrs, "bias", &(*in)[kWeight + 1], Shape{filters});
  Shape &data = (*in)[0], &result = (*out)[0], weight(4), expected(4);
  MXNET_CHECK_KIND(!data.ndim_known() || data.ndim() == 4, Value)
      << Named(attrs) << "data has shape " << data << "; (batch, channels, height, width) is needed";
  const bool known = data.ndim() == 4;
  const int64_t channels = known ? data[1] : Shape::kUnknownDim;
  for (const int64_t parts : {groups, own})
    MXNET_CHECK_KIND(channels < 0 || channels % parts == 0, Value)
        << Named(attrs) << "data of shape " << data << " has " << channels << " channels; num_group " << groups
        << " and num_deformable_group " << own << " must divide them";
  weight[0] = filters, weight[2] = p.kernel[0], weight[3] = p.kernel[1];
  if (channels >= 0) weight[1] = channels / groups;
  AssignShape(attrs, "weight", &(*in)[kWeight], weight);
  if (known && channels < 0 && (*in)[kWeight][1] >= 0) data[1] = (*in)[kWeight][1] * groups;
  expected[1] = filters;
  if (known) expected[0] = data[0];
  for (int i = 0; i < 2 && known; ++i) {
    if (data[i + 2] < 0) continue;
    MXNET_CHECK_KIND(data[i + 2] < (int64_t{1} << 30), Value) << Named(attrs) << "data has shape " << data << "; its images are too large";
    const int64_t extent = (p.kernel[i] - 1) * Or(p.dilate, i, 1) + 1, room = data[i + 2] + 2 * Or(p.pad, i, 0) - extent;
    MXNET_CHECK_KIND(room >= 0, Value) << Named(attrs) << "kernel " << p.kernel << " (dilated: " << extent << ") exceeds data of shape "
                                       << data << " with padding " << Or(p.pad, i, 0) << " in spatial dimension " << i;
    expected[i + 2] = room / Or(p.stride, i, 1) + 1;
  }
  if (known && data[2] >= 0 && data[3] >= 0)
    MXNET_CHECK_KIND(data[2] * data[3] < (int64_t{1} << 31) - 1, Value)
        << Named(attrs) << "data has shape " << data << "; its images are too large";
  AssignShape(attrs, "output", &result, expected);
  int64_t taps = 0, all = 0;
  MXNET_CHECK_KIND(!__builtin_mul_overflow(p.kernel[0], p.kernel[1], &taps) && !__builtin_mul_overflow(taps, 2 * own, &all), Value)
      << Named(attrs) << "kernel " << p.kernel << " is too large";
  Shape places = result;
  places[1] = all;
  AssignShape(attrs, "offset", &(*in)[1], places);
  places[1] = all / 2;
  if (P::kMasked) AssignShape(attrs, "mask", &(*in)[2], places);
  for (int i : {0, 2, 3}) result[i] = (*in)[1][i];
  if (known && data[0] < 0) data[0] = result[0];
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return result.known();
}

template <typename P>
DeformCall CallOf(const P& p, const Shape& data, const Shape& out) {
  DeformCall c{};
  c.batch = data[0], c.channels = data[1], c.h = data[2], c.w = data[3];
  c.filters = p.num_filter, c.groups = p.num_group, c.deformable_groups = p.num_deformable_group;
  c.out_h = out[2], c.out_w = out[3];
  for (int i = 0; i < 2; ++i) {
    c.kernel[i] = p.kernel[i], c.stride[i] = Or(p.stride, i, 1), c.dilate[i] = Or(p.dilate, i, 1), c.pad[i] = Or(p.pad, i, 0);
  }
  c.masked = P::kMasked, c.no_bias = p.no_bias, c.beyond = P::kBeyond;
  return c;
}

template <typename P>
void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const DeformCall call = CallOf(args.param<P>(), args.in[0].shape, args.out[0].shape);
  if (args.run.ctx.is_gpu()) return DeformForwardOnDevice(args, call);
  DeformForward(args, call);
}

template <typename P>
void Backward(KernelArgs& args) {
  const DeformCall call = CallOf(args.param<P>(), args.in[1].shape, args.in[0].shape);
  if (args.run.ctx.is_gpu()) return DeformBackwardOnDevice(args, call);
  DeformBackward(args, call);
}

template <typename P>
int Inputs(const Attrs& a) {
  return (P::kMasked ? 4 : 3) + (a.get<P>().no_bias ? 0 : 1);
}
template <typename P>
int BackwardInputs(const Attrs& a) {
  return 1 + Inputs<P>(a);
}
template <typename P>
double Flops(const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
  const TBlob& weight = in[P::kMasked ? 3 : 2];
  return weight.shape[0] > 0 ? 2.0 * static_cast<double>(weight.Size()) * static_cast<double>(out[0].Size() / weight.shape[0]) : 0.0;
}

template <typename P>
std::vector<NodeEntry> WriteOut(const Node& backward, const std::vector<NodeEntry>& inputs) {
  const Shape unknown{0, 0, 0, 0};
  return {WriteOutDeformable(CallOf(backward.attrs->get<P>(), unknown, unknown), inputs, backward.inputs[0])};
}

template <typename P>
void SetCommon(Op& op, const char* backward) {
  op.template set_param<P>()
      .set_infer_shape(ForwardShape<P>)
      .set_dtypes(dtypes::kFloats)
      .set_expensive_to_recompute()
      .set_flops(Flops<P>)
      .set_gradient(BackwardNode(backward, kGradInputs))
      .set_kernel(Forward<P>);
  Op::Register(backward)
      .template set_param<P>()
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BackwardShape(ForwardShape<P>))
      .set_gradient(GradientOfWrittenOut(
          WriteOut<P>, [](const Attrs&) { return 1; }, Inputs<P>))
      .set_kernel(Backward<P>);
}

[[maybe_unused]] const bool registered = [] {
  using V1 = DeformableConvolutionParam;
  using V2 = ModulatedDeformableConvolutionParam;
  SetCommon<V1>(Op::Register("_contrib_DeformableConvolution")
                    .describe("Convolution whose windows have elements that are moved by offsets (Dai et al., Deformable Convolutional "
                              "Networks, ICCV 2017).\n\n"
                              "data has shape (batch, channels, height, width), weight (num_filter, channels / num_group, *kernel), bias "
                              "(num_filter,),\n"
                              "offset (batch, 2 * num_deformable_group * elements of the kernel, output height, output width): for each "
                              "element of\n"
                              "the window how far below and how far right of its place data is sampled. Samples are bilinear; those "
                              "before the\n"
                              "first or a whole pixel behind the last row or column are 0, as are offsets that are NaN. float16, "
                              "bfloat16, float32,\n"
                              "float64.")
                    .alias("_npx_deformable_convolution")
                    .set_inputs({"data", "offset", "weight", "bias"}, Inputs<V1>),
                "_backward__contrib_DeformableConvolution");
  Op::Register("_backward__contrib_DeformableConvolution")
      .describe("Gradients of _contrib_DeformableConvolution with respect to its inputs.")
      .set_inputs({"ograd", "data", "offset", "weight", "bias"}, BackwardInputs<V1>)
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(4)
      .set_outputs({"data_grad", "offset_grad", "weight_grad", "bias_grad"}, Inputs<V1>);
  SetCommon<V2>(Op::Register("_contrib_ModulatedDeformableConvolution")
                    .describe("Deformable convolution whose samples are multiplied by a mask (Zhu et al., Deformable ConvNets v2, CVPR "
                              "2019).\n\n"
                              "data has shape (batch, channels, height, width), weight (num_filter, channels / num_group, *kernel), bias "
                              "(num_filter,),\n"
                              "offset (batch, 2 * num_deformable_group * elements of the kernel, output height, output width): for each "
                              "element of\n"
                              "the window how far below and how far right of its place data is sampled; mask has half as many channels. "
                              "Samples are\n"
                              "bilinear between the pixels and zeros around the image; where an offset is NaN they are 0. float16, "
                              "bfloat16, float32,\n"
                              "float64.")
                    .alias("_npx_modulated_deformable_convolution")
                    .set_inputs({"data", "offset", "mask", "weight", "bias"}, Inputs<V2>),
                "_backward__contrib_ModulatedDeformableConvolution");
  Op::Register("_backward__contrib_ModulatedDeformableConvolution")
      .describe("Gradients of _contrib_ModulatedDeformableConvolution with respect to its inputs.")
      .set_inputs({"ograd", "data", "offset", "mask", "weight", "bias"}, BackwardInputs<V2>)
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(5)
      .set_outputs({"data_grad", "offset_grad", "mask_grad", "weight_grad", "bias_grad"}, Inputs<V2>);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
