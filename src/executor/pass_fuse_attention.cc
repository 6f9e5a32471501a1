// batch_dot(softmax(scale * batch_dot(q, k) + mask), v) becomes _fused_attention, whose scores stay in the cache. Where q, k and v are
// made by splitting a width into heads, it reads them as they lie before that, and writes the heads side by side. Its gradient has none of the mask.
// On the CPU it is computed in float32; on a GPU in the 16-bit types of the products, around a softmax in the same type or in float32.
#include <cstdio>
#include <functional>
#include <map>

#include "executor/passes.h"
#include "executor/plan.h"

namespace mxnet {
namespace {

constexpr char kAttention[] = "_fused_attention";

bool IsOn(const Node& n, const char* key) {
  auto it = n.attrs->dict.find(key);
  return it != n.attrs->dict.end() && (it->second == "1" || it->second == "True" || it->second == "true");
}

bool HasValue(const Node& n, const char* key) {
  auto it = n.attrs->dict.find(key);
  return it != n.attrs->dict.end() && it->second != "None";
}

/* Takes multiplications by numbers off an entry. */
NodeEntry WithoutScale(NodeEntry e, EntryUsers* users, double* scale) {
  while ((IsResultOf(e, {"_mul_scalar"}) || IsResultOf(e, {"_div_scalar"})) && (*users)[{e.node.get(), 0}] == 1) {
    const double s = NumberOf(*e.node, "scalar", 1);
    if (s == 0) break;
    *scale *= e.node->op()->name == "_mul_scalar" ? s : 1 / s;
    e = e.node->inputs[0];
  }
  return e;
}

bool IsHalf(int dtype) { return dtype == kFloat16 || dtype == kBfloat16; }

/* What mixed precision widens to float32, before that where `may` says so; `e` itself otherwise. */
NodeEntry BeforeWidening(const NodeEntry& e, const GraphInfo& info, bool may) {
  return may && IsResultOf(e, {"amp_cast"}) && info.dtype(e) == kFloat32 && IsHalf(info.dtype(e.node->inputs[0])) ? e.node->inputs[0] : e;
}

/* `renewed` in float32, which attention is computed in on the CPU; `before` is what it was. */
NodeEntry Widened(const NodeEntry& renewed, const NodeEntry& before, const GraphInfo& info, bool on_cpu) {
  return on_cpu && IsHalf(info.dtype(before)) ? MakeOp("amp_cast", {renewed}, {{"dtype", "float32"}}, renewed.node->name + "_float32") : renewed;
}

/* A transpose by (0, 2, 1, 3). */
bool SwapsMiddle(const Node& transpose) {
  auto text = transpose.attrs->dict.find("axes");
  int axes[4] = {-1, -1, -1, -1};
  return text != transpose.attrs->dict.end()
         && std::sscanf(text->second.c_str(), " %*1[([] %d , %d , %d , %d", axes, axes + 1, axes + 2, axes + 3) == 4
         && axes[0] == 0 && axes[1] == 2 && axes[2] == 1 && axes[3] == 3;
}

/* The (batch, length, heads x width) behind (batch x heads, length, width), when that was made by splitting the width. */
bool JoinedHeads(const NodeEntry& e, const GraphInfo& info, int64_t* heads, NodeEntry* joined) {
  if (!IsResultOf(e, {"Reshape"})) return false;
  const NodeEntry moved = e.node->inputs[0];
  if (!IsResultOf(moved, {"transpose"})) return false;
  const NodeEntry split = moved.node->inputs[0];
  if (!IsResultOf(split, {"Reshape"})) return false;
  *joined = split.node->inputs[0];
  const Shape &three = info.shape(e), &four = info.shape(moved), &before = info.shape(split), &rows = info.shape(*joined);
  if (three.ndim() != 3 || four.ndim() != 4 || before.ndim() != 4 || rows.ndim() != 3) return false;
  if (!SwapsMiddle(*moved.node)) return false;
  *heads = before[2];
  return rows == Shape{before[0], before[1], before[2] * before[3]} && three == Shape{before[0] * before[2], before[1], before[3]};
}

std::string Exact(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

using Renew = std::function<NodeEntry(const NodeEntry&)>;

/* Puts make(found, renew, name) in the place of each node found. Found ones know the graph as it was; `renew` gives what became of an entry. */
template <typename Found, typename Make>
void Replace(PassGraph* g, const std::map<const Node*, Found>& found, const Make& make) {
  std::map<const Node*, NodePtr> made;
  const Renew renew = [&made](const NodeEntry& e) { return NodeEntry{made.at(e.node.get()), e.index, e.version}; };
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto it = found.find(original.get());
    return made[original.get()] = it == found.end() ? n : make(it->second, renew, n->name);
  });
}

/* Does a gradient flow from the entry to an input whose gradient is wanted? */
class WantsGradient {
 public:
  explicit WantsGradient(const PassContext& context) {
    const auto inputs = context.request.symbol.ListInputs(Symbol::kAll);
    for (size_t i = 0; i < inputs.size() && i < context.request.grad_req.size(); ++i)
      if (context.request.grad_req[i] != OpReq::kNull) known_[inputs[i].get()] = true;
  }
  bool operator()(const NodeEntry& e) {
    bool found = false;
    if (!known_.empty()) DFSVisit({e}, [&](const NodePtr& n) {   // inputs come before what reads them
      bool wanted = known_[n.get()];
      for (const auto& in : n->inputs) wanted = wanted || (!n->op()->zero_gradient && known_[in.node.get()]);
      known_[n.get()] = found = wanted;
    });
    return found;
  }

 private:
  std::map<const Node*, bool> known_;
};

/* What is narrowed to a 16-bit type, before that. */
NodeEntry BeforeNarrowing(const NodeEntry& e, const GraphInfo& info) {
  return IsResultOf(e, {"amp_cast"}) && IsHalf(info.dtype(e)) && info.dtype(e.node->inputs[0]) == kFloat32 ? e.node->inputs[0] : e;
}

int Scores(PassGraph* g, const GraphInfo& info, WantsGradient wants_gradient, const PassContext& context) {
  const bool on_cpu = context.on_cpu(), widened = context.inference() || !on_cpu;
  EntryUsers users = CountUsers(*g);
  struct Found { NodeEntry q, k, v, mask; double scale; };
  std::map<const Node*, Found> found;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    if (!IsResultOf(out, {"batch_dot"}) || (on_cpu ? info.dtype(out) != kFloat32 : !IsHalf(info.dtype(out))) || IsOn(*n, "transpose_a") || IsOn(*n, "transpose_b") || info.shape(out).ndim() != 3) return;
    auto once = [&](const NodeEntry& e) { return users[{e.node.get(), e.index}] == 1; };
    Found f;
    f.scale = 1;
    f.v = BeforeWidening(n->inputs[1], info, on_cpu && widened);
    NodeEntry weights = n->inputs[0];
    if (!on_cpu && once(weights)) weights = BeforeNarrowing(weights, info);
    if (!IsResultOf(weights, {"softmax"}) || !once(weights) || HasValue(*weights.node, "temperature") || HasValue(*weights.node, "dtype") || weights.node->num_inputs() != 1) return;
    const double axis = NumberOf(*weights.node, "axis", -1);
    if (axis != -1 && axis != 2) return;
    NodeEntry s = weights.node->inputs[0];
    if (!on_cpu && once(s)) s = BeforeWidening(s, info, true);
    if ((IsResultOf(s, {"broadcast_add"}) || IsResultOf(s, {"elemwise_add"})) && once(s)) {
      const NodeEntry sum = s;
      for (int side = 0; side < 2 && !f.mask; ++side) {
        double scale = 1;
        const NodeEntry before = once(sum.node->inputs[side]) ? BeforeWidening(sum.node->inputs[side], info, widened) : sum.node->inputs[side];
        const NodeEntry dot = WithoutScale(before, &users, &scale), &mask = sum.node->inputs[1 - side];
        if (!IsResultOf(dot, {"batch_dot"}) || !once(sum.node->inputs[side]) || !(info.shape(dot) == info.shape(sum)) || info.shape(mask).ndim() != 3 || (info.dtype(mask) != kFloat32 && (on_cpu || !IsHalf(info.dtype(mask))))) continue;
        f.mask = mask;
        s = sum.node->inputs[side];
      }
      if (!f.mask || wants_gradient(f.mask)) return;
    }
    if (once(s)) s = BeforeWidening(s, info, widened);
    s = WithoutScale(s, &users, &f.scale);
    if (!IsResultOf(s, {"batch_dot"}) || !once(s) || IsOn(*s.node, "transpose_a") || !IsOn(*s.node, "transpose_b")) return;
    f.q = WithoutScale(s.node->inputs[0], &users, &f.scale);
    f.k = WithoutScale(s.node->inputs[1], &users, &f.scale);
    if (info.shape(f.q).ndim() != 3 || info.shape(f.v).ndim() != 3) return;
    if (!on_cpu && (info.dtype(f.q) != info.dtype(out) || info.dtype(f.k) != info.dtype(out) || info.dtype(f.v) != info.dtype(out))) return;
    found[n.get()] = std::move(f);
  });
  if (found.empty()) return 0;
  // scores and weights lose their reader
  const std::string statistics = !on_cpu && !context.inference() ? "1" : "0";
  Replace(g, found, [&](const Found& f, const Renew& renew, const std::string& name) {
    std::vector<NodeEntry> inputs = {Widened(renew(f.q), f.q, info, on_cpu), Widened(renew(f.k), f.k, info, on_cpu), Widened(renew(f.v), f.v, info, on_cpu)};
    if (f.mask) inputs.push_back(renew(f.mask));
    return MakeNode(kAttention, std::move(inputs), {{"scale", Exact(f.scale)}, {"heads", "1"}, {"with_mask", f.mask ? "1" : "0"}, {"with_statistics", statistics}}, name);
  });
  return static_cast<int>(found.size());
}

int Heads(PassGraph* g, const GraphInfo& info, const PassContext& context) {
  const bool on_cpu = context.on_cpu(), widened = on_cpu && context.inference();
  EntryUsers users = CountUsers(*g);
  struct Found { NodeEntry in[3]; const Node* attention; int64_t heads; };
  std::map<const Node*, Found> found;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    auto once = [&](const NodeEntry& e) { return users[{e.node.get(), e.index}] == 1; };
    if (!IsResultOf(out, {"Reshape"}) || info.shape(out).ndim() != 3) return;
    const NodeEntry moved = n->inputs[0];
    if (!IsResultOf(moved, {"transpose"}) || !once(moved)) return;
    const NodeEntry split = moved.node->inputs[0];
    if (!IsResultOf(split, {"Reshape"}) || !once(split) || !IsResultOf(split.node->inputs[0], {kAttention}) || !once(split.node->inputs[0])) return;
    Found f;
    f.attention = split.node->inputs[0].node.get();
    int64_t heads[3];
    for (int i = 0; i < 3; ++i)
      if (!JoinedHeads(BeforeWidening(f.attention->inputs[i], info, widened), info, &heads[i], &f.in[i])) return;
    f.heads = heads[0];
    if (heads[1] != f.heads || heads[2] != f.heads || f.attention->attrs->dict.at("heads") != "1") return;
    if (!SwapsMiddle(*moved.node)) return;
    const Shape &three = info.shape(split.node->inputs[0]), &four = info.shape(split);
    if (four.ndim() != 4 || !(four == Shape{three[0] / f.heads, f.heads, three[1], three[2]}) || !(info.shape(out) == Shape{four[0], three[1], f.heads * three[2]})) return;
    found[n.get()] = f;
  });
  if (found.empty()) return 0;
  Replace(g, found, [&](const Found& f, const Renew& renew, const std::string& name) {
    std::vector<NodeEntry> inputs;
    for (const auto& e : f.in) inputs.push_back(Widened(renew(e), e, info, on_cpu));
    if (f.attention->num_inputs() > 3) inputs.push_back(renew(f.attention->inputs[3]));
    AttrDict dict = f.attention->attrs->dict;
    dict["heads"] = std::to_string(f.heads);
    return MakeNode(kAttention, std::move(inputs), std::move(dict), name);
  });
  return static_cast<int>(found.size());
}

}  // namespace

int FuseAttention(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  const int fused = Scores(g, context->info(*g), WantsGradient(*context), *context);
  if (!fused) return 0;
  context->Forget();
  return fused + Heads(g, context->info(*g), *context);
}

}  // namespace mxnet
