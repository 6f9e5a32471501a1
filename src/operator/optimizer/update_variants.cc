// The loops of all parameter updates. float16 and bfloat16 are computed in float and rounded once
// per array.
#include <cmath>

#include "base/half.h"
#include "mxnet/base.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
struct ComputeType {
  using type = float;
};
template <>
struct ComputeType<double> {
  using type = double;
};

#define MXNET_UPDATE_FORMULAS(...) __VA_ARGS__
#include "operator/optimizer/update_formulas.inc"

/* W: weight and states, G: gradient, O: output. */
template <template <typename> class Rule, typename W, typename G, typename O, bool kMaster>
void Loop(const UpdateArgs& a, int64_t begin, int64_t end) {
  using C = typename ComputeType<W>::type;
  using R = Rule<C>;
  const R rule(a.h);
  const W* weight = kMaster ? static_cast<const W*>(static_cast<const void*>(a.master)) : static_cast<const W*>(a.weight);
  W* master = kMaster ? static_cast<W*>(static_cast<void*>(a.master)) : nullptr;
  const G* grad = static_cast<const G*>(a.grad);
  O* out = static_cast<O*>(a.out);
  W* s0 = static_cast<W*>(a.state[0]);
  W* s1 = static_cast<W*>(a.state[1]);
  W* s2 = static_cast<W*>(a.state[2]);
#pragma GCC ivdep  // arrays are apart or the same
  for (int64_t i = begin; i < end; ++i) {
    C s[3] = {};
    if constexpr (R::kStates > 0) s[0] = static_cast<C>(s0[i]);
    if constexpr (R::kStates > 1) s[1] = static_cast<C>(s1[i]);
    if constexpr (R::kStates > 2) s[2] = static_cast<C>(s2[i]);
    const C w = rule(static_cast<C>(weight[i]), static_cast<C>(grad[i]), s);
    if constexpr (R::kStates > 0) s0[i] = W(s[0]);
    if constexpr (R::kStates > 1) s1[i] = W(s[1]);
    if constexpr (R::kStates > 2) s2[i] = W(s[2]);
    if constexpr (kMaster) master[i] = w;
    out[i] = O(w);
  }
}

template <template <typename> class Rule>
void SameDType(const UpdateArgs& a, int64_t begin, int64_t end) {
  switch (a.dtype) {
    case kFloat32: return Loop<Rule, float, float, float, false>(a, begin, end);
    case kFloat64: return Loop<Rule, double, double, double, false>(a, begin, end);
    case kFloat16: return Loop<Rule, float16, float16, float16, false>(a, begin, end);
    default: return Loop<Rule, bfloat16, bfloat16, bfloat16, false>(a, begin, end);
  }
}

template <template <typename> class Rule>
void WithMaster(const UpdateArgs& a, int64_t begin, int64_t end) {
  if (!a.master) return SameDType<Rule>(a, begin, end);
  switch (a.dtype) {
    case kFloat32: return Loop<Rule, float, float, float, true>(a, begin, end);
    case kFloat16: return Loop<Rule, float, float16, float16, true>(a, begin, end);
    default: return Loop<Rule, float, bfloat16, bfloat16, true>(a, begin, end);
  }
}

void RunLamb1(const UpdateArgs& a, int64_t begin, int64_t end) {
  if (!a.master) return SameDType<Lamb1>(a, begin, end);
  UpdateArgs b = a;
  b.weight = a.master;  // read only: the direction is the output
  switch (a.dtype) {
    case kFloat32: return Loop<Lamb1, float, float, float, false>(b, begin, end);
    case kFloat16: return Loop<Lamb1, float, float16, float, false>(b, begin, end);
    default: return Loop<Lamb1, float, bfloat16, float, false>(b, begin, end);
  }
}

void RunLamb2(const UpdateArgs& a, int64_t begin, int64_t end) {
  if (!a.master) return SameDType<Lamb2>(a, begin, end);
  switch (a.dtype) {
    case kFloat32: return Loop<Lamb2, float, float, float, true>(a, begin, end);
    case kFloat16: return Loop<Lamb2, float, float, float16, true>(a, begin, end);
    default: return Loop<Lamb2, float, float, bfloat16, true>(a, begin, end);
  }
}

}  // namespace

void UpdateRange(const UpdateArgs& a, int64_t begin, int64_t end) {
  switch (a.rule) {
    case UpdateRule::kSgd: return WithMaster<Sgd>(a, begin, end);
    case UpdateRule::kSgdMom: return WithMaster<SgdMom>(a, begin, end);
    case UpdateRule::kNag: return WithMaster<Nag>(a, begin, end);
    case UpdateRule::kAdam: return SameDType<Adam>(a, begin, end);
    case UpdateRule::kAdamW: return WithMaster<AdamW>(a, begin, end);
    case UpdateRule::kLamb1: return RunLamb1(a, begin, end);
    case UpdateRule::kLamb2: return RunLamb2(a, begin, end);
    case UpdateRule::kRmsProp: return SameDType<RmsProp>(a, begin, end);
    case UpdateRule::kRmsPropAlex: return SameDType<RmsPropAlex>(a, begin, end);
    case UpdateRule::kFtrl: return SameDType<Ftrl>(a, begin, end);
    case UpdateRule::kFtml: return SameDType<Ftml>(a, begin, end);
    case UpdateRule::kSignSgd: return SameDType<SignSgd>(a, begin, end);
    case UpdateRule::kSignum: return SameDType<Signum>(a, begin, end);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
