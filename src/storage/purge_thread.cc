#include "storage/purge_thread.h"

#include <pthread.h>
#include <signal.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/device/pin_library.h"
#include "base/threads/fork_guard.h"

namespace mxnet {
namespace storage {

std::atomic<bool> PurgeThread::asleep_{true};

struct PurgeState final : private ForkGuarded {
  PurgeState() { AddForkGuarded(this, ForkLevel::kStorage); }
  ~PurgeState() { RemoveForkGuarded(this); }

  static PurgeState& Get() {
    static auto* const state = new PurgeState;  // the thread runs until the very end
    return *state;
  }

  static void SetAsleep(bool asleep) { PurgeThread::asleep_.store(asleep); }

  void ForkLock() override { mutex.lock(); }
  void ForkUnlock(bool child) override {
    if (child) {
      new (&changed) std::condition_variable;  // who waited is not here
      running = false;
      in_age = nullptr;
      SetAsleep(true);
    }
    mutex.unlock();
  }

  void Start() {  // with the mutex
    PinLibrary();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    try {
      std::thread([this] { Run(); }).detach();
      running = true;
    } catch (const std::system_error&) {
      // no room for a thread: the bound alone holds
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  bool Each(bool tick, size_t* bytes) {  // true: something is left that may grow old
    bool waiting = false;
    std::unique_lock<std::mutex> lock(mutex);
    const std::vector<Aging*> all = pools;
    for (Aging* pool : all) {
      if (std::find(pools.begin(), pools.end(), pool) == pools.end()) continue;  // removed meanwhile
      in_age = pool;
      lock.unlock();
      bool more = false;
      if (tick)
        *bytes += pool->Age(&more);
      else
        more = pool->Caches();
      waiting = waiting || more;
      lock.lock();
      in_age = nullptr;
      changed.notify_all();
    }
    return waiting;
  }

  void Run() {
    pthread_setname_np(pthread_self(), "mx_purge");
    constexpr size_t kTrim = 1 << 20;
    constexpr int kEvery = 4;  // ticks: it stops all who want memory of malloc for some milliseconds
    size_t bytes = 0;
    int since = kEvery;
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        if (PurgeThread::asleep_.load()) changed.wait(lock, [] { return !PurgeThread::asleep_.load(); });
      }
      std::this_thread::sleep_for(kTick);
      const bool waiting = Each(true, &bytes);
      if (bytes >= kTrim && (++since >= kEvery || !waiting)) {
        TrimMalloc();
        bytes = since = 0;
      }
      if (waiting) continue;
      SetAsleep(true);
      if (Each(false, &bytes)) SetAsleep(false);  // came after the tick, and before whoever brought it could see that nobody is awake
    }
  }

  static constexpr std::chrono::milliseconds kTick{250};
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::vector<Aging*> pools;
  Aging* in_age = nullptr;
  bool running = false;
};

void PurgeThread::WakeSlow() {
  PurgeState& state = PurgeState::Get();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!asleep_.load()) return;
  asleep_.store(false);
  if (!state.running) state.Start();
  state.changed.notify_all();
}

void PurgeThread::Add(Aging* pool) {
  PurgeState& state = PurgeState::Get();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.pools.push_back(pool);
}

void PurgeThread::Remove(Aging* pool) {
  PurgeState& state = PurgeState::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  state.pools.erase(std::remove(state.pools.begin(), state.pools.end(), pool), state.pools.end());
  state.changed.wait(lock, [&] { return state.in_age != pool; });
}

void TrimMalloc() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace storage
}  // namespace mxnet
