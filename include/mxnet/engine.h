/*
 * The dependency engine: runs functions in an order that respects what they read and write.
 *
 * ORDER      For each variable the operations that touch it take effect in push order: readers
 *            between two writers may run together, writers run alone. Nothing else is ordered.
 * END        An operation is over when its function has returned, its OnComplete was called if it
 *            is asynchronous, and its closure is destroyed: who waits for it sees all of that. So a
 *            function that has called OnComplete must not wait for what comes after it.
 * THREADS    Every member function may be called from any thread, also inside an operation, except
 *            WaitForVar and WaitForAll: they throw there, where they could never return.
 * FAILURE    An operation that throws poisons the variables it writes; an operation with a poisoned
 *            input is skipped and poisons its outputs in turn (unless kNoSkip). The error, extended
 *            by operator name and call site, is rethrown by every WaitForVar on such a variable
 *            until a later write succeeds (what is changed in place: once, src/engine/change.h).
 *            WaitForAll rethrows the first error that nothing has raised yet. One that nothing has
 *            raised or overwritten at exit is printed there, and exit status 0 becomes 1.
 * SHUTDOWN   The destructor drains what was pushed. After a fork the child has an empty engine,
 *            which makes its workers on first use; what is pending stays with the parent.
 *
 * Three implementations (MXNET_ENGINE_TYPE): NaiveEngine runs in the caller; ThreadedEngine has one
 * pool; ThreadedEnginePerDevice has a pool per device plus copy and priority pools.
 */
#ifndef MXNET_ENGINE_H_
#define MXNET_ENGINE_H_

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/run_context.h"

namespace mxnet {

class Var;  // defined by the engine; a variable belongs to the engine that made it

/* Must be called exactly once by an asynchronous operation, from any thread, after its work (on a
 * GPU: on the stream) is done. `error` poisons the writes. */
class OnComplete {
 public:
  using Fn = void (*)(void* op, std::exception_ptr error);
  OnComplete() = default;
  OnComplete(Fn fn, void* op) : fn_(fn), op_(op) {}
  void operator()(std::exception_ptr error = nullptr) const { fn_(op_, error); }
  /* The error as 1.x takes it: a dmlc::Error, of which the message is kept; null: none. */
  void operator()(const std::exception* error) const { fn_(op_, error ? std::make_exception_ptr(Error(error->what())) : nullptr); }

 private:
  Fn fn_ = nullptr;
  void* op_ = nullptr;
};

enum class FnProperty : int {
  kNormal = 0,
  kCopyFromGPU = 1,
  kCopyToGPU = 2,
  kCPUPrioritized = 3,
  kAsync = 4,
  kDeleteVar = 5,
  kGPUPrioritized = 6,
  kNoSkip = 7
};

struct EngineStats {
  uint64_t pushed = 0;   // operations handed to a queue (a bulk counts once)
  uint64_t inlined = 0;  // operations run at once on the calling thread
  uint64_t bulked = 0;   // operations that travelled inside a bulk
  uint64_t bulks = 0;    // bulks pushed
};

class MXNET_DLL Engine {
 public:
  using CallbackOnComplete = OnComplete;
  using VarHandle = Var*;
  using SyncFn = std::function<void(RunContext)>;
  using AsyncFn = std::function<void(RunContext, OnComplete)>;

  /* The process's engine, of the type that Env names. Created on first use, never null. */
  static Engine* Get();
  /* A fresh engine for tests; "" = default. Throws Error(kValue) on an unknown name. The caller
   * deletes it. */
  static Engine* Create(const std::string& type);
  virtual ~Engine() = default;

  virtual Var* NewVariable() = 0;
  /* Frees `var` after everything pushed on it, then calls `fn` (may be empty) with `ctx`. */
  virtual void DeleteVariable(SyncFn fn, Context ctx, Var* var) = 0;

  /*
   * REQUIRES: no variable twice in `writes` (throws Error(kValue) otherwise); duplicates in `reads`
   * are dropped. In both lists: changed in place. `name` must outlive the engine (operator names
   * do). `priority`: larger runs earlier among ready operations. `wait`: the caller promises to
   * wait for it, so it is not collected into a bulk.
   */
  virtual void PushAsync(AsyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop = FnProperty::kNormal,
                         int priority = 0, const char* name = nullptr, bool wait = false) = 0;
  /* Same for a function that has finished when it returns. These are what bulks are made of. */
  virtual void PushSync(SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop = FnProperty::kNormal,
                        int priority = 0, const char* name = nullptr) = 0;

  /*
   * Inline fast path. TryAcquire returns true iff every variable is idle and unpoisoned; the caller
   * then owns them, runs the work on its own thread, and calls Release with the same lists (error =
   * nullptr on success; otherwise the writes are poisoned as if the operation had been queued).
   * Between the two calls the caller must not push or wait on these variables. Flushes this
   * thread's open bulk first if it touches them.
   */
  virtual bool TryAcquire(Var* const* reads, int num_reads, Var* const* writes, int num_writes) = 0;
  virtual void Release(Var* const* reads, int num_reads, Var* const* writes, int num_writes, std::exception_ptr error = nullptr,
                       const char* name = nullptr) = 0;

  /* Blocks until everything pushed so far that writes `var` is done (also its readers when
   * `for_write`). Rethrows. */
  virtual void WaitForVar(Var* var, bool for_write = false) = 0;
  virtual void WaitForAll() = 0;
  /* How many operations all threads have pushed so far; a bulk counts once, when it is closed. */
  virtual uint64_t Pushed() const = 0;
  /* Are so many operations pending, or fewer? */
  virtual bool AtMost(uint64_t pending) const = 0;
  /* Where more than `most` operations are pending: blocks until only `few` are, or none has ended
   * for a second, for what is pending may be waiting for the caller. Raises no operation's error.
   * Does nothing inside an operation, nor in a function that one waits for. */
  virtual void WaitForPending(uint64_t most, uint64_t few) = 0;
  /* Rethrows the error kept in `var`, if any, as WaitForVar does, without waiting. */
  virtual void Throw(Var* var) = 0;
  /* Number of finished writes to `var`; changes whenever its contents may have. */
  virtual uint64_t Version(Var* var) const = 0;

  /* Operations per bulk for this thread; 0 or 1 = no bulking. Returns the previous value. Lowering
   * it flushes. */
  virtual int SetBulkSize(int size) = 0;
  virtual void FlushBulk() = 0;

  /* Drains what was pushed; from then on no bulk is kept open. Destructors elsewhere may still
   * push. Idempotent. */
  virtual void NotifyShutdown() = 0;
  virtual const char* type() const = 0;
  virtual EngineStats stats() const = 0;

  /* Returns the place in the user's program that is pushing now, e.g. "train.py:12"; asked on slow
   * paths only. */
  using CallSiteFn = std::string (*)();
  static void SetCallSiteProvider(CallSiteFn fn);

  /* Says that this process is a data loader's worker: CPU pools that are not yet running get
   * MXNET_MP_WORKER_NTHREADS threads. A forked child counts as one by itself; a spawned worker
   * calls this before its first operation. */
  static void MarkDataWorker();
};

}  // namespace mxnet
#endif  // MXNET_ENGINE_H_
