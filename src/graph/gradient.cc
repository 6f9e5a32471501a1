// Reverse-mode differentiation of a graph, as new nodes.
//
// Nodes are visited in reverse topological order; the gradients that reach one entry are summed
// once, when the entry's own node is visited. Only nodes on a path from an x to a y take part.
#include "graph/gradient.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "graph/entry_key.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/recompute.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

// Above this many terms a sum becomes a chain, so that terms can be dropped one by one (weights
// shared by many time steps).
constexpr size_t kMaxSumTerms = 8;

NodeEntry Sum(const std::vector<NodeEntry>& terms, const std::string& name) {
  if (terms.empty()) return {};
  if (terms.size() == 1) return terms[0];
  if (terms.size() == 2) return graph_ops::AddOf(terms[0], terms[1], name + kGradSumName);
  if (terms.size() <= kMaxSumTerms) return graph_ops::SumOf(terms, name + kGradSumName);
  NodeEntry sum = terms[0];
  for (size_t i = 1; i + 1 < terms.size(); ++i) sum = graph_ops::AddOf(sum, terms[i], name + kGradSumName + std::to_string(i));
  return graph_ops::AddOf(sum, terms.back(), name + kGradSumFinalName);
}

/* What computes relu of this result in one go with it; null: nothing does. */
const WithRelu* ReluInOne(const NodeEntry& e) { return e.node->is_variable() || e.index != 0 ? nullptr : e.node->op()->trait<WithRelu>(); }

class Pass {
 public:
  Pass(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs, const std::function<int(const NodeEntry&)>& dtype_of)
      : dtype_of_(dtype_of) {
    for (const auto& x : xs) x_entries_.insert({x, {}});
    DFSVisit(ys, [this](const NodePtr& n) {
      order_.push_back(n);
      forward_.insert(n.get());
      bool needed = false;
      for (const auto& e : n->inputs) needed = needed || needed_.count(e.node.get()) || x_entries_.count(e);
      if (needed) needed_.insert(n.get());
    });
  }

  void Mirror(const std::function<bool(const Node&)>& mirror) {
    for (const auto& n : order_) {
      if (n->is_variable() || !CanRecompute(*n->attrs, 0) || !mirror(*n)) continue;
      const RecomputeRule* rule = FindRecomputeRule(*n->op());
      auto copy = std::make_shared<Node>();
      copy->name = n->name + "_mirror";
      auto attrs = std::make_shared<Attrs>(*n->attrs);
      if (rule) attrs->op = Op::Get(rule->op);
      attrs->dict[kMirrorAttr] = "1";
      copy->attrs = std::move(attrs);
      copy->control_deps = n->control_deps;
      const size_t num_inputs = rule && rule->inputs >= 0 ? static_cast<size_t>(rule->inputs) : n->inputs.size();
      for (size_t i = 0; i < num_inputs; ++i) copy->inputs.push_back(Mirrored(n->inputs[i]));
      if (rule)
        for (int o : rule->reads) copy->inputs.push_back({n, static_cast<uint32_t>(o), 0});
      if (RoleOf(*n) == Role::kRelu) {
        if (const WithRelu* both = ReluInOne(copy->inputs[0])) {
          attrs = std::make_shared<Attrs>(*copy->inputs[0].node->attrs);
          attrs->op = Op::Get(both->op);
          copy->attrs = std::move(attrs);
          copy->inputs = std::vector<NodeEntry>(copy->inputs[0].node->inputs);
        }
      }
      mirrors_[n.get()] = std::move(copy);
    }
  }

  void Seed(const NodeEntry& y, NodeEntry head) {
    if (!head) head = graph_ops::OnesLike(y, y.node->name + "_head_grad");
    pending_[y].push_back(head);
    if (dtype_of_) dtypes_[head.node.get()] = {dtype_of_(y)};
    result.alike.emplace_back(head, y);
  }

  void Run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const NodePtr& n = *it;
      const int nout = n->num_outputs();
      std::vector<NodeEntry> ograds(nout);
      bool any = false;
      for (int i = 0; i < nout; ++i) {
        const EntryKey key(n.get(), static_cast<uint32_t>(i));
        auto p = pending_.find(key);
        if (p != pending_.end()) {
          ograds[i] = Sum(p->second, n->name);
          Number({ograds[i]}, n->name);
          if (p->second.size() > 1) result.alike.emplace_back(ograds[i], NodeEntry{n, static_cast<uint32_t>(i), 0});
          pending_.erase(p);
          any = true;
        }
        auto x = x_entries_.find(key);
        if (x != x_entries_.end()) x->second = ograds[i];
      }
      ++now_;
      if (any && needed_.count(n.get()) && !n->is_variable()) Differentiate(n, std::move(ograds));
    }
  }

  NodeEntry Found(const NodeEntry& x) const {
    auto it = x_entries_.find(x);
    return it == x_entries_.end() ? NodeEntry() : it->second;
  }

  GradientResult result;

 private:
  NodeEntry Mirrored(const NodeEntry& e) const {
    auto m = mirrors_.find(e.node.get());
    return m == mirrors_.end() || !CanRecompute(*e.node->attrs, static_cast<int>(e.index)) ? e : NodeEntry{m->second, e.index, e.version};
  }

  void Differentiate(const NodePtr& n, std::vector<NodeEntry> ograds) {
    MXNET_CHECK(n->op()->gradient || n->op()->zero_gradient)
        << "[" << n->op()->name << "] has no gradient, but one is needed through node " << n->name
        << "; put BlockGrad around its result or ask for no gradient of what it computes from";
    if (!n->op()->gradient) return;
    for (int i = 0; i < static_cast<int>(ograds.size()); ++i)
      if (!ograds[i]) ograds[i] = graph_ops::ZerosLike({n, static_cast<uint32_t>(i), 0}, n->name + kZeroGradName + std::to_string(i));
    std::vector<NodeEntry> grads = n->op()->gradient(n, ograds);
    MXNET_CHECK(grads.size() == n->inputs.size())
        << "[" << n->op()->name << "] its gradient gives " << grads.size() << " entries for " << n->inputs.size() << " inputs";
    Name(grads, *n);
    if (dtype_of_)
      for (size_t i = 0; i < grads.size(); ++i) Convert(&grads[i], n->inputs[i]);
    Number(grads, n->name);
    if (!mirrors_.empty()) Redirect(grads);
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i]) continue;
      const NodeEntry& in = n->inputs[i];
      result.alike.emplace_back(grads[i], in);
      if (needed_.count(in.node.get()) || x_entries_.count(in)) pending_[in].push_back(grads[i]);
    }
  }

  // A gradient in the dtype of what it belongs to.
  void Convert(NodeEntry* grad, const NodeEntry& of) {
    if (!*grad) return;
    const int is = DTypeOf(*grad), wanted = dtype_of_(of);
    if (is == kDTypeUnknown || wanted == kDTypeUnknown || is == wanted) return;
    *grad = graph_ops::CastGradient(*grad, of, grad->node->name + kCastName);
    dtypes_[grad->node.get()] = {wanted};
  }

  // Of an entry of the gradient, by the records of the nodes that lead to it.
  int DTypeOf(const NodeEntry& e) {
    std::vector<Node*> stack = {e.node.get()};
    while (!stack.empty()) {
      Node* n = stack.back();
      if (forward_.count(n) || dtypes_.count(n) || n->is_variable()) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const auto& in : n->inputs)
        if (!forward_.count(in.node.get()) && !dtypes_.count(in.node.get()) && !in.node->is_variable()) stack.push_back(in.node.get());
      if (stack.size() > before) continue;
      std::vector<int> in, out(static_cast<size_t>(n->num_outputs()), kDTypeUnknown);
      for (const auto& i : n->inputs) in.push_back(Known(i));
      InferCall(*n->attrs, InferSwitches::OfThread(true), &in, &out);
      dtypes_[n] = std::move(out);
      stack.pop_back();
    }
    return Known(e);
  }
  int Known(const NodeEntry& e) const {
    if (forward_.count(e.node.get())) return dtype_of_(e);
    auto it = dtypes_.find(e.node.get());
    return it == dtypes_.end() ? int{kDTypeUnknown} : it->second[e.index];
  }

  // MakeNodeLike calls a node after the forward node, and does not know what of its gradient it is.
  static bool IsUnnamed(const Node& n, const std::string& forward) { return n.name.empty() || n.name == forward + kBackwardName; }

  // Nodes whose results are gradients; Number names what else is new.
  void Name(const std::vector<NodeEntry>& grads, const Node& forward) {
    if (forward.name.empty()) return;
    size_t first = grads.size(), others = 0;  // entries that are there
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i]) continue;
      if (first == grads.size())
        first = i;
      else
        others += grads[i].node != grads[first].node;
    }
    for (size_t i = 0; i < grads.size(); ++i) {
      Node* n = grads[i].node.get();
      if (!n || n->is_variable() || !IsUnnamed(*n, forward.name) || forward_.count(n) || result.sequence.count(n)) continue;
      if (!named_.insert(n).second) continue;
      const bool alone = others == 0 && first == 0;
      n->name = forward.name + kBackwardName;
      if (!alone && n->num_outputs() == 1) n->name += "_" + InputInNames(*forward.attrs, static_cast<int>(i));
    }
  }

  // New nodes get a number, and those without a name are called after the forward node.
  void Number(const std::vector<NodeEntry>& made, const std::string& forward) {
    std::vector<const Node*> stack;
    auto enter = [&](Node* n) {
      if (!n || n->is_variable() || forward_.count(n) || !result.sequence.emplace(n, now_).second) return;
      if (!forward.empty() && IsUnnamed(*n, forward) && !named_.count(n)) n->name = forward + kBackwardName + kPartName;
      stack.push_back(n);
    };
    for (const auto& e : made) enter(e.node.get());
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      for (const auto& e : n->inputs) enter(e.node.get());
    }
  }

  // What the new nodes read of mirrored forward nodes, they now read of the copies.
  void Redirect(const std::vector<NodeEntry>& grads) {
    std::vector<NodePtr> stack;
    auto enter = [&](const NodePtr& n) {
      if (n && !n->is_variable() && !forward_.count(n.get()) && redirected_.insert(n.get()).second) stack.push_back(n);
    };
    for (const auto& g : grads) enter(g.node);
    while (!stack.empty()) {
      NodePtr n = std::move(stack.back());
      stack.pop_back();
      for (size_t i = 0; i < n->inputs.size(); ++i) {
        NodeEntry& e = n->inputs[i];
        if (!forward_.count(e.node.get()))
          enter(e.node);
        else if (!n->attrs->ReadsOnlyShape(static_cast<int>(i)))
          e = Mirrored(e);  // a shape is known without computing anything
      }
    }
  }

  const std::function<int(const NodeEntry&)> dtype_of_;       // may be null
  std::unordered_map<const Node*, std::vector<int>> dtypes_;  // of new nodes
  int now_ = 0;
  std::vector<NodePtr> order_;
  std::unordered_set<const Node*> forward_, needed_, redirected_, named_;
  std::map<EntryKey, NodeEntry> x_entries_;
  std::map<EntryKey, std::vector<NodeEntry>> pending_;
  std::unordered_map<const Node*, NodePtr> mirrors_;
};

}  // namespace

std::string InputInNames(const Attrs& attrs, int i) {
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  return i < static_cast<int>(names.size()) ? names[i] : "input" + std::to_string(i);
}

GradientResult BuildGradient(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& head_grads,
                             const std::function<bool(const Node&)>& mirror, const std::function<int(const NodeEntry&)>& dtype_of) {
  MXNET_CHECK_KIND(head_grads.empty() || head_grads.size() == ys.size(), Value)
      << "[gradient] got " << head_grads.size() << " head gradients for " << ys.size() << " outputs";
  Pass pass(ys, xs, dtype_of);
  if (mirror) pass.Mirror(mirror);
  for (size_t i = 0; i < ys.size(); ++i) pass.Seed(ys[i], i < head_grads.size() ? head_grads[i] : NodeEntry());
  pass.Run();
  for (const auto& x : xs) pass.result.grads.push_back(pass.Found(x));
  return std::move(pass.result);
}

MXNET_DLL std::vector<NodeEntry> Gradient(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs,
                                          const std::vector<NodeEntry>& head_grads, const std::function<bool(const Node&)>& mirror) {
  return BuildGradient(ys, xs, head_grads, mirror).grads;
}

}  // namespace mxnet
