/* The parts of the shape family. */
#ifndef MXNET_ONNX_CONVERT_SHAPE_SHAPE_H_
#define MXNET_ONNX_CONVERT_SHAPE_SHAPE_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

/* One dimension of a slice, with ends in range: `count` entries from `begin`, `step` apart. */
struct Cut {
  int64_t begin = 0, step = 1, count = 0;
};
/* As ONNX says it of a dimension of `size`. REQUIRES: the step is neither 0 nor the smallest
 * number. */
Cut CutOf(int64_t size, int64_t begin, int64_t end, int64_t step);

Rules SliceRules();  // slices, splits, concatenation, padding, tiles
Rules CastRules();   // casts, constants of a shape

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_SHAPE_SHAPE_H_
