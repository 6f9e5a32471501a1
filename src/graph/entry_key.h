/* One output of one node as a key of maps and sets. It does not keep the node alive. */
#ifndef MXNET_GRAPH_ENTRY_KEY_H_
#define MXNET_GRAPH_ENTRY_KEY_H_

#include <cstdint>
#include <functional>

#include "mxnet/graph.h"

namespace mxnet {

struct EntryKey {
  const Node* node = nullptr;
  uint32_t index = 0;
  EntryKey() = default;
  EntryKey(const Node* n, uint32_t i) : node(n), index(i) {}
  EntryKey(const NodeEntry& e) : node(e.node.get()), index(e.index) {}  // NOLINT: implicit on purpose
  bool operator==(const EntryKey& o) const { return node == o.node && index == o.index; }
  bool operator!=(const EntryKey& o) const { return !(*this == o); }
  bool operator<(const EntryKey& o) const { return node != o.node ? std::less<const Node*>()(node, o.node) : index < o.index; }
};
struct EntryKeyHash {
  size_t operator()(const EntryKey& e) const { return std::hash<const Node*>()(e.node) * 31 + e.index; }
};

}  // namespace mxnet
#endif  // MXNET_GRAPH_ENTRY_KEY_H_
