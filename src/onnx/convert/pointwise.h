/* The parts of the pointwise family. */
#ifndef MXNET_ONNX_CONVERT_POINTWISE_H_
#define MXNET_ONNX_CONVERT_POINTWISE_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

Rules BinaryRules();

/* The square root, or another one: 0 < exponent < 1. That of a sum, or of a mean, has the gradient
 * 0 at 0 in a graph that is trained, as norms and deviations of PyTorch have: infinity would be NaN
 * in the squares in front of it. */
Value Root(const Call& c, const Value& x, double exponent = 0.5);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_POINTWISE_H_
