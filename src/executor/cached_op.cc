// CachedOp: a symbol as one operator. Plans are compiled per input signature; each caller takes an
// instance of its own.
//
// On the autograd tape a call is one node (operator/runtime/compiled_graph.h). Its gradient is
// normally the backward phase of the same plan instance. When the backward pass is itself recorded,
// the gradient is a CachedOp of the gradient's symbol instead, which differentiates again.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "executor/explain.h"
#include "executor/interpret.h"
#include "executor/passes/core/passes.h"
#include "executor/plan/arena_pool.h"
#include "executor/plan/callers.h"
#include "executor/plan/plan_instance.h"
#include "executor/plan/plan_timing.h"
#include "graph/gradient.h"
#include "imperative/tape.h"
#include "ndarray/run.h"
#include "operator/runtime/compiled_graph.h"

namespace mxnet {
namespace {

// Plans kept per CachedOp: each has its packed and folded weights. Inputs of ever new shapes would
// fill the memory with them. Of more than a few plans the folded weights must also fit so many
// bytes.
// Beyond the first ones plans are kept while they are small: nodes take about 3 KiB each.
constexpr size_t kAnyPlans = 32, kMostPlanNodes = 16384, kMostFoldedOfMany = size_t{32} << 20;
constexpr size_t kAnyFolded = 8, kMostFolded = size_t{1} << 30;

bool ParseBool(const std::string& flag, const std::string& s) {
  if (s == "1" || s == "true" || s == "True") return true;
  MXNET_CHECK_KIND(s == "0" || s == "false" || s == "False", Value)
      << "[CachedOp] " << flag << " is '" << s << "'; accepted: True, False, 1, 0";
  return false;
}

int ParseInt(const std::string& key, const std::string& value) {
  char* end = nullptr;
  const long v = std::strtol(value.c_str(), &end, 10);
  MXNET_CHECK_KIND(end != value.c_str() && *end == '\0' && v >= 0 && v < (1 << 30), Value)
      << "[CachedOp] flag " << key << " is '" << value << "'; accepted: a whole number >= 0";
  return static_cast<int>(v);
}

/* "[0, 3]" or "(0, 3)" */
std::vector<int> ParseList(const std::string& key, const std::string& value) {
  std::vector<int> list;
  for (size_t i = 0; i < value.size();) {
    if (std::isdigit(static_cast<unsigned char>(value[i]))) {
      char* end = nullptr;
      list.push_back(static_cast<int>(std::min(std::strtol(value.c_str() + i, &end, 10), long{1} << 30)));
      i = static_cast<size_t>(end - value.c_str());
      continue;
    }
    MXNET_CHECK_KIND(std::strchr("[](), L", value[i]), Value)
        << "[CachedOp] flag " << key << " is '" << value << "'; accepted: a list of input numbers";
    ++i;
  }
  return list;
}

size_t ParseBytes(const std::string& key, const std::string& value) {
  char* end = nullptr;
  const unsigned long long v = std::strtoull(value.c_str(), &end, 10);
  MXNET_CHECK_KIND(end != value.c_str() && *end == '\0' && value[0] != '-', Value)
      << "[CachedOp] flag " << key << " is '" << value << "'; accepted: a number of bytes, 0: no limit";
  return static_cast<size_t>(v);
}

class CachedOpImpl;

/* A plan and its instances, by the arena that they use. Guarded by the CachedOp's mutex. */
struct Compiled {
  std::shared_ptr<const Plan> plan;
  std::vector<std::pair<std::shared_ptr<Arena>, std::shared_ptr<PlanInstance>>> instances;
  uint64_t last_use = 0;
};

/* What a plan is compiled for, and found by. */
struct Signature {
  const std::vector<NDArray*>& inputs;
  const std::vector<int>& wanted;  // inputs whose gradients the plan computes
  Context where;
  bool is_train, watched;
  InferSwitches switches = InferSwitches::OfThread(true);

  /* Of the array that a variable's gradient goes into; kUndefined for what was computed. */
  StorageType GradStorage(int input) const { return Imperative::Grad(*inputs[static_cast<size_t>(input)]).storage_type(); }

  std::string Key() const {
    std::string key;
    auto put = [&key](const void* p, size_t n) { key.append(static_cast<const char*>(p), n); };
    const int head[] = {static_cast<int>(where.dev_type), where.dev_id, is_train, watched, switches.float64_default, switches.numpy_shapes};
    put(head, sizeof head);
    for (const NDArray* a : inputs) {
      const int about[] = {a->dtype(), a->shape().ndim(), static_cast<int>(a->storage_type())};
      put(about, sizeof about);
      put(a->shape().dims(), sizeof(int64_t) * a->shape().ndim());
    }
    put(wanted.data(), wanted.size() * sizeof(int));
    for (int i : wanted) key.push_back(static_cast<char>(GradStorage(i)));
    return key;
  }
};

/* What a thread's last call left for its next one: a plan, the signature it is for, and an instance
 * whose arena nobody else has, unless arenas are shared. */
struct Warm {
  std::string key;
  std::shared_ptr<Compiled> compiled;
  std::shared_ptr<PlanInstance> instance;
};

/* One recorded call, until its backward pass. */
struct CallState : RecordedCall {
  std::shared_ptr<CachedOpImpl> op;
  std::shared_ptr<Compiled> compiled;
  std::shared_ptr<PlanInstance> instance;  // null once the backward pass has used it up
  std::shared_ptr<PlanCall> forward;       // inputs and outputs, detached
  std::vector<int> wanted;                 // inputs whose gradients the plan computes
  bool keep_arena = false;

  ~CallState() override;
  int num_gradients() const override { return static_cast<int>(wanted.size()); }
  void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& grads) override;
};

class CachedOpImpl : public CachedOp, public CompiledGraph, public std::enable_shared_from_this<CachedOpImpl> {
 public:
  CachedOpImpl(const Symbol& symbol, const std::map<std::string, std::string>& flags, std::shared_ptr<ArenaPool> arenas = nullptr)
      : symbol_(symbol),
        variables_(symbol.ListInputs(Symbol::kAll)),
        shares_arenas_(arenas != nullptr),
        arenas_(arenas ? std::move(arenas) : std::make_shared<ArenaPool>()) {
    static const char* const kIgnored[] = {"param_indices", "is_dynamic"};
    for (const auto& kv : flags) {
      if (kv.first == "static_alloc")
        static_alloc_ = ParseBool(kv.first, kv.second);
      else if (kv.first == "static_shape")
        static_shape_ = ParseBool(kv.first, kv.second);
      else if (kv.first == "inline_limit")
        inline_limit_ = ParseInt(kv.first, kv.second);
      else if (kv.first == "forward_bulk_size")
        forward_bulk_ = ParseInt(kv.first, kv.second);
      else if (kv.first == "backward_bulk_size")
        backward_bulk_ = ParseInt(kv.first, kv.second);
      else if (kv.first == "data_indices")
        data_inputs_ = ParseList(kv.first, kv.second);
      else if (kv.first == "memory_budget")
        memory_budget_ = ParseBytes(kv.first, kv.second);
      else if (kv.first == "thread_safe")
        on_caller_ = ParseBool(kv.first, kv.second);
      else
        MXNET_CHECK_KIND(std::count(std::begin(kIgnored), std::end(kIgnored), kv.first), Value)
            << "[CachedOp] unknown flag " << kv.first
            << "; accepted: static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size, memory_budget, thread_safe, "
               "data_indices, param_indices, is_dynamic";
    }
    MXNET_CHECK_KIND(static_alloc_ || !static_shape_, Value) << "[CachedOp] static_shape=True needs static_alloc=True";
    dynamic_ = HasDynamicShape(symbol_);
    std::unordered_map<const Node*, int> at;
    for (size_t i = 0; i < variables_.size(); ++i) at[variables_[i].get()] = static_cast<int>(i);
    is_aux_.assign(variables_.size(), false);
    for (const auto& n : symbol_.ListInputs(Symbol::kAuxStates)) is_aux_[at.at(n.get())] = true;
    DFSVisit(symbol_.outputs, [this](const NodePtr& n) { num_ops_ += !n->is_variable(); });
  }

  ~CachedOpImpl() override {
    for (auto& slot : warm_) delete slot.load(std::memory_order_acquire);
  }

  void Invoke(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const Context* ctx) override {
    Check(inputs, outputs);
    const ImperativeState& state = Imperative::State();
    bool record = false;
    for (size_t i = 0; i < inputs.size() && state.recording && !record; ++i) record = Imperative::HasHistory(*inputs[i]);
    const Context where = !inputs.empty() ? ResultContext(inputs[0]->ctx()) : ctx ? *ctx : Context::CPU();
    const bool small = record && !static_alloc_ && num_ops_ <= inline_limit_;
    if (dynamic_ || small || state.deferred_compute) return Interpret(symbol_, inputs, outputs, where, CurrentMonitor());
    RunPlan(inputs, outputs, where, record);
  }

  void RunPlan(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, Context where, bool record) {
    std::vector<int> wanted;
    if (record)
      for (size_t i = 0; i < inputs.size(); ++i)
        if (Imperative::HasHistory(*inputs[i]) && !is_aux_[i] && IsFloating(inputs[i]->dtype())) wanted.push_back(static_cast<int>(i));
    std::unique_ptr<Warm> warm = Prepare({inputs, wanted, where, Imperative::State().training, monitored_.load(std::memory_order_acquire)});
    const std::shared_ptr<Compiled>& compiled = warm->compiled;
    const Plan& plan = *compiled->plan;
    auto call = std::make_shared<PlanCall>();
    call->graphs = static_alloc_ && static_shape_;
    call->arrays.resize(plan.num_slots());
    for (size_t i = 0; i < inputs.size(); ++i) call->arrays[i] = inputs[i]->Detach();
    std::vector<std::pair<NDArray, NDArray*>> copied;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorType& type = plan.output_types[i];
      NDArray& slot = call->arrays[plan.output_slot(static_cast<int>(i))];
      if (outputs[i]->is_none()) {
        *outputs[i] = NDArray::Make(type, where, true);
        slot = *outputs[i];
        continue;
      }
      MXNET_CHECK_KIND(outputs[i]->shape() == type.shape && outputs[i]->dtype() == type.dtype, Value)
          << "[CachedOp] output " << i << " is given as " << outputs[i]->shape() << ' ' << DTypeName(outputs[i]->dtype())
          << "; the result is " << type.shape << ' ' << DTypeName(type.dtype);
      if (IsInTheWay(plan, inputs, *outputs[i], plan.output_slot(static_cast<int>(i))) || outputs[i]->ctx() != where ||
          outputs[i]->storage_type() != type.storage) {
        slot = NDArray::Make(type, where, true);
        copied.emplace_back(slot, outputs[i]);
      } else {
        slot = outputs[i]->Detach();
      }
    }
    const std::shared_ptr<PlanInstance>& instance = warm->instance;
    call->free_after_forward = !static_alloc_ && !record;
    call->on_caller = on_caller_ && !record;
    const Monitor monitor = CurrentMonitor();
    if (monitor)
      instance->RunMonitored(call, false, monitor);
    else
      instance->Run(call, false);
    for (auto& c : copied) CopyFromTo(c.first, *c.second);
    if (!record) return Keep(std::move(warm));
    auto state = std::make_shared<CallState>();
    state->op = shared_from_this();
    state->compiled = compiled;
    state->instance = instance;
    state->forward = call;
    state->wanted = std::move(wanted);
    state->keep_arena = static_alloc_;
    Imperative::Record(CompiledGraphAttrs({shared_from_this(), std::move(state)}), inputs, outputs, "cached_op");
  }

  /* Would writing the array change an input that is still to be read? Two may have one's memory. */
  static bool IsInTheWay(const Plan& plan, const std::vector<NDArray*>& inputs, const NDArray& output, int slot) {
    const auto bytes = [](const NDArray& a) { return static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()); };
    const auto memory = [](const NDArray& a) { return a.delayed() ? 0 : reinterpret_cast<size_t>(a.chunk()->handle.dptr); };
    const auto place = [&](const NDArray& a) { return memory(a) + a.byte_offset(); };
    const size_t begin = place(output), end = begin + bytes(output);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NDArray& in = *inputs[i];
      const bool one = in.chunk() == output.chunk();
      if (!one && (in.is_sparse() || in.delayed() || output.delayed())) continue;
      if (one && (in.is_sparse() || plan.ctx.is_gpu())) return true;
      const size_t first = place(in);
      if (first >= end || first + bytes(in) <= begin) continue;
      const auto& may = plan.shared_slots;
      const bool same = first == begin && std::find(may.begin(), may.end(), std::make_pair(static_cast<int>(i), slot)) != may.end();
      if (!same || plan.ctx.is_gpu()) return true;
    }
    return false;
  }

  /* An instance that nobody uses, on `arena` or, without one, on an arena that nobody uses. */
  std::shared_ptr<PlanInstance> Take(Compiled* compiled, std::shared_ptr<Arena> arena = nullptr) {
    if (!arena) arena = arenas_->Take(compiled->plan->ctx);
    if (static_alloc_) arena->Reserve(compiled->plan->memory.arena_bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& i : compiled->instances)
      if (i.first == arena) return i.second;
    compiled->instances.emplace_back(arena, std::make_shared<PlanInstance>(compiled->plan, arena));
    return compiled->instances.back().second;
  }
  void Return(std::shared_ptr<PlanInstance> instance) { arenas_->Return(instance->arena()); }

  mxnet::Symbol symbol() const override { return symbol_; }
  const mxnet::Symbol& graph() const override { return symbol_; }
  mxnet::Symbol OptimizedSymbol() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return last_ ? last_->plan->optimized : symbol_;
  }
  PlanStats Stats() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return last_ ? last_->plan->stats : PlanStats();
  }
  std::string Explain(const std::vector<NDArray>& inputs, int runs) const {
    std::shared_ptr<const Plan> plan;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (last_) plan = last_->plan;
    }
    MXNET_CHECK_KIND(plan, Value) << "[explain] nothing is compiled"
                                  << (dynamic_ ? ": this graph has shapes that depend on values, so it runs without a plan"
                                               : " yet; call it once before");
    return ExplainPlan(*plan, symbol_.ListInputNames(Symbol::kAll), TimePlan(plan, inputs, runs));
  }
  void SetMonitor(Executor::MonitorFn fn, bool monitor_all) override {
    std::lock_guard<std::mutex> lock(mutex_);
    // Hooks of blocks see what operators get and give; variables as such are shown to executors'
    // monitors alone.
    if (fn) {
      const std::vector<std::string> names = symbol_.ListInputNames(Symbol::kAll);
      fn = [fn = std::move(fn), hidden = std::set<std::string>(names.begin(), names.end())](const char* name, const char* op,
                                                                                            const NDArray& array) {
        if (!hidden.count(name)) fn(name, op, array);
      };
    }
    monitor_ = {std::move(fn), monitor_all, /*numbers_outputs=*/true};
    monitored_.store(static_cast<bool>(monitor_), std::memory_order_release);
  }

  int num_inputs() const override { return static_cast<int>(variables_.size()); }
  int num_outputs() const override { return static_cast<int>(symbol_.outputs.size()); }
  void Call(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, bool is_train) override;
  std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) override;

  /* The gradient as a CachedOp: which of [ograds][inputs] it takes, in order, and which input each
   * of its outputs belongs to. */
  struct GradOp {
    std::shared_ptr<CachedOpImpl> op;
    std::vector<int> takes;
    std::vector<int> gives;
  };
  const GradOp& GradientGraph() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (grad_) return *grad_;
    auto made = std::make_unique<GradOp>();
    std::vector<NodeEntry> xs, heads;
    std::vector<int> x_input;
    std::unordered_map<const Node*, int> at;
    for (size_t i = 0; i < symbol_.outputs.size(); ++i) {
      heads.push_back({MakeVariable("_ograd" + std::to_string(i)), 0, 0});
      at[heads.back().node.get()] = static_cast<int>(i);
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      at[variables_[i].get()] = num_outputs() + static_cast<int>(i);
      if (is_aux_[i]) continue;
      xs.push_back({variables_[i], 0, 0});
      x_input.push_back(static_cast<int>(i));
    }
    const std::vector<NodeEntry> grads = mxnet::Gradient(symbol_.outputs, xs, heads);
    mxnet::Symbol s;
    for (size_t k = 0; k < grads.size(); ++k) {
      if (!grads[k]) continue;
      s.outputs.push_back(grads[k]);
      made->gives.push_back(x_input[k]);
    }
    if (!s.outputs.empty()) {
      made->op = std::make_shared<CachedOpImpl>(s, std::map<std::string, std::string>());
      for (const auto& v : made->op->variables_) made->takes.push_back(at.at(v.get()));
    }
    grad_ = std::move(made);
    return *grad_;
  }

 private:
  Monitor CurrentMonitor() const {
    if (!monitored_.load(std::memory_order_acquire)) return {};
    std::lock_guard<std::mutex> lock(mutex_);
    return monitor_;
  }

  void Check(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) const {
    MXNET_CHECK_KIND(inputs.size() == variables_.size(), Value)
        << "[CachedOp] got " << inputs.size() << " inputs; the graph has " << variables_.size();
    MXNET_CHECK_KIND(outputs.size() == symbol_.outputs.size(), Value)
        << "[CachedOp] got arrays for " << outputs.size() << " outputs; the graph has " << symbol_.outputs.size();
    for (size_t i = 0; i < inputs.size(); ++i) {
      MXNET_CHECK_KIND(inputs[i] && !inputs[i]->is_none(), Value)
          << "[CachedOp] input " << variables_[i]->name << " is an empty (none) array";
      if (inputs[i]->deferred_entry && !Imperative::State().deferred_compute) CheckComputed(*inputs[i]);
      MXNET_CHECK_KIND(inputs[i]->ctx().execution() == inputs[0]->ctx().execution(), Value)
          << "[CachedOp] input " << variables_[i]->name << " is on " << inputs[i]->ctx() << "; input " << variables_[0]->name << " is on "
          << inputs[0]->ctx() << "; all must be on one device";
    }
  }

  /*
   * Plan and instance for a call, without a lock when this thread's last call had the same
   * signature: its arena is then still this thread's, so that calls of different threads never wait
   * for one another.
   */
  std::unique_ptr<Warm> Prepare(const Signature& of) {
    std::string key = of.Key();
    // acquire pairs with the release in Keep: what the slot's last user wrote into the instance is
    // seen
    std::unique_ptr<Warm> warm(warm_[CallerNumber() % kSlots].exchange(nullptr, std::memory_order_acquire));
    if (warm && warm->key == key) {
      if (shares_arenas_) TakeBack(warm.get());
      return warm;
    }
    std::shared_ptr<Arena> arena = warm && !shares_arenas_ ? warm->instance->arena() : nullptr;
    if (arena && !(arena->ctx == of.where)) arenas_->Return(std::move(arena));
    warm = std::make_unique<Warm>();
    warm->compiled = Find(key, of);
    warm->instance = Take(warm->compiled.get(), std::move(arena));
    warm->key = std::move(key);
    return warm;
  }
  /* Somebody else may have its arena by now. */
  void TakeBack(Warm* warm) {
    std::shared_ptr<Arena> arena = arenas_->Take(warm->compiled->plan->ctx, warm->instance->arena().get());
    if (arena == warm->instance->arena())
      arena->Reserve(static_alloc_ ? warm->compiled->plan->memory.arena_bytes : 0);
    else
      warm->instance = Take(warm->compiled.get(), std::move(arena));
  }
  void Keep(std::unique_ptr<Warm> warm) {
    if (shares_arenas_) Return(warm->instance);
    Warm* none = nullptr;
    if (warm_[CallerNumber() % kSlots].compare_exchange_strong(none, warm.get(), std::memory_order_release, std::memory_order_relaxed)) {
      warm.release();  // the slot owns it
    } else if (!shares_arenas_) {
      Return(warm->instance);
    }
  }

  std::shared_ptr<Compiled> Find(const std::string& key, const Signature& of) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& slot = compiled_[key];
    if (!slot) {
      PlanRequest request;
      request.symbol = symbol_;
      request.ctx = of.where;
      request.switches = of.switches;
      for (const NDArray* a : of.inputs) request.inputs.push_back(a->type());
      request.is_train = of.is_train;
      request.every_result = of.watched;
      request.forward_bulk = forward_bulk_;
      request.backward_bulk = backward_bulk_;
      if (!of.wanted.empty()) request.grad_req.assign(of.inputs.size(), OpReq::kNull);
      request.memory_budget = memory_budget_;
      request.per_call.assign(of.inputs.size(), 0);
      for (int i : data_inputs_)
        if (i < static_cast<int>(of.inputs.size())) request.per_call[i] = 1;
      for (int i : of.wanted) request.grad_req[i] = OpReq::kWrite;
      if (!of.wanted.empty()) request.grad_storage.assign(of.inputs.size(), StorageType::kUndefined);
      for (int i : of.wanted) request.grad_storage[i] = of.GradStorage(i);
      auto fresh = std::make_shared<Compiled>();
      try {
        fresh->plan = Plan::Compile(request);
      } catch (...) {
        compiled_.erase(key);
        throw;
      }
      slot = std::move(fresh);
      slot->last_use = ++uses_;
      while (compiled_.size() > MostPlans()) Forget();
      return last_ = compiled_.at(key);
    }
    slot->last_use = ++uses_;
    last_ = slot;
    return slot;
  }

  size_t MostPlans() const {
    const size_t folded = FoldedBytes();
    if (folded > kMostFolded) return kAnyFolded;
    return folded > kMostFoldedOfMany || PlanNodes() > kMostPlanNodes ? kAnyPlans : compiled_.size();
  }

  size_t PlanNodes() const {
    size_t nodes = 0;
    for (const auto& c : compiled_) nodes += c.second->plan->nodes.size();
    return nodes;
  }

  size_t FoldedBytes() const {
    size_t bytes = 0;
    for (const auto& c : compiled_) bytes += c.second->plan->constant_bytes;
    return bytes;
  }

  // Drops the plan that was not used for longest. A call that is under way keeps its own.
  void Forget() {
    auto oldest = compiled_.end();
    for (auto it = compiled_.begin(); it != compiled_.end(); ++it)
      if (it->second && (oldest == compiled_.end() || it->second->last_use < oldest->second->last_use)) oldest = it;
    if (oldest != compiled_.end()) compiled_.erase(oldest);
  }

  const mxnet::Symbol symbol_;
  const std::vector<NodePtr> variables_;
  std::vector<bool> is_aux_;
  bool static_alloc_ = false, static_shape_ = false, dynamic_ = false, on_caller_ = false;
  int inline_limit_ = 2, forward_bulk_ = -1, backward_bulk_ = -1, num_ops_ = 0;
  size_t memory_budget_ = 0;
  std::vector<int> data_inputs_;
  const bool shares_arenas_;
  const std::shared_ptr<ArenaPool> arenas_;
  static constexpr int kSlots = 64;  // one per living thread that calls; threads with higher numbers share
  std::array<std::atomic<Warm*>, kSlots> warm_{};
  std::atomic<bool> monitored_{false};

  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::string, std::shared_ptr<Compiled>> compiled_;
  uint64_t uses_ = 0;
  std::shared_ptr<Compiled> last_;
  std::unique_ptr<GradOp> grad_;
  Monitor monitor_;
};

CallState::~CallState() {
  if (!instance) return;
  if (!keep_arena) instance->FreeArenaLater();
  op->Return(std::move(instance));
}

void CallState::Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& grads) {
  const Plan& plan = *compiled->plan;
  if (!instance) {
    // Differentiated before (retain_graph): the activations were used up then, so the forward pass
    // is repeated, with the same random numbers and without touching the auxiliary states again.
    instance = op->Take(compiled.get());
    auto again = std::make_shared<PlanCall>(*forward);
    again->repeats = forward;
    again->random = nullptr;
    again->free_after_forward = false;
    std::vector<char> written(plan.num_slots(), 0);
    for (int s : plan.forward.whole.write_slots) written[s] = 1;
    for (int s = 0; s < plan.num_inputs; ++s)
      if (written[s]) again->arrays[s] = again->arrays[s].Copy(again->arrays[s].ctx());
    instance->Run(again, false);
  }
  auto call = std::make_shared<PlanCall>(*forward);
  for (size_t i = 0; i < ograds.size(); ++i) {
    const TensorType& type = plan.output_types[i];
    MXNET_CHECK_KIND(ograds[i]->shape() == type.shape, Value)
        << "[CachedOp] the gradient of output " << i << " has shape " << ograds[i]->shape() << "; the output has " << type.shape;
    call->arrays[plan.head_slot(static_cast<int>(i))] = AsGradientOf(type.dtype, plan.ctx, *ograds[i]).Detach();
  }
  std::vector<std::pair<NDArray, NDArray*>> cast;  // gradients that the caller wants in another storage than the plan makes
  for (size_t k = 0; k < wanted.size(); ++k) {
    const NDArray& x = forward->arrays[wanted[k]];
    const TensorType type(x.shape(), x.dtype(), plan.grad_types[static_cast<size_t>(wanted[k])].storage);
    if (grads[k]->is_none()) *grads[k] = NDArray::Make(type, plan.ctx, true);
    NDArray& slot = call->arrays[plan.grad_slot(wanted[k])];
    slot = grads[k]->storage_type() == type.storage ? grads[k]->Detach() : NDArray::Make(type, plan.ctx, true);
    if (slot.chunk() != grads[k]->chunk()) cast.emplace_back(slot, grads[k]);
  }
  call->free_after_backward = !keep_arena;
  instance->Run(call, true);
  for (auto& c : cast) CopyFromTo(c.first, *c.second);
  op->Return(std::move(instance));
  instance = nullptr;
}

void CachedOpImpl::Call(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, bool is_train) {
  const ImperativeScope scope;
  Imperative::State().recording = false;
  Imperative::State().training = is_train;
  Invoke(inputs, outputs, nullptr);
}

std::vector<NodeEntry> CachedOpImpl::Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto call = std::static_pointer_cast<CallState>(CompiledGraphOf(*node->attrs).call);
  std::vector<NodeEntry> grads(node->inputs.size());
  auto made = std::make_shared<Node>();
  std::vector<int> gives;
  if (call && !Imperative::State().recording) {
    made->attrs = BackwardOfCallAttrs({shared_from_this(), call});
    made->inputs = ograds;
    gives = call->wanted;
  } else {
    const GradOp& g = GradientGraph();
    if (!g.op) return grads;
    made->attrs = CompiledGraphAttrs({g.op, nullptr});
    for (int t : g.takes) made->inputs.push_back(t < num_outputs() ? ograds[t] : node->inputs[t - num_outputs()]);
    gives = g.gives;
  }
  for (size_t k = 0; k < gives.size(); ++k) grads[gives[k]] = {made, static_cast<uint32_t>(k), 0};
  return grads;
}

}  // namespace

std::shared_ptr<CachedOp> CachedOp::Create(const mxnet::Symbol& symbol, const std::map<std::string, std::string>& flags,
                                           std::shared_ptr<ArenaPool> arenas) {
  return std::make_shared<CachedOpImpl>(symbol, flags, std::move(arenas));
}

namespace {

/* Of a call _CachedOp with a `subgraph`. Hidden attributes (__ctx_group__) are no flags. */
std::shared_ptr<CompiledGraph> MakeOfText(const AttrDict& params) {
  std::map<std::string, std::string> flags;
  for (const auto& kv : params)
    if (kv.first != "subgraph" && kv.first.compare(0, 2, "__") != 0 && !kv.second.empty()) flags.insert(kv);
  return std::make_shared<CachedOpImpl>(SymbolFromJSON(params.at("subgraph")), flags);
}
[[maybe_unused]] const bool can_make = SetMakeCompiledGraph(MakeOfText);

}  // namespace

std::string ExplainCachedOp(const CachedOp& op, const std::vector<NDArray>& inputs, int runs) {
  return dynamic_cast<const CachedOpImpl&>(op).Explain(inputs, runs);
}

}  // namespace mxnet
