#include "executor/interpret.h"

#include <map>

#include "executor/plan/monitor_names.h"
#include "graph/entry_key.h"
#include "mxnet/imperative.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {

bool HasDynamicShape(const Symbol& symbol) {
  bool found = false;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    found = found || (!n->is_variable() && n->op()->runs == RunBy::kArrays);
    for (const auto& graph : n->attrs->subgraphs) found = found || HasDynamicShape(*graph);
  });
  return found;
}

NDArray AsGradientOf(int dtype, Context ctx, const NDArray& given, StorageType storage) {
  if (IsSparse(storage)) {
    const TensorType wanted(given.shape(), dtype, storage);
    if (given.type() == wanted && given.ctx().execution() == ctx.execution()) return given;
    NDArray cast = NDArray::Make(wanted, ctx, true);
    CopyFromTo(AsGradientOf(dtype, ctx, given), cast);
    return cast;
  }
  NDArray g = given;
  if (g.is_sparse()) {
    g = NDArray(given.shape(), given.ctx(), given.dtype(), true);
    CopyFromTo(given, g);
  }
  if (g.dtype() != dtype) {
    NDArray cast(g.shape(), g.ctx(), dtype, true);
    Imperative::Run(graph_ops::CastAttrs(dtype), {g.Detach()}, {OpReq::kWrite}, {cast}, false);
    g = cast;
  }
  return g.ctx().execution() == ctx.execution() ? g : g.Copy(ctx);
}

void Interpret(const Symbol& symbol, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const Context& ctx,
               const Monitor& monitor) {
  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::unordered_map<const Node*, std::vector<NDArray>> values;
  std::unordered_map<const Node*, int> uses;
  for (size_t i = 0; i < variables.size(); ++i) values[variables[i].get()] = {*inputs[i]};
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++uses[e.node.get()];
  });
  for (const auto& e : symbol.outputs) ++uses[e.node.get()];
  // an output that the caller provides is computed in place when exactly one output is that entry
  std::map<EntryKey, int> wanted;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]->is_none()) wanted.emplace(symbol.outputs[i], static_cast<int>(i));
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    if (n->is_variable()) return;
    std::vector<NDArray*> in, out;
    for (const auto& e : n->inputs) in.push_back(&values.at(e.node.get())[e.index]);
    auto& made = values[n.get()];
    made.resize(n->num_outputs());
    for (size_t o = 0; o < made.size(); ++o) {
      auto w = wanted.find({n.get(), static_cast<uint32_t>(o)});
      if (w != wanted.end()) made[o] = outputs[w->second]->Detach();
      out.push_back(&made[o]);
    }
    // a rehash may have moved the map's nodes' owners, not the vectors themselves: pointers taken
    // above stay valid
    Imperative::Invoke(n->attrs, in, out, &ctx);
    if (monitor) {
      const auto in_names = ShownInputs(*n->attrs), out_names = ShownOutputs(*n->attrs, monitor.numbers_outputs);
      if (monitor.all) {
        for (size_t i = 0; i < in.size() && i < in_names.size(); ++i) {
          if (n->inputs[i].node->is_variable()) monitor.Tell(n->inputs[i].node->name, *n->op(), *in[i]);
          monitor.Tell(n->name + "_" + in_names[i], *n->op(), *in[i]);
        }
      }
      const size_t shown = Imperative::State().training ? made.size() : static_cast<size_t>(n->op()->NumVisibleOutputs(*n->attrs));
      for (size_t o = 0; o < shown && o < out_names.size(); ++o) monitor.Tell(n->name + "_" + out_names[o], *n->op(), made[o]);
    }
    for (const auto& e : n->inputs)
      if (--uses[e.node.get()] == 0) values.at(e.node.get()).clear();  // nobody reads it any more
  });
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NodeEntry& e = symbol.outputs[i];
    const NDArray& result = values.at(e.node.get())[e.index];
    if (outputs[i]->is_none()) {
      *outputs[i] = result;
    } else {
      if (outputs[i]->chunk() != result.chunk() || outputs[i]->byte_offset() != result.byte_offset()) CopyFromTo(result, *outputs[i]);
      outputs[i]->autograd_entry = result.autograd_entry;
    }
  }
}

}  // namespace mxnet
