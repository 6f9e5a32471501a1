// IdentityAttachKLSparseReg: the identity, whose gradient gets that of a penalty on units that are
// active more often than wanted (the sparse autoencoder's; Ng, CS294A lecture notes, 2011).
#include <algorithm>
#include <string>

#include "operator/control/written_out.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/initial_value.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct KLSparseRegParam : public Parameter<KLSparseRegParam> {
  float sparseness_target, penalty, momentum;
  MXNET_DECLARE_PARAM(KLSparseRegParam) {
    MXNET_FIELD(sparseness_target).set_default(0.1f).set_range(0, 1).describe("Activity that a unit should have on average.");
    MXNET_FIELD(penalty).set_default(0.001f).describe("Weight of the penalty.");
    MXNET_FIELD(momentum).set_default(0.9f).set_range(0, 1).describe("Part of the old value that a moving average keeps.");
  }
};
MXNET_REGISTER_PARAM(KLSparseRegParam);

namespace {

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 2, Value) << Named(attrs) << "data has shape " << data << "; (batch, units, ...) is needed";
  AssignShape(attrs, "moving_avg", &(*in)[1], Shape{data[1]});
  return data.known();
}

void Forward(KernelArgs& a) {
  if (Wanted(a, 0)) CopyBytes(a.run, a.in[0].dptr, a.out[0].dptr, static_cast<int64_t>(a.in[0].Bytes()));
}

double SlopeOf(const KLSparseRegParam& p, double average) {
  const double target = static_cast<double>(p.sparseness_target);
  return static_cast<double>(p.penalty) * ((1 - target) / (1 - average) - target / average);
}

// ograd, data, moving_avg -> data_grad; moves the average first
void Penalize(KernelArgs& args) {
  if (args.in[1].Size() == 0) return;
  const auto& p = args.param<KLSparseRegParam>();
  const Shape& s = args.in[1].shape;
  const int64_t outer = s[0], units = s[1], inner = s.Prod(2, s.ndim());
  const double keep = static_cast<double>(p.momentum);
  if (args.run.ctx.is_gpu()) {
    const void* dx = Wanted(args, 0) ? args.out[0].dptr : nullptr;
    rtc::Arguments a;
    a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(dx).Add(outer).Add(inner).Add(keep);
    a.Add(static_cast<double>(p.sparseness_target)).Add(static_cast<double>(p.penalty)).Add(units);
    return rtc::LaunchRows(args.run, {"operator/nn/loss/gpu_kl_sparse_reg.cuh", "kl_sparse_back", {args.in[1].dtype}}, units, &a);
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T *average = a.in[2].data<T>(), *dx = Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
    ParallelFor(units, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, outer * inner)), [&](int64_t b, int64_t e) {
      for (int64_t u = b; u < e; ++u) {
        double sum = 0;
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i) sum += static_cast<double>(x[(o * units + u) * inner + i]);
        const double mean = sum / static_cast<double>(outer * inner);
        average[u] = static_cast<T>(keep * static_cast<double>(average[u]) + (1 - keep) * mean);
        const T slope = static_cast<T>(SlopeOf(p, static_cast<double>(average[u])));
        if (!dx) continue;
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i) dx[(o * units + u) * inner + i] = og[(o * units + u) * inner + i] + slope;
      }
    });
  });
}

void Backward(KernelArgs& args) {
  Penalize(args);
  if (Wanted(args, 1)) CopyBytes(args.run, args.in[2].dptr, args.out[1].dptr, static_cast<int64_t>(args.in[2].Bytes()));
}

// The gradient is ograd + slope(average). The average is a result that says nothing of data, so the
// part of it that data moved is added here, and taken off again without a gradient.
std::vector<NodeEntry> Second(const NodePtr& node, const std::vector<NodeEntry>& above) {
  using written::Add;
  using written::Number;
  const auto& p = node->attrs->get<KLSparseRegParam>();
  const double target = static_cast<double>(p.sparseness_target), moves = 1 - static_cast<double>(p.momentum);
  const NodeEntry &u = above[0], &data = node->inputs[1];
  auto of_units = [](const NodeEntry& x) {  // (1, units, 1, ...)
    return MakeOp("mean", {x}, {{"axis", "1"}, {"exclude", "1"}, {"keepdims", "1"}});
  };
  auto constant = [](const NodeEntry& x) { return MakeOp("BlockGrad", {x}); };
  const NodeEntry moved = Number("_mul_scalar", of_units(data), moves);
  const NodeEntry became = MakeOp("reshape_like", {constant({node, 1, 0}), moved});
  const NodeEntry average = Add(became, written::Less(moved, constant(moved)));
  const NodeEntry above_target = MakeOp("square", {Number("_rminus_scalar", average, 1)}), below = MakeOp("square", {average});
  const NodeEntry bend = Add(Number("_rdiv_scalar", above_target, 1 - target), Number("_rdiv_scalar", below, target));
  const NodeEntry each = Number("_mul_scalar", written::Times(bend, of_units(u)), static_cast<double>(p.penalty) * moves);
  return {u, written::Times(graph_ops::OnesLike(data), each), NodeEntry()};
}

std::string InitialAverage(const Attrs&, const std::string& input) { return input == "moving_avg" ? "[\"zero\", {}]" : ""; }

MXNET_REGISTER_OP(IdentityAttachKLSparseReg)
    .describe(
        "Gives data as it is, and adds the gradient of a penalty on the mean activity of each unit (Ng, Sparse Autoencoder, CS294A lecture "
        "notes,\n"
        "2011).\n\n"
        "data has shape (batch, units, ...) and values between 0 and 1. The backward pass moves moving_avg, the mean activities (units,), "
        "and adds\n"
        "penalty ((1 - target) / (1 - moving_avg) - target / moving_avg) to every element's gradient.")
    .set_param<KLSparseRegParam>()
    .set_inputs({"data", "moving_avg"})
    .set_mutate_inputs({1})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_inplace({{0, 0}})
    .set_trait(InitialValues{InitialAverage})
    .set_gradient([](const NodePtr& n, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      const NodePtr back = MakeNodeLike("_backward_IdentityAttachKLSparseReg", *n, {ograds[0], n->inputs[0], n->inputs[1]});
      return {NodeEntry{back, 0, 0}, NodeEntry()};
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_IdentityAttachKLSparseReg)
    .describe("Gradient of IdentityAttachKLSparseReg with respect to data; moves moving_avg. The second result is what that became.")
    .set_param<KLSparseRegParam>()
    .set_inputs({"ograd", "data", "moving_avg"})
    .set_dtypes(dtypes::kAll)
    .set_mutate_inputs({2})
    .set_outputs(
        {"data_grad", "average"}, [](const Attrs&) { return 2; }, [](const Attrs&) { return 1; })
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      AssignShape(attrs, "data_grad", &(*out)[0], (*in)[1]);
      AssignShape(attrs, "average", &(*out)[1], (*in)[2]);
      return (*out)[0].known() && (*out)[1].known();
    })
    .set_infer_type(SameType)
    .set_gradient(Second)
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
