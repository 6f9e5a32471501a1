// Nodes that give what they get disappear: copies, Dropout that drops nothing, casts to the same
// dtype, reshapes, sums and broadcasts to the same shape, transposes that undo each other.
#include <cstdlib>
#include <map>
#include <set>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"

namespace mxnet {
namespace {

bool IsTranspose(const Node& n) { return !n.is_variable() && (n.op()->name == "transpose" || n.op()->name == "_npi_transpose"); }

/* The axes of a transpose of `ndim` dimensions, as written or reversed; empty when the text is
 * something else. */
std::vector<int> Axes(const Node& n, int ndim) {
  std::vector<int> axes;
  auto it = n.attrs->dict.find("axes");
  if (it != n.attrs->dict.end() && it->second != "None")
    for (const char* c = it->second.c_str(); *c;) {
      char* end;
      const long axis = std::strtol(c, &end, 10);
      if (end != c) axes.push_back(static_cast<int>(axis < 0 ? axis + ndim : axis));
      c = end == c ? c + 1 : end;
    }
  if (axes.empty())
    for (int i = ndim; i-- > 0;) axes.push_back(i);
  std::set<int> all(axes.begin(), axes.end());
  return static_cast<int>(axes.size()) == ndim && static_cast<int>(all.size()) == ndim && ndim > 0 && *all.begin() == 0 &&
                 *all.rbegin() == ndim - 1
             ? axes
             : std::vector<int>();
}

bool Among(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* n : names)
    if (name == n) return true;
  return false;
}

}  // namespace

int RemoveIdentities(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  std::map<std::pair<const Node*, uint32_t>, int> users;
  std::set<const Node*> mutated;  // a copy of what changes later is no identity
  for (const auto& node : info.g.nodes) {
    const Node& n = *node.source;
    for (const auto& e : n.inputs) ++users[{e.node.get(), e.index}];
    if (n.is_variable()) continue;
    for (int m : n.op()->MutateInputs(*n.attrs))
      if (m < n.num_inputs()) mutated.insert(n.inputs[m].node.get());
  }
  const bool training = context->request.is_train;
  auto is_identity = [&](const Node& n, const NodeEntry& out, const NodeEntry& in) {
    const std::string& op = n.op()->name;
    const bool same_type = info.dtype(in) == info.dtype(out);
    if (!same_type || !(info.shape(in) == info.shape(out))) return false;
    if (Among(op, {"_copy",          "_np_copy",
                   "BlockGrad",      "Cast",
                   "amp_cast",       "_backward_cast",
                   "Reshape",        "Flatten",
                   "reshape_like",   "_np_reshape",
                   "_npx_reshape",   "expand_dims",
                   "squeeze",        "_np_squeeze",
                   "_sum_like",      "_backward_sum_like",
                   "broadcast_to",   "_npi_broadcast_to",
                   "broadcast_axis", "broadcast_like",
                   "slice_like",     "_identity_with_attr_like_rhs"}))
      return true;
    if (op == "Dropout") return DropsNothing(n, training) && users[{out.node.get(), 1}] == 0;
    if (IsTranspose(n)) {
      const int nd = info.shape(in).ndim();
      const std::vector<int> axes = Axes(n, nd);
      for (int i = 0; i < nd; ++i)
        if (axes.empty() || axes[i] != i) return false;
      return true;
    }
    return false;
  };
  int removed = 0;
  RewriteEntries(g, [&](const NodePtr& n, const NodePtr& original) {
    std::vector<NodeEntry> own(original->num_outputs());
    for (size_t i = 0; i < own.size(); ++i) own[i] = {n, static_cast<uint32_t>(i), 0};
    if (n->is_variable() || n->inputs.empty() || mutated.count(original->inputs[0].node.get())) return own;
    if (n->op()->name == "amp_multicast" && !g->sequence.count(original.get())) {  // most of what it gives is a copy
      for (const auto& e : original->inputs)
        if (mutated.count(e.node.get())) return own;
      for (size_t i = 0; i < own.size(); ++i) {
        const int dtype = info.dtype({original, static_cast<uint32_t>(i), 0});
        own[i] = dtype == info.dtype(original->inputs[i])
                     ? n->inputs[i]
                     : MakeOp("amp_cast", {n->inputs[i]}, {{"dtype", DTypeName(dtype)}}, n->name + std::to_string(i));
      }
      ++removed;
      return own;
    }
    if (is_identity(*n, {original, 0, 0}, original->inputs[0])) {
      ++removed;
      own[0] = n->inputs[0];
      for (size_t i = 1; i < own.size(); ++i) own[i] = own[0];  // nobody reads them
      return own;
    }
    const NodeEntry &inner = n->inputs[0], &was = original->inputs[0];
    if (IsTranspose(*n) && IsTranspose(*inner.node) && IsTranspose(*was.node) && users[{was.node.get(), 0}] == 1) {
      const int nd = info.shape(was).ndim();
      const std::vector<int> first = Axes(*inner.node, nd), second = Axes(*n, nd);
      if (first.empty() || second.empty()) return own;
      std::string text;
      bool identity = true;
      for (int i = 0; i < nd; ++i) {
        const int axis = first[second[i]];
        identity = identity && axis == i;
        text += (i ? ", " : "(") + std::to_string(axis);
      }
      ++removed;
      if (identity) return std::vector<NodeEntry>{inner.node->inputs[0]};
      own[0] = MakeOp("transpose", {inner.node->inputs[0]}, {{"axes", text + (nd == 1 ? ",)" : ")")}}, n->name);
    }
    return own;
  });
  return removed;
}

}  // namespace mxnet
