// _cond: one of two graphs, and its backward pass, which is one of two graphs, too.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "mxnet/op.h"
#include "operator/control/control_param.h"
#include "operator/control/held_graph.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/check.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits_graph.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace control {

struct CondParam;

namespace {

/*
 * Outputs of the node: [results], which are visible, [which branch was taken, int64], where a graph
 * decides it, [kept results of the first branch][of the second one].
 */
struct Choice {
  struct Branch {
    HeldGraph graph;
    std::vector<int> from;  // by input of the graph: which of the node's
    std::shared_ptr<Programs> programs = std::make_shared<Programs>();
  };
  Branch branches[2];
  bool has_condition = false;  // else input 0 of the node says which branch
  Branch condition;
  int num_inputs = 0, num_results = 0;

  int taken_output() const { return num_results; }
  int kept(int branch, int k) const { return num_results + has_condition + (branch ? branches[0].graph.num_kept() : 0) + k; }
  int num_outputs() const { return kept(1, branches[1].graph.num_kept()); }
  int output_of(int branch, int result) const { return result < num_results ? result : kept(branch, result - num_results); }

  struct Backwards {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const BackwardNode>> made;
  };
  std::shared_ptr<Backwards> backwards = std::make_shared<Backwards>();
};

struct ChoiceParam {
  std::shared_ptr<const Choice> choice;
  std::shared_ptr<CallStates> calls;
};

// ---- inference

bool Known(const Shape& s) { return s.known(); }
bool Known(int dtype) { return dtype != kDTypeUnknown; }
void Assign(const Attrs& attrs, const char* what, Shape* into, const Shape& value) { AssignShape(attrs, what, into, value); }
void Assign(const Attrs& attrs, const char* what, int* into, int value) { AssignType(attrs, what, into, value); }
bool InferGraph(const HeldGraph& graph, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  return OfSubgraphs().infer_arguments(*graph.whole, switches, in, out);
}
bool InferGraph(const HeldGraph& graph, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  return OfSubgraphs().infer_argument_types(*graph.whole, switches, in, out);
}

template <typename T>
void InferBranch(const Attrs& attrs, const InferSwitches& switches, const Choice& c, const Choice::Branch& branch, int which,
                 const T& unknown, std::vector<T>* in, std::vector<T>* out) {
  std::vector<T> inputs, outputs(branch.graph.parts.outputs.size(), unknown);
  bool all = true;
  for (int at : branch.from) {
    inputs.push_back((*in)[at]);
    all = all && Known(inputs.back());
  }
  if (!all && which >= 0)
    for (size_t r = 0; r < outputs.size(); ++r) outputs[r] = (*out)[c.output_of(which, static_cast<int>(r))];
  try {
    InferGraph(branch.graph, switches, &inputs, &outputs);
  } catch (const Error& e) {
    throw Error(e.kind(), "[" + attrs.op->name + "] in its graph: " + e.what());
  }
  for (size_t i = 0; i < inputs.size(); ++i) Assign(attrs, "data", &(*in)[branch.from[i]], inputs[i]);
  if (which < 0) return;
  for (size_t r = 0; r < outputs.size(); ++r)
    Assign(attrs, "output (both branches give the same shapes and dtypes)", &(*out)[c.output_of(which, static_cast<int>(r))], outputs[r]);
}

template <typename T>
bool Infer(const Attrs& attrs, const InferSwitches& switches, const Choice& c, const T& unknown, std::vector<T>* in, std::vector<T>* out) {
  if (c.has_condition) InferBranch(attrs, switches, c, c.condition, -1, unknown, in, out);
  for (int round = 0; round < 2; ++round)  // what one tells of shared inputs, the other one may need
    for (int b = 0; b < 2; ++b) InferBranch(attrs, switches, c, c.branches[b], b, unknown, in, out);
  return std::all_of(in->begin(), in->end(), [](const T& t) { return Known(t); }) &&
         std::all_of(out->begin(), out->end(), [](const T& t) { return Known(t); });
}

bool InferChoiceShape(const Attrs& attrs, const InferSwitches& switches, const Choice& c, ShapeVector* in, ShapeVector* out) {
  if (c.has_condition)
    AssignShape(attrs, "branch", &(*out)[c.taken_output()], Shape{1});
  else
    AssignShape(attrs, "branch", &(*in)[0], Shape{1});
  return Infer(attrs, switches, c, Shape(), in, out);
}

bool InferChoiceType(const Attrs& attrs, const InferSwitches& switches, const Choice& c, std::vector<int>* in, std::vector<int>* out) {
  if (c.has_condition)
    AssignType(attrs, "branch", &(*out)[c.taken_output()], kInt64);
  else
    AssignType(attrs, "branch", &(*in)[0], kInt64);
  return Infer(attrs, switches, c, int{kDTypeUnknown}, in, out);
}

// ---- the kernel

Programs::Request RequestFor(const KernelArgs& args, const Choice::Branch& branch) {
  Programs::Request r;
  r.ctx = ContextOf(args);
  r.is_train = args.is_train;
  r.switches = args.switches;
  for (int at : branch.from) r.inputs.emplace_back(args.in[at].shape, args.in[at].dtype, StorageType::kDense);
  r.req.assign(branch.graph.parts.outputs.size(), OpReq::kNull);
  std::fill_n(r.req.begin(), branch.graph.num_results, OpReq::kWrite);
  return r;
}

/* `which`: the number of the run; by it weights that stay the same are packed once. */
void SetInputs(const KernelArgs& args, const Choice::Branch& branch, const GraphRun& run, size_t which, HeldWeights* weights) {
  const std::vector<char> changed = ChangedSince(args, which);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const int at = branch.from[run.inputs[i]];
    if (!run.run->Asks(static_cast<int>(i))) weights->Stay(args.in[at].dptr);
    run.run->SetInput(static_cast<int>(i), args.in[at].dptr, changed[at] || branch.graph.mutated[run.inputs[i]]);
  }
}

/* 0 or 1. */
int Decide(const Choice& c, const KernelArgs& args, HeldWeights* weights) {
  if (!c.has_condition) {
    int64_t taken = 0;
    ReadNumber(args, args.in[0].dptr, &taken, sizeof taken);
    return taken != 0;
  }
  const auto check = [&](const Shape& shape) {
    MXNET_CHECK_KIND(shape.known() && shape.Size() == 1, Value)
        << "[" << args.attrs->op->name << "] the condition has shape " << shape << "; a condition is one number";
  };
  if (c.condition.graph.copied >= 0) {
    const TBlob& truth = args.in[c.condition.from[c.condition.graph.copied]];
    check(truth.shape);
    weights->Stay(truth.dptr);
    return ReadTruth(args, truth.dptr, truth.dtype) ? 0 : 1;
  }
  ShapeVector in, shape(1);
  std::vector<int> in_types, type(1, kDTypeUnknown);
  for (int at : c.condition.from) {
    in.push_back(args.in[at].shape);
    in_types.push_back(args.in[at].dtype);
  }
  OfSubgraphs().infer_arguments(*c.condition.graph.graph, args.switches, &in, &shape);
  OfSubgraphs().infer_argument_types(*c.condition.graph.graph, args.switches, &in_types, &type);
  check(shape[0]);
  const auto run = RunOf(args, 2, [&] { return c.condition.programs->Take(c.condition.graph, RequestFor(args, c.condition)); });
  void* truth = args.workspace(64);
  RunScope scope(*run, args);
  SetInputs(args, c.condition, *run, 2, weights);
  run->run->SetOutput(0, truth);
  run->run->Run(-1);
  return ReadTruth(args, truth, type[0]) ? 0 : 1;
}

void RunChoice(const Choice& c, KernelArgs& args) {
  if (args.state && !*args.state) *args.state = std::make_shared<KeptRuns>();
  NoteChanges(args, ChangedInputs(args), 3);
  HeldWeights weights(&args);
  const int taken = Decide(c, args, &weights);
  if (c.has_condition && args.req[c.taken_output()] != OpReq::kNull) WriteInt64(args, taken, args.out[c.taken_output()].dptr);
  for (int k = 0; k < c.branches[1 - taken].graph.num_kept(); ++k) {  // of the other branch
    const int o = c.kept(1 - taken, k);
    if (args.req[o] != OpReq::kNull) ZeroBytes(args, args.out[o].dptr, args.out[o].Bytes());
  }
  const Choice::Branch& branch = c.branches[taken];
  Programs::Request request = RequestFor(args, branch);
  bool any = false;
  for (size_t r = 0; r < request.req.size(); ++r) {
    const bool wanted = args.req[c.output_of(taken, static_cast<int>(r))] != OpReq::kNull;
    request.req[r] = wanted ? OpReq::kWrite : OpReq::kNull;
    any = any || request.req[r] != OpReq::kNull;
  }
  if (!any) return;
  const auto run = RunOf(args, taken, [&] { return branch.programs->Take(branch.graph, request); });
  RunScope scope(*run, args);
  SetInputs(args, branch, *run, static_cast<size_t>(taken), &weights);
  for (size_t r = 0; r < run->outputs.size(); ++r)
    run->run->SetOutput(static_cast<int>(r), args.out[c.output_of(taken, run->outputs[r])].dptr);
  run->run->Run(-1);
}

// ---- the gradient

NodeEntry SumFor(const Choice::Branch& branch, const HeldGradient& gradient, int input) {
  NodeEntry sum;
  for (size_t i = 0; i < branch.from.size(); ++i) {
    if (branch.from[i] != input || !gradient.grads[i]) continue;
    sum = sum ? graph_ops::AddOf(sum, gradient.grads[i]) : gradient.grads[i];
  }
  return sum;
}

/* `present`: by output of the node. */
std::shared_ptr<const BackwardNode> MakeBackward(const Choice& c, const std::string& present) {
  auto made = std::make_shared<BackwardNode>();
  auto back = std::make_shared<Choice>();
  made->gives.assign(c.num_inputs, -1);
  HeldGradient gradients[2];
  for (int b = 0; b < 2; ++b) {
    std::vector<char> of(c.branches[b].graph.parts.outputs.size());
    for (size_t r = 0; r < of.size(); ++r) of[r] = present[c.output_of(b, static_cast<int>(r))];
    gradients[b] = Differentiate(c.branches[b].graph, of);
  }
  std::vector<NodeEntry> results[2];
  std::unordered_map<const Node*, Ref> from;
  for (int i = 0; i < c.num_inputs; ++i) {
    NodeEntry grads[2];
    for (int b = 0; b < 2; ++b) grads[b] = SumFor(c.branches[b], gradients[b], i);
    if (!grads[0] && !grads[1]) continue;
    made->gives[i] = static_cast<int>(results[0].size());
    for (int b = 0; b < 2; ++b) {
      if (!grads[b]) {
        const NodePtr like = MakeVariable("_like" + std::to_string(i));
        from[like.get()] = {Ref::kInput, i};
        grads[b] = graph_ops::ZerosLike({like, 0, 0});
      }
      results[b].push_back(grads[b]);
    }
  }
  if (results[0].empty()) return made;
  made->inputs.push_back(c.has_condition ? Ref{Ref::kOutput, c.taken_output()} : Ref{Ref::kInput, 0});
  const auto place = [&](const Ref& ref) {
    for (size_t i = 1; i < made->inputs.size(); ++i)
      if (made->inputs[i].kind == ref.kind && made->inputs[i].index == ref.index) return static_cast<int>(i);
    made->inputs.push_back(ref);
    return static_cast<int>(made->inputs.size()) - 1;
  };
  auto attrs = std::make_shared<Attrs>();
  attrs->op = Op::Get("_backward_cond");
  for (int b = 0; b < 2; ++b) {
    const Choice::Branch& branch = c.branches[b];
    for (size_t i = 0; i < branch.from.size(); ++i) from[branch.graph.parts.inputs[i].get()] = {Ref::kInput, branch.from[i]};
    for (size_t r = 0; r < gradients[b].heads.size(); ++r)
      from[gradients[b].heads[r].get()] = {Ref::kOgrad, c.output_of(b, static_cast<int>(r))};
    for (size_t k = 0; k < gradients[b].kept.size(); ++k) from[gradients[b].kept[k].get()] = {Ref::kOutput, c.kept(b, static_cast<int>(k))};
    Choice::Branch& made_branch = back->branches[b];
    made_branch.graph = Hold(OfSubgraphs().make(results[b]));
    for (const NodePtr& v : made_branch.graph.parts.inputs) made_branch.from.push_back(place(from.at(v.get())));
    attrs->subgraphs.push_back(made_branch.graph.graph);
  }
  back->num_inputs = static_cast<int>(made->inputs.size());
  back->num_results = static_cast<int>(results[0].size());
  auto param = std::make_shared<ChoiceParam>();
  param->choice = back;
  attrs->param = std::move(param);
  made->attrs = std::move(attrs);
  return made;
}

std::vector<NodeEntry> ChoiceGradient(const Choice& c, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::string present;
  for (const NodeEntry& g : ograds) present.push_back(!IsZeros(g));
  std::shared_ptr<const BackwardNode> backward;
  {
    std::lock_guard<std::mutex> lock(c.backwards->mutex);
    auto& made = c.backwards->made[present];
    if (!made) made = MakeBackward(c, present);
    backward = made;
  }
  return backward->Make(node, ograds);
}

std::vector<int> WrittenInputs(const Choice& c) {
  std::vector<int> written;
  for (const Choice::Branch& branch : c.branches)
    for (size_t i = 0; i < branch.from.size(); ++i)
      if (branch.graph.mutated[i] && std::find(written.begin(), written.end(), branch.from[i]) == written.end())
        written.push_back(branch.from[i]);
  return written;
}

const Choice& Need(const Attrs& a, const std::shared_ptr<const Choice>& choice) {
  MXNET_CHECK_KIND(choice, Value) << "[" << a.op->name
                                  << "] holds no graphs; accepted: nodes that mx.sym.contrib makes, and files with `subgraphs`";
  return *choice;
}

using ChoiceOf = std::shared_ptr<const Choice> (*)(const Attrs&);

void SetChoice(Op* op, ChoiceOf of, int (*visible)(const Attrs&)) {
  op->set_outputs(
        {"output"},
        [=](const Attrs& a) {
          const auto choice = of(a);
          return choice ? choice->num_outputs() : visible(a);
        },
        visible)
      .set_list_outputs([=](const Attrs& a) {
        const auto choice = of(a);
        const int shown = visible(a), all = choice ? choice->num_outputs() : shown;
        std::vector<std::string> names;
        for (int o = 0; o < all; ++o)
          names.push_back(o >= shown ? "hidden" + std::to_string(o - shown) : shown == 1 ? "output" : "output" + std::to_string(o));
        return names;
      })
      .set_mutate_inputs([=](const Attrs& a) {
        const auto choice = of(a);
        return choice ? WrittenInputs(*choice) : std::vector<int>();
      })
      .set_infer_shape([=](const Attrs& a, const InferSwitches& s, ShapeVector* in, ShapeVector* out) {
        return InferChoiceShape(a, s, Need(a, of(a)), in, out);
      })
      .set_infer_type([=](const Attrs& a, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
        return InferChoiceType(a, s, Need(a, of(a)), in, out);
      })
      .set_gradient([=](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return ChoiceGradient(Need(*node->attrs, of(*node->attrs)), node, ograds);
      })
      .set_uses_random()
      .set_depends_on_training()
      .set_trait(HonoursNullOutputs{})
      .set_kernel([=](KernelArgs& args) { RunChoice(Need(*args.attrs, of(*args.attrs)), args); });
}

}  // namespace

struct CondParam : public Parameter<CondParam> {
  int num_args, num_outputs;
  Locations cond_input_locs, then_input_locs, else_input_locs;
  MadeOfGraphs<Choice> made;
  std::shared_ptr<CallStates> calls;
  MXNET_DECLARE_PARAM(CondParam) {
    MXNET_FIELD(num_args).set_lower_bound(3).describe("Number of inputs, the three graphs among them.");
    MXNET_FIELD(num_outputs).set_lower_bound(1).describe("Number of outputs, which each branch gives.");
    MXNET_FIELD(cond_input_locs).describe("By input of the graph `cond`: which input of this operator it is.");
    MXNET_FIELD(then_input_locs).describe("The same of the graph `then_branch`.");
    MXNET_FIELD(else_input_locs).describe("The same of the graph `else_branch`.");
  }
};
MXNET_REGISTER_PARAM(CondParam);

namespace {

Choice::Branch MakeBranch(const Attrs& attrs, const std::shared_ptr<Symbol>& graph, const char* name, const Locations& from, int results) {
  Choice::Branch branch;
  branch.graph = Hold(graph);
  MXNET_CHECK_KIND(branch.graph.num_results == results, Value) << "[" << attrs.op->name << "] " << name << " belongs to a graph with "
                                                               << branch.graph.num_results << " results; it needs " << results;
  MXNET_CHECK_KIND(from.size() == branch.graph.num_inputs(), Value)
      << "[" << attrs.op->name << "] " << name << " names " << from.size() << " inputs; its graph has " << branch.graph.num_inputs();
  CheckLocations(attrs, name, from, attrs.get<CondParam>().num_args - 3);
  branch.from.assign(from.values.begin(), from.values.end());
  return branch;
}

std::shared_ptr<const Choice> MakeChoice(const Attrs& attrs) {
  const CondParam& p = attrs.get<CondParam>();
  CheckGraphs(attrs, 3);
  auto choice = std::make_shared<Choice>();
  choice->has_condition = true;
  choice->condition = MakeBranch(attrs, attrs.subgraphs[0], "cond_input_locs", p.cond_input_locs, 1);
  choice->branches[0] = MakeBranch(attrs, attrs.subgraphs[1], "then_input_locs", p.then_input_locs, p.num_outputs);
  choice->branches[1] = MakeBranch(attrs, attrs.subgraphs[2], "else_input_locs", p.else_input_locs, p.num_outputs);
  choice->num_inputs = p.num_args - 3;
  choice->num_results = p.num_outputs;
  return choice;
}

std::shared_ptr<const Choice> OfCond(const Attrs& attrs) {
  if (attrs.subgraphs.empty()) return nullptr;
  return attrs.get<CondParam>().made.Get(attrs.subgraphs, [&] { return MakeChoice(attrs); });
}
std::shared_ptr<const Choice> OfBackward(const Attrs& attrs) { return attrs.param ? attrs.get<ChoiceParam>().choice : nullptr; }
int InputsOfBackward(const Attrs& a) { return a.param ? a.get<ChoiceParam>().choice->num_inputs : 0; }

[[maybe_unused]] const bool registered = [] {
  Op& op = Op::Register("_cond");
  op.alias("_npx_cond")
      .describe(
          "Runs the graph `then_branch` when the result of the graph `cond`, one number, is true, and the graph "
          "`else_branch` when it is zero.\n\n"
          "Both branches give results of the same number, shapes and dtypes, which are the outputs. Only the branch "
          "that is taken is computed and differentiated. mx.sym.contrib.cond makes such nodes from Python functions.")
      .set_param<CondParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<CondParam>().num_args - 3; })
      .set_dtypes(dtypes::kAll)
      .set_trait(HoldsGraphs{{"cond", "then_branch", "else_branch"}})
      .set_trait(CallStatesIn<CondParam>());
  SetChoice(&op, OfCond, [](const Attrs& a) { return a.get<CondParam>().num_outputs; });
  Op& backward = Op::Register("_backward_cond");
  backward.describe("The backward pass of _cond: that of the branch that was taken.")
      .set_inputs({"data"}, InputsOfBackward)
      .set_dtypes(dtypes::kAll)
      .set_list_inputs([](const Attrs& a) {
        std::vector<std::string> names;
        for (int i = 0; i < InputsOfBackward(a); ++i) names.push_back("data" + std::to_string(i));
        return names;
      });
  backward.set_trait(CallStatesIn<ChoiceParam>());
  SetChoice(&backward, OfBackward, [](const Attrs& a) { return a.param ? a.get<ChoiceParam>().choice->num_results : 1; });
  return true;
}();

}  // namespace
}  // namespace control
}  // namespace mxnet
