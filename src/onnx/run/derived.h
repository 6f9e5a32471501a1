/*
 * Constants that are computed from weights of a model: they are stored (ndarray/stored.h), too, and
 * computed when somebody reads them. So of a chain of operators on a weight nothing is in memory
 * but the last result, and that one only while it is read.
 */
#ifndef MXNET_ONNX_RUN_DERIVED_H_
#define MXNET_ONNX_RUN_DERIVED_H_

#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {
namespace onnx {

class FoldedWeights;

/*
 * The results of an operator on constants, as stored arrays. `weights` tells which of them live as
 * long as the model and are never written. None where they are to be computed now: no operand is
 * stored or a kept one of some size, or results are small. `on_inputs`: operands that are neither
 * may be those of one call.
 */
std::vector<NDArray> DerivedFromStored(const AttrsPtr& attrs, const std::vector<NDArray>& operands, bool on_inputs, FoldedWeights* weights);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_DERIVED_H_
