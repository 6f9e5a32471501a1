// Loops of the derivatives in MXNET_UNARY_TRIG: see table.h.
#include "operator/pointwise/loops/prelude.h"
#include "operator/pointwise/loops/row_groups.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"

// Of sine and cosine by blocks: angles that need exact reduction are libm's. `Exact` is the
// derivative.
template <class E, double (*Exact)(double)>
void LoopAngles(const void* const* in, void* out, int64_t n, unsigned) {
  constexpr int64_t kBlock = 1024;
  const float *g = static_cast<const float*>(in[0]), *x = static_cast<const float*>(in[1]);
  float* y = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t end = i + kBlock < n ? i + kBlock : n;
    if (!AnyAbove(x + i, end - i, 0x1p27f)) {
#pragma GCC ivdep
      for (int64_t j = i; j < end; ++j) y[j] = E::f(g[j], x[j]);
    } else {
      for (int64_t j = i; j < end; ++j) y[j] = g[j] * static_cast<float>(Exact(x[j]));
    }
  }
}
inline double MinusSin(double x) { return -std::sin(x); }

MXNET_UNARY_TRIG(MXNET_GRAD_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_UNARY_TRIG(MXNET_GRAD_ENTRY)};
}  // namespace

Loop UnaryTrigGradient(int index, int compute) {
  if (compute == pointwise::kF32) {
    if (index == pointwise::k_sin - pointwise::kUnaryTrigRows) return LoopAngles<G_sin, std::cos>;
    if (index == pointwise::k_cos - pointwise::kUnaryTrigRows) return LoopAngles<G_cos, MinusSin>;
  }
  return kLoops[index][compute];
}
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
