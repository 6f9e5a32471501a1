// Means and variances together.
#include "operator/reduce/moments.h"

#include "base/round_up.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/reduce/records.h"

namespace mxnet {
namespace reduce {

struct MomentsParam : public Parameter<MomentsParam> {
  std::optional<Shape> axes;
  bool keepdims;
  MXNET_DECLARE_PARAM(MomentsParam) {
    MXNET_FIELD(axes).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
  }
};
MXNET_REGISTER_PARAM(MomentsParam);

namespace {
using pointwise::Operand;
using pointwise::Simple;

}  // namespace

void Variance(const KernelArgs& call, const TBlob& in, const std::vector<char>& reduced, const Finish& finish, const TBlob* mean,
              OpReq mean_req, const TBlob& out, OpReq req) {
  const Shape kept = ReducedShape(in.shape, reduced, true, false);
  const int compute = pointwise::ComputeFor(in.dtype, false), dtype = pointwise::ComputeDType(compute);
  const size_t mean_bytes = RoundUp(kept.Size() * DTypeSize(dtype), 64);
  char* memory = static_cast<char*>(call.workspace(mean_bytes + RoundUp(in.Size() * DTypeSize(dtype), 64) + 64));
  const TBlob centre{memory, kept, dtype, call.run.ctx}, deviation{memory + mean_bytes, in.shape, dtype, call.run.ctx};
  Finish average;
  average.divisor = CountOf(in.shape, reduced);
  Reduce(call, kSum, in, reduced, average, true, centre, OpReq::kWrite);
  if (mean && mean_req != OpReq::kNull) {
    TBlob same = *mean;
    same.shape = kept;
    pointwise::ExecuteCast(call.run, centre, same, mean_req);
  }
  if (req == OpReq::kNull) return;
  const Operand operands[2] = {in, centre};
  pointwise::Execute(call.run, pointwise::Forward(pointwise::k_sub), compute, operands, 2, pointwise::kBinaryMasks, nullptr, deviation,
                     OpReq::kWrite);
  Reduce(call, kSumSquare, deviation, reduced, finish, true, out, req);
}

namespace {

std::vector<char> MomentsReduced(const Attrs& attrs, int ndim) {
  return ReducedDims(attrs.op->name, attrs.get<MomentsParam>().axes, false, true, ndim);
}

// Of integers: the mean cut off, and the mean square around that, cut off, too.
void WholeMoments(KernelArgs& a, const std::vector<char>& reduced, const Finish& average) {
  const TBlob& in = a.in[0];
  const Shape kept = ReducedShape(in.shape, reduced, true, false);
  const size_t mean_bytes = RoundUp(kept.Size() * DTypeSize(in.dtype), 64);
  char* memory = static_cast<char*>(a.workspace(mean_bytes + RoundUp(in.Size() * sizeof(int64_t), 64) + 64));
  const TBlob centre{memory, kept, in.dtype, a.run.ctx}, deviation{memory + mean_bytes, in.shape, kInt64, a.run.ctx};
  Reduce(a, kSum, in, reduced, average, true, centre, OpReq::kWrite);
  if (a.req[0] != OpReq::kNull) {
    TBlob mean = a.out[0];
    mean.shape = kept;
    pointwise::ExecuteCast(a.run, centre, mean, a.req[0]);
  }
  if (a.req[1] == OpReq::kNull) return;
  const Operand operands[2] = {in, centre};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_sub), pointwise::kI64, operands, 2, pointwise::kBinaryMasks, nullptr, deviation,
                     OpReq::kWrite);
  Reduce(a, kSumSquare, deviation, reduced, average, true, a.out[1], a.req[1]);
}

MXNET_REGISTER_OP(moments)
    .describe("Mean and (biased) variance over axes. Of integers both are cut off, and the variance is that around the cut mean.")
    .set_param<MomentsParam>()
    .set_inputs({"data"})
    .set_outputs({"output0", "output1"})
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kClassicNumbers)
    .set_supports_add()
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const Shape& s = (*in)[0];
      if (!s.ndim_known()) return false;
      const Shape result = ReducedShape(s, MomentsReduced(attrs, s.ndim()), attrs.get<MomentsParam>().keepdims, true);
      AssignShape(attrs, "mean", &(*out)[0], result);
      AssignShape(attrs, "variance", &(*out)[1], result);
      return s.known();
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const MomentsParam& p = node->attrs->get<MomentsParam>();
      const NodeEntry& x = node->inputs[0];
      const AttrDict axes = AxesDict(p.axes, p.keepdims);
      NodeEntry centred = Simple("broadcast_sub", {x, MakeOp("mean", {x}, AxesDict(p.axes, true))});
      NodeEntry from_mean = MakeOp("_backward_mean", {ograds[0], x}, axes);
      NodeEntry from_variance = MakeOp("_backward_mean", {Scalar("_mul_scalar", ograds[1], 2), x}, axes);
      return std::vector<NodeEntry>{Simple("elemwise_add", {from_mean, Mul(from_variance, centred)})};
    })
    .set_kernel([](KernelArgs& a) {
      const std::vector<char> reduced = MomentsReduced(*a.attrs, a.in[0].shape.ndim());
      Finish finish;
      finish.divisor = CountOf(a.in[0].shape, reduced);
      if (!IsFloating(a.in[0].dtype)) return WholeMoments(a, reduced, finish);
      Variance(a, a.in[0], reduced, finish, &a.out[0], a.req[0], a.out[1], a.req[1]);
    });

}  // namespace
}  // namespace reduce
}  // namespace mxnet
