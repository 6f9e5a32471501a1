#include "base/threads/openmp_rest.h"

#include <omp.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/device/pin_library.h"
#include "base/foreign_env.h"
#include "base/threads/omp.h"
#include "base/threads/thread_team.h"

namespace mxnet {

namespace detail {
std::atomic<bool> g_openmp_rests{false};
}

namespace {

struct Rest {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool wanted = false, started = false;

  static Rest& Get() {
    static Rest* rest = new Rest;  // its thread is there until the process is gone
    return *rest;
  }

  void Loop() {
    SetThreadName("mx-omp-rest");
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return wanted; });
      lock.unlock();
      // Asked each time, for the threads are new ones; where there are none libgomp ends the
      // process.
      const int threads = ThreadsCanStart(omp_get_num_procs()) ? omp_get_num_procs() + 1 : 1;
#pragma omp parallel num_threads(threads)
      if (omp_get_thread_num() != 0) SetThreadName("mx-omp-rest");
      lock.lock();
      changed.wait(lock, [this] { return !wanted; });
      omp_pause_resource_all(omp_pause_hard);
    }
  }
};

}  // namespace

void detail::RestOpenMPSlow(bool rest) {
  static const bool settled = ForeignIsSet("GOMP_SPINCOUNT") || ForeignIsSet("OMP_WAIT_POLICY");
  static const bool possible = !settled && ThreadsCanStart(omp_get_num_procs() + 1);
  if (!possible) return;
  Rest& state = Rest::Get();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (rest && !state.started) {
    PinLibrary();
    try {
      std::thread([&state] { state.Loop(); }).detach();
      state.started = true;
    } catch (const std::system_error&) {
      return;
    }
  }
  state.wanted = rest;
  g_openmp_rests = rest;
  state.changed.notify_one();
}

void ForgetOpenMPRest() {
  new (&Rest::Get()) Rest;
  detail::g_openmp_rests = false;
}

}  // namespace mxnet
