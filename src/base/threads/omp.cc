#include "base/threads/omp.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "base/ran.h"
#include "base/room.h"
#include "base/threads/borrowed_team.h"
#include "base/threads/determinism.h"
#include "base/threads/library_threads.h"
#include "base/threads/openmp_rest.h"
#include "base/threads/own_variable.h"
#include "base/threads/shared_cores.h"
#include "base/threads/thread_team.h"
#include "mxnet/env.h"

namespace mxnet {

namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kSanitizeThread = true;  // it cannot see libgomp's barriers
#else
constexpr bool kSanitizeThread = false;
#endif
constexpr int64_t kMostRanges = 1 << 20;
// of one thread of a library on shared cores: some milliseconds
constexpr double kSharedFlops = 5e7;
// for about so long libgomp's threads spin after a loop: some milliseconds
constexpr uint64_t kSpinTicks = 1 << 23;
// ns that a loop of a crowd takes its caller before threads are woken for it
constexpr int64_t kCrowdAlone = 50000;

thread_local BorrowedTeam::Thread t_thread;
thread_local bool t_worker = false;     // has its name
std::atomic<int> g_teams{0};            // threads with t_team
thread_local uint64_t t_team_used = 0;  // when a long loop or a library used this thread's team last
thread_local bool t_in_range = false;   // inside a function given to ParallelFor
thread_local bool t_pool_lost = false;  // in a forked child: this thread's pool has no threads behind it
bool g_pool_released = false;           // written by the forking thread only, around fork

void SetTeam(bool has) {
  // A thread that ends takes its team along.
  static thread_local struct AtExit {
    ~AtExit() {
      if (t_thread.team) g_teams.fetch_sub(1, std::memory_order_relaxed);
    }
  } at_exit;
  BorrowedTeam::Thread& t = t_thread;
  if (t.team != has) g_teams.fetch_add(has ? 1 : -1, std::memory_order_relaxed);
  t.team = has;
  if (!has) t.kept = false;
}

/* More serve nobody, and the process could run out of them. */
int MostThreads() {
  static const int most = std::max(256, 2 * omp_get_num_procs());
  return most;
}

thread_local int t_asked = 1;  // threads of a team of this thread for which OpenMPCanStart knows the answer
std::atomic<bool> g_can_start{true};

bool GiveBackTeam() {
  const bool released = omp_pause_resource_all(omp_pause_hard) == 0;
  if (released) {
    SetTeam(false);
    t_asked = 1;
  }
  return released;
}

void BeforeFork() {
  TeamBeforeFork();
  g_pool_released = GiveBackTeam();
}
void AfterForkInParent() { TeamAfterFork(false); }
void AfterForkInChild() {
  TeamAfterFork(true);
  ForgetOpenMPRest();
  t_asked = 1;
  g_can_start = true;
  t_pool_lost = !g_pool_released;
  g_teams.store(t_thread.team ? 1 : 0, std::memory_order_relaxed);  // other threads are gone
}
const int g_registered = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);

}  // namespace

// Asked once for each number and each thread that opens a team, for memory may have become scarce
// since.
bool OpenMPCanStart(int threads) {
  if (__builtin_expect(threads > t_asked, 0)) {
    if (g_can_start && !ThreadsCanStart(threads - 1)) g_can_start = false;
    t_asked = threads;
  }
  // A smaller team in between, which libraries open as they like, has ended threads: these come
  // anew.
  return g_can_start.load(std::memory_order_relaxed) && HasRoomForThreads(threads - 1);
}

int OmpMaxThreads() {
  const int wanted = Env::Get().omp_num_threads;
  if (wanted == 1 || t_pool_lost || t_in_range || omp_in_parallel()) return 1;
  const int threads = std::min(wanted, MostThreads());
  const int limit = t_thread.limit;
  return limit > 0 ? std::min(limit, threads) : threads;
}

namespace detail {

std::atomic<int64_t> g_parallel_size{0};

int OmpThreadsOfLarge(int64_t work_elements) { return work_elements < Env::Get().cpu_parallel_size ? 1 : OmpMaxThreads(); }

namespace {

/* A loop whose ranges are to be computed. */
struct Loop {
  void (*fn)(const void*, int64_t, int64_t);
  const void* context;
  int64_t base, extra;  // items of a range; the first `extra` ranges are one longer
  RanParts* ran;        // where the caller's kernels say what they took; null: nobody asks
  std::mutex mutex;     // of `ran` and `error`
  std::exception_ptr error;

  // Whoever computes a range, the caller is told what it took.
  void Range(int k) {
    if (__builtin_expect(ran == nullptr, 1)) return Items(k);
    RanParts said;
    {
      RanScope scope(&said);
      Items(k);
    }
    std::lock_guard<std::mutex> lock(mutex);
    for (int i = 0; i < said.count; ++i) ran->Add(said.parts[i]);
  }

  void Items(int k) {
    const int64_t begin = k * base + std::min<int64_t>(k, extra);
    const bool outer = std::exchange(t_in_range, true);
    try {
      fn(context, begin, begin + base + (k < extra));
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
    t_in_range = outer;
  }
};

// On cores of our own libgomp's teams are the fastest: their threads spin until the next loop, for
// milliseconds.
void RunOpenMP(int ranges, RangeFn fn, const void* body) {
  if (!t_in_range) {
    if (!t_thread.team) SetTeam(true);
    if (OpenMPRests()) RestOpenMP(false);
  }
#pragma omp parallel num_threads(ranges)
  {
    // it may give fewer than asked for
    const int self = omp_get_thread_num(), count = omp_get_num_threads();
    if (self != 0) {
      if (!t_worker) {
        SetThreadName("mx-omp");
        t_worker = true;
      }
      LookAtCores();
    }
    for (int k = self; k < ranges; k += count) fn(body, k);
  }
}

void RangeOf(const void* loop, int k) { static_cast<Loop*>(const_cast<void*>(loop))->Range(k); }

// Threads that a long loop or a library has woken spin for a while and take their part. A short
// loop does not wake them.
void RunInCrowd(int threads, uint64_t kind, Loop* loop) {
  if (Ticks() - t_team_used < kSpinTicks) return RunOpenMP(threads, RangeOf, loop);
  if (RunOnTeam(threads, kind, RangeOf, loop, RunOpenMP, kCrowdAlone)) t_team_used = Ticks();
}

}  // namespace

void ParallelForImpl(int threads, int64_t n, void (*fn)(const void*, int64_t, int64_t), const void* context) {
  threads = static_cast<int>(std::min<int64_t>({threads, n, kMostRanges, MostThreads()}));
  Loop loop{fn, context, n / threads, n % threads, g_ran, {}, {}};
  LookAtCores();
  const uint64_t kind = reinterpret_cast<uintptr_t>(fn) ^ static_cast<uint64_t>(n) << 20 ^ static_cast<uint64_t>(threads) << 54;
  if (!kSanitizeThread && !CoresShared() && OpenMPCanStart(threads)) {
    CoresCrowded() || CrowdedByPushing(threads) ? RunInCrowd(threads, kind | 1, &loop) : RunOpenMP(threads, RangeOf, &loop);
  } else if (t_in_range) {
    for (int k = 0; k < threads; ++k) loop.Range(k);
  } else {
    RunOnTeam(threads, kSanitizeThread ? 0 : kind | 1, RangeOf, &loop);
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace detail

int LibraryTeam(double flops, int threads) {
  threads = LibraryThreads(threads);
  if (threads <= 1 || !OpenMPCanStart(threads)) return 1;
  LookAtCores();
  if (!CoresShared()) return threads;
  // Powers of two, for a library prepares itself anew for each number.
  int team = 1;
  while (team < threads && flops >= kSharedFlops * 2 * team) team *= 2;
  return std::min(team, threads);
}

int SetThreadOmpLimit(int limit) {
  MXNET_CHECK_KIND(limit >= 0, Value) << "[threads] limit " << limit << "; accepted: 0 (none) or more";
  return std::exchange(t_thread.limit, limit);
}

int OpenTeams() { return g_teams.load(std::memory_order_relaxed); }

void GiveBackKeptTeam() {
  if (t_thread.kept && OpenTeams() > 1) GiveBackTeam();
}

bool HasTeam() { return t_thread.team; }

void GiveBackOwnTeam() {
  if (t_thread.team) GiveBackTeam();
}

void GiveBackBorrowedTeam() {
  if (t_thread.kept) GiveBackTeam();
}

BorrowedTeam::BorrowedTeam() : thread_(AskedOnce(&t_thread)), had_(thread_->team && !thread_->kept), limit_(thread_->limit) {
  if (OpenTeams() == 0) return;
  if (thread_->kept && OpenTeams() > 1) GiveBackTeam();
  if (!thread_->team && OpenTeams() > 0) thread_->limit = 1;
}

BorrowedTeam::~BorrowedTeam() {
  thread_->limit = limit_;
  if (had_ || !thread_->team) return;
  thread_->kept = true;
  GiveBackKeptTeam();
}

OmpScope::OmpScope(int threads) : previous_(omp_get_max_threads()) {
  threads = LibraryThreads(threads);
  // The library's team is this thread's: who runs loops beside it must not open a second one.
  if (threads > 1 && !t_in_range) SetTeam(true);
  if (threads > 1 && CoresShared()) RestOpenMP(true);
  if (threads > 1 && CoresCrowded()) t_team_used = detail::Ticks();
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
