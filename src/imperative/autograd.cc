// Recording of eager programs, variables with gradients.
#include <unordered_map>
#include <unordered_set>

#include "imperative/overwrites.h"
#include "imperative/tape.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

NodeEntry ConstantEntry(const NDArray& a) {
  static const AttrsPtr& variable = *new AttrsPtr(MakeAttrs(nullptr, {}));
  auto node = std::make_shared<Node>();
  node->attrs = variable;
  auto tape = std::make_shared<Tape>();
  tape->is_variable = true;
  tape->outputs.push_back(DescribeOutput(a, true));
  node->tape = tape;
  return {node, 0, 0};
}

}  // namespace

// Found by writing the gradient down once for stand-in variables.
uint64_t GradUse(const AttrsPtr& attrs) {
  constexpr uint64_t kAsked = uint64_t{1} << 31, kAll = ~uint64_t{0};
  uint64_t bits = attrs->grad_use.bits.load(std::memory_order_relaxed);
  if (bits) return bits;
  const Op* op = attrs->op;
  const int num_in = op->NumInputs(*attrs), num_out = op->NumOutputs(*attrs);
  bits = kAsked;
  if (op->gradient && !op->zero_gradient) {
    if (num_in > 30 || num_out > 31) {
      bits = kAll;
    } else {
      auto node = std::make_shared<Node>();
      node->attrs = attrs;
      std::unordered_map<const Node*, int> input_of;
      for (int i = 0; i < num_in; ++i) {
        NodePtr v = MakeVariable("in" + std::to_string(i));
        input_of[v.get()] = i;
        node->inputs.push_back({v, 0, 0});
      }
      std::vector<NodeEntry> ograds;
      for (int i = 0; i < num_out; ++i) ograds.push_back({MakeVariable("ograd"), 0, 0});
      std::vector<NodeEntry> heads = op->gradient(node, ograds);
      // Walk by hand: the search must stop at `node` itself.
      std::vector<NodeEntry> stack;
      std::unordered_set<const Node*> seen;
      auto look = [&](const NodeEntry& e) {
        if (!e.node) return;
        if (e.node == node) {
          bits |= uint64_t{1} << (32 + e.index);
          return;
        }
        auto it = input_of.find(e.node.get());
        if (it != input_of.end()) {
          bits |= uint64_t{1} << it->second;
          return;
        }
        if (seen.insert(e.node.get()).second) stack.push_back(e);
      };
      for (const auto& h : heads) look(h);
      while (!stack.empty()) {
        NodeEntry e = stack.back();
        stack.pop_back();
        for (size_t i = 0; i < e.node->inputs.size(); ++i)
          if (!e.node->attrs->ReadsOnlyShape(static_cast<int>(i))) look(e.node->inputs[i]);  // a shape is on the tape anyway
      }
    }
  }
  attrs->grad_use.bits.store(bits, std::memory_order_relaxed);
  return bits;
}

Tape::Output DescribeOutput(const NDArray& a, bool keep) {
  Tape::Output o;
  o.type = a.type();
  o.ctx = a.ctx();
  if (keep) o.value = a.Detach();
  return o;
}

void Imperative::Record(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                        const std::string& name) {
  bool any = false;
  for (NDArray* a : inputs) any |= HasHistory(*a);
  if (!any) {
    for (NDArray* o : outputs)
      if (TakesPart(o->autograd_entry) && !IsTapeVariable(o->autograd_entry)) o->autograd_entry = NodeEntry();  // its history is gone
    return;
  }
  const uint64_t use = GradUse(attrs);
  auto node = std::make_shared<Node>();
  node->attrs = attrs;
  node->name = name;
  node->inputs.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    NDArray* a = inputs[i];
    if (!HasHistory(*a)) {
      // The value of an untracked input matters only if the gradient reads it.
      NodeEntry constant = ConstantEntry(*a);
      if (i < 31 && !(use >> i & 1))
        TapeOf(constant)->outputs[0].value = NDArray();
      else
        NoteConstant(constant);
      node->inputs.push_back(std::move(constant));
      continue;
    }
    if (i >= 31 || (use >> i & 1)) {
      Tape* producer = TapeOf(a->autograd_entry);
      auto& slot = producer->outputs[a->autograd_entry.index];
      if (slot.value.is_none()) slot.value = a->Detach();
    }
    node->inputs.push_back(a->autograd_entry);
  }
  auto tape = std::make_shared<Tape>();
  tape->outputs.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) tape->outputs.push_back(DescribeOutput(*outputs[i], i >= 31 || (use >> (32 + i) & 1)));
  node->tape = tape;
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i]->autograd_entry = NodeEntry{node, static_cast<uint32_t>(i), 0};
}

namespace {

void CheckMarks(const std::vector<NDArray*>& variables, const std::vector<OpReq>& req, const std::vector<NDArray*>& gradients) {
  MXNET_CHECK_KIND(variables.size() == req.size() && variables.size() == gradients.size(), Value)
      << "[autograd] mark_variables got " << variables.size() << " variables, " << req.size() << " grad_reqs and " << gradients.size()
      << " gradients; the numbers must be equal";
  for (size_t i = 0; i < variables.size(); ++i) {
    MXNET_CHECK_KIND(!variables[i]->is_none() && !gradients[i]->is_none(), Value)
        << "[autograd] variable " << i << " or its gradient has no shape and no memory yet; accepted: arrays that have";
    MXNET_CHECK_KIND(variables[i]->shape() == gradients[i]->shape(), Value)
        << "[autograd] variable " << i << " has shape " << variables[i]->shape() << ", its gradient " << gradients[i]->shape()
        << "; they must be equal";
  }
}

void Mark(NDArray* variable, OpReq req, const NDArray& gradient, size_t i) {
  NodeEntry e = ConstantEntry(*variable);
  e.node->name = "var" + std::to_string(i);
  Tape* t = TapeOf(e);
  t->grad = gradient.Detach();
  t->req = req;
  variable->autograd_entry = e;
}

void DropMark(const NodeEntry& e) {
  if (MarkOf(e) == nullptr) return;
  auto& marked = TapeOf(e)->marked;
  marked.erase(marked.begin() + (MarkOf(e) - marked.data()));
}

}  // namespace

void Imperative::MarkVariables(const std::vector<NDArray*>& variables, const std::vector<OpReq>& req,
                               const std::vector<NDArray*>& gradients) {
  CheckMarks(variables, req, gradients);
  for (size_t i = 0; i < variables.size(); ++i) Mark(variables[i], req[i], *gradients[i], i);
}

void Imperative::MarkResults(const std::vector<NDArray*>& results, const std::vector<OpReq>& req, const std::vector<NDArray*>& gradients) {
  CheckMarks(results, req, gradients);
  for (size_t i = 0; i < results.size(); ++i) {
    const NodeEntry& e = results[i]->autograd_entry;
    if (req[i] == OpReq::kNull || !HasHistory(*results[i]) || TapeOf(e)->is_variable) {
      Mark(results[i], req[i], *gradients[i], i);
    } else {
      DropMark(e);
      TapeOf(e)->marked.push_back({e.index, gradients[i]->Detach(), req[i]});
    }
  }
}

void Imperative::DropGrads(const std::vector<NDArray*>& variables) {
  for (NDArray* v : variables) {
    Tape* t = TapeOf(v->autograd_entry);
    DropMark(v->autograd_entry);
    if (t && t->is_variable) v->autograd_entry = NodeEntry();
  }
}

bool Imperative::HasHistory(const NDArray& array) {
  const Tape* t = TapeOf(array.autograd_entry);
  return t && !t->released && TakesPart(array.autograd_entry);
}

NDArray Imperative::Grad(const NDArray& variable) {
  if (const Tape::Marked* m = MarkOf(variable.autograd_entry)) return m->grad;
  Tape* t = TapeOf(variable.autograd_entry);
  return t && t->is_variable ? t->grad : NDArray();
}

bool Imperative::HasFreshGrad(const NDArray& variable) {
  if (const Tape::Marked* m = MarkOf(variable.autograd_entry)) return m->fresh_grad;
  Tape* t = TapeOf(variable.autograd_entry);
  return t && t->is_variable && t->fresh_grad;
}

void Imperative::SetFreshGrad(const NDArray& variable, bool fresh) {
  if (Tape::Marked* m = MarkOf(variable.autograd_entry)) m->fresh_grad = fresh;
  Tape* t = TapeOf(variable.autograd_entry);
  if (t && t->is_variable) t->fresh_grad = fresh;
}

NodeEntry Imperative::GetSymbolEntry(const NDArray& array) {
  MXNET_CHECK_KIND(TakesPart(array.autograd_entry), Value) << "[autograd] get_symbol: the array was not computed inside autograd.record()";
  std::unordered_map<const Node*, NodePtr> copies;
  int variables = 0, nodes = 0;
  DFSVisit({array.autograd_entry}, [&](const NodePtr& n) {
    MXNET_CHECK_KIND(!static_cast<Tape*>(n->tape.get())->released, Value)
        << "[autograd] get_symbol: this part of the computation was already differentiated and freed; pass retain_graph=True to backward";
    auto c = std::make_shared<Node>();
    c->attrs = n->attrs;
    c->name = n->is_variable() ? "var" + std::to_string(variables++) : !n->name.empty() ? n->name : n->op()->name + std::to_string(nodes++);
    for (const auto& e : n->inputs) c->inputs.push_back({copies.at(e.node.get()), e.index, e.version});
    copies[n.get()] = c;
  });
  return {copies.at(array.autograd_entry.node.get()), array.autograd_entry.index, 0};
}

}  // namespace mxnet
