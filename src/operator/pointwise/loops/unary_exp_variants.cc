// Loops of MXNET_UNARY_EXP: see table.h.
#include "operator/pointwise/loops/prelude.h"
#include "operator/pointwise/loops/row_groups.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"

// Logarithms by blocks: numbers that are neither zero nor infinite nor the like need no choices.
void LoopLog(const void* const* in, void* out, int64_t n, unsigned) {
  constexpr int64_t kBlock = 1024;
  const float* x = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t end = i + kBlock < n ? i + kBlock : n;
    if (AllNormal(x + i, end - i)) {
#pragma GCC ivdep
      for (int64_t j = i; j < end; ++j) y[j] = LogOf(x[j], 0.0f);
    } else {
#pragma GCC ivdep
      for (int64_t j = i; j < end; ++j) y[j] = log(x[j]);
    }
  }
}

MXNET_UNARY_EXP(MXNET_UNARY_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_UNARY_EXP(MXNET_UNARY_ENTRY)};
}  // namespace

Loop UnaryExpLoop(int index, int compute) {
  if (compute == pointwise::kF32 && index == pointwise::k_log - pointwise::kUnaryExpRows) return LoopLog;
  return kLoops[index][compute];
}
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
