// The short way of an eager operator: what inference said is remembered.
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "base/float_mode.h"
#include "base/threads/borrowed_team.h"
#include "imperative/execute.h"
#include "imperative/kernel_call.h"
#include "mxnet/engine.h"
#include "mxnet/profiler.h"
#include "ndarray/run.h"
#include "operator/matrix/axes.h"
#include "operator/record/purity.h"
#include "operator/record/traits.h"
#include "operator/shared/op_scope.h"

namespace mxnet {
namespace {

/*
 * What inference said for recent calls of this thread: eager loops ask the same question again and
 * again. Direct-mapped; an entry keeps its Attrs alive, so that a pointer is never reused for other
 * attributes.
 */
struct Inferred {
  static constexpr int kMaxIn = 3, kMaxOut = 2;
  static constexpr size_t kMostCopied = 1 << 15, kMostBytes = 512, kMostAlone = 1 << 12;
  AttrsPtr attrs;
  int num_in = 0, num_out = 0;
  TensorType in[kMaxIn], out[kMaxOut];
  bool by_switches = false;  // the record reads them; then they are `switches`
  InferSwitches switches;
  const Kernel* kernel = nullptr;
  Context ctx;                // of the results, without inputs
  size_t bytes = 0;           // of the results
  size_t each[kMaxOut] = {};  // of each of them
  bool alone = false;         // so little is read and written that no loop wants other threads
  uint32_t read = 0;          // bit i: the values of input i are
  bool into = false;          // the output, one, was given
  uint32_t over = 0;          // bit i: then it may be input i
  /* The result, without a kernel: the input's so many bytes, at most kMostCopied, or, without
   * inputs and of at most kMostBytes, what the first call computed. 0 and null: not so. */
  size_t copied = 0;
  bool repeats = false;
  std::unique_ptr<char[]> value;

  /* `first`: the shape of the first input; null without inputs. Null: the thread is ending. */
  __attribute__((always_inline)) static Inferred* Slot(const Attrs* attrs, const Shape* first, bool into) {
    Inferred* slots = of_thread;
    if (__builtin_expect(!slots, 0) && !(slots = Begin())) return nullptr;
    size_t h = reinterpret_cast<size_t>(attrs) / 16 + (into ? 37 : 0);
    if (first && first->ndim() > 0) h += static_cast<size_t>((*first)[0]) * 7 + static_cast<size_t>((*first)[first->ndim() - 1]);
    return &slots[(h ^ h >> 6) % kSlots];
  }
  __attribute__((always_inline)) bool Matches(const AttrsPtr& a, Span<NDArray* const> inputs, int outputs, bool given) const {
    if (attrs.get() != a.get() || into != given || num_in != inputs.size() || num_out != outputs) return false;
    for (int i = 0; i < num_in; ++i)
      if (in[i].dtype != inputs[i]->dtype() || in[i].shape != inputs[i]->shape()) return false;
    return !by_switches || switches == InferSwitches::OfThread();
  }

 private:
  static constexpr size_t kSlots = 64;
  static thread_local Inferred* of_thread;  // plain, for looking at one with a destructor costs another call
  __attribute__((noinline)) static Inferred* Begin() {
    static thread_local struct Owner {
      std::unique_ptr<Inferred[]> slots{new Inferred[kSlots]};
      ~Owner() {
        of_thread = nullptr;
        slots.reset();
      }
    } owner;
    return of_thread = owner.slots.get();
  }
};
thread_local Inferred* Inferred::of_thread = nullptr;

char* Memory(const NDArray& a) {
  Chunk* chunk = a.chunk();
  if (chunk->is_delayed()) chunk->Allocate();
  return static_cast<char*>(chunk->handle.dptr) + a.byte_offset();
}

/* A few blobs on the stack, made one by one: clearing memory for the most there may be costs more
 * than a small operator. */
template <int kMax>
class FewBlobs {
 public:
  ~FewBlobs() {
    for (int i = 0; i < count_; ++i) at(i)->~TBlob();
  }
  /* `values`: of a delayed chunk, too (InputBlob). */
  void Add(const NDArray& a, bool values) {
    // An aggregate's initializer list would clear all of it first.
    TBlob* const blob = new (at(count_++)) TBlob;
    blob->dptr = values || !a.delayed() ? Memory(a) : nullptr;
    blob->shape = a.shape();
    blob->dtype = a.dtype();
    blob->ctx = a.ctx();
  }
  Span<const TBlob> span() { return Span<const TBlob>(at(0), count_); }

 private:
  TBlob* at(int i) { return reinterpret_cast<TBlob*>(memory_) + i; }
  alignas(TBlob) unsigned char memory_[kMax * sizeof(TBlob)];
  int count_ = 0;
};

/* The variables of inputs, each once. */
struct Reads {
  Var* vars[Inferred::kMaxIn];
  int count = 0;
  void Add(Var* v) {
    bool seen = false;
    for (int k = 0; k < count; ++k) seen |= vars[k] == v;
    if (!seen) vars[count++] = v;
  }
};

void AddInputs(const Inferred& known, Span<NDArray* const> inputs, FewBlobs<Inferred::kMaxIn>* in) {
  for (int i = 0; i < inputs.size(); ++i) in->Add(*inputs[i], known.read >> i & 1);
}

/* Is it worth nothing to the profiler, and of the numbers that kernels compute now? */
bool MayCopy() { return profiler::Active() == 0 && detail::g_float_mode.load(std::memory_order_relaxed) == 0; }

/* Does the kernel copy the bytes of its only input into its only output? */
bool CopiesInput(const Op* op, const Kernel& kernel, const CallBuffers& s) {
  if (s.in.size() != 1 || s.out.size() != 1 || op->stateful) return false;
  if (s.in[0].Bytes() != s.out[0].Bytes() || s.in[0].Bytes() > Inferred::kMostCopied) return false;
  if (IsCopyThrough(kernel)) return true;
  const GivesInput* gives = op->trait<GivesInput>();
  return gives && !gives->when && s.in[0].dtype == s.out[0].dtype && s.in[0].shape == s.out[0].shape;
}

/* Does an operator without inputs give the same each time, and little? */
bool Repeats(const Attrs& attrs, const CallBuffers& s) {
  return s.in.empty() && s.out.size() == 1 && s.out[0].Bytes() > 0 && s.out[0].Bytes() <= Inferred::kMostBytes && IsPure(attrs);
}

/* `out` is `in` itself. */
bool Same(const NDArray& in, const NDArray& out) {
  return in.byte_offset() == out.byte_offset() && in.dtype() == out.dtype() && in.shape() == out.shape();
}

// What a call that makes its output needs is kept close together: at 180 ns for a small one it
// matters how many lines of code that goes through. The rest are functions of their own.

/* The same for a given output: one that no input lies in, or that may be written over the inputs it
 * is. */
__attribute__((noinline)) bool ExecuteInto(const Inferred& known, const AttrsPtr& attrs, Span<NDArray* const> inputs, NDArray* output,
                                           bool is_train) {
  if (output->dtype() != known.out[0].dtype || output->shape() != known.out[0].shape) return false;
  const Context ctx = output->ctx();
  if (ctx.dev_type != DeviceType::kCPU) return false;
  OpReq req = OpReq::kWrite;
  Reads reads;
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->ctx() != ctx) return false;
    if (inputs[i]->chunk() != output->chunk()) {
      reads.Add(inputs[i]->var());
    } else {
      if (!(known.over >> i & 1) || !Same(*inputs[i], *output)) return false;
      req = OpReq::kWriteInplace;
    }
  }
  Var* const write = output->var();
  const int num_kept = req == OpReq::kWriteInplace || !CoversChunk(*output) ? 1 : 0;
  Engine* engine = Engine::Get();
  if (!engine->TryAcquire(reads.vars, reads.count, &write, 1)) return false;
  profiler::MemoryScope memory(profiler::NameOf(*attrs));
  std::exception_ptr error;
  const BorrowedTeam team;
  try {
    FewBlobs<Inferred::kMaxIn> in;
    FewBlobs<1> out;
    AddInputs(known, inputs, &in);
    out.Add(*output, true);
    RunContext run;
    run.ctx = ctx.execution();
    CallKernel(*known.kernel, *attrs, in.span(), Span<const OpReq>(&req, 1), out.span(), run, is_train, nullptr);
  } catch (...) {
    error = std::current_exception();
  }
  engine::ReleaseChanged(engine, reads.vars, reads.count, &write, 1, num_kept, error, attrs->op->name.c_str());
  return true;
}

/* The result of the first call, for the next ones. */
__attribute__((noinline)) void KeepValue(Inferred* known, const NDArray& output) {
  known->repeats = false;
  const size_t bytes = output.chunk()->bytes;
  known->value.reset(new char[bytes]);
  std::memcpy(known->value.get(), output.chunk()->handle.dptr, bytes);
}

/* Whoever reads the outputs gets the error. */
__attribute__((noinline)) void Fail(Engine* engine, const Op* op, Span<NDArray* const> outputs, const std::exception_ptr& error) {
  Var* writes[Inferred::kMaxOut];
  for (int o = 0; o < outputs.size(); ++o) writes[o] = outputs[o]->var();
  engine->TryAcquire(nullptr, 0, writes, outputs.size());
  engine->Release(nullptr, 0, writes, outputs.size(), error, op->name.c_str());
}

}  // namespace

bool ExecuteFresh(const AttrsPtr& attrs, Span<NDArray* const> inputs, Span<NDArray* const> outputs, bool is_train) {
  if (inputs.size() > Inferred::kMaxIn || outputs.size() > Inferred::kMaxOut) return false;
  for (NDArray* a : inputs)
    if (!a || a->is_none() || a->deferred_entry || a->storage_type() != StorageType::kDense) return false;
  const bool given = outputs.size() == 1 && !outputs[0]->is_none();
  Inferred* known = Inferred::Slot(attrs.get(), inputs.empty() ? given ? &outputs[0]->shape() : nullptr : &inputs[0]->shape(), given);
  if (!known || !known->Matches(attrs, inputs, outputs.size(), given)) return false;
  if (given && outputs[0]->storage_type() != StorageType::kDense) return false;
  if (given) return ExecuteInto(*known, attrs, inputs, outputs[0], is_train);
  const Context source = inputs.empty() ? known->ctx : inputs[0]->ctx(), ctx = ResultContext(source);
  if (source.is_gpu()) return false;  // remembered from a call on the CPU; this thread has no stream
  Reads reads;
  for (NDArray* a : inputs) {
    if (a->ctx() != source) return false;
    reads.Add(a->var());
  }
  for (NDArray* o : outputs)
    if (!o->is_none()) return false;
  if (known->value && MayCopy()) {
    outputs[0]->Init(known->out[0].shape, ctx, known->out[0].dtype, known->each[0]);
    std::memcpy(outputs[0]->chunk()->handle.dptr, known->value.get(), outputs[0]->chunk()->bytes);
    return true;
  }
  Engine* engine = Engine::Get();
  if (WaitsForItsTurn(known->bytes) || !engine->TryAcquire(reads.vars, reads.count, nullptr, 0)) return false;
  profiler::MemoryScope memory(profiler::NameOf(*attrs));
  FewBlobs<Inferred::kMaxIn> in;
  FewBlobs<Inferred::kMaxOut> out;
  static const OpReq write[Inferred::kMaxOut] = {OpReq::kWrite, OpReq::kWrite};
  std::exception_ptr error;
  try {
    if (known->copied && MayCopy()) {
      outputs[0]->Init(known->out[0].shape, ctx, known->out[0].dtype, known->each[0]);
      std::memcpy(outputs[0]->chunk()->handle.dptr, Memory(*inputs[0]), known->copied);
      engine->Release(reads.vars, reads.count, nullptr, 0);
      return true;
    }
    AddInputs(*known, inputs, &in);
    for (int o = 0; o < outputs.size(); ++o) {
      outputs[o]->Init(known->out[o].shape, ctx, known->out[o].dtype, known->each[o]);
      out.Add(*outputs[o], true);
    }
  } catch (...) {
    engine->Release(reads.vars, reads.count, nullptr, 0);
    throw;
  }
  RunContext run;
  run.ctx = ctx.execution();
  std::optional<BorrowedTeam> team;
  if (!known->alone) team.emplace();
  try {
    CallKernel(*known->kernel, *attrs, in.span(), Span<const OpReq>(write, known->num_out), out.span(), run, is_train, nullptr);
  } catch (...) {
    error = std::current_exception();
  }
  engine->Release(reads.vars, reads.count, nullptr, 0);
  if (__builtin_expect(error != nullptr, 0))
    Fail(engine, attrs->op, outputs, error);
  else if (__builtin_expect(known->repeats, 0) && known->attrs == attrs && MayCopy())
    KeepValue(known, *outputs[0]);
  return true;
}

void RememberFresh(const AttrsPtr& attrs, const CallBuffers& s, const Kernel* kernel, Context ctx, bool given) {
  const Op* op = attrs->op;
  if (given && (s.out.size() != 1 || ctx.dev_type != DeviceType::kCPU)) return;
  for (const auto* types : {&s.in_types, &s.out_types})
    for (const TensorType& t : *types)
      if (IsSparse(t.storage)) return;
  if (!attrs->subgraphs.empty()) return;  // their inference is given the switches of each call
  if (ctx.is_gpu() || op->uses_random || op->mutate_inputs || s.in.size() > Inferred::kMaxIn || s.out.size() > Inferred::kMaxOut) return;
  Inferred* slot = Inferred::Slot(attrs.get(), s.in.empty() ? given ? &s.out[0].shape : nullptr : &s.in[0].shape, given);
  if (!slot) return;
  slot->attrs = attrs;
  slot->num_in = static_cast<int>(s.in.size());
  slot->num_out = static_cast<int>(s.out.size());
  for (int i = 0; i < slot->num_in; ++i) slot->in[i] = s.in_types[i];
  for (int i = 0; i < slot->num_out; ++i) slot->out[i] = s.out_types[i];
  slot->by_switches = op->reads_switches();
  slot->switches = InferSwitches::OfThread();
  slot->kernel = kernel;
  slot->bytes = 0;
  for (int i = 0; i < slot->num_out; ++i) slot->bytes += slot->each[i] = s.out[static_cast<size_t>(i)].Bytes();
  size_t touched = slot->bytes;
  for (const TBlob& b : s.in) touched += b.Bytes();
  slot->alone = touched <= Inferred::kMostAlone;
  slot->ctx = ctx;
  slot->into = given;
  slot->read = slot->over = 0;
  for (int i = 0; i < slot->num_in; ++i) slot->read |= attrs->ReadsOnlyShape(i) ? 0u : 1u << i;
  slot->copied = !given && CopiesInput(op, *kernel, s) ? s.in[0].Bytes() : 0;
  slot->repeats = !given && Repeats(*attrs, s);
  slot->value.reset();
  if (given && op->inplace)
    for (const auto& p : op->inplace(*attrs))
      if (p.first < Inferred::kMaxIn && p.second == 0) slot->over |= 1u << p.first;
}

}  // namespace mxnet
