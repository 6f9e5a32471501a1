/* Which inputs a kernel asks for before it reads them (AsksForWeights). */
#ifndef MXNET_OPERATOR_RECORD_ASKED_WEIGHTS_H_
#define MXNET_OPERATOR_RECORD_ASKED_WEIGHTS_H_

#include "mxnet/op.h"
#include "operator/record/traits.h"

namespace mxnet {

/* Does the kernel for the CPU say before it reads that input, of this dtype? */
inline bool KernelAsksFor(const Attrs& attrs, int input, int dtype) {
  const auto* asks = attrs.op->trait<AsksForWeights>();
  if (!asks || input >= 32 || !(asks->inputs >> input & 1) || (asks->when && !asks->when(attrs))) return false;
  return dtype == kFloat32 || dtype == kInt8 || (asks->halves && IsHalf(dtype)) || (asks->bytes && dtype == kUint8);
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_ASKED_WEIGHTS_H_
