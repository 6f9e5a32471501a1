// What 0 in a shape means on this thread.
#ifndef MXNET_NUMPY_SHAPES_H_
#define MXNET_NUMPY_SHAPES_H_

#include "mxnet/base.h"

namespace mxnet {

/* Whether the shapes that this thread gives are NumPy's: 0 is a size, and () an element. If not, 0
 * and () mean "not known", as in 1.x. */
MXNET_DLL bool& NumpyShapes();

}  // namespace mxnet
#endif  // MXNET_NUMPY_SHAPES_H_
