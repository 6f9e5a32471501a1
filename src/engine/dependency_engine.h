/*
 * Everything that the three engines share: dependency tracking, completion, errors, bulking,
 * waiting, fork. A subclass only says where a ready operation runs (Schedule). The data structures
 * and their invariants are described in var.h.
 */
#ifndef MXNET_ENGINE_DEPENDENCY_ENGINE_H_
#define MXNET_ENGINE_DEPENDENCY_ENGINE_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/float_mode.h"
#include "engine/change.h"
#include "engine/var.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace engine {

/* The operations of a bulk. Item i uses vars[items[i].first_var, + num_vars). */
struct BulkBody {
  struct Item {
    Engine::SyncFn fn;
    const char* name;
    bool no_skip;
    int first_var, num_vars;
    std::string site;
    const profiler::Label* called_for = nullptr;  // profiler/called_for.h
  };
  struct Use {
    Var* var;
    bool write, kept;
  };
  std::vector<Item> items;
  std::vector<Use> vars;
};

/*
 * What an engine keeps per pushing or completing thread. Counters are written by their thread only;
 * the bulk is guarded by `lock`, because a thread that touches one of its variables flushes it.
 */
struct alignas(64) ThreadState {
  std::atomic<uint64_t> started{0}, finished{0};  // operations; the engine is quiescent when the sums are equal
  std::atomic<uint64_t> pushed{0}, inlined{0}, bulked{0}, bulks{0};
  int bulk_size = 0;

  SpinLock lock;
  Context bulk_ctx;
  int bulk_priority = 0;
  uint64_t made = 0;                   // operations
  std::unique_ptr<BulkBody> bulk;      // null: nothing is open
  std::atomic<bool> bulk_open{false};  // bulk != nullptr, readable without the lock (exact for the owner's own pushes)
  std::vector<Op*> bulk_deletes;       // deletions of variables of the open bulk, pushed right after it

  std::atomic<bool> in_use{true};  // false: its thread has exited and another may take it over
  ThreadState* next = nullptr;
};

inline void Bump(std::atomic<uint64_t>* counter, uint64_t by = 1) {  // single writer: no locked instruction
  counter->store(counter->load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/*
 * This thread's state in the engine that it used last. Not initial-exec: one such variable moves
 * all thread-local data of the library into the loader's small reserve for opened libraries, and
 * `import mxnet` fails.
 */
struct StateCache {
  uint64_t engine_id;
  ThreadState* state;
};
extern __thread StateCache tls_state;

class DependencyEngine : public Engine {
 public:
  DependencyEngine();
  ~DependencyEngine() override;

  Var* NewVariable() override { return NewVariable(false); }
  Var* NewVariable(bool workspace);
  void DeleteVariable(SyncFn fn, Context ctx, Var* var) override;
  void PushAsync(AsyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop, int priority,
                 const char* name, bool wait) override;
  void PushSync(SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, FnProperty prop, int priority,
                const char* name) override;
  bool TryAcquire(Var* const* reads, int num_reads, Var* const* writes, int num_writes) override;
  void Release(Var* const* reads, int num_reads, Var* const* writes, int num_writes, std::exception_ptr error, const char* name) override {
    ReleaseChanged(reads, num_reads, writes, num_writes, 0, error, name);
  }
  void ReleaseChanged(Var* const* reads, int num_reads, Var* const* writes, int num_writes, int num_kept, std::exception_ptr error,
                      const char* name);
  void WaitForVar(Var* var, bool for_write) override;
  void WaitForAll() override;
  uint64_t Pushed() const override { return Started(); }
  bool AtMost(uint64_t pending) const override;
  void WaitForPending(uint64_t most, uint64_t few) override;
  /* Blocks until as many operations have ended as have been pushed before, those in bulks with
   * them, or none has ended for ten seconds. Otherwise as WaitForPending. */
  void WaitForPushed();
  void Throw(Var* var) override;
  uint64_t Version(Var* var) const override { return var->version(); }
  int SetBulkSize(int size) override;
  void FlushBulk() override;
  void NotifyShutdown() override;
  EngineStats stats() const override;

  /* Runs everything that is pending, then ends the workers; what is pushed later runs in the
   * caller. Idempotent. */
  virtual void Shutdown() = 0;

  /* Fork: called with every other thread of the process alive (prepare, parent) or gone (child). */
  virtual void PrepareFork() { errors_mu_.lock(); }
  virtual void ParentAfterFork() { errors_mu_.unlock(); }
  virtual void ChildAfterFork();

  /*
   * Waits until what was pushed on `var` is complete, and returns what devices still have to do.
   * `raise`: the error that it keeps.
   */
  std::vector<DeviceWorkPtr> Settle(Var* var, bool for_write, std::exception_ptr* raise);
  /* engine/waiting_work.h */
  void PushStarting(AsyncFn fn, std::vector<Var*> reads, std::vector<Var*> writes, int priority, const char* name);
  /* The failures that no wait has raised and no write has made good, oldest first. */
  std::vector<std::string> Unread();
  uint64_t id() const { return id_; }
  void ThreadExit(ThreadState* state);  // flushes its bulk and lets another thread take the state over

 protected:
  /* `op` is ready. Called from any thread, without locks. Must run it (RunOp) or queue it.
   * `may_keep`: this thread has
     just finished a synchronous operation and will return to its worker loop at once. */
  virtual void Schedule(Op* op, bool may_keep) = 0;
  /* Called after the fields of a pushed operation are set and before any other thread can see
   * it. */
  virtual void BeforeSubmit(Op*) {}
  /* Called on the pushing thread after the operation has been handed over (and maybe finished). */
  virtual void AfterSubmit() {}
  virtual bool CanBulk() const { return true; }
  /* May the pushing thread run an asynchronous operation although it has workers? */
  virtual bool CanStartHere() const { return true; }
  /* Called when an operation of a NaiveCaller is done. */
  virtual void CallerDone(NaiveCaller*) {}

  /* Returns what a function left under way on the context's streams, or null after waiting for it;
   * may throw. */
  using EndFn = DeviceWorkPtr (*)(const RunContext&, const char* name, const std::string& site);
  /* Runs a ready operation on this thread and, unless it is asynchronous, completes it. `end`: null
   * on the CPU. */
  void RunOp(Op* op, const RunContext& rctx, EndFn end);
  /* The same of one on the CPU that only starts something. */
  void StartHere(Op* op);
  /* Ends an asynchronous operation that has returned and called back. On the thread that did so
   * last, which may be any. */
  virtual void FinishAsync(Op* op, bool may_keep);
  /* Completes `op` with an error that arose before its function could run. */
  void FailOp(Op* op, std::exception_ptr error);
  std::atomic<bool> abandoned_{false};  // AbandonPending was called

  /* Blocks until nothing is pending. */
  void Drain();
  /*
   * The same at the program's end, where another thread, a daemon of Python say, may go on pushing
   * for ever: then until as much has ended as had been pushed before, and half a second more.
   * What is pending after that is abandoned.
   */
  void DrainAtExit();
  /* No operation begins any more, but those that this thread pushes. Returns when none runs. */
  virtual void AbandonPending() { abandoned_.store(true); }
  ThreadState* State() {
    if (__builtin_expect(tls_state.engine_id == id_, 1)) return tls_state.state;
    return StateSlow();
  }

 private:
  Op* NewOp(Op::Kind kind, const Context& ctx, FnProperty prop, int priority, const char* name);
  void FreeOp(Op* op);
  void FillEntries(Op* op, const std::vector<Var*>& reads, const std::vector<Var*>& writes);
  void Submit(Op* op);
  void PushOp(AsyncFn fn, const Context& ctx, const std::vector<Var*>& reads, const std::vector<Var*>& writes, FnProperty prop,
              int priority, const char* name, bool starts_here);
  void Dispatch(OpList* ready, bool may_keep = false);
  void Complete(Op* op, ErrorRecord* failure, OpList* ready);
  void DropAsync(Op* op, bool may_keep);
  static void OnCompleteTrampoline(void* op, std::exception_ptr error);
  ErrorRecord* InputError(Op* op) const;
  void RunBulk(Op* op, const RunContext& rctx, EndFn end, OpList* ready);
  static std::vector<DeviceWorkPtr> UnderWay(Op* op);
  void WaitForDevices(Op* op, const RunContext& rctx);
  static void DiscardWait(PendingWait* abandoned);
  void FinishWork(const std::vector<DeviceWorkPtr>& work, bool raise, bool again = false);
  ErrorRecord* NewError(const std::exception_ptr& e, const char* name, const std::string& site);
  ErrorRecord* Keep(ErrorRecord* record);
  ErrorRecord* Inherit(ErrorRecord* input, uint64_t seen_raised, bool changes);

  bool AppendToBulk(ThreadState* state, SyncFn* fn, const Context& ctx, const std::vector<Var*>& reads, const std::vector<Var*>& writes,
                    bool no_skip, int priority, const char* name);
  void CloseBulkLocked(ThreadState* state, OpList* ready);
  void Flush(ThreadState* state);
  void FlushAll();
  uint64_t Started() const;
  uint64_t Finished() const;
  /* Sleeps until `over` says so. False when a signal or the limit woke it before. */
  bool SleepUntil(const std::function<bool()>& over, int timeout_ms);
  void CountFinished();
  ThreadState* StateSlow();
  void CheckMayWait(const char* what) const;
  void CheckContext(const Context& ctx, const char* name) const;

  const uint64_t id_;
  std::atomic<ThreadState*> states_{nullptr};  // grows only; freed with the engine
  std::atomic<bool> bulking_off_{false};
  std::atomic<int> all_waiters_{0};
  std::atomic<uint64_t> wake_at_{0};   // who sleeps is woken when so few operations are pending
  std::atomic<uint32_t> all_word_{0};  // futex of WaitForAll
  std::atomic<int> callbacks_{0};      // OnComplete calls that still use the engine
  std::mutex errors_mu_;
  std::vector<ErrorRecord*> errors_;  // guarded by errors_mu_: may be unread, oldest first
};

/* Depth of operations on this thread; an engine worker counts as one for good. Such a thread must
 * not wait. Not initial-exec, as above. */
extern __thread int tls_depth;
struct InOperationScope {
  InOperationScope() { ++tls_depth; }
  ~InOperationScope() { --tls_depth; }
  FloatModeScope float_mode;
};
inline bool InOperation() { return tls_depth > 0; }
inline void MarkWorkerThread() { ++tls_depth; }

/* Does `last` wait for `first`, which is under way and stays so meanwhile? False as well where
 * that takes a longer look. `last` is not read. */
bool Precedes(const Op& first, const Op* last);
/* Who is about to wait runs the jobs that are `wanted` (LentJobs). Returns at once in a job. */
void RunLentJobs(const std::function<bool(const Op& of)>& wanted, const std::function<bool()>& over);
/* Is this thread in RunLentJobs? */
bool RunsLentJobs();
/* While one lives, a thread starts `op` (StartedHere); null: something else. */
class StartingScope {
 public:
  explicit StartingScope(const Op* op);
  ~StartingScope();

 private:
  const Op* const before_;
};
/* While one lives, what this thread starts is started by the program, if it is not an operation
 * that does so. */
class ProgramScope {
 public:
  ProgramScope();
  ~ProgramScope();

 private:
  const bool before_;
};
/* Makes this thread's waits as they are without InterruptibleWaits while it lives. */
class PatientWaits {
 public:
  PatientWaits();
  ~PatientWaits();

 private:
  const int before_;
};

/* By address, the order in which variables are locked. */
void SortByVar(VarEntry* entries, int n);
/* What a bulk is to leave in its variables has them as holders from here on: one of them may clear
 * a failure that another is still to receive. */
void HoldOutcomes(Op* op);

DependencyEngine* CreateNaiveEngine();
DependencyEngine* CreateThreadedEngine();
DependencyEngine* CreateThreadedEnginePerDevice();

/* The live engines, for fork handlers and thread exits. */
void RegisterEngine(DependencyEngine* engine);
void UnregisterEngine(DependencyEngine* engine);
/* Calls ThreadExit if the engine with this id still lives. */
void NotifyThreadExit(uint64_t engine_id, ThreadState* state);
/* Waits for all work of the engine of Engine::Get, if it was ever made. */
void FinishProcessEngine();
/* True in a process that was forked from one that had an engine, or after
 * Engine::MarkDataWorker. */
bool IsDataWorker();
void SetDataWorker();

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_DEPENDENCY_ENGINE_H_
