// Loops of MXNET_UNARY_TRIG: see table.h.
#include "operator/pointwise/prelude.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions.h"
#include "operator/pointwise/loop_templates.h"

// Rows whose argument may be too large for the vector code take libm's word for the whole run.
template <class E, double (*Exact)(double)>
void LoopGuarded(const void* const* in, void* out, int64_t n, unsigned scalars) {
  const float* x = static_cast<const float*>(in[0]);
  if (!TooLarge(x, n)) return Loop1<E, float>(in, out, n, scalars);
  float* y = static_cast<float*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(Exact(x[i]));
}

MXNET_UNARY_TRIG(MXNET_UNARY_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_UNARY_TRIG(MXNET_UNARY_ENTRY)};
}  // namespace

Loop UnaryTrigLoop(int index, int compute) {
  if (compute == pointwise::kF32) {
    if (index == pointwise::k_sin - pointwise::k_sin) return LoopGuarded<F_sin, std::sin>;
    if (index == pointwise::k_cos - pointwise::k_sin) return LoopGuarded<F_cos, std::cos>;
    if (index == pointwise::k_tan - pointwise::k_sin) return LoopGuarded<F_tan, std::tan>;
  }
  return kLoops[index][compute];
}
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
