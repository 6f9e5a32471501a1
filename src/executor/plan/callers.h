/*
 * Threads that run plans themselves, side by side.
 *
 * A thread that asks for inference "on the caller" computes on its own core instead of handing the
 * work to the engine's workers. The callers that compute at one moment share the cores: each gets
 * OMP_NUM_THREADS / callers threads for its operators, at least itself.
 */
#ifndef MXNET_EXECUTOR_PLAN_CALLERS_H_
#define MXNET_EXECUTOR_PLAN_CALLERS_H_

namespace mxnet {

/* A small number of the calling thread, different from that of every other living thread; numbers
 * of threads that ended are given again. */
int CallerNumber();

/* Lives while the calling thread computes a plan itself. */
class CallerScope {
 public:
  CallerScope();
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

 private:
  int previous_limit_;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_CALLERS_H_
