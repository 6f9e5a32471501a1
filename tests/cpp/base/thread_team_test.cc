// Loops on cores that others use: the team of our own, and how such cores are noticed.
#include "base/threads/thread_team.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/float_mode.h"
#include "base/threads/calm_cores.h"
#include "base/threads/library_threads.h"
#include "base/threads/omp.h"
#include "base/threads/shared_cores.h"
#include "mxnet/env.h"

using namespace mxnet;  // NOLINT

namespace {

using Clock = std::chrono::steady_clock;

template <typename F>
void RunRanges(int ranges, F&& f, uint64_t kind = 0) {
  RunOnTeam(
      ranges, kind, [](const void* body, int k) { (*static_cast<std::remove_reference_t<F>*>(const_cast<void*>(body)))(k); }, &f);
}

// The status of a child that runs `f`; alarm ends one that hangs.
int InChild(const std::function<int()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class TeamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Env::Set("OMP_NUM_THREADS", "4");
    AssumeCores(Cores::kShared);
  }
  void TearDown() override {
    AssumeCores(Cores::kMeasured);
    Env::Set("OMP_NUM_THREADS", "");
  }
};

class MeasuredCoresTest : public TeamTest {
 protected:
  void SetUp() override {
    TeamTest::SetUp();
    if (access("/proc/thread-self/schedstat", R_OK) != 0) GTEST_SKIP() << "the kernel does not say how long threads wait";
    if (std::getenv("OMP_WAIT_POLICY") || std::getenv("OMP_PROC_BIND") || std::getenv("GOMP_CPU_AFFINITY"))
      GTEST_SKIP() << "the environment decides";
    if (UsableProcessors() < 2) GTEST_SKIP() << "loops have one thread";
  }
  // As many threads as there are processors: with more, cores always count as shared.
  void MeasureCores() {
    Env::Set("OMP_NUM_THREADS", std::to_string(std::max(1, static_cast<int>(UsableProcessors()))));
    AssumeCores(Cores::kOwn);
    LookAtCores();
    AssumeCores(Cores::kMeasured);
  }
};

int64_t Sum(int64_t n) {
  std::atomic<int64_t> total{0};
  ParallelFor(n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) total += i;
  });
  return total.load();
}

TEST_F(TeamTest, EachRangeOnce) {
  for (int ranges : {1, 2, 3, 7, 100, 5000}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> seen(ranges, 0);  // plain: ThreadSanitizer watches who writes them and who reads them afterwards
      RunRanges(
          ranges, [&](int k) { ++seen[k]; }, repeat % 2 ? 77 : 0);
      for (int times : seen) ASSERT_EQ(times, 1);
    }
  }
}

TEST_F(TeamTest, OthersComeWhileTheCallerIsBusy) {
  std::atomic<int> inside{0};
  const auto end = Clock::now() + std::chrono::seconds(30);
  RunRanges(2, [&](int) {  // each waits for the other
    ++inside;
    while (inside < 2 && Clock::now() < end) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

TEST_F(TeamTest, RandomLoopsFromManyThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([c, &wrong] {
      std::mt19937 random(c);
      for (int i = 0; i < 300; ++i) {
        const int ranges = 1 + static_cast<int>(random() % 9), inner = 1 + static_cast<int>(random() % 4),
                  work = static_cast<int>(random() % 2000);
        const bool nested = random() % 4 == 0;
        std::vector<int64_t> sums(ranges, 0);
        RunRanges(ranges, [&](int k) {
          std::vector<int64_t> parts(inner, 0);
          const auto part = [&](int j) {
            for (int w = 0; w < work; ++w) parts[j] += (w ^ k) + j;
          };
          if (nested)
            RunRanges(inner, part);
          else
            for (int j = 0; j < inner; ++j) part(j);
          for (int64_t p : parts) sums[k] += p;
        });
        for (int k = 0; k < ranges; ++k) {
          int64_t expected = 0;
          for (int j = 0; j < inner; ++j)
            for (int w = 0; w < work; ++w) expected += (w ^ k) + j;
          wrong += sums[k] != expected;
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TeamTest, MoreCallersThanRoom) {
  std::vector<std::thread> callers;
  std::atomic<int> ready{0}, calls{0};
  for (int c = 0; c < 80; ++c) {
    callers.emplace_back([&] {
      ++ready;
      while (ready < 80) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) RunRanges(3, [&](int) { ++calls; });
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(calls, 80 * 20 * 3);
}

TEST_F(TeamTest, RangesAreThoseOfOwnCores) {
  for (int64_t n : {2, 3, 4, 5, 1001}) {
    std::vector<int64_t> ends[2];
    for (Cores cores : {Cores::kOwn, Cores::kShared}) {
      AssumeCores(cores);
      std::vector<int64_t>& at = ends[cores == Cores::kShared];
      at.assign(n, -1);
      ParallelFor(n, 1, [&](int64_t begin, int64_t end) { at[begin] = end; });
    }
    EXPECT_EQ(ends[0], ends[1]) << n;
  }
}

TEST_F(TeamTest, ExceptionReachesTheCaller) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> calls{0};
    EXPECT_THROW(ParallelForThreads(4, 4,
                                    [&](int64_t begin, int64_t) {
                                      ++calls;
                                      if (begin % 2) MXNET_THROW(Index) << "[test] range " << begin;
                                    }),
                 Error);
    EXPECT_EQ(calls, 4);
  }
  EXPECT_EQ(OmpMaxThreads(), 4);
}

TEST_F(TeamTest, LoopsInsideARangeAreTheCallers) {
  std::atomic<int> inner{0}, most{0};
  ParallelForThreads(4, 4, [&](int64_t, int64_t) {
    if (OmpMaxThreads() > 1) ++most;
    ParallelForThreads(3, 3, [&](int64_t, int64_t) { ++inner; });
  });
  EXPECT_EQ(inner, 12);
  EXPECT_EQ(most, 0);
}

TEST_F(TeamTest, ThreadsHaveTheCallersFloatMode) {
  const bool before = SetFlushDenorms(true);
  {
    FloatModeScope scope;
    std::atomic<int> kept{0};
    for (int repeat = 0; repeat < 50; ++repeat) {
      RunRanges(8, [&](int) {
        volatile float small = std::numeric_limits<float>::min();
        volatile float half = small * 0.5f;
        kept += half != 0;
        std::this_thread::yield();
      });
    }
    EXPECT_EQ(kept, 0);
  }
  SetFlushDenorms(before);
}

TEST_F(TeamTest, ForkInTheMidstOfLoops) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      while (!stop) RunRanges(4, [](int) { std::this_thread::yield(); });
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(InChild([] {
                int failed = 0;
                for (int repeat = 0; repeat < 20; ++repeat) {
                  std::atomic<int> calls{0};
                  RunRanges(5, [&](int) { ++calls; });
                  failed |= calls != 5 || Sum(1000) != 499500;
                }
                return failed;
              }),
              0);
  }
  stop = true;
  for (auto& caller : callers) caller.join();
}

TEST_F(TeamTest, ForkInARange) {
  std::atomic<int> status{-1};
  RunRanges(2, [&](int k) {
    if (k == 0) status = InChild([] { return Sum(1000) != 499500; });
  });
  EXPECT_EQ(status, 0);
}

#ifndef __SANITIZE_THREAD__  // it wants a thread of its own
// Only a thread at a time for this user: loops are computed by their callers, on cores of our own
// too.
TEST_F(TeamTest, NoThreadsToBeHad) {
  for (Cores cores : {Cores::kOwn, Cores::kShared}) {
    const int status = InChild([cores] {
      const rlimit none = {0, 0};
      if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setuid(65533) != 0)) return 0;
      AssumeCores(cores);
      std::atomic<int> calls{0};
      RunRanges(5, [&](int) { ++calls; });
      return calls == 5 && Sum(1000) == 499500 && LibraryTeam(1e12, 4) == 1 ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
  }
}

#endif

TEST_F(TeamTest, LibrariesGetFewThreadsForShortCalls) {
  EXPECT_EQ(LibraryTeam(1e6, 4), 1);
  EXPECT_EQ(LibraryTeam(1e12, 4), 4);
  EXPECT_EQ(LibraryTeam(1e12, 3), 3);
  AssumeCores(Cores::kOwn);
  EXPECT_EQ(LibraryTeam(1e6, 4), 4);
}

// Processors that are busy while this process sleeps for a second.
double BusyProcessors() {
  const auto busy = [] {
    std::ifstream file("/proc/stat");
    std::string name;
    long long user = 0, nice = 0, system = 0;
    file >> name >> user >> nice >> system;
    return user + nice + system;
  };
  const long long before = busy();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return static_cast<double>(busy() - before) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/* Processes that compute for a minute at most, three for each processor. */
std::vector<pid_t> BusyNeighbours() {
  std::vector<pid_t> started;
  for (int i = 0; i < 3 * static_cast<int>(std::thread::hardware_concurrency()); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      for (volatile int turn = 0;; turn = turn + 1) {
      }
    }
    started.push_back(child);
  }
  return started;
}

TEST_F(MeasuredCoresTest, NeighboursAreNoticed) {
  const std::vector<pid_t> neighbours = BusyNeighbours();
  MeasureCores();
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (!CoresShared() && Clock::now() < end) Sum(4);
  EXPECT_TRUE(CoresShared());
  for (pid_t child : neighbours) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  // Who computes in short bursts notices, too, that they have gone. Others of the machine may stay.
  const auto later = Clock::now() + std::chrono::seconds(12);
  while (CoresShared() && Clock::now() < later) {
    for (const auto pause = Clock::now() + std::chrono::milliseconds(20); Clock::now() < pause;) Sum(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  EXPECT_TRUE(!CoresShared() || BusyProcessors() > 0.1);
}

/* As where programs take turns. */
TEST_F(MeasuredCoresTest, NeighboursThatRestWhileWeComputeShareNothing) {
  const std::vector<pid_t> neighbours = BusyNeighbours();
  const auto tell = [&neighbours](int signal) {
    for (pid_t child : neighbours) kill(child, signal);
  };
  MeasureCores();
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (!CoresShared() && Clock::now() < end) Sum(4);
  EXPECT_TRUE(CoresShared());
  const auto later = Clock::now() + std::chrono::seconds(15);
  while (CoresShared() && Clock::now() < later) {
    tell(SIGSTOP);
    for (const auto turn = Clock::now() + std::chrono::milliseconds(200); Clock::now() < turn;) Sum(4);
    tell(SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  tell(SIGSTOP);
  EXPECT_TRUE(!CoresShared() || BusyProcessors() > 0.1);
  tell(SIGKILL);
  for (pid_t child : neighbours) waitpid(child, nullptr, 0);
}

TEST_F(MeasuredCoresTest, OwnThreadsThatAreTooManyAreNoticed) {
  std::atomic<bool> ended{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2 * static_cast<int>(std::thread::hardware_concurrency()); ++i)
    others.emplace_back([&] {
      while (!ended) {
      }
    });
  MeasureCores();
  const auto end = Clock::now() + std::chrono::seconds(30);
  // beside other processes they may count as shared
  while (!CoresCrowded() && !CoresShared() && Clock::now() < end) Sum(4);
  EXPECT_TRUE(CoresCrowded() || CoresShared());
  EXPECT_EQ(Sum(1000), 499500);
  ended = true;
  for (std::thread& other : others) other.join();
}

TEST_F(MeasuredCoresTest, WhoIsBusyAndPushesCountsForAMoment) {
  MeasureCores();
  const int all = static_cast<int>(UsableProcessors());
  std::atomic<int> stage{0};
  std::thread pusher([&] {
    while (stage == 0) LookAtCoresAsPushing();
    EXPECT_FALSE(CrowdedByPushing(all)) << "these are its own";
    stage = 2;
    while (stage == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      LookAtCoresAsPushing();
    }
  });
  const auto end = Clock::now() + std::chrono::seconds(30);
  bool seen = false;
  while (!seen && Clock::now() < end) seen = CrowdedByPushing(all);
  EXPECT_TRUE(seen);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(CrowdedByPushing(all - 1)) << "there is a processor for it";
  stage = 1;
  while (stage != 2) std::this_thread::yield();
  // A sleeper that waits for a processor looks busy, so where others compute a calm moment is
  // awaited.
  bool calm = false;
  while (!calm && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    calm = true;
    for (int i = 0; i < 1000; ++i) calm = calm && !CrowdedByPushing(all);
  }
  EXPECT_TRUE(calm) << "it sleeps between pushes";
  stage = 3;
  pusher.join();
}

TEST_F(TeamTest, ShortLoopsWakeNobody) {
  static int teams = 0;
  static std::vector<int> ranges;
  const RangeFn fn = [](const void*, int k) { ranges.push_back(k); };
  const RangeFn slow = [](const void*, int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const RunTeam team = [](int count, RangeFn call, const void* body) {
    ++teams;
    for (int k = 0; k < count; ++k) call(body, k);
  };
  constexpr int64_t kMillisecond = 1000000;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(RunOnTeam(3, 99, fn, nullptr, team, kMillisecond));
  EXPECT_EQ(ranges, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(teams, 0);
  EXPECT_FALSE(RunOnTeam(2, 101, slow, nullptr, team, kMillisecond)) << "nobody knows it yet";
  EXPECT_TRUE(RunOnTeam(2, 101, slow, nullptr, team, kMillisecond));
  EXPECT_FALSE(RunOnTeam(2, 101, slow, nullptr, team, 1000 * kMillisecond));
  EXPECT_EQ(teams, 1);
}

TEST_F(TeamTest, CalmCoresShareOutShorterLoops) {
  const int64_t alone = TeamAlone();
  const int spins = TeamSpins();
  AssumeCores(Cores::kCalm);
  LookAtCores();
  EXPECT_TRUE(CoresShared() && CoresCalm());
  EXPECT_LT(10 * TeamAlone(), alone + 1);
  EXPECT_GT(TeamSpins(), 10 * spins);
  for (int repeat = 0; repeat < 200; ++repeat) ASSERT_EQ(Sum(1000), 499500);
  AssumeCores(Cores::kShared);
  LookAtCores();
  EXPECT_FALSE(CoresCalm());
  EXPECT_EQ(TeamAlone(), alone);
}

TEST(CalmCores, EndWhereAThreadWaitsAndComeBackLaterBesideOneThatStays) {
  using Calm = detail::CalmCores;
  constexpr int64_t kHold = Calm::kHold, kPassed = 1000000, kWaits = kPassed / 2;
  Calm calm;
  calm.Begin(0);
  EXPECT_FALSE(calm.Say(kHold - 1, kPassed, 0));
  EXPECT_TRUE(calm.Say(kHold, kPassed, kPassed / 3));
  // one that stays: each calm ends at once
  int64_t now = kHold, hold = kHold;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(calm.Say(now += kPassed, kPassed, kWaits));
    hold = std::min(2 * hold, Calm::kLongestHold);
    EXPECT_FALSE(calm.Say(now + hold - 1, kPassed, 0)) << i;
    EXPECT_TRUE(calm.Say(now += hold, kPassed, 0)) << i;
  }
  EXPECT_EQ(hold, Calm::kLongestHold);
  // one that comes now and then, first too often for a calm to begin: soon each pause is one
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(calm.Say(now += Calm::kLong + 1, kPassed, kWaits)) << i;
    hold /= 2;
    EXPECT_FALSE(calm.Say(now + hold - 1, kPassed, 0)) << i;
  }
  EXPECT_EQ(hold, kHold);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(calm.Say(now += kHold, kPassed, 0)) << i;
    EXPECT_FALSE(calm.Say(now += Calm::kLong, kPassed, kWaits)) << i;
  }
}

#ifndef __SANITIZE_THREAD__  // there each loop wakes threads, which then wait for the processor of their caller
TEST_F(MeasuredCoresTest, CalmComesAndGoesWithTheNeighbours) {
  const std::vector<pid_t> neighbours = BusyNeighbours();
  MeasureCores();
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (!CoresShared() && Clock::now() < end) Sum(4);
  EXPECT_TRUE(CoresShared());
  while (CoresCalm() && Clock::now() < end) Sum(4);
  EXPECT_FALSE(CoresCalm());
  for (pid_t child : neighbours) kill(child, SIGSTOP);
  const auto later = Clock::now() + std::chrono::seconds(5);
  bool calm = false;
  while (CoresShared() && !calm && Clock::now() < later) {
    Sum(4);
    calm = CoresCalm();
  }
  EXPECT_TRUE(calm || BusyProcessors() > 0.1);
  for (pid_t child : neighbours) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}
#endif

TEST(Quota, SmallestOfTheGroups) {
  char root[] = "/tmp/mxnet-quota-XXXXXX";
  ASSERT_NE(mkdtemp(root), nullptr);
  const std::string at = root;
  const auto write = [&](const std::string& name, const std::string& text) {
    for (size_t slash = at.size() + 1; (slash = name.find('/', slash)) != std::string::npos; ++slash)
      mkdir(name.substr(0, slash).c_str(), 0700);
    std::ofstream(name) << text;
  };
  EXPECT_EQ(detail::GroupQuota("0::/\n", root), 0);
  write(at + "/cpu.max", "max 100000\n");
  EXPECT_EQ(detail::GroupQuota("0::/\n", root), 0);
  write(at + "/a/b/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(detail::GroupQuota("0::/a/b\n", root), 3);
  write(at + "/a/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(detail::GroupQuota("0::/a/b\n", root), 1.5) << "an outer group counts too";
  EXPECT_EQ(detail::GroupQuota("0::/elsewhere\n", root), 0);
  write(at + "/cpu,cpuacct/docker/cpu.cfs_quota_us", "50000\n");
  write(at + "/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(detail::GroupQuota("4:memory:/docker\n3:cpu,cpuacct:/docker\n0::/\n", root), 0.5);
  write(at + "/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(detail::GroupQuota("3:cpu,cpuacct:/docker\n", root), 0);
  write(at + "/cpu/cpu.cfs_quota_us", "200000\n");
  write(at + "/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(detail::GroupQuota("3:cpu:/path/outside/the/container\n", root), 2);
  EXPECT_EQ(detail::GroupQuota("nonsense\n1\n::\n2:cpu:\n", "/nowhere"), 0);
  EXPECT_EQ(std::system(("rm -r " + at).c_str()), 0);
}

}  // namespace
