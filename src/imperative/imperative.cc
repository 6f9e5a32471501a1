// Eager invocation: inference, allocation, dispatch to a kernel through the engine.
#include "mxnet/imperative.h"

#include <pthread.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/borrowed_team.h"
#include "base/float_mode.h"
#include "base/fork_guard.h"
#include "imperative/pushed_call.h"
#include "imperative/tape.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"
#include "ndarray/run.h"
#include "operator/check.h"
#include "operator/graph_operators.h"
#include "operator/runtime/array_call.h"
#include "operator/traits_graph.h"
#include "storage/device_memory.h"

namespace mxnet {

ImperativeState& Imperative::State() {
  static thread_local ImperativeState state;
  return state;
}

AttrsPtr Imperative::GetAttrs(const Op* op, int num_params, const char* const* keys, const char* const* values) {
  constexpr size_t kMaxEntries = 4096, kMaxKey = 1 << 14;  // programs with ever-changing, or long, arguments must not grow without bound
  static thread_local std::unordered_map<std::string, AttrsPtr> cache;
  static thread_local std::string key;
  key.assign(reinterpret_cast<const char*>(&op), sizeof(op));
  for (int i = 0; i < num_params; ++i) {
    key.append(keys[i]);
    key.push_back('\0');
    key.append(values[i]);
    key.push_back('\0');
  }
  auto it = cache.find(key);
  if (it != cache.end()) return it->second;
  AttrDict dict;
  for (int i = 0; i < num_params; ++i) dict[keys[i]] = values[i];
  if (!op->parse)
    for (const auto& kv : dict)
      MXNET_CHECK_KIND(kv.first.compare(0, 2, "__") == 0, Value)
          << "[" << op->name << "] unknown parameter " << kv.first << "='" << kv.second << "'; this operator takes no parameters";
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  if (key.size() > kMaxKey) return attrs;
  if (cache.size() >= kMaxEntries) cache.clear();
  cache.emplace(key, attrs);
  return attrs;
}

namespace {

/* Buffers of one invocation, reused so that a small operator allocates nothing here. Invocations
 * nest (array functions), hence a stack. */
struct CallBuffers {
  ShapeVector in_shapes, out_shapes;
  std::vector<int> in_types, out_types;
  std::vector<TBlob> in, out;
  std::vector<OpReq> req;
  std::vector<Var*> reads, writes;
  void Clear() {
    in.clear();
    out.clear();
    req.clear();
    reads.clear();
    writes.clear();
  }
};

class CallBuffersLease {
 public:
  CallBuffersLease() {
    auto& s = Stack();
    if (s.depth == s.items.size()) s.items.emplace_back();
    buffers_ = &s.items[s.depth++];
  }
  ~CallBuffersLease() { --Stack().depth; }
  CallBuffers* operator->() { return buffers_; }
  CallBuffers* get() { return buffers_; }

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

/*
 * MXNET_CPU_TEMP_COPY and MXNET_GPU_TEMP_COPY: how many operators hold workspace memory on the CPU,
 * or on one GPU, at once; the next one waits. A kernel that is called from inside another one
 * shares its turn.
 */
class WorkspaceTurn {
 public:
  ~WorkspaceTurn() {
    if (!taken_ || --Depth() > 0) return;
    {
      std::lock_guard<std::mutex> lock(Shared().mutex);
      --Shared().holders[place_];
    }
    Shared().free.notify_all();  // those that wait may wait for different devices
  }
  void Take(Context ctx) {
    if (taken_) return;
    taken_ = true;
    if (Depth()++ > 0) return;
    place_ = ctx.is_gpu() ? 1 + ctx.dev_id % kGpus : 0;
    const int most = ctx.is_gpu() ? Env::Get().gpu_temp_copy : Env::Get().cpu_temp_copy;
    std::unique_lock<std::mutex> lock(Shared().mutex);
    Shared().free.wait(lock, [&] { return Shared().holders[place_] < most; });
    ++Shared().holders[place_];
  }

 private:
  static constexpr int kGpus = 32;
  struct State {
    std::mutex mutex;
    std::condition_variable free;
    int holders[1 + kGpus] = {};
  };
  static State& Shared() {
    static State* state = [] {
      pthread_atfork(nullptr, nullptr, [] { new (&Shared()) State; });  // the holders are not in the child
      return new State;                                                 // used until the very end of the process
    }();
    return *state;
  }
  static int& Depth() {
    static thread_local int depth = 0;
    return depth;
  }
  bool taken_ = false;
  int place_ = 0;
};

/* Workspace memory of a kernel call, given back when the call is over; on a GPU behind what is on
 * the stream then. */
class Workspace {
 public:
  explicit Workspace(const RunContext& run) : run_(run) {}
  ~Workspace() {
    for (const auto& h : blocks_) storage::FreeOnStream(h, run_);
  }
  void* Get(size_t bytes) {
    turn_.Take(run_.ctx);
    blocks_.push_back(storage::AllocOnStream(bytes, run_));
    return blocks_.back().dptr;
  }

 private:
  const RunContext& run_;
  WorkspaceTurn turn_;  // given back after the blocks
  std::vector<StorageHandle> blocks_;
};

void CallKernel(const Kernel& kernel, const Attrs& attrs, Span<const TBlob> in, Span<const OpReq> req, Span<const TBlob> out,
                RunContext run, bool is_train, RandomState* random) {
  FloatModeScope float_mode;
  Workspace workspace(run);
  std::shared_ptr<OpState> state;
  KernelArgs args;
  args.attrs = &attrs;
  args.in = in;
  args.req = req;
  args.out = out;
  args.run = run;
  args.is_train = is_train;
  args.random = random;
  if (attrs.op->stateful) args.state = &state;
  Workspace* w = &workspace;
  args.workspace = [w](size_t bytes) { return w->Get(bytes); };
  profiler::OpScope profiled(attrs, in, out, run);
  kernel(args);
}

/*
 * What inference said for recent calls of this thread: eager loops ask the same question again and
 * again. Direct-mapped; an entry keeps its Attrs alive, so that a pointer is never reused for other
 * attributes.
 */
struct Inferred {
  static constexpr int kMaxIn = 3, kMaxOut = 2;
  AttrsPtr attrs;
  int num_in = 0, num_out = 0;
  int in_types[kMaxIn], out_types[kMaxOut];
  Shape in_shapes[kMaxIn], out_shapes[kMaxOut];
  const Kernel* kernel = nullptr;

  static Inferred* Slot(const Attrs* attrs, const Shape& first) {
    constexpr size_t kSlots = 64;
    static thread_local std::unique_ptr<Inferred[]> slots;
    if (!slots) slots.reset(new Inferred[kSlots]);
    const size_t h = reinterpret_cast<size_t>(attrs) / 16 +
                     (first.ndim() > 0 ? static_cast<size_t>(first[0]) * 7 + static_cast<size_t>(first[first.ndim() - 1]) : 0);
    return &slots[(h ^ h >> 6) % kSlots];
  }
  bool Matches(const AttrsPtr& a, const std::vector<NDArray*>& in, size_t outputs) const {
    if (attrs.get() != a.get() || static_cast<size_t>(num_in) != in.size() || static_cast<size_t>(num_out) != outputs) return false;
    for (int i = 0; i < num_in; ++i)
      if (in_types[i] != in[i]->dtype() || in_shapes[i] != in[i]->shape()) return false;
    return true;
  }
};

/* An array without giving it memory if it has none yet: Late does that when the operator's turn
 * comes. */
TBlob PendingBlob(const NDArray& a) {
  if (!__atomic_load_n(&a.chunk()->delayed, __ATOMIC_ACQUIRE)) return a.data();
  TBlob b;
  b.shape = a.shape();
  b.dtype = a.dtype();
  b.ctx = a.ctx();
  return b;
}

/* What the kernel sees of an input. One that it looks at for its shape alone gets no memory if it
 * has none yet (placeholders of the tape). */
TBlob InputBlob(const Op* op, size_t i, const NDArray& a) { return op->ReadsOnlyShape(static_cast<int>(i)) ? PendingBlob(a) : a.data(); }

constexpr size_t kRefusable =
    size_t{4} << 30;  // bytes of one array that may well be more than there is: asked for at once, so that the call itself fails

/* A few blobs on the stack, made one by one: clearing room for the most there may be costs more
 * than a small operator. */
template <int kMax>
class FewBlobs {
 public:
  ~FewBlobs() {
    for (int i = 0; i < count_; ++i) at(i)->~TBlob();
  }
  void Add(TBlob&& blob) {
    new (at(count_)) TBlob(std::move(blob));
    ++count_;
  }
  Span<const TBlob> span() { return Span<const TBlob>(at(0), count_); }

 private:
  TBlob* at(int i) { return reinterpret_cast<TBlob*>(room_) + i; }
  alignas(TBlob) unsigned char room_[kMax * sizeof(TBlob)];
  int count_ = 0;
};

/*
 * The short way for operators that only read their inputs and make fresh outputs, when the answer
 * of inference is remembered, the work is small and the inputs are idle. Nobody else knows the
 * outputs yet, so only the inputs are taken from the engine. Returns false when the long way is
 * needed.
 */
bool ExecuteFresh(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, bool is_train);

void CheckInputs(const Attrs& attrs, const std::vector<NDArray*>& inputs, Context* ctx, bool* have_ctx) {
  const Op* op = attrs.op;
  const int want = op->NumInputs(attrs);
  MXNET_CHECK_KIND(static_cast<int>(inputs.size()) == want, Value)
      << "[" << op->name << "] got " << inputs.size() << " inputs; it takes " << want;
  for (size_t i = 0; i < inputs.size(); ++i) {
    MXNET_CHECK_KIND(inputs[i] && !inputs[i]->is_none(), Value) << "[" << op->name << "] input " << i << " is an empty (none) array";
    if (inputs[i]->deferred_entry && !Imperative::State().deferred_compute) CheckComputed(*inputs[i]);
    const Context c = inputs[i]->ctx();
    if (op->array_fn && op->ReadsOnlyShape(static_cast<int>(i))) continue;  // `_backward_copyto`: where the result goes
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

bool ThroughTemporary(const std::vector<std::pair<NDArray, size_t>>& temporaries, size_t output) {
  for (const auto& t : temporaries)
    if (t.second == output) return true;
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

}  // namespace

namespace {

bool ExecuteFresh(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, bool is_train) {
  if (inputs.empty() || inputs.size() > Inferred::kMaxIn || outputs.size() > Inferred::kMaxOut) return false;
  for (NDArray* a : inputs)
    if (!a || a->is_none() || a->deferred_entry) return false;
  const Inferred* known = Inferred::Slot(attrs.get(), inputs[0]->shape());
  if (!known->Matches(attrs, inputs, outputs.size())) return false;
  const Context source = inputs[0]->ctx(), ctx = ResultContext(source);
  if (source.is_gpu()) return false;  // remembered from a call on the CPU; this thread has no stream
  Var* reads[Inferred::kMaxIn];
  int num_reads = 0;
  for (NDArray* a : inputs) {
    if (a->ctx() != source) return false;
    bool seen = false;
    for (int k = 0; k < num_reads; ++k) seen |= reads[k] == a->var();
    if (!seen) reads[num_reads++] = a->var();
  }
  for (NDArray* o : outputs)
    if (!o->is_none()) return false;
  Engine* engine = Engine::Get();
  if (!engine->TryAcquire(reads, num_reads, nullptr, 0)) return false;
  profiler::MemoryScope memory(*attrs);
  FewBlobs<Inferred::kMaxIn> in;
  FewBlobs<Inferred::kMaxOut> out;
  static const OpReq write[Inferred::kMaxOut] = {OpReq::kWrite, OpReq::kWrite};
  std::exception_ptr error;
  try {
    for (size_t i = 0; i < inputs.size(); ++i) in.Add(InputBlob(attrs->op, i, *inputs[i]));
    for (size_t o = 0; o < outputs.size(); ++o) {
      outputs[o]->Init(known->out_shapes[o], ctx, known->out_types[o]);
      out.Add(outputs[o]->data());
    }
  } catch (...) {
    engine->Release(reads, num_reads, nullptr, 0);
    throw;
  }
  RunContext run;
  run.ctx = ctx.execution();
  const BorrowedTeam team;
  try {
    CallKernel(*known->kernel, *attrs, in.span(), Span<const OpReq>(write, known->num_out), out.span(), run, is_train, nullptr);
  } catch (...) {
    error = std::current_exception();
  }
  engine->Release(reads, num_reads, nullptr, 0);
  if (__builtin_expect(error != nullptr, 0)) {
    Var* writes[Inferred::kMaxOut];
    for (size_t o = 0; o < outputs.size(); ++o) writes[o] = outputs[o]->var();
    engine->TryAcquire(nullptr, 0, writes, static_cast<int>(outputs.size()));
    engine->Release(nullptr, 0, writes, static_cast<int>(outputs.size()), error, attrs->op->name.c_str());
  }
  return true;
}

void Remember(const AttrsPtr& attrs, const CallBuffers& s, const Kernel* kernel, Context ctx) {
  const Op* op = attrs->op;
  if (ctx.is_gpu() || op->uses_random || op->mutate_inputs || s.in.empty() || s.in.size() > Inferred::kMaxIn ||
      s.out.size() > Inferred::kMaxOut)
    return;
  Inferred* slot = Inferred::Slot(attrs.get(), s.in[0].shape);
  slot->attrs = attrs;
  slot->num_in = static_cast<int>(s.in.size());
  slot->num_out = static_cast<int>(s.out.size());
  for (int i = 0; i < slot->num_in; ++i) {
    slot->in_types[i] = s.in[i].dtype;
    slot->in_shapes[i] = s.in[i].shape;
  }
  for (int i = 0; i < slot->num_out; ++i) {
    slot->out_types[i] = s.out[i].dtype;
    slot->out_shapes[i] = s.out[i].shape;
  }
  slot->kernel = kernel;
}

}  // namespace

/* Everything but recording. `outputs` are allocated here when none. `shapes_only`: they get shapes,
 * dtypes and a device, and no values. */
static void Execute(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                    const std::vector<OpReq>* reqs, const Context* given_ctx, bool is_train, bool shapes_only = false) {
  const Op* op = attrs->op;
  Context ctx;
  bool have_ctx = false;
  CheckInputs(*attrs, inputs, &ctx, &have_ctx);
  if (!have_ctx) ctx = given_ctx ? *given_ctx : !outputs.empty() && !outputs[0]->is_none() ? outputs[0]->ctx() : RequestedContext(*attrs);
  if (ctx.is_gpu() && inputs.empty()) Storage::Get()->Stats(ctx);  // throws where there is no such device; inputs would not be there either
  const size_t num_out = outputs.size();
  MXNET_CHECK_KIND(static_cast<int>(num_out) == op->NumOutputs(*attrs), Value)
      << "[" << op->name << "] got room for " << num_out << " outputs; it makes " << op->NumOutputs(*attrs);
  profiler::MemoryScope memory(*attrs);
  if (op->array_fn && !shapes_only) {
    profiler::NameScope profiled(profiler::NameScope::kWork, op->name.c_str());
    op->array_fn(*attrs, inputs, outputs, is_train);
    return;
  }

  CallBuffersLease s;
  s->Clear();
  // Shapes and dtypes. What the caller gave as output takes part: `_zeros(out=x)` needs no shape
  // argument.
  s->in_shapes.resize(inputs.size());
  s->in_types.resize(inputs.size());
  s->out_shapes.resize(num_out);
  s->out_types.resize(num_out);
  for (size_t i = 0; i < inputs.size(); ++i) {
    s->in_shapes[i] = inputs[i]->shape();
    s->in_types[i] = inputs[i]->dtype();
  }
  for (size_t i = 0; i < num_out; ++i) {
    const bool none = outputs[i]->is_none();
    s->out_shapes[i] = none ? Shape() : outputs[i]->shape();
    s->out_types[i] = none ? int{kDTypeUnknown} : outputs[i]->dtype();
  }
  MXNET_CHECK(op->infer_shape) << "[" << op->name << "] has no shape inference";
  bool known = op->infer_shape(*attrs, &s->in_shapes, &s->out_shapes);
  MXNET_CHECK_KIND(known, Value) << "[" << op->name << "] output shape cannot be told from the inputs; give `shape` or `out`";
  known = op->infer_type ? op->infer_type(*attrs, &s->in_types, &s->out_types) : SameType(*attrs, &s->in_types, &s->out_types);
  MXNET_CHECK_KIND(known, Type) << "[" << op->name << "] output dtype cannot be told from the inputs; give `dtype` or `out`";
  CheckDType(*attrs, s->in_types, s->out_types);

  bool fresh = true;
  for (size_t i = 0; i < num_out; ++i) {
    if (outputs[i]->is_none()) {
      // Memory comes in the operator's turn: a caller who runs ahead would hold that of all results
      // which nobody wants any more.
      *outputs[i] = NDArray(s->out_shapes[i], ctx, s->out_types[i], true);
    } else {
      fresh = false;
      MXNET_CHECK_KIND(outputs[i]->ctx().execution() == ctx.execution(), Value)
          << "[" << op->name << "] output " << i << " is on " << outputs[i]->ctx() << ", the inputs on " << ctx;
    }
    if (outputs[i]->chunk()->bytes >= kRefusable && !shapes_only) outputs[i]->chunk()->Allocate();
  }
  if (shapes_only) return;

  const Kernel* kernel = op->KernelFor(ctx.dev_type);
  if (kernel == nullptr) {
    Storage::Get()->Stats(ctx);  // throws when this build or machine has no such device: the better reason
    MXNET_THROW(Generic) << "[" << op->name << "] has no GPU kernel in this build; accepted: cpu contexts";
  }

  int64_t work = 0, largest = 0;  // elements
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool written = false;  // overlaps are told by addresses
    for (size_t o = 0; o < num_out; ++o) written = written || inputs[i]->chunk() == outputs[o]->chunk();
    s->in.push_back(written ? InputBlob(op, i, *inputs[i]) : PendingBlob(*inputs[i]));
    work += s->in.back().Size();
    largest = std::max(largest, s->in.back().Size());
  }
  // Outputs that overlap an input where the operator cannot work in place, and sums that the kernel
  // cannot do itself, go through temporaries.
  std::vector<std::pair<NDArray, size_t>> temporaries;
  for (size_t o = 0; o < num_out; ++o) {
    OpReq req = reqs ? (*reqs)[o] : OpReq::kWrite;
    TBlob blob = PendingBlob(*outputs[o]);
    work += blob.Size();
    largest = std::max(largest, blob.Size());
    bool through_temporary = req == OpReq::kAdd && !op->supports_add;
    if (req != OpReq::kNull) {
      for (size_t i = 0; i < s->in.size(); ++i) {
        if (inputs[i]->chunk() != outputs[o]->chunk() || !Overlap(s->in[i], blob)) continue;
        if (MayShare(*attrs, static_cast<int>(i), static_cast<int>(o), s->in[i], blob)) {
          if (req == OpReq::kWrite) req = OpReq::kWriteInplace;
        } else if (op->mutate_inputs && Contains(op->MutateInputs(*attrs), static_cast<int>(i))) {
          continue;  // an update operator: the record says that this input is written
        } else {
          through_temporary = true;
        }
      }
    }
    if (through_temporary) {
      temporaries.emplace_back(NDArray(outputs[o]->shape(), ctx, outputs[o]->dtype()), o);
      blob = temporaries.back().first.data();
      req = OpReq::kWrite;
    }
    s->out.push_back(std::move(blob));
    s->req.push_back(req);
  }

  // First what is changed rather than replaced: inputs that the operator updates or that it is
  // computed on top of, sums, parts of larger arrays.
  const std::vector<int> mutated = op->MutateInputs(*attrs);
  for (int m : mutated) AddUnique(&s->writes, inputs[m]->var());
  if (!fresh) {
    for (size_t o = 0; o < num_out; ++o)
      if (!ThroughTemporary(temporaries, o) && ChangesOutput(*outputs[o], s->req[o], inputs)) AddUnique(&s->writes, outputs[o]->var());
  }
  const int num_kept = static_cast<int>(s->writes.size());
  for (size_t o = 0; o < num_out; ++o)
    if (!ThroughTemporary(temporaries, o)) AddUnique(&s->writes, outputs[o]->var());
  for (auto& t : temporaries) AddUnique(&s->writes, t.first.var());
  RandomState* random = nullptr;
  if (op->uses_random) {
    Imperative::RandomResource* r = Imperative::Random(ctx.execution());
    random = &r->state;
    AddUnique(&s->writes, r->var);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Var* v = inputs[i]->var();
    bool written = false;
    for (Var* w : s->writes) written |= w == v;
    if (!written) AddUnique(&s->reads, v);
  }

  // A rough cost decides whether a hand-over pays: what it costs in time, and in caches that do not
  // hold what the caller's next operator reads. An eighth of a nanosecond per element touched, and
  // 20 GFLOP/s where the record knows better.
  const double cost = 0.125 * static_cast<double>(work);
  bool small = cost < kInlineNanoseconds &&
               largest < Env::Get().cpu_parallel_size;  // larger ones want threads: those of a worker's team (BorrowedTeam)
  if (op->flops && small) small = cost + 0.05 * op->flops(*attrs, s->in, s->out) < kInlineNanoseconds;

  if (!reqs && fresh && small) Remember(attrs, *s.get(), kernel, ctx);

  const char* name = op->name.c_str();
  Engine* engine = Engine::Get();
  const Context where = ctx.execution();
  if (!where.is_gpu() && small &&
      engine->TryAcquire(s->reads.data(), static_cast<int>(s->reads.size()), s->writes.data(), static_cast<int>(s->writes.size()))) {
    std::exception_ptr error;
    const BorrowedTeam team;
    try {
      RunContext run;
      run.ctx = where;
      for (size_t i = 0; i < inputs.size(); ++i) s->in[i] = s->in[i].dptr ? s->in[i] : InputBlob(op, i, *inputs[i]);
      for (size_t o = 0; o < num_out; ++o)
        if (!s->out[o].dptr && s->req[o] != OpReq::kNull) s->out[o] = outputs[o]->data();
      CallKernel(*kernel, *attrs, s->in, s->req, s->out, run, is_train, random);
    } catch (...) {
      error = std::current_exception();
    }
    engine::ReleaseChanged(engine, s->reads.data(), static_cast<int>(s->reads.size()), s->writes.data(), static_cast<int>(s->writes.size()),
                           num_kept, error, name);
  } else {
    const PushedCallPtr call(PushedCall::Take());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!s->in[i].dptr && !op->ReadsOnlyShape(static_cast<int>(i)))
        call->late.push_back({false, i, inputs[i]->chunk(), inputs[i]->byte_offset()});
    for (size_t o = 0; o < num_out; ++o)
      if (!s->out[o].dptr && s->req[o] != OpReq::kNull) call->late.push_back({true, o, outputs[o]->chunk(), outputs[o]->byte_offset()});
    call->attrs = attrs;
    call->kernel = kernel;
    call->in.assign(s->in.begin(), s->in.end());
    call->out.assign(s->out.begin(), s->out.end());
    call->req.assign(s->req.begin(), s->req.end());
    call->is_train = is_train;
    call->random = random;
    call->memory_scope = profiler::MemoryScope::Scope();
    auto fn = [call](RunContext run) {
      profiler::MemoryScope memory(*call->attrs, call->memory_scope);
      for (const Late& l : call->late) {
        AllocateOn(l.chunk, run);
        (l.output ? call->out : call->in)[l.index].dptr = static_cast<char*>(l.chunk->handle.dptr) + l.offset;
      }
      CallKernel(*call->kernel, *call->attrs, call->in, call->req, call->out, run, call->is_train, call->random);
    };
    s->reads.insert(s->reads.end(), s->writes.begin(), s->writes.begin() + num_kept);
    engine->PushSync(std::move(fn), where, s->reads, s->writes, FnProperty::kNormal, 0, name);
  }
  for (auto& t : temporaries) {
    const OpReq req = reqs ? (*reqs)[t.second] : OpReq::kWrite;
    if (req == OpReq::kAdd) {
      Execute(graph_ops::AddGradients(), {outputs[t.second], &t.first}, {outputs[t.second]}, nullptr, nullptr, is_train);
    } else {
      CopyFromTo(t.first, *outputs[t.second]);
    }
  }
}

[[maybe_unused]] static const bool runs_for_array_functions = SetRunOnArrays(Imperative::Run);

void Imperative::Invoke(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                        const Context* ctx) {
  const ImperativeState& state = State();
  if (state.deferred_compute) {
    CheckDeferredOutputs(*attrs, inputs, outputs);
    Execute(attrs, inputs, outputs, nullptr, ctx, state.training, true);
    return RecordDeferred(attrs, inputs, outputs);
  }
  if (state.recording)
    for (NDArray* o : outputs)
      MXNET_CHECK(o->is_none() || !o->autograd_entry || IsTapeVariable(o->autograd_entry) == false || attrs->op->mutate_inputs)
          << "[" << attrs->op->name
          << "] writing into an array with a gradient (+=, x[:]=, out=) while recording is not differentiable; use a new array";
  if (!ExecuteFresh(attrs, inputs, outputs, state.training)) Execute(attrs, inputs, outputs, nullptr, ctx, state.training);
  if (state.recording) Record(attrs, inputs, outputs);
}

void Imperative::Run(const AttrsPtr& attrs, const std::vector<NDArray>& inputs, const std::vector<OpReq>& req,
                     const std::vector<NDArray>& outputs, bool is_train) {
  std::vector<NDArray*> in, out;
  for (const auto& a : inputs) in.push_back(const_cast<NDArray*>(&a));
  for (const auto& a : outputs) out.push_back(const_cast<NDArray*>(&a));
  Execute(attrs, in, out, &req, nullptr, is_train);
}

}  // namespace mxnet
