#ifndef MXNET_OPERATOR_MATRIX_TO_LAYOUT_H_
#define MXNET_OPERATOR_MATRIX_TO_LAYOUT_H_

#include "mxnet/base.h"

namespace mxnet {

/* The same tensor from one layout into another, on the CPU. */
void ConvertLayout(const TBlob& from, const TBlob& to);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_TO_LAYOUT_H_
