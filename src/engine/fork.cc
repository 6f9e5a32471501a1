/*
 * Live engines, and what a fork does to them. The child has one thread: it gets every lock free, every variable idle
 * (with an error in those that a lost operation was to write) and engines without workers, which are made on first use.
 */
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

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

// LOCK ORDER: registry, operation blocks, variable blocks, then what each engine's PrepareFork takes.
void Prepare() {
  registry().mu.lock();
  BlockPool<Op>::Lock();
  BlockPool<Var>::Lock();
  for (DependencyEngine* e : registry().engines) e->PrepareFork();
}

void UnlockShared() {
  BlockPool<Var>::Unlock();
  BlockPool<Op>::Unlock();
  registry().mu.unlock();
}

void InParent() {
  for (DependencyEngine* e : registry().engines) e->ParentAfterFork();
  UnlockShared();
}

ErrorRecord* Lost() {
  ErrorRecord* record = new ErrorRecord(std::make_exception_ptr(Error(
      "[engine] the value was still being computed when the process was forked and stays with the parent process; accepted: "
      "wait for arrays (waitall) before a fork whose child reads them")));
  record->holders.store(1, std::memory_order_relaxed);
  return record;
}

void InChild() {
  g_data_worker.store(true);
  for (DependencyEngine* e : registry().engines) e->ChildAfterFork();
  BlockPool<Var>::ForEachLocked([](Var* v) { v->ResetInChild(&Lost); });
  UnlockShared();
}

void Install() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(&Prepare, &InParent, &InChild); });
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
