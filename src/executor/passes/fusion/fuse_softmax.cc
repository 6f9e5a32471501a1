// Softmax written out, exp(x - max(x)) / sum(exp(x - max(x))) over one dimension, becomes softmax,
// and x - max(x) - log(sum(exp(x - max(x)))) log_softmax, before the gradient is made: one pass
// over the data forward and one backward. Through the largest element no gradient flows in either
// form, with or without BlockGrad.
#include "executor/passes/fusion/fuse_softmax.h"

#include <cstdlib>
#include <map>

namespace mxnet {
namespace {

using Key = std::pair<const Node*, uint32_t>;
Key KeyOf(const NodeEntry& e) { return {e.node.get(), e.index}; }

/* The one axis in a reduction's text, from 0; -1: none, or several. */
int AxisOf(const Node& n, int ndim) {
  auto text = n.attrs->dict.find("axis");
  if (text == n.attrs->dict.end()) return -1;
  for (const char* key : {"exclude", "initial", "dtype"}) {
    auto other = n.attrs->dict.find(key);
    if (other != n.attrs->dict.end() && other->second != "None" && other->second != "False" && other->second != "0") return -1;
  }
  const char* at = text->second.c_str();
  while (*at == '(' || *at == '[' || *at == ' ') ++at;
  char* end = nullptr;
  const long axis = std::strtol(at, &end, 10);
  if (end == at) return -1;
  for (; *end; ++end)
    if (*end != ')' && *end != ']' && *end != ',' && *end != ' ') return -1;
  return axis < -ndim || axis >= ndim ? -1 : static_cast<int>(axis < 0 ? axis + ndim : axis);
}

struct Found {
  NodeEntry x;
  int axis = -1;
  bool log = false;
};

/* Readers of each entry that look at more than its shape. */
EntryUsers Readers(const PassGraph& g) {
  EntryUsers users;
  DFSVisit(g.outputs, [&](const NodePtr& n) {
    for (size_t i = 0; i < n->inputs.size(); ++i)
      if (!n->op()->ReadsOnlyShape(static_cast<int>(i))) ++users[KeyOf(n->inputs[i])];
  });
  for (const auto& e : g.outputs) ++users[KeyOf(e)];
  return users;
}

class Matcher {
 public:
  Matcher(const GraphInfo& info, EntryUsers users) : info_(info), users_(std::move(users)) {}

  bool Softmax(const NodeEntry& out, Found* f) {
    const bool divides = IsResultOf(out, {"broadcast_div", "elemwise_div", "_npi_true_divide"}),
               multiplies = IsResultOf(out, {"broadcast_mul", "elemwise_mul", "_npi_multiply"});
    if (!divides && !multiplies) return false;
    for (int i = 0; i < (multiplies ? 2 : 1); ++i) {
      const NodeEntry& exponentials = out.node->inputs[i];
      NodeEntry sum = Spread(out.node->inputs[1 - i], exponentials);
      if (multiplies) {
        const bool inverse = IsResultOf(sum, {"reciprocal", "_npi_reciprocal"}) ||
                             (IsResultOf(sum, {"_rdiv_scalar", "_npi_rtrue_divide_scalar"}) && NumberOf(*sum.node, "scalar", 0) == 1);
        if (!inverse) continue;
        sum = sum.node->inputs[0];
      }
      if (Exponentials(exponentials, f) && Sum(sum, exponentials, *f) && Alone(exponentials)) return Like(out, *f);
    }
    return false;
  }

  bool LogSoftmax(const NodeEntry& out, Found* f) {
    if (!IsResultOf(out, {"broadcast_sub", "elemwise_sub", "_npi_subtract"})) return false;
    f->log = true;
    const NodeEntry &left = out.node->inputs[0], right = Spread(out.node->inputs[1], left);
    if (Centred(left, f)) return LogOfSum(right, left, *f) && Alone(left) && Like(out, *f);
    if (!IsResultOf(right, {"elemwise_add", "broadcast_add", "_npi_add"})) return false;  // x - (max + log(sum))
    f->x = left;
    for (int i = 0; i < 2; ++i)
      if (Max(right.node->inputs[i], left, f) && LogOfSum(right.node->inputs[1 - i], left, *f)) return Like(out, *f);
    return false;
  }

 private:
  /* Same shape and dtype, so that nothing was broadcast beside. */
  bool Like(const NodeEntry& out, const Found& f) const {
    return info_.shape(out) == info_.shape(f.x) && info_.dtype(out) == info_.dtype(f.x);
  }
  /* Is what the softmax takes in read by its own nodes only? Else it is computed in any case. */
  bool Alone(const NodeEntry& e) { return users_[KeyOf(e)] <= 2; }

  /* Takes off what only spreads an entry over the shape of `data`. */
  NodeEntry Spread(const NodeEntry& e, const NodeEntry& data) const {
    const bool spreads = IsResultOf(e, {"broadcast_like", "broadcast_axis", "broadcast_to"}) && info_.shape(e) == info_.shape(data);
    return spreads ? e.node->inputs[0] : e;
  }
  static NodeEntry Unblocked(NodeEntry e) {
    while (IsResultOf(e, {"BlockGrad"})) e = e.node->inputs[0];
    return e;
  }
  /* Reduces `of` over one axis; the entry has that axis with size 1. */
  bool Reduces(NodeEntry e, std::initializer_list<const char*> ops, const NodeEntry& data, bool blocked, NodeEntry* of, int* axis) const {
    const Shape& shape = info_.shape(data);
    if (blocked) e = Unblocked(e);
    const NodeEntry kept = e;
    if (IsResultOf(e, {"expand_dims", "Reshape", "_np_reshape", "_npx_reshape"})) e = e.node->inputs[0];
    if (blocked) e = Unblocked(e);
    if (!IsResultOf(e, ops)) return false;
    *axis = AxisOf(*e.node, shape.ndim());
    if (*axis < 0) return false;
    Shape expected = shape;
    expected[*axis] = 1;
    *of = e.node->inputs[0];
    return info_.shape(kept) == expected && info_.shape(*of) == shape && info_.dtype(kept) == info_.dtype(data);
  }
  bool Max(const NodeEntry& e, const NodeEntry& x, Found* f) const {
    NodeEntry of;
    return Reduces(Spread(e, x), {"max", "_np_max", "_npi_max"}, x, true, &of, &f->axis) && KeyOf(Unblocked(of)) == KeyOf(x);
  }
  bool Centred(const NodeEntry& e, Found* f) const {
    if (!IsResultOf(e, {"broadcast_sub", "elemwise_sub", "_npi_subtract"})) return false;
    f->x = e.node->inputs[0];
    return Max(e.node->inputs[1], f->x, f);
  }
  bool Exponentials(const NodeEntry& e, Found* f) const { return IsResultOf(e, {"exp", "_npi_exp"}) && Centred(e.node->inputs[0], f); }
  /* Of the same exponentials, or of others that say the same. */
  bool Sum(const NodeEntry& e, const NodeEntry& data, const Found& f) const {
    NodeEntry of;
    int axis = -1;
    Found again;
    return Reduces(e, {"sum", "_np_sum"}, data, false, &of, &axis) && axis == f.axis && Exponentials(of, &again) &&
           KeyOf(again.x) == KeyOf(f.x) && again.axis == f.axis;
  }
  bool LogOfSum(const NodeEntry& e, const NodeEntry& data, const Found& f) const {
    return IsResultOf(e, {"log", "_npi_log"}) && Sum(e.node->inputs[0], data, f);
  }

  const GraphInfo& info_;
  EntryUsers users_;
};

}  // namespace

int FuseSoftmax(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  bool any = false;
  DFSVisit(g->outputs, [&](const NodePtr& n) { any = any || IsResultOf({n, 0, 0}, {"max", "_np_max", "_npi_max"}); });
  if (!any) return 0;
  const GraphInfo& info = context->info(*g);
  Matcher matcher(info, Readers(*g));
  std::map<const Node*, NodePtr> made;
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    made[original.get()] = n;
    const NodeEntry out{original, 0, 0};
    Found f;
    if (original->is_variable() || !IsFloating(info.dtype(out)) || (!matcher.Softmax(out, &f) && !matcher.LogSoftmax(out, &f))) return n;
    ++fused;
    const NodeEntry x{made.at(f.x.node.get()), f.x.index, f.x.version};
    return made[original.get()] = MakeNode(f.log ? "log_softmax" : "softmax", {x}, {{"axis", std::to_string(f.axis)}}, n->name);
  });
  return fused;
}

}  // namespace mxnet
