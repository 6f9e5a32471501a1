/*
 * A queue of ready operations and the threads that run them. Larger priorities first, equal ones in
 * order of arrival; but what has waited for others to end goes before what the same thread pushed
 * after it. So a thread's operations run nearly in the order of its program, however far it runs
 * ahead: results that only the next operation reads are read at once and given back, not kept until
 * all that could begin has begun. Threads do not wait for each other's programs. A worker that
 * finds nothing spins for a few microseconds and then sleeps; pushing costs a system call only when
 * every worker sleeps.
 */
#ifndef MXNET_ENGINE_WORKER_POOL_H_
#define MXNET_ENGINE_WORKER_POOL_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/var.h"

namespace mxnet {
namespace engine {

class WorkerPool {
 public:
  /* `run` is called on the workers, one operation at a time each. Threads start at once; where the
   * system gives no more, there are fewer, maybe none. */
  WorkerPool(std::string name, int num_threads, std::function<void(Op*)> run);
  /* REQUIRES: Stop() was called. */
  ~WorkerPool() = default;

  void Push(Op* op);
  /*
   * On one of this pool's workers, right after it finished an operation (see Schedule): keeps `op`
   * for itself and returns true unless others are queued that come first. Saves the chain x -> x ->
   * x a trip through the queue.
   */
  bool TryKeep(Op* op);
  /* Runs what is queued unless told not to, then joins. REQUIRES: not called on a worker of this
   * pool. */
  void Stop(bool run_queued);
  int num_threads() const { return num_threads_; }

 private:
  struct Later {  // heap order: larger priority first, then earlier arrival
    int priority;
    uint64_t seq;
    Op* op;
    bool operator<(const Later& o) const { return priority != o.priority ? priority < o.priority : seq > o.seq; }
  };
  void Loop();
  Op* Pop();
  Op* TryPop();

  const std::string name_;
  const std::function<void(Op*)> run_;
  int num_threads_ = 0;        // that could be started
  alignas(64) SpinLock lock_;  // guards fifo_, heap_, seq_
  OpList fifo_;                // priority 0
  std::vector<Later> heap_;    // every other priority
  uint64_t seq_ = 0;
  std::atomic<int> size_{0};  // changed under lock_, read without
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<int> spinners_{0};
  std::atomic<uint32_t> word_{0};  // futex
  std::atomic<bool> stop_{false};
  std::atomic<bool> abandoned_{false};  // what is queued stays there
  std::vector<std::thread> threads_;
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_WORKER_POOL_H_
