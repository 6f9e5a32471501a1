#include "base/omp.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
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
thread_local bool t_kept = false;      // and will give it back when another thread has one
std::atomic<int> g_teams{0};           // threads with t_team
thread_local bool t_in_range = false;  // inside a function given to ParallelFor
thread_local bool t_pool_lost = false;  // in a forked child: this thread's pool has no threads behind it
bool g_pool_released = false;           // written by the forking thread only, around fork

void SetTeam(bool has) {
  // A thread that ends takes its team along.
  static thread_local struct AtExit {
    ~AtExit() {
      if (t_team) g_teams.fetch_sub(1, std::memory_order_relaxed);
    }
  } at_exit;
  if (t_team != has) g_teams.fetch_add(has ? 1 : -1, std::memory_order_relaxed);
  t_team = has;
  if (!has) t_kept = false;
}

bool GiveBackTeam() {
  const bool released = omp_pause_resource_all(omp_pause_hard) == 0;
  if (released) SetTeam(false);
  return released;
}

void BeforeFork() { g_pool_released = GiveBackTeam(); }
void AfterForkInChild() {
  t_pool_lost = !g_pool_released;
  g_teams.store(t_team ? 1 : 0, std::memory_order_relaxed);   // other threads are gone
}
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
  if (!t_team && !t_in_range) SetTeam(true);
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

int OpenTeams() { return g_teams.load(std::memory_order_relaxed); }

void GiveBackKeptTeam() {
  if (t_kept && OpenTeams() > 1) GiveBackTeam();
}

BorrowedTeam::BorrowedTeam() : had_(t_team && !t_kept), limit_(t_limit) {
  GiveBackKeptTeam();
  if (!t_team && OpenTeams() > 0) t_limit = 1;
}

BorrowedTeam::~BorrowedTeam() {
  t_limit = limit_;
  if (had_ || !t_team) return;
  t_kept = true;
  GiveBackKeptTeam();
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
