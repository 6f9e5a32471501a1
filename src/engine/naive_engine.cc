/*
 * Runs every operation on the thread that pushes it, before the push returns. The dependency
 * tracking is the same as in the other engines, because several threads may push and asynchronous
 * operations may be finished by others: a pushing thread waits until its operation is ready, runs
 * it and waits until it is complete. A push from inside an operation that cannot run yet (its
 * variables are held by that very operation, say) is left for the outermost push of the same
 * thread, which returns only when all of them are done.
 */
#include <condition_variable>
#include <mutex>

#include "engine/blocking.h"
#include "engine/dependency_engine.h"
#include "engine/gpu_streams.h"
#include "engine/waiting_work.h"

namespace mxnet {
namespace engine {

struct NaiveCaller {
  std::mutex mu;
  std::condition_variable changed;
  OpList ready;     // guarded by mu
  int pending = 0;  // guarded by mu: submitted by this thread and not complete
  int depth = 0;    // of pushes and completions on this thread
};

namespace {

class NaiveEngine final : public DependencyEngine {
 public:
  ~NaiveEngine() override {
    UnregisterEngine(this);
    Drain();
    Shutdown();
  }
  const char* type() const override { return "NaiveEngine"; }
  void Shutdown() override { DrainAtExit(); }

 protected:
  void BeforeSubmit(Op* op) override {
    if (op->kind == Op::kDelete || op->kind == Op::kWait) return;  // run wherever they become ready
    NaiveCaller* caller = Caller();
    op->caller = caller;
    std::lock_guard<std::mutex> hold(caller->mu);
    ++caller->pending;
  }

  void Schedule(Op* op, bool) override {
    NaiveCaller* caller = op->caller;
    std::lock_guard<std::mutex> hold(caller->mu);
    caller->ready.Push(op);
    caller->changed.notify_one();  // under the lock: the caller may be gone once it sees the list
  }

  void AfterSubmit() override {
    NaiveCaller* caller = Caller();
    const bool outermost = caller->depth == 0;
    ++caller->depth;
    Run(caller, outermost);
    --caller->depth;
  }

  /* What closures push while they are destroyed may have to wait for this very operation. */
  void FinishAsync(Op* op, bool may_keep) override {
    NaiveCaller* caller = Caller();
    const bool outermost = caller->depth == 0;
    ++caller->depth;
    DependencyEngine::FinishAsync(op, may_keep);
    if (outermost) Run(caller, true);
    --caller->depth;
  }

  void CallerDone(NaiveCaller* caller) override {
    std::lock_guard<std::mutex> hold(caller->mu);
    if (--caller->pending == 0) caller->changed.notify_one();
  }

  bool CanBulk() const override { return false; }
  bool CanStartHere() const override { return false; }  // AfterSubmit runs it

 private:
  static NaiveCaller* Caller() {
    static thread_local NaiveCaller caller;
    return &caller;
  }

  /* What is ready; the outermost push waits for the rest. */
  void Run(NaiveCaller* caller, bool outermost) {
    std::unique_lock<std::mutex> hold(caller->mu);
    for (;;) {
      if (Op* op = caller->ready.Pop()) {
        hold.unlock();
        RunHere(op);
        hold.lock();
      } else if (outermost && caller->pending > 0) {
        hold.unlock();
        BlockingScope blocking;
        WorkWhileWaiting([caller] {
          std::lock_guard<std::mutex> look(caller->mu);
          return !caller->ready.empty() || caller->pending == 0;
        });
        hold.lock();
        if (caller->ready.empty() && caller->pending > 0) caller->changed.wait(hold);
      } else {
        return;
      }
    }
  }

  void RunHere(Op* op) {
    InOperationScope scope;  // also for closures that are destroyed
    RunContext rctx;
    rctx.ctx = op->ctx;
    if (!rctx.ctx.is_gpu()) return RunOp(op, rctx, nullptr);
    try {
      FillStreams(&rctx, false);
    } catch (...) {
      return FailOp(op, std::current_exception());
    }
    RunOp(op, rctx, &EndOnHost);
  }
};

}  // namespace

DependencyEngine* CreateNaiveEngine() { return new NaiveEngine; }

}  // namespace engine
}  // namespace mxnet
