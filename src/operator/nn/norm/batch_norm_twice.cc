#include "operator/nn/norm/batch_norm_twice.h"

#include <string>

#include "operator/matrix/move.h"
#include "operator/nn/norm/second_gradient.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace nn {
namespace {

enum { kOgrad, kData, kGamma, kMovingMean, kMovingVar, kMean, kInvStd, kBeta };

// Only the run knows whether it trains, so this is a node of its own.
const char* const kOfTheBatch = "_batch_norm_of_the_batch";

void OfTheBatch(KernelArgs& a) {
  if (!Wanted(a, 0) || a.out[0].Size() == 0) return;
  const auto bytes = static_cast<int64_t>(a.out[0].Bytes());
  if (!UsesBatch(a)) return ZeroBytes(a.run, a.out[0].dptr, bytes);
  if (a.in[0].dptr != a.out[0].dptr) CopyBytes(a.run, a.in[0].dptr, a.out[0].dptr, bytes);
}

MXNET_REGISTER_OP(_batch_norm_of_the_batch)
    .describe("data where BatchNorm would use the batch's mean and variance, else zeros.")
    .set_param<BatchNormParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_inplace({{0, 0}})
    .set_layout(LayoutRule::kAgnostic)
    .set_depends_on_training()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike(kOfTheBatch, *node, {ograds[0]}), 0, 0}};
    })
    .set_kernel(OfTheBatch);

}  // namespace

std::vector<NodeEntry> BatchNormSecondGradientOf(const BatchNormParam& p, const std::vector<NodeEntry>& in,
                                                 const std::vector<NodeEntry>& ograds) {
  const std::string axis = std::to_string(p.axis);
  const AttrDict dict = {
      {"eps", ExactText(p.eps)}, {"axis", axis}, {"fix_gamma", "0"}, {"use_global_stats", p.use_global_stats ? "1" : "0"}};
  Normalization norm;
  norm.ograd = in[kOgrad], norm.data = in[kData], norm.gamma = in[kGamma], norm.eps = p.eps;
  norm.over = {{"axis", axis}, {"exclude", "1"}, {"keepdims", "1"}};
  norm.forward = [&](const NodeEntry& gamma, const NodeEntry& beta) {
    return MakeOp("_backward_BatchNorm_recompute", {in[kData], gamma, beta, in[kMean], in[kInvStd]}, dict);
  };
  norm.backward = [&](const NodeEntry& ograd, const NodeEntry& gamma, uint32_t result) {
    NodeEntry first =
        MakeOp("_backward_BatchNorm", {ograd, in[kData], gamma, in[kMovingMean], in[kMovingVar], in[kMean], in[kInvStd]}, dict);
    first.index = result;
    return first;
  };
  norm.of_the_data = [&](const NodeEntry& z) { return MakeOp(kOfTheBatch, {z}, dict); };
  std::vector<NodeEntry> above = ograds;
  if (p.fix_gamma) norm.gamma = MakeOp("ones_like", {in[kGamma]}), above[1] = MakeOp("zeros_like", {in[kGamma]});
  std::vector<NodeEntry> grads = NormalizationSecondGradient(norm, above);
  if (p.fix_gamma) grads[2] = NodeEntry();
  grads.resize(in.size());
  return grads;
}

std::vector<NodeEntry> BatchNormSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  return BatchNormSecondGradientOf(node->attrs->get<BatchNormParam>(), node->inputs, ograds);
}

std::vector<NodeEntry> BatchNormReluSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> in = node->inputs;
  const NodeEntry normalized{
      MakeNodeLike("_backward_BatchNorm_recompute", *node, {in[kData], in[kGamma], in[kBeta], in[kMean], in[kInvStd]}), 0, 0};
  const NodeEntry passes = MakeOp("_greater_scalar", {normalized}, {{"scalar", "0"}, {"is_int", "0"}});
  in[kOgrad] = MakeOp("elemwise_mul", {in[kOgrad], passes});
  std::vector<NodeEntry> grads = BatchNormSecondGradientOf(node->attrs->get<BatchNormParam>(), in, ograds);
  grads[kOgrad] = MakeOp("elemwise_mul", {grads[kOgrad], passes});
  return grads;
}

}  // namespace nn
}  // namespace mxnet
