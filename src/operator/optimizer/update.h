/* What the records of update operators share: their usual fields, and a kernel made from a rule and
 * a parameter struct. */
#ifndef MXNET_OPERATOR_OPTIMIZER_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_UPDATE_H_

#include <algorithm>
#include <limits>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/optimizer/gpu_update.h"
#include "operator/optimizer/update_rules.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

#define MXNET_UPDATE_LR MXNET_FIELD(lr).describe("Learning rate.")
#define MXNET_UPDATE_WD MXNET_FIELD(wd).set_default(0.0f).describe("Weight decay: the share of the weight that is added to the gradient.")
#define MXNET_UPDATE_RESCALE MXNET_FIELD(rescale_grad).set_default(1.0f).describe("The gradient is multiplied by this first.")
#define MXNET_UPDATE_CLIP    \
  MXNET_FIELD(clip_gradient) \
      .set_default(-1.0f)    \
      .describe("The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it is not.")
#define MXNET_UPDATE_LAZY \
  MXNET_FIELD(lazy_update).set_default(true).describe("With row_sparse gradients: only rows that have a gradient are touched.")

namespace mxnet {

/* The reference's "negative means no bound", also for NaN. */
inline double UpdateBound(float clip) { return clip >= 0 ? clip : std::numeric_limits<double>::infinity(); }

/* P has `void Fill(UpdateNumbers* to) const`, for all but in_place. Arrays: weight, grad, `states`
 * states, then the float32 master if `master`. */
template <typename P>
Kernel UpdateKernel(UpdateRule rule, int states, bool master) {
  return [rule, states, master](KernelArgs& a) {
    if (a.req[0] == OpReq::kNull) return;
    UpdateArgs u{};
    u.rule = rule;
    u.dtype = a.in[0].dtype;
    u.weight = a.in[0].dptr;
    u.grad = a.in[1].dptr;
    for (int k = 0; k < states; ++k) u.state[k] = a.in[2 + k].dptr;
    if (master) u.master = a.in[2 + states].data<float>();
    u.out = a.out[0].dptr;
    a.param<P>().Fill(&u.numbers);
    u.numbers.in_place = master || u.out == u.weight;
    if (a.run.ctx.is_gpu()) return UpdateOnDevice(a.run, u, a.in[0].Size());
    ParallelFor(a.in[0].Size(), 0, [&u](int64_t begin, int64_t end) { MXNET_CPU_CALL(UpdateRange)(u, begin, end); });
  };
}

/* Inputs listed in `singles` are float32 (all: the output too, when `out_single`), the others share
 * the output's dtype. */
inline InferTypeFn UpdateType(std::vector<int> singles, bool out_single = false) {
  return [singles, out_single](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    std::vector<int> rest, none;
    auto is_single = [&](size_t i) {
      for (int s : singles)
        if (s == static_cast<int>(i)) return true;
      return false;
    };
    for (size_t i = 0; i < in->size(); ++i)
      if (!is_single(i)) rest.push_back((*in)[i]);
    if (out_single) AssignType(attrs, "output", &(*out)[0], kFloat32);
    const bool known = SameType(attrs, &rest, out_single ? &none : out);
    for (size_t i = 0, k = 0; i < in->size(); ++i) {
      if (is_single(i)) {
        AssignType(attrs, "a float32 input", &(*in)[i], kFloat32);
      } else {
        (*in)[i] = rest[k++];
      }
    }
    return known;
  };
}

/* Everything of a record but name and text: `inputs` are weight, grad, the states and (with
 * `master`) weight32. */
template <typename P>
Op& SetUpdate(Op& op, UpdateRule rule, std::vector<std::string> inputs, bool master = false) {
  const int n = static_cast<int>(inputs.size()), states = n - 2 - master;
  const RuleInfo& info = InfoOf(rule);
  MXNET_CHECK(states == info.states && (!master || info.master))
      << "[" << op.name << "] " << states << " states" << (master ? " with a float32 copy of the weight" : "") << "; the rule " << info.name
      << " has " << info.states << (info.master ? "" : " and no form with such a copy");
  std::vector<int> mutated, singles;
  for (int i = 2; i < n; ++i) mutated.push_back(i);
  if (master) singles = mutated;
  op.set_param<P>()
      .set_inputs(std::move(inputs))
      .set_mutate_inputs(mutated)
      .set_inplace({{0, 0}})
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(UpdateType(singles));
  return op.set_dtypes(dtypes::kFloats).set_kernel(UpdateKernel<P>(rule, states, master));
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_UPDATE_H_
