// Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019) and the two phases of LAMB (You et
// al. 2020).
#include <cmath>

#include "mxnet/op.h"
#include "operator/optimizer/row_update.h"
#include "operator/optimizer/scaled_update.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace {

struct AdamParam : public Parameter<AdamParam> {
  float lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient;
  bool lazy_update;
  MXNET_DECLARE_PARAM(AdamParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_BETAS;
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added to the square root.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_LAZY;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->beta1 = beta1, to->beta2 = beta2,
    to->epsilon = epsilon;
  }
};

struct AdamWParam : public Parameter<AdamWParam> {
  float lr, beta1, beta2, epsilon, wd, eta, clip_gradient;
  MXNET_DECLARE_PARAM(AdamWParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_BETAS;
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added to the square root.");
    MXNET_FIELD(wd).set_default(0.0f).describe("Weight decay, applied to the weight itself and not to the gradient.");
    MXNET_FIELD(eta).describe("Factor of the schedule on the whole step.");
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->clip = UpdateBound(clip_gradient), to->beta1 = beta1, to->beta2 = beta2, to->epsilon = epsilon,
    to->eta = eta;
  }
};

struct Lamb1Param : public Parameter<Lamb1Param> {
  float beta1, beta2, epsilon, wd, rescale_grad, clip_gradient;
  int t;
  bool bias_correction;
  MXNET_DECLARE_PARAM(Lamb1Param) {
    MXNET_UPDATE_BETAS;
    MXNET_FIELD(epsilon).set_default(1e-6f).describe("Added to the square root.");
    MXNET_FIELD(t).describe("Number of this update, from 1.");
    MXNET_FIELD(bias_correction).set_default(true).describe("Divide the means by 1 - beta^t.");
    MXNET_FIELD(wd).describe("Weight decay, added to the direction.");
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->beta1 = beta1, to->beta2 = beta2,
    to->epsilon = epsilon;
    to->unbias1 = bias_correction ? 1 / (1 - std::pow(static_cast<double>(beta1), t)) : 1;
    to->unbias2 = bias_correction ? 1 / (1 - std::pow(static_cast<double>(beta2), t)) : 1;
  }
};

struct Lamb2Param : public Parameter<Lamb2Param> {
  float lr, lower_bound, upper_bound;
  MXNET_DECLARE_PARAM(Lamb2Param) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(lower_bound).set_default(-1.0f).describe("Least norm of the weight that the trust ratio sees; negative: none.");
    MXNET_FIELD(upper_bound).set_default(-1.0f).describe("Largest norm of the weight that the trust ratio sees; negative: none.");
  }
};

MXNET_REGISTER_PARAM(AdamParam);
MXNET_REGISTER_PARAM(AdamWParam);
MXNET_REGISTER_PARAM(Lamb1Param);
MXNET_REGISTER_PARAM(Lamb2Param);

/* Inputs: weight, direction, norm of the weight, norm of the direction (, float32 weight). */
template <bool kMaster>
void Lamb2Kernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Lamb2Param& p = a.param<Lamb2Param>();
  UpdateArgs u{};
  u.rule = UpdateRule::kLamb2;
  u.dtype = a.in[0].dtype;
  u.weight = a.in[0].dptr;
  u.grad = a.in[1].dptr;
  if (kMaster) u.master = a.in[4].data<float>();
  u.out = a.out[0].dptr;
  if (a.run.ctx.is_gpu()) {
    DeviceNumbers numbers;
    numbers.kind = DeviceNumbers::kNorms;
    numbers.first = a.in[2];
    numbers.second = a.in[3];
    numbers.lower = p.lower_bound;
    numbers.upper = p.upper_bound;
    u.numbers.lr = p.lr;
    return UpdateOnDevice(a.run, u, a.in[0].Size(), numbers);
  }
  double weight_norm = FirstNumber(a.in[2]);
  const double direction_norm = FirstNumber(a.in[3]);
  if (p.lower_bound >= 0 && weight_norm < p.lower_bound) weight_norm = p.lower_bound;
  if (p.upper_bound >= 0 && weight_norm > p.upper_bound) weight_norm = p.upper_bound;
  u.numbers.lr = p.lr * (weight_norm == 0 || direction_norm == 0 ? 1 : weight_norm / direction_norm);
  ParallelFor(a.in[0].Size(), 0, [&u](int64_t begin, int64_t end) { MXNET_CPU_CALL(UpdateRange)(u, begin, end); });
}

[[maybe_unused]] Op& adam =
    SetUpdate<AdamParam>(Op::Register("adam_update"), UpdateRule::kAdam, {"weight", "grad", "mean", "var"})
        .alias("_sparse_adam_update")
        .describe(
            "Adam (Kingma and Ba, ICLR 2015): with g = clip(rescale_grad*grad + wd*weight), mean = beta1*mean + (1-beta1)*g, var = "
            "beta2*var + (1-beta2)*g*g; "
            "weight -= lr*mean/(sqrt(var) + epsilon). The caller corrects the bias through lr. `mean` and `var` are updated in place.");

[[maybe_unused]] const bool adam_rows = DeclareRowUpdate<AdamParam>("adam_update", UpdateRule::kAdam, 2, RowUpdateStates::kEither);

[[maybe_unused]] Op& adamw =
    SetScaledUpdate<AdamWParam>("_adamw_update", UpdateRule::kAdamW, false)
        .describe(
            "AdamW (Loshchilov and Hutter, ICLR 2019): Adam's means of g = clip(rescale_grad*grad); weight -= eta*(lr*mean/(sqrt(var) + "
            "epsilon) + wd*weight). "
            "`rescale_grad` is an array of one element; when it is 0 or not finite nothing is updated. `mean` and `var` are updated in "
            "place.");

[[maybe_unused]] Op& mp_adamw =
    SetScaledUpdate<AdamWParam>("_mp_adamw_update", UpdateRule::kAdamW, true)
        .describe(
            "_adamw_update for 16-bit weights: means and `weight32` are float32 and updated in place; the weight is rounded into the "
            "result.");

[[maybe_unused]] Op& lamb1 =
    SetUpdate<Lamb1Param>(Op::Register("lamb_update_phase1"), UpdateRule::kLamb1, {"weight", "grad", "mean", "var"})
        .set_inplace({{1, 0}})
        .describe(
            "LAMB (You et al., ICLR 2020), direction of the step: Adam's means of clip(rescale_grad*grad), divided by 1 - beta^t with "
            "bias_correction; "
            "mean/(sqrt(var) + epsilon) + wd*weight. `mean` and `var` are updated in place, the weight is not.");

[[maybe_unused]] Op& mp_lamb1 =
    SetUpdate<Lamb1Param>(Op::Register("mp_lamb_update_phase1"), UpdateRule::kLamb1, {"weight", "grad", "mean", "var", "weight32"}, true)
        .set_mutate_inputs({2, 3})
        .set_inplace(std::vector<std::pair<int, int>>{})
        .set_infer_type(UpdateType({2, 3, 4}, true))
        .describe("lamb_update_phase1 for 16-bit weights: reads `weight32`, the means and the result are float32.");

MXNET_REGISTER_OP(lamb_update_phase2)
    .describe(
        "LAMB (You et al., ICLR 2020), the step: weight -= lr*ratio*g, where g is the direction of phase 1 and ratio = r1/r2, the norms of "
        "weight "
        "(cut to [lower_bound, upper_bound]) and of g; 1 when either is 0.")
    .set_param<Lamb2Param>()
    .set_inputs({"weight", "g", "r1", "r2"})
    .set_inplace({{0, 0}})
    .set_infer_shape(ShapeWithScalars({2, 3}))
    .set_dtypes(dtypes::kFloats)
    .set_kernel(Lamb2Kernel<false>);

MXNET_REGISTER_OP(mp_lamb_update_phase2)
    .describe(
        "lamb_update_phase2 for 16-bit weights: `g`, the norms and `weight32` are float32; `weight32` is updated in place and rounded into "
        "the result.")
    .set_param<Lamb2Param>()
    .set_inputs({"weight", "g", "r1", "r2", "weight32"})
    .set_mutate_inputs({4})
    .set_inplace({{0, 0}})
    .set_infer_shape(ShapeWithScalars({2, 3}))
    .set_infer_type(UpdateType({1, 2, 3, 4}))
    .set_dtypes(dtypes::kFloats)
    .set_kernel(Lamb2Kernel<true>);

}  // namespace
}  // namespace mxnet
