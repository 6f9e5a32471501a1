/*
 * Lets a pool of threads outside of the engine know that one of them waits for the engine, so that
 * another may run in its place.
 */
#ifndef MXNET_ENGINE_BLOCKING_H_
#define MXNET_ENGINE_BLOCKING_H_

namespace mxnet {
namespace engine {

/* Called on the thread that waits, without locks. */
struct BlockingObserver {
  virtual void BeginWait() = 0;
  virtual void EndWait() = 0;

 protected:
  ~BlockingObserver() = default;
};

/* Of this thread; null: nobody asks. Not initial-exec (dependency_engine.h says why). */
extern __thread BlockingObserver* tls_blocking_observer;

struct BlockingScope {
  BlockingScope() : observer_(tls_blocking_observer) {
    if (observer_) observer_->BeginWait();
  }
  ~BlockingScope() {
    if (observer_) observer_->EndWait();
  }
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  BlockingObserver* const observer_;
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_BLOCKING_H_
