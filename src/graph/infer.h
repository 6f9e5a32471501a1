// Attributes of variables that inference reads.
#ifndef MXNET_GRAPH_INFER_H_
#define MXNET_GRAPH_INFER_H_

#include <string>

#include "mxnet/graph.h"

namespace mxnet {

/* "(2, 3)" of a `__shape__` attribute; -1 is an unknown dimension, and so is 0 unless shapes are
 * NumPy's. Throws Error(kValue). */
Shape ParseShapeAttr(const std::string& text, bool numpy_shapes);

}  // namespace mxnet
#endif  // MXNET_GRAPH_INFER_H_
