// Deferred compute: calls are recorded as nodes of a graph, and nothing is computed.
#include <algorithm>
#include <atomic>

#include "graph/constraints.h"
#include "imperative/tape.h"

namespace mxnet {
namespace {

thread_local std::vector<std::pair<NodePtr, NDArray>> deferred_constants;
thread_local AttrDict deferred_attributes;

}  // namespace

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
  for (NDArray* a : inputs) node->inputs.push_back(DeferredEntry(*a));
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
  return taken;
}

}  // namespace mxnet
