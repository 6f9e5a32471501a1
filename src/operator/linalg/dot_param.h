/* Parameters of dot and batch_dot, for their kernels on arrays of any storage. */
#ifndef MXNET_OPERATOR_LINALG_DOT_PARAM_H_
#define MXNET_OPERATOR_LINALG_DOT_PARAM_H_

#include "operator/record/param.h"

namespace mxnet {

struct DotParam : public Parameter<DotParam> {
  bool transpose_a, transpose_b;
  std::optional<int> forward_stype;
  MXNET_DECLARE_PARAM(DotParam) {
    MXNET_FIELD(transpose_a)
        .set_default(false)
        .describe("Multiply with lhs transposed: its first dimension is summed over instead of its last.");
    MXNET_FIELD(transpose_b)
        .set_default(false)
        .describe("Multiply with rhs transposed: its last dimension is summed over instead of its first.");
    MXNET_FIELD(forward_stype)
        .set_default(std::optional<int>())
        .add_enum("default", static_cast<int>(StorageType::kDense))
        .add_enum("row_sparse", static_cast<int>(StorageType::kRowSparse))
        .add_enum("csr", static_cast<int>(StorageType::kCSR))
        .describe("Storage type wanted for the result.");
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_DOT_PARAM_H_
