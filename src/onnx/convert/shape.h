/* The parts of the shape family. */
#ifndef MXNET_ONNX_CONVERT_SHAPE_H_
#define MXNET_ONNX_CONVERT_SHAPE_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

Rules SliceRules();  // slices, splits, concatenation, padding, tiles
Rules CastRules();   // casts, constants of a shape

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_SHAPE_H_
