/*
 * The steps of a worker in a synchronous job whose servers write snapshots (PS_SNAPSHOT_FOLDER).
 *
 * A step ends where the worker is about to push to a key more often than it has pushed to any key
 * so far. All workers run the same program, so their steps end at the same places in it. There each
 * worker waits until its pushes and pulls are over and tells all servers that the step has ended.
 * When a server has heard it from all workers, it has applied every push of the step and none of a
 * later one. The first worker decides, by its clock, of which steps all servers write a snapshot.
 */
#ifndef MXNET_KVSTORE_DIST_STEPS_H_
#define MXNET_KVSTORE_DIST_STEPS_H_

#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>

#include "mxnet/engine.h"

namespace mxnet {
namespace kvstore {

class Job;

/* All functions may be called by any thread. */
class Steps {
 public:
  /* `job` outlives it. */
  explicit Steps(Job* job);

  /* A key, by the variable that its pushes and pulls write, and how often it was pushed to. */
  void Add(Var* order, int64_t version);
  void Remove(Var* order);
  /* To be called before a push that leads to this version of a key. */
  void BeforePush(int64_t version);

 private:
  void End(int64_t step);

  using Clock = std::chrono::steady_clock;
  Job* const job_;
  const bool on_;
  const Clock::duration interval_;
  std::mutex mutex_;  // guards what follows
  std::set<Var*> orders_;
  int64_t step_ = 0;
  bool pushed_ = false;  // in this step
  Clock::time_point next_;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_STEPS_H_
