// Loops of MXNET_BINARY_ARITHMETIC: see table.h.
#include "operator/pointwise/loops/prelude.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"
#define MXNET_BINARY_TABLE MXNET_BINARY_ARITHMETIC
#include "operator/pointwise/loops/binary_loops.h"
}  // namespace

Loop BinaryArithmeticLoop(int index, int compute) { return kLoops[index][compute]; }
Loop BinaryArithmeticGradient(int index, int side, int compute) { return kGradients[index][side][compute]; }
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
