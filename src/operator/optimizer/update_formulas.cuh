// The formulas of all parameter updates and, behind them, the list of rules. Who defines MX_DEVICE,
// which stands before every function (`__device__` or nothing), gets the formulas:
// update_variants.cc for the CPU, gpu_update.cuh for GPUs. Who defines MXNET_UPDATE_RULE(name,
// form) gets the list: update_rules.h makes enum UpdateRule of it.
#ifdef MX_DEVICE
template <typename C>
MX_DEVICE inline C Bound(C x, C limit) {
  return x > limit ? limit : x < -limit ? -limit : x;
}  // NaN passes
template <typename C>
MX_DEVICE inline C Sign(C x) {
  return static_cast<C>(x > 0) - static_cast<C>(x < 0);
}

/* What every rule has. A rule computes from the old weight, the raw gradient and its states; it
 * returns what goes to `out`. */
template <typename C>
struct Common {
  static constexpr int kStates = 0;
  C lr, wd, rescale, clip;
  MX_DEVICE explicit Common(const mxnet::UpdateNumbers& n) : lr(C(n.lr)), wd(C(n.wd)), rescale(C(n.rescale)), clip(C(n.clip)) {}
  MX_DEVICE C Clipped(C g) const { return Bound(rescale * g, clip); }
  MX_DEVICE C ClippedDecayed(C g, C w) const { return Bound(rescale * g + wd * w, clip); }
};

template <typename C>
struct Sgd : Common<C> {
  C keep;
  MX_DEVICE explicit Sgd(const mxnet::UpdateNumbers& n) : Common<C>(n), keep(C(1 - n.lr * n.wd)) {}
  MX_DEVICE C operator()(C w, C g, C*) const { return keep * w - this->lr * this->Clipped(g); }
};

template <typename C>
struct SgdMom : Common<C> {
  static constexpr int kStates = 1;
  C momentum, decay;
  MX_DEVICE explicit SgdMom(const mxnet::UpdateNumbers& n) : Common<C>(n), momentum(C(n.momentum)), decay(C(n.lr * n.wd)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    s[0] = momentum * s[0] - decay * w - this->lr * this->Clipped(g);
    return w + s[0];
  }
};

template <typename C>
struct Nag : Common<C> {
  static constexpr int kStates = 1;
  C momentum;
  bool in_place;
  MX_DEVICE explicit Nag(const mxnet::UpdateNumbers& n) : Common<C>(n), momentum(C(n.momentum)), in_place(n.in_place != 0) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    const C clipped = this->Clipped(g), step = this->lr * (clipped + this->wd * w), kept = momentum * s[0];
    const C next = w + momentum * (kept - step) - step;
    // 1.9.1 decays the momentum with the weight that it has just written.
    s[0] = in_place ? kept - this->lr * (clipped + this->wd * next) : kept - step;
    return next;
  }
};

template <typename C>
struct Adam : Common<C> {
  static constexpr int kStates = 2;
  C b1, b2, c1, c2, eps;
  MX_DEVICE explicit Adam(const mxnet::UpdateNumbers& n)
      : Common<C>(n), b1(C(n.beta1)), b2(C(n.beta2)), c1(C(1 - n.beta1)), c2(C(1 - n.beta2)), eps(C(n.epsilon)) {}
  MX_DEVICE void Moments(C g, C* s) const {
    s[0] = b1 * s[0] + c1 * g;
    s[1] = b2 * s[1] + c2 * g * g;
  }
  MX_DEVICE C operator()(C w, C g, C* s) const {
    Moments(this->ClippedDecayed(g, w), s);
    return w - this->lr * s[0] / (std::sqrt(s[1]) + eps);
  }
};

template <typename C>
struct AdamW : Adam<C> {
  C eta;
  MX_DEVICE explicit AdamW(const mxnet::UpdateNumbers& n) : Adam<C>(n), eta(C(n.eta)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    this->Moments(this->Clipped(g), s);
    return w - eta * (this->lr * s[0] / (std::sqrt(s[1]) + this->eps) + this->wd * w);
  }
};

template <typename C>
struct Lamb1 : Adam<C> {
  C unbias1, unbias2;
  MX_DEVICE explicit Lamb1(const mxnet::UpdateNumbers& n) : Adam<C>(n), unbias1(C(n.unbias1)), unbias2(C(n.unbias2)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    this->Moments(this->Clipped(g), s);
    return s[0] * unbias1 / (std::sqrt(s[1] * unbias2) + this->eps) + this->wd * w;
  }
};

template <typename C>
struct Lamb2 : Common<C> {
  MX_DEVICE explicit Lamb2(const mxnet::UpdateNumbers& n) : Common<C>(n) {}
  MX_DEVICE C operator()(C w, C g, C*) const { return w - this->lr * g; }
};

/* lr is 1 / norm of the rescaled gradient. The result and state 2 are the two directions. */
template <typename C>
struct Lans1 : Adam<C> {
  static constexpr int kStates = 3;
  C unbias1, unbias2;
  MX_DEVICE explicit Lans1(const mxnet::UpdateNumbers& n) : Adam<C>(n), unbias1(C(n.unbias1)), unbias2(C(n.unbias2)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    const C unit = Bound(this->rescale * g * this->lr, this->clip);
    this->Moments(unit, s);
    const C size = std::sqrt(s[1] * unbias2) + this->eps;
    s[2] = unit / size + this->wd * w;
    return s[0] * unbias1 / size + this->wd * w;
  }
};

/* The gradient is the first direction, the state the second; lr and wd are their factors. */
template <typename C>
struct Lans2 : Common<C> {
  static constexpr int kStates = 1;
  MX_DEVICE explicit Lans2(const mxnet::UpdateNumbers& n) : Common<C>(n) {}
  MX_DEVICE C operator()(C w, C g, C* s) const { return w - this->lr * g - this->wd * s[0]; }
};

template <typename C>
struct AdaBelief : Adam<C> {
  MX_DEVICE explicit AdaBelief(const mxnet::UpdateNumbers& n) : Adam<C>(n) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[0] = this->b1 * s[0] + this->c1 * g;
    const C surprise = g - s[0];
    s[1] = this->b2 * s[1] + this->c2 * surprise * surprise + this->eps;
    return w - this->lr * s[0] / (std::sqrt(s[1]) + this->eps);
  }
};

template <typename C>
struct RmsProp : Common<C> {
  static constexpr int kStates = 1;
  C gamma, rest, eps, bound;
  MX_DEVICE explicit RmsProp(const mxnet::UpdateNumbers& n)
      : Common<C>(n), gamma(C(n.gamma1)), rest(C(1 - n.gamma1)), eps(C(n.epsilon)), bound(C(n.weight_bound)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[0] = gamma * s[0] + rest * g * g;
    return Bound(w - this->lr * g / std::sqrt(s[0] + eps), bound);
  }
};

template <typename C>
struct RmsPropAlex : Common<C> {
  static constexpr int kStates = 3;
  C gamma1, rest, gamma2, eps, bound;
  MX_DEVICE explicit RmsPropAlex(const mxnet::UpdateNumbers& n)
      : Common<C>(n), gamma1(C(n.gamma1)), rest(C(1 - n.gamma1)), gamma2(C(n.gamma2)), eps(C(n.epsilon)), bound(C(n.weight_bound)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    g = this->ClippedDecayed(g, w);
    s[0] = gamma1 * s[0] + rest * g * g;
    s[1] = gamma1 * s[1] + rest * g;
    s[2] = gamma2 * s[2] - this->lr * g / std::sqrt(s[0] - s[1] * s[1] + eps);
    return Bound(w + s[2], bound);
  }
};

template <typename C>
struct AdaGrad : Common<C> {
  static constexpr int kStates = 1;
  C eps;
  MX_DEVICE explicit AdaGrad(const mxnet::UpdateNumbers& n) : Common<C>(n), eps(C(n.epsilon)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    g = this->Clipped(g);
    s[0] += g * g;
    return w - this->lr * (g / std::sqrt(s[0] + eps) + this->wd * w);
  }
};

template <typename C>
struct Ftrl : Common<C> {
  static constexpr int kStates = 2;
  C lambda, beta;
  MX_DEVICE explicit Ftrl(const mxnet::UpdateNumbers& n) : Common<C>(n), lambda(C(n.lambda1)), beta(C(n.beta)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    g = this->Clipped(g);
    const C n = s[1] + g * g;
    s[0] += g - (std::sqrt(n) - std::sqrt(s[1])) * w / this->lr;
    s[1] = n;
    const C moved = (Sign(s[0]) * lambda - s[0]) / ((beta + std::sqrt(n)) / this->lr + this->wd);
    return std::fabs(s[0]) <= lambda ? C(0) : moved;  // NaN stays
  }
};

template <typename C>
struct Ftml : Common<C> {
  static constexpr int kStates = 3;
  C b1, b2, eps, c1, c2;
  MX_DEVICE explicit Ftml(const mxnet::UpdateNumbers& n)
      : Common<C>(n), b1(C(n.beta1)), b2(C(n.beta2)), eps(C(n.epsilon)), c1(C(n.bias1)), c2(C(n.bias2)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
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
  MX_DEVICE explicit SignSgd(const mxnet::UpdateNumbers& n) : Sgd<C>(n) {}
  MX_DEVICE C operator()(C w, C g, C*) const { return this->keep * w - this->lr * Sign(g); }
};

template <typename C>
struct Signum : Common<C> {
  static constexpr int kStates = 1;
  C momentum, keep;
  MX_DEVICE explicit Signum(const mxnet::UpdateNumbers& n) : Common<C>(n), momentum(C(n.momentum)), keep(C(1 - n.lr * n.wd_of_weight)) {}
  MX_DEVICE C operator()(C w, C g, C* s) const {
    s[0] = momentum * s[0] - (1 - momentum) * this->wd * w - (1 - momentum) * this->Clipped(g);
    return keep * w + this->lr * Sign(s[0]);
  }
};
#undef MX_DEVICE
#endif  // MX_DEVICE

#ifdef MXNET_UPDATE_RULE
// form: SameDType: weight and states have the dtype of the gradient; WithMaster: also with a
// float32 copy of the weight; Direction, Apply: the phases of LAMB and LANS. Behind it: states, and
// the numbers (update_numbers.cuh) of a rule beyond lr, wd, rescale and clip.
MXNET_UPDATE_RULE(Sgd, WithMaster)
MXNET_UPDATE_RULE(SgdMom, WithMaster)      // momentum; momentum
MXNET_UPDATE_RULE(Nag, WithMaster)         // momentum; momentum, in_place
MXNET_UPDATE_RULE(Adam, SameDType)         // mean, var; beta1, beta2, epsilon
MXNET_UPDATE_RULE(AdamW, WithMaster)       // mean, var; beta1, beta2, epsilon, eta
MXNET_UPDATE_RULE(Lamb1, Direction)        // mean, var; beta1, beta2, epsilon, unbias1, unbias2
MXNET_UPDATE_RULE(Lamb2, Apply)            // the gradient is the direction of phase 1
MXNET_UPDATE_RULE(Lans1, Direction)        // mean, var, the second direction; as Lamb1
MXNET_UPDATE_RULE(Lans2, Apply)            // second direction
MXNET_UPDATE_RULE(AdaBelief, WithMaster)   // mean, var; beta1, beta2, epsilon
MXNET_UPDATE_RULE(RmsProp, SameDType)      // n; gamma1, epsilon, weight_bound
MXNET_UPDATE_RULE(RmsPropAlex, SameDType)  // n, g, delta; gamma1, gamma2, epsilon, weight_bound
MXNET_UPDATE_RULE(AdaGrad, SameDType)      // history; epsilon
MXNET_UPDATE_RULE(Ftrl, SameDType)         // z, n; lambda1, beta
MXNET_UPDATE_RULE(Ftml, SameDType)         // d, v, z; beta1, beta2, epsilon, bias1, bias2
MXNET_UPDATE_RULE(SignSgd, SameDType)
MXNET_UPDATE_RULE(Signum, SameDType)  // momentum; momentum, wd_of_weight
#undef MXNET_UPDATE_RULE
#endif  // MXNET_UPDATE_RULE
