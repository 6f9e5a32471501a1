// Activation: relu, sigmoid, softrelu, softsign, tanh, log_sigmoid, mish.
#include "base/ran.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/recipe.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/shared/activation_kernels.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace nn {

struct ActivationParam : public Parameter<ActivationParam> {
  int act_type;
  MXNET_DECLARE_PARAM(ActivationParam) {
    MXNET_FIELD(act_type)
        .add_enum("relu", kActRelu)
        .add_enum("sigmoid", kActSigmoid)
        .add_enum("tanh", kActTanh)
        .add_enum("softrelu", kActSoftRelu)
        .add_enum("softsign", kActSoftSign)
        .add_enum("log_sigmoid", kActLogSigmoid)
        .add_enum("mish", kActMish)
        .describe("The function.");
  }
};
MXNET_REGISTER_PARAM(ActivationParam);

namespace {

constexpr int64_t kGrain = 1 << 14;

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (args.run.ctx.is_gpu()) return ActivationOnDevice(args, args.param<ActivationParam>().act_type, 0, false);
  Ran("vector loop");
  if (IsHalf(args.in[0].dtype)) {
    const int type = args.param<ActivationParam>().act_type;
    return ForPieces<1, 1>({args.in[0]}, {args.out[0]}, args.out[0].Size(), [&](float* const* v, int64_t, int64_t n) {
      MXNET_CPU_CALL(ActivationForward)(type, kFloat32, v[0], v[1], n, 0.0);
    });
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const int type = a.param<ActivationParam>().act_type, dtype = a.in[0].dtype;
    ParallelFor(a.out[0].Size(), kGrain, [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(ActivationForward)(type, dtype, x + b, y + b, e - b, 0.0);
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, value -> data_grad
  if (args.req[0] == OpReq::kNull) return;
  if (args.run.ctx.is_gpu()) return ActivationOnDevice(args, args.param<ActivationParam>().act_type, 0, true);
  Ran("vector loop");
  if (IsHalf(args.in[0].dtype)) {
    const int type = args.param<ActivationParam>().act_type;
    return ForPieces<2, 1>({args.in[0], args.in[1]}, {args.out[0]}, args.out[0].Size(), [&](float* const* v, int64_t, int64_t n) {
      MXNET_CPU_CALL(ActivationBackward)(type, kFloat32, v[0], v[1], v[2], n, 0.0);
    });
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T *og = a.in[0].data<T>(), *value = a.in[1].data<T>();
    T* dx = a.out[0].data<T>();
    const int type = a.param<ActivationParam>().act_type, dtype = a.in[0].dtype;
    ParallelFor(a.out[0].Size(), kGrain, [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(ActivationBackward)(type, dtype, og + b, value + b, dx + b, e - b, 0.0);
    });
  });
}

// What the derivative is computed from: the output, except for softsign and mish.
std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const int type = node->attrs->get<ActivationParam>().act_type;
  const bool from_input = type == kActSoftSign || type == kActMish;
  NodePtr back = MakeNodeLike("_backward_Activation", *node, {ograds[0], from_input ? node->inputs[0] : NodeEntry{node, 0, 0}});
  return {NodeEntry{back, 0, 0}};
}

// How the derivative of mish changes: with s = sigmoid(x) and t = tanh(softrelu(x)) it is
// 2 a + x a (1 - s - 2 s t) where a = s (1 - t^2).
NodeEntry MishBends(const NodeEntry& x) {
  const NodeEntry s = MakeOp("sigmoid", {x}), t = MakeOp("tanh", {MakeOp("_softrelu", {x})});
  const NodeEntry a = MakeOp("elemwise_mul", {s, MakeOp("_rminus_scalar", {MakeOp("square", {t})}, {{"scalar", "1"}})});
  const NodeEntry st = MakeOp("_mul_scalar", {MakeOp("elemwise_mul", {s, t})}, {{"scalar", "2"}});
  const NodeEntry rest = MakeOp("_rminus_scalar", {MakeOp("elemwise_add", {s, st})}, {{"scalar", "1"}});
  const NodeEntry inner = MakeOp("_plus_scalar", {MakeOp("elemwise_mul", {x, rest})}, {{"scalar", "2"}});
  return MakeOp("elemwise_mul", {a, inner});
}

// The node is og * d(v). With respect to og it is linear; with respect to v the derivative of d is
// built from pointwise operators.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry og = node->inputs[0], v = node->inputs[1];
  const NodeEntry to_og{MakeNodeLike("_backward_Activation", *node, {ograds[0], v}), 0, 0};
  NodeEntry slope;
  switch (node->attrs->get<ActivationParam>().act_type) {
    case kActSigmoid: slope = MakeOp("_rminus_scalar", {MakeOp("_mul_scalar", {v}, {{"scalar", "2"}})}, {{"scalar", "1"}}); break;
    case kActTanh: slope = MakeOp("_mul_scalar", {v}, {{"scalar", "-2"}}); break;
    case kActSoftRelu: slope = MakeOp("exp", {MakeOp("negative", {v})}); break;
    case kActLogSigmoid: slope = MakeOp("negative", {MakeOp("exp", {v})}); break;
    case kActMish: slope = MishBends(v); break;
    case kActSoftSign: {
      const NodeEntry d = MakeOp("_plus_scalar", {MakeOp("abs", {v})}, {{"scalar", "1"}});
      slope = MakeOp("elemwise_mul",
                     {MakeOp("_mul_scalar", {MakeOp("sign", {v})}, {{"scalar", "-2"}}), MakeOp("_power_scalar", {d}, {{"scalar", "-3"}})});
      break;
    }
    default: return {to_og, NodeEntry()};  // relu bends only at 0
  }
  return {to_og, MakeOp("elemwise_mul", {MakeOp("elemwise_mul", {og, ograds[0]}), slope})};
}

pointwise::FusionRecipe FusedAs(pointwise::Recipe::Kind kind, int operands) {
  pointwise::FusionRecipe recipe = pointwise::RecipeOfKind(kind);
  recipe.prepared.count = operands;
  recipe.fill = [](const Attrs& attrs, int, pointwise::Recipe* r) { return r->row = attrs.get<ActivationParam>().act_type, true; };
  return recipe;
}

Role RoleOfType(const Attrs& a) {
  switch (a.get<ActivationParam>().act_type) {
    case kActRelu: return Role::kRelu;
    case kActSigmoid: return Role::kSigmoid;
    case kActTanh: return Role::kTanh;
    default: return Role::kNone;
  }
}

MXNET_REGISTER_OP(Activation)
    .describe(
        "Element by element: relu max(x, 0), sigmoid 1 / (1 + exp(-x)), softrelu log(1 + exp(x)), softsign x / (1 + |x|), tanh, "
        "log_sigmoid log(sigmoid(x)), mish x tanh(softrelu(x)).\n\n"
        "The output has the shape and dtype of data: float16, bfloat16, float32 or float64.")
    .alias("_npx_activation")
    .set_trait(RoleByParameters{RoleOfType})
    .set_trait(AsEpilogue{[](const Attrs& a) {
      return a.get<ActivationParam>().act_type == kActSoftRelu ? EpilogueOp{EpilogueKind::kSoftRelu} : EpilogueOp();
    }})
    .set_trait(Quantized{"_contrib_quantized_act", {}, [](const Attrs& a) { return a.get<ActivationParam>().act_type == kActRelu; }})
    .set_param<ActivationParam>()
    .set_inputs({"data"})
    .set_infer_shape(ElemwiseShape)
    .set_dtypes(dtypes::kFloats)
    .set_layout(LayoutRule::kAgnostic)
    .set_inplace({{0, 0}})
    .set_gradient(Gradient)
    .set_precision_condition("act_type", {"softrelu"})
    .set_trait(FusedAs(pointwise::Recipe::kActivation, 1))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_contrib_quantized_act).set_param<ActivationParam>();

MXNET_REGISTER_OP(_backward_Activation)
    .describe("Gradient of Activation with respect to data.")
    .set_param<ActivationParam>()
    .set_inputs({"ograd", "value"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(ElemwiseShape)
    .set_layout(LayoutRule::kAgnostic)
    .set_inplace({{0, 0}, {1, 0}})
    .set_gradient(SecondGradient)
    .set_trait(FusedAs(pointwise::Recipe::kActivationGradient, 2))
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
