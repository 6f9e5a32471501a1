// The gradient pass with what the plan wants to know about its result.
#ifndef MXNET_GRAPH_GRADIENT_H_
#define MXNET_GRAPH_GRADIENT_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "graph/infer.h"
#include "mxnet/graph.h"

namespace mxnet {

/* Hidden attribute of a recomputed node; keeps it apart from the node it repeats. */
constexpr const char* kMirrorAttr = "__mirror__";

struct GradientResult {
  std::vector<NodeEntry> grads;  // by x; null: no gradient flows there
  EntryPairs alike;              // (gradient, forward entry) of equal shape and dtype
  std::unordered_map<const Node*, int>
      sequence;  // new nodes, numbered in the order in which gradients became known; recomputed ones are left out
};

/*
 * `dtype_of` tells the dtypes of forward entries, where the caller knows them. A gradient that
 * comes out in another dtype than what it belongs to (NumPy operators mix them: the mean of
 * integers is a float) is then converted. Without it all are taken to agree.
 */
GradientResult BuildGradient(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& head_grads,
                             const std::function<bool(const Node&)>& mirror,
                             const std::function<int(const NodeEntry&)>& dtype_of = nullptr);

}  // namespace mxnet
#endif  // MXNET_GRAPH_GRADIENT_H_
