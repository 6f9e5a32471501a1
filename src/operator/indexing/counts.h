/* Parameters of getnnz, for its kernels of dense and of sparse arrays. */
#ifndef MXNET_OPERATOR_INDEXING_COUNTS_H_
#define MXNET_OPERATOR_INDEXING_COUNTS_H_

#include <optional>

#include "operator/record/param.h"

namespace mxnet {

struct CountParam : public Parameter<CountParam> {
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(CountParam) {
    MXNET_FIELD(axis)
        .set_default(std::optional<int>())
        .describe("1: one number for each row of a matrix; 0: one for each column; None: one number.");
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_COUNTS_H_
