/*
 * The two engines with workers. They differ only in which pool an operation goes to:
 *
 *   ThreadedEngine            one pool for everything
 *   ThreadedEnginePerDevice   CPU; CPU priority (kCPUPrioritized, and kAsync, whose functions only
 *                             start something and must not wait behind kernels); per GPU: normal,
 *                             copy (both directions), priority
 *
 * Pools are made when the first operation needs them, from the values that Env has then.
 */
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "engine/dependency_engine.h"
#include "engine/gpu_streams.h"
#include "engine/worker_pool.h"
#include "mxnet/env.h"

namespace mxnet {
namespace engine {
namespace {

int CpuWorkers() {
  const Env& env = Env::Get();
  return IsDataWorker() ? env.mp_worker_nthreads : env.cpu_worker_nthreads;
}

class ThreadedEngineBase : public DependencyEngine {
 public:
  void Shutdown() override {
    NotifyShutdown();
    StopPools(true);
  }
  void PrepareFork() override {
    DependencyEngine::PrepareFork();
    pools_mu_.lock();
  }
  void ParentAfterFork() override {
    pools_mu_.unlock();
    DependencyEngine::ParentAfterFork();
  }
  void ChildAfterFork() override {
    pools_mu_.unlock();
    // The parent's threads do not exist here; a pool without its threads can only be forgotten.
    for (std::atomic<WorkerPool*>& slot : pools_) slot.store(nullptr);
    ForgetStreams();
    DependencyEngine::ChildAfterFork();
  }

 protected:
  static constexpr int kMaxGpus = 64;
  static constexpr int kMaxPools = 2 + 3 * kMaxGpus;

  ~ThreadedEngineBase() override {
    for (std::atomic<WorkerPool*>& slot : pools_) delete slot.load();
  }

  void AbandonPending() override {
    last_ = pthread_self();
    abandoned_.store(true, std::memory_order_seq_cst);
    StopPools(false);
  }

  /* The slot of `op`, its pool's name and number of threads. */
  struct Place {
    int slot;
    const char* name;
    int threads;
    bool high_priority;
  };
  virtual Place Find(const Op& op) const = 0;
  virtual int Slot(const Op& op) const = 0;

  void Schedule(Op* op, bool may_keep) override {
    if (__builtin_expect(stopped_.load(std::memory_order_acquire), 0)) {
      if (!abandoned_.load(std::memory_order_acquire) || pthread_equal(pthread_self(), last_)) RunInCaller(op);
      return;
    }
    WorkerPool* pool = pools_[Slot(*op)].load(std::memory_order_acquire);
    if (__builtin_expect(pool == nullptr, 0)) pool = MakePool(Find(*op));
    if (__builtin_expect(pool->num_threads() == 0, 0)) return RunInCaller(op);
    if (may_keep && pool->TryKeep(op)) return;
    pool->Push(op);
  }

 private:
  void StopPools(bool run_queued) {
    if (stopped_.exchange(true)) return;
    for (std::atomic<WorkerPool*>& slot : pools_) {
      if (WorkerPool* pool = slot.load(std::memory_order_acquire)) pool->Stop(run_queued);
    }
  }

  WorkerPool* MakePool(const Place& place) {
    std::lock_guard<std::mutex> hold(pools_mu_);
    WorkerPool* pool = pools_[place.slot].load(std::memory_order_acquire);
    if (pool != nullptr) return pool;
    const bool high = place.high_priority;
    pool = new WorkerPool(place.name, place.threads, [this, high](Op* op) { RunHere(op, high); });
    pools_[place.slot].store(pool, std::memory_order_release);
    return pool;
  }

  void RunHere(Op* op, bool high_priority) {
    RunContext rctx;
    rctx.ctx = op->ctx;
    if (!rctx.ctx.is_gpu()) return RunOp(op, rctx, nullptr);
    try {
      FillStreams(&rctx, high_priority);
    } catch (...) {
      return FailOp(op, std::current_exception());
    }
    // What comes to the host is there when the operation is over: its readers on the CPU would hold
    // up a worker otherwise.
    RunOp(op, rctx, op->prop == FnProperty::kCopyFromGPU ? &EndOnHost : &EndOnStream);
  }

  /* After Shutdown, typically from destructors at process exit. A chain runs in a loop, not in a
   * recursion. */
  void RunInCaller(Op* op) {
    static thread_local OpList* waiting = nullptr;
    if (waiting != nullptr) return waiting->Push(op);
    InOperationScope scope;  // also for closures that are destroyed
    OpList list;
    waiting = &list;
    list.Push(op);
    while (Op* next = list.Pop()) RunHere(next, false);
    waiting = nullptr;
  }

  std::mutex pools_mu_;
  std::atomic<bool> stopped_{false};
  pthread_t last_{};  // written before abandoned_: the thread that ends the program
  std::atomic<WorkerPool*> pools_[kMaxPools] = {};
};

class ThreadedEngine final : public ThreadedEngineBase {
 public:
  ~ThreadedEngine() override {
    UnregisterEngine(this);
    Drain();
    Shutdown();
  }
  const char* type() const override { return "ThreadedEngine"; }

 protected:
  int Slot(const Op&) const override { return 0; }
  Place Find(const Op&) const override {
    int threads = CpuWorkers();
    if (GpuInterface().streams.get() != nullptr) threads = std::max(threads, Env::Get().gpu_worker_nthreads);
    return {0, "mx-worker", threads, false};
  }
};

class ThreadedEnginePerDevice final : public ThreadedEngineBase {
 public:
  ~ThreadedEnginePerDevice() override {
    UnregisterEngine(this);
    Drain();
    Shutdown();
  }
  const char* type() const override { return "ThreadedEnginePerDevice"; }

 protected:
  int Slot(const Op& op) const override {
    const FnProperty p = op.prop;
    if (!op.ctx.is_gpu()) {
      return p == FnProperty::kCPUPrioritized || p == FnProperty::kGPUPrioritized || p == FnProperty::kAsync ? 1 : 0;
    }
    int kind = 0;
    if (p == FnProperty::kCopyFromGPU || p == FnProperty::kCopyToGPU) kind = 1;
    if (p == FnProperty::kGPUPrioritized || p == FnProperty::kAsync) kind = 2;
    return 2 + 3 * (op.ctx.dev_id % kMaxGpus) + kind;  // a shared pool is still correct: streams are per device
  }
  Place Find(const Op& op) const override {
    const Env& env = Env::Get();
    const int slot = Slot(op);
    if (slot == 0) return {0, "mx-cpu", CpuWorkers(), false};
    if (slot == 1) return {1, "mx-cpu-prio", env.cpu_priority_nthreads, false};
    switch ((slot - 2) % 3) {
      case 0: return {slot, "mx-gpu", env.gpu_worker_nthreads, false};
      case 1: return {slot, "mx-gpu-copy", env.gpu_copy_nthreads, false};
      default: return {slot, "mx-gpu-prio", env.gpu_worker_nthreads, true};
    }
  }
};

}  // namespace

DependencyEngine* CreateThreadedEngine() { return new ThreadedEngine; }
DependencyEngine* CreateThreadedEnginePerDevice() { return new ThreadedEnginePerDevice; }

}  // namespace engine
}  // namespace mxnet
