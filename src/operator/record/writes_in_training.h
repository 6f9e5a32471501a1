/* A trait of operators with states that only training changes. */
#ifndef MXNET_OPERATOR_RECORD_WRITES_IN_TRAINING_H_
#define MXNET_OPERATOR_RECORD_WRITES_IN_TRAINING_H_

namespace mxnet {

/* What mutate_inputs names is written while training alone: statistics that follow the batches. */
struct WritesInTraining {};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_WRITES_IN_TRAINING_H_
