#include "base/fork_guard.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
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
  bool forking = false;
  Objects objects;
};

Registry& GetRegistry() {
  static Registry* registry = new Registry;  // outlives every static object
  return *registry;
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
  while (true) {
    const Objects objects = registry.objects;
    hold.unlock();
    for (auto& object : objects) object.second->ForkLock();
    hold.lock();
    if (registry.objects == objects) break;
    Unlock(objects, false);
  }
  hold.release();
}

void AfterFork(bool child) {
  Registry& registry = GetRegistry();
  Unlock(registry.objects, child);
  registry.forking = false;
  if (child) new (&registry.forked) std::condition_variable;  // who waited is not here
  registry.mutex.unlock();
  registry.forked.notify_all();
}

const int installed = pthread_atfork(
    BeforeFork, [] { AfterFork(false); }, [] { AfterFork(true); });

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
