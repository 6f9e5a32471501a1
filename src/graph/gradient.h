// The gradient pass with what the plan wants to know about its result.
#ifndef MXNET_GRAPH_GRADIENT_H_
#define MXNET_GRAPH_GRADIENT_H_

#include <unordered_map>
#include <vector>

#include "graph/infer.h"
#include "mxnet/graph.h"

namespace mxnet {

/* Hidden attribute of a recomputed node; keeps it apart from the node it repeats. */
constexpr const char* kMirrorAttr = "__mirror__";

struct GradientResult {
  std::vector<NodeEntry> grads;   // by x; null: no gradient flows there
  EntryPairs alike;               // (gradient, forward entry) of equal shape and dtype
  std::unordered_map<const Node*, int> sequence;   // new nodes, numbered in the order in which gradients became known; recomputed ones are left out
};

GradientResult BuildGradient(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& head_grads,
                             const std::function<bool(const Node&)>& mirror);

}  // namespace mxnet
#endif  // MXNET_GRAPH_GRADIENT_H_
