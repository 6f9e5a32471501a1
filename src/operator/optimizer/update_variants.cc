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

#define MX_DEVICE
#include "operator/optimizer/update_formulas.cuh"

/* W: weight and states, G: gradient, O: output. */
template <template <typename> class Rule, typename W, typename G, typename O, bool kMaster>
void Loop(const UpdateArgs& a, int64_t begin, int64_t end) {
  using C = typename ComputeType<W>::type;
  using R = Rule<C>;
  const R rule(a.numbers);
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
    case kFloat64: return Loop<Rule, float, double, double, true>(a, begin, end);
    case kFloat16: return Loop<Rule, float, float16, float16, true>(a, begin, end);
    default: return Loop<Rule, float, bfloat16, bfloat16, true>(a, begin, end);
  }
}

// The result is a direction: of the weights' dtype, or float32 where they have float32 copies.
template <template <typename> class Rule>
void Direction(const UpdateArgs& a, int64_t begin, int64_t end) {
  if (!a.master) return SameDType<Rule>(a, begin, end);
  UpdateArgs b = a;
  b.weight = a.master;  // read only: the direction is the output
  switch (a.dtype) {
    case kFloat32: return Loop<Rule, float, float, float, false>(b, begin, end);
    case kFloat64: return Loop<Rule, float, double, float, false>(b, begin, end);
    case kFloat16: return Loop<Rule, float, float16, float, false>(b, begin, end);
    default: return Loop<Rule, float, bfloat16, float, false>(b, begin, end);
  }
}

// The gradient is a direction.
template <template <typename> class Rule>
void Apply(const UpdateArgs& a, int64_t begin, int64_t end) {
  if (!a.master) return SameDType<Rule>(a, begin, end);
  switch (a.dtype) {
    case kFloat32: return Loop<Rule, float, float, float, true>(a, begin, end);
    case kFloat64: return Loop<Rule, float, float, double, true>(a, begin, end);
    case kFloat16: return Loop<Rule, float, float, float16, true>(a, begin, end);
    default: return Loop<Rule, float, float, bfloat16, true>(a, begin, end);
  }
}

template <typename T>
double Squares(const void* data, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(data);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = begin; i < end; ++i) {
    const double v = static_cast<typename ComputeType<T>::type>(x[i]);
    sum += v * v;
  }
  return sum;
}

template <typename T>
void GroupRows(const UpdateArgs& a, int64_t n, int64_t begin, int64_t end) {
  using C = typename ComputeType<T>::type;
  const Common<C> rule(a.numbers);
  T* history = static_cast<T*>(a.state[0]);
  for (int64_t r = begin; r < end; ++r) {
    const T *weight = static_cast<const T*>(a.weight) + r * n, *grad = static_cast<const T*>(a.grad) + r * n;
    T* out = static_cast<T*>(a.out) + r * n;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
      const double g = rule.Clipped(static_cast<C>(grad[i]));
      sum += g * g;
    }
    const double total = static_cast<double>(static_cast<C>(history[r])) + sum / static_cast<double>(n);
    history[r] = T(static_cast<C>(total));
    const C step = static_cast<C>(a.numbers.lr / std::sqrt(total + a.numbers.epsilon));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<C>(weight[i]) - step * rule.Clipped(static_cast<C>(grad[i])));
  }
}

}  // namespace

void GroupAdaGradRows(const UpdateArgs& a, int64_t n, int64_t begin, int64_t end) {
  switch (a.dtype) {
    case kFloat32: return GroupRows<float>(a, n, begin, end);
    case kFloat64: return GroupRows<double>(a, n, begin, end);
    case kFloat16: return GroupRows<float16>(a, n, begin, end);
    default: return GroupRows<bfloat16>(a, n, begin, end);
  }
}

double SumOfSquares(int dtype, const void* x, int64_t begin, int64_t end) {
  switch (dtype) {
    case kFloat32: return Squares<float>(x, begin, end);
    case kFloat64: return Squares<double>(x, begin, end);
    case kFloat16: return Squares<float16>(x, begin, end);
    default: return Squares<bfloat16>(x, begin, end);
  }
}

#define MXNET_UPDATE_CASE(name, form) \
  case UpdateRule::k##name: return form<name>(a, begin, end);

void UpdateRange(const UpdateArgs& a, int64_t begin, int64_t end) {
  switch (a.rule) {
#define MXNET_UPDATE_RULE MXNET_UPDATE_CASE
#include "operator/optimizer/update_formulas.cuh"
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
