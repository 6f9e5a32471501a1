// Loops of the derivatives in MXNET_UNARY_EXP: see table.h.
#include "operator/pointwise/loops/prelude.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"

MXNET_UNARY_EXP(MXNET_GRAD_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_UNARY_EXP(MXNET_GRAD_ENTRY)};
}  // namespace

Loop UnaryExpGradient(int index, int compute) { return kLoops[index][compute]; }
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
