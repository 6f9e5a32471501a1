// Differentiation of eager programs: reverse mode, one pass over the tape.
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "graph/entry_key.h"
#include "imperative/execute.h"
#include "imperative/tape.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/async_call.h"
#include "operator/record/purity.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

NDArray FilledLike(const Tape::Output& o, double value) {
  NDArray a(o.type.shape, o.ctx, o.type.dtype, true);
  if (o.type.shape.Size() == 0) return a;
  Imperative::Run(graph_ops::Filled(value, o.type.dtype), {}, {OpReq::kWrite}, {a}, false);
  return a;
}

NDArray Cast(NDArray from, int dtype) {
  NDArray to;
  Imperative::Invoke(graph_ops::CastAttrs(dtype), {&from}, {&to});
  return to;
}

/*
 * What the caller gave as gradient of a head, as the operators that read it need it: of the head's
 * dtype, device and shape. A shape with as many elements is taken for the head's, as 1.x did.
 */
NDArray HeadGradient(const NDArray& head, const NDArray& given, size_t i) {
  MXNET_CHECK_KIND(given.shape().Size() == head.shape().Size(), Value)
      << "[autograd] head " << i << " has shape " << head.shape() << ", its head gradient " << given.shape();
  NDArray g = given;
  if (g.shape() != head.shape()) {
    NDArray like = head.Detach(), same;
    Imperative::Invoke(graph_ops::ReshapeLike(), {&g, &like}, {&same});
    g = same;
  }
  if (g.dtype() != head.dtype()) g = Cast(g, head.dtype());
  if (g.ctx().execution() != head.ctx().execution()) g = g.Copy(head.ctx());
  return g;
}

/* One backward pass. */
class BackwardPass {
 public:
  BackwardPass(bool create_graph, bool is_train) : create_graph_(create_graph), is_train_(is_train) {}

  std::vector<NDArray> Run(const std::vector<NDArray*>& heads, const std::vector<NDArray*>& head_grads,
                           const std::vector<NDArray*>& variables, bool retain_graph) {
    Sort(heads);
    for (NDArray* v : variables) {
      MXNET_CHECK_KIND(TakesPart(v->autograd_entry), Value)
          << "[autograd] grad: a variable of shape " << v->shape()
          << " takes no part in the recorded computation; call attach_grad() before recording";
      wanted_.insert(v->autograd_entry.node.get());
    }
    for (size_t i = 0; i < heads.size(); ++i) {
      NDArray g;
      if (i < head_grads.size() && head_grads[i] && !head_grads[i]->is_none()) {
        g = HeadGradient(*heads[i], *head_grads[i], i);
      } else {
        g = FilledLike(DescribeOutput(*heads[i], false), 1);
      }
      Accumulate(heads[i]->autograd_entry, std::move(g));
    }
    std::vector<NDArray> results(variables.size());
    const bool to_marked = variables.empty();
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const NodePtr& node = *it;
      Tape* tape = static_cast<Tape*>(node->tape.get());
      auto slot = grads_.find(node.get());
      if (slot == grads_.end()) {
        // Reached by the recorded computation, but by no gradient (BlockGrad, comparisons): it is
        // 0, and not what the pass before left there.
        if (to_marked && node->is_variable() && tape->req != OpReq::kNull) DeliverZero(tape);
        if (to_marked)
          for (auto& m : tape->marked) DeliverZero(&m);
        continue;
      }
      for (size_t v = 0; v < variables.size(); ++v) {
        const NodeEntry& e = variables[v]->autograd_entry;
        if (e.node == node) results[v] = slot->second[e.index];
      }
      if (node->is_variable()) {
        if (to_marked && tape->req != OpReq::kNull) Deliver(tape, slot->second[0]);
      } else {
        if (to_marked)
          for (auto& m : tape->marked) slot->second[m.index].is_none() ? DeliverZero(&m) : Deliver(&m, slot->second[m.index]);
        Differentiate(node, &slot->second);
      }
      grads_.erase(slot);
      if (!retain_graph && !create_graph_ && !node->is_variable()) Consume(node.get(), tape);
    }
    for (size_t v = 0; v < variables.size(); ++v)
      if (results[v].is_none())
        results[v] = FilledLike(TapeOf(variables[v]->autograd_entry)->outputs[variables[v]->autograd_entry.index], 0);
    if (create_graph_)
      for (size_t v = 0; v < variables.size(); ++v)
        if (!results[v].autograd_entry) results[v] = Constant(&results[v], variables[v]);
    return results;
  }

 private:
  // A gradient that depends on no variable can still be differentiated: the derivative is 0.
  static NDArray Constant(NDArray* gradient, NDArray* variable) {
    NDArray connected;
    Imperative::Invoke(graph_ops::ConnectedTo(), {gradient, variable}, {&connected});
    return connected;
  }

  void Sort(const std::vector<NDArray*>& heads) {
    std::vector<NodeEntry> entries;
    for (NDArray* h : heads) {
      MXNET_CHECK_KIND(!h->is_none() && TakesPart(h->autograd_entry), Value)
          << "[autograd] backward from an array that no recorded operation computed; compute it inside autograd.record() from arrays with "
             "attach_grad()";
      entries.push_back(h->autograd_entry);
    }
    bool freed = false;
    DFSVisit(entries, [this, &freed](const NodePtr& n) {
      Tape* t = static_cast<Tape*>(n->tape.get());
      MXNET_CHECK(t) << "[autograd] a node of the computation was not recorded";
      freed |= t->released;
      order_.push_back(n);
      for (const auto& in : n->inputs) ++uses_[in.node.get()];
    });
    for (const auto& e : entries) ++uses_[e.node.get()];
    if (freed) CheckFreed(entries);
  }

  // What an earlier pass freed may lie behind BlockGrad and the like, but no gradient may have to
  // go through it.
  void CheckFreed(const std::vector<NodeEntry>& heads) {
    std::unordered_set<const Node*> reached;
    for (const auto& e : heads) reached.insert(e.node.get());
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node* n = it->get();
      if (!reached.count(n)) continue;
      MXNET_CHECK(!static_cast<Tape*>(n->tape.get())->released)
          << "[autograd] this part of the computation was already differentiated and freed; pass retain_graph=True to the first backward";
      if (n->is_variable() || n->op()->zero_gradient) continue;
      for (const auto& in : n->inputs) reached.insert(in.node.get());
    }
  }

  // Gradients are only needed on paths that end in a variable with a gradient request or one that
  // was asked for.
  bool Needed(const NodeEntry& e) {
    if (!e.node->is_variable()) return true;
    return static_cast<Tape*>(e.node->tape.get())->req != OpReq::kNull || wanted_.count(e.node.get());
  }

  void Accumulate(const NodeEntry& e, NDArray g) {
    Tape* t = TapeOf(e);
    auto& slots = grads_[e.node.get()];
    if (slots.empty()) slots.resize(t->outputs.size());
    NDArray& slot = slots[e.index];
    if (slot.is_none()) {
      slot = std::move(g);
      return;
    }
    NDArray sum;
    Imperative::Invoke(graph_ops::AddGradients(), {&slot, &g}, {&sum});
    slot = std::move(sum);
  }

  // `t`: the Tape of a variable, or what is Marked of an operation.
  template <typename T>
  void Deliver(T* t, const NDArray& g) {
    t->fresh_grad = true;
    if (g.chunk() == t->grad.chunk() && g.byte_offset() == t->grad.byte_offset()) return;  // was computed in place
    if (t->req == OpReq::kAdd) {
      const AttrsPtr& add = graph_ops::AddGradients();
      NDArray target = t->grad;
      if (create_graph_) {
        NDArray sum;
        Imperative::Invoke(add, {&target, const_cast<NDArray*>(&g)}, {&sum});
        CopyFromTo(sum, t->grad);
      } else {
        Imperative::Run(add, {target, g}, {OpReq::kWrite}, {target}, is_train_);
      }
    } else {
      CopyFromTo(g, t->grad);
      if (create_graph_) t->grad.autograd_entry = g.autograd_entry;
    }
  }

  // A gradient in the dtype of what it belongs to: the mean of integers is a float, and so is what
  // its gradient is computed from.
  NDArray InDTypeOf(const NodeEntry& of, NDArray g) {
    const int wanted = TapeOf(of)->outputs[of.index].type.dtype;
    return g.dtype() == wanted ? g : Cast(g, wanted);
  }

  template <typename T>
  void DeliverZero(T* t) {
    t->fresh_grad = true;
    if (t->req == OpReq::kAdd || t->grad.shape().Size() == 0) return;
    Imperative::Run(graph_ops::Zeros(), {}, {OpReq::kWrite}, {t->grad}, is_train_);
    t->grad.autograd_entry = NodeEntry();
  }

  NDArray ValueOf(const NodeEntry& e) {
    auto made = values_.find(e.node.get());
    if (made != values_.end()) return made->second[e.index];
    Tape* t = TapeOf(e);
    MXNET_CHECK(t && e.index < t->outputs.size() && !t->outputs[e.index].value.is_none())
        << "[autograd] a value that the gradient needs was not kept (operator " << (e.node->is_variable() ? "variable" : e.node->op()->name)
        << ")";
    NDArray a = t->outputs[e.index].value;
    if (create_graph_ && (!t->is_variable || t->req != OpReq::kNull || wanted_.count(e.node.get()))) a.autograd_entry = e;
    return a;
  }

  // An array of that shape without memory, for operators that ask for nothing else; the value where
  // it was kept.
  NDArray ShapeOf(const NodeEntry& e) {
    Tape* t = TapeOf(e);
    if (!t || values_.count(e.node.get()) || e.index >= t->outputs.size() || !t->outputs[e.index].value.is_none()) return ValueOf(e);
    const Tape::Output& o = t->outputs[e.index];
    NDArray a = NDArray::Make(o.type, o.ctx, true);
    if (create_graph_ && (!t->is_variable || t->req != OpReq::kNull || wanted_.count(e.node.get()))) a.autograd_entry = e;
    return a;
  }

  void Differentiate(const NodePtr& node, std::vector<NDArray>* ograd_arrays) {
    const Op* op = node->op();
    bool any = false;
    for (const auto& in : node->inputs) any |= Needed(in);
    if (!any || op->zero_gradient) return;
    MXNET_CHECK(op->gradient) << "[" << op->name << "] has no gradient; it cannot stand between a variable and what is differentiated";
    Tape* tape = static_cast<Tape*>(node->tape.get());
    std::vector<NodeEntry> ograds(ograd_arrays->size());
    values_.clear();
    static const AttrsPtr& variable = *new AttrsPtr(MakeAttrs(nullptr, {}));
    for (size_t i = 0; i < ograds.size(); ++i) {
      NDArray g = (*ograd_arrays)[i];
      if (g.is_none()) g = FilledLike(tape->outputs[i], 0);
      auto v = std::make_shared<Node>();
      v->attrs = variable;
      values_[v.get()] = {g};
      ograds[i] = {v, 0, 0};
    }
    std::vector<NodeEntry> igrads = op->gradient(node, ograds);
    // Only what is needed is evaluated.
    std::vector<NodeEntry> heads;
    bool all = true;
    for (size_t i = 0; i < igrads.size() && i < node->inputs.size(); ++i) {
      if (!igrads[i]) continue;
      if (Needed(node->inputs[i]))
        heads.push_back(igrads[i]);
      else
        all = false;
    }
    std::vector<NodePtr> todo;
    Collect(heads, &todo);
    PresetOutputs(node, igrads);
    const std::set<EntryKey> read = all || create_graph_ ? std::set<EntryKey>() : Read(heads, todo);
    for (const NodePtr& n : todo) {
      std::vector<NDArray> in_values;
      in_values.reserve(n->inputs.size());
      for (size_t i = 0; i < n->inputs.size(); ++i)
        in_values.push_back(n->attrs->ReadsOnlyShape(static_cast<int>(i)) ? ShapeOf(n->inputs[i]) : ValueOf(n->inputs[i]));
      std::vector<NDArray*> in, out;
      for (auto& a : in_values) in.push_back(&a);
      auto& made = values_[n.get()];
      made.resize(n->num_outputs());
      for (auto& a : made) out.push_back(&a);
      auto preset = preset_.find(n.get());
      // a sum over no dimension: what comes in is what goes out
      if (n->op() == graph_ops::SumLike() && preset == preset_.end() && in_values[0].shape() == in_values[1].shape() &&
          in_values[0].dtype() == in_values[1].dtype()) {
        made[0] = in_values[0];
        continue;
      }
      if (preset != preset_.end()) {
        for (const auto& p : preset->second) made[p.first] = p.second;
      } else {
        AimThroughSum(n, in_values, &made);
      }
      if (!ComputeRead(n, read, in, out)) Imperative::Invoke(n->attrs, in, out);
    }
    preset_.clear();
    before_sum_.clear();
    for (size_t i = 0; i < igrads.size() && i < node->inputs.size(); ++i)
      if (igrads[i] && Needed(node->inputs[i])) Accumulate(node->inputs[i], InDTypeOf(node->inputs[i], ValueOf(igrads[i])));
    values_.clear();
  }

  // What is read of the nodes of a gradient.
  static std::set<EntryKey> Read(const std::vector<NodeEntry>& heads, const std::vector<NodePtr>& todo) {
    std::set<EntryKey> read(heads.begin(), heads.end());
    for (const NodePtr& n : todo) read.insert(n->inputs.begin(), n->inputs.end());
    return read;
  }

  // Leaves out the results that nothing reads, such as the gradient of the data of a first layer;
  // false where there are none, or where the operator is not a kernel alone. `read`: nothing, where
  // all results are read.
  bool ComputeRead(const NodePtr& n, const std::set<EntryKey>& read, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out) {
    // The program's own operator was given its state by the forward pass.
    const bool has_state = (ImpurityOf(*n->attrs) & kRunsProgram) && !n->op()->trait<AsyncCall>()->for_call;
    const uint32_t others = kShapesFromValues | kHoldsGraphs | (has_state ? 0 : kKeepsState);
    if (read.empty() || out.size() < 2 || (ImpurityOf(*n->attrs) & others)) return false;
    std::vector<OpReq> reqs(out.size(), OpReq::kWrite);
    bool any = false;
    for (size_t i = 0; i < out.size(); ++i) {
      if (read.count(NodeEntry{n, static_cast<uint32_t>(i), 0})) continue;
      reqs[i] = OpReq::kNull;
      any = true;
    }
    if (any) Execute(n->attrs, in, out, &reqs, nullptr, is_train_);
    return any;
  }

  // New nodes of the gradient in execution order: children first, stopping at the tape.
  void Collect(const std::vector<NodeEntry>& heads, std::vector<NodePtr>* todo) {
    std::unordered_set<const Node*> seen;
    std::vector<std::pair<NodePtr, size_t>> stack;
    auto enter = [&](const NodePtr& n) {
      if (n->tape || values_.count(n.get()) || !seen.insert(n.get()).second) return;
      stack.emplace_back(n, 0);
    };
    for (const auto& h : heads) {
      enter(h.node);
      while (!stack.empty()) {
        auto& top = stack.back();
        if (top.second < top.first->inputs.size()) {
          NodePtr child = top.first->inputs[top.second++].node;
          enter(child);
        } else {
          todo->push_back(top.first);
          stack.pop_back();
        }
      }
    }
  }

  // A gradient that will be the only contribution to a marked variable is computed straight into
  // its gradient array.
  void PresetOutputs(const NodePtr& node, const std::vector<NodeEntry>& igrads) {
    if (create_graph_ || !wanted_.empty()) return;
    const int dtype = TapeOf({node, 0, 0})->outputs[0].type.dtype;  // another one's gradient may have to be converted first
    std::map<EntryKey, int> made;
    for (const auto& g : igrads)
      if (g) ++made[g];
    for (size_t i = 0; i < igrads.size() && i < node->inputs.size(); ++i) {
      const NodeEntry &g = igrads[i], &x = node->inputs[i];
      if (!g || g.node->is_variable() || g.node->tape || !x.node->is_variable()) continue;
      Tape* t = TapeOf(x);
      if (t->req != OpReq::kWrite || uses_[x.node.get()] != 1 || t->grad.dtype() != t->outputs[0].type.dtype) continue;
      // A compiled graph knows the dtype of each of its inputs; in mixed precision its result has
      // another.
      const bool into_given = g.node->op()->trait<WritesGivenOutputs>();
      if (t->grad.dtype() != dtype && !into_given) continue;
      if (g.node->op()->runs == RunBy::kArrays && !into_given) continue;  // makes its results itself
      // one output may be the gradient of several inputs
      if (made[g] != 1) continue;
      preset_[g.node.get()].emplace_back(g.index, t->grad);
      const NodeEntry& summed = g.node->inputs[0];
      if (g.node->op() == graph_ops::SumLike() && summed.index == 0 && !summed.node->is_variable() && !summed.node->tape &&
          summed.node->num_outputs() == 1)
        before_sum_.emplace(summed.node.get(), g.node.get());
    }
  }

  // What goes through a sum over no dimension into a gradient array is computed there.
  void AimThroughSum(const NodePtr& n, const std::vector<NDArray>& inputs, std::vector<NDArray>* made) {
    auto through = before_sum_.find(n.get());
    if (through == before_sum_.end() || n->op()->runs == RunBy::kArrays) return;
    const NDArray& target = preset_.at(through->second)[0].second;
    TensorTypes in, out(1);
    for (const NDArray& a : inputs) in.push_back(a.type());
    if (!InferCall(*n->attrs, InferSwitches::OfThread(), &in, &out) || out[0] != target.type()) return;
    (*made)[0] = target;
    preset_.erase(through->second);
  }

  static void Consume(Node* node, Tape* tape) {
    tape->released = true;
    for (auto& o : tape->outputs) o.value = NDArray();
    node->inputs.clear();
  }

  const bool create_graph_, is_train_;
  std::vector<NodePtr> order_;
  std::unordered_map<const Node*, int> uses_;
  std::unordered_set<const Node*> wanted_;
  std::unordered_map<const Node*, std::vector<NDArray>> grads_;
  std::unordered_map<const Node*, std::vector<NDArray>> values_;                       // of the gradient being evaluated
  std::unordered_map<const Node*, std::vector<std::pair<uint32_t, NDArray>>> preset_;  // outputs that are computed straight into gradients
  std::unordered_map<const Node*, const Node*> before_sum_;  // nodes whose result alone goes into a _sum_like with a preset output
};

}  // namespace

std::vector<NDArray> Imperative::Backward(const std::vector<NDArray*>& heads, const std::vector<NDArray*>& head_grads,
                                          const std::vector<NDArray*>& variables, bool retain_graph, bool create_graph, bool is_train) {
  MXNET_CHECK_KIND(head_grads.empty() || head_grads.size() == heads.size(), Value)
      << "[autograd] got " << heads.size() << " heads and " << head_grads.size() << " head gradients";
  const auto scope = ImperativeScope::Mode(create_graph, is_train);
  BackwardPass pass(create_graph, is_train);
  return pass.Run(heads, head_grads, variables, retain_graph);
}

}  // namespace mxnet
