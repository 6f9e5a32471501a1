#include "base/threads/shared_cores.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "base/foreign_env.h"
#include "base/threads/calm_cores.h"
#include "mxnet/env.h"

namespace mxnet {

namespace detail {
std::atomic<bool> g_cores_shared{false}, g_cores_crowded{false}, g_cores_calm{false};
std::atomic<uint64_t> g_last_push{0};
__thread uint64_t t_next_look = 0, t_last_push = 0;
__thread bool t_busy = false;
}  // namespace detail

namespace {

constexpr int64_t kMillisecond = 1000000;  // all times are nanoseconds
constexpr uint64_t kLookTicks = 1 << 24;   // 5 to 17 ms
// threads that waited so long within a window share their cores
constexpr int64_t kWindow = 50 * kMillisecond, kMuch = 10 * kMillisecond;
// the least between two looks; long enough for /proc/stat, which counts in hundredths
constexpr int64_t kTurn = 20 * kMillisecond, kLong = 200 * kMillisecond;
constexpr int64_t kHold = 500 * kMillisecond, kLongestHold = 8000 * kMillisecond;
constexpr double kLittle = 0.15;  // processors that others may use
constexpr double kRest = 0.4;     // what a crowd leaves of all processors
constexpr double kMore = 0.4;     // and the processors that it lacks at least
constexpr double kBusy = 0.4;     // part of its time that a busy thread computes, or would

int64_t Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * int64_t{1000000000} + t.tv_nsec;
}

// The beginning of a file; -1: it cannot be read.
ssize_t ReadFile(const char* name, char* to, size_t room) {
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  size_t length = 0;
  for (ssize_t got; length + 1 < room && (got = read(file, to + length, room - 1 - length)) > 0;) length += static_cast<size_t>(got);
  close(file);
  to[length] = '\0';
  return static_cast<ssize_t>(length);
}

// How long the calling thread ran, and was ready to run and did not, so far.
struct Times {
  int64_t ran = -1, delayed = -1;  // -1: the kernel does not say

  static Times Read() {
    char text[128];
    long long ran, delayed;
    if (ReadFile("/proc/thread-self/schedstat", text, sizeof(text)) <= 0 || std::sscanf(text, "%lld %lld", &ran, &delayed) != 2) return {};
    return {ran, delayed};
  }
};

int Affinity(cpu_set_t* set) {
  CPU_ZERO(set);
  if (sched_getaffinity(0, sizeof(*set), set) == 0) return std::max(1, CPU_COUNT(set));
  const int count = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  for (int i = 0; i < count && i < CPU_SETSIZE; ++i) CPU_SET(i, set);
  return count;
}

// Time that other processes used the processors that this one may run on, between two calls; -1:
// unknown.
class Others {
 public:
  void Begin() { Take(&wall_, &own_, &busy_); }
  // In processors; begins anew. `mine`: what this process used.
  double End(double* mine = nullptr) {
    const int64_t wall = wall_, own = own_, busy = busy_;
    Begin();
    const double passed = static_cast<double>(std::max<int64_t>(1, wall_ - wall));
    if (mine) *mine = static_cast<double>(own_ - own) / passed;
    return busy < 0 || busy_ < 0 ? -1 : static_cast<double>((busy_ - busy) - (own_ - own)) / passed;
  }
  int64_t Since() const { return Now() - wall_; }

 private:
  static void Take(std::atomic<int64_t>* wall, std::atomic<int64_t>* own, std::atomic<int64_t>* busy) {
    *wall = Now();
    *own = Now(CLOCK_PROCESS_CPUTIME_ID);
    *busy = Busy();
  }
  static int64_t Busy() {
    std::ifstream file("/proc/stat");
    cpu_set_t set;
    Affinity(&set);
    int64_t ticks = 0, found = 0;
    for (std::string line; std::getline(file, line) && line.compare(0, 3, "cpu") == 0;) {
      int cpu;
      long long user, nice, system, idle, wait, irq, soft;
      if (std::sscanf(line.c_str(), "cpu%d %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice, &system, &idle, &wait, &irq, &soft) !=
          8)
        continue;
      if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set)) continue;
      ticks += user + nice + system + irq + soft;
      ++found;
    }
    return found == 0 ? -1 : ticks * (1000 * kMillisecond / std::max(1L, sysconf(_SC_CLK_TCK)));
  }
  std::atomic<int64_t> wall_{0}, own_{0}, busy_{-1};
};

/*
 * No locks: a fork may come at any time, and what two threads do at once costs a wrong guess for
 * a moment.
 */
struct Watch {
  std::atomic<Cores> assumed{Cores::kMeasured};
  // begin of the window, how long threads waited in it, and the time used until then
  std::atomic<int64_t> window{0}, delay{0}, window_own{0};
  std::atomic<int64_t> next{0};  // when to look at the others again
  // for how long shared cores stay so, at least until then; when that ended last
  std::atomic<int64_t> hold{kHold}, held{0}, left{0};
  // the same of a crowd of this process's own threads
  std::atomic<int64_t> crowd_hold{kHold}, crowd_end{0};
  std::atomic<int64_t> crowd_seen{-kLongestHold};  // when a window looked like one
  std::atomic<int64_t> seen{0}, seen_own{0};       // when somebody looked last, and the time used until then
  // of shared cores: begin of the span; how long spans were and what others used in them
  std::atomic<int64_t> span{0}, beside_passed{0}, beside_used{0};
  std::atomic<bool> first{true}, suspected{false};
  double quota = 0;
  Others others, beside;
  detail::CalmCores calm;  // of shared cores

  Watch() {
    quota = UsableProcessors();
    if (Told("OMP_WAIT_POLICY", "active") || Bound()) assumed = Cores::kOwn;
    if (Told("OMP_WAIT_POLICY", "passive")) assumed = Cores::kShared;
    others.Begin();
  }
  static Watch& Get() {
    static Watch* watch = new Watch;
    return *watch;
  }

  static bool Told(const char* name, const char* value) { return strcasecmp(ForeignText(name).c_str(), value) == 0; }
  static bool Bound() {
    return ForeignIsSet("GOMP_CPU_AFFINITY") || (!ForeignText("OMP_PROC_BIND").empty() && !Told("OMP_PROC_BIND", "false"));
  }

  double Free() const {
    cpu_set_t set;
    // processors that we leave to others
    return std::max(0, Affinity(&set) - Env::Get().omp_num_threads) + kLittle;
  }

  void Enter(int64_t now) {
    if (detail::g_cores_shared.exchange(true)) return;
    const int64_t again = now - left < 2000 * kMillisecond ? std::min(2 * hold, kLongestHold) : kHold;
    hold = again;
    next = held = now + again;
    beside_passed = beside_used = 0;
    calm.Begin(now);
    detail::g_cores_calm = false;
    others.Begin();
  }

  // Has this process been away, stopped or without work, since somebody looked last? Then what the
  // others did meanwhile says nothing about the cores that it computes on. But where they are
  // shared it counts: who works in short bursts would never see that the others have gone.
  bool Away(int64_t now) {
    const int64_t own = Now(CLOCK_PROCESS_CPUTIME_ID);
    const int64_t passed = now - seen.exchange(now), used = own - seen_own.exchange(own);
    if (detail::g_cores_shared || passed < kWindow || used > passed / 4) return false;
    others.Begin();
    suspected = false;
    delay = 0;
    return true;
  }

  // What others use while this process sleeps takes nothing from it. So the spans in which it
  // computes count by themselves: true if they come to half a second without others.
  bool AloneWhileComputing(int64_t now) {
    int64_t begin = span;
    if (now - begin < kTurn || !span.compare_exchange_strong(begin, now)) return false;
    double mine;
    const double used = beside.End(&mine);
    const int64_t passed = now - begin;
    if (passed > kWindow || mine < kBusy) return false;  // it has been away
    beside_passed += passed;
    beside_used += static_cast<int64_t>(std::max(0., used) * static_cast<double>(passed));
    if (beside_passed < kHold) return false;
    const bool alone = used >= 0 && static_cast<double>(beside_used) <= Free() * static_cast<double>(beside_passed);
    beside_passed = beside_used = 0;
    return alone;
  }

  void Look(int64_t now) {
    if (now >= held && AloneWhileComputing(now)) return Leave(now);
    int64_t due = next;
    if (now < due || others.Since() < kLong) return;
    if (!next.compare_exchange_strong(due, now + kLong)) return;
    if (others.End() <= Free()) Leave(now);
  }

  void Leave(int64_t now) {
    left = now;
    next = 0;
    delay = 0;
    detail::g_cores_shared = detail::g_cores_calm = false;
  }

  void Waited(int64_t now, int64_t time) {
    int64_t begin = window;
    if (now - begin > kWindow && window.compare_exchange_strong(begin, now)) {
      delay = 0;
      window_own = Now(CLOCK_PROCESS_CPUTIME_ID);
    }
    const int64_t waited = delay.fetch_add(time) + time;
    if (waited < kMuch || now < crowd_end) return;
    // who has all processors waits for nobody else
    const int64_t passed = now - window, used = Now(CLOCK_PROCESS_CPUTIME_ID) - window_own;
    cpu_set_t set;
    const double all = Affinity(&set) * static_cast<double>(passed);
    if (passed <= kTurn / 2 || static_cast<double>(used) <= all - kRest * static_cast<double>(passed)) return Suspect(now);
    // Threads that could all run at once, and that the kernel keeps on one processor for some time,
    // are no crowd: together they run and wait no longer than the processors are there.
    if (static_cast<double>(used + waited) > all + kMore * static_cast<double>(passed) && Again(now)) Crowd(now);
  }

  // Times of threads are not taken at once: a crowd shows in a second window soon after.
  bool Again(int64_t now) {
    const int64_t passed = now - crowd_seen;
    if (passed < kWindow) return false;
    crowd_seen = now;
    return passed < 4 * kWindow;
  }

  // Threads wait for processors: for other processes, or for this one's own threads?
  void Suspect(int64_t now) {
    int64_t due = next;
    if (now < due || !next.compare_exchange_strong(due, now + kTurn)) return;  // one thread looks
    if (!suspected || others.Since() > kHold) {
      suspected = true;
      others.Begin();
      next = now + kLong;
      return;
    }
    suspected = false;
    double mine;
    cpu_set_t set;
    const double used = others.End(&mine);
    // a container may show its own processes only; but ours are not those that fill the processors
    const bool hidden = mine < Affinity(&set) - kRest;
    if (used < 0 || used > Free() + kLittle || hidden)
      Enter(now);
    else
      next = now + kHold;
  }

  void Crowd(int64_t now) {
    crowd_hold = now - crowd_end < 2000 * kMillisecond ? std::min(2 * crowd_hold, kLongestHold) : 2 * kHold;
    next = crowd_end = now + crowd_hold;
    detail::g_cores_crowded = true;
  }
};

// at load, so that the first loop knows what the others did since
[[maybe_unused]] const bool g_begun = (Watch::Get(), true);

}  // namespace

namespace detail {

void LookAtCoresSlow() {
  t_next_look = Ticks() + kLookTicks;
  if (Env::Get().omp_num_threads == 1) return;  // there are no loops of several threads
  Watch& watch = Watch::Get();
  const Cores assumed = watch.assumed;
  if (assumed != Cores::kMeasured || Env::Get().omp_num_threads > watch.quota + 0.01) {
    g_cores_shared = assumed != Cores::kOwn;
    g_cores_calm = assumed == Cores::kCalm;
    g_cores_crowded = false;
    return;
  }
  const int64_t now = Now();
  if (watch.first.exchange(false) && watch.others.Since() > 100 * kMillisecond && watch.others.End() > watch.Free() + kLittle)
    watch.Enter(now);
  if (watch.Away(now)) return;
  if (g_cores_shared) watch.Look(now);
  if (g_cores_crowded && now >= watch.crowd_end) g_cores_crowded = false;
  static thread_local int64_t t_now = 0;
  static thread_local Times t_times;
  const Times times = Times::Read();
  const int64_t passed = now - t_now, waited = times.delayed - t_times.delayed, ran = times.ran - t_times.ran;
  const bool known = t_now != 0 && times.delayed >= 0 && passed < 1000 * kMillisecond;
  t_now = now;
  t_times = times;
  if (known) t_busy = static_cast<double>(ran + waited) > kBusy * static_cast<double>(passed);
  if (g_cores_shared) {
    if (known) g_cores_calm = watch.calm.Say(now, passed, waited);
    return;
  }
  if (known && waited > 0) watch.Waited(now, passed > kWindow ? waited * kWindow / passed : waited);
}

bool HasProcessorsFor(int threads) {
  const Watch& watch = Watch::Get();
  return watch.assumed.load(std::memory_order_relaxed) == Cores::kOwn || threads < watch.quota + 0.01;
}

double GroupQuota(const char* groups, const char* root) {
  const auto first_line = [](const std::string& name) {
    std::ifstream file(name);
    std::string line;
    std::getline(file, line);
    return line;
  };
  double least = 0;
  const auto found = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (least == 0 || quota / period < least)) least = quota / period;
  };
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (one == std::string::npos || two == std::string::npos) continue;
    const std::string controllers = "," + line.substr(one + 1, two - one - 1) + ",";
    const bool second = controllers == ",,";
    if (!second && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string mount = std::string(root) + (second ? "" : "/" + controllers.substr(1, controllers.size() - 2));
    // A container may see the path outside it and mount its own group at the root: every part of
    // the path is tried.
    std::string path = line.substr(two + 1);
    if (path == "/" || path[0] != '/') path.clear();
    for (bool more = true; more;) {
      if (second) {
        double quota = 0, period = 0;  // "max 100000" gives none
        if (std::sscanf(first_line(mount + path + "/cpu.max").c_str(), "%lf %lf", &quota, &period) == 2) found(quota, period);
      } else {
        found(std::atof(first_line(mount + path + "/cpu.cfs_quota_us").c_str()),
              std::atof(first_line(mount + path + "/cpu.cfs_period_us").c_str()));
      }
      more = !path.empty();
      path.resize(more ? path.rfind('/') : 0);
    }
  }
  return least;
}

}  // namespace detail

double UsableProcessors() {
  static const double quota = [] {
    std::ifstream file("/proc/self/cgroup");
    std::ostringstream groups;
    groups << file.rdbuf();
    return detail::GroupQuota(groups.str().c_str(), "/sys/fs/cgroup");
  }();
  cpu_set_t set;
  const double processors = Affinity(&set);
  return quota > 0 ? std::min(quota, processors) : processors;
}

void AssumeCores(Cores cores) {
  Watch::Get().assumed = cores;
  detail::g_cores_shared = cores == Cores::kShared || cores == Cores::kCalm;
  detail::g_cores_calm = cores == Cores::kCalm;
  detail::t_next_look = 0;
}

}  // namespace mxnet
