/* One output of one node of a graph. Nodes themselves are declared by op.h; arrays hold entries
 * without knowing more. */
#ifndef MXNET_NODE_ENTRY_H_
#define MXNET_NODE_ENTRY_H_

#include <cstdint>
#include <memory>

namespace mxnet {

struct Node;
using NodePtr = std::shared_ptr<Node>;

struct NodeEntry {
  NodePtr node;
  uint32_t index = 0;
  uint32_t version = 0;  // for variables: how often it was mutated before this use
  explicit operator bool() const { return node != nullptr; }
};

}  // namespace mxnet
#endif  // MXNET_NODE_ENTRY_H_
