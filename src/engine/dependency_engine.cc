#include "engine/dependency_engine.h"

#include <algorithm>
#include <utility>

#include "base/device/device_interface.h"
#include "base/threads/shared_cores.h"
#include "engine/block_pool.h"
#include "engine/gpu_streams.h"
#include "mxnet/profiler.h"
#include "profiler/called_for.h"

namespace mxnet {
namespace engine {
namespace {

using OpPool = BlockPool<Op>;
using VarPool = BlockPool<Var>;

/* Runs the closure of a deletion, which finds what is under way on the variable. REQUIRES: nobody
 * else has the variable any more. */
__attribute__((noinline)) void DeleteBehind(Var* var, const Engine::SyncFn& fn, const RunContext& rctx) {
  std::vector<DeviceWorkPtr> under_way;
  var->CollectWork(true, &under_way);
  const std::unique_ptr<VarWork> taken = var->TakeWork();
  DeletionScope deletion(&under_way);
  if (fn) fn(rctx);
}

void DropEntryErrors(Op* op) {
  for (int i = 0; i < op->num_entries; ++i) {
    if (op->entries[i].error != nullptr) op->entries[i].error->Unref();
    op->entries[i].error = nullptr;
  }
}

std::atomic<uint64_t> g_next_id{1};

}  // namespace

DependencyEngine::DependencyEngine() : id_(g_next_id.fetch_add(1)) { RegisterEngine(this); }

DependencyEngine::~DependencyEngine() {
  UnregisterEngine(this);
  while (callbacks_.load(std::memory_order_acquire) != 0) CpuPause();
  for (ErrorRecord* e : errors_) e->Unref();
  for (ThreadState* s = states_.load(); s != nullptr;) {
    ThreadState* next = s->next;
    delete s;
    s = next;
  }
}

// ---- operations ---------------------------------------------------------------------------------

Op* DependencyEngine::NewOp(Op::Kind kind, const Context& ctx, FnProperty prop, int priority, const char* name) {
  Op* op = OpPool::Alloc();
  op->kind = kind;
  op->prop = prop;
  op->priority = priority;
  ThreadState* state = State();
  op->pusher = state;
  op->age = state->made++;
  op->seen_raised = num_raised.load(std::memory_order_relaxed);
  op->ctx = ctx;
  op->name = name;
  op->engine = this;
  op->called_for = profiler::CalledFor();
  op->starts_here = false;
  return op;
}

void DependencyEngine::FreeOp(Op* op) {
  op->sync = nullptr;
  op->async = nullptr;
  op->bulk.reset();
  if (!op->site.empty()) op->site.clear();
  if (op->entry_capacity > 4 * Op::kInlineEntries) {  // do not let large bulks fatten every pooled block
    op->heap_entries.reset();
    op->entries = op->inline_entries;
    op->entry_capacity = Op::kInlineEntries;
  }
  op->num_entries = 0;
  op->poisoned.store(false, std::memory_order_relaxed);
  if (__builtin_expect(op->behind_device.load(std::memory_order_relaxed), 0)) op->behind_device.store(false, std::memory_order_relaxed);
  if (__builtin_expect(op->work != nullptr, 0)) op->work = nullptr;
  op->caller = nullptr;
  OpPool::Free(op);
}

void DependencyEngine::FillEntries(Op* op, const std::vector<Var*>& reads, const std::vector<Var*>& writes) {
  op->Reserve(static_cast<int>(reads.size() + writes.size()));
  for (Var* v : reads) op->Add(v, 0);
  for (Var* v : writes) op->Add(v, 1);
  VarEntry* e = op->entries;
  SortByVar(e, op->num_entries);
  if (op->num_entries > 0 && e[0].var == nullptr) {
    FreeOp(op);
    MXNET_THROW(Value) << "[engine] a null variable was pushed; accepted: variables made by NewVariable";
  }
  int kept = op->num_entries > 0 ? 1 : 0;
  for (int i = 1; i < op->num_entries; ++i) {
    VarEntry* last = &e[kept - 1];
    if (e[i].var != last->var) {
      if (kept != i) e[kept] = e[i];
      ++kept;
    } else if (e[i].writes != 0 && last->writes != 0) {
      const char* name = op->name != nullptr ? op->name : "engine";
      FreeOp(op);
      MXNET_THROW(Value) << "[" << name
                         << "] a variable was pushed twice as written; accepted: each variable once among those that are written";
    } else if (e[i].writes != last->writes) {
      last->writes = 1;
      last->kept = true;
    }
  }
  op->num_entries = kept;
}

void DependencyEngine::Submit(Op* op) {
  BeforeSubmit(op);
  VarEntry* e = op->entries;
  const int n = op->num_entries;
  for (;;) {
    for (int i = 0; i < n; ++i) e[i].var->lock();
    ThreadState* open = nullptr;
    for (int i = 0; i < n && open == nullptr; ++i) open = e[i].var->bulk();
    if (__builtin_expect(open == nullptr, 1)) break;
    for (int i = 0; i < n; ++i) e[i].var->unlock();
    Flush(open);
  }
  int waiting = 0;
  for (int i = 0; i < n; ++i) waiting += !e[i].var->Enter(&e[i]);
  op->waiting.store(waiting, std::memory_order_relaxed);  // published by the unlocks below
  // Entries may be reused as soon as the last of them can be granted: read the variables before
  // unlocking.
  if (waiting == 0) {
    for (int i = 0; i < n; ++i) e[i].var->unlock();
    if (op->starts_here) return StartHere(op);
    OpList ready;
    ready.Push(op);
    Dispatch(&ready);
    return;
  }
  Var* first = e[0].var;
  if (n == 1) return first->unlock();
  Var* few[Op::kInlineEntries * 4];
  std::unique_ptr<Var*[]> many;
  Var** vars = few;
  if (n > Op::kInlineEntries * 4) {
    many.reset(new Var*[n]);
    vars = many.get();
  }
  for (int i = 0; i < n; ++i) vars[i] = e[i].var;
  for (int i = 0; i < n; ++i) vars[i]->unlock();
}

void DependencyEngine::StartHere(Op* op) {
  const ProgramScope program;
  InOperationScope scope;  // also for its closure, when that is destroyed
  RunContext rctx;
  rctx.ctx = op->ctx;
  RunOp(op, rctx, nullptr);
}

void DependencyEngine::Dispatch(OpList* ready, bool may_keep) {
  while (Op* op = ready->Pop()) {
    if (op->kind == Op::kWait) {
      VarEntry* e = &op->entries[0];
      PendingWait* wait = op->wait;
      wait->error = {e->error, e->soft};  // the reference moves to the waiter
      e->error = nullptr;
      e->var->lock();
      e->var->CollectWork(e->writes != 0, &wait->work);
      e->writes != 0 ? e->var->FinishExclusive(ready) : e->var->FinishRead(ready);
      e->var->unlock();
      FreeOp(op);
      if (wait->Signal()) DiscardWait(wait);
    } else if (op->kind == Op::kDelete) {
      ErrorRecord* failure = nullptr;
      InOperationScope scope;
      RunContext rctx;
      rctx.ctx = op->ctx;
      try {
        DeleteBehind(op->entries[0].var, op->sync, rctx);
      } catch (...) {
        failure = NewError(std::current_exception(), op->name, op->site);
      }
      Complete(op, failure, ready);
    } else if (op->starts_here && RunsLentJobs()) {  // it looks for what that starts next
      StartHere(op);
    } else {
      Schedule(op, may_keep);
    }
  }
}

ErrorRecord* DependencyEngine::InputError(Op* op) const {
  for (int i = 0; i < op->num_entries; ++i) {
    VarEntry* e = &op->entries[i];
    if ((e->writes == 0 || e->kept) && e->error != nullptr) return e->error;
  }
  return nullptr;
}

/* What is under way on the variables of `op`. */
std::vector<DeviceWorkPtr> DependencyEngine::UnderWay(Op* op) {
  std::vector<DeviceWorkPtr> work;
  for (int i = 0; i < op->num_entries; ++i) {
    VarEntry* e = &op->entries[i];
    e->var->lock();
    e->var->CollectWork(e->writes != 0, &work);
    e->var->unlock();
  }
  return work;
}

/*
 * The stream of `op` waits for what is under way on its variables and other streams; without a
 * stream the host does. Asynchronous functions may end without touching their stream, and what they
 * write counts as done then: the host waits for them too.
 */
void DependencyEngine::WaitForDevices(Op* op, const RunContext& rctx) {
  for (const DeviceWorkPtr& w : UnderWay(op)) {
    if (rctx.stream == nullptr || op->kind == Op::kAsync) {
      w->Finish();
    } else if (w->stream != rctx.stream && !w->Passed()) {
      w->Precede(rctx.stream);
    }
  }
}

void DependencyEngine::RunOp(Op* op, const RunContext& rctx, EndFn end) {
  const profiler::CalledForScope called_for(op->called_for);
  OpList ready;
  ErrorRecord* failure = nullptr;
  if (__builtin_expect(op->behind_device.load(std::memory_order_relaxed), 0)) {
    try {
      WaitForDevices(op, rctx);
    } catch (...) {
      return FailOp(op, std::current_exception());
    }
  }
  const bool check_inputs = op->poisoned.load(std::memory_order_relaxed) && op->prop != FnProperty::kNoSkip;
  if (check_inputs && op->kind != Op::kBulk && (failure = InputError(op)) != nullptr) {
    const bool changes =
        std::any_of(op->entries, op->entries + op->num_entries, [](const VarEntry& e) { return e.kept && !e.var->workspace(); });
    failure = Inherit(failure, op->seen_raised, changes);
    if (op->behind_device.load(std::memory_order_relaxed)) SyncQuietly(rctx);  // it leaves no event behind what its stream waits for
    Complete(op, failure, &ready);
  } else if (op->kind == Op::kBulk) {
    RunBulk(op, rctx, end, &ready);
  } else if (op->kind == Op::kSync) {
    try {
      InOperationScope scope;
      profiler::NameScope profiled(profiler::NameScope::kWork, op->name, 0, &rctx);
      op->sync(rctx);
      if (end != nullptr) op->work = end(rctx, op->name, op->site);
    } catch (...) {
      SyncQuietly(rctx);
      failure = NewError(std::current_exception(), op->name, op->site);
    }
    Complete(op, failure, &ready);
  } else {
    op->refs.store(2, std::memory_order_relaxed);
    op->finished.store(false, std::memory_order_relaxed);
    try {
      InOperationScope scope;
      profiler::NameScope profiled(profiler::NameScope::kWork, op->name);
      const StartingScope starting(op->starts_here ? op : nullptr);
      op->async(rctx, OnComplete(&DependencyEngine::OnCompleteTrampoline, op));
    } catch (...) {
      // The callback may already have reported the result; then the exception has no variable left
      // to stay with.
      SyncQuietly(rctx);
      ErrorRecord* late = NewError(std::current_exception(), op->name, op->site);
      if (!op->finished.exchange(true, std::memory_order_acq_rel)) {
        op->failure = late;
        op->refs.store(1, std::memory_order_relaxed);  // nobody calls back any more
      } else {
        late->Unref();
      }
    }
    DropAsync(op, !op->starts_here);
    return;
  }
  Dispatch(&ready, true);
}

void DependencyEngine::FailOp(Op* op, std::exception_ptr error) {
  OpList ready;
  if (op->behind_device.load(std::memory_order_relaxed))
    FinishWork(UnderWay(op), false);  // what the variables keep is dropped with the next write
  ErrorRecord* record = NewError(error, op->name, op->site);
  if (op->kind == Op::kBulk) {  // its outcomes are kept per entry
    DropEntryErrors(op);
    bool wrote = false;
    for (int i = 0; i < op->num_entries; ++i) {
      record->Ref();
      op->entries[i].error = record;
      op->entries[i].soft = op->entries[i].kept && !op->entries[i].var->workspace();
      wrote |= op->entries[i].writes != 0;
    }
    op->poisoned.store(true, std::memory_order_relaxed);
    HoldOutcomes(op);
    record->Release(wrote);
    Complete(op, nullptr, &ready);
  } else {
    Complete(op, record, &ready);
  }
  Dispatch(&ready);
}

void DependencyEngine::OnCompleteTrampoline(void* arg, std::exception_ptr error) {
  Op* op = static_cast<Op*>(arg);
  if (op->finished.exchange(true, std::memory_order_acq_rel)) return;
  DependencyEngine* self = op->engine;
  self->callbacks_.fetch_add(1, std::memory_order_relaxed);
  op->failure = error == nullptr ? nullptr : self->NewError(error, op->name, op->site);
  self->DropAsync(op, false);
  self->callbacks_.fetch_sub(1, std::memory_order_release);
}

/*
 * Called by the function's thread when it has returned, and by the callback. The second of the two
 * ends the operation, so that nobody who waits for it meets a closure that still runs or lives.
 */
void DependencyEngine::DropAsync(Op* op, bool may_keep) {
  if (op->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) FinishAsync(op, may_keep);
}

void DependencyEngine::FinishAsync(Op* op, bool may_keep) {
  OpList ready;
  InOperationScope scope;  // closures and deletions that run here must not wait
  Complete(op, op->failure, &ready);
  Dispatch(&ready, may_keep);
}

/*
 * Ends an operation: leaves `failure` (one reference and one holder pass in) or success in what it
 * wrote, lets the next entries in, frees the block. For a bulk the outcome of each variable is
 * already in its entry and held (HoldOutcomes).
 */
void DependencyEngine::Complete(Op* op, ErrorRecord* failure, OpList* ready) {
  const Op::Kind kind = op->kind;
  NaiveCaller* caller = op->caller;
  // Closures go first: whatever they hold is released before anyone who waits for this operation
  // continues.
  if (kind == Op::kBulk) {
    op->bulk.reset();
  } else if (kind == Op::kAsync) {
    op->async = nullptr;
  } else {
    op->sync = nullptr;
  }
  const bool errors = op->poisoned.load(std::memory_order_relaxed);
  bool wrote = false;
  const DeviceWorkPtr work = std::move(op->work);
  std::unique_ptr<VarWork> replaced;  // destroyed without a lock
  for (int i = 0; i < op->num_entries; ++i) {
    VarEntry* e = &op->entries[i];
    Var* var = e->var;
    ErrorRecord* outcome = failure;
    bool soft = e->kept && !var->workspace();
    bool own = false;  // comes with a reference
    if (__builtin_expect(errors, 0)) {
      if (kind == Op::kBulk) {
        outcome = e->error;
        soft = e->soft;
        own = true;
      } else if (failure != nullptr && e->kept && e->error != nullptr && !e->soft) {
        outcome = e->error;  // it had no contents before either
        soft = false;
        own = true;
      } else if (e->error != nullptr) {
        e->error->Unref();
      }
      e->error = nullptr;
    }
    if (e->writes != 0) {
      if (!own && outcome != nullptr) outcome->Ref();
      wrote = true;
      if (__builtin_expect(kind == Op::kDelete, 0)) {  // nothing can be queued behind it
        if (outcome != nullptr) outcome->Unref();
        var->Reset();
        VarPool::Free(var);
        continue;
      }
      const bool held = errors && kind == Op::kBulk && outcome != nullptr;
      if (held) outcome->Ref();
      var->lock();
      if (__builtin_expect(work != nullptr || var->work_ != nullptr, 0)) replaced = var->NoteWork(work, true);
      var->FinishWrite(e->writes, outcome, soft, ready);
      if (held) outcome->Release();
    } else {
      if (kind == Op::kBulk && outcome != nullptr) outcome->Unref();
      var->lock();
      if (__builtin_expect(work != nullptr, 0)) replaced = var->NoteWork(work, false);
      var->FinishRead(ready);
    }
    var->unlock();
    if (__builtin_expect(replaced != nullptr, 0)) replaced.reset();
  }
  if (__builtin_expect(failure != nullptr, 0)) failure->Release(wrote && kind != Op::kDelete);
  FreeOp(op);
  CountFinished();
  if (caller != nullptr) CallerDone(caller);
}

// ---- pushing ------------------------------------------------------------------------------------

void DependencyEngine::CheckContext(const Context& ctx, const char* name) const {
  MXNET_CHECK_KIND(!ctx.is_gpu() || GpuInterface().streams.get() != nullptr, Value)
      << "[" << (name != nullptr ? name : "engine") << "] got the context " << ctx.str()
      << ", but this build has no GPU support; accepted: cpu(), or a build with USE_CUDA=ON";
}

void DependencyEngine::PushAsync(AsyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop, int priority,
                                 const char* name, bool) {
  CheckContext(ctx, name);
  PushOp(std::move(fn), ctx, reads, writes, prop, priority, name, false);
}

void DependencyEngine::PushStarting(AsyncFn fn, std::vector<Var*> reads, std::vector<Var*> writes, int priority, const char* name) {
  PushOp(std::move(fn), Context::CPU(), reads, writes, FnProperty::kAsync, priority, name, CanStartHere());
}

void DependencyEngine::PushOp(AsyncFn fn, const Context& ctx, const std::vector<Var*>& reads, const std::vector<Var*>& writes,
                              FnProperty prop, int priority, const char* name, bool starts_here) {
  LookAtCoresAsPushing();
  ThreadState* state = State();
  if (state->bulk_open.load(std::memory_order_relaxed)) Flush(state);
  Op* op = NewOp(Op::kAsync, ctx.execution(), prop, priority, name);
  FillEntries(op, reads, writes);
  op->async = std::move(fn);
  op->starts_here = starts_here;
  if (HasCallSite()) op->site = CallSite();
  Bump(&state->started);
  Bump(&state->pushed);
  Submit(op);
  AfterSubmit();
}

void DependencyEngine::PushSync(SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop, int priority,
                                const char* name) {
  CheckContext(ctx, name);
  LookAtCoresAsPushing();
  ThreadState* state = State();
  if (state->bulk_size > 1 && (prop == FnProperty::kNormal || prop == FnProperty::kNoSkip)) {
    if (AppendToBulk(state, &fn, ctx.execution(), reads, writes, prop == FnProperty::kNoSkip, priority, name)) return;
  }
  if (state->bulk_open.load(std::memory_order_relaxed)) Flush(state);
  Op* op = NewOp(Op::kSync, ctx.execution(), prop, priority, name);
  FillEntries(op, reads, writes);
  op->sync = std::move(fn);
  if (HasCallSite()) op->site = CallSite();
  Bump(&state->started);
  Bump(&state->pushed);
  Submit(op);
  AfterSubmit();
}

bool DependencyEngine::TryAcquire(Var* const* reads, int num_reads, Var* const* writes, int num_writes) {
  Var* busy = nullptr;
  int r = 0, w = 0;
  while (r < num_reads && reads[r]->TryRead()) ++r;
  if (r < num_reads) {
    busy = reads[r];
  } else {
    while (w < num_writes && writes[w]->TryWrite()) ++w;
    if (w == num_writes) {
      Bump(&State()->inlined);
      return true;
    }
    busy = writes[w];
  }
  OpList ready;
  while (r > 0) {
    Var* v = reads[--r];
    v->lock();
    v->FinishRead(&ready);
    v->unlock();
  }
  while (w > 0) {
    Var* v = writes[--w];
    v->lock();
    v->FinishExclusive(&ready);
    v->unlock();
  }
  Dispatch(&ready);
  busy->lock();
  ThreadState* open = busy->bulk();
  busy->unlock();
  if (open != nullptr) Flush(open);
  return false;
}

void DependencyEngine::ReleaseChanged(Var* const* reads, int num_reads, Var* const* writes, int num_writes, int num_kept,
                                      std::exception_ptr error, const char* name) {
  OpList ready;
  ErrorRecord* failure = error == nullptr ? nullptr : NewError(error, name, CallSite());
  for (int i = 0; i < num_writes; ++i) {
    Var* v = writes[i];
    if (failure != nullptr) failure->Ref();
    v->lock();
    v->FinishWrite(1, failure, i < num_kept && !v->workspace(), &ready);
    v->unlock();
  }
  for (int i = 0; i < num_reads; ++i) {
    Var* v = reads[i];
    v->lock();
    v->FinishRead(&ready);
    v->unlock();
  }
  if (failure != nullptr) failure->Release(num_writes > 0);
  if (__builtin_expect(!ready.empty(), 0)) Dispatch(&ready);
}

void ReleaseChanged(Engine* engine, Var* const* reads, int num_reads, Var* const* writes, int num_writes, int num_kept,
                    std::exception_ptr error, const char* name) {
  static_cast<DependencyEngine*>(engine)->ReleaseChanged(reads, num_reads, writes, num_writes, num_kept, std::move(error), name);
}

Var* NewWorkspaceVariable(Engine* engine) { return static_cast<DependencyEngine*>(engine)->NewVariable(true); }

Var* DependencyEngine::NewVariable(bool workspace) {
  Var* var = VarPool::Alloc();
  var->Reset(workspace);
  return var;
}

void DependencyEngine::DeleteVariable(SyncFn fn, Context ctx, Var* var) {
  var->lock();
  ThreadState* open = var->bulk();
  const bool idle = open == nullptr && var->idle();
  var->unlock();
  ThreadState* state = State();
  if (idle) {  // nobody else may touch it any more, so it stays idle
    try {
      InOperationScope scope;
      RunContext rctx;
      rctx.ctx = ctx;
      if (__builtin_expect(var->work_ != nullptr, 0)) {
        DeleteBehind(var, fn, rctx);
      } else if (fn) {
        fn(rctx);
      }
    } catch (...) {
      NewError(std::current_exception(), "DeleteVariable", CallSite())->Unref();
    }
    var->Reset();
    VarPool::Free(var);
    return;
  }
  Op* op = NewOp(Op::kDelete, ctx, FnProperty::kDeleteVar, 0, "DeleteVariable");
  op->Reserve(1);
  op->Add(var, 1);
  op->sync = std::move(fn);
  if (open == state) {
    // Deleting a temporary must not end the bulk that made it.
    std::lock_guard<SpinLock> hold(state->lock);
    var->lock();
    const bool still_open = var->bulk() == state;
    var->unlock();
    if (still_open) {
      state->bulk_deletes.push_back(op);
      return;  // counted as started when the bulk is closed: an open bulk must not keep WaitForAll waiting
    }
  }
  Bump(&state->started);
  Submit(op);
}

}  // namespace engine
}  // namespace mxnet
