/* What a plan's weights (PlanWeights) may offer besides. */
#ifndef MXNET_OPERATOR_SHARED_TRANSPOSED_WEIGHTS_H_
#define MXNET_OPERATOR_SHARED_TRANSPOSED_WEIGHTS_H_

#include "mxnet/kernel_args.h"

namespace mxnet {

class TransposedWeights {
 public:
  /* As PlanWeights::Parts, of the matrix whose rows are the columns of the weights. */
  virtual PlanWeights::ReadPart TransposedParts(const void* weights) = 0;

 protected:
  ~TransposedWeights() = default;
};

/* Empty where `weights` (null: there are none) cannot do so. */
inline PlanWeights::ReadPart TransposedPartsOf(PlanWeights* weights, const void* at) {
  auto* const transposed = dynamic_cast<TransposedWeights*>(weights);
  return transposed ? transposed->TransposedParts(at) : PlanWeights::ReadPart();
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_TRANSPOSED_WEIGHTS_H_
