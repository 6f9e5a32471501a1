// Deferred compute: calls are recorded as nodes of a graph, and nothing is computed.
#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "graph/constraints.h"
#include "imperative/tape.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "operator/record/purity.h"

namespace mxnet {
namespace {

thread_local std::vector<std::pair<NodePtr, NDArray>> deferred_constants;
thread_local AttrDict deferred_attributes;

/* What this thread's recording knows of values. */
struct Known {
  std::vector<std::pair<NodeEntry, NDArray>> inputs;               // what arrays stand for
  std::unordered_map<const Node*, std::vector<NDArray>> computed;  // on the way to shapes
  std::unordered_set<const Node*> varying;                         // whose results' shapes depend on values
  std::vector<NodePtr> kept;                                       // so that no address is used again
  void Clear() {
    computed.clear();
    varying.clear();
    kept.clear();
  }
};
thread_local Known known;

/* Of an entry without computing; null: there is none. */
const NDArray* KnownValue(const NodeEntry& e) {
  for (const auto& i : known.inputs)
    if (i.first.node == e.node && i.first.index == e.index) return &i.second;
  for (const auto& c : deferred_constants)
    if (c.first == e.node) return &c.second;
  auto found = known.computed.find(e.node.get());
  return found == known.computed.end() ? nullptr : &found->second[e.index];
}

void ComputeNode(const NodePtr& n) {
  if (KnownValue({n, 0, 0})) return;
  const Op* op = n->attrs->op;
  MXNET_CHECK_KIND(op && (ImpurityOf(*n->attrs) & ~uint32_t{kKeepsState | kShapesFromValues}) == 0, Value)
      << "[deferred compute] a shape depends on values, and " << (op ? op->name : "the variable " + n->name)
      << " is not computed only to find it";
  std::vector<NDArray> in, made(static_cast<size_t>(n->num_outputs()));
  std::vector<NDArray*> inputs, outputs;
  for (const NodeEntry& e : n->inputs) in.push_back(KnownValue(e)->Detach());
  for (NDArray& a : in) inputs.push_back(&a);
  for (NDArray& a : made) outputs.push_back(&a);
  Imperative::Invoke(n->attrs, inputs, outputs);
  known.kept.push_back(n);
  known.computed.emplace(n.get(), std::move(made));
}

NDArray ValueOf(const NodeEntry& entry) {
  DFSVisit({entry}, ComputeNode);
  return KnownValue(entry)->Detach();
}

}  // namespace

void StandFor(NDArray* array, const NodeEntry& entry) {
  NDArray value = array->Detach();
  array->deferred_entry = entry;
  known.inputs.emplace_back(entry, std::move(value));
}

void ForgetDeferred(NDArray* array) {
  auto& inputs = known.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const auto& i) {
                                return i.first.node == array->deferred_entry.node && i.first.index == array->deferred_entry.index;
                              }),
               inputs.end());
  array->deferred_entry = NodeEntry();
}

bool ShapeIsValue(const NDArray& array) { return array.deferred_entry && known.varying.count(array.deferred_entry.node.get()) != 0; }

bool FindShapes(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) {
  const Op* op = attrs->op;
  if (op->runs != RunBy::kArrays || !op->infers_shapes()) return false;
  ShapeVector in_shapes, out_shapes(outputs.size());
  for (const NDArray* a : inputs) in_shapes.push_back(a->shape());
  if (InferCall(*attrs, InferSwitches::OfThread(), &in_shapes, &out_shapes)) return false;
  auto probe = std::make_shared<Node>();
  probe->attrs = attrs;
  for (const NDArray* a : inputs) probe->inputs.push_back(DeferredEntry(*a));
  std::vector<NDArray> made;
  {
    const auto computing = ImperativeScope::Computing();
    for (size_t o = 0; o < outputs.size(); ++o) made.push_back(ValueOf({probe, static_cast<uint32_t>(o), 0}));
  }
  known.computed.erase(probe.get());
  for (size_t o = 0; o < outputs.size(); ++o) *outputs[o] = NDArray(made[o].shape(), made[o].ctx(), made[o].dtype(), true);
  RecordDeferred(attrs, inputs, outputs);
  const NodePtr& node = outputs[0]->deferred_entry.node;
  known.computed.emplace(node.get(), std::move(made));
  known.varying.insert(node.get());
  known.kept.push_back(node);
  return true;
}

NodeEntry DeferredEntry(const NDArray& a) {
  if (a.deferred_entry) return a.deferred_entry;
  // read where it is, by one variable for each piece of memory
  for (const auto& c : deferred_constants)
    if (c.second.chunk() == a.chunk() && c.second.byte_offset() == a.byte_offset() && c.second.shape() == a.shape()) return {c.first, 0, 0};
  deferred_constants.emplace_back(MakeVariable("constant" + std::to_string(deferred_constants.size()) + "_captured"), a);
  return {deferred_constants.back().first, 0, 0};
}

AttrDict& DeferredAttributes() { return deferred_attributes; }

void RecordDeferred(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) {
  auto node = std::make_shared<Node>();
  node->attrs = GraphConstraints() ? MakeAttrs(attrs->op, Constrained(attrs->dict)) : attrs;
  if (!deferred_attributes.empty()) {
    auto marked = std::make_shared<Attrs>(*node->attrs);
    marked->dict.insert(deferred_attributes.begin(), deferred_attributes.end());
    node->attrs = std::move(marked);
  }
  static std::atomic<uint64_t> counter{0};
  std::string base = attrs->op->name;
  std::transform(base.begin(), base.end(), base.begin(), ::tolower);
  node->name = base + "_dc" + std::to_string(counter++);
  bool varies = false;
  for (NDArray* a : inputs) {
    node->inputs.push_back(DeferredEntry(*a));
    varies = varies || known.varying.count(node->inputs.back().node.get()) != 0;
  }
  // The number of dimensions is always known: without any there is nothing that could vary.
  varies = varies && std::any_of(outputs.begin(), outputs.end(), [](const NDArray* o) { return o->shape().ndim() > 0; });
  if (varies) {
    known.varying.insert(node.get());
    known.kept.push_back(node);
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i]->deferred_entry = NodeEntry{node, static_cast<uint32_t>(i), 0};
}

void CheckDeferredOutputs(const Attrs& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) {
  for (const NDArray* o : outputs) {
    if (o->is_none()) continue;
    const bool outside = o->deferred_entry ? o->deferred_entry.node->is_variable() : o->version() > 0;
    MXNET_CHECK_KIND(!outside, Value)
        << "[deferred compute] " << attrs.op->name
        << " writes into an input, a Parameter or an array from outside; a graph can only write into its own arrays";
    MXNET_CHECK_KIND(inputs.empty() || inputs[0]->is_none() || inputs[0]->ctx().execution() == o->ctx().execution(), Value)
        << "[deferred compute] " << attrs.op->name << " copies from " << inputs[0]->ctx() << " to " << o->ctx()
        << "; a graph has one device";
  }
}

void CheckComputed(const NDArray& array) {
  MXNET_CHECK_KIND(!array.deferred_entry || array.deferred_entry.node->is_variable(), Value)
      << "[deferred compute] an array of shape " << array.shape()
      << " was made while the graph of a hybridized block was recorded and has no values; return it from forward";
}

std::vector<std::pair<std::string, NDArray>> TakeDeferredConstants() {
  std::vector<std::pair<std::string, NDArray>> taken;
  for (auto& c : deferred_constants) taken.emplace_back(c.first->name, std::move(c.second));
  deferred_constants.clear();
  known.Clear();
  return taken;
}

}  // namespace mxnet
