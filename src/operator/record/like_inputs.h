/* Inference of backward nodes: a gradient has the shape and the dtype of what it belongs to. */
#ifndef MXNET_OPERATOR_RECORD_LIKE_INPUTS_H_
#define MXNET_OPERATOR_RECORD_LIKE_INPUTS_H_

#include "mxnet/op.h"

namespace mxnet {

/* Output i is like input first + i. All inputs must be known in the end. */
InferShapeFn LikeInputsShape(int first);
InferTypeFn LikeInputsType(int first);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_LIKE_INPUTS_H_
