// The short way of an eager operator: what inference said is remembered.
#include <memory>
#include <new>

#include "base/borrowed_team.h"
#include "imperative/execute.h"
#include "imperative/kernel_call.h"
#include "mxnet/profiler.h"
#include "ndarray/run.h"
#include "operator/op_scope.h"

namespace mxnet {
namespace {

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

/* A few blobs on the stack, made one by one: clearing memory for the most there may be costs more
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
  TBlob* at(int i) { return reinterpret_cast<TBlob*>(memory_) + i; }
  alignas(TBlob) unsigned char memory_[kMax * sizeof(TBlob)];
  int count_ = 0;
};

}  // namespace

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
  profiler::MemoryScope memory(profiler::NameOf(*attrs));
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

void RememberFresh(const AttrsPtr& attrs, const CallBuffers& s, const Kernel* kernel, Context ctx) {
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

}  // namespace mxnet
