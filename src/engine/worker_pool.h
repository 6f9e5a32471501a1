/*
 * Ready operations (ready_queue.h) and the threads that run them: a thread's operations nearly in
 * the order of its program, however far it runs ahead. Results that only the next operation reads
 * are read at once and given back, not kept until all that could begin has begun. Threads do not
 * wait for each other's programs. A worker that finds nothing spins for a few microseconds and then
 * sleeps; pushing costs a system call only when every worker sleeps.
 */
#ifndef MXNET_ENGINE_WORKER_POOL_H_
#define MXNET_ENGINE_WORKER_POOL_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/ready_queue.h"
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
   * for itself and returns true unless others come first. Saves the chain x -> x -> x a trip
   * through the queue.
   */
  bool TryKeep(Op* op);
  /* Runs what is queued unless told not to, then joins. REQUIRES: not called on a worker of this
   * pool. */
  void Stop(bool run_queued);
  int num_threads() const { return num_threads_; }

 private:
  void Loop();
  Op* Pop();
  Op* TryPop();

  const std::string name_;
  const std::function<void(Op*)> run_;
  int num_threads_ = 0;        // that could be started
  alignas(64) SpinLock lock_;  // guards queue_
  ReadyQueue queue_;
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
