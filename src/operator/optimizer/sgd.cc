// Stochastic gradient descent: plain, with momentum (Polyak 1964), Nesterov's (Sutskever et al.
// 2013), by sign (Bernstein et al. 2018).
#include "mxnet/op.h"
#include "operator/optimizer/row_update.h"
#include "operator/optimizer/update.h"

namespace mxnet {
namespace {

struct SgdParam : public Parameter<SgdParam> {
  float lr, wd, rescale_grad, clip_gradient;
  bool lazy_update;
  MXNET_DECLARE_PARAM(SgdParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_LAZY;
  }
  void Fill(UpdateNumbers* to) const { to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient); }
};

struct SgdMomParam : public Parameter<SgdMomParam> {
  float lr, momentum, wd, rescale_grad, clip_gradient;
  bool lazy_update;
  MXNET_DECLARE_PARAM(SgdMomParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(momentum).set_default(0.0f).describe("Share of the previous step that is kept.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_LAZY;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->momentum = momentum;
  }
};

struct NagParam : public Parameter<NagParam> {
  float lr, momentum, wd, rescale_grad, clip_gradient;
  MXNET_DECLARE_PARAM(NagParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(momentum).set_default(0.0f).describe("Share of the previous step that is kept.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->momentum = momentum;
  }
};

struct SignSgdParam : public Parameter<SignSgdParam> {
  float lr, wd, rescale_grad, clip_gradient;
  MXNET_DECLARE_PARAM(SignSgdParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const { to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient); }
};

struct SignumParam : public Parameter<SignumParam> {
  float lr, momentum, wd, rescale_grad, clip_gradient, wd_lh;
  MXNET_DECLARE_PARAM(SignumParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(momentum).set_default(0.0f).describe("Share of the previous momentum that is kept.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_FIELD(wd_lh).set_default(0.0f).describe("Weight decay applied to the weight itself rather than to the gradient.");
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->momentum = momentum,
    to->wd_of_weight = wd_lh;
  }
};

MXNET_REGISTER_PARAM(SgdParam);
MXNET_REGISTER_PARAM(SgdMomParam);
MXNET_REGISTER_PARAM(NagParam);
MXNET_REGISTER_PARAM(SignSgdParam);
MXNET_REGISTER_PARAM(SignumParam);

[[maybe_unused]] Op& sgd = SetUpdate<SgdParam>(Op::Register("sgd_update"), UpdateRule::kSgd, {"weight", "grad"})
                               .alias("_sparse_sgd_update")
                               .describe("Gradient descent: weight = (1 - lr*wd)*weight - lr*clip(rescale_grad*grad).");

[[maybe_unused]] Op& sgd_mom = SetUpdate<SgdMomParam>(Op::Register("sgd_mom_update"), UpdateRule::kSgdMom, {"weight", "grad", "mom"})
                                   .alias("_sparse_sgd_mom_update")
                                   .describe(
                                       "Gradient descent with momentum (Polyak 1964): mom = momentum*mom - lr*(clip(rescale_grad*grad) + "
                                       "wd*weight); weight += mom. `mom` is updated in place.");

[[maybe_unused]] const bool sgd_rows[] = {
    DeclareRowUpdate<SgdParam>("sgd_update", UpdateRule::kSgd, 0, RowUpdateStates::kEither),
    DeclareRowUpdate<SgdMomParam>("sgd_mom_update", UpdateRule::kSgdMom, 1, RowUpdateStates::kEither)};

[[maybe_unused]] Op& mp_sgd = SetUpdate<SgdParam>(Op::Register("mp_sgd_update"), UpdateRule::kSgd, {"weight", "grad", "weight32"}, true)
                                  .describe(
                                      "sgd_update for 16-bit weights: computed on the float32 copy `weight32`, which is updated in place "
                                      "and rounded into the result.");

[[maybe_unused]] Op& mp_sgd_mom =
    SetUpdate<SgdMomParam>(Op::Register("mp_sgd_mom_update"), UpdateRule::kSgdMom, {"weight", "grad", "mom", "weight32"}, true)
        .describe(
            "sgd_mom_update for 16-bit weights: computed on the float32 copies `weight32` and `mom`, updated in place; the weight is "
            "rounded into the result.");

[[maybe_unused]] Op& nag = SetUpdate<NagParam>(Op::Register("nag_mom_update"), UpdateRule::kNag, {"weight", "grad", "mom"})
                               .describe(
                                   "Nesterov's accelerated gradient (Sutskever et al., ICML 2013): with g = clip(rescale_grad*grad) + "
                                   "wd*weight, mom = momentum*mom - lr*g; "
                                   "weight += momentum*mom - lr*g. `mom` is updated in place; where the weight is too, the decay in "
                                   "`mom` is of the new weight, as in 1.9.1.");

[[maybe_unused]] Op& mp_nag =
    SetUpdate<NagParam>(Op::Register("mp_nag_mom_update"), UpdateRule::kNag, {"weight", "grad", "mom", "weight32"}, true)
        .describe(
            "nag_mom_update for 16-bit weights: computed on the float32 copies `weight32` and `mom`, updated in place; the weight is "
            "rounded into the result.");

[[maybe_unused]] Op& signsgd = SetUpdate<SignSgdParam>(Op::Register("signsgd_update"), UpdateRule::kSignSgd, {"weight", "grad"})
                                   .describe("signSGD (Bernstein et al., ICML 2018): weight = (1 - lr*wd)*weight - lr*sign(grad).");

[[maybe_unused]] Op& signum =
    SetUpdate<SignumParam>(Op::Register("signum_update"), UpdateRule::kSignum, {"weight", "grad", "mom"})
        .describe(
            "Signum (Bernstein et al., ICML 2018): mom = momentum*mom - (1-momentum)*(wd*weight + clip(rescale_grad*grad)); "
            "weight = (1 - lr*wd_lh)*weight + lr*sign(mom). `mom` is updated in place.");

}  // namespace
}  // namespace mxnet
