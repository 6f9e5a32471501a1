#include "base/omp.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/borrowed_team.h"
#include "base/determinism.h"

namespace mxnet {

namespace {

thread_local int t_limit = 0;
thread_local bool t_worker = false;    // has its name
thread_local bool t_team = false;      // has opened a team that it has not given back
thread_local bool t_in_range = false;  // inside a function given to ParallelFor
thread_local bool t_pool_lost = false;  // in a forked child: this thread's pool has no threads behind it
bool g_pool_released = false;           // written by the forking thread only, around fork

void BeforeFork() { g_pool_released = omp_pause_resource_all(omp_pause_hard) == 0; }
void AfterForkInChild() { t_pool_lost = !g_pool_released; }
const int g_registered = pthread_atfork(BeforeFork, nullptr, AfterForkInChild);

}  // namespace

namespace detail {

int OmpThreadsSlow() {
  if (t_pool_lost || t_in_range || omp_in_parallel()) return 1;
  const int threads = Env::Get().omp_num_threads;
  return t_limit > 0 ? std::min(t_limit, threads) : threads;
}

namespace {

// Runs body(self, count) on `threads` threads, of which the caller is number 0, and returns when all have.
template <typename Body>
void RunTeam(int threads, const Body& body) {
#ifdef __SANITIZE_THREAD__
  // libgomp's barriers are invisible to ThreadSanitizer, plain threads are not.
  std::vector<std::thread> team;
  for (int self = 1; self < threads; ++self) team.emplace_back([&body, self, threads] { body(self, threads); });
  body(0, threads);
  for (std::thread& thread : team) thread.join();
#else
  t_team = t_team || !t_in_range;
#pragma omp parallel num_threads(threads)
  body(omp_get_thread_num(), omp_get_num_threads());  // OpenMP may give fewer threads than asked for
#endif
}

}  // namespace

void ParallelForImpl(int threads, int64_t n, void (*fn)(const void*, int64_t, int64_t), const void* context) {
  threads = static_cast<int>(std::min<int64_t>(threads, n));
  const int64_t base = n / threads, extra = n % threads;  // the first `extra` ranges are one longer
  std::mutex mutex;
  std::exception_ptr error;
  RunTeam(threads, [&](int self, int count) {
    if (self != 0 && !t_worker) {
      SetThreadName("mx-omp");
      t_worker = true;
    }
    const bool outer = std::exchange(t_in_range, true);
    try {
      for (int k = self; k < threads; k += count) {
        const int64_t begin = k * base + std::min<int64_t>(k, extra);
        fn(context, begin, begin + base + (k < extra));
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
    t_in_range = outer;
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

int SetThreadOmpLimit(int limit) {
  MXNET_CHECK_KIND(limit >= 0, Value) << "[threads] limit " << limit << "; accepted: 0 (none) or more";
  return std::exchange(t_limit, limit);
}

BorrowedTeam::BorrowedTeam() : had_(t_team) {}

BorrowedTeam::~BorrowedTeam() {
  if (!had_ && t_team && omp_pause_resource_all(omp_pause_hard) == 0) t_team = false;
}

OmpScope::OmpScope(int threads) : previous_(omp_get_max_threads()) {
  threads = LibraryThreads(threads);
  if (threads != previous_) omp_set_num_threads(threads);
}

OmpScope::~OmpScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

void SetThreadName(const char* name) {
  char cut[16] = {0};
  std::strncpy(cut, name, sizeof(cut) - 1);
  pthread_setname_np(pthread_self(), cut);
}

}  // namespace mxnet
