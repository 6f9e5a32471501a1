/* The parts of the pointwise family. */
#ifndef MXNET_ONNX_CONVERT_POINTWISE_H_
#define MXNET_ONNX_CONVERT_POINTWISE_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

Rules BinaryRules();

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_POINTWISE_H_
