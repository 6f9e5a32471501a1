// The long way of an eager operator: inference, allocation, dispatch to a kernel through the
// engine.
#include "imperative/execute.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/threads/borrowed_team.h"
#include "engine/waiting_work.h"
#include "imperative/execute_sparse.h"
#include "imperative/kernel_call.h"
#include "imperative/own_thread.h"
#include "imperative/pushed_call.h"
#include "imperative/tape.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/imperative.h"
#include "mxnet/profiler.h"
#include "ndarray/run.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/async_call.h"
#include "operator/record/call_cost.h"
#include "operator/record/check.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"
#include "operator/runtime/call_states.h"
#include "operator/shared/op_scope.h"

namespace mxnet {
namespace {

// The longest estimate of an operator that is called here by several threads: waking a worker, and
// this thread when it waits for the result, takes tens of microseconds.
constexpr double kMediumNanoseconds = 8 * kInlineNanoseconds;

/* Invocations nest (array functions), hence a stack. */
class CallBuffersLease {
 public:
  CallBuffersLease() {
    auto& s = Stack();
    if (s.depth == s.items.size()) s.items.emplace_back();
    buffers_ = &s.items[s.depth++];
  }
  ~CallBuffersLease() { --Stack().depth; }
  CallBuffers* operator->() const { return buffers_; }
  CallBuffers& operator*() const { return *buffers_; }

 private:
  struct State {
    std::deque<CallBuffers> items;  // deque: growing keeps addresses
    size_t depth = 0;
  };
  static State& Stack() {
    static thread_local State state;
    return state;
  }
  CallBuffers* buffers_;
};

void CheckInputs(const Attrs& attrs, const std::vector<NDArray*>& inputs, Context* ctx, bool* have_ctx) {
  const Op* op = attrs.op;
  const int want = op->NumInputs(attrs);
  MXNET_CHECK_KIND(static_cast<int>(inputs.size()) == want, Value)
      << "[" << op->name << "] got " << inputs.size() << " inputs; it takes " << want;
  for (size_t i = 0; i < inputs.size(); ++i) {
    MXNET_CHECK_KIND(inputs[i] && !inputs[i]->is_none(), Value) << "[" << op->name << "] input " << i << " is an empty (none) array";
    if (inputs[i]->deferred_entry && !Imperative::State().deferred_compute) CheckComputed(*inputs[i]);
    const Context c = inputs[i]->ctx();
    if (op->runs == RunBy::kArrays && attrs.ReadsOnlyShape(static_cast<int>(i))) continue;  // `_backward_copyto`: where the result goes
    if (!*have_ctx) {
      *ctx = ResultContext(c);
      *have_ctx = true;
    } else {
      MXNET_CHECK_KIND(c.execution() == ctx->execution() || op->trait<TakesSeveralDevices>(), Value)
          << "[" << op->name << "] input " << i << " is on " << c << ", another one on " << *ctx
          << "; all must be on one device (copyto moves an array)";
    }
  }
}

bool Overlap(const TBlob& a, const TBlob& b) {
  if (a.sparse || b.sparse) return a.sparse == b.sparse;
  const char *pa = static_cast<char*>(a.dptr), *pb = static_cast<char*>(b.dptr);
  return pa && pb && pa < pb + b.Bytes() && pb < pa + a.Bytes();
}

/* True when output o may be computed on top of input i although they overlap. */
bool MayShare(const Attrs& attrs, int i, int o, const TBlob& in, const TBlob& out) {
  if (in.dptr != out.dptr || in.shape != out.shape || in.dtype != out.dtype || !attrs.op->inplace) return false;
  for (const auto& p : attrs.op->inplace(attrs))
    if (p.first == i && p.second == o) return true;
  return false;
}

/* Operators without inputs say in a parameter where their output is to be. */
Context RequestedContext(const Attrs& attrs) {
  auto it = attrs.dict.find("ctx");
  return it == attrs.dict.end() || it->second.empty() || it->second == "None" ? Context::CPU() : Context::FromString(it->second);
}

bool Contains(const std::vector<int>& v, int x) {
  for (int y : v)
    if (x == y) return true;
  return false;
}

/* Does the result depend on what the array holds, or leave some of it as it is? */
bool ChangesOutput(const NDArray& out, OpReq req, const std::vector<NDArray*>& inputs) {
  if (req == OpReq::kAdd || req == OpReq::kNull || !CoversChunk(out)) return true;
  for (const NDArray* in : inputs)
    if (in->var() == out.var()) return true;
  return false;
}

void AddUnique(std::vector<Var*>* list, Var* v) {
  for (Var* x : *list)
    if (x == v) return;
  list->push_back(v);
}

/* One call, step by step. */
class Execution {
 public:
  Execution(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
            const std::vector<OpReq>* reqs, Context ctx, bool is_train, size_t read)
      : attrs_(attrs),
        op_(attrs->op),
        inputs_(inputs),
        outputs_(outputs),
        reqs_(reqs),
        read_(read < outputs.size() && !op_->trait<HonoursNullOutputs>() ? outputs.size() : read),
        ctx_(ctx),
        is_train_(is_train) {
    s_->Clear();
  }

  void Run(bool shapes_only) {
    Infer();
    if (async_ && !shapes_only) FindState();
    MakeOutputs(shapes_only);
    if (shapes_only) return;
    const Kernel* kernel = async_ ? nullptr : FindKernel();
    DescribeInputs();
    DescribeOutputs();
    CollectVariables();
    const bool here = !async_ && !own_thread_;
    const CallCost cost = here ? CostOf(*attrs_, s_->in, s_->out) : CallCost();
    const bool small = here && IsSmall(cost), medium = here && !small && IsMedium(cost);
    if (!reqs_ && read_ >= outputs_.size() && small && temporaries_.empty() &&
        (!fresh_ || !inputs_.empty() || ctx_ == RequestedContext(*attrs_)))
      RememberFresh(attrs_, *s_, kernel, ctx_, !fresh_);
    Engine* engine = Engine::Get();
    const bool later = fresh_ && WaitsForItsTurn(OutputBytes());
    const bool on_cpu = here && !ctx_.execution().is_gpu();
    const bool decided = on_cpu && !later && BelongsHere(cost);
    const bool called = (decided || (on_cpu && !later && TakesSparse())) && TryCallHere(engine, *kernel, decided);
    if (on_cpu && !small && !medium && !called) GiveBackBorrowedTeam();  // a worker is about to want one
    if (!called) Push(engine, kernel);
    FinishTemporaries();
  }

 private:
  OpReq Requested(size_t output) const { return reqs_ ? (*reqs_)[output] : output < read_ ? OpReq::kWrite : OpReq::kNull; }

  /* What output o goes through; null: nothing. */
  const NDArray* TemporaryOf(size_t o) const {
    for (const auto& t : temporaries_)
      if (t.second == o) return &t.first;
    return nullptr;
  }
  const NDArray& Written(size_t o) const {
    const NDArray* temporary = TemporaryOf(o);
    return temporary ? *temporary : *outputs_[o];
  }

  // Shapes and dtypes. What the caller gave as output takes part: `_zeros(out=x)` needs no shape
  // argument.
  void Infer() {
    const auto describe = [](const std::vector<NDArray*>& arrays, TensorTypes* types) {
      types->resize(arrays.size());
      for (size_t i = 0; i < arrays.size(); ++i) (*types)[i] = arrays[i]->type();
    };
    describe(inputs_, &s_->in_types);
    describe(outputs_, &s_->out_types);
    MXNET_CHECK(op_->infers_shapes()) << "[" << op_->name << "] has no shape inference";
    if (!InferCall(*attrs_, switches_, &s_->in_types, &s_->out_types)) {
      for (const TensorTypes* types : {&s_->in_types, &s_->out_types})
        for (const TensorType& t : *types)
          MXNET_CHECK_KIND(t.shape.known(), Value)
              << "[" << op_->name << "] output shape cannot be told from the inputs; give `shape` or `out`";
      MXNET_THROW(Type) << "[" << op_->name << "] output dtype cannot be told from the inputs; give `dtype` or `out`";
    }
    CheckDType(*attrs_, s_->in_types, s_->out_types);
  }

  void MakeOutputs(bool shapes_only) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i]->is_none()) {
        *outputs_[i] = NDArray::Make(s_->out_types[i], ctx_, true);
      } else {
        fresh_ = false;
        MXNET_CHECK_KIND(outputs_[i]->ctx().execution() == ctx_.execution(), Value)
            << "[" << op_->name << "] output " << i << " is on " << outputs_[i]->ctx() << ", the inputs on " << ctx_;
      }
      if (outputs_[i]->chunk()->bytes >= kRefusable && !shapes_only && Requested(i) != OpReq::kNull) outputs_[i]->chunk()->Allocate();
    }
  }

  const Kernel* FindKernel() const {
    const Kernel* kernel = op_->KernelFor(ctx_.dev_type);
    if (kernel == nullptr) {
      Storage::Get()->Stats(ctx_);  // throws when this build or machine has no such device: the better reason
      MXNET_THROW(Generic) << "[" << op_->name << "] has no GPU kernel in this build; accepted: cpu contexts";
    }
    return kernel;
  }

  void DescribeInputs() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      bool written = false;  // overlaps are told by addresses
      for (NDArray* o : outputs_) written = written || inputs_[i]->chunk() == o->chunk();
      s_->in.push_back(written ? InputBlob(*attrs_, i, *inputs_[i]) : PendingBlob(*inputs_[i]));
    }
  }

  // Outputs that overlap an input where the operator cannot work in place, and sums that the kernel
  // cannot do itself, go through temporaries.
  void DescribeOutputs() {
    for (size_t o = 0; o < outputs_.size(); ++o) {
      OpReq req = Requested(o);
      TBlob blob = PendingBlob(*outputs_[o]);
      const bool overlaps = req != OpReq::kNull && SettleOverlaps(o, blob, &req);
      if (overlaps || (Requested(o) == OpReq::kAdd && !op_->supports_add)) {
        temporaries_.emplace_back(NDArray::Make(outputs_[o]->type(), ctx_, true), o);
        if (temporaries_.back().first.chunk()->bytes >= kRefusable) temporaries_.back().first.chunk()->Allocate();
        blob = PendingBlob(temporaries_.back().first);
        req = OpReq::kWrite;
      }
      s_->out.push_back(std::move(blob));
      s_->req.push_back(req);
    }
  }

  // Whether output o lies on an input that it must not be computed over; where it may be, `req`
  // says so.
  bool SettleOverlaps(size_t o, const TBlob& blob, OpReq* req) const {
    bool overlaps = false;
    for (size_t i = 0; i < s_->in.size(); ++i) {
      if (inputs_[i]->chunk() != outputs_[o]->chunk() || !Overlap(s_->in[i], blob)) continue;
      if (MayShare(*attrs_, static_cast<int>(i), static_cast<int>(o), s_->in[i], blob)) {
        if (*req == OpReq::kWrite) *req = OpReq::kWriteInplace;
      } else if (op_->mutate_inputs && Contains(op_->MutateInputs(*attrs_), static_cast<int>(i))) {
        continue;  // an update operator: the record says that this input is written
      } else {
        overlaps = true;
      }
    }
    return overlaps;
  }

  // First what is changed rather than replaced: inputs that the operator updates or that it is
  // computed on top of, sums, parts of larger arrays.
  void CollectVariables() {
    for (int m : op_->MutateInputs(*attrs_)) AddUnique(&s_->writes, inputs_[m]->var());
    if (!fresh_) {
      for (size_t o = 0; o < outputs_.size(); ++o)
        if (!TemporaryOf(o) && ChangesOutput(*outputs_[o], s_->req[o], inputs_)) AddUnique(&s_->writes, outputs_[o]->var());
    }
    num_kept_ = static_cast<int>(s_->writes.size());
    for (size_t o = 0; o < outputs_.size(); ++o)
      if (!TemporaryOf(o)) AddUnique(&s_->writes, outputs_[o]->var());
    for (auto& t : temporaries_) AddUnique(&s_->writes, t.first.var());
    if (op_->uses_random) {
      Imperative::RandomResource* r = Imperative::Random(ctx_.execution());
      random_ = &r->state;
      if (runs_ == RunBy::kGraphKernel)
        TakeRandom(r);
      else
        AddUnique(&s_->writes, r->var);
    }
    for (NDArray* in : inputs_) {
      Var* v = in->var();
      bool written = false;
      for (Var* w : s_->writes) written |= w == v;
      if (!written) AddUnique(&s_->reads, v);
    }
  }

  /* Random numbers of its own: what it waits for may want the device's. */
  void TakeRandom(Imperative::RandomResource* r) {
    own_random_ = std::make_shared<RandomState>();
    random_ = own_random_.get();
    random_taken_ = NDArray(Shape{1}, Context::CPU(), kUint8, true);  // orders the two operations; has no memory
    Engine::Get()->PushSync([own = own_random_, r](RunContext) { *own = SplitRandom(&r->state); }, ctx_.execution(), {r->var},
                            {r->var, random_taken_.var()}, FnProperty::kNormal, 0, "split_random");
    AddUnique(&s_->reads, random_taken_.var());
  }

  // A rough cost decides whether a hand-over pays: what it costs in time, and in caches that do not
  // hold what the caller's next operator reads. Larger ones want threads: those of a worker's team
  // (BorrowedTeam).
  static bool IsSmall(const CallCost& cost) { return cost.largest < Env::Get().cpu_parallel_size && cost.NsInCache() < kInlineNanoseconds; }

  static bool IsMedium(const CallCost& cost) { return cost.NsInCache() < kMediumNanoseconds; }

  /* Where no other thread has a team, this one's does as well as a worker's. */
  static bool BelongsHere(const CallCost& cost) { return IsSmall(cost) || (IsMedium(cost) && !BorrowedTeam().refused()); }

  size_t OutputBytes() const {
    size_t bytes = 0;
    for (const TBlob& b : s_->out) bytes += b.sparse ? 0 : b.Bytes();
    return bytes;
  }

  bool TakesSparse() const {
    const auto sparse = [](const TBlob& b) { return b.sparse != nullptr; };
    return std::any_of(s_->in.begin(), s_->in.end(), sparse) || std::any_of(s_->out.begin(), s_->out.end(), sparse);
  }

  /* What sparse arrays store can be told while their variables are this thread's: a matrix of
   * billions of elements may store a few. */
  bool TryCallHere(Engine* engine, const Kernel& kernel, bool decided) {
    const int reads = static_cast<int>(s_->reads.size()), writes = static_cast<int>(s_->writes.size());
    if (!engine->TryAcquire(s_->reads.data(), reads, s_->writes.data(), writes)) return false;
    if (!decided && !BelongsHere(CostOf(*attrs_, s_->in, s_->out, true))) {
      engine->Release(s_->reads.data(), reads, s_->writes.data(), writes);
      return false;
    }
    CallHere(engine, kernel);
    return true;
  }

  /* The engine's variables are this thread's. */
  void CallHere(Engine* engine, const Kernel& kernel) {
    std::exception_ptr error;
    const BorrowedTeam team;
    try {
      RunContext run;
      run.ctx = ctx_.execution();
      for (size_t i = 0; i < inputs_.size(); ++i) s_->in[i] = s_->in[i].dptr ? s_->in[i] : InputBlob(*attrs_, i, *inputs_[i]);
      for (size_t o = 0; o < outputs_.size(); ++o)
        if (!s_->out[o].dptr && s_->req[o] != OpReq::kNull) s_->out[o] = Written(o).blob();
      CallKernel(kernel, *attrs_, s_->in, s_->req, s_->out, run, is_train_, random_, false,
                 attrs_->subgraphs.empty() ? nullptr : &switches_);
    } catch (...) {
      error = std::current_exception();
    }
    engine::ReleaseChanged(engine, s_->reads.data(), static_cast<int>(s_->reads.size()), s_->writes.data(),
                           static_cast<int>(s_->writes.size()), num_kept_, error, op_->name.c_str());
  }

  /* What the operator's call needs when its turn has come. */
  PushedCallPtr MakeCall(const Kernel* kernel) {
    const PushedCallPtr call(PushedCall::Take());
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (!s_->in[i].dptr && !attrs_->ReadsOnlyShape(static_cast<int>(i)))
        call->late.push_back({false, i, inputs_[i]->chunk(), inputs_[i]->byte_offset()});
    for (size_t o = 0; o < outputs_.size(); ++o)
      if (!s_->out[o].dptr && s_->req[o] != OpReq::kNull) call->late.push_back({true, o, Written(o).chunk(), Written(o).byte_offset()});
    call->attrs = attrs_;
    call->kernel = kernel;
    call->in.assign(s_->in.begin(), s_->in.end());
    call->out.assign(s_->out.begin(), s_->out.end());
    call->req.assign(s_->req.begin(), s_->req.end());
    call->is_train = is_train_;
    call->switches = switches_;
    call->random = random_;
    call->memory_scope = profiler::MemoryScope::Scope();
    return call;
  }

  static void AllocateLate(const PushedCallPtr& call, const RunContext& run) {
    for (const Late& l : call->late) {
      AllocateOn(l.chunk, run);
      (l.output ? call->out : call->in)[l.index].dptr = static_cast<char*>(l.chunk->handle.dptr) + l.offset;
    }
  }

  void Push(Engine* engine, const Kernel* kernel) {
    const PushedCallPtr call = MakeCall(kernel);
    s_->reads.insert(s_->reads.end(), s_->writes.begin(), s_->writes.begin() + num_kept_);
    if (async_) return PushStart(engine, call);
    auto fn = [call, waits = own_thread_, random = own_random_](RunContext run) {
      profiler::MemoryScope memory(profiler::NameOf(*call->attrs), call->memory_scope);
      AllocateLate(call, run);
      CallKernel(*call->kernel, *call->attrs, call->in, call->req, call->out, run, call->is_train, call->random, waits,
                 call->attrs->subgraphs.empty() ? nullptr : &call->switches);
    };
    if (own_thread_) return PushOnOwnThread(std::move(fn), ctx_.execution(), s_->reads, s_->writes, op_->name.c_str());
    engine->PushSync(std::move(fn), ctx_.execution(), s_->reads, s_->writes, FnProperty::kNormal, 0, op_->name.c_str());
  }

  void PushStart(Engine* engine, const PushedCallPtr& call) {
    auto fn = [call, state = state_, start = async_->start](RunContext run, OnComplete done) {
      profiler::MemoryScope memory(profiler::NameOf(*call->attrs), call->memory_scope);
      AllocateLate(call, run);
      KernelArgs args;
      args.attrs = call->attrs.get();
      args.in = call->in;
      args.req = call->req;
      args.out = call->out;
      args.run = run;
      args.is_train = call->is_train;
      start(args, state, done);
    };
    const Context ctx = ctx_.execution();
    if (!ctx.is_gpu()) return engine::PushStarting(engine, std::move(fn), s_->reads, s_->writes, 0, op_->name.c_str());
    engine->PushAsync(std::move(fn), ctx, s_->reads, s_->writes, FnProperty::kAsync, 0, op_->name.c_str());
  }

  /* Of an operator that others end: one for this call, or the one that the operator made whose
   * gradient this is. */
  void FindState() {
    std::shared_ptr<OpState>* slot = async_->state_of_call(*attrs_);
    if (async_->make_state) *slot = async_->make_state(*attrs_, ctx_, s_->in_types);
    MXNET_CHECK(*slot) << "[" << op_->name << "] the operator whose gradient this is has not run";
    state_ = *slot;
  }

  void FinishTemporaries() {
    for (auto& t : temporaries_) {
      if (Requested(t.second) == OpReq::kAdd)
        Execute(graph_ops::AddGradients(), {outputs_[t.second], &t.first}, {outputs_[t.second]}, nullptr, nullptr, is_train_);
      else
        CopyFromTo(t.first, *outputs_[t.second]);
    }
  }

  const AttrsPtr& attrs_;
  const Op* const op_;
  const std::vector<NDArray*>&inputs_, &outputs_;
  const std::vector<OpReq>* const reqs_;
  const size_t read_;
  const Context ctx_;
  const bool is_train_;
  const InferSwitches switches_ = InferSwitches::OfThread();
  const RunBy runs_ = op_->RunsBy(*attrs_);
  const bool own_thread_ = runs_ == RunBy::kGraphKernel || (runs_ == RunBy::kMeetingKernel && !ctx_.is_gpu());
  CallBuffersLease s_;
  bool fresh_ = true;  // all outputs are made by this call
  std::vector<std::pair<NDArray, size_t>> temporaries_;
  int num_kept_ = 0;  // the first of s_->writes are changed rather than replaced
  RandomState* random_ = nullptr;
  std::shared_ptr<RandomState> own_random_;  // of one that waits for operators in graphs
  NDArray random_taken_;
  const AsyncCall* const async_ = runs_ == RunBy::kAsync ? op_->trait<AsyncCall>() : nullptr;
  std::shared_ptr<OpState> state_;  // of an asynchronous one
};

}  // namespace

void Execute(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
             const std::vector<OpReq>* reqs, const Context* given_ctx, bool is_train, bool shapes_only, size_t read) {
  const Op* op = attrs->op;
  Context ctx;
  bool have_ctx = false;
  CheckInputs(*attrs, inputs, &ctx, &have_ctx);
  if (!have_ctx) ctx = given_ctx ? *given_ctx : !outputs.empty() && !outputs[0]->is_none() ? outputs[0]->ctx() : RequestedContext(*attrs);
  if (ctx.is_gpu() && inputs.empty()) Storage::Get()->Stats(ctx);  // throws where there is no such device; inputs would not be there either
  MXNET_CHECK_KIND(static_cast<int>(outputs.size()) == op->NumOutputs(*attrs), Value)
      << "[" << op->name << "] got room for " << outputs.size() << " outputs; it makes " << op->NumOutputs(*attrs);
  profiler::MemoryScope memory(profiler::NameOf(*attrs));
  if (__builtin_expect(MayBeSparse(*op, inputs, outputs), 0) &&
      ExecuteSparse(attrs, inputs, outputs, reqs, ctx, is_train, shapes_only, read))
    return;
  if (op->runs == RunBy::kArrays && !shapes_only) {
    profiler::NameScope profiled(profiler::NameScope::kWork, op->name.c_str());
    op->array_fn(*attrs, inputs, outputs, is_train);
    return;
  }
  ExecuteKernel(attrs, inputs, outputs, reqs, ctx, is_train, shapes_only, read);
}

void ExecuteKernel(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                   const std::vector<OpReq>* reqs, Context ctx, bool is_train, bool shapes_only, size_t read) {
  Execution(attrs, inputs, outputs, reqs, ctx, is_train, read).Run(shapes_only);
}

}  // namespace mxnet
