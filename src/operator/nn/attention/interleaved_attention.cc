// Records of the attention products on interleaved projections.
#include "operator/nn/attention/interleaved_attention.h"

#include <string>

#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(InterleavedParam);

namespace {

int Heads(const Attrs& a) { return a.get<InterleavedParam>().heads; }

template <bool kSelf>
InterleavedView ReadInterleaved(const Attrs& a) {
  return {Heads(a), kSelf};
}

// Checks (steps, batch, heads * parts * size); returns false when something is open.
bool CheckProjection(const Attrs& attrs, const char* name, const Shape& s, int parts) {
  if (!s.ndim_known()) return false;
  MXNET_CHECK_KIND(s.ndim() == 3, Value) << Named(attrs) << name << " has shape " << s << "; (steps, batch, features) is needed";
  if (!s.known()) return false;
  MXNET_CHECK_KIND(s[2] % (static_cast<int64_t>(parts) * Heads(attrs)) == 0, Value)
      << Named(attrs) << name << " has " << s[2] << " features; a multiple of " << parts << " * heads = " << parts * Heads(attrs)
      << " is needed";
  return true;
}

bool SelfScoresShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!CheckProjection(attrs, "queries_keys_values", s, 3)) return false;
  AssignShape(attrs, "output", &(*out)[0], Shape({s[1] * Heads(attrs), s[0], s[0]}));
  return true;
}

bool SelfValuesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!CheckProjection(attrs, "queries_keys_values", s, 3)) return false;
  AssignShape(attrs, "attention", &(*in)[1], Shape({s[1] * Heads(attrs), s[0], s[0]}));
  AssignShape(attrs, "output", &(*out)[0], Shape({s[0], s[1], s[2] / 3}));
  return true;
}

bool CrossScoresShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &q = (*in)[0], &kv = (*in)[1];
  const bool both = CheckProjection(attrs, "queries", q, 1);
  if (!CheckProjection(attrs, "keys_values", kv, 2) || !both) return false;
  MXNET_CHECK_KIND(q[1] == kv[1] && 2 * q[2] == kv[2], Value)
      << Named(attrs) << "queries have shape " << q << ", keys_values " << kv << "; the same batch and twice the features are needed";
  AssignShape(attrs, "output", &(*out)[0], Shape({q[1] * Heads(attrs), q[0], kv[0]}));
  return true;
}

bool CrossValuesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &kv = (*in)[0], &attention = (*in)[1];
  if (!CheckProjection(attrs, "keys_values", kv, 2) || !attention.known()) return false;
  MXNET_CHECK_KIND(attention.ndim() == 3 && attention[0] == kv[1] * Heads(attrs) && attention[2] == kv[0], Value)
      << Named(attrs) << "attention has shape " << attention << "; (" << kv[1] * Heads(attrs) << ", queries, " << kv[0] << ") is needed";
  AssignShape(attrs, "output", &(*out)[0], Shape({attention[1], kv[1], kv[2] / 2}));
  return true;
}

// Backward inputs: the gradient of the output, then the inputs; outputs: their gradients.
GradientFn GradientBy(const char* backward) {
  return [backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    std::vector<NodeEntry> inputs = {ograds[0]};
    inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
    const NodePtr back = MakeNodeLike(backward, *node, std::move(inputs));
    std::vector<NodeEntry> grads;
    for (size_t i = 0; i < node->inputs.size(); ++i) grads.push_back(NodeEntry{back, static_cast<uint32_t>(i), 0});
    return grads;
  };
}

// The result is bilinear in the two inputs.
GradientFn SecondGradientBy(const char* forward) {
  return [forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) { return BilinearSecondGradient(forward, node, ograds); };
}

// Scores are bilinear in queries and keys, which are both in one array here: with u from above, the
// gradient's gradient is scores of u's queries and x's keys, and of x's queries and u's keys.
std::vector<NodeEntry> SelfScoresSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const std::string heads = std::to_string(Heads(*node->attrs));
  auto parts = [&](const NodeEntry& x, int begin, int end) {
    const NodeEntry apart = MakeOp("Reshape", {x}, {{"shape", "(0, 0, " + heads + ", 3, -1)"}});
    const NodeEntry taken = MakeOp("slice_axis", {apart}, {{"axis", "3"}, {"begin", std::to_string(begin)}, {"end", std::to_string(end)}});
    return MakeOp("Reshape", {taken}, {{"shape", "(0, 0, -1)"}});
  };
  auto scores = [&](const NodeEntry& queries, const NodeEntry& keys) {
    return NodeEntry{MakeNodeLike("_contrib_interleaved_matmul_encdec_qk", *node, {parts(queries, 0, 1), parts(keys, 1, 3)}), 0, 0};
  };
  const NodeEntry &og = node->inputs[0], &x = node->inputs[1], &u = ograds[0];
  return {MakeOp("elemwise_add", {scores(u, x), scores(x, u)}),
          NodeEntry{MakeNodeLike("_backward_interleaved_matmul_selfatt_qk", *node, {og, u}), 0, 0}};
}

MXNET_REGISTER_OP(_contrib_interleaved_matmul_selfatt_qk)
    .describe(
        "Scores of self-attention: for every sequence and head, queries times keys, divided by the square root of a head's size.\n\n"
        "queries_keys_values: (steps, batch, heads * 3 * size), per head the query, the key and the value. Output: (batch * heads, steps, "
        "steps).")
    .alias("_npx_interleaved_matmul_selfatt_qk")
    .set_trait(Role::kAttentionScores)
    .set_trait(ViewOf<InterleavedView>{ReadInterleaved<true>})
    .set_param<InterleavedParam>()
    .set_inputs({"queries_keys_values"})
    .set_infer_shape(SelfScoresShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_interleaved_matmul_selfatt_qk"));

MXNET_REGISTER_OP(_contrib_interleaved_matmul_selfatt_valatt)
    .describe(
        "Output of self-attention: for every sequence and head, attention times values.\n\n"
        "queries_keys_values: (steps, batch, heads * 3 * size); attention: (batch * heads, steps, steps). Output: (steps, batch, heads * "
        "size).")
    .alias("_npx_interleaved_matmul_selfatt_valatt")
    .set_trait(Role::kAttentionValues)
    .set_trait(ViewOf<InterleavedView>{ReadInterleaved<true>})
    .set_param<InterleavedParam>()
    .set_inputs({"queries_keys_values", "attention"})
    .set_infer_shape(SelfValuesShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_interleaved_matmul_selfatt_valatt"));

MXNET_REGISTER_OP(_contrib_interleaved_matmul_encdec_qk)
    .describe(
        "Scores of attention between two sequences: queries times keys, divided by the square root of a head's size.\n\n"
        "queries: (query steps, batch, heads * size); keys_values: (steps, batch, heads * 2 * size), per head the key and the value.\n"
        "Output: (batch * heads, query steps, steps).")
    .alias("_npx_interleaved_matmul_encdec_qk")
    .set_trait(Role::kAttentionScores)
    .set_trait(ViewOf<InterleavedView>{ReadInterleaved<false>})
    .set_param<InterleavedParam>()
    .set_inputs({"queries", "keys_values"})
    .set_infer_shape(CrossScoresShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_interleaved_matmul_encdec_qk"));

MXNET_REGISTER_OP(_contrib_interleaved_matmul_encdec_valatt)
    .describe(
        "Output of attention between two sequences: attention times values.\n\n"
        "keys_values: (steps, batch, heads * 2 * size); attention: (batch * heads, query steps, steps). Output: (query steps, batch, heads "
        "* size).")
    .alias("_npx_interleaved_matmul_encdec_valatt")
    .set_trait(Role::kAttentionValues)
    .set_trait(ViewOf<InterleavedView>{ReadInterleaved<false>})
    .set_param<InterleavedParam>()
    .set_inputs({"keys_values", "attention"})
    .set_infer_shape(CrossValuesShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_interleaved_matmul_encdec_valatt"));

MXNET_REGISTER_OP(_backward_interleaved_matmul_selfatt_qk)
    .describe("Gradient of the scores of self-attention.")
    .set_param<InterleavedParam>()
    .set_inputs({"ograd", "queries_keys_values"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"queries_keys_values_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient(SelfScoresSecondGradient);
MXNET_REGISTER_OP(_backward_interleaved_matmul_selfatt_valatt)
    .describe("Gradient of the output of self-attention.")
    .set_param<InterleavedParam>()
    .set_inputs({"ograd", "queries_keys_values", "attention"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"queries_keys_values_grad", "attention_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient(SecondGradientBy("_contrib_interleaved_matmul_selfatt_valatt"));
MXNET_REGISTER_OP(_backward_interleaved_matmul_encdec_qk)
    .describe("Gradient of the scores of attention between two sequences.")
    .set_param<InterleavedParam>()
    .set_inputs({"ograd", "queries", "keys_values"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"queries_grad", "keys_values_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient(SecondGradientBy("_contrib_interleaved_matmul_encdec_qk"));
MXNET_REGISTER_OP(_backward_interleaved_matmul_encdec_valatt)
    .describe("Gradient of the output of attention between two sequences.")
    .set_param<InterleavedParam>()
    .set_inputs({"ograd", "keys_values", "attention"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"keys_values_grad", "attention_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient(SecondGradientBy("_contrib_interleaved_matmul_encdec_valatt"));

}  // namespace
}  // namespace nn
}  // namespace mxnet
