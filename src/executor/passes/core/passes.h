// Graph passes of the plan compiler. Each takes nodes as they are and gives new ones; what others
// share is never changed.
#ifndef MXNET_EXECUTOR_PASSES_CORE_PASSES_H_
#define MXNET_EXECUTOR_PASSES_CORE_PASSES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/entry_key.h"
#include "mxnet/graph.h"
#include "operator/record/traits.h"

namespace mxnet {

/* The nodes of a graph, inputs before what reads them. */
struct NodeOrder {
  std::vector<NodeEntry> heads;  // what it was made for
  std::vector<NodePtr> nodes;
  int operators = 0;  // those that are no variables
  std::set<Role> roles;
};

/* The graph that passes hand on. */
struct PassGraph {
  std::vector<NodeEntry> outputs;                 // forward results
  std::vector<NodeEntry> grads;                   // backward results, never null
  EntryPairs alike;                               // entries of equal shape and dtype
  std::unordered_map<const Node*, int> sequence;  // backward nodes: when the gradient pass made them
  std::map<EntryKey, Layout> layouts;             // entries that are not plain
  struct MicroBatchRun {
    int run;
    int64_t examples;
  };
  std::unordered_map<const Node*, MicroBatchRun> micro_batches;   // nodes of one run go over the batch so many examples at a time
  mutable std::shared_ptr<const NodeOrder> forward_order, order;  // as they were last asked for
};

/* All nodes; those that compute the outputs. Nodes are immutable, so an order is made once for the
 * same results. */
std::shared_ptr<const NodeOrder> OrderOf(const PassGraph& g);
std::shared_ptr<const NodeOrder> ForwardOrderOf(const PassGraph& g);
template <typename Visit>
void VisitForward(const PassGraph& g, const Visit& visit) {
  const auto order = ForwardOrderOf(g);
  for (const NodePtr& n : order->nodes) visit(n);
}
/* Does `holds` for any node; for any that computes the outputs? A look that spares most graphs the
 * inference and the walk of a pass. */
template <typename Holds>
bool AnyNode(const PassGraph& g, const Holds& holds) {
  const auto order = OrderOf(g);
  return std::any_of(order->nodes.begin(), order->nodes.end(), holds);
}
template <typename Holds>
bool AnyForward(const PassGraph& g, const Holds& holds) {
  const auto order = ForwardOrderOf(g);
  return std::any_of(order->nodes.begin(), order->nodes.end(), holds);
}
/* Has a node that computes the outputs this role? */
inline bool Has(const PassGraph& g, Role role) { return ForwardOrderOf(g)->roles.count(role) > 0; }

/* A graph with what is known of its entries; describes the PassGraph it was made from and holds
 * pointers into it. */
struct GraphInfo {
  IndexedGraph g;
  TensorTypes types;  // by entry id
  explicit GraphInfo(const std::vector<NodeEntry>& heads) : g(heads) {}
  const TensorType& type(const NodeEntry& e) const { return types[g.eid(g.id.at(e.node.get()), e.index)]; }
  const Shape& shape(const NodeEntry& e) const { return type(e).shape; }
  int dtype(const NodeEntry& e) const { return type(e).dtype; }
};

/* What the caller gave of variables. */
using VariableTypes = std::unordered_map<const Node*, TensorType>;

/*
 * Throws Error(kValue) naming the node when something stays unknown. `before`: what was known of
 * a graph that this one was made from by rewriting, whose nodes still exist. Nodes that both have,
 * and copies of nodes with inputs of the same types, are not inferred again.
 */
std::unique_ptr<GraphInfo> InferGraph(const PassGraph& graph, const VariableTypes& variables, const InferSwitches& switches,
                                      const GraphInfo* before = nullptr);

struct PlanRequest;
enum class HeadStorages : char;

/* What a pass may ask about the compilation it is part of. */
class PassContext {
 public:
  PassContext(const PlanRequest& request, bool has_backward, const VariableTypes* variables)
      : request(request), has_backward(has_backward), variables_(variables) {}
  const PlanRequest& request;
  const bool has_backward;
  bool inference() const;  // neither training mode nor a backward pass
  bool on_cpu() const;
  bool all_inputs_are(int dtype) const;
  /* Of the graph as the running pass got it. Inferred on the first call; forgotten when a pass has
   * changed something. */
  const GraphInfo& info(const PassGraph& graph);
  void Forget();
  /* The same, for whoever wants to keep it. */
  std::unique_ptr<GraphInfo> TakeInfo(const PassGraph& graph) {
    info(graph);
    return std::move(info_);
  }
  bool quiet = false;  // a plan that is made only to know its memory: nothing is printed

 private:
  const VariableTypes* variables_;
  std::unique_ptr<GraphInfo> info_, before_;               // of the graph as it is; as it was before the last change
  std::shared_ptr<const NodeOrder> nodes_, nodes_before_;  // keep the nodes that these point to
};

/* When a pass runs. */
enum class Stage : uint8_t {
  kEarly,  // on the forward graph alone, before the gradient is made from it
  kLate,   // on both
};
/* What becomes of the results of the symbol's nodes. */
enum class Results : uint8_t {
  kWanted,  // those that the plan's caller does not read may go
  kAll,     // what every node computes is still computed: the pass runs for monitors, too
};

/* One step of the plan compiler. `run` returns how many nodes it removed, merged or put in (0:
 * nothing has changed). */
struct Pass {
  const char* name;
  const char* help;
  bool (*wanted)(const PassContext&);  // variables and modes; MXNET_PLAN_PASSES_OFF is looked at elsewhere
  int (*run)(PassGraph*, PassContext*);
  Stage stage;
  Results keeps;
};
/* All of them, in the order in which they run: the only list. */
const std::vector<Pass>& PlanPasses();

/* What a pass did to one plan. */
struct PassRecord {
  std::string name;
  int changed = 0, nodes_before = 0, nodes_after = 0;
};
/*
 * Runs the passes of one stage, as far as they are wanted and not switched off; prints graphs as
 * MXNET_PLAN_LOG_PASSES says. Adds to `records`. Throws Error(kValue) when a variable names no
 * pass.
 */
void RunPasses(PassGraph* graph, PassContext* context, Stage stage, std::vector<PassRecord>* records);

/* One line a node: its name, operator, parameters and inputs. */
std::string GraphText(const PassGraph& graph);

/* Rewrites every reachable node through `map_node` (children first). `map_node` gets a node whose
 * inputs are already renewed and returns what takes its place. */
void Rewrite(PassGraph* g, const std::function<NodePtr(const NodePtr& renewed, const NodePtr& original)>& map_node);
/* The same with an entry for every output; none: the node as it was given. */
void RewriteEntries(PassGraph* g, const std::function<std::vector<NodeEntry>(const NodePtr& renewed, const NodePtr& original)>& map_node);

/*
 * Where arrays are not all dense: gives nodes their operators' sparse forms, and puts casts before
 * nodes without one and behind gradients that are wanted in another storage. A part of every plan,
 * before its other passes on the whole graph, which leave forms alone. `grads`: by place in
 * PassGraph::grads. `heads`: by output, the variables of their gradients; may be empty. Tells of
 * what runs dense unless `quiet`. Returns whether anything is sparse.
 */
bool ChooseStorages(PassGraph* g, VariableTypes* variables, const std::vector<StorageType>& grads, const std::vector<NodePtr>& heads,
                    HeadStorages head_storages, bool quiet);
/* The same graph with dense records, which can be bound to arrays of any storage. */
std::vector<NodeEntry> WithoutForms(const std::vector<NodeEntry>& outputs);
/* Of nodes that were made since for results: copies and sums. */
void GiveForms(const std::vector<NodePtr>& nodes, const GraphInfo& info);

/* The entry whose elements, in their order, `e` has in another shape; itself. */
const NodeEntry& BeforeReshapes(const NodeEntry& e);

/* How often an entry is read, outputs of the graph included (gradients are not). */
using EntryUsers = std::unordered_map<EntryKey, int, EntryKeyHash>;
EntryUsers CountUsers(const PassGraph& g);

/* BatchNorm and relu become _contrib_BatchNormWithReLU; in inference, where FoldScaleShift would
 * not take the BatchNorm. Early. */
int FuseBatchNormRelu(PassGraph* g, PassContext* context);
/* Training: BatchNorm, the sum with something else and relu become one operator, the end of a
 * residual block. Early. */
int FuseBatchNormAddRelu(PassGraph* g, PassContext* context);

/* Layer normalization over the last dimension, written out, becomes LayerNorm, with gamma and beta
 * where they follow. Early. Returns how many. */
int FuseLayerNorm(PassGraph* g, PassContext* context);
/* Softmax and its logarithm over one dimension, written out, become softmax and log_softmax. Early.
 * Returns how many. */
int FuseSoftmax(PassGraph* g, PassContext* context);
/* A csr matrix times the sums of squares of a table's rows becomes one operator. Early. Returns
 * how many. */
int FuseSquareSum(PassGraph* g, PassContext* context);

/* What is read for its shape and dtype alone is read from nodes that are never computed. Returns
 * how many edges moved. */
int DetachShapes(PassGraph* g, PassContext* context);
/*
 * Nodes that must run for the graph's results, by id: results and, unless `results_only`, operators
 * that draw random numbers or write inputs, and whatever these need the numbers of. What others
 * look at for its shape alone is not among them.
 */
std::vector<char> Computed(const IndexedGraph& g, bool results_only = false);

/* Takes out what gives its input: copies, Dropout that drops nothing, casts, reshapes and
 * transposes that change nothing. */
int RemoveIdentities(PassGraph* g, PassContext* context);
/* The same for casts of mixed precision alone, before the gradient is made: a cast to the same
 * dtype has a gradient that copies, and stands between operators that other passes make one of. */
int RemoveMixedCasts(PassGraph* g, PassContext* context);

/* Makes constant nodes of small arrays that do not depend on any variable's contents, and of what
 * is computed from them. */
int FoldConstants(PassGraph* g, PassContext* context);

/* Merges nodes that compute the same from the same. Random, mutating and stateful operators stay.
 * Returns how many were removed. */
int EliminateCommonExpressions(PassGraph* g, PassContext* context);

/*
 * Constant nodes carry this attribute: they read nothing but variables and other constant nodes,
 * keep their results from run to run and run again only when one of these has changed.
 */
constexpr char kPlanConstant[] = "__plan_constant__";
bool IsConstantNode(const Node& node);
/* A constant node that computes what `like` does, of the same name. */
NodePtr ConstantNodeLike(const Node& like);

/* Inference only: the parameters of recurrent layers are put together by a constant node. Returns
 * how many layers. */
int FoldRnnParameters(PassGraph* g, PassContext* context);

/*
 * Inference only, float32 and 16-bit dtypes: folds BatchNorm, and numbers that the result is
 * multiplied by or shifted by, into the convolution or dense layer before them. The new weight and
 * bias come from a constant node. Returns how many nodes were folded.
 */
int FoldScaleShift(PassGraph* g, PassContext* context);
/* Will that take this BatchNorm in? `ndim`: of its data. */
bool FoldsIntoLayer(const Node& norm, int ndim);

/* Inference only, float32 and 16-bit dtypes: a vector that is added to a convolution or dense layer
 * without bias becomes its bias. Returns how many did. */
int JoinBias(PassGraph* g, PassContext* context);
int JoinBiases(PassGraph* g, const GraphInfo& info);

/* Zeros around the data of a convolution become its own padding, where it can pad so. Returns how
 * many did. */
int FoldPadding(PassGraph* g, PassContext* context);

/* Transposes whose result a product of matrices alone reads become part of it. Returns how many. */
int FoldTransposes(PassGraph* g, PassContext* context);

/* Products of matrices by a stack that repeats some read these once. Returns how many do. */
int FoldRepeats(PassGraph* g, PassContext* context);

/*
 * Inference only, float32 and 16-bit dtypes: an addition and an activation behind a convolution or
 * dense layer become part of it, where nobody else reads what lies between. Returns how many nodes
 * went.
 */
int FuseConvolution(PassGraph* g, PassContext* context);
int FuseDense(PassGraph* g, PassContext* context);
/* Inference only, float32: a 1x1 convolution and the 3x3 depthwise one that alone reads it become
 * one operator. Returns how many pairs did. */
int FuseExpansion(PassGraph* g, PassContext* context);

/* Inference: what stands between a layer on 8-bit integers and its result in 8 bits becomes part of
 * the layer, where calibration has found the range. Returns how many nodes went. */
int FuseQuantized(PassGraph* g, PassContext* context);

/* Inference: casts of parameters that layers read as weights and biases become constant nodes.
 * Returns how many. */
int KeepCasts(PassGraph* g, PassContext* context);

/* Gelu (inference) and attention (early in training, late in inference) written out become one
 * operator each. */
int FuseGelu(PassGraph* g, PassContext* context);
int FuseSwish(PassGraph* g, PassContext* context);
int FuseGroupNorm(PassGraph* g, PassContext* context);
int FuseShuffle(PassGraph* g, PassContext* context);
int FuseAttention(PassGraph* g, PassContext* context);

/*
 * Pointwise operators of one shape whose results only others of them read become one operator,
 * forward and backward apart. Returns how many nodes went.
 */
int FusePointwise(PassGraph* g, PassContext* context);

/* Gives sources without inputs the shapes that inference found for them. */
int SettleShapes(PassGraph* g, PassContext* context);

/* Chooses layouts and inserts conversions, where the graph holds what gains from channels-last
 * tensors. Returns how many conversions there are. */
int ChooseLayouts(PassGraph* g, PassContext* context);
/* Whether plans made from now on are given that choice; true from the start. */
bool LayoutsMayChange();
void LetLayoutsChange(bool value);

/*
 * Inference: marks runs of nodes that treat every example of a batch alone, where the whole batch
 * does not stay in the cache. Returns how many nodes were marked.
 */
int MicroBatch(PassGraph* g, PassContext* context);
/* Of a node that such a run may hold: is this input data, of `shape`, and not a parameter? Is this
 * result, of `shape`, made example by example? */
bool ReadsByExample(const Node& node, int input, const Shape& shape);
bool WritesByExample(const Shape& shape);

/*
 * Execution order: forward nodes depth first, then backward nodes as early as the gradient pass
 * wanted them, recomputed ones just before their first user. *num_forward: how many belong to the
 * forward pass. Nodes whose results nobody reads are left out, unless `every` one is wanted.
 */
std::vector<uint32_t> ExecutionOrder(const IndexedGraph& g, size_t num_forward_heads, const std::unordered_map<const Node*, int>& sequence,
                                     bool every, int* num_forward);

/* ---- recomputation: forward nodes that the backward pass runs again, so that their results need
 * not be kept */
using NodeSet = std::unordered_set<const Node*>;

/* One choice, with what it costs and gives. */
struct Recompute {
  NodeSet nodes;
  static constexpr size_t kNotPlanned = static_cast<size_t>(-1);
  size_t arena_bytes = kNotPlanned;  // of the plan with it
  size_t kept_bytes = 0;             // of the arena without any
  size_t kept_at_once = 0;           // what lives from the forward to the backward pass: the arena is no smaller
  double segments = 1, weight = 0;   // how it was found
  double extra_ns = 0, extra_flops = 0, step_ns = 0, step_flops = 0;  // estimates: of the recomputation, of a step without it
};

/* What is known when it is time to choose. */
struct RecomputeQuestion {
  const PassGraph& graph;                             // with gradients that keep everything
  const GraphInfo& info;                              // of `graph`
  size_t budget = 0;                                  // bytes that the arena may have; 0: whatever the environment says
  bool least = false;                                 // as little as possible, at any price
  std::function<size_t(const NodeSet&)> arena_bytes;  // plans memory for a choice
};

/*
 * MXNET_BACKWARD_DO_MIRROR: the results whose recomputation saves most bytes for about a twentieth
 * of the time. MXNET_MEMORY_OPT: what needs least memory. A budget: the least time that fits
 * (throws Error(kValue) naming the least possible bytes when nothing does). `__force_mirroring__`
 * True and False always count.
 */
Recompute ChooseRecomputed(const RecomputeQuestion& question);
/*
 * What is recomputed when nobody asks for it, in training steps that keep half a GiB or more:
 * BatchNorm with relu as one operator. Its input is kept in any case; its output costs one pass
 * over memory. `__force_mirroring__` False keeps it.
 */
Recompute RecomputeNearlyFree(const RecomputeQuestion& question);
bool NearlyFree(const Node& node);
/* Is there anything to choose for this graph? */
bool RecomputeWanted(const std::vector<NodeEntry>& outputs, const PlanRequest& request);
/* Is it chosen among the nodes that the user sees: by __force_mirroring__, or for a budget whose
 * choice mx.memory.plan gives as attributes? */
bool RecomputeNamed(const std::vector<NodeEntry>& outputs, const PlanRequest& request);
/* Rough nanoseconds that one run of a node takes on a core or two, and its floating-point
 * operations. */
double EstimateNanoseconds(const GraphInfo& info, uint32_t node, double* flops);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_CORE_PASSES_H_
