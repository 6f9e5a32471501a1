#include "base/threads/thread_team.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/device/pin_library.h"
#include "base/float_mode.h"
#include "base/room.h"
#include "base/threads/omp.h"
#include "base/threads/shared_cores.h"

namespace mxnet {
namespace {

// loops at once; a caller that finds no room computes alone
constexpr int kSlots = 64;
constexpr int kMostThreads = 1024;
constexpr int kRangeBits = 24;
constexpr uint64_t kRangeMask = (uint64_t{1} << kRangeBits) - 1;
// some microseconds: on shared cores who spins takes somebody's time
constexpr int kSpins = 200;
// ns that a loop must take its caller before others are asked to help
constexpr int64_t kAlone = 30000;
// the same while nobody else computes: some 100 us, until the next loop of a small network
constexpr int kCalmSpins = 8000;
constexpr int64_t kCalmAlone = 3000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void Sleep(std::atomic<uint32_t>* word, uint32_t seen) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void Wake(std::atomic<uint32_t>* word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int g_forks = 0;  // of which this process is the child

int64_t Now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/*
 * A loop that is under way. `ticket` holds its number and how many ranges nobody has begun: who
 * lowers it has one. The other members belong to that loop until `left` is 0, so they are read only
 * by who has a range.
 */
struct alignas(128) Slot {
  std::atomic<uint64_t> ticket{0};
  std::atomic<bool> used{false};
  int ranges = 0;
  RangeFn fn = nullptr;
  const void* body = nullptr;
  uint64_t float_control = 0;
  // ranges that have not ended, and kAsleep: their caller waits in the kernel
  alignas(64) std::atomic<uint32_t> left{0};

  static constexpr uint32_t kAsleep = 1u << 31;

  bool Take(int* range) {
    uint64_t now = ticket.load(std::memory_order_acquire);
    while ((now & kRangeMask) != 0) {
      if (ticket.compare_exchange_weak(now, now - 1, std::memory_order_acquire)) {
        *range = ranges - static_cast<int>(now & kRangeMask);
        return true;
      }
    }
    return false;
  }
};

class Team {
 public:
  static Team& Get() {
    static Team* team = new Team;  // threads look at it until the process is gone
    return *team;
  }

  void Run(int ranges, RangeFn fn, const void* body) {
    Slot* slot = Acquire();
    if (!slot) {
      for (int k = 0; k < ranges; ++k) fn(body, k);
      return;
    }
    Start(ranges - 1);
    const int forks = g_forks;
    slot->ranges = ranges;
    slot->fn = fn;
    slot->body = body;
    slot->float_control = detail::FloatControl();
    slot->left.store(static_cast<uint32_t>(ranges), std::memory_order_relaxed);
    slot->ticket.store(((slot->ticket.load(std::memory_order_relaxed) >> kRangeBits) + 1) << kRangeBits | static_cast<uint64_t>(ranges),
                       std::memory_order_release);
    // A thread says that it sleeps before it looks at `loops_` for the last time: either it sees
    // this loop or we see it.
    loops_.fetch_add(1, std::memory_order_seq_cst);
    const int asleep = sleepers_.load(std::memory_order_seq_cst);
    if (asleep > 0) Wake(&loops_, std::min(asleep, ranges - 1));
    uint32_t mine = 0;
    for (int k; slot->Take(&k); ++mine) fn(body, k);
    // a range forked, and this is the child: what the others had begun is lost
    if (g_forks != forks) return;
    uint32_t left = slot->left.fetch_sub(mine, std::memory_order_acq_rel) - mine;
    for (int i = 0; left != 0 && i < TeamSpins(); ++i) {
      Pause();
      left = slot->left.load(std::memory_order_acquire);
    }
    if (left != 0) left = slot->left.fetch_or(Slot::kAsleep, std::memory_order_acq_rel) | Slot::kAsleep;
    while ((left & ~Slot::kAsleep) != 0) {
      Sleep(&slot->left, left);
      left = slot->left.load(std::memory_order_acquire);
    }
    slot->used.store(false, std::memory_order_release);
  }

  void LockStart() { mutex_.lock(); }
  void UnlockStart() { mutex_.unlock(); }
  void StartNone() { most_ = 0; }

 private:
  Slot* Acquire() {
    static thread_local int t_slot = 0;  // the one that this thread had before
    for (int i = 0; i < kSlots; ++i) {
      const int at = (t_slot + i) % kSlots;
      if (slots_[at].used.load(std::memory_order_relaxed) || slots_[at].used.exchange(true, std::memory_order_acquire)) continue;
      t_slot = at;
      int high = high_.load(std::memory_order_relaxed);
      while (high <= at && !high_.compare_exchange_weak(high, at + 1, std::memory_order_relaxed)) {
      }
      return &slots_[at];
    }
    return nullptr;
  }

  // Sees to it that there are so many threads, or as many as the system gives.
  void Start(int threads) {
    threads = std::min(threads, most_.load(std::memory_order_relaxed));
    if (started_.load(std::memory_order_relaxed) >= threads) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (started_ == 0) PinLibrary();
    try {
      for (; started_ < threads; ++started_) std::thread([this] { Loop(); }).detach();
    } catch (const std::system_error&) {
      most_ = started_.load();
    }
  }

  void Loop() {
    SetThreadName("mx-omp");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the program's own threads handle its signals
    for (;;) {
      const uint32_t seen = loops_.load(std::memory_order_seq_cst);
      if (Help()) {
        LookAtCores();
        continue;
      }
      int spins = 0;
      while (spins < TeamSpins() && loops_.load(std::memory_order_relaxed) == seen) {
        Pause();
        ++spins;
      }
      if (loops_.load(std::memory_order_relaxed) != seen) continue;
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (loops_.load(std::memory_order_seq_cst) == seen) Sleep(&loops_, seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    }
  }

  // Computes ranges while there are some; false: there was none.
  bool Help() {
    bool any = false;
    const int high = high_.load(std::memory_order_relaxed);
    for (int i = 0; i < high; ++i) {
      Slot& slot = slots_[i];
      for (int k; slot.Take(&k); any = true) {
        detail::SetFloatControl(slot.float_control);
        slot.fn(slot.body, k);
        if (slot.left.fetch_sub(1, std::memory_order_acq_rel) == (Slot::kAsleep | 1)) Wake(&slot.left, 1);
      }
    }
    return any;
  }

  std::atomic<uint32_t> loops_{0};  // begun so far
  std::atomic<int> sleepers_{0};
  std::atomic<int> high_{0};  // slots from here on were never used
  std::atomic<int> started_{0};
  std::atomic<int> most_{kMostThreads};
  std::mutex mutex_;  // held while threads are started
  Slot slots_[kSlots];
};

/*
 * How long loops of one kind take, by what the last ones took; kinds that share a place forget each
 * other.
 */
class Durations {
 public:
  int64_t Of(uint64_t kind) const {
    const uint64_t entry = places_[kind % kPlaces].load(std::memory_order_relaxed);
    return entry >> 32 == kind >> 32 ? static_cast<int64_t>(entry & 0xffffffffu) : 0;
  }
  // Of several the shortest counts, for a thread may be away for milliseconds; slowly growing, for
  // loops change.
  void Note(uint64_t kind, int64_t time) {
    const int64_t before = Of(kind);
    if (before > 0) time = std::min(time, before + before / 4 + 1);
    places_[kind % kPlaces].store((kind >> 32) << 32 | static_cast<uint64_t>(std::clamp<int64_t>(time, 1, UINT32_MAX)),
                                  std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kPlaces = 512;
  std::atomic<uint64_t> places_[kPlaces] = {};
};

Durations g_alone, g_together[2];  // of one thread; until the last thread is done: [others compute, calm]

/* Is the loop worth the threads? Where it takes one thread less than `alone` ns it is not, and
 * where it is long it is. In between, what threads gain depends on what else the cores do and on
 * whose caches have the data: both ways are tried now and then. */
bool IsWorthThreads(uint64_t kind, int64_t alone) {
  constexpr int64_t kLong = 500000;
  constexpr unsigned kTries = 64;
  const int64_t one = g_alone.Of(kind);
  if (one < alone || one >= kLong) return one >= alone;
  const int64_t all = g_together[CoresCalm()].Of(kind);
  static thread_local unsigned t_turn = 0;
  return all == 0 || (4 * all < 3 * one) != (++t_turn % kTries == 0);
}

}  // namespace

int64_t TeamAlone() { return CoresCalm() ? kCalmAlone : kAlone; }
int TeamSpins() { return CoresCalm() ? kCalmSpins : kSpins; }

void RunOnTeam(int ranges, uint64_t kind, RangeFn fn, const void* body) {
  RunOnTeam(
      ranges, kind, fn, body, [](int ranges, RangeFn fn, const void* body) { Team::Get().Run(ranges, fn, body); }, TeamAlone());
}

bool RunOnTeam(int ranges, uint64_t kind, RangeFn fn, const void* body, RunTeam team, int64_t alone) {
  if (kind == 0) {
    team(ranges, fn, body);
    return true;
  }
  kind *= 0x9e3779b97f4a7c15u;
  kind ^= kind >> 29;
  const int64_t begin = Now();
  if (!IsWorthThreads(kind, alone)) {
    for (int k = 0; k < ranges; ++k) fn(body, k);
    g_alone.Note(kind, Now() - begin);
    return false;
  }
  const bool calm = CoresCalm();
  team(ranges, fn, body);
  const int64_t took = Now() - begin;
  g_together[calm].Note(kind, took);
  // no thread needs more for all of it
  if (ranges * took < g_alone.Of(kind)) g_alone.Note(kind, ranges * took);
  return true;
}

bool ThreadsCanStart(int threads) {
  if (!HasRoomForThreads(threads)) return false;
  std::vector<std::thread> started;
  std::atomic<bool> end{false};
  bool good = true;
  try {
    for (int i = 0; i < threads; ++i) {
      started.emplace_back([&end] {
        // until all are there
        while (!end.load(std::memory_order_acquire)) std::this_thread::yield();
      });
    }
  } catch (const std::system_error&) {
    good = false;
  }
  end.store(true, std::memory_order_release);
  for (std::thread& thread : started) thread.join();
  return good;
}

void TeamBeforeFork() { Team::Get().LockStart(); }
void TeamAfterFork(bool child) {
  if (!child) return Team::Get().UnlockStart();
  ++g_forks;
  Team* team = new (&Team::Get()) Team;  // what is there belongs to threads that are not
#ifdef __SANITIZE_THREAD__
  team->StartNone();  // it allows a child of several threads none
#else
  (void)team;
#endif
}

}  // namespace mxnet
