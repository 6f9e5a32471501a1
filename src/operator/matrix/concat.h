/* Parameters of Concat. */
#ifndef MXNET_OPERATOR_MATRIX_CONCAT_H_
#define MXNET_OPERATOR_MATRIX_CONCAT_H_

#include "operator/record/param.h"

namespace mxnet {

struct ConcatParam : public Parameter<ConcatParam> {
  int num_args;
  int dim;
  MXNET_DECLARE_PARAM(ConcatParam) {
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs.");
    MXNET_FIELD(dim).set_default(1).describe("The dimension along which inputs are put together; negative counts from the end.");
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_CONCAT_H_
