// Depth-first order and the dense numbering that passes work on.
#include <algorithm>
#include <unordered_set>

#include "mxnet/graph.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

/* The nodes that a walk has met. A plan takes a hundred walks, and a node of a standard set is an
 * allocation. */
class Met {
 public:
  Met() : slots_(kFirst, nullptr) {}
  /* Is it new? */
  bool Insert(const Node* node) {
    size_t at = Place(node);
    for (; slots_[at]; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at] == node) return false;
    slots_[at] = node;
    if (++count_ * 2 > slots_.size()) Grow();
    return true;
  }

 private:
  static constexpr size_t kFirst = 128;  // a power of two, as all sizes
  size_t Place(const Node* node) const {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(node) * uint64_t{0x9E3779B97F4A7C15};
    return static_cast<size_t>(mixed >> 32) & (slots_.size() - 1);
  }
  void Grow() {
    std::vector<const Node*> old(slots_.size() * 4, nullptr);
    old.swap(slots_);
    for (const Node* node : old) {
      if (!node) continue;
      size_t at = Place(node);
      while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = node;
    }
  }

  std::vector<const Node*> slots_;
  size_t count_ = 0;
};

}  // namespace

MXNET_DLL void DFSVisit(const std::vector<NodeEntry>& heads, const std::function<void(const NodePtr&)>& visit) {
  struct Frame {
    const NodePtr* node;  // in `heads`, or among what its reader reads: nodes do not change meanwhile
    size_t next;
  };
  Met seen;
  std::vector<Frame> stack;
  auto enter = [&](const NodePtr& n) {
    if (n && seen.Insert(n.get())) stack.push_back({&n, 0});
  };
  for (const auto& head : heads) {
    enter(head.node);
    while (!stack.empty()) {
      const NodePtr& node = *stack.back().node;
      const size_t deps = node->control_deps.size(), at = stack.back().next++;
      if (at < node->inputs.size()) {
        enter(node->inputs[at].node);
      } else if (at < node->inputs.size() + deps) {
        enter(node->control_deps[at - node->inputs.size()]);
      } else {
        stack.pop_back();
        visit(node);
      }
    }
  }
}

MXNET_DLL IndexedGraph::IndexedGraph(const std::vector<NodeEntry>& heads) {
  entry_ptr.push_back(0);
  std::unordered_set<uint32_t> mutated;
  DFSVisit(heads, [&](const NodePtr& n) {
    const uint32_t me = static_cast<uint32_t>(nodes.size());
    id[n.get()] = me;
    NodeInfo info;
    info.source = n.get();
    info.weak = n;
    for (const auto& e : n->inputs) info.inputs.push_back({id.at(e.node.get()), e.index, e.version});
    for (const auto& d : n->control_deps) info.control_deps.push_back(id.at(d.get()));
    if (n->is_variable()) {
      input_nodes.push_back(me);
    } else {
      for (int i : n->op()->MutateInputs(*n->attrs))
        if (i < n->num_inputs() && n->inputs[i].node->is_variable()) mutated.insert(info.inputs[i].node);
    }
    nodes.push_back(std::move(info));
    entry_ptr.push_back(entry_ptr.back() + n->num_outputs());
  });
  for (uint32_t v : input_nodes) is_mutable_input.push_back(mutated.count(v) != 0);
  for (const auto& e : heads) {
    MXNET_CHECK_KIND(e.node, Value) << "[graph] an output is missing";
    MXNET_CHECK_KIND(static_cast<int>(e.index) < e.node->num_outputs(), Value)
        << "[graph] output " << e.index << " of " << e.node->name << ", which has " << e.node->num_outputs();
    outputs.push_back({id.at(e.node.get()), e.index, e.version});
  }
}

}  // namespace mxnet
