// Graph passes of the plan compiler. Each takes nodes as they are and gives new ones; what others share is never changed.
#ifndef MXNET_EXECUTOR_PASSES_H_
#define MXNET_EXECUTOR_PASSES_H_

#include <map>
#include <unordered_map>
#include <vector>

#include "graph/infer.h"
#include "mxnet/graph.h"

namespace mxnet {

/* The graph that passes hand on. */
struct PassGraph {
  std::vector<NodeEntry> outputs;   // forward results
  std::vector<NodeEntry> grads;     // backward results, never null
  EntryPairs alike;                 // entries of equal shape and dtype
  std::unordered_map<const Node*, int> sequence;   // backward nodes: when the gradient pass made them
  std::map<std::pair<const Node*, uint32_t>, Layout> layouts;   // entries that are not plain
};

/* Rewrites every reachable node through `map_node` (children first). `map_node` gets a node whose inputs are already renewed and returns what takes its place. */
void Rewrite(PassGraph* g, const std::function<NodePtr(const NodePtr& renewed, const NodePtr& original)>& map_node);

/* Merges nodes that compute the same from the same. Random, mutating and stateful operators stay. Returns how many were removed. */
int EliminateCommonExpressions(PassGraph* g);

/*
 * Inference only, float32: folds BatchNorm into the convolution before it. What it puts in are constant nodes: they read nothing but
 * variables, keep their results from run to run and run again only when one of these has changed. Returns how many were folded.
 */
int FoldBatchNorm(PassGraph* g);
bool IsConstantNode(const Node& node);

/*
 * Inference only, float32: an addition and a relu behind a convolution become part of it, where nobody else reads what lies between.
 * Returns how many nodes went.
 */
int FuseConvolution(PassGraph* g);

/* Does the graph hold what gains from channels-last tensors? */
bool LayoutWorthwhile(const PassGraph& g);
/* Chooses layouts and inserts conversions. `indexed`, `shapes` and `dtypes` describe the graph as it comes. */
void ChooseLayouts(PassGraph* g, const IndexedGraph& indexed, const ShapeVector& shapes, const std::vector<int>& dtypes);

/*
 * Execution order: forward nodes depth first, then backward nodes as early as the gradient pass wanted them, recomputed ones just before
 * their first user. *num_forward: how many belong to the forward pass.
 */
std::vector<uint32_t> ExecutionOrder(const IndexedGraph& g, size_t num_forward_heads, const std::unordered_map<const Node*, int>& sequence, int* num_forward);

/* Should this node be recomputed in the backward pass? (MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT, __force_mirroring__) */
bool MirrorWanted(const Node& node);

/* The operator's kernels look only at the shape of this input. */
bool ReadsOnlyShape(const Op* op, int input);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_H_
