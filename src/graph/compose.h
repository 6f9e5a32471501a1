// What composition and file loading share.
#ifndef MXNET_GRAPH_COMPOSE_H_
#define MXNET_GRAPH_COMPOSE_H_

#include <string>

#include "mxnet/node.h"

namespace mxnet {

/* A variable that becomes the input of that name gets the `__init__` that the operator wishes,
 * unless it has one. */
void WishInitialValue(const Attrs& attrs, const std::string& input, Node* variable);

}  // namespace mxnet
#endif  // MXNET_GRAPH_COMPOSE_H_
