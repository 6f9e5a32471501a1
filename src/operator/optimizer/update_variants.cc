// The loops of all parameter updates. float16 and bfloat16 are computed in float and rounded once per array.
#include <cmath>

#include "base/half.h"
#include "mxnet/base.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T> struct ComputeType { using type = float; };
template <> struct ComputeType<double> { using type = double; };

template <typename C>
inline C Bound(C x, C limit) { return x > limit ? limit : x < -limit ? -limit : x; }   // NaN passes
template <typename C>
inline C Sign(C x) { return static_cast<C>(x > 0) - static_cast<C>(x < 0); }

/* What every rule has. A rule computes from the old weight, the raw gradient and its states; it returns what goes to `out`. */
template <typename C>
struct Common {
  static constexpr int kStates = 0;
  C lr, wd, rescale, clip;
  explicit Common(const double* h) : lr(C(h[0])), wd(C(h[1])), rescale(C(h[2])), clip(C(h[3])) {}
  C Clipped(C g) const { return Bound(rescale * g, clip); }
  C ClippedDecayed(C g, C w) const { return Bound(rescale * g + wd * w, clip); }
};

template <typename C>
struct Sgd : Common<C> {
  C keep;
  explicit Sgd(const double* h) : Common<C>(h), keep(C(1 - h[0] * h[1])) {}
  C operator()(C w, C g, C*) const { return keep * w - this->lr * this->Clipped(g); }
};

template <typename C>
struct SgdMom : Common<C> {
  static constexpr int kStates = 1;
  C momentum, decay;
  explicit SgdMom(const double* h) : Common<C>(h), momentum(C(h[4])), decay(C(h[0] * h[1])) {}
  C operator()(C w, C g, C* s) const {
    s[0] = momentum * s[0] - decay * w - this->lr * this->Clipped(g);
    return w + s[0];
  }
};

template <typename C>
struct Nag : Common<C> {
  static constexpr int kStates = 1;
  C momentum;
  explicit Nag(const double* h) : Common<C>(h), momentum(C(h[4])) {}
  C operator()(C w, C g, C* s) const {
    const C step = this->lr * (this->Clipped(g) + this->wd * w);
    s[0] = momentum * s[0] - step;
    return w + momentum * s[0] - step;
  }
};

template <typename C>
struct Adam : Common<C> {
  static constexpr int kStates = 2;
  C b1, b2, c1, c2, eps;
  explicit Adam(const double* h) : Common<C>(h), b1(C(h[4])), b2(C(h[5])), c1(C(1 - h[4])), c2(C(1 - h[5])), eps(C(h[6])) {}
  void Moments(C g, C* s) const {
    s[0] = b1 * s[0] + c1 * g;
    s[1] = b2 * s[1] + c2 * g * g;
  }
  C operator()(C w, C g, C* s) const {
    Moments(this->ClippedDecayed(g, w), s);
    return w - this->lr * s[0] / (std::sqrt(s[1]) + eps);
  }
};

template <typename C>
struct AdamW : Adam<C> {
  C eta;
  explicit AdamW(const double* h) : Adam<C>(h), eta(C(h[7])) {}
  C operator()(C w, C g, C* s) const {
    this->Moments(this->Clipped(g), s);
    return w - eta * (this->lr * s[0] / (std::sqrt(s[1]) + this->eps) + this->wd * w);
  }
};

template <typename C>
struct Lamb1 : Adam<C> {
  C unbias1, unbias2;
  explicit Lamb1(const double* h) : Adam<C>(h), unbias1(C(h[7])), unbias2(C(h[8])) {}
  C operator()(C w, C g, C* s) const {
    this->Moments(this->Clipped(g), s);
    return s[0] * unbias1 / (std::sqrt(s[1] * unbias2) + this->eps) + this->wd * w;
  }
};

template <typename C>
struct Lamb2 : Common<C> {
  explicit Lamb2(const double* h) : Common<C>(h) {}
  C operator()(C w, C g, C*) const { return w - this->lr * g; }
};

template <typename C>
struct RmsProp : Common<C> {
  static constexpr int kStates = 1;
  C gamma, rest, eps, bound;
  explicit RmsProp(const double* h) : Common<C>(h), gamma(C(h[4])), rest(C(1 - h[4])), eps(C(h[5])), bound(C(h[6])) {}
  C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[0] = gamma * s[0] + rest * g * g;
    return Bound(w - this->lr * g / std::sqrt(s[0] + eps), bound);
  }
};

template <typename C>
struct RmsPropAlex : Common<C> {
  static constexpr int kStates = 3;
  C gamma1, rest, gamma2, eps, bound;
  explicit RmsPropAlex(const double* h) : Common<C>(h), gamma1(C(h[4])), rest(C(1 - h[4])), gamma2(C(h[5])), eps(C(h[6])), bound(C(h[7])) {}
  C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[0] = gamma1 * s[0] + rest * g * g;
    s[1] = gamma1 * s[1] + rest * g;
    s[2] = gamma2 * s[2] - this->lr * g / std::sqrt(s[0] - s[1] * s[1] + eps);
    return Bound(w + s[2], bound);
  }
};

template <typename C>
struct Ftrl : Common<C> {
  static constexpr int kStates = 2;
  C lambda, beta;
  explicit Ftrl(const double* h) : Common<C>(h), lambda(C(h[4])), beta(C(h[5])) {}
  C operator()(C w, C g, C* s) const {
    g = this->Clipped(g);
    const C n = s[1] + g * g;
    s[0] += g - (std::sqrt(n) - std::sqrt(s[1])) * w / this->lr;
    s[1] = n;
    const C moved = (Sign(s[0]) * lambda - s[0]) / ((beta + std::sqrt(n)) / this->lr + this->wd);
    return std::fabs(s[0]) > lambda ? moved : C(0);
  }
};

template <typename C>
struct Ftml : Common<C> {
  static constexpr int kStates = 3;
  C b1, b2, eps, c1, c2;
  explicit Ftml(const double* h) : Common<C>(h), b1(C(h[4])), b2(C(h[5])), eps(C(h[6])), c1(C(h[7])), c2(C(h[8])) {}
  C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[1] = b2 * s[1] + (1 - b2) * g * g;
    const C d = c1 / this->lr * (std::sqrt(s[1] / c2) + eps);
    s[2] = b1 * s[2] + (1 - b1) * g - (d - b1 * s[0]) * w;
    s[0] = d;
    return -s[2] / d;
  }
};

template <typename C>
struct SignSgd : Sgd<C> {
  explicit SignSgd(const double* h) : Sgd<C>(h) {}
  C operator()(C w, C g, C*) const { return this->keep * w - this->lr * Sign(this->rescale * g); }
};

template <typename C>
struct Signum : Common<C> {
  static constexpr int kStates = 1;
  C momentum, keep;
  explicit Signum(const double* h) : Common<C>(h), momentum(C(h[4])), keep(C(1 - h[0] * h[5])) {}
  C operator()(C w, C g, C* s) const {
    s[0] = momentum * s[0] - (1 - momentum) * this->wd * w - (1 - momentum) * this->Clipped(g);
    return keep * w + this->lr * Sign(s[0]);
  }
};

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
#pragma GCC ivdep   // arrays are apart or the same
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
  b.weight = a.master;   // read only: the direction is the output
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
