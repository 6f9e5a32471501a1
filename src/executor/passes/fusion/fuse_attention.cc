// A product of queries and keys, softmax (of what counts, of the sum with a mask) and a product
// with values become _fused_attention, whose scores stay in the cache: batch_dot, or the products
// on interleaved projections. Where q, k and v of batch_dot are made by splitting a width into
// heads, it reads them as they lie before that, and writes the heads side by side. Its gradient has
// none of the mask. Dropout of the weights becomes part of it: forward and backward pass know what
// was dropped from the counters of its random numbers, which an operator of its own reserves. On
// the CPU it is computed in float32, of 16-bit arrays, too; on a GPU in the 16-bit types of the
// products, around a softmax in the same type or in float32. Mixed precision multiplies the weights
// in float32 by widened values: that is attention in their 16-bit type where the result is rounded
// to it before anybody reads it, on a GPU and, of bfloat16 in inference, on a CPU that has products
// for it. Stacks of four dimensions, (batch, heads, rows, width),
// are read as stacks of three. On the CPU, in inference, keys and values that several heads share
// need not be repeated, and zeros in the place of weights that are NaN are the kernel's.
#include <algorithm>
#include <cmath>

#include "executor/passes/core/pattern.h"
#include "executor/passes/core/plan_request.h"
#include "executor/passes/fusion/repeated_stacks.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/nn/attention/attention.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;
using nn::AttentionLayout;
using nn::AttentionParam;

/* What a cast is given; empty when `e` is no result of one. */
NodeEntry BeforeCast(const NodeEntry& e) {
  if (IsResultOf(e, Role::kCast)) return e.node->inputs[0];
  return RoleOf(*e.node) == Role::kCastTogether ? e.node->inputs[e.index] : NodeEntry();
}

/* What a cast widens from a 16-bit type to float32, or narrows to one; empty for other entries. */
NodeEntry BeforeWidening(const NodeEntry& e, const GraphView& view) {
  const NodeEntry before = view.dtype(e) == kFloat32 ? BeforeCast(e) : NodeEntry();
  return before && IsHalf(view.dtype(before)) ? before : NodeEntry();
}
NodeEntry BeforeNarrowing(const NodeEntry& e, const GraphView& view) {
  const NodeEntry before = IsHalf(view.dtype(e)) ? BeforeCast(e) : NodeEntry();
  return before && view.dtype(before) == kFloat32 ? before : NodeEntry();
}
/* Before a cast that changes nothing for this entry, if only for others of its node. */
NodeEntry BeforeIdleCast(const NodeEntry& e, const GraphView& view) {
  const NodeEntry before = BeforeCast(e);
  return before && view.dtype(before) == view.dtype(e) ? before : NodeEntry();
}

/* `renewed` in float32, which attention is computed in on the CPU; `before` is what it was. */
NodeEntry Widened(const NodeEntry& renewed, const NodeEntry& before, const GraphView& view, bool widen) {
  return widen && IsHalf(view.dtype(before)) ? graph_ops::CastTo(renewed, kFloat32, renewed.node->name + "_float32") : renewed;
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

/* The cast that rounds a node's result to a 16-bit type before anything but its shape changes; null
 * where somebody reads it as it is. */
class Narrowing {
 public:
  Narrowing(const PassGraph& g, const GraphView& view) : view_(view) {
    VisitForward(g, [this](const NodePtr& n) {
      for (size_t i = 0; i < n->inputs.size(); ++i)
        if (!n->attrs->ReadsOnlyShape(static_cast<int>(i))) readers_[n->inputs[i].node.get()] = n;
    });
  }
  NodePtr operator()(NodePtr n) const {
    while (view_.Readers({n, 0, 0}) == 1) {
      const auto reader = readers_.find(n.get());
      if (reader == readers_.end()) break;  // it is an output of the graph
      n = reader->second;
      const Role role = RoleOf(*n);
      if (role == Role::kCast) return IsHalf(view_.dtype({n, 0, 0})) ? n : nullptr;
      if (role != Role::kReshape && role != Role::kTranspose) break;
    }
    return nullptr;
  }

 private:
  const GraphView& view_;
  std::unordered_map<const Node*, NodePtr> readers_;  // the last: of nodes with one use the only one
};

/*
 * Is the array known to be the same everywhere along its last axis, or `everywhere` at all? Looks
 * at what makes lengths for the rows of a batch out of one for each example; `steps` bounds the
 * way.
 */
bool IsAlike(const NodeEntry& e, const GraphView& view, bool everywhere, int* steps) {
  const Shape& shape = view.shape(e);
  if (everywhere ? shape.Size() == 1 : shape.ndim() > 0 && shape[shape.ndim() - 1] == 1) return true;
  if (e.node->is_variable() || e.index != 0 || --*steps < 0) return false;
  const Role role = RoleOf(*e.node);
  if (role == Role::kConstant) return true;
  if (e.node->inputs.empty()) return false;
  const NodeEntry& in = e.node->inputs[0];
  const Shape& before = view.shape(in);
  switch (role) {
    case Role::kReshape: {
      const bool same_last = before.ndim() > 0 && shape.ndim() > 0 && before[before.ndim() - 1] == shape[shape.ndim() - 1];
      return IsAlike(in, view, everywhere || !same_last, steps);
    }
    case Role::kBroadcast: return before.ndim() == shape.ndim() && IsAlike(in, view, everywhere, steps);
    case Role::kRepeat: {
      const auto repeat = View<RepeatView>(*e.node);
      return shape.ndim() > 1 && repeat && repeat->axis == 0 && IsAlike(in, view, everywhere, steps);
    }
    case Role::kCast:
    case Role::kCopy:
    case Role::kStopGradient: return IsAlike(in, view, everywhere, steps);
    case Role::kAdd:
    case Role::kSubtract:
    case Role::kMultiply:
    case Role::kMinimum:
    case Role::kMaximum:
      return std::all_of(e.node->inputs.begin(), e.node->inputs.end(), [&](const NodeEntry& each) {
        return view.shape(each).ndim() == shape.ndim() && IsAlike(each, view, everywhere, steps);
      });
    default: return AffineOf(*e.node) && IsAlike(in, view, everywhere, steps);
  }
}

/* Attention written out, in inputs of _fused_attention. */
struct Written {
  AttentionParam param;
  std::vector<NodeEntry> arrays;
  std::vector<Shape> shapes;  // of these, or in which they are to be seen
  NodeEntry mask, length;
  bool stacked = false;     // arrays have four dimensions: (batch, heads, rows, width)
  Shape heads;              // then (batch, heads)
  NodePtr narrowed;         // the cast that rounds its result
  bool one_length = false;  // for all rows of a head
  bool widened = false;     // 16-bit arrays are widened for it
  int64_t dropped = 0;      // elements that its dropout decides about
};

class Attentions {
 public:
  Attentions(const PassGraph& g, const GraphView& view, const PassContext& context)
      : view_(view),
        on_cpu_(context.on_cpu()),
        shares_(on_cpu_ && context.inference()),
        training_(context.request.is_train),
        wants_gradient_(context),
        narrowing_(g, view) {
    const auto transposes = [](bool b) {
      return [b](const NodeEntry& e) {
        const auto product = View<MatrixProductView>(*e.node);
        return product && !product->transpose_a && product->transpose_b == b;
      };
    };
    const Pattern query = Idle(query_scale_ * query_), key = Idle(key_scale_ * key_);
    separate_ = Of(Apply(Role::kBatchedMatrixProduct, {query, key}).If(transposes(true)));
    separate_.written = Apply(Role::kBatchedMatrixProduct, {separate_.weights, Values(value_)}).If(transposes(false));
    self_ = Of(Apply(Role::kAttentionScores, {Keys(packed_)}));
    self_.written = Apply(Role::kAttentionValues, {Values(packed_), self_.weights});
    cross_ = Of(Apply(Role::kAttentionScores, {Keys(query_scale_ * query_), Keys(packed_)}));
    cross_.written = Apply(Role::kAttentionValues, {Values(packed_), cross_.weights});
  }

  /* Does attention end in this node? */
  bool operator()(const NodePtr& n, Written* w) {
    const Role role = RoleOf(*n);
    if (role != Role::kBatchedMatrixProduct && role != Role::kAttentionValues) return false;
    const NodePtr narrowed = NarrowedBy(n);
    if (narrowed && Take(n, narrowed, w) && !(on_cpu_ && w->param.zeros)) return true;
    *w = Written();
    return Take(n, nullptr, w);
  }

 private:
  /* The cast to a 16-bit type that attention may compute in although this product does not. */
  NodePtr NarrowedBy(const NodePtr& n) const {
    const NodeEntry out{n, 0, 0};
    if (view_.dtype(out) != kFloat32) return nullptr;
    if (!on_cpu_) return narrowing_(n);
    const Shape& shape = view_.shape(out);
    if (!shares_ || shape.ndim() < 2 || !nn::BfloatAttentionTakes(shape[shape.ndim() - 2])) return nullptr;
    const NodePtr cast = narrowing_(n);
    return cast && view_.dtype({cast, 0, 0}) == kBfloat16 ? cast : nullptr;
  }

  bool Take(const NodePtr& n, const NodePtr& narrowed, Written* w) {
    const NodeEntry out{n, 0, 0};
    const bool in_float = view_.dtype(out) == kFloat32;
    w->narrowed = narrowed;
    const int dtype = view_.dtype(w->narrowed ? NodeEntry{w->narrowed, 0, 0} : out);
    half_ = IsHalf(dtype), narrowed_ = w->narrowed != nullptr;
    if (!half_ && !(on_cpu_ && in_float)) return false;
    ndim_ = view_.shape(out).ndim();
    if ((ndim_ != 3 && ndim_ != 4) || view_.shape(out).Size() == 0) return false;
    w->widened = on_cpu_ && !half_;
    const auto projections = View<InterleavedView>(*n);
    const Form& form = !projections ? separate_ : projections->self ? self_ : cross_;
    guarded_ = NodeEntry();
    if (!Matches(form.written, out, view_, &match_)) return false;
    w->param.zeros = guarded_ && Same(match_[form.softmax], guarded_);
    const NodeEntry scores = match_[form.scores], dropout = match_[form.dropped];
    if (!(view_.shape(scores) == view_.shape(match_[form.logits]))) return false;
    w->param.scale = match_[scale_];
    if (!(projections ? TakeInterleaved(*scores.node, *projections, w) : TakeSeparate(w)) || !TakeMaskAndLength(w)) return false;
    if (dropout) w->param.dropout = View<DropoutView>(*dropout.node)->p, w->dropped = view_.shape(dropout).Size();
    return w->widened || std::all_of(w->arrays.begin(), w->arrays.end(), [&](const NodeEntry& e) { return view_.dtype(e) == dtype; });
  }

  /* The parts of the formula that are asked for when it has matched. */
  struct Form {
    Pattern scores = Any(), logits = Any(), softmax = Any(), dropped = Any(), weights = Any(), written = Any();
  };

  /* dropout(softmax(scale * scores + mask)), also of what a length or boolean mask says counts. */
  Form Of(const Pattern& scores) {
    Form form;
    form.scores = scores.Once();
    const auto before_scores = [this](const NodeEntry& e) { return BeforeScores(e, true); };
    const Pattern scaled = Through(before_scores, scale_ * Through(before_scores, form.scores));
    const Pattern mask = Idle(mask_.If([this](const NodeEntry& e) {
      const int dtype = view_.dtype(e);
      return view_.shape(e).ndim() <= ndim_ && view_.shape(e).ndim() >= (ndim_ == 3 ? 3 : 2) &&
             (dtype == kFloat32 || (half_ && IsHalf(dtype)));
    }));
    form.logits = Through([this](const NodeEntry& e) { return BeforeScores(e, half_); }, (scaled + mask).Once() | scaled);
    const auto plain = [this](const NodeEntry& e) {
      const auto softmax = View<SoftmaxView>(*e.node);
      return softmax && (softmax->axis == -1 || softmax->axis == ndim_ - 1) && !softmax->temperature && !softmax->dtype;
    };
    const Pattern softmax = Apply(Role::kSoftmax, {form.logits, length_}) | Apply(Role::kSoftmax, {form.logits}) |
                            Apply(Role::kMaskedSoftmax, {form.logits, mask_});
    form.softmax = softmax.If(plain).If([this](const NodeEntry& e) { return view_.Readers(e) == 1 || Same(e, guarded_); });
    const Pattern counted = Through([this](const NodeEntry& e) { return BeforeWeights(e); }, form.softmax);
    form.dropped = Apply(Role::kDropout, {counted}).If([this](const NodeEntry& e) { return Drops(e); }).Once();
    form.weights = Through([this](const NodeEntry& e) { return BeforeWeights(e); }, form.dropped | counted);
    return form;
  }

  Pattern Idle(const Pattern& inner) {
    return Through([this](const NodeEntry& e) { return BeforeIdleCast(e, view_); }, inner);
  }
  Pattern Keys(const Pattern& inner) {
    return Through([this](const NodeEntry& e) { return BeforeOperand(e, on_cpu_); }, inner);
  }
  Pattern Values(const Pattern& inner) {
    return Through([this](const NodeEntry& e) { return BeforeOperand(e, on_cpu_ || narrowed_); }, inner);
  }

  // ---- what patterns look through

  NodeEntry BeforeOperand(const NodeEntry& e, bool widened) const {
    const NodeEntry before = BeforeIdleCast(e, view_);
    return before || !widened ? before : BeforeWidening(e, view_);
  }
  /* Copies, and Dropout that drops nothing, which are still there when training begins. */
  NodeEntry BeforeCopy(const NodeEntry& e) const {
    if (IsResultOf(e, Role::kCopy)) return e.node->inputs[0];
    const bool idle =
        IsResultOf(e, Role::kDropout) && view_.Readers({e.node, 1, 0}) == 0 && View<DropoutView>(*e.node)->DropsNothing(training_);
    return idle ? e.node->inputs[0] : NodeEntry();
  }
  NodeEntry BeforeScores(const NodeEntry& e, bool widened) const {
    if (view_.Readers(e) != 1) return NodeEntry();
    const NodeEntry before = BeforeCopy(e);
    return before || !widened ? before : BeforeWidening(e, view_);
  }
  NodeEntry BeforeWeights(const NodeEntry& e) {
    if (view_.Readers(e) != 1) return NodeEntry();
    if (const NodeEntry before = BeforeCopy(e)) return before;
    if (const NodeEntry before = BeforeIdleCast(e, view_)) return before;
    if (const NodeEntry before = BeforeGuard(e)) return guarded_ = before;
    return half_ ? BeforeNarrowing(e, view_) : NodeEntry();
  }
  /* PyTorch's exporter makes zeros of weights that are NaN, where a mask leaves nothing to count:
   * the weights, which nobody else reads. */
  NodeEntry BeforeGuard(const NodeEntry& e) const {
    const auto guard = shares_ && e.index == 0 ? View<NumberWhereView>(*e.node) : std::nullopt;
    if (!guard || guard->number != 0) return NodeEntry();
    const NodeEntry &is_nan = e.node->inputs[0], &weights = e.node->inputs[1];
    const bool guards = IsResultOf(is_nan, Role::kIsNan) && Same(is_nan.node->inputs[0], weights);
    return guards && view_.Readers(is_nan) == 1 && view_.Readers(weights) == 2 ? weights : NodeEntry();
  }
  /* Does this Dropout drop elements, each by a decision of its own? */
  bool Drops(const NodeEntry& e) const {
    const auto dropout = View<DropoutView>(*e.node);
    return dropout && dropout->p > 0 && dropout->p < 1 && !dropout->shares && view_.Readers({e.node, 1, 0}) == 0;
  }

  // ---- what has matched

  bool TakeSeparate(Written* w) {
    w->arrays = {match_[query_], match_[key_], match_[value_]};
    w->param.scale *= match_[query_scale_] * match_[key_scale_];
    for (const NodeEntry& e : w->arrays) w->shapes.push_back(view_.shape(e));
    const Shape& query = w->shapes[0];
    if (query.ndim() != ndim_ || w->shapes[2].ndim() != ndim_) return false;
    if (ndim_ == 4) w->stacked = true, w->heads = Shape{query[0], query[1]};
    if (shares_) TakeShared(w);
    return true;
  }

  /* Keys and values as they were before they were repeated for the heads that share them. */
  void TakeShared(Written* w) const {
    const auto keys = RepeatedStackOf(w->arrays[1], view_), values = RepeatedStackOf(w->arrays[2], view_);
    if (!keys || !values || keys->times != values->times) return;
    w->param.shared = keys->times;
    w->arrays = {w->arrays[0], keys->from, values->from};
    w->shapes = {w->shapes[0], keys->shape, values->shape};
  }

  /* Keys and values are of one array; is it split in the same way? */
  bool TakeInterleaved(const Node& scores, const InterleavedView& values, Written* w) {
    const auto keys = View<InterleavedView>(scores);
    if (!keys || keys->heads != values.heads || keys->self != values.self) return false;
    const NodeEntry packed = match_[packed_];
    const int64_t size = view_.shape(packed)[2] / (keys->heads * (keys->self ? 3 : 2));
    if (size == 0) return false;
    w->param.heads = keys->heads;
    w->param.layout = keys->self ? AttentionLayout::kSelf : AttentionLayout::kCross;
    w->param.scale /= std::sqrt(static_cast<double>(size));
    if (!keys->self) w->arrays.push_back(match_[query_]), w->param.scale *= match_[query_scale_];
    w->arrays.push_back(packed);
    for (const NodeEntry& e : w->arrays) w->shapes.push_back(view_.shape(e));
    return true;
  }

  bool TakeMaskAndLength(Written* w) {
    w->mask = match_[mask_], w->length = match_[length_];
    w->param.mask = static_cast<bool>(w->mask), w->param.length = static_cast<bool>(w->length);
    if (w->mask) {
      const bool added = view_.dtype(w->mask) != kBool;
      if ((ndim_ == 3 && view_.shape(w->mask).ndim() != 3) || (added && wants_gradient_(w->mask))) return false;
    }
    if (!w->length) return true;
    if (ndim_ == 4) return false;
    const Shape& length = view_.shape(w->length);
    int steps = 64;
    w->one_length = length.ndim() == 2 && length[1] > 1 && IsAlike(w->length, view_, false, &steps);
    return length.ndim() == 2;
  }

  const GraphView& view_;
  const bool on_cpu_, shares_, training_;
  WantsGradient wants_gradient_;
  const Narrowing narrowing_;
  const Pattern query_ = Any(), key_ = Any(), value_ = Any(), packed_ = Any(), mask_ = Any(), length_ = Any();
  const Number scale_, query_scale_, key_scale_;
  Form separate_, self_, cross_;
  Match match_;
  NodeEntry guarded_;      // weights whose NaNs become zeros
  int ndim_ = 3;           // of the products that are looked at
  bool half_ = false;      // the products that are looked at compute in a 16-bit type
  bool narrowed_ = false;  // their result is rounded to one
};

/* (batch, heads, rows, columns) as (batch x heads, rows, columns). */
NodeEntry OneStack(const NodeEntry& e, const Shape& shape, const std::string& name) {
  return graph_ops::ReshapeTo(e, Shape{shape[0] * shape[1], shape[2], shape[3]}, name + "_heads");
}

/* A mask that broadcasts to (batch, heads, rows, columns), for (batch x heads, rows, columns). */
NodeEntry MaskOfStack(const NodeEntry& e, const Shape& shape, const Shape& heads, const std::string& name) {
  Shape four{1, 1, 1, 1};
  for (int i = 0; i < shape.ndim(); ++i) four[4 - shape.ndim() + i] = shape[i];
  const bool same = four[0] == heads[0] && four[1] == heads[1];
  if (same || four[0] * four[1] == 1) return OneStack(e, four, name + "_mask");
  const NodeEntry whole = shape.ndim() == 4 ? e : graph_ops::ReshapeTo(e, four, name + "_mask");
  four[0] = heads[0], four[1] = heads[1];
  return OneStack(graph_ops::BroadcastTo(whole, four, name + "_mask"), four, name + "_mask");
}

int FuseScores(PassGraph* g, const GraphView& view, const PassContext& context) {
  Attentions attentions(*g, view, context);
  std::map<const Node*, Written> found;
  std::set<const Node*> gone;
  VisitForward(*g, [&](const NodePtr& n) {
    Written w;
    if (n->is_variable() || !attentions(n, &w)) return;
    if (w.narrowed) gone.insert(w.narrowed.get());
    w.param.statistics = !context.on_cpu() && !context.inference();
    found[n.get()] = std::move(w);
  });
  if (found.empty()) return 0;
  // scores and weights lose their reader
  Replace(
      g, found,
      [&](const Written& w, const Renew& renew, const std::string& name) {
        std::vector<NodeEntry> inputs;
        for (size_t i = 0; i < w.arrays.size(); ++i) {
          const NodeEntry& e = w.arrays[i];
          const NodeEntry before = w.stacked ? BeforeWidening(e, view) : NodeEntry();  // JoinHeads looks through the outermost cast
          const NodeEntry& from = before ? before : e;
          const NodeEntry stack = w.stacked                      ? OneStack(renew(from), w.shapes[i], name)
                                  : view.shape(e) == w.shapes[i] ? renew(from)
                                                                 : graph_ops::ReshapeTo(renew(from), w.shapes[i], name + "_once");
          inputs.push_back(Widened(stack, from, view, w.widened));
        }
        if (w.mask) inputs.push_back(w.stacked ? MaskOfStack(renew(w.mask), view.shape(w.mask), w.heads, name) : renew(w.mask));
        if (w.length) inputs.push_back(w.one_length ? MakeSlice(renew(w.length), 1, 0, 1, name + "_length") : renew(w.length));
        if (w.dropped) inputs.push_back(MakeDrawCounters(nn::CountersOfDropout(w.dropped), name + "_draws"));
        const NodePtr made = nn::MakeAttention(w.param, std::move(inputs), name);
        if (!w.stacked) return made;
        const Shape &rows = w.shapes[0], &values = w.shapes[2];
        return graph_ops::ReshapeTo({made, 0, 0}, Shape{rows[0], rows[1], rows[2], values[3]}, name).node;
      },
      gone);
  return static_cast<int>(found.size());
}

/* Attention between arrays whose heads were split apart, and joined again behind it. */
class SplitHeads {
 public:
  SplitHeads(const GraphView& view, bool on_cpu) : view_(view) {
    const auto swaps = [this](const NodeEntry& e) {
      return view_.shape(e).ndim() == 4 && PermutationOf(*e.node, 4) == std::vector<int>{0, 2, 1, 3};
    };
    const auto before = [this, on_cpu](const NodeEntry& e) { return on_cpu ? BeforeWidening(e, view_) : NodeEntry(); };
    std::vector<Pattern> arrays;
    for (int i = 0; i < 3; ++i) {
      split_[i] = Apply(Role::kReshape, {joined_[i]});
      heads_[i] = Apply(Role::kReshape, {Apply(Role::kTranspose, {split_[i]}).If(swaps)});
      arrays.push_back(Through(before, heads_[i]));
    }
    attention_ = Apply(Role::kAttention, std::move(arrays)).Once();
    apart_ = Apply(Role::kReshape, {attention_}).Once();
    written_ = Apply(Role::kReshape, {Apply(Role::kTranspose, {apart_}).If(swaps).Once()});
  }

  struct Found {
    std::vector<NodeEntry> arrays;
    const Node* attention;
    AttentionParam param;
  };
  bool operator()(const NodeEntry& out, Found* found) {
    if (RoleOf(*out.node) != Role::kReshape || !Matches(written_, out, view_, &match_)) return false;
    const NodeEntry attention = match_[attention_];
    found->attention = attention.node.get();
    found->param = attention.node->attrs->get<AttentionParam>();
    if (found->param.layout != AttentionLayout::kSeparate || found->param.heads != 1) return false;
    for (int i = 0; i < 3; ++i) {
      int64_t heads = 0;
      if (!Splits(i, &heads) || (i > 0 && heads != found->param.heads)) return false;
      found->param.heads = heads;
      found->arrays.push_back(match_[joined_[i]]);
    }
    const int64_t heads = found->param.heads;
    const Shape &three = view_.shape(attention), &four = view_.shape(match_[apart_]);
    return four == Shape{three[0] / heads, heads, three[1], three[2]} && view_.shape(out) == Shape{four[0], three[1], heads * three[2]};
  }

 private:
  /* Was this (batch x heads, length, width) made of (batch, length, heads x width)? */
  bool Splits(int i, int64_t* heads) {
    const Shape &three = view_.shape(match_[heads_[i]]), &split = view_.shape(match_[split_[i]]), &rows = view_.shape(match_[joined_[i]]);
    *heads = split[2];
    return rows == Shape{split[0], split[1], split[2] * split[3]} && three == Shape{split[0] * split[2], split[1], split[3]};
  }

  const GraphView& view_;
  const Pattern joined_[3] = {Any(), Any(), Any()};
  Pattern split_[3] = {Any(), Any(), Any()}, heads_[3] = {Any(), Any(), Any()};
  Pattern attention_ = Any(), apart_ = Any(), written_ = Any();
  Match match_;
};

int JoinHeads(PassGraph* g, const GraphView& view, bool on_cpu) {
  SplitHeads split(view, on_cpu);
  std::map<const Node*, SplitHeads::Found> found;
  VisitForward(*g, [&](const NodePtr& n) {
    SplitHeads::Found f;
    if (!n->is_variable() && split({n, 0, 0}, &f)) found.emplace(n.get(), std::move(f));
  });
  if (found.empty()) return 0;
  Replace(g, found, [&](const SplitHeads::Found& f, const Renew& renew, const std::string& name) {
    const bool widen = on_cpu && view.dtype(f.attention->inputs[0]) == kFloat32;
    std::vector<NodeEntry> inputs;
    for (const auto& e : f.arrays) inputs.push_back(Widened(renew(e), e, view, widen));
    for (int i = 3; i < f.attention->num_inputs(); ++i) inputs.push_back(renew(f.attention->inputs[i]));
    return nn::MakeAttention(f.param, std::move(inputs), name);
  });
  return static_cast<int>(found.size());
}

}  // namespace

int FuseAttention(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  if (!Has(*g, Role::kSoftmax) && !Has(*g, Role::kMaskedSoftmax)) return 0;
  const int fused = FuseScores(g, GraphView(*g, context->info(*g)), *context);
  if (!fused) return 0;
  context->Forget();
  return fused + JoinHeads(g, GraphView(*g, context->info(*g)), context->on_cpu());
}

}  // namespace mxnet
