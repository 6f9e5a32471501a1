#include "storage/fork_guard.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace mxnet {
namespace storage {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<ForkGuarded*> objects;
};

Registry& GetRegistry() {
  static Registry* registry = new Registry;  // outlives every static object
  return *registry;
}

void BeforeFork() {
  Registry& registry = GetRegistry();
  registry.mutex.lock();
  for (ForkGuarded* object : registry.objects) object->ForkLock();
}

void AfterFork(bool child) {
  Registry& registry = GetRegistry();
  for (ForkGuarded* object : registry.objects) object->ForkUnlock(child);
  registry.mutex.unlock();
}

// Handlers before a fork run last-come-first: installed as the library is loaded, ours come after those of the rooms above,
// whose threads may still allocate while they are waited for.
const int installed = pthread_atfork(BeforeFork, [] { AfterFork(false); }, [] { AfterFork(true); });

}  // namespace

void AddForkGuarded(ForkGuarded* object) {
  (void)installed;
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> guard(registry.mutex);
  registry.objects.push_back(object);
}

void RemoveForkGuarded(ForkGuarded* object) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> guard(registry.mutex);
  registry.objects.erase(std::remove(registry.objects.begin(), registry.objects.end(), object), registry.objects.end());
}

}  // namespace storage
}  // namespace mxnet
