// Inside of inference: attributes of variables, and what is known beforehand.
#ifndef MXNET_GRAPH_INFER_H_
#define MXNET_GRAPH_INFER_H_

#include <string>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

/* "(2, 3)" of a `__shape__` attribute; -1 is an unknown dimension, and so is 0 unless shapes are
 * NumPy's. Throws Error(kValue). */
Shape ParseShapeAttr(const std::string& text, bool numpy_shapes);

/* InferEntries for a graph of which a part is known: `settled`, by node, says whose inputs and
 * outputs have their types in `entries`, which are right. Their operators are not asked again. */
bool InferUnsettled(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how, const std::vector<char>& settled);

}  // namespace mxnet
#endif  // MXNET_GRAPH_INFER_H_
