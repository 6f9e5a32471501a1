/* The parts of the index family. */
#ifndef MXNET_ONNX_CONVERT_SHAPE_INDEX_H_
#define MXNET_ONNX_CONVERT_SHAPE_INDEX_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

Rules ScatterRules();
Rules ChooseRules();  // by conditions and order: where, top-k, running sums, unique ones

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_SHAPE_INDEX_H_
