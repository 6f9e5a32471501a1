/* Parameters of Concat. */
#ifndef MXNET_OPERATOR_MATRIX_CONCAT_H_
#define MXNET_OPERATOR_MATRIX_CONCAT_H_

#include "operator/param.h"

namespace mxnet {

struct ConcatParam : public dmlc::Parameter<ConcatParam> {
  int num_args;
  int dim;
  DMLC_DECLARE_PARAMETER(ConcatParam) {
    DMLC_DECLARE_FIELD(num_args).set_lower_bound(1).describe("Number of inputs.");
    DMLC_DECLARE_FIELD(dim).set_default(1).describe("The dimension along which inputs are put together; negative counts from the end.");
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_CONCAT_H_
