// AdamW and AdaBelief for many weights in one call, and AdaBelief for one (Zhuang et al. 2020).
#include <cmath>
#include <cstring>

#include "mxnet/ndarray.h"
#include "operator/optimizer/multi_update.h"
#include "operator/optimizer/scaled_update.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace {

struct AdaBeliefParam : public Parameter<AdaBeliefParam> {
  float lr, beta1, beta2, epsilon, wd, eta, clip_gradient;
  MXNET_DECLARE_PARAM(AdaBeliefParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_BETAS;
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added to the variance and to its square root.");
    MXNET_UPDATE_WD;
    MXNET_FIELD(eta).describe("Factor of the schedule on the learning rate.");
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = static_cast<double>(lr) * eta, to->wd = wd, to->clip = UpdateBound(clip_gradient), to->beta1 = beta1, to->beta2 = beta2,
    to->epsilon = epsilon;
  }
};

struct MultiAdamParam : public Parameter<MultiAdamParam> {
  Tuple<float> lrs, wds, etas;
  float beta1, beta2, epsilon, clip_gradient;
  int num_weights;
  MXNET_DECLARE_PARAM(MultiAdamParam) {
    MXNET_FIELD(lrs).describe("Learning rate of each weight.");
    MXNET_UPDATE_BETAS;
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added to the square root.");
    MXNET_FIELD(wds).describe("Weight decay of each weight.");
    MXNET_FIELD(etas).describe("Factor of the schedule for each weight.");
    MXNET_UPDATE_CLIP;
    MXNET_FIELD(num_weights).set_default(1).describe("Number of weights.");
  }
};

MXNET_REGISTER_PARAM(AdaBeliefParam);
MXNET_REGISTER_PARAM(MultiAdamParam);

int Count(const Attrs& a) {
  const int n = a.get<MultiAdamParam>().num_weights;
  MXNET_CHECK_KIND(n >= 1, Value) << "[" << a.op->name << "] num_weights is " << n << "; accepted: 1 or more";
  return n;
}

void CheckLists(const Attrs& a) {
  const auto& p = a.get<MultiAdamParam>();
  const int n = p.num_weights;
  MXNET_CHECK_KIND(p.lrs.size() == n && p.wds.size() == n && p.etas.size() == n, Value)
      << "[" << a.op->name << "] got " << p.lrs.size() << " learning rates (lrs), " << p.wds.size() << " decays (wds) and " << p.etas.size()
      << " factors (etas); accepted: num_weights = " << n << " of each";
}

/* The factor of the schedule goes into learning rate and, where the decay is no part of the
 * gradient, into the decay. */
void MultiAdam(KernelArgs& a, UpdateRule rule, MomentGroups g) {
  const auto& p = a.param<MultiAdamParam>();
  const int n = p.num_weights;
  const TBlob& factor = a.in[n * g.stride()];
  const bool device = a.run.ctx.is_gpu();
  const double rescale = device ? 1 : FirstNumber(factor);
  const bool skip = !std::isfinite(rescale) || rescale == 0;
  std::vector<UpdateArgs> updates(n);
  std::vector<int64_t> sizes(n), ends(n);
  int64_t total = 0;
  for (int w = 0; w < n; ++w) {
    UpdateArgs& u = updates[w] = MomentArrays(a, g, w);
    u.rule = rule;
    const double eta = p.etas[w];
    u.numbers.lr = p.lrs[w] * eta;
    u.numbers.wd = rule == UpdateRule::kAdamW ? p.wds[w] * eta : p.wds[w];
    u.numbers.rescale = rescale;
    u.numbers.clip = UpdateBound(p.clip_gradient);
    u.numbers.beta1 = p.beta1, u.numbers.beta2 = p.beta2, u.numbers.epsilon = p.epsilon, u.numbers.eta = 1;
    sizes[w] = a.req[w] == OpReq::kNull ? 0 : a.out[w].Size();
    ends[w] = total += sizes[w];
    if (skip && sizes[w] && u.out != u.weight) std::memcpy(u.out, u.weight, a.out[w].Bytes());
  }
  if (skip) return;
  if (device) return UpdateOnDevice(a.run, updates.data(), sizes.data(), n, DeviceRates(), &factor);
  ForWeights(ends, [&](int w, int64_t begin, int64_t end) { MXNET_CPU_CALL(UpdateRange)(updates[w], begin, end); });
}

void Register(const char* name, UpdateRule rule, bool master, const char* text) {
  const MomentGroups g{master, true};
  SetMoments(name, g, Count, CheckLists).describe(text).set_param<MultiAdamParam>().set_kernel([rule, g](KernelArgs& a) {
    MultiAdam(a, rule, g);
  });
}

[[maybe_unused]] Op& belief =
    SetScaledUpdate<AdaBeliefParam>("_adabelief_update", UpdateRule::kAdaBelief, false)
        .describe(
            "AdaBelief (Zhuang et al., NeurIPS 2020): with g = clip(rescale_grad*grad + wd*weight), mean = beta1*mean + (1-beta1)*g, var = "
            "beta2*var + (1-beta2)*(g - mean)^2 + epsilon; weight -= eta*lr*mean/(sqrt(var) + epsilon). The caller corrects the bias "
            "through lr.\n\n"
            "`rescale_grad` is an array of one element; when it is 0 or not finite nothing is updated. `mean` and `var` are updated in "
            "place.");

[[maybe_unused]] Op& mp_belief =
    SetScaledUpdate<AdaBeliefParam>("_mp_adabelief_update", UpdateRule::kAdaBelief, true)
        .describe(
            "_adabelief_update for 16-bit weights: means and `weight32` are float32 and updated in place; the weight is rounded into the "
            "result.");

[[maybe_unused]] const bool registered = [] {
  Register("_multi_adamw_update", UpdateRule::kAdamW, false,
           "_adamw_update of several weights; `data` is weight, grad, mean, var of each in turn, then rescale_grad, an array of one "
           "element. Each mean and var is updated in place; when rescale_grad is 0 or not finite nothing is.");
  Register("_multi_mp_adamw_update", UpdateRule::kAdamW, true,
           "_mp_adamw_update of several weights; `data` is weight, grad, mean, var, weight32 of each in turn, then rescale_grad. Each "
           "mean, var and weight32 is updated in place; when rescale_grad is 0 or not finite nothing is.");
  Register("_multi_adabelief_update", UpdateRule::kAdaBelief, false,
           "_adabelief_update of several weights; `data` is weight, grad, mean, var of each in turn, then rescale_grad, an array of one "
           "element. Each mean and var is updated in place; when rescale_grad is 0 or not finite nothing is.");
  Register("_multi_mp_adabelief_update", UpdateRule::kAdaBelief, true,
           "_mp_adabelief_update of several weights; `data` is weight, grad, mean, var, weight32 of each in turn, then rescale_grad. "
           "Each mean, var and weight32 is updated in place; when rescale_grad is 0 or not finite nothing is.");
  return true;
}();

}  // namespace
}  // namespace mxnet
