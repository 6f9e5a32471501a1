// RMSProp (Tieleman and Hinton 2012; Graves 2013), AdaGrad (Duchi et al. 2011), FTRL-proximal
// (McMahan et al. 2013) and FTML (Zheng and Kwok 2017).
#include <algorithm>
#include <cmath>

#include "mxnet/op.h"
#include "operator/optimizer/row_update.h"
#include "operator/optimizer/update.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace {

#define MXNET_UPDATE_CLIP_WEIGHTS \
  MXNET_FIELD(clip_weights).set_default(-1.0f).describe("The new weights are cut to [-clip_weights, clip_weights]; negative: they are not.")

struct RmsPropParam : public Parameter<RmsPropParam> {
  float lr, gamma1, epsilon, wd, rescale_grad, clip_gradient, clip_weights;
  MXNET_DECLARE_PARAM(RmsPropParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(gamma1).set_default(0.95f).describe("Decay of the running mean of the squared gradient.");
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added under the square root.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_CLIP_WEIGHTS;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->gamma1 = gamma1, to->epsilon = epsilon,
    to->weight_bound = UpdateBound(clip_weights);
  }
};

struct RmsPropAlexParam : public Parameter<RmsPropAlexParam> {
  float lr, gamma1, gamma2, epsilon, wd, rescale_grad, clip_gradient, clip_weights;
  MXNET_DECLARE_PARAM(RmsPropAlexParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(gamma1).set_default(0.95f).describe("Decay of the running means of the gradient and of its square.");
    MXNET_FIELD(gamma2).set_default(0.9f).describe("Share of the previous step that is kept.");
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added under the square root.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_CLIP_WEIGHTS;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->gamma1 = gamma1, to->gamma2 = gamma2,
    to->epsilon = epsilon;
    to->weight_bound = UpdateBound(clip_weights);
  }
};

struct FtrlParam : public Parameter<FtrlParam> {
  float lr, lamda1, beta, wd, rescale_grad, clip_gradient;
  MXNET_DECLARE_PARAM(FtrlParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(lamda1).set_default(0.01f).describe("L1 regularization: weights whose z is within it are 0.");
    MXNET_FIELD(beta).set_default(1.0f).describe("Added to the square root of n.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->lambda1 = lamda1, to->beta = beta;
  }
};

struct FtmlParam : public Parameter<FtmlParam> {
  float lr, beta1, beta2, wd, rescale_grad, clip_grad;
  double epsilon;
  int t;
  MXNET_DECLARE_PARAM(FtmlParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(beta1).set_default(0.6f).describe("Decay of the running mean of the gradient, in [0, 1).");
    MXNET_FIELD(beta2).set_default(0.999f).describe("Decay of the running mean of its square, in [0, 1).");
    MXNET_FIELD(epsilon).set_default(1e-8f).describe("Added to the square root.");
    MXNET_FIELD(t).describe("Number of this update, from 1.");
    MXNET_UPDATE_WD;
    MXNET_UPDATE_RESCALE;
    MXNET_FIELD(clip_grad).set_default(-1.0f).describe("The rescaled gradient is cut to [-clip_grad, clip_grad]; negative: it is not.");
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_grad), to->beta1 = beta1, to->beta2 = beta2,
    to->epsilon = epsilon;
    to->bias1 = 1 - std::pow(static_cast<double>(beta1), t);
    to->bias2 = 1 - std::pow(static_cast<double>(beta2), t);
  }
};

struct GroupAdaGradParam : public Parameter<GroupAdaGradParam> {
  float lr, rescale_grad, clip_gradient, epsilon;
  MXNET_DECLARE_PARAM(GroupAdaGradParam) {
    MXNET_UPDATE_LR;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_FIELD(epsilon).set_default(1e-5f).describe("Added under the square root.");
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->epsilon = epsilon;
  }
};

struct AdaGradParam : public Parameter<AdaGradParam> {
  float lr, epsilon, wd, rescale_grad, clip_gradient;
  MXNET_DECLARE_PARAM(AdaGradParam) {
    MXNET_UPDATE_LR;
    MXNET_FIELD(epsilon).set_default(1e-7f).describe("Added under the square root.");
    MXNET_FIELD(wd).set_default(0.0f).describe("Weight decay: the share of the weight that is added to the step.");
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
  }
  void Fill(UpdateNumbers* to) const {
    to->lr = lr, to->wd = wd, to->rescale = rescale_grad, to->clip = UpdateBound(clip_gradient), to->epsilon = epsilon;
  }
};

MXNET_REGISTER_PARAM(AdaGradParam);
MXNET_REGISTER_PARAM(GroupAdaGradParam);
MXNET_REGISTER_PARAM(RmsPropParam);
MXNET_REGISTER_PARAM(RmsPropAlexParam);
MXNET_REGISTER_PARAM(FtrlParam);
MXNET_REGISTER_PARAM(FtmlParam);

[[maybe_unused]] Op& rmsprop =
    SetUpdate<RmsPropParam>(Op::Register("rmsprop_update"), UpdateRule::kRmsProp, {"weight", "grad", "n"})
        .describe(
            "RMSProp (Tieleman and Hinton 2012): with g = clip(rescale_grad*grad + wd*weight), n = gamma1*n + (1-gamma1)*g*g; "
            "weight -= lr*g/sqrt(n + epsilon). `n` is updated in place.");

[[maybe_unused]] Op& alex =
    SetUpdate<RmsPropAlexParam>(Op::Register("rmspropalex_update"), UpdateRule::kRmsPropAlex, {"weight", "grad", "n", "g", "delta"})
        .describe(
            "Centred RMSProp with momentum (Graves 2013, arXiv:1308.0850, equations 38 to 45). `n`, `g` and `delta` are updated in place.");

[[maybe_unused]] Op& ftrl =
    SetUpdate<FtrlParam>(Op::Register("ftrl_update"), UpdateRule::kFtrl, {"weight", "grad", "z", "n"})
        .alias("_sparse_ftrl_update")
        .describe("Follow the regularized leader, proximal form (McMahan et al., KDD 2013). `z` and `n` are updated in place.");

[[maybe_unused]] Op& adagrad =
    SetUpdate<AdaGradParam>(Op::Register("_sparse_adagrad_update"), UpdateRule::kAdaGrad, {"weight", "grad", "history"})
        .describe(
            "AdaGrad (Duchi, Hazan and Singer, JMLR 2011): with g = clip(rescale_grad*grad), history += g*g; "
            "weight -= lr*(g/sqrt(history + epsilon) + wd*weight). Of row_sparse gradients only the rows that they have are touched. "
            "`history` is updated in place.");

[[maybe_unused]] const bool adaptive_rows[] = {
    DeclareRowUpdate<FtrlParam>("ftrl_update", UpdateRule::kFtrl, 2, RowUpdateStates::kSparse),
    DeclareRowUpdate<AdaGradParam>("_sparse_adagrad_update", UpdateRule::kAdaGrad, 1, RowUpdateStates::kAlike),
    DeclareRowUpdate<GroupAdaGradParam>("_contrib_group_adagrad_update", UpdateRule::kAdaGrad, 1, RowUpdateStates::kAlike, true)};

[[maybe_unused]] Op& ftml = SetUpdate<FtmlParam>(Op::Register("ftml_update"), UpdateRule::kFtml, {"weight", "grad", "d", "v", "z"})
                                .describe("Follow the moving leader (Zheng and Kwok, ICML 2017). `d`, `v` and `z` are updated in place.");

/* The history has one element for each row of the weight. */
bool GroupShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  ShapeVector arrays{(*in)[0], (*in)[1]};
  const bool known = ElemwiseShape(attrs, &arrays, out);
  (*in)[0] = arrays[0], (*in)[1] = arrays[1];
  const Shape &weight = arrays[0], &history = (*in)[2];
  if (!known || !history.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() > 0 && history.ndim() > 0 && history[0] == weight[0] && history.Size() == weight[0], Value)
      << "[" << attrs.op->name << "] weight has shape " << weight << ", history has " << history
      << "; accepted: a history of one element for each row of the weight, e.g. (rows, 1)";
  return true;
}

void GroupAdaGrad(KernelArgs& a) {
  const TBlob& weight = a.in[0];
  if (a.req[0] == OpReq::kNull || weight.Size() == 0) return;
  const int64_t rows = weight.shape[0], n = weight.Size() / rows;
  UpdateArgs u{};
  u.dtype = weight.dtype;
  u.weight = weight.dptr;
  u.grad = a.in[1].dptr;
  u.state[0] = a.in[2].dptr;
  u.out = a.out[0].dptr;
  a.param<GroupAdaGradParam>().Fill(&u.numbers);
  if (a.run.ctx.is_gpu()) return GroupAdaGradOnDevice(a.run, u, rows, n);
  ParallelFor(rows, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(GroupAdaGradRows)(u, n, begin, end);
  });
}

MXNET_REGISTER_OP(_contrib_group_adagrad_update)
    .describe(
        "AdaGrad (Duchi, Hazan and Singer, JMLR 2011) with one history for each row of the weight, for embeddings.\n\n"
        "g = clip(rescale_grad*grad); history += mean of g*g over the row; weight -= lr*g/sqrt(history + epsilon). `history` has shape "
        "(rows, 1) or (rows,) and is updated in place.")
    .set_param<GroupAdaGradParam>()
    .set_inputs({"weight", "grad", "history"})
    .set_mutate_inputs({2})
    .set_inplace({{0, 0}})
    .set_infer_shape(GroupShape)
    .set_infer_type(SameType)
    .set_dtypes(dtypes::kFloats)
    .set_kernel(GroupAdaGrad);

}  // namespace
}  // namespace mxnet
