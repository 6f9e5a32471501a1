// Inference with side knowledge: pairs of entries that are known to be alike (a gradient and what
// it is the gradient of).
#ifndef MXNET_GRAPH_INFER_H_
#define MXNET_GRAPH_INFER_H_

#include <utility>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

using EntryPairs = std::vector<std::pair<NodeEntry, NodeEntry>>;

bool InferShapes(const IndexedGraph& g, ShapeVector* shapes, const EntryPairs& alike);
bool InferTypes(const IndexedGraph& g, std::vector<int>* dtypes, int default_dtype, const EntryPairs& alike);

/* "(2, 3)" of a `__shape__` attribute; -1 is an unknown dimension, and so is 0 unless this thread's
 * shapes are NumPy's. Throws Error(kValue). */
Shape ParseShapeAttr(const std::string& text);

}  // namespace mxnet
#endif  // MXNET_GRAPH_INFER_H_
