/*
 * Do other processes use the cores that this one computes on?
 *
 * Threads of a loop that wait for each other by spinning are fastest on cores of their own. Where
 * others compute too, the kernel takes a thread away for milliseconds in the middle of a loop, and
 * who waits for it burns the time that it needs. So loops and libraries have two ways (omp.cc,
 * library_threads.h), and this decides between them. Each thread that takes part in loops, or that
 * pushes, reads every few milliseconds how long it was ready to run and did not
 * (/proc/thread-self/schedstat). Where that is a fifth of the time and /proc/stat shows that others
 * use the processors, cores are shared, until nobody else was on them for half a second, or for as
 * long of the time in which this process computes. What others used while the library was loaded
 * counts for the first loop. Programs that compute now and then leave shared cores calm in between:
 * the same reading tells within milliseconds (CoresCalm). Where a control group gives
 * fewer processors than OMP_NUM_THREADS they are shared always. Where this process uses all of them
 * and its threads wait besides, time and again, these are a crowd. So is a busy thread that pushes
 * beside loops on all processors.
 *
 * OMP_WAIT_POLICY says it in advance: active, own cores; passive, shared ones. OMP_PROC_BIND and
 * GOMP_CPU_AFFINITY give threads to cores: their own.
 */
#ifndef MXNET_BASE_THREADS_SHARED_CORES_H_
#define MXNET_BASE_THREADS_SHARED_CORES_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {

namespace detail {
extern std::atomic<bool> g_cores_shared, g_cores_crowded, g_cores_calm;
extern std::atomic<uint64_t> g_last_push;  // in ticks; 0: never
extern __thread uint64_t t_next_look, t_last_push;
extern __thread bool t_busy;  // did this thread compute, or want to, for a good part of the time?
void LookAtCoresSlow();
bool HasProcessorsFor(int threads);
/* Who pushed so many ticks ago, some 100 us, does so still; half of that passes before it is noted
 * again. */
constexpr uint64_t kPushTicks = 1 << 18;

/* Some unit of time, cheap to read: cycles on x86-64, else nanoseconds. */
inline uint64_t Ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}
}  // namespace detail

inline bool CoresShared() { return detail::g_cores_shared.load(std::memory_order_relaxed); }
/* Of shared cores: are the others away for the moment? No thread of ours waited for a processor
 * lately. Then one that spins for some 100 us takes nobody's time, and short loops gain by it. */
inline bool CoresCalm() { return detail::g_cores_calm.load(std::memory_order_relaxed); }
/* Are this process's own threads more than its cores, as where a program computes or pushes while
 * its loops run? Then who spins after a short loop takes the time of the others. */
inline bool CoresCrowded() { return detail::g_cores_crowded.load(std::memory_order_relaxed); }

/* Called by the threads of a loop as they begin one: brings what is above up to date now and
 * then. */
inline void LookAtCores() {
  if (__builtin_expect(detail::Ticks() >= detail::t_next_look, 0)) detail::LookAtCoresSlow();
}

/* The same for who pushes to the engine. One that does not wait most of the time needs a processor
 * beside those of loops. */
inline void LookAtCoresAsPushing() {
  LookAtCores();
  if (!detail::t_busy) return;
  const uint64_t now = detail::Ticks();
  if (now - detail::t_last_push < detail::kPushTicks / 2) return;
  detail::t_last_push = now;
  detail::g_last_push.store(now, std::memory_order_relaxed);
}
/* Does another busy thread push, so that `threads` of a loop and that one are more than the
 * processors? Then it wakes late beside threads that spin, and a loop waits for the one that it
 * pushes away. */
inline bool CrowdedByPushing(int threads) {
  const uint64_t last = detail::g_last_push.load(std::memory_order_relaxed);
  return last != 0 && last != detail::t_last_push && detail::Ticks() - last < detail::kPushTicks && !detail::HasProcessorsFor(threads + 1);
}

/* For tests: what is taken for true from now on, whatever is measured; kMeasured ends that. */
enum class Cores { kMeasured, kOwn, kShared, kCalm };
MXNET_DLL void AssumeCores(Cores cores);

/*
 * Processors whose time this process may use: those it may run on, or the quota of its control
 * groups where that is less.
 */
MXNET_DLL double UsableProcessors();

namespace detail {
/*
 * The smallest quota of the groups that `groups` (/proc/self/cgroup) names, in processors; 0:
 * none. `root`: /sys/fs/cgroup.
 */
MXNET_DLL double GroupQuota(const char* groups, const char* root);
}  // namespace detail

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_SHARED_CORES_H_
