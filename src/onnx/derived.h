/* Constants that are computed from weights whose contents are stored (ndarray/stored.h): they are
 * stored, too, and computed when somebody reads them. */
#ifndef MXNET_ONNX_DERIVED_H_
#define MXNET_ONNX_DERIVED_H_

#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {
namespace onnx {

/* The result of an operator on constants, as a stored array. A none array where it is to be
 * computed now: no operand is stored, the result is small, or there are several. */
NDArray DerivedFromStored(const AttrsPtr& attrs, const std::vector<NDArray>& operands);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_DERIVED_H_
