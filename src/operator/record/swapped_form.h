/* What callers that compute one operator after another ask of a product of matrices. */
#ifndef MXNET_OPERATOR_RECORD_SWAPPED_FORM_H_
#define MXNET_OPERATOR_RECORD_SWAPPED_FORM_H_

#include "mxnet/node.h"

namespace mxnet {

/* The operator that gives the same of inputs 0 and 1 where the matrices of input 1 are transposed:
 * it reads them as they lie. Both have two dimensions or more. */
struct SwappedForm {
  AttrsPtr (*attrs)();
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_SWAPPED_FORM_H_
