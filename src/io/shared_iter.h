/*
 * A data iterator that several threads may use, as programs hold it by a handle: a lock makes one
 * call at a time, and each batch goes to one of the callers.
 *
 * A program may push the work of each batch and never wait. Then all batches that it has read are
 * in memory, until their turn comes. So one that is 16 batches ahead of the engine is held up
 * until it is 8 ahead: no more operations are pending than were pushed since then.
 *
 * FORK   A forked child goes on with its copy of what has no threads of its own (prefetcher.h). An
 *        iterator that another thread was using while the process forked throws there.
 */
#ifndef MXNET_IO_SHARED_ITER_H_
#define MXNET_IO_SHARED_ITER_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "io/data_iter.h"

namespace mxnet {

class SharedIter {
 public:
  explicit SharedIter(std::unique_ptr<DataIter> iter);
  /* The next batch; false at the end. Throws Error. */
  bool Next(DataBatch* batch);
  void BeforeFirst();
  void Restart();
  /* These wait for nobody. */
  int64_t LengthHint() const { return iter_->LengthHint(); }
  std::unique_ptr<DataIter> Another() const { return iter_->Another(); }

  /* For programs that go on and look at the batch in two calls: Advance keeps what Next gives. The
   * batch is the last one that any thread advanced to. Throws Error(kValue) if there is none. */
  bool Advance();
  std::shared_ptr<const DataBatch> Current();
  void Rewind();

 private:
  static constexpr uint64_t kAhead = 16;  // batches

  std::unique_lock<std::mutex> Lock();
  void WaitForEngine();

  const std::unique_ptr<DataIter> iter_;
  std::atomic<uint64_t> batches_{0};           // asked for so far
  std::atomic<uint64_t> pushed_[kAhead] = {};  // when the last ones were asked for
  std::mutex mutex_;                           // guards the iterator and what follows
  std::shared_ptr<const DataBatch> current_;
  std::atomic<pid_t> process_;
  std::atomic<bool> torn_{false};  // a thread that is not in this process was using it
};

}  // namespace mxnet
#endif  // MXNET_IO_SHARED_ITER_H_
