/*
 * Live engines, and what a fork does to them. The child has one thread: it gets every lock free,
 * every variable idle (with an error in those that a lost operation was to write) and engines
 * without workers, which are made on first use.
 */
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/threads/fork_guard.h"
#include "engine/block_pool.h"
#include "engine/dependency_engine.h"

namespace mxnet {
namespace engine {
namespace {

struct Registry {
  std::mutex mu;
  std::vector<DependencyEngine*> engines;
};

Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

std::atomic<bool> g_data_worker{false};

ErrorRecord* Lost() {
  ErrorRecord* record = new ErrorRecord(std::make_exception_ptr(
      Error("[engine] the value was still being computed when the process was forked and stays with the parent process; accepted: "
            "wait for arrays (waitall) before a fork whose child reads them")));
  record->holders.store(1, std::memory_order_relaxed);
  return record;
}

// LOCK ORDER: registry, operation blocks, variable blocks, then what each engine's PrepareFork
// takes.
class Guard final : public ForkGuarded {
 public:
  void ForkLock() override {
    SpinBudget();  // measured by the first thread that waits: the child would wait for one that it does not have
    registry().mu.lock();
    BlockPool<Op>::Lock();
    BlockPool<Var>::Lock();
    for (DependencyEngine* e : registry().engines) e->PrepareFork();
  }
  void ForkUnlock(bool child) override {
    if (child) g_data_worker.store(true);
    for (DependencyEngine* e : registry().engines) child ? e->ChildAfterFork() : e->ParentAfterFork();
    if (child) BlockPool<Var>::ForEachLocked([](Var* v) { v->ResetInChild(&Lost); });
    BlockPool<Var>::Unlock();
    BlockPool<Op>::Unlock();
    registry().mu.unlock();
  }
};

void Install() {
  static const bool once = [] {
    AddForkGuarded(new Guard, ForkLevel::kEngine);
    return true;
  }();
  (void)once;
}

}  // namespace

void RegisterEngine(DependencyEngine* engine) {
  Install();
  std::lock_guard<std::mutex> hold(registry().mu);
  registry().engines.push_back(engine);
}

void UnregisterEngine(DependencyEngine* engine) {
  std::lock_guard<std::mutex> hold(registry().mu);
  auto& all = registry().engines;
  all.erase(std::remove(all.begin(), all.end(), engine), all.end());
}

void NotifyThreadExit(uint64_t engine_id, ThreadState* state) {
  std::lock_guard<std::mutex> hold(registry().mu);  // keeps the engine alive meanwhile
  for (DependencyEngine* e : registry().engines) {
    if (e->id() == engine_id) return e->ThreadExit(state);
  }
}

bool IsDataWorker() { return g_data_worker.load(std::memory_order_relaxed); }
void SetDataWorker() { g_data_worker.store(true, std::memory_order_relaxed); }

}  // namespace engine
}  // namespace mxnet
