/* Contractions (contract.h) of few numbers, in one walk over all labels: on the CPU. */
#ifndef MXNET_OPERATOR_LINALG_CONTRACT_FEW_H_
#define MXNET_OPERATOR_LINALG_CONTRACT_FEW_H_

#include <cstdint>
#include <vector>

#include "operator/linalg/contract.h"

namespace mxnet {
namespace linalg {

/* Writes the contraction to `out`, sums in double (of 16-bit floats in float). False, and nothing
 * is done: there are too many products, labels or operands, or the dtype is bool.
 * REQUIRES: no operand is empty. */
bool ContractFew(int dtype, const std::vector<int64_t>& sizes, const std::vector<Labelled>& in, const Labelled& out);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_CONTRACT_FEW_H_
