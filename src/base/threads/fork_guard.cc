#include "base/threads/fork_guard.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace mxnet {
namespace {

/* INVARIANT: sorted by level. While a fork holds or waits for the objects' locks none is
 * removed. */
using Objects = std::vector<std::pair<ForkLevel, ForkGuarded*>>;

struct Registry {
  std::mutex mutex;  // guards what follows
  std::condition_variable forked;
  std::condition_variable made;  // a local static object
  bool forking = false;
  int making = 0;  // local static objects, all threads together
  Objects objects;
};

thread_local int t_making = 0;  // of `making`, this thread's
// A constructor that waits for the forking thread must not stop it forever.
constexpr std::chrono::seconds kLongestConstructor{10};

/* Outlives every static object, and is not one: those are counted in it. */
Registry& GetRegistry() {
  static std::atomic<Registry*> registry{nullptr};
  Registry* found = registry.load(std::memory_order_acquire);
  if (found) return *found;
  auto fresh = std::make_unique<Registry>();
  if (registry.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) found = fresh.release();
  return *found;
}

void Unlock(const Objects& objects, bool child) {
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) object->second->ForkUnlock(child);
}

void BeforeFork() {
  // The registry's own mutex comes last: a thread that holds a guarded lock may be about to add an
  // object.
  Registry& registry = GetRegistry();
  std::unique_lock<std::mutex> hold(registry.mutex);
  registry.forked.wait(hold, [&] { return !registry.forking; });
  registry.forking = true;
  const auto deadline = std::chrono::steady_clock::now() + kLongestConstructor;
  while (true) {
    const Objects objects = registry.objects;
    hold.unlock();
    for (auto& object : objects) object.second->ForkLock();
    hold.lock();
    const auto all_made = [&] { return registry.making == t_making || std::chrono::steady_clock::now() >= deadline; };
    if (registry.objects == objects && all_made()) break;
    Unlock(objects, false);  // the constructors may need the locks
    registry.made.wait_until(hold, deadline, all_made);
  }
  hold.release();
}

void AfterFork(bool child) {
  Registry& registry = GetRegistry();
  Unlock(registry.objects, child);
  registry.forking = false;
  if (child) {
    new (&registry.forked) std::condition_variable;  // who waited is not here
    new (&registry.made) std::condition_variable;
    registry.making = t_making;
  }
  registry.mutex.unlock();
  registry.forked.notify_all();
}

const int installed = pthread_atfork(
    BeforeFork, [] { AfterFork(false); }, [] { AfterFork(true); });

void CountMaking(int change) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> guard(registry.mutex);
  registry.making += change;
  t_making += change;
  if (change < 0) registry.made.notify_all();
}

}  // namespace

void AddForkGuarded(ForkGuarded* object, ForkLevel level) {
  (void)installed;
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> guard(registry.mutex);
  Objects& all = registry.objects;
  all.insert(std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.first > level; }), {level, object});
}

void RemoveForkGuarded(ForkGuarded* object) {
  Registry& registry = GetRegistry();
  std::unique_lock<std::mutex> hold(registry.mutex);
  registry.forked.wait(hold, [&] { return !registry.forking; });
  Objects& all = registry.objects;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& other) { return other.second == object; }), all.end());
}

}  // namespace mxnet

/*
 * The functions that the compiler calls around the constructor of a local static object (Itanium
 * C++ ABI, 3.3.3); the linker gives the library's calls of them to these (--wrap). A child of a
 * fork during the constructor would wait for a thread that it does not have, so a fork waits until
 * no other thread is in one.
 */
extern "C" {
int __real___cxa_guard_acquire(uint64_t*);
void __real___cxa_guard_release(uint64_t*);
void __real___cxa_guard_abort(uint64_t*);

int __wrap___cxa_guard_acquire(uint64_t* guard) {
  mxnet::CountMaking(1);
  int mine = 0;
  try {
    mine = __real___cxa_guard_acquire(guard);
  } catch (...) {  // the constructor needs its own object
    mxnet::CountMaking(-1);
    throw;
  }
  if (!mine) mxnet::CountMaking(-1);
  return mine;
}

void __wrap___cxa_guard_release(uint64_t* guard) {
  __real___cxa_guard_release(guard);
  mxnet::CountMaking(-1);
}

void __wrap___cxa_guard_abort(uint64_t* guard) {
  __real___cxa_guard_abort(guard);
  mxnet::CountMaking(-1);
}
}
