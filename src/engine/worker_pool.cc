#include "engine/worker_pool.h"

#include <pthread.h>

#include <exception>
#include <mutex>

#include "base/logging.h"
#include "engine/dependency_engine.h"

namespace mxnet {
namespace engine {
namespace {
thread_local WorkerPool* tls_pool = nullptr;
thread_local Op* tls_kept = nullptr;
}  // namespace

WorkerPool::WorkerPool(std::string name, int num_threads, std::function<void(Op*)> run) : name_(std::move(name)), run_(std::move(run)) {
  try {
    for (int i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this] { Loop(); });
      pthread_setname_np(threads_.back().native_handle(), name_.substr(0, 15).c_str());  // all have it when the pool is there
    }
  } catch (const std::exception& e) {  // a limit of processes or of address space
    LogWarning("[engine] " + name_ + ": only " + std::to_string(threads_.size()) + " of " + std::to_string(num_threads) +
               " threads could be started (" + e.what() + ")" + (threads_.empty() ? "; operations run on the threads that call" : ""));
  }
  num_threads_ = static_cast<int>(threads_.size());
}

void WorkerPool::Push(Op* op) {
  int size;
  {
    std::lock_guard<SpinLock> hold(lock_);
    queue_.Push(op);
    size = size_.fetch_add(1, std::memory_order_seq_cst) + 1;
  }
  // A worker announces that it sleeps, or that it no longer spins, before it looks at size_ for the
  // last time; the total order of these accesses means that either it sees the new size or we see
  // the announcement.
  if (sleepers_.load(std::memory_order_seq_cst) > 0 && size > spinners_.load(std::memory_order_seq_cst)) {
    word_.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(&word_, 1);
  }
}

Op* WorkerPool::TryPop() {
  if (size_.load(std::memory_order_relaxed) == 0 || abandoned_.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard<SpinLock> hold(lock_);
  Op* op = queue_.Pop();
  if (op != nullptr) size_.fetch_sub(1, std::memory_order_seq_cst);
  return op;
}

Op* WorkerPool::Pop() {
  for (;;) {
    if (Op* op = TryPop()) return op;
    spinners_.fetch_add(1, std::memory_order_seq_cst);
    for (int i = SpinBudget(); i > 0 && size_.load(std::memory_order_relaxed) == 0; --i) CpuPause();
    spinners_.fetch_sub(1, std::memory_order_seq_cst);
    if (Op* op = TryPop()) return op;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = word_.load(std::memory_order_seq_cst);
    if (size_.load(std::memory_order_seq_cst) == 0 && !stop_.load(std::memory_order_seq_cst)) FutexWait(&word_, seen);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    if (stop_.load(std::memory_order_seq_cst) && (size_.load(std::memory_order_seq_cst) == 0 || abandoned_.load())) return nullptr;
  }
}

bool WorkerPool::TryKeep(Op* op) {
  if (tls_pool != this) return false;
  if (Op* kept = tls_kept) {  // something else became ready at the same time: the one that was pushed first stays
    if (op->priority != kept->priority || !Before(*op, *kept)) return false;
    tls_kept = op;
    Push(kept);
    return true;
  }
  if (size_.load(std::memory_order_relaxed) != 0) {
    std::lock_guard<SpinLock> hold(lock_);
    if (!queue_.IsNext(*op)) return false;
  }
  tls_kept = op;
  return true;
}

void WorkerPool::Loop() {
  tls_pool = this;
  MarkWorkerThread();
  while (Op* op = Pop()) {
    do {
      tls_kept = nullptr;
      run_(op);
      op = tls_kept;
    } while (op != nullptr && !abandoned_.load(std::memory_order_relaxed));
  }
}

void WorkerPool::Stop(bool run_queued) {
  abandoned_.store(!run_queued, std::memory_order_seq_cst);
  stop_.store(true, std::memory_order_seq_cst);
  word_.fetch_add(1, std::memory_order_seq_cst);
  FutexWake(&word_, 1 << 30);
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

}  // namespace engine
}  // namespace mxnet
