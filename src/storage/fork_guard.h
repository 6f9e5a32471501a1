/*
 * Keeps locks usable across fork(): the thread that forks first takes every registered lock, so the child gets them
 * in a known state, and both processes release them afterwards. Nothing that is guarded calls into another
 * guarded object with its lock held, so the order does not matter.
 */
#ifndef MXNET_STORAGE_FORK_GUARD_H_
#define MXNET_STORAGE_FORK_GUARD_H_

namespace mxnet {
namespace storage {

class ForkGuarded {
 public:
  virtual void ForkLock() = 0;
  virtual void ForkUnlock(bool child) = 0;

 protected:
  ~ForkGuarded() = default;
};

void AddForkGuarded(ForkGuarded* object);
void RemoveForkGuarded(ForkGuarded* object);

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_FORK_GUARD_H_
