/*
 * Variables and operations: the data that the dependency engine works on. READ THIS FIRST in
 * src/engine/.
 *
 * STATE OF A VARIABLE (guarded by Var::lock)
 *
 *     idle            readers == 0, !writer, queue empty
 *     reading(n)      readers == n, !writer; the queue is empty or starts with a write
 *     writing         readers == 0,  writer; the queue holds whatever came later
 *
 *   The queue holds entries (one per operation and variable) in push order. An entry is *granted*
 *   when it may touch the variable: at once if nothing is queued and the state allows it, else when
 *   the entries in front of it are finished. Finishing the last reader or the writer grants the
 *   first queued write, or all reads up to the next write. INVARIANT: a non-empty queue never
 *   starts with an entry that could be granted, so whoever finds "queue empty, state compatible"
 *   may enter without asking anyone. That is TryAcquire, one lock operation per variable.
 *
 *   An operation is *ready* when all its entries are granted (Op::waiting reaches 0) and then
 *   belongs to one thread. Pushing locks all variables of an operation at once, in address order:
 *   two threads that push operations on the same variables therefore see the same order in every
 *   queue, so no cycle of waiting operations can form.
 *
 *   `bulk` names the thread whose open bulk touches the variable but is not yet in the queue.
 *   Whoever wants to enter flushes that bulk first; this keeps push order between threads although
 *   bulks are kept per thread.
 *
 * ERRORS   `error` is the record of the failure that left the contents invalid; records are shared
 *          along a chain of
 *   skipped operations. A record is `raised` once the program has been told, and `cleared` once
 *   what it poisons is all overwritten. A variable whose contents an operation replaces stays
 *   poisoned until a later write. One whose contents an operation changes (VarEntry::kept: weights,
 *   moving means, sums) keeps what it held, so that its poison is `soft`: it ends as soon as the
 *   failure is raised somewhere. Changing it by what is known to have failed is a failure of its
 *   own. What a `workspace` variable holds is worth nothing after a failure. A variable is poisoned
 *   iff error != null && !error->cleared && !(soft && error->raised).
 *
 * LOCK ORDER   ThreadState::lock (open bulk)  ->  Var::lock by ascending address  ->  nothing. User
 *              code, the block pools'
 *   mutexes and worker queues are never entered with one of these held.
 *
 * DEVICES  An operation on a GPU completes when its work is queued on a stream. What is under way
 *          stays with the variables it touched
 *   (`work`, gpu_work.h); whoever enters later waits for it, streams by events, the host by
 *   blocking.
 *
 * MEMORY   Var and Op come from a BlockPool and are type-stable, which lets a fork's child reset
 *          every variable.
 */
#ifndef MXNET_ENGINE_VAR_H_
#define MXNET_ENGINE_VAR_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "engine/gpu_work.h"
#include "engine/sync.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace profiler {
struct Label;
}

namespace engine {

struct Op;
struct ThreadState;
struct NaiveCaller;

/* How many failures have been raised so far. */
extern std::atomic<uint64_t> num_raised;

/* One failure. Reference counted by the variables, entries and lists that hold it. */
struct ErrorRecord {
  explicit ErrorRecord(std::exception_ptr e) : error(std::move(e)) {}
  std::atomic<int> refs{1};
  std::atomic<int> holders{0};  // variables that it poisons; overwriting the last one clears it
  std::atomic<bool> cleared{false};
  std::atomic<uint64_t> raised{0};  // 0: not yet; else which of all raises it was
  const std::exception_ptr error;

  void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /* Drops one holder and one reference. The last holder gone: overwritten everywhere, which clears
   * the failure unless nothing was `written`. */
  void Release(bool written = true) {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1 && written) cleared.store(true, std::memory_order_release);
    Unref();
  }
  /* True for the first caller: the one that tells the program. */
  bool Claim() {
    uint64_t not_yet = 0;
    return raised.compare_exchange_strong(not_yet, num_raised.fetch_add(1, std::memory_order_acq_rel) + 1, std::memory_order_acq_rel);
  }
  /* Had the program been told when it pushed an operation that found `seen` raises? */
  bool RaisedBefore(uint64_t seen) const {
    const uint64_t at = raised.load(std::memory_order_acquire);
    return at != 0 && at <= seen;
  }
  /* Does the program still have to hear of it? */
  bool Unread() const { return raised.load(std::memory_order_acquire) == 0 && !cleared.load(std::memory_order_acquire); }
};

/* The exception to keep: `e` as mxnet::Error of the same kind, its message extended by operator
 * name and call site. */
std::exception_ptr DescribeError(const std::exception_ptr& e, const char* name, const std::string& site);
/* Asks the call-site provider, else what this thread marked (call_site.h); "" without either. */
std::string CallSite();
bool HasCallSite();

/* What a wait found in a variable. A reference passes with the record. */
struct FoundError {
  ErrorRecord* record = nullptr;
  bool soft = false;
};

/* What a thread waits for, and what it learns then. An abandoned one belongs to who signals it. */
struct PendingWait : Latch {
  FoundError error;
  std::vector<DeviceWorkPtr> work;  // that the waiter has to wait for on the host
};

struct VarEntry {
  Var* var = nullptr;
  Op* op = nullptr;
  VarEntry* next = nullptr;      // in the variable's queue
  ErrorRecord* error = nullptr;  // after the grant: what the variable was poisoned with; after the run: what to leave in it
  uint32_t writes = 0;           // 0: reads; else the number of writes that it stands for
  bool kept = false;             // a write that changes the contents instead of replacing them
  bool soft = false;             // of `error`
};

/* A ready or waiting operation. Owned by whoever runs it; fields are written before it is handed to
 * another thread. */
struct Op {
  static constexpr int kInlineEntries = 4;
  enum Kind : uint8_t { kSync, kAsync, kBulk, kDelete, kWait };

  Op* pool_next = nullptr;  // BlockPool, worker queue or ready list: it is in one of them at a time
  Kind kind = kSync;
  FnProperty prop = FnProperty::kNormal;
  int priority = 0;
  const void* pusher = nullptr;  // whose program it belongs to: a thread
  uint64_t age = 0;              // how many operations that thread had made before it
  uint64_t seen_raised = 0;      // num_raised when it was made
  int num_entries = 0;
  int entry_capacity = kInlineEntries;
  Context ctx;
  const char* name = nullptr;
  std::atomic<int> waiting{0};     // entries not yet granted
  std::atomic<int> refs{0};        // asynchronous: the running function and the callback
  ErrorRecord* failure = nullptr;  // asynchronous: what the callback told; set before it drops its reference
  std::atomic<bool> finished{false};
  bool starts_here = false;                // runs on the pushing thread if it is ready then
  std::atomic<bool> poisoned{false};       // some entry has an error
  std::atomic<bool> behind_device{false};  // some entry's variable had work under way on a device when it was granted
  DeviceWorkPtr work;                      // GPU: its own end on the stream, once it has run
  class DependencyEngine* engine = nullptr;
  VarEntry* entries = inline_entries;
  VarEntry inline_entries[kInlineEntries];
  std::unique_ptr<VarEntry[]> heap_entries;
  Engine::SyncFn sync;
  Engine::AsyncFn async;
  std::unique_ptr<struct BulkBody> bulk;
  PendingWait* wait = nullptr;                  // kWait: signalled when granted
  NaiveCaller* caller = nullptr;                // NaiveEngine: the thread that runs it
  const profiler::Label* called_for = nullptr;  // profiler/called_for.h
  std::string site;

  /* Leaves num_entries == 0 and room for n. */
  void Reserve(int n) {
    num_entries = 0;
    if (n <= entry_capacity) return;
    heap_entries.reset(new VarEntry[n]);
    entries = heap_entries.get();
    entry_capacity = n;
  }
  void Add(Var* var, uint32_t writes) {
    VarEntry* e = &entries[num_entries++];
    e->var = var;
    e->op = this;
    e->next = nullptr;
    e->error = nullptr;
    e->writes = writes;
    e->kept = e->soft = false;
  }
};

/* Do `a` and `b` belong to one program, in which `a` stands before `b`? */
inline bool Before(const Op& a, const Op& b) { return a.pusher == b.pusher && a.age < b.age; }

/* Ready operations collected while variables are locked, run or queued afterwards. */
class OpList {
 public:
  bool empty() const { return head_ == nullptr; }
  void Push(Op* op) {
    op->pool_next = nullptr;
    (tail_ == nullptr ? head_ : tail_->pool_next) = op;
    tail_ = op;
  }
  Op* front() const { return head_; }
  Op* back() const { return tail_; }
  Op* Pop() {
    Op* op = head_;
    if (op != nullptr && (head_ = op->pool_next) == nullptr) tail_ = nullptr;
    return op;
  }

 private:
  Op* head_ = nullptr;
  Op* tail_ = nullptr;
};

}  // namespace engine

class alignas(64) Var {
 public:
  bool TryRead() {
    lock_.lock();
    bool ok = !writer_ && head_ == nullptr && bulk_ == nullptr && (error_ == nullptr || ForgetCleared()) &&
              (work_ == nullptr || WorkPassed(false));
    readers_ += ok;
    lock_.unlock();
    return ok;
  }
  bool TryWrite() {
    lock_.lock();
    bool ok = !writer_ && readers_ == 0 && head_ == nullptr && bulk_ == nullptr && (error_ == nullptr || ForgetCleared()) &&
              (work_ == nullptr || WorkPassed(true));
    writer_ = writer_ | ok;
    lock_.unlock();
    return ok;
  }
  /* As good as new for another array, if nobody uses it: no failure, no work, no bulk is left in
   * it. REQUIRES: nobody can begin to use it. */
  bool Renew() {
    lock_.lock();
    const bool ok = idle() && bulk_ == nullptr && error_ == nullptr && work_ == nullptr && !workspace_;
    lock_.unlock();
    if (ok) {
      bulk_writes_ = false;
      version_.store(0, std::memory_order_relaxed);
    }
    return ok;
  }
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  /* The rest is for the engine. REQUIRES: lock() held, unless it says otherwise. */
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  engine::ThreadState* bulk() const { return bulk_; }
  void SetBulk(engine::ThreadState* state, bool writes) {
    bulk_ = state;
    bulk_writes_ = state != nullptr && (bulk_writes_ || writes);
  }
  bool idle() const { return !writer_ && readers_ == 0 && head_ == nullptr; }
  /* The first of those that are not granted yet. */
  const engine::VarEntry* queue() const { return head_; }
  /* Everything pushed so far that writes has finished. (A queue can only exist in front of or
   * behind a write.) */
  bool settled() const { return !writer_ && head_ == nullptr; }
  /* Grants or queues; returns true when granted. */
  bool Enter(engine::VarEntry* e);
  void FinishRead(engine::OpList* ready) {
    if (--readers_ == 0 && head_ != nullptr) GrantNext(ready);
  }
  /* `outcome` (one reference passes in) becomes the error; null: contents are valid again. */
  void FinishWrite(uint32_t writes, engine::ErrorRecord* outcome, bool soft, engine::OpList* ready) {
    version_.store(version_.load(std::memory_order_relaxed) + writes, std::memory_order_release);
    if (error_ != nullptr || outcome != nullptr) SetError(outcome, soft);
    writer_ = false;
    if (head_ != nullptr) GrantNext(ready);
  }
  /* After a wait that asked for exclusive access: contents and error stay. */
  void FinishExclusive(engine::OpList* ready) {
    writer_ = false;
    if (head_ != nullptr) GrantNext(ready);
  }
  /* A new reference to the live error, or null. Forgets one that is over. */
  engine::ErrorRecord* LiveError();
  bool soft() const { return soft_; }
  bool workspace() const { return workspace_; }
  /* Drops an error that is over; false if there is one that is not. REQUIRES: error_ != null. */
  bool ForgetCleared();
  /* After an operation, in front of FinishRead or FinishWrite: `work` (null: done) is what it left
   * under way. Returns what it replaced, to be destroyed
     without the lock. */
  std::unique_ptr<engine::VarWork> NoteWork(const engine::DeviceWorkPtr& work, bool write);
  /* Of another library; returns the one of the two that need not stay, likewise. */
  engine::DeviceWorkPtr NoteOutside(engine::DeviceWorkPtr work);
  void CollectWork(bool reads_too, std::vector<engine::DeviceWorkPtr>* out) const;
  bool HasWork(bool reads_too) const;  // REQUIRES: work_ != null
  std::unique_ptr<engine::VarWork> TakeWork();
  /* Makes a block from the pool a new variable, or empties one that is deleted. No lock needed. */
  void Reset(bool workspace = false);
  /* Fork's child: nothing is pending any more; what was being written is poisoned with `lost`(). No
   * lock needed. */
  void ResetInChild(engine::ErrorRecord* (*lost)());

  union {
    Var* pool_next = nullptr;  // a free block's
    engine::VarWork* work_;    // a variable's: under way on devices; null: nothing. One place, so that a variable stays one line of cache.
  };

 private:
  bool WorkPassed(bool reads_too);
  void GrantNext(engine::OpList* ready);
  void Grant(engine::VarEntry* e);
  void SetError(engine::ErrorRecord* outcome, bool soft);

  engine::SpinLock lock_;
  uint32_t readers_ = 0;
  bool writer_ = false;
  bool bulk_writes_ = false;
  bool live_ = false;
  bool soft_ = false;
  bool workspace_ = false;
  engine::VarEntry* head_ = nullptr;
  engine::VarEntry* tail_ = nullptr;
  engine::ThreadState* bulk_ = nullptr;
  engine::ErrorRecord* error_ = nullptr;
  std::atomic<uint64_t> version_{0};
};

}  // namespace mxnet
#endif  // MXNET_ENGINE_VAR_H_
