/*
 * A thread that lets pools grow old: while one of them caches something it gives all a tick four
 * times a second, otherwise it sleeps. What malloc holds back after blocks have gone is returned to
 * the system as well.
 *
 * THREADS  Everything may be called from any thread; Add and Remove not from Age.
 * FORK     The child's thread is started when something wakes it there.
 */
#ifndef MXNET_STORAGE_PURGE_THREAD_H_
#define MXNET_STORAGE_PURGE_THREAD_H_

#include <atomic>
#include <cstddef>

namespace mxnet {
namespace storage {

class Aging {
 public:
  /* A tick has passed. Returns the bytes that were given back; *waiting: something is left that
   * will be some day. */
  virtual size_t Age(bool* waiting) = 0;
  /* Is there something that may grow old? */
  virtual bool Caches() = 0;

 protected:
  ~Aging() = default;
};

class PurgeThread {
 public:
  static void Add(Aging* pool);
  /* Waits until nobody is in pool->Age. */
  static void Remove(Aging* pool);
  /* Something that may grow old is there. REQUIRES: no lock of a pool is held. */
  static void Wake() {
    if (__builtin_expect(asleep_.load(std::memory_order_relaxed), 0)) WakeSlow();
  }

 private:
  static void WakeSlow();
  static std::atomic<bool> asleep_;
  friend struct PurgeState;
};

/* Returns what malloc has freed and kept, of all its arenas. */
void TrimMalloc();

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_PURGE_THREAD_H_
