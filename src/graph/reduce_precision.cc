#include "graph/reduce_precision.h"

#include <algorithm>

#include "graph/constraints.h"
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/precision.h"

namespace mxnet {
namespace {

bool Castable(int dtype) { return dtype == kFloat32 || IsHalf(dtype); }

class Reducer {
 public:
  Reducer(const Symbol& symbol, const ReducePrecisionRequest& r) : symbol_(symbol), r_(r) {
    MXNET_CHECK_KIND(IsHalf(r.target), Value) << "[amp] target dtype " << DTypeName(r.target) << "; accepted: float16, bfloat16";
    low_ = Resolve(r.low), full_ = Resolve(r.full), widest_ = Resolve(r.widest);
  }

  Symbol Run() {
    if (r_.cast_params) FindParams();
    DFSVisit(symbol_.outputs, [this](const NodePtr& n) { n->is_variable() ? Variable(n) : Operator(n); });
    Symbol s;
    // What leaves the graph is float32, as in 1.9.1: callers need not know of the 16 bits inside.
    for (const NodeEntry& e : symbol_.outputs) {
      s.outputs.push_back(Cast(Renewed(e), r_.graphs_as_given ? GivenDType(e) : int{kFloat32}));
    }
    return s;
  }

 private:
  enum class Kind { kLow, kFull, kWidest, kAny };

  static std::set<const Op*> Resolve(const std::vector<std::string>& names) {
    std::set<const Op*> ops;
    for (const auto& name : names) ops.insert(Op::Get(name));
    return ops;
  }

  Kind KindOf(const Node& n) const {
    const Op* op = n.op();
    if (r_.excluded.count(n.name) || (ConstraintsOf(n) & kNoMixedPrecision)) return Kind::kFull;
    for (const auto& c : r_.full_if) {
      if (Op::Get(c.op) != op) continue;
      auto it = n.attrs->dict.find(c.parameter);
      if (it != n.attrs->dict.end() && std::count(c.values.begin(), c.values.end(), it->second)) return Kind::kFull;
    }
    return low_.count(op) ? Kind::kLow : full_.count(op) ? Kind::kFull : widest_.count(op) ? Kind::kWidest : Kind::kAny;
  }

  // Does a graph that the node holds need float32 somewhere? Such graphs are left as they are, so
  // what goes into the node decides.
  bool HoldsFull(const Node& n) const {
    bool found = false;
    for (const auto& graph : n.attrs->subgraphs)
      DFSVisit(graph->outputs, [&](const NodePtr& inner) {
        found = found || (!inner->is_variable() && (KindOf(*inner) == Kind::kFull || HoldsFull(*inner)));
      });
    return found;
  }

  // The dtypes in which a 16-bit operator takes its inputs: the target, unless its inference says
  // otherwise, as that of BatchNorm does for gamma.
  std::vector<int> LowTypes(const Node& n) const {
    const Op* op = n.op();
    std::vector<int> in(n.inputs.size(), kDTypeUnknown), out(op->NumOutputs(*n.attrs), kDTypeUnknown);
    if (!in.empty() && (op->infer_type || op->infer_type_by)) {
      in[0] = r_.target;
      try {
        InferCall(*n.attrs, InferSwitches::OfThread(true), &in, &out);
      } catch (const Error&) {
        in.assign(in.size(), r_.target);
      }
    }
    for (int& d : in)
      if (!Castable(d)) d = r_.target;
    return in;
  }

  // Params that nothing but 16-bit operators reads, and those in 16 bits.
  void FindParams() {
    std::set<const Node*> others;
    DFSVisit(symbol_.outputs, [&](const NodePtr& n) {
      if (n->is_variable()) return;
      const bool low = KindOf(*n) == Kind::kLow;
      const auto types = LowTypes(*n);
      const auto mutated = n->op()->MutateInputs(*n->attrs);
      for (size_t i = 0; i < n->inputs.size(); ++i) {
        const Node* in = n->inputs[i].node.get();
        if (!in->is_variable() || !r_.params.count(in->name)) continue;
        if (low && types[i] == r_.target && !std::count(mutated.begin(), mutated.end(), static_cast<int>(i)))
          cast_.insert(in);
        else
          others.insert(in);
      }
    });
    for (const auto& e : symbol_.outputs) others.insert(e.node.get());
    for (const Node* n : others) cast_.erase(n);
  }

  void Variable(const NodePtr& n) {
    auto given = r_.dtypes.find(n->name);
    int dtype = given == r_.dtypes.end() ? kDTypeUnknown : given->second;
    if (dtype == kDTypeUnknown) dtype = kFloat32;
    NodePtr to = n;
    if (cast_.count(n.get()) && Castable(dtype)) {
      dtype = r_.target;
      AttrDict dict = n->attrs->dict;
      dict["__dtype__"] = std::to_string(dtype);
      to = MakeVariable(n->name, dict);
    }
    nodes_[n.get()] = to;
    dtypes_[to.get()] = {dtype};
    given_[n.get()] = {given == r_.dtypes.end() || given->second == kDTypeUnknown ? int{kFloat32} : given->second};
  }

  NodeEntry Renewed(const NodeEntry& e) const { return NodeEntry{nodes_.at(e.node.get()), e.index, e.version}; }
  int DType(const NodeEntry& e) const { return dtypes_.at(e.node.get())[e.index]; }

  NodeEntry Cast(const NodeEntry& e, int dtype) {
    if (!Castable(DType(e)) || DType(e) == dtype) return e;
    NodeEntry& made = casts_[{e.node.get(), e.index, dtype}];
    if (!made) {
      const std::string name = e.node->is_variable() ? e.node->name : Symbol{{e}}.ListOutputNames()[0];
      made = graph_ops::CastTo(e, dtype, name + "_amp_cast_" + DTypeName(dtype));
      dtypes_[made.node.get()] = {dtype};
    }
    return made;
  }

  // Dtypes of the results, or nothing where the operator does not take these inputs.
  std::vector<int> Infer(const Node& n, const std::vector<NodeEntry>& inputs) const {
    std::vector<int> in;
    for (const auto& e : inputs) in.push_back(DType(e));
    return Infer(n, std::move(in));
  }
  std::vector<int> Infer(const Node& n, std::vector<int> in) const {
    const Op* op = n.op();
    std::vector<int> out(op->NumOutputs(*n.attrs), kDTypeUnknown);
    const std::vector<int> wanted = in;
    if (!in.empty() && !std::count(op->dtypes.begin(), op->dtypes.end(), in[0])) return {};
    try {
      InferCall(*n.attrs, InferSwitches::OfThread(true), &in, &out);
    } catch (const Error&) {
      return {};
    }
    if (in != wanted) return {};
    for (int& d : out)
      if (d == kDTypeUnknown) d = in.empty() ? kFloat32 : in[0];
    return out;
  }

  /* What the results are in the graph that was given. */
  void InferGiven(const Node& n) {
    std::vector<int> in;
    for (const auto& e : n.inputs) in.push_back(GivenDType(e));
    std::vector<int> out = Infer(n, in);
    if (out.empty()) out.assign(n.op()->NumOutputs(*n.attrs), in.empty() ? int{kFloat32} : in[0]);
    given_[&n] = std::move(out);
  }
  int GivenDType(const NodeEntry& e) const { return given_.at(e.node.get())[e.index]; }

  /* Is it the graph's own choice that the node computes in the target dtype? */
  bool GivenInTarget(const Node& n, const std::vector<int>& free) const {
    return r_.graphs_as_given && !free.empty() && !r_.excluded.count(n.name) &&
           std::all_of(free.begin(), free.end(), [&](int i) { return GivenDType(n.inputs[i]) == r_.target; });
  }

  /* As the operator wants them; `free`: those that may be cast. */
  void CastInputs(const Node& n, const std::vector<int>& mutated, const std::vector<int>& free, std::vector<NodeEntry>* given) {
    std::vector<NodeEntry>& inputs = *given;
    if (r_.graphs_as_given && !n.attrs->subgraphs.empty()) {
      for (int i : free) inputs[i] = Cast(inputs[i], GivenDType(n.inputs[i]));
      return;
    }
    auto cast_all = [&](int dtype) {
      for (int i : free) inputs[i] = Cast(inputs[i], dtype);
    };
    auto mixed = [&] { return std::any_of(free.begin(), free.end(), [&](int i) { return DType(inputs[i]) != DType(inputs[free[0]]); }); };
    Kind kind = KindOf(n);
    if (kind == Kind::kAny && HoldsFull(n)) kind = Kind::kFull;
    if (kind == Kind::kFull && GivenInTarget(n, free) && !Infer(n, inputs).empty()) kind = Kind::kAny;
    if (kind == Kind::kAny && !free.empty() && Infer(n, inputs).empty())
      kind = mixed() && mutated.empty() && free.size() == inputs.size() ? Kind::kWidest : Kind::kFull;
    if (kind == Kind::kLow) {
      const auto types = LowTypes(n);
      for (int i : free) inputs[i] = Cast(inputs[i], types[i]);
    } else if (kind == Kind::kFull) {
      cast_all(kFloat32);
    } else if (kind == Kind::kWidest && mixed()) {
      if (free.size() == inputs.size()) {
        NodePtr cast = graph_ops::CastToWidest(inputs, n.name + "_amp_multicast");
        dtypes_[cast.get()].assign(inputs.size(), kFloat32);  // mixed: one of them is
        for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = NodeEntry{cast, static_cast<uint32_t>(i), 0};
      } else {
        cast_all(kFloat32);
      }
    }
  }

  void Operator(const NodePtr& n) {
    if (r_.graphs_as_given) InferGiven(*n);
    const auto mutated = n->op()->MutateInputs(*n->attrs);
    std::vector<NodeEntry> inputs;
    std::vector<int> free;  // inputs that may be cast
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      inputs.push_back(Renewed(n->inputs[i]));
      if (!std::count(mutated.begin(), mutated.end(), static_cast<int>(i)) && Castable(DType(inputs[i])))
        free.push_back(static_cast<int>(i));
    }
    CastInputs(*n, mutated, free, &inputs);
    NodePtr to = n;
    bool changed = false;
    for (size_t i = 0; i < inputs.size(); ++i)
      changed = changed || inputs[i].node != n->inputs[i].node || inputs[i].index != n->inputs[i].index;
    if (changed) {
      to = std::make_shared<Node>();
      to->name = n->name;
      to->attrs = n->attrs;
      to->inputs = inputs;
      for (const auto& d : n->control_deps) to->control_deps.push_back(nodes_.at(d.get()));
    }
    nodes_[n.get()] = to;
    std::vector<int> out = Infer(*n, inputs);
    if (out.empty()) out.assign(n->op()->NumOutputs(*n->attrs), free.empty() ? int{kFloat32} : DType(inputs[free[0]]));
    dtypes_[to.get()] = out;
    keep_.push_back(to);
  }

  const Symbol& symbol_;
  const ReducePrecisionRequest& r_;
  std::set<const Op*> low_, full_, widest_;
  std::set<const Node*> cast_;                                // variables that become 16-bit
  std::unordered_map<const Node*, NodePtr> nodes_;            // old -> new
  std::unordered_map<const Node*, std::vector<int>> dtypes_;  // of new nodes' results
  std::unordered_map<const Node*, std::vector<int>> given_;   // of old ones
  std::map<std::tuple<const Node*, uint32_t, int>, NodeEntry> casts_;
  std::vector<NodePtr> keep_;
};

}  // namespace

ReducePrecisionRequest PrecisionOfRecords(int target) {
  static const ReducePrecisionRequest of_records = [] {
    ReducePrecisionRequest r;
    for (const Op* op : Op::ListUnique()) {
      if (const PrecisionCondition* c = PrecisionConditionOf(*op)) {
        r.full_if.push_back({op->name, c->parameter, c->values});
        continue;
      }
      switch (PrecisionOf(*op)) {
        case Precision::kLow: r.low.push_back(op->name); break;
        case Precision::kFull: r.full.push_back(op->name); break;
        case Precision::kWidest: r.widest.push_back(op->name); break;
        default: break;
      }
    }
    return r;
  }();
  ReducePrecisionRequest request = of_records;
  request.target = target;
  return request;
}

Symbol ReducePrecision(const Symbol& symbol, const ReducePrecisionRequest& request) { return Reducer(symbol, request).Run(); }

}  // namespace mxnet
