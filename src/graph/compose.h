// What composition and file loading share.
#ifndef MXNET_GRAPH_COMPOSE_H_
#define MXNET_GRAPH_COMPOSE_H_

#include <string>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

/* A variable that becomes the input of that name gets the `__init__` that the operator wishes,
 * unless it has one. */
void WishInitialValue(const Attrs& attrs, const std::string& input, Node* variable);

/* The graph with inputs, by place or by its variables' names (`keys`). Names of its nodes, and of
 * variables that stay, follow `name`: so do those of a node _CachedOp in 1.9.1. */
Symbol Inlined(const Symbol& graph, const std::vector<Symbol>& inputs, std::vector<std::string> keys, const std::string& name);

}  // namespace mxnet
#endif  // MXNET_GRAPH_COMPOSE_H_
