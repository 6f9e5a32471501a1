// The gradient pass with what the plan wants to know about its result.
#ifndef MXNET_GRAPH_GRADIENT_H_
#define MXNET_GRAPH_GRADIENT_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/infer.h"
#include "mxnet/graph.h"

namespace mxnet {

/* Hidden attribute of a recomputed node; keeps it apart from the node it repeats. */
constexpr const char* kMirrorAttr = "__mirror__";

/*
 * Names of new nodes, behind the name F of a forward node. F_backward computes the gradients of
 * F's inputs, F_backward_X that of the input X alone, F_backward_part something on the way there.
 * F_grad_sum adds up what reaches F's result. So do many terms in F_grad_sum1, F_grad_sum2, ... and
 * at last F_grad_sum_final.
 */
constexpr const char *kBackwardName = "_backward", *kPartName = "_part", *kCastName = "_cast", *kZeroGradName = "_zero_grad",
                     *kGradSumName = "_grad_sum", *kGradSumFinalName = "_grad_sum_final";
/* How such names call input `i`. */
std::string InputInNames(const Attrs& attrs, int i);

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
