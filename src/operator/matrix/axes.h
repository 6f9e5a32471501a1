/* Small checks on axes and shapes that the data movement records share. */
#ifndef MXNET_OPERATOR_MATRIX_AXES_H_
#define MXNET_OPERATOR_MATRIX_AXES_H_

#include "mxnet/op.h"

namespace mxnet {

/* Counts negative axes from the end. Throws Error(kValue) when outside [-ndim, ndim). */
inline int CheckedAxis(const Attrs& attrs, int64_t axis, int ndim, const char* what = "axis") {
  MXNET_CHECK_KIND(axis >= -ndim && axis < ndim, Value) << "[" << attrs.op->name << "] " << what << "=" << axis << "; an array of " << ndim
                                                        << " dimensions accepts " << -ndim << " to " << ndim - 1;
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

/* NDArray::InferReshape, whose errors name the operator. */
Shape ReshapedByCodes(const Attrs& attrs, const Shape& from, const std::vector<int64_t>& codes, bool reverse);

/* The result is as large as the input and has its elements in the same order: nothing to do in
 * place, one memcpy otherwise. */
void CopyThrough(KernelArgs& args);
bool IsCopyThrough(const Kernel& kernel);
/* Is that all that the operator does, on each device that it has a kernel for? */
bool OnlyMoves(const Op& op);

/* Does a permutation of two axes or more exchange the last two, and nothing else? */
template <typename Axes>
bool SwapsLastTwo(const Axes& axes) {
  const size_t n = axes.size();
  for (size_t d = 0; d < n; ++d)
    if (static_cast<size_t>(axes[d]) != (d + 2 < n ? d : 2 * n - 3 - d)) return false;
  return n >= 2;
}

/* Gradient of operators of that kind: the output's gradient in the shape of the input. */
std::vector<NodeEntry> ReshapeBack(const NodePtr& node, const std::vector<NodeEntry>& ograds);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_AXES_H_
