#include "executor/plan/placement.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "mxnet/error.h"
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace {

const Context* GroupOf(const Node& n, const Groups& groups) {
  const auto named = n.attrs->dict.find("__ctx_group__");
  if (named == n.attrs->dict.end()) return nullptr;
  const auto at = groups.find(named->second);
  return at == groups.end() ? nullptr : &at->second;
}

}  // namespace

bool HasPlaces(const Symbol& symbol, Context ctx, const Groups& groups) {
  bool found = false;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    const Context* group = GroupOf(*n, groups);
    found = found || (group != nullptr && group->execution() != ctx.execution());
  });
  return found;
}

Places PlaceNodes(const Symbol& symbol, Context ctx, const Groups& groups, const Places& variables) {
  Places places;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    Context at = ctx;
    const Context* group = GroupOf(*n, groups);
    const auto bound = variables.find(n.get());
    if (bound != variables.end()) {
      at = bound->second;
    } else if (group != nullptr && (n->is_variable() || !n->inputs.empty())) {  // what has no inputs is made on the executor's own device
      at = *group;
    } else {
      const auto says = [&](const NodeEntry& e) { return !e.node->is_variable() || GroupOf(*e.node, groups) != nullptr; };
      const auto first = std::find_if(n->inputs.begin(), n->inputs.end(), says);
      if (first != n->inputs.end()) at = places.at(first->node.get());
    }
    places[n.get()] = at;
  });
  return places;
}

Symbol WithCopies(const Symbol& symbol, const Places& places) {
  std::unordered_map<const Node*, NodePtr> made;
  std::map<std::tuple<const Node*, uint32_t, std::string>, NodeEntry> copies;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    if (n->is_variable()) {
      made[n.get()] = n;
      return;
    }
    const Context at = places.at(n.get());
    const std::vector<int> states = n->op()->MutateInputs(*n->attrs);
    NodePtr node = std::make_shared<Node>(*n);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      NodeEntry& e = node->inputs[i];
      const Node* from = e.node.get();
      e.node = made.at(from);
      if (places.at(from).execution() == at.execution()) continue;
      MXNET_CHECK_KIND(std::find(states.begin(), states.end(), static_cast<int>(i)) == states.end(), Value)
          << "[bind] auxiliary state " << from->name << " is on " << places.at(from) << ", and " << n->name << ", which writes it, on "
          << at << "; accepted: both in one ctx_group";
      NodeEntry& copy = copies[{from, e.index, at.str()}];
      if (!copy) {
        copy = graph_ops::CopyTo(e, at);
        copy.node->name = from->name + "_on_" + at.str();
      }
      e = copy;
    }
    made[n.get()] = node;
  });
  Symbol placed;
  for (const NodeEntry& e : symbol.outputs) {
    placed.outputs.push_back(e);
    placed.outputs.back().node = made.at(e.node.get());
  }
  return placed;
}

}  // namespace mxnet
