// Executor: a symbol bound to arrays. Plans for inference and training are compiled when first
// needed and share one arena.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include "executor/explain.h"
#include "executor/interpret.h"
#include "executor/plan/placement.h"
#include "executor/plan/plan_instance.h"
#include "executor/plan/plan_timing.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/traits.h"
#include "operator/runtime/call_states.h"

namespace mxnet {
namespace {

/* A gamma that normalizations take as 1: executors of 1.x write ones into it, and files that are
 * saved after training hold them. */
struct FixedGamma {
  NDArray array;
  AttrsPtr ones;
  bool trained = false;   // something may write into it between two passes
  uint64_t version = -1;  // when it was last found to hold ones
};

class ExecutorImpl : public Executor {
 public:
  ExecutorImpl(const Symbol& symbol, Context ctx, const std::vector<NDArray>& in_args, const std::vector<NDArray>& in_grads,
               const std::vector<OpReq>& grad_req, const std::vector<NDArray>& in_aux, ExecutorImpl* shared,
               std::shared_ptr<const Plan> inference_plan = nullptr, std::vector<Context> output_places = {}, bool placed = false)
      : symbol_(symbol),
        ctx_(ctx),
        output_places_(std::move(output_places)),
        placed_(placed),
        inference_plan_(std::move(inference_plan)),
        on_caller_(inference_plan_ != nullptr) {
    args = in_args;
    aux = in_aux;
    arg_grads = in_grads;
    arg_grads.resize(args.size());
    const auto arg_nodes = symbol.ListInputs(Symbol::kReadOnlyArgs), aux_nodes = symbol.ListInputs(Symbol::kAuxStates);
    MXNET_CHECK_KIND(args.size() == arg_nodes.size(), Value)
        << "[bind] got " << args.size() << " arguments; the symbol has " << arg_nodes.size();
    MXNET_CHECK_KIND(aux.size() == aux_nodes.size(), Value)
        << "[bind] got " << aux.size() << " auxiliary states; the symbol has " << aux_nodes.size();
    MXNET_CHECK_KIND(in_grads.empty() || in_grads.size() == args.size(), Value)
        << "[bind] got " << in_grads.size() << " gradient arrays for " << args.size() << " arguments";
    MXNET_CHECK_KIND(grad_req.empty() || grad_req.size() == args.size(), Value)
        << "[bind] got " << grad_req.size() << " grad_reqs for " << args.size() << " arguments";
    arg_req_.assign(args.size(), OpReq::kNull);
    for (size_t i = 0; i < args.size(); ++i) {
      CheckArray(args[i], "argument", arg_nodes[i]->name);
      if (arg_grads[i].is_none()) continue;
      arg_req_[i] = grad_req.empty() ? OpReq::kWrite : grad_req[i];
      if (arg_req_[i] == OpReq::kNull) continue;
      CheckArray(arg_grads[i], "gradient", arg_nodes[i]->name);
      MXNET_CHECK_KIND(arg_grads[i].shape() == args[i].shape() && arg_grads[i].dtype() == args[i].dtype(), Value)
          << "[bind] the gradient of " << arg_nodes[i]->name << " is " << arg_grads[i].shape() << ' ' << DTypeName(arg_grads[i].dtype())
          << "; the argument is " << args[i].shape() << ' ' << DTypeName(args[i].dtype());
      has_grads_ = true;
    }
    for (size_t i = 0; i < aux.size(); ++i) CheckArray(aux[i], "auxiliary state", aux_nodes[i]->name);

    std::unordered_map<const Node*, int> arg_at, aux_at;
    for (size_t i = 0; i < arg_nodes.size(); ++i) arg_at[arg_nodes[i].get()] = static_cast<int>(i);
    for (size_t i = 0; i < aux_nodes.size(); ++i) aux_at[aux_nodes[i].get()] = static_cast<int>(i);
    for (const auto& n : symbol.ListInputs(Symbol::kAll)) {
      auto a = arg_at.find(n.get());
      const bool is_arg = a != arg_at.end();
      input_arg_.push_back(is_arg ? a->second : -1);
      inputs_.push_back(is_arg ? args[a->second] : aux[aux_at.at(n.get())]);
      input_req_.push_back(is_arg ? arg_req_[a->second] : OpReq::kNull);
    }
    if (!on_caller_) FindFixedGammas(arg_at);
    dynamic_ = placed_ || HasDynamicShape(symbol_);
    if (dynamic_) {
      outputs_.resize(symbol_.outputs.size());
      if (placed_) ShapeOutputs();
      return;
    }
    arena_ = shared && shared->arena_ && shared->ctx_ == ctx ? shared->arena_ : std::make_shared<Arena>(ctx_);
    Compiled* primary = Get(has_grads_, has_grads_);
    const Plan& plan = *primary->plan();
    outputs_ = MakeOutputs(plan);
  }

  void Forward(bool is_train) override {
    WriteFixedGammas(is_train);
    if (dynamic_) return ForwardDynamic(is_train, is_train && has_grads_);
    const bool backward = is_train && has_grads_;
    Compiled* c = Get(is_train, backward);
    auto call = std::make_shared<PlanCall>();
    call->graphs = true;
    FillForward(call.get(), *c->plan(), outputs_);
    call->on_caller = on_caller_ && !is_train;
    RunPhase(c, call, false);
    last_ = c;
    last_call_ = call;
    arena_->holds = call.get();
    spent_ = !backward;
  }

  int PartialForward(bool is_train, int step) override {
    MXNET_CHECK(!dynamic_) << "[executor] partial forward of a graph with value-dependent shapes or parts on several devices";
    const bool backward = is_train && has_grads_;
    Compiled* c = Get(is_train, backward);
    const int steps = c->plan()->forward.end;
    MXNET_CHECK_KIND(step >= 0, Value) << "[executor] partial forward step " << step << "; accepted: 0 and above";
    if (step >= steps) return 0;  // nothing is left
    if (step == 0 || !last_call_) {
      WriteFixedGammas(is_train);
      last_call_ = std::make_shared<PlanCall>();
      last_call_->graphs = true;
      FillForward(last_call_.get(), *c->plan(), outputs_);
    }
    c->RunStep(last_call_, step);
    last_ = c;
    arena_->holds = last_call_.get();
    spent_ = !backward || step + 1 < steps;
    return steps - step - 1;
  }

  void Backward(const std::vector<NDArray>& head_grads, bool is_train) override {
    if (!has_grads_) return;
    if (dynamic_) {
      if (!recorded_) ForwardDynamic(is_train && !forward_run_, true);  // a forward pass for inference is repeated as one
      return BackwardDynamic(head_grads);
    }
    if (!last_) Forward(is_train);
    std::vector<NDArray> outputs = outputs_;
    if (spent_ || arena_->holds != last_call_.get()) {
      // What the backward pass needs was not kept (forward for inference), has been used up, or an
      // executor that shares the arena ran: repeat the forward pass, with the same random numbers
      // and without touching the auxiliary states again. What the program sees as outputs stays:
      // arguments may have changed since.
      Compiled* c = Get(last_->plan()->is_train, true);
      auto call = std::make_shared<PlanCall>();
      call->graphs = true;
      outputs = MakeOutputs(*c->plan());
      FillForward(call.get(), *c->plan(), outputs);
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (input_arg_[i] < 0 && c->plan()->is_train) call->arrays[i] = inputs_[i].Copy(inputs_[i].ctx());
      call->repeats = last_call_;
      c->Run(call, false);
      last_ = c;
      arena_->holds = nullptr;  // this backward pass is pushed before anybody else can run; the next one repeats again
    }
    const Plan& plan = *last_->plan();
    auto call = std::make_shared<PlanCall>();
    call->graphs = true;
    FillForward(call.get(), plan, outputs);
    for (int i = 0; i < plan.num_outputs; ++i) {
      const bool given = i < static_cast<int>(head_grads.size()) && !head_grads[i].is_none();
      MXNET_CHECK(given || !plan.head_used[i])
          << "[executor] output " << i << " (" << symbol_.ListOutputNames()[i]
          << ") is no loss, so backward needs a head gradient for it; pass out_grads, or wrap the output in MakeLoss";
      if (!plan.head_used[i]) continue;  // losses and blocked outputs: whatever is given, nobody reads it
      MXNET_CHECK_KIND(head_grads[i].shape() == outputs_[i].shape(), Value)
          << "[executor] head gradient " << i << " has shape " << head_grads[i].shape() << "; output " << i << " has "
          << outputs_[i].shape();
      call->arrays[plan.head_slot(i)] = AsGradientOf(plan.output_types[i].dtype, ctx_, head_grads[i], plan.head_storages[i]);
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (input_req_[i] != OpReq::kNull) call->arrays[plan.grad_slot(static_cast<int>(i))] = arg_grads[input_arg_[i]];
    RunPhase(last_, call, true);
    spent_ = true;
  }

  const std::vector<NDArray>& Outputs() const override { return outputs_; }

  std::shared_ptr<Executor> Reshape(const std::map<std::string, Shape>& shapes, bool partial_shaping, bool allow_up_sizing) override {
    const IndexedGraph g(symbol_.outputs);
    ShapeVector all(g.num_entries());
    for (uint32_t id : g.input_nodes) {
      auto it = shapes.find(g.nodes[id].source->name);
      if (it != shapes.end()) all[g.eid(id, 0)] = it->second;
    }
    MXNET_CHECK_KIND(InferShapes(g, &all), Value)
        << "[executor] reshape: the given shapes do not determine all others; give the shape of every input that changes";
    std::unordered_map<const Node*, Shape> shape_of;
    for (uint32_t id : g.input_nodes) shape_of[g.nodes[id].source] = all[g.eid(id, 0)];
    auto fit = [&](const NDArray& old, const Shape& to, const std::string& name) -> NDArray {
      if (old.is_none() || old.shape() == to) return old;
      MXNET_CHECK_KIND(partial_shaping || shapes.count(name), Value)
          << "[executor] reshape changes the shape of " << name << " from " << old.shape() << " to " << to
          << ", which was not asked for; pass partial_shaping=True to allow that";
      if (old.is_sparse()) return NDArray::Make(TensorType(to, old.dtype(), old.storage_type()), old.ctx());
      if (to.Size() <= old.shape().Size()) return old.Reshape(Shape({old.shape().Size()})).Slice(0, to.Size()).Reshape(to);
      MXNET_CHECK_KIND(allow_up_sizing, Value) << "[executor] reshape makes " << name << " larger (" << old.shape() << " to " << to
                                               << "); pass allow_up_sizing=True to allocate anew";
      return NDArray(to, old.ctx(), old.dtype());
    };
    std::vector<NDArray> new_args, new_grads, new_aux;
    const auto arg_nodes = symbol_.ListInputs(Symbol::kReadOnlyArgs), aux_nodes = symbol_.ListInputs(Symbol::kAuxStates);
    for (size_t i = 0; i < args.size(); ++i) {
      new_args.push_back(fit(args[i], shape_of.at(arg_nodes[i].get()), arg_nodes[i]->name));
      new_grads.push_back(fit(arg_grads[i], shape_of.at(arg_nodes[i].get()), arg_nodes[i]->name));
    }
    for (size_t i = 0; i < aux.size(); ++i) new_aux.push_back(fit(aux[i], shape_of.at(aux_nodes[i].get()), aux_nodes[i]->name));
    auto reshaped =
        std::make_shared<ExecutorImpl>(symbol_, ctx_, new_args, new_grads, arg_req_, new_aux, this, nullptr, output_places_, placed_);
    if (!dynamic_) reshaped->UseOutputsOf(*this);
    return reshaped;
  }

  std::shared_ptr<Executor> SharePlan(const std::vector<NDArray>& other_args, const std::vector<NDArray>& other_aux) override {
    MXNET_CHECK_KIND(!dynamic_ && !has_grads_, Value)
        << "[executor] a plan is shared for inference only: bound without gradients, no value-dependent shapes, one device";
    auto same = [](const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
      return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const NDArray& x, const NDArray& y) {
               return !y.is_none() && x.shape() == y.shape() && x.dtype() == y.dtype();
             });
    };
    MXNET_CHECK_KIND(same(args, other_args) && same(aux, other_aux), Value)
        << "[executor] a plan is shared by arrays of the same shapes and dtypes; these differ from what is bound";
    on_caller_ = true;
    return std::make_shared<ExecutorImpl>(symbol_, ctx_, other_args, std::vector<NDArray>(), std::vector<OpReq>(), other_aux, nullptr,
                                          Get(false, false)->plan());
  }

  std::string DebugStr() const override {
    std::ostringstream s;
    s << WithGradients().Print();
    size_t bytes = 0;
    for (const auto& kv : compiled_) {
      s << kv.second->plan()->DebugStr();
      bytes = std::max(bytes, kv.second->plan()->memory.arena_bytes);
    }
    // Scripts read the amount from the third line from the end, as 1.9.1 has it.
    s << "Total " << (bytes >> 20) << " MB allocated\nTotal " << (arena_ ? 1 : 0) << " TempSpace resource requested\n";
    return s.str();
  }

  PlanStats Stats() const override {
    if (dynamic_) return PlanStats();
    return compiled_.rbegin()->second->plan()->stats;  // the training plan when there is one
  }

  std::string Explain(int runs) const {
    MXNET_CHECK_KIND(!dynamic_, Value)
        << "[explain] this graph has shapes that depend on values or parts on several devices, so it runs without a plan";
    const auto& plan = (last_ ? last_ : compiled_.rbegin()->second.get())->plan();
    return ExplainPlan(*plan, symbol_.ListInputNames(Symbol::kAll), TimePlan(plan, inputs_, runs));
  }

  void SetMonitor(MonitorFn fn, bool monitor_all) override { monitor_ = {std::move(fn), monitor_all}; }

  Symbol OptimizedSymbol() const override { return dynamic_ ? symbol_ : compiled_.rbegin()->second->plan()->optimized; }

  std::vector<std::string> ArgNames() const override { return symbol_.ListInputNames(Symbol::kReadOnlyArgs); }
  std::vector<std::string> AuxNames() const override { return symbol_.ListInputNames(Symbol::kAuxStates); }

 private:
  using Compiled = PlanInstance;

  Context PlaceOfOutput(size_t i) const { return output_places_.empty() ? ctx_ : output_places_[i]; }

  void CheckArray(const NDArray& a, const char* what, const std::string& name) const {
    MXNET_CHECK_KIND(!a.is_none(), Value) << "[bind] " << what << ' ' << name << " is missing";
    MXNET_CHECK_KIND(placed_ || a.ctx().execution() == ctx_.execution(), Value)
        << "[bind] " << what << ' ' << name << " is on " << a.ctx() << "; the executor is on " << ctx_;
  }

  /* The symbol with the nodes of its backward pass; the gradients are outputs behind its own. */
  Symbol WithGradients() const {
    std::vector<NodeEntry> xs, heads;
    const auto nodes = symbol_.ListInputs(Symbol::kAll);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (input_req_[i] != OpReq::kNull) xs.push_back({nodes[i], 0, 0});
    if (xs.empty()) return symbol_;
    for (size_t i = 0; i < symbol_.outputs.size(); ++i) heads.push_back({MakeVariable("_head_grad_" + std::to_string(i)), 0, 0});
    Symbol full = symbol_;
    for (const NodeEntry& g : Gradient(symbol_.outputs, xs, heads))
      if (g) full.outputs.push_back(g);
    return full;
  }

  /* Where an output is not larger than that of an executor of the same symbol, it takes that one's
   * memory. */
  void UseOutputsOf(const ExecutorImpl& other) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const NDArray &mine = outputs_[i], &theirs = other.outputs_[i];
      if (mine.is_sparse() || theirs.is_sparse()) continue;
      const int64_t size = mine.shape().Size(), available = theirs.shape().Size();
      if (size == 0 || size > available || mine.dtype() != theirs.dtype()) continue;
      outputs_[i] = mine.shape() == theirs.shape() ? theirs : theirs.Reshape(Shape({available})).Slice(0, size).Reshape(mine.shape());
    }
  }

  /* The outputs of a graph whose parts are on several devices: as with a plan, the same arrays for
   * every forward pass. */
  void ShapeOutputs() {
    const IndexedGraph g(symbol_.outputs);
    TensorTypes types(g.num_entries());
    const auto nodes = symbol_.ListInputs(Symbol::kAll);
    std::unordered_map<const Node*, const NDArray*> arrays;
    for (size_t i = 0; i < nodes.size(); ++i) arrays[nodes[i].get()] = &inputs_[i];
    for (uint32_t id : g.input_nodes) types[g.eid(id, 0)] = arrays.at(g.nodes[id].source)->type();
    GraphInference how;
    how.default_dtype = kFloat32;
    how.switches = switches_;
    InferEntries(g, &types, how);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const TensorType& type = types[g.eid(g.outputs[i])];
      MXNET_CHECK_KIND(type.shape.known(), Value) << "[bind] the shape of output " << i << " depends on values; accepted without group2ctx";
      outputs_[i] = NDArray::Make(type, output_places_[i], true);
    }
  }

  Compiled* Get(bool is_train, bool backward) {
    const bool watched = static_cast<bool>(monitor_);
    const std::array<bool, 3> key = {!watched, backward, is_train};
    auto& slot = compiled_[key];
    if (!slot && inference_plan_ && !is_train && !backward && !watched)
      slot = std::make_shared<PlanInstance>(inference_plan_, arena_, calls_);
    if (!slot) {
      PlanRequest request;
      request.symbol = symbol_;
      request.ctx = ctx_;
      request.switches = switches_;
      for (const auto& a : inputs_) request.inputs.push_back(a.type());
      request.is_train = is_train;
      request.every_result = watched;
      if (backward) {
        request.grad_req = input_req_;
        request.head_storages = HeadStorages::kAsOutputsWhereInferred;
        for (int arg : input_arg_) request.grad_storage.push_back(arg < 0 ? StorageType::kUndefined : arg_grads[arg].storage_type());
      }
      try {
        slot = std::make_shared<PlanInstance>(Plan::Compile(request), arena_, calls_);
        arena_->Reserve(slot->plan()->memory.arena_bytes);
      } catch (...) {
        compiled_.erase(key);
        throw;
      }
    }
    return slot.get();
  }

  void FindFixedGammas(const std::unordered_map<const Node*, int>& arg_at) {
    std::set<int> found;
    DFSVisit(symbol_.outputs, [&](const NodePtr& n) {
      const auto* trait = n->is_variable() ? nullptr : n->op()->trait<CountsAsOnes>();
      const int input = trait ? trait->input(*n->attrs) : -1;
      if (input < 0 || static_cast<size_t>(input) >= n->inputs.size()) return;
      const auto at = arg_at.find(n->inputs[input].node.get());
      if (at == arg_at.end() || !found.insert(at->second).second) return;
      const NDArray& gamma = args[at->second];
      if (gamma.storage_type() != StorageType::kDense) return;
      fixed_gammas_.push_back({gamma, graph_ops::Filled(1, gamma.dtype()), arg_req_[at->second] != OpReq::kNull});
    });
  }

  /* What is pushed to write into a gamma is not seen in its version before it is done. */
  void WriteFixedGammas(bool is_train) {
    for (FixedGamma& gamma : fixed_gammas_) {
      if (gamma.version == gamma.array.version() && !(is_train && gamma.trained)) continue;
      gamma.version = gamma.array.version() + 1;
      Imperative::Run(gamma.ones, {}, {OpReq::kWrite}, {gamma.array}, false);
    }
  }

  std::vector<NDArray> MakeOutputs(const Plan& plan) const {
    std::vector<NDArray> made;
    for (int i = 0; i < plan.num_outputs; ++i) made.push_back(NDArray::Make(plan.output_types[i], PlaceOfOutput(i), true));
    return made;
  }

  void FillForward(PlanCall* call, const Plan& plan, const std::vector<NDArray>& outputs) const {
    call->arrays.resize(plan.num_slots());
    std::copy(inputs_.begin(), inputs_.end(), call->arrays.begin());
    std::copy(outputs.begin(), outputs.end(), call->arrays.begin() + plan.num_inputs);
  }

  void RunPhase(Compiled* c, const std::shared_ptr<PlanCall>& call, bool backward) {
    if (monitor_)
      c->RunMonitored(call, backward, monitor_);
    else
      c->Run(call, backward);
  }

  // Graphs with value-dependent shapes run operator by operator, with the tape for the backward
  // pass.
  void ForwardDynamic(bool is_train, bool record) {
    const ImperativeScope scope;
    Imperative::State().recording = record;
    Imperative::State().training = is_train;
    std::vector<NDArray*> in, out;
    std::vector<NDArray> values = inputs_;
    if (record) {
      std::vector<NDArray*> marked, grads;
      std::vector<OpReq> req;
      for (size_t i = 0; i < values.size(); ++i) {
        if (input_req_[i] == OpReq::kNull) continue;
        marked.push_back(&values[i]);
        grads.push_back(&arg_grads[input_arg_[i]]);
        req.push_back(input_req_[i]);
      }
      Imperative::MarkVariables(marked, req, grads);
    }
    if (!placed_) outputs_.assign(symbol_.outputs.size(), NDArray());  // shapes may be others
    for (auto& a : values) in.push_back(&a);
    for (auto& a : outputs_) out.push_back(&a);
    Interpret(symbol_, in, out, ctx_, monitor_);
    forward_run_ = true;
    recorded_ = record;
  }

  void BackwardDynamic(const std::vector<NDArray>& head_grads) {
    std::vector<NDArray> grads = head_grads;
    std::vector<NDArray*> heads, given;
    for (auto& o : outputs_) heads.push_back(&o);
    if (!grads.empty()) {
      grads.resize(outputs_.size());
      for (size_t i = 0; i < grads.size(); ++i)
        if (!grads[i].is_none()) grads[i] = AsGradientOf(outputs_[i].dtype(), outputs_[i].ctx(), grads[i]);
      for (auto& g : grads) given.push_back(&g);
    }
    Imperative::Backward(heads, given, {}, true, false, true);
  }

  Symbol symbol_;
  Context ctx_;
  const std::vector<Context> output_places_;                      // empty: all are on ctx_
  const bool placed_;                                             // parts are on several devices, and copies between them in the graph
  const InferSwitches switches_ = InferSwitches::OfThread(true);  // of the thread that bound: all plans have the same outputs
  std::shared_ptr<const Plan> inference_plan_;                    // another executor's, to be used as it is
  bool on_caller_ = false;
  bool has_grads_ = false, dynamic_ = false;
  bool forward_run_ = false, recorded_ = false;  // of a dynamic graph: whether it ran, and with the tape
  std::vector<OpReq> arg_req_;
  std::vector<NDArray> inputs_, outputs_;  // inputs in ListInputs(kAll) order
  std::vector<OpReq> input_req_;
  std::vector<int> input_arg_;  // index into args; -1: auxiliary
  std::vector<FixedGamma> fixed_gammas_;
  std::shared_ptr<Arena> arena_;
  // of all plans: what a program's operator keeps in training is there in inference
  const std::shared_ptr<CallStates> calls_ = std::make_shared<CallStates>();
  std::map<std::array<bool, 3>, std::shared_ptr<Compiled>> compiled_;  // by (nobody watches, backward, is_train)
  Compiled* last_ = nullptr;
  std::shared_ptr<PlanCall> last_call_;
  bool spent_ = true;  // the arena no longer holds what a backward pass needs
  Monitor monitor_;
};

}  // namespace

std::shared_ptr<Executor> Executor::Bind(const Symbol& symbol, Context ctx, const std::map<std::string, Context>& group2ctx,
                                         const std::vector<NDArray>& args, const std::vector<NDArray>& arg_grads,
                                         const std::vector<OpReq>& grad_req, const std::vector<NDArray>& aux,
                                         std::shared_ptr<Executor> shared) {
  if (!group2ctx.empty()) {
    Places bound;  // arrays stay where the caller has them
    const auto note = [&](Symbol::ListOption kind, const std::vector<NDArray>& arrays) {
      const auto nodes = symbol.ListInputs(kind);
      for (size_t i = 0; i < std::min(nodes.size(), arrays.size()); ++i)
        if (!arrays[i].is_none()) bound[nodes[i].get()] = arrays[i].ctx();
    };
    note(Symbol::kReadOnlyArgs, args);
    note(Symbol::kAuxStates, aux);
    const Places places = PlaceNodes(symbol, ctx, group2ctx, bound);
    std::vector<Context> of_outputs;
    for (const NodeEntry& e : symbol.outputs) of_outputs.push_back(places.at(e.node.get()));
    const bool placed = HasPlaces(symbol, ctx, group2ctx);
    return std::make_shared<ExecutorImpl>(placed ? WithCopies(symbol, places) : symbol, ctx, args, arg_grads, grad_req, aux,
                                          dynamic_cast<ExecutorImpl*>(shared.get()), nullptr, of_outputs, placed);
  }
  return std::make_shared<ExecutorImpl>(symbol, ctx, args, arg_grads, grad_req, aux, dynamic_cast<ExecutorImpl*>(shared.get()));
}

std::string ExplainExecutor(const Executor& executor, int runs) { return dynamic_cast<const ExecutorImpl&>(executor).Explain(runs); }

}  // namespace mxnet
