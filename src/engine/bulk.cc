/* Bulks: collecting operations of one thread, queueing them as one, running them with their
 * failures kept apart. */
#include <algorithm>
#include <utility>

#include "engine/dependency_engine.h"
#include "engine/gpu_streams.h"
#include "mxnet/profiler.h"
#include "profiler/called_for.h"

namespace mxnet {
namespace engine {

void SortByVar(VarEntry* e, int n) {
  if (n > 24) {
    std::sort(e, e + n, [](const VarEntry& a, const VarEntry& b) { return a.var < b.var; });
    return;
  }
  for (int i = 1; i < n; ++i) {
    if (e[i - 1].var <= e[i].var) continue;
    VarEntry moving = e[i];
    int j = i;
    for (; j > 0 && moving.var < e[j - 1].var; --j) e[j] = e[j - 1];
    e[j] = moving;
  }
}

void HoldOutcomes(Op* op) {
  for (int i = 0; i < op->num_entries; ++i) {
    VarEntry* e = &op->entries[i];
    if (e->writes != 0 && e->error != nullptr) e->error->holders.fetch_add(1, std::memory_order_relaxed);
  }
}

bool DependencyEngine::AppendToBulk(ThreadState* state, SyncFn* fn, const Context& ctx, const std::vector<Var*>& reads,
                                    const std::vector<Var*>& writes, bool no_skip, int priority, const char* name) {
  if (!CanBulk() || bulking_off_.load(std::memory_order_relaxed)) return false;
  Op* probe = NewOp(Op::kSync, ctx, FnProperty::kNormal, priority, name);  // sorted, checked list of the variables
  FillEntries(probe, reads, writes);
  VarEntry* e = probe->entries;
  const int n = probe->num_entries;
  for (;;) {
    state->lock.lock();
    if (state->bulk != nullptr && (state->bulk_ctx != ctx || state->bulk_priority != priority)) {
      state->lock.unlock();
      Flush(state);
      continue;
    }
    for (int i = 0; i < n; ++i) e[i].var->lock();
    ThreadState* foreign = nullptr;
    for (int i = 0; i < n; ++i) {
      ThreadState* open = e[i].var->bulk();
      if (open != nullptr && open != state) foreign = open;
    }
    if (foreign == nullptr) break;
    for (int i = 0; i < n; ++i) e[i].var->unlock();
    state->lock.unlock();
    Flush(foreign);
  }
  for (int i = 0; i < n; ++i) e[i].var->SetBulk(state, e[i].writes != 0);
  for (int i = 0; i < n; ++i) e[i].var->unlock();
  if (state->bulk == nullptr) {
    const size_t expected = std::min(state->bulk_size, 64);
    state->bulk.reset(new BulkBody);
    state->bulk->items.reserve(expected);
    state->bulk->vars.reserve(3 * expected);
  }
  state->bulk_open.store(true, std::memory_order_relaxed);
  BulkBody* body = state->bulk.get();
  state->bulk_ctx = ctx;
  state->bulk_priority = priority;
  body->items.push_back({std::move(*fn), name, no_skip, static_cast<int>(body->vars.size()), n, std::string()});
  if (HasCallSite()) body->items.back().site = CallSite();
  body->items.back().called_for = profiler::CalledFor();
  for (int i = 0; i < n; ++i) body->vars.push_back({e[i].var, e[i].writes != 0, e[i].kept});
  const bool full = static_cast<int>(body->items.size()) >= state->bulk_size;
  state->lock.unlock();
  Bump(&state->bulked);
  FreeOp(probe);
  if (full) Flush(state);
  return true;
}

/* REQUIRES: state->lock held. Puts the open bulk and the deletions behind it into the queues of
 * their variables. */
void DependencyEngine::CloseBulkLocked(ThreadState* state, OpList* ready) {
  if (state->bulk == nullptr) return;
  BulkBody* body = state->bulk.get();
  Op* op = NewOp(Op::kBulk, state->bulk_ctx, FnProperty::kNormal, state->bulk_priority, "bulk");
  op->Reserve(static_cast<int>(body->vars.size()));
  for (const BulkBody::Use& use : body->vars) {
    op->Add(use.var, use.write);
    op->entries[op->num_entries - 1].kept = use.kept || !use.write;  // of all uses together: is nothing replaced?
  }
  VarEntry* e = op->entries;
  SortByVar(e, op->num_entries);
  int kept = op->num_entries > 0 ? 1 : 0;
  for (int i = 1; i < op->num_entries; ++i) {
    if (e[i].var == e[kept - 1].var) {
      e[kept - 1].writes += e[i].writes;
      e[kept - 1].kept = e[kept - 1].kept && e[i].kept;
    } else {
      e[kept++] = e[i];
    }
  }
  op->num_entries = kept;
  op->bulk = std::move(state->bulk);
  state->bulk_open.store(false, std::memory_order_relaxed);
  BeforeSubmit(op);
  // `started` is the owner's counter, but a bulk may be closed by another thread, and `lock` orders
  // the two only among closers: count it where the closing thread counts.
  ThreadState* mine = State();
  Bump(&mine->started);
  Bump(&mine->pushed);
  Bump(&mine->bulks);
  std::vector<Var*> vars(kept);
  for (int i = 0; i < kept; ++i) (vars[i] = e[i].var)->lock();
  int waiting = 0;
  for (int i = 0; i < kept; ++i) {
    waiting += !vars[i]->Enter(&e[i]);
    vars[i]->SetBulk(nullptr, false);
  }
  op->waiting.store(waiting, std::memory_order_relaxed);
  if (waiting == 0) ready->Push(op);
  for (Op* del : state->bulk_deletes) {
    VarEntry* d = &del->entries[0];
    del->waiting.store(1, std::memory_order_relaxed);
    d->var->Enter(d);  // behind the bulk's entry, hence queued
  }
  Bump(&mine->started, state->bulk_deletes.size());
  state->bulk_deletes.clear();
  for (Var* v : vars) v->unlock();
}

void DependencyEngine::Flush(ThreadState* state) {
  OpList ready;
  {
    std::lock_guard<SpinLock> hold(state->lock);
    CloseBulkLocked(state, &ready);
  }
  Dispatch(&ready);
}

void DependencyEngine::FlushAll() {
  for (ThreadState* s = states_.load(std::memory_order_acquire); s != nullptr; s = s->next) Flush(s);
}

namespace {

VarEntry* EntryOf(Op* op, Var* v) {
  return std::lower_bound(op->entries, op->entries + op->num_entries, v, [](const VarEntry& e, Var* var) { return e.var < var; });
}

/* The entries of what an item writes have its outcome; null: it has succeeded. */
void LeaveOutcome(Op* op, const BulkBody::Item& item, ErrorRecord* outcome) {
  for (int i = item.first_var; i < item.first_var + item.num_vars; ++i) {
    const BulkBody::Use& use = op->bulk->vars[i];
    if (!use.write) continue;
    VarEntry* e = EntryOf(op, use.var);
    if (outcome != nullptr && use.kept && e->error != nullptr && !e->soft) continue;  // it had no contents before either
    const bool soft = outcome != nullptr && use.kept && !e->var->workspace();
    if (e->error == outcome) {
      e->soft = e->soft && soft;
      continue;
    }
    if (outcome != nullptr) outcome->Ref();
    if (e->error != nullptr) e->error->Unref();
    e->error = outcome;
    e->soft = soft;
  }
}

}  // namespace

void DependencyEngine::RunBulk(Op* op, const RunContext& rctx, EndFn end, OpList* ready) {
  BulkBody* body = op->bulk.get();
  RunContext bulk_ctx = rctx;
  bulk_ctx.is_bulk = true;
  // From the first failure on, an entry's `error` is the state of its variable at this point of the
  // bulk.
  bool errors = op->poisoned.load(std::memory_order_relaxed);
  struct Made {
    ErrorRecord* record;
    bool wrote;
  };
  std::vector<Made> made;  // failures of this bulk, inherited ones too: one reference and one holder each
  InOperationScope scope;
  auto fail = [&](const BulkBody::Item& item) {
    ErrorRecord* record = NewError(std::current_exception(), item.name, item.site);
    bool wrote = false;
    for (int i = item.first_var; i < item.first_var + item.num_vars; ++i) wrote |= body->vars[i].write;
    made.push_back({record, wrote});
    errors = true;
    LeaveOutcome(op, item, record);
  };
  profiler::NameScope profiled(profiler::NameScope::kEagerBulk, "bulk", static_cast<int64_t>(body->items.size()), &rctx);
  for (BulkBody::Item& item : body->items) {
    ErrorRecord* input = nullptr;
    if (errors && !item.no_skip) {
      for (int i = item.first_var; i < item.first_var + item.num_vars && input == nullptr; ++i) {
        if (!body->vars[i].write || body->vars[i].kept) input = EntryOf(op, body->vars[i].var)->error;
      }
      if (input != nullptr) {
        const auto use = body->vars.begin() + item.first_var;
        const bool changes = std::any_of(use, use + item.num_vars, [](const BulkBody::Use& u) { return u.kept && !u.var->workspace(); });
        made.push_back({Inherit(input, op->seen_raised, changes), true});
        LeaveOutcome(op, item, made.back().record);
        continue;
      }
    }
    try {
      const profiler::CalledForScope called_for(item.called_for);
      profiler::NameScope work(profiler::NameScope::kWork, item.name, 0, &rctx);
      item.fn(bulk_ctx);
      if (errors) LeaveOutcome(op, item, nullptr);
    } catch (...) {
      fail(item);
    }
  }
  if (end != nullptr) {
    if (errors) SyncQuietly(rctx);  // what failed may have left work on a second stream
    try {
      op->work =
          end(rctx, body->items.empty() ? op->name : body->items.back().name, body->items.empty() ? op->site : body->items.back().site);
    } catch (...) {  // a device fault cannot be told apart: every result of the bulk is suspect
      SyncQuietly(rctx);
      for (const BulkBody::Item& item : body->items) fail(item);
    }
  }
  op->poisoned.store(errors, std::memory_order_relaxed);
  if (errors) HoldOutcomes(op);
  for (const Made& m : made) m.record->Release(m.wrote);  // the last holder: overwritten later in the same bulk
  Complete(op, nullptr, ready);
}

int DependencyEngine::SetBulkSize(int size) {
  MXNET_CHECK_KIND(size >= 0, Value) << "[engine] the bulk size is " << size << "; accepted: 0 (no groups) or more";
  ThreadState* state = State();
  int old = state->bulk_size;
  state->bulk_size = size;
  if (size < old) Flush(state);
  return old;
}

void DependencyEngine::FlushBulk() { Flush(State()); }

}  // namespace engine
}  // namespace mxnet
