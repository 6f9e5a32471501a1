// Records of FullyConnected and its gradient.
#include "operator/nn/dense/fully_connected.h"

#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(FullyConnectedParam);

namespace {

// From data to weight and output; from the output back to the batch, from a given weight to the
// features of data.
void ShapeOf(const Attrs& attrs, Shape* data, Shape* weight, Shape* bias, Shape* out) {
  const auto& p = attrs.get<FullyConnectedParam>();
  AssignShape(attrs, "weight", weight, Shape{p.num_hidden, Shape::kUnknownDim});
  // A row_sparse bias is a column; kernels see its elements alone.
  const bool column = bias && bias->ndim_known() && bias->ndim() == 2;
  if (bias) AssignShape(attrs, "bias", bias, column ? Shape{p.num_hidden, 1} : Shape{p.num_hidden});
  if (!data->ndim_known()) {
    if (!p.flatten && out->ndim_known()) {
      Shape d = *out;
      d[d.ndim() - 1] = (*weight)[1];
      *data = d;
    } else {
      return;
    }
  }
  MXNET_CHECK_KIND(data->ndim() >= 1, Value) << Named(attrs) << "data has shape " << *data << "; at least one dimension is needed";
  Shape expected;
  int64_t features = Shape::kUnknownDim;
  if (p.flatten) {
    bool known = true;
    for (int i = 1; i < data->ndim(); ++i) known = known && (*data)[i] >= 0;
    if (known) features = data->Prod(1, data->ndim());
    expected = Shape{(*data)[0], p.num_hidden};
  } else {
    features = (*data)[data->ndim() - 1];
    expected = *data;
    expected[expected.ndim() - 1] = p.num_hidden;
  }
  AssignShape(attrs, "weight", weight, Shape{p.num_hidden, features});
  AssignShape(attrs, "output", out, expected);
  if (p.flatten) {
    if ((*data)[0] < 0) (*data)[0] = (*out)[0];
    if (data->ndim() == 2 && (*data)[1] < 0) (*data)[1] = (*weight)[1];
  } else {
    for (int i = 0; i + 1 < data->ndim(); ++i) (*data)[i] = (*out)[i];
    if ((*data)[data->ndim() - 1] < 0) (*data)[data->ndim() - 1] = (*weight)[1];
  }
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  ShapeOf(attrs, &(*in)[0], &(*in)[1], in->size() > 2 ? &(*in)[2] : nullptr, &(*out)[0]);
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return (*out)[0].known();
}

MXNET_REGISTER_OP(FullyConnected)
    .set_expensive_to_recompute()
    .describe(
        "Dense layer: output = data * weight^T + bias.\n\n"
        "data has shape (batch, ...), weight (num_hidden, features), bias (num_hidden,); the output has shape (batch, num_hidden), or, "
        "with\n"
        "flatten=False, that of data with the last dimension replaced by num_hidden. float16, bfloat16, float32 and float64.")
    .alias("_npx_fully_connected")
    .set_trait(Role::kDense)
    .set_trait(Quantized{"_contrib_quantized_fully_connected"})
    .set_trait(AsksForWeights{0b10, true})
    .set_trait(graph_ops::WideBias{2})
    .alias("_sparse_FullyConnected")
    .set_trait(LayerTrait{"_fused_dense", [](const Attrs&, int ndim) { return ndim - 1; }})
    .set_param<FullyConnectedParam>()
    .set_inputs({"data", "weight", "bias"}, [](const Attrs& a) { return a.get<FullyConnectedParam>().no_bias ? 2 : 3; })
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * out[0].Size() * (in[1].shape[1] > 0 ? in[1].shape[1] : 1);
    })
    .set_gradient(BackwardNode("_backward_FullyConnected", kGradInputs));

int BackwardInputs(const Attrs& a) { return a.get<FullyConnectedParam>().no_bias ? 3 : 4; }
MXNET_REGISTER_OP(_backward_FullyConnected)
    .describe("Gradients of FullyConnected with respect to data, weight and bias.")
    .set_param<FullyConnectedParam>()
    .set_inputs({"ograd", "data", "weight", "bias"}, BackwardInputs)
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(3)
    .set_outputs({"data_grad", "weight_grad", "bias_grad"}, [](const Attrs& a) { return BackwardInputs(a) - 1; })
    .set_infer_shape(LikeInputsShape(1))
    .set_supports_add()
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
      return 4.0 * in[0].Size() * (in[2].shape[1] > 0 ? in[2].shape[1] : 1);
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return BilinearSecondGradient("FullyConnected", node, ograds);
    });

}  // namespace
}  // namespace nn
}  // namespace mxnet
