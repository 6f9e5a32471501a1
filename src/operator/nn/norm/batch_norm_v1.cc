// BatchNorm_v1: the BatchNorm of the first networks. It returns the variance where BatchNorm
// returns 1 / sqrt(variance + eps); everything else is shared.
#include <memory>

#include "operator/nn/norm/batch_norm_parts.h"

namespace mxnet {
namespace nn {

struct BatchNormV1Param : public Parameter<BatchNormV1Param> {
  float eps, momentum;
  bool fix_gamma, use_global_stats, output_mean_var;
  MXNET_DECLARE_PARAM(BatchNormV1Param) {
    MXNET_FIELD(eps).set_default(1e-3f).describe("Added to the variance.");
    MXNET_FIELD(momentum).set_default(0.9f).describe("Part of the old value that a moving average keeps.");
    MXNET_FIELD(fix_gamma).set_default(true).describe("Take gamma as 1, with gradient 0.");
    MXNET_FIELD(use_global_stats).set_default(false).describe("Use the moving averages in training too.");
    MXNET_FIELD(output_mean_var).set_default(false).describe("Also return the mean and the variance.");
  }
};
MXNET_REGISTER_PARAM(BatchNormV1Param);

namespace {

enum { kMovingMean = 3, kMovingVar };

// Parses into the parameters of BatchNorm.
Op& SetParam(Op& op) {
  op.set_param<BatchNormV1Param>();
  const auto parse = op.parse;
  op.parse = [parse](const AttrDict& dict) -> std::shared_ptr<const void> {
    const auto old = std::static_pointer_cast<const BatchNormV1Param>(parse(dict));
    auto p = std::make_shared<BatchNormParam>();
    TakeArguments(*old, p.get());
    return p;
  };
  return op;
}

void Forward(KernelArgs& a) {
  const OpReq req[3] = {a.req[0], OpReq::kNull, OpReq::kNull};
  const bool batch = a.in[0].Size() > 0 && UsesBatch(a);
  TBlob stats[2] = {a.in[kMovingMean], a.in[kMovingVar]};
  if (batch) {
    for (TBlob& s : stats) s = ZerosLike(a, s);
    BatchStatistics(a, stats[0], stats[1]);
  }
  auto p = std::make_shared<BatchNormParam>(a.param<BatchNormParam>());
  p->use_global_stats = true;
  const TBlob in[5] = {a.in[0], a.in[1], a.in[2], stats[0], stats[1]};
  RunBatchNorm("BatchNorm", a, Span<const TBlob>(in, 5), Span<const OpReq>(req, 3), a.out, p);
  for (int i = 0; i < 2; ++i) {
    if (Wanted(a, 1 + i)) CopyChannels(a, stats[i], a.out[1 + i]);
    if (batch) FollowBatch(a, stats[i], a.in[kMovingMean + i]);
  }
}

[[maybe_unused]] const bool registered = [] {
  Op &forward = Op::Register("BatchNorm_v1"), &backward = Op::Register("_backward_BatchNorm_v1");
  SetVarianceNorm(forward, backward);
  SetParam(forward)
      .describe(
          "Batch normalization (Ioffe and Szegedy, ICML 2015), as the first networks call it.\n\n"
          "The same as BatchNorm with channels in dimension 1, which new programs should use, but for output_mean_var, which returns the "
          "mean and\n"
          "the variance.")
      .set_kernel(Forward);
  SetParam(backward).describe("Gradients of BatchNorm_v1 with respect to data, gamma and beta.").set_kernel(VarianceNormBackward);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
