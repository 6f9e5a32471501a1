/*
 * Symbolic graphs: Symbol (what users compose), IndexedGraph (what passes work on), inference, JSON
 * and the gradient pass. Nodes are shared between symbols; everything here treats reachable nodes
 * as immutable, except where a function says that it changes a node's name or attributes.
 */
#ifndef MXNET_GRAPH_H_
#define MXNET_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/infer_switches.h"
#include "mxnet/node.h"

namespace mxnet {

class MXNET_DLL Symbol {
 public:
  std::vector<NodeEntry> outputs;

  static Symbol Variable(const std::string& name, AttrDict attrs = {});
  /* An operator without inputs yet; Compose fills them (missing ones become variables NAME_weight,
   * ...). */
  static Symbol Atomic(const Op* op, AttrDict dict);
  static Symbol Group(const std::vector<Symbol>& parts);

  /* Names the node and connects inputs, positional or by keyword; auxiliary states included. Throws
   * Error(kValue). */
  void Compose(const std::vector<Symbol>& args, const std::vector<std::string>& keys, const std::string& name);
  Symbol Copy() const;  // deep copy of the graph
  Symbol operator[](size_t index) const;
  Symbol GetInternals() const;
  Symbol GetChildren() const;  // outputs empty when there are none

  enum ListOption { kAll, kReadOnlyArgs, kAuxStates };
  std::vector<NodePtr> ListInputs(ListOption option) const;  // variables in depth-first order
  std::vector<std::string> ListInputNames(ListOption option) const;
  std::vector<std::string> ListOutputNames() const;

  bool GetAttr(const std::string& key, std::string* out) const;
  void SetAttr(const std::string& key, const std::string& value);                    // single-output symbols; changes the node
  std::vector<std::pair<std::string, std::string>> ListAttrs(bool recursive) const;  // recursive: NODE$key
  std::string Print() const;
};

/* Depth-first, children first, each node once; iterative (deep graphs do not overflow the
 * stack). `visit` must not change `heads`, or what nodes read. */
void DFSVisit(const std::vector<NodeEntry>& heads, const std::function<void(const NodePtr&)>& visit);

/* A frozen view of a graph with dense numbers. INVARIANT: an input's node id is smaller than its
 * user's. */
struct IndexedGraph {
  struct Entry {
    uint32_t node, index, version;
  };
  struct NodeInfo {
    const Node* source;
    std::weak_ptr<Node> weak;
    std::vector<Entry> inputs;
    std::vector<uint32_t> control_deps;
  };
  std::vector<NodeInfo> nodes;
  std::vector<uint32_t> input_nodes;   // ids of variables, in ListInputs(kAll) order
  std::vector<bool> is_mutable_input;  // by position in input_nodes: auxiliary states
  std::vector<uint32_t> entry_ptr;     // node id -> first entry id; size nodes+1
  std::vector<Entry> outputs;
  std::unordered_map<const Node*, uint32_t> id;
  explicit IndexedGraph(const std::vector<NodeEntry>& heads);
  uint32_t eid(const Entry& e) const { return entry_ptr[e.node] + e.index; }
  uint32_t eid(uint32_t node, uint32_t index) const { return entry_ptr[node] + index; }
  uint32_t num_entries() const { return entry_ptr.back(); }
};

/* Entries that are known to be alike: a gradient and what it is the gradient of. */
using EntryPairs = std::vector<std::pair<NodeEntry, NodeEntry>>;

/* What inference over a graph is asked for, and knows besides the graph. */
struct GraphInference {
  bool shapes = true, dtypes = true;
  int default_dtype = kDTypeUnknown;  // of variables that nothing else tells
  InferSwitches switches = InferSwitches::OfThread(true);
  const EntryPairs* alike = nullptr;
};
/*
 * Forward and backward sweeps until nothing changes. `entries` are by entry id; unknown where not
 * given. Variables contribute `__shape__` / `__dtype__`. Returns true when all that was asked for
 * is known. Throws Error(kValue) naming node and operator.
 */
MXNET_DLL bool InferEntries(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how = {});
/* One part alone, as this thread's switches want it. */
MXNET_DLL bool InferShapes(const IndexedGraph& g, ShapeVector* shapes);
MXNET_DLL bool InferTypes(const IndexedGraph& g, std::vector<int>* dtypes, int default_dtype = kFloat32);

/* -symbol.json, versions 0.8 to 2.0. FromJSON throws Error(kValue/kIO) on anything malformed
 * (cycles, bad indices, unknown operators). */
/* `np_shape`: readers take 0 in shapes for a size. */
std::string SymbolToJSON(const Symbol& s, bool np_shape = false);
Symbol SymbolFromJSON(const std::string& json);

/*
 * d(sum ys * head_grads)/d xs as new nodes on top of the forward graph. An entry of the result is
 * null when no gradient flows to that x. `mirror(node)` true: the backward pass recomputes that
 * node instead of keeping its outputs.
 */
std::vector<NodeEntry> Gradient(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs,
                                const std::vector<NodeEntry>& head_grads, const std::function<bool(const Node&)>& mirror = nullptr);

}  // namespace mxnet
#endif  // MXNET_GRAPH_H_
