#include "mxnet/numpy_shapes.h"

namespace mxnet {

bool& NumpyShapes() {
  thread_local bool numpys = false;
  return numpys;
}

}  // namespace mxnet
