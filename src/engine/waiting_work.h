/*
 * For operations that end by what other processes send. The thread that waits for one carries the
 * messages itself: a hand-over to another thread takes longer than most of them.
 */
#ifndef MXNET_ENGINE_WAITING_WORK_H_
#define MXNET_ENGINE_WAITING_WORK_H_

#include <functional>
#include <vector>

#include "mxnet/engine.h"

namespace mxnet {
namespace engine {

/* Work of this process that ends operations, and that any thread may do while it waits. */
class WaitingWork {
 public:
  /*
   * Called by threads that wait for the engine, without locks, outside operations. Returns when
   * `over` is true, when another thread does the work, or when there has been nothing to do for a
   * moment: the thread sleeps then, and the work goes on without it.
   */
  virtual void Work(const std::function<bool()>& over) = 0;

 protected:
  ~WaitingWork() = default;
};

/*
 * Jobs that end operations and have threads of their own: calls of custom operators. The program's
 * thread that waits for such an operation runs its job itself where no thread has begun it, for
 * many of them take less time than a hand-over.
 */
class LentJobs {
 public:
  /*
   * Called by threads of the program that wait, without locks, outside operations and jobs. Runs
   * jobs whose operation is `wanted` until `over` is true, or there has been none for a moment.
   */
  virtual void Run(const std::function<bool(const void* operation)>& wanted, const std::function<bool()>& over) = 0;

 protected:
  ~LentJobs() = default;
};

/* One for the process, which lives as long as it does. */
void SetLentJobs(LentJobs* jobs);

/* What this thread starts now (PushStarting): the operation, and whether a thread of the program
 * does so, which may be about to wait for it. Null for none, and before RunCallbacksInWaits. */
struct Started {
  const void* operation = nullptr;
  bool by_program = false;
};
Started StartedHere();

/* One for the process, which lives as long as it does; null: none. */
void SetWaitingWork(WaitingWork* work);
/* For who is about to sleep until `over`. Returns at once where there is no work. */
void WorkWhileWaiting(const std::function<bool()>& over);

/*
 * Engine::PushAsync of a function that only starts something: it runs here if it may run at once,
 * else on a worker.
 */
void PushStarting(Engine* engine, Engine::AsyncFn fn, std::vector<Var*> reads, std::vector<Var*> writes, int priority, const char* name);

/* For who is about to fork: waits for what has been pushed (DependencyEngine::WaitForPushed). */
void WaitBeforeFork(Engine* engine);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_WAITING_WORK_H_
