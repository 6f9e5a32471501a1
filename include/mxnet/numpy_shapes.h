// What 0 in a shape means.
#ifndef MXNET_NUMPY_SHAPES_H_
#define MXNET_NUMPY_SHAPES_H_

#include "mxnet/base.h"

namespace mxnet {

/* Whether the shapes that this thread gives are NumPy's: 0 is a size, and () an element. If not, 0
 * and () mean "not known", as in 1.x. */
MXNET_DLL bool NumpyShapes();
/* Says so for this thread alone; what was said for all of them holds beside that. Returns what was
 * said for this thread before. */
MXNET_DLL bool SetNumpyShapes(bool on);

/* Whether it was said for all threads, those to come as well. */
MXNET_DLL bool NumpyShapesOfAll();
MXNET_DLL void SetNumpyShapesOfAll(bool on);

/* The shapes that this thread gives are NumPy's until the end of the block. */
class NumpyShapesScope {
 public:
  NumpyShapesScope() : before_(SetNumpyShapes(true)) {}
  ~NumpyShapesScope() { SetNumpyShapes(before_); }
  NumpyShapesScope(const NumpyShapesScope&) = delete;
  NumpyShapesScope& operator=(const NumpyShapesScope&) = delete;

 private:
  const bool before_;
};

}  // namespace mxnet
#endif  // MXNET_NUMPY_SHAPES_H_
