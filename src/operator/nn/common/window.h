/* The spatial parameters of operators with windows: kernel, stride, dilate, pad. */
#ifndef MXNET_OPERATOR_NN_COMMON_WINDOW_H_
#define MXNET_OPERATOR_NN_COMMON_WINDOW_H_

#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {
namespace nn {

/* Element i of a spatial parameter, or `otherwise` when the parameter was not given. */
inline int64_t Or(const Shape& s, int i, int64_t otherwise) { return s.ndim() > 0 ? s[i] : otherwise; }

/* Those that are given have as many numbers as kernel, pad from 0 and the others from 1: throws
 * Error(kValue). */
void CheckWindow(const Attrs& attrs, const Shape& kernel, const Shape& stride, const Shape& dilate, const Shape& pad);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_WINDOW_H_
