// A product of queries and keys, softmax (of what counts, of the sum with a mask) and a product
// with values become _fused_attention, whose scores stay in the cache: batch_dot, or the products
// on interleaved projections. Where q, k and v of batch_dot are made by splitting a width into
// heads, it reads them as they lie before that, and writes the heads side by side. Its gradient has
// none of the mask. Dropout of the weights becomes part of it: forward and backward pass know what
// was dropped from the counters of its random numbers, which an operator of its own reserves. On
// the CPU it is computed in float32, of 16-bit arrays, too; on a GPU in the 16-bit types of the
// products, around a softmax in the same type or in float32. Mixed precision multiplies the weights
// in float32 by widened values: on a GPU that is attention in their 16-bit type where the result is
// rounded to it before anybody reads it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "operator/nn/activation/dropout_kernels.h"

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

/* Dropout: is one decision shared by several elements? */
bool HasAxes(const Node& n) {
  auto it = n.attrs->dict.find("axes");
  return it != n.attrs->dict.end() && it->second.find_first_of("0123456789") != std::string::npos;
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

/* What amp_cast or amp_multicast is given; `e` itself otherwise. */
NodeEntry BeforeCast(const NodeEntry& e) {
  if (IsResultOf(e, {"amp_cast"})) return e.node->inputs[0];
  return !e.node->is_variable() && e.node->op()->name == "amp_multicast" ? e.node->inputs[e.index] : e;
}

/* What mixed precision widens to float32, before that where `may` says so; `e` itself otherwise. */
NodeEntry BeforeWidening(const NodeEntry& e, const GraphInfo& info, bool may) {
  const NodeEntry before = BeforeCast(e);
  return may && info.dtype(e) == kFloat32 && IsHalf(info.dtype(before)) ? before : e;
}

/* Without a cast that changes nothing for this entry, if only for others of its node. */
NodeEntry WithoutCast(const NodeEntry& e, const GraphInfo& info) {
  const NodeEntry before = BeforeCast(e);
  return info.dtype(before) == info.dtype(e) ? before : e;
}

/* `renewed` in float32, which attention is computed in on the CPU; `before` is what it was. */
NodeEntry Widened(const NodeEntry& renewed, const NodeEntry& before, const GraphInfo& info, bool widen) {
  return widen && IsHalf(info.dtype(before)) ? MakeOp("amp_cast", {renewed}, {{"dtype", "float32"}}, renewed.node->name + "_float32")
                                             : renewed;
}

/* A transpose by (0, 2, 1, 3). */
bool SwapsMiddle(const Node& transpose) {
  auto text = transpose.attrs->dict.find("axes");
  int axes[4] = {-1, -1, -1, -1};
  return text != transpose.attrs->dict.end() &&
         std::sscanf(text->second.c_str(), " %*1[([] %d , %d , %d , %d", axes, axes + 1, axes + 2, axes + 3) == 4 && axes[0] == 0 &&
         axes[1] == 2 && axes[2] == 1 && axes[3] == 3;
}

/* The (batch, length, heads x width) behind (batch x heads, length, width), when that was made by
 * splitting the width. */
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

/*
 * Puts make(found, renew, name) in the place of each node found, and what a node of `gone` is given
 * in the place of that node. Found ones know the graph as it was; `renew` gives what became of an
 * entry.
 */
template <typename Found, typename Make>
void Replace(PassGraph* g, const std::map<const Node*, Found>& found, const Make& make, const std::set<const Node*>& gone = {}) {
  std::map<const Node*, NodePtr> made;
  const Renew renew = [&made](const NodeEntry& e) { return NodeEntry{made.at(e.node.get()), e.index, e.version}; };
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto it = found.find(original.get());
    return made[original.get()] = it != found.end() ? make(it->second, renew, n->name) : gone.count(original.get()) ? n->inputs[0].node : n;
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
    if (!known_.empty())
      DFSVisit({e}, [&](const NodePtr& n) {  // inputs come before what reads them
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

/* The cast that rounds a node's result to a 16-bit type before anything but its shape changes; null
 * where somebody reads it as it is. */
class Narrowing {
 public:
  Narrowing(const PassGraph& g, const GraphInfo& info) : info_(info), users_(CountUsers(g)) {
    DFSVisit(g.outputs, [this](const NodePtr& n) {
      for (const auto& in : n->inputs) readers_[in.node.get()] = n;
    });
  }
  NodePtr operator()(NodePtr n) {
    while (users_[{n.get(), 0}] == 1 && readers_.count(n.get())) {  // an output of the graph has no reader
      n = readers_[n.get()];
      const NodeEntry e{n, 0, 0};
      if (IsResultOf(e, {"amp_cast"})) return IsHalf(info_.dtype(e)) ? n : nullptr;
      if (!IsResultOf(e, {"Reshape", "transpose"})) break;
    }
    return nullptr;
  }

 private:
  const GraphInfo& info_;
  EntryUsers users_;
  std::map<const Node*, NodePtr> readers_;  // the last one: of nodes with one use the only one
};

/* Two products that belong together, and how the arrays that they read lie. */
struct Products {
  const char *scores, *values, *layout;
};
constexpr Products kProducts[] = {{"batch_dot", "batch_dot", "separate"},
                                  {"_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt", "selfatt"},
                                  {"_contrib_interleaved_matmul_encdec_qk", "_contrib_interleaved_matmul_encdec_valatt", "encdec"}};

bool Same(const NodeEntry& a, const NodeEntry& b) { return a.node == b.node && a.index == b.index && a.version == b.version; }

/*
 * Is the array known to be the same everywhere along its last axis, or `everywhere` at all? Looks
 * at what makes lengths for the rows of a batch out of one for each example; `steps` bounds the
 * way.
 */
bool IsAlike(const NodeEntry& e, const GraphInfo& info, bool everywhere, int* steps) {
  const Shape& shape = info.shape(e);
  if (everywhere ? shape.Size() == 1 : shape.ndim() > 0 && shape[shape.ndim() - 1] == 1) return true;
  if (e.node->is_variable() || e.index != 0 || --*steps < 0) return false;
  if (IsResultOf(e, {"zeros_like", "ones_like", "_zeros", "_ones", "_full"})) return true;
  if (e.node->inputs.empty()) return false;
  const NodeEntry& in = e.node->inputs[0];
  const Shape& before = info.shape(in);
  const bool same_last = before.ndim() > 0 && shape.ndim() > 0 && before[before.ndim() - 1] == shape[shape.ndim() - 1];
  if (IsResultOf(e, {"Reshape", "_np_reshape", "_npx_reshape", "reshape_like", "expand_dims"}))
    return IsAlike(in, info, everywhere || !same_last, steps);
  if (IsResultOf(e, {"broadcast_axis", "broadcast_to", "broadcast_like"}) && before.ndim() == shape.ndim())
    return IsAlike(in, info, everywhere, steps);
  if (IsResultOf(e, {"repeat"}) && shape.ndim() > 1 && e.node->attrs->dict.count("axis") && NumberOf(*e.node, "axis", -1) == 0)
    return IsAlike(in, info, everywhere, steps);
  if (IsResultOf(e, {"Cast", "amp_cast", "_copy", "BlockGrad", "_plus_scalar", "_minus_scalar", "_mul_scalar"}))
    return IsAlike(in, info, everywhere, steps);
  if (IsResultOf(
          e, {"elemwise_add", "elemwise_mul", "broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_minimum", "broadcast_maximum"}))
    return std::all_of(e.node->inputs.begin(), e.node->inputs.end(), [&](const NodeEntry& each) {
      return info.shape(each).ndim() == shape.ndim() && IsAlike(each, info, everywhere, steps);
    });
  return false;
}

/* Attention written out, in inputs of _fused_attention. */
struct Written {
  std::vector<NodeEntry> arrays;
  NodeEntry mask, length;
  NodePtr narrowed;         // the cast that rounds its result
  bool one_length = false;  // for all rows of a head
  bool widened = false;     // 16-bit arrays are widened for it
  std::string dropout = "0";
  int64_t dropped = 0;  // elements that its dropout decides about
  double scale = 1;
  int64_t heads = 1;
  const char* layout = "";
};

class Matcher {
 public:
  Matcher(const PassGraph& g, const GraphInfo& info, const PassContext& context)
      : info_(info),
        on_cpu_(context.on_cpu()),
        training_(context.request.is_train),
        wants_gradient_(context),
        users_(CountUsers(g)),
        narrowing_(g, info) {}

  /* Does attention end in this node? */
  bool operator()(const NodePtr& n, Written* w) {
    const NodeEntry out{n, 0, 0};
    const Products* products =
        std::find_if(std::begin(kProducts), std::end(kProducts), [&](const Products& p) { return IsResultOf(out, {p.values}); });
    if (products == std::end(kProducts)) return false;
    const bool in_float = info_.dtype(out) == kFloat32;
    if (!on_cpu_ && in_float) w->narrowed = narrowing_(n);
    const int dtype = info_.dtype(w->narrowed ? NodeEntry{w->narrowed, 0, 0} : out);  // of the products
    half_ = IsHalf(dtype);
    if (!half_ && !(on_cpu_ && in_float)) return false;
    if (info_.shape(out).ndim() != 3) return false;
    w->widened = on_cpu_ && !half_;
    const bool separate = products == kProducts;
    if (separate && (IsOn(*n, "transpose_a") || IsOn(*n, "transpose_b"))) return false;
    w->layout = products->layout;
    NodeEntry s;
    if (!Weights(n->inputs[separate ? 0 : 1], &s, w) || !Mask(&s, products->scores, w)) return false;
    s = Bare(s);
    if (Once(s)) s = BeforeWidening(s, info_, true);
    s = Bare(WithoutScale(s, &users_, &w->scale));
    if (!IsResultOf(s, {products->scores}) || !Once(s)) return false;
    const NodeEntry values = BeforeWidening(WithoutCast(n->inputs[separate ? 1 : 0], info_), info_, w->narrowed || on_cpu_);
    if (!(separate ? Separate(*s.node, values, w) : Interleaved(*s.node, *n, values, w))) return false;
    return w->widened || std::all_of(w->arrays.begin(), w->arrays.end(), [&](const NodeEntry& e) { return info_.dtype(e) == dtype; });
  }

 private:
  bool Once(const NodeEntry& e) { return users_[{e.node.get(), e.index}] == 1; }

  /* Without copies and Dropout that drops nothing, which are still there when training begins. */
  NodeEntry Bare(NodeEntry e) {
    while (Once(e) &&
           (IsResultOf(e, {"_copy"}) || (IsResultOf(e, {"Dropout"}) && users_[{e.node.get(), 1}] == 0 && DropsNothing(*e.node, training_))))
      e = e.node->inputs[0];
    return e;
  }

  /* Without a Dropout that drops, and what Bare takes. */
  NodeEntry Undropped(NodeEntry e, Written* w) {
    e = Bare(e);
    if (w->dropped || !Once(e) || !IsResultOf(e, {"Dropout"}) || users_[{e.node.get(), 1}] || HasAxes(*e.node)) return e;
    const double p = NumberOf(*e.node, "p", 0.5);
    if (p <= 0 || p >= 1) return e;
    w->dropout = Exact(p), w->dropped = info_.shape(e).Size();
    return Bare(e.node->inputs[0]);
  }

  /* The softmax: *s gets what it is taken of. */
  bool Weights(NodeEntry weights, NodeEntry* s, Written* w) {
    if (Once(weights)) weights = WithoutCast(weights, info_);
    weights = Undropped(weights, w);
    if (half_ && Once(weights)) weights = Undropped(BeforeNarrowing(weights, info_), w);
    if (!IsResultOf(weights, {"softmax", "masked_softmax"}) || !Once(weights) || HasValue(*weights.node, "temperature") ||
        HasValue(*weights.node, "dtype"))
      return false;
    const double axis = NumberOf(*weights.node, "axis", -1);
    if (axis != -1 && axis != 2) return false;
    *s = Bare(weights.node->inputs[0]);
    if (half_ && Once(*s)) *s = Bare(BeforeWidening(*s, info_, true));
    if (weights.node->num_inputs() == 1) return true;
    const NodeEntry& what = weights.node->inputs[1];
    if (IsResultOf(weights, {"masked_softmax"})) {
      w->mask = what;
      return info_.shape(what).ndim() == 3;
    }
    int steps = 64;
    w->length = what;
    w->one_length = info_.shape(what).ndim() == 2 && info_.shape(what)[1] > 1 && IsAlike(what, info_, false, &steps);
    return info_.shape(what).ndim() == 2;
  }

  /* A sum with a mask is taken off *s. */
  bool Mask(NodeEntry* s, const char* product, Written* w) {
    if (!(IsResultOf(*s, {"broadcast_add"}) || IsResultOf(*s, {"elemwise_add"})) || !Once(*s)) return true;
    if (w->mask) return false;
    const NodeEntry sum = *s;
    for (int side = 0; side < 2 && !w->mask; ++side) {
      double scale = 1;
      const NodeEntry before = Once(sum.node->inputs[side]) ? BeforeWidening(sum.node->inputs[side], info_, true) : sum.node->inputs[side];
      const NodeEntry dot = WithoutScale(before, &users_, &scale), mask = WithoutCast(sum.node->inputs[1 - side], info_);
      if (!IsResultOf(dot, {product}) || !Once(sum.node->inputs[side]) || !(info_.shape(dot) == info_.shape(sum)) ||
          info_.shape(mask).ndim() != 3 || (info_.dtype(mask) != kFloat32 && !(half_ && IsHalf(info_.dtype(mask)))))
        continue;
      w->mask = mask;
      *s = sum.node->inputs[side];
    }
    return w->mask && !wants_gradient_(w->mask);
  }

  bool Separate(const Node& product, const NodeEntry& values, Written* w) {
    if (IsOn(product, "transpose_a") || !IsOn(product, "transpose_b")) return false;
    const NodeEntry q = WithoutScale(WithoutCast(product.inputs[0], info_), &users_, &w->scale),
                    k = WithoutScale(WithoutCast(product.inputs[1], info_), &users_, &w->scale);
    w->arrays = {q, k, values};
    return info_.shape(q).ndim() == 3 && info_.shape(values).ndim() == 3;
  }

  /* Keys and values must be of one array, split in the same way. */
  bool Interleaved(const Node& product, const Node& with_values, const NodeEntry& values, Written* w) {
    const NodeEntry keys = BeforeWidening(WithoutCast(product.inputs.back(), info_), info_, on_cpu_);
    w->heads = static_cast<int64_t>(NumberOf(product, "heads", 0));
    if (!Same(keys, values) || w->heads < 1 || NumberOf(with_values, "heads", 0) != static_cast<double>(w->heads)) return false;
    const bool self = product.num_inputs() == 1;
    const int64_t size = info_.shape(keys)[2] / (w->heads * (self ? 3 : 2));
    if (size == 0) return false;
    w->scale /= std::sqrt(static_cast<double>(size));
    if (!self) w->arrays.push_back(WithoutScale(BeforeWidening(WithoutCast(product.inputs[0], info_), info_, on_cpu_), &users_, &w->scale));
    w->arrays.push_back(keys);
    return true;
  }

  const GraphInfo& info_;
  const bool on_cpu_, training_;
  WantsGradient wants_gradient_;
  EntryUsers users_;
  Narrowing narrowing_;
  bool half_ = false;  // what is looked at computes in a 16-bit type
};

int Scores(PassGraph* g, const GraphInfo& info, const PassContext& context) {
  const bool on_cpu = context.on_cpu();
  Matcher matches(*g, info, context);
  std::map<const Node*, Written> found;
  std::set<const Node*> gone;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    Written w;
    if (n->is_variable() || !matches(n, &w)) return;
    if (w.narrowed) gone.insert(w.narrowed.get());
    found[n.get()] = std::move(w);
  });
  if (found.empty()) return 0;
  // scores and weights lose their reader
  const std::string statistics = !on_cpu && !context.inference() ? "1" : "0";
  Replace(
      g, found,
      [&](const Written& w, const Renew& renew, const std::string& name) {
        std::vector<NodeEntry> inputs;
        for (const NodeEntry& e : w.arrays) inputs.push_back(Widened(renew(e), e, info, w.widened));
        if (w.mask) inputs.push_back(renew(w.mask));
        if (w.length) {
          const NodeEntry length = renew(w.length);
          inputs.push_back(w.one_length ? MakeOp("slice_axis", {length}, {{"axis", "1"}, {"begin", "0"}, {"end", "1"}}, name + "_length")
                                        : length);
        }
        if (w.dropped)
          inputs.push_back(MakeOp("_draw_counters", {}, {{"counters", std::to_string(nn::CountersOfDropout(w.dropped))}}, name + "_draws"));
        return MakeNode(kAttention, std::move(inputs),
                        {{"dropout", w.dropout},
                         {"scale", Exact(w.scale)},
                         {"heads", std::to_string(w.heads)},
                         {"layout", w.layout},
                         {"with_mask", w.mask ? "1" : "0"},
                         {"with_length", w.length ? "1" : "0"},
                         {"with_statistics", statistics}},
                        name);
      },
      gone);
  return static_cast<int>(found.size());
}

int Heads(PassGraph* g, const GraphInfo& info, const PassContext& context) {
  const bool on_cpu = context.on_cpu();
  EntryUsers users = CountUsers(*g);
  struct Found {
    NodeEntry in[3];
    const Node* attention;
    int64_t heads;
  };
  std::map<const Node*, Found> found;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    auto once = [&](const NodeEntry& e) { return users[{e.node.get(), e.index}] == 1; };
    if (!IsResultOf(out, {"Reshape"}) || info.shape(out).ndim() != 3) return;
    const NodeEntry moved = n->inputs[0];
    if (!IsResultOf(moved, {"transpose"}) || !once(moved)) return;
    const NodeEntry split = moved.node->inputs[0];
    if (!IsResultOf(split, {"Reshape"}) || !once(split) || !IsResultOf(split.node->inputs[0], {kAttention}) || !once(split.node->inputs[0]))
      return;
    Found f;
    f.attention = split.node->inputs[0].node.get();
    if (f.attention->attrs->dict.at("layout") != "separate") return;
    int64_t heads[3];
    for (int i = 0; i < 3; ++i)
      if (!JoinedHeads(BeforeWidening(f.attention->inputs[i], info, on_cpu), info, &heads[i], &f.in[i])) return;
    f.heads = heads[0];
    if (heads[1] != f.heads || heads[2] != f.heads || f.attention->attrs->dict.at("heads") != "1") return;
    if (!SwapsMiddle(*moved.node)) return;
    const Shape &three = info.shape(split.node->inputs[0]), &four = info.shape(split);
    if (four.ndim() != 4 || !(four == Shape{three[0] / f.heads, f.heads, three[1], three[2]}) ||
        !(info.shape(out) == Shape{four[0], three[1], f.heads * three[2]}))
      return;
    found[n.get()] = f;
  });
  if (found.empty()) return 0;
  Replace(g, found, [&](const Found& f, const Renew& renew, const std::string& name) {
    std::vector<NodeEntry> inputs;
    for (const auto& e : f.in) inputs.push_back(Widened(renew(e), e, info, on_cpu && info.dtype(f.attention->inputs[0]) == kFloat32));
    for (int i = 3; i < f.attention->num_inputs(); ++i) inputs.push_back(renew(f.attention->inputs[i]));
    AttrDict dict = f.attention->attrs->dict;
    dict["heads"] = std::to_string(f.heads);
    return MakeNode(kAttention, std::move(inputs), std::move(dict), name);
  });
  return static_cast<int>(found.size());
}

}  // namespace

int FuseAttention(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  const int fused = Scores(g, context->info(*g), *context);
  if (!fused) return 0;
  context->Forget();
  return fused + Heads(g, context->info(*g), *context);
}

}  // namespace mxnet
