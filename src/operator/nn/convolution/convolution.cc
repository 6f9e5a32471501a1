// Records of Convolution, Deconvolution and their gradients.
#include "operator/nn/convolution/convolution.h"

#include <algorithm>
#include <sstream>

#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/window.h"
#include "operator/nodes/padding.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(ConvolutionParam);
MXNET_REGISTER_PARAM(DeconvolutionParam);

namespace {

template <typename P>
void CheckSpatial(const Attrs& attrs, const P& p, int ndim) {
  const int nd = p.kernel.ndim();
  CheckWindow(attrs, p.kernel, p.stride, p.dilate, p.pad);
  MXNET_CHECK_KIND(ndim == nd + 2, Value) << Named(attrs) << "data has " << ndim << " dimensions; with kernel " << p.kernel
                                          << " it must have " << nd + 2;
  if (p.layout.has_value()) {
    static const int kDims[] = {1, 2, 3, 1, 2, 3};
    MXNET_CHECK_KIND(kDims[p.layout.value()] == nd, Value)
        << Named(attrs) << "layout has " << kDims[p.layout.value()] << " spatial dimensions, but kernel is " << p.kernel;
  }
  MXNET_CHECK_KIND(p.num_group >= 1 && p.num_filter % p.num_group == 0, Value)
      << Named(attrs) << "num_group " << p.num_group << "; it must divide num_filter " << p.num_filter;
}

int64_t Extent(int64_t kernel, int64_t dilate) { return (kernel - 1) * dilate + 1; }

template <typename P>
Shape WeightShape(const P& p, int64_t first, int64_t second) {
  const int nd = p.kernel.ndim();
  const bool last = ChannelsLastAttr(p.layout);
  Shape w(nd + 2);
  w[0] = first;
  w[last ? nd + 1 : 1] = second;
  for (int i = 0; i < nd; ++i) w[i + (last ? 1 : 2)] = p.kernel[i];
  return w;
}

bool AllKnown(const ShapeVector& in, const ShapeVector& out) {
  for (const Shape& s : in)
    if (!s.known()) return false;
  for (const Shape& s : out)
    if (!s.known()) return false;
  return true;
}

bool ConvolutionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ConvolutionParam>();
  const int nd = p.kernel.ndim();
  if (!p.no_bias) AssignShape(attrs, "bias", &(*in)[2], Shape{static_cast<int64_t>(p.num_filter)});
  Shape& data = (*in)[0];
  CheckSpatial(attrs, p, data.ndim_known() ? data.ndim() : nd + 2);
  const bool last = ChannelsLastAttr(p.layout);
  const int caxis = last ? nd + 1 : 1, saxis = last ? 1 : 2;
  Shape expected(nd + 2);
  expected[caxis] = p.num_filter;
  if (!data.ndim_known()) {
    AssignShape(attrs, "output", &(*out)[0], expected);
    return false;
  }
  if ((*in)[1].ndim() == nd + 2 && data[caxis] < 0 && (*in)[1][caxis] >= 0) data[caxis] = (*in)[1][caxis] * p.num_group;
  int64_t per_group = Shape::kUnknownDim;
  if (data[caxis] >= 0) {
    MXNET_CHECK_KIND(data[caxis] % p.num_group == 0, Value) << Named(attrs) << "data of shape " << data << " has " << data[caxis]
                                                            << " channels; num_group " << p.num_group << " must divide them";
    per_group = data[caxis] / p.num_group;
  }
  AssignShape(attrs, "weight", &(*in)[1], WeightShape(p, p.num_filter, per_group));
  expected[0] = data[0];
  for (int i = 0; i < nd; ++i) {
    if (data[saxis + i] < 0) continue;
    const int64_t room = data[saxis + i] + 2 * Or(p.pad, i, 0) - Extent(p.kernel[i], Or(p.dilate, i, 1));
    MXNET_CHECK_KIND(room >= 0, Value) << Named(attrs) << "kernel " << p.kernel << " (dilated: " << Extent(p.kernel[i], Or(p.dilate, i, 1))
                                       << ") exceeds data of shape " << data << " with padding " << Or(p.pad, i, 0)
                                       << " in spatial dimension " << i;
    expected[saxis + i] = room / Or(p.stride, i, 1) + 1;
  }
  AssignShape(attrs, "output", &(*out)[0], expected);
  if (data[0] < 0) data[0] = (*out)[0][0];
  for (int i = 0; i < nd; ++i) {  // from the result back: with larger steps several sizes give the same
    const int64_t size = (*out)[0][saxis + i] - 1 - 2 * Or(p.pad, i, 0) + Extent(p.kernel[i], Or(p.dilate, i, 1));
    if (data[saxis + i] < 0 && (*out)[0][saxis + i] > 0 && Or(p.stride, i, 1) == 1 && size > 0) data[saxis + i] = size;
  }
  return AllKnown(*in, *out);
}

// A target_shape of zeros was the default of old versions, and stands in their symbol files.
bool HasTarget(const DeconvolutionParam& p) {
  return std::any_of(p.target_shape.begin(), p.target_shape.end(), [](int64_t size) { return size != 0; });
}

// pad and adj that a deconvolution acts with: given, or following from target_shape.
void DeconvolutionPads(const DeconvolutionParam& p, int i, int64_t in, int64_t* pad, int64_t* adj) {
  *pad = Or(p.pad, i, 0);
  *adj = Or(p.adj, i, 0);
  if (HasTarget(p) && in >= 0) {
    const int64_t total = (in - 1) * Or(p.stride, i, 1) + Extent(p.kernel[i], Or(p.dilate, i, 1)) - p.target_shape[i];
    *pad = (total + 1) / 2;
    *adj = total & 1;
  }
}

bool DeconvolutionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<DeconvolutionParam>();
  const int nd = p.kernel.ndim();
  if (!p.no_bias) AssignShape(attrs, "bias", &(*in)[2], Shape{static_cast<int64_t>(p.num_filter)});
  Shape& data = (*in)[0];
  CheckSpatial(attrs, p, data.ndim_known() ? data.ndim() : nd + 2);
  for (const Shape* s : {&p.adj, &p.target_shape})
    MXNET_CHECK_KIND(s->ndim() <= 0 || s->ndim() == nd, Value)
        << Named(attrs) << "adj and target_shape need " << nd << " numbers; given " << *s;
  for (int i = 0; i < nd; ++i)
    MXNET_CHECK_KIND(Or(p.adj, i, 0) >= 0 && (p.adj.ndim() <= 0 || p.adj[i] == 0 || p.adj[i] < Or(p.stride, i, 1)), Value)
        << Named(attrs) << "adj " << p.adj << "; every number must be less than stride";
  const bool last = ChannelsLastAttr(p.layout);
  const int caxis = last ? nd + 1 : 1, saxis = last ? 1 : 2;
  Shape expected(nd + 2);
  expected[caxis] = p.num_filter;
  if (!data.ndim_known()) {
    AssignShape(attrs, "output", &(*out)[0], expected);
    return false;
  }
  if ((*in)[1].ndim() == nd + 2 && data[caxis] < 0) data[caxis] = (*in)[1][0];
  if (data[caxis] >= 0)
    MXNET_CHECK_KIND(data[caxis] % p.num_group == 0, Value) << Named(attrs) << "data of shape " << data << " has " << data[caxis]
                                                            << " channels; num_group " << p.num_group << " must divide them";
  AssignShape(attrs, "weight", &(*in)[1], WeightShape(p, data[caxis], p.num_filter / p.num_group));
  expected[0] = data[0];
  for (int i = 0; i < nd; ++i) {
    if (data[saxis + i] < 0) continue;
    int64_t pad, adj;
    DeconvolutionPads(p, i, data[saxis + i], &pad, &adj);
    const int64_t full = (data[saxis + i] - 1) * Or(p.stride, i, 1) + Extent(p.kernel[i], Or(p.dilate, i, 1));
    MXNET_CHECK_KIND(pad >= 0, Value) << Named(attrs) << "target_shape " << p.target_shape << " exceeds the " << full
                                      << " elements that data of shape " << data << " gives in spatial dimension " << i;
    const int64_t size = full - 2 * pad + adj;
    MXNET_CHECK_KIND(size >= 0 && (size > 0 || data[saxis + i] == 0), Value)
        << Named(attrs) << "pad " << pad << " cuts away all of the " << full << " elements of spatial dimension " << i;
    expected[saxis + i] = size;
  }
  AssignShape(attrs, "output", &(*out)[0], expected);
  if (data[0] < 0) data[0] = (*out)[0][0];
  return AllKnown(*in, *out);
}

template <typename P>
ConvDims Common(const P& p, const Shape& src, const Shape& dst) {
  const int nd = p.kernel.ndim(), shift = 3 - nd;
  const bool last = ChannelsLastAttr(p.layout);
  const int caxis = last ? nd + 1 : 1, saxis = last ? 1 : 2;
  ConvDims d;
  d.batch = src[0], d.channels = src[caxis], d.filters = dst[caxis], d.groups = p.num_group;
  for (int i = 0; i < nd; ++i) {
    d.in[i + shift] = src[saxis + i];
    d.out[i + shift] = dst[saxis + i];
    d.kernel[i + shift] = p.kernel[i];
    d.stride[i + shift] = Or(p.stride, i, 1);
    d.dilate[i + shift] = Or(p.dilate, i, 1);
    d.pad[i + shift] = Or(p.pad, i, 0);
  }
  return d;
}

double ConvFlops(const TBlob& weight, const TBlob& positions, int64_t channels) {  // positions: the side that the window visits
  return channels > 0 && weight.shape[0] > 0 ? 2.0 * weight.Size() * (static_cast<double>(positions.Size()) / channels) : 0.0;
}

template <typename P>
int Inputs(const Attrs& a) {
  return a.get<P>().no_bias ? 2 : 3;
}
template <typename P>
int BackwardInputs(const Attrs& a) {
  return 1 + Inputs<P>(a);
}

template <typename P>
bool NamesChannelsLast(const Attrs& a) {
  return ChannelsLastAttr(a.get<P>().layout);
}

MXNET_REGISTER_OP(Convolution)
    .describe(
        "Convolution (cross-correlation) in one, two or three dimensions.\n\n"
        "data has shape (batch, channels, spatial...), weight (num_filter, channels / num_group, kernel...), bias (num_filter,). Every "
        "spatial\n"
        "dimension of the output is floor((size + 2 pad - dilate (kernel - 1) - 1) / stride) + 1. With a layout that ends in C, channels "
        "are the\n"
        "last dimension of data, weight and output. float16, bfloat16, float32, float64; int8 without gradients: sums are cut to it.")
    .alias("_npx_convolution")
    .set_trait(Role::kConvolution)
    .set_trait(LayerTrait{"_fused_convolution",
                          [](const Attrs& a, int ndim) { return ChannelsLastAttr(a.get<ConvolutionParam>().layout) ? ndim - 1 : 1; }})
    .set_trait(Quantized{"_contrib_quantized_conv"})
    .set_trait(AsksForWeights{0b10, true})
    .set_trait(PreparesForShape{})
    .set_trait(graph_ops::WideBias{2})
    .set_param<ConvolutionParam>()
    .set_trait(NamesLayout{NamesChannelsLast<ConvolutionParam>})
    .set_inputs({"data", "weight", "bias"}, Inputs<ConvolutionParam>)
    .set_infer_shape(ConvolutionShape)
    .set_dtypes(dtypes::kFloats | dtypes::Set{kInt8})
    .set_images({0b1, 0b1})
    .set_expensive_to_recompute()
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) { return ConvFlops(in[1], out[0], in[1].shape[0]); })
    .set_gradient(BackwardNode("_backward_Convolution", kGradInputs));

MXNET_REGISTER_OP(_backward_Convolution)
    .describe("Gradients of Convolution with respect to data, weight and bias.")
    .set_param<ConvolutionParam>()
    .set_trait(NamesLayout{NamesChannelsLast<ConvolutionParam>})
    .set_inputs({"ograd", "data", "weight", "bias"}, BackwardInputs<ConvolutionParam>)
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(3)
    .set_outputs({"data_grad", "weight_grad", "bias_grad"}, Inputs<ConvolutionParam>)
    .set_infer_shape(LikeInputsShape(1))
    .set_images({0b11, 0b1})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) { return 2 * ConvFlops(in[2], in[0], in[2].shape[0]); })
    .set_gradient([](const NodePtr& n, const std::vector<NodeEntry>& og) { return BilinearSecondGradient("Convolution", n, og); });

MXNET_REGISTER_OP(Deconvolution)
    .describe(
        "Transposed convolution: the gradient of Convolution with respect to its data (Zeiler et al., CVPR 2010).\n\n"
        "data has shape (batch, channels, spatial...), weight (channels, num_filter / num_group, kernel...), bias (num_filter,). Every "
        "spatial\n"
        "dimension of the output is (size - 1) stride + dilate (kernel - 1) + 1 - 2 pad + adj, or what target_shape says.")
    .alias("_npx_deconvolution")
    .set_trait(PreparesForShape{})
    .set_param<DeconvolutionParam>()
    .set_trait(NamesLayout{NamesChannelsLast<DeconvolutionParam>})
    .set_inputs({"data", "weight", "bias"}, Inputs<DeconvolutionParam>)
    .set_infer_shape(DeconvolutionShape)
    .set_dtypes(dtypes::kFloats)
    .set_images({0b1, 0b1})
    .set_expensive_to_recompute()
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) { return ConvFlops(in[1], in[0], in[1].shape[0]); })
    .set_gradient(BackwardNode("_backward_Deconvolution", kGradInputs));

MXNET_REGISTER_OP(_backward_Deconvolution)
    .describe("Gradients of Deconvolution with respect to data, weight and bias.")
    .set_param<DeconvolutionParam>()
    .set_trait(NamesLayout{NamesChannelsLast<DeconvolutionParam>})
    .set_inputs({"ograd", "data", "weight", "bias"}, BackwardInputs<DeconvolutionParam>)
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(3)
    .set_outputs({"data_grad", "weight_grad", "bias_grad"}, Inputs<DeconvolutionParam>)
    .set_infer_shape(LikeInputsShape(1))
    .set_images({0b11, 0b1})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) { return 2 * ConvFlops(in[2], in[1], in[2].shape[0]); })
    .set_gradient([](const NodePtr& n, const std::vector<NodeEntry>& og) { return BilinearSecondGradient("Deconvolution", n, og); });

}  // namespace

ConvDims DimsOf(const ConvolutionParam& p, const Shape& data, const Shape& out) { return Common(p, data, out); }

ConvDims DimsOf(const DeconvolutionParam& p, const Shape& data, const Shape& out) {
  ConvDims d = Common(p, out, data);
  const int nd = p.kernel.ndim(), shift = 3 - nd;
  for (int i = 0; i < nd; ++i) {
    int64_t adj;
    DeconvolutionPads(p, i, d.out[i + shift], &d.pad[i + shift], &adj);
  }
  return d;
}

}  // namespace nn

NodePtr MakePadded(const Node& convolution, const NodeEntry& data, const Shape& pad) {
  std::ostringstream text;
  text << pad;
  AttrDict dict = convolution.attrs->dict;
  dict["pad"] = text.str();
  auto made = std::make_shared<Node>();
  made->name = convolution.name;
  made->attrs = MakeAttrs(convolution.op(), std::move(dict));
  made->inputs = convolution.inputs;
  made->inputs[0] = data;
  return made;
}

}  // namespace mxnet
