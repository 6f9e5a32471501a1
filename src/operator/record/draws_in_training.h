/* A trait of operators that need random numbers while training alone. */
#ifndef MXNET_OPERATOR_RECORD_DRAWS_IN_TRAINING_H_
#define MXNET_OPERATOR_RECORD_DRAWS_IN_TRAINING_H_

#include "mxnet/op.h"

namespace mxnet {

/* A call that does not train draws nothing, whatever its parameters say. */
struct DrawsInTraining {};

/* Does a call that does not train draw random numbers? */
inline bool DrawsInInference(const Op& op) { return op.uses_random && !op.trait<DrawsInTraining>(); }

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_DRAWS_IN_TRAINING_H_
