/*
 * Threads inside one CPU operator. OpenMP pragmas, exceptions that must not leave a parallel
 * region, and fork are handled here, so kernels call ParallelFor and need no -fopenmp of their own.
 *
 * FORK   libgomp's pool belongs to the thread that opened it and does not survive fork. The pool of
 *        the forking thread is released just before each fork, and both processes make a new one
 *        when they need it. Where that is impossible (fork inside a parallel region) the child's
 *        first thread computes alone.
 */
#ifndef MXNET_BASE_THREADS_OMP_H_
#define MXNET_BASE_THREADS_OMP_H_

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "mxnet/error.h"

namespace mxnet {

namespace detail {
/* MXNET_CPU_PARALLEL_SIZE, which Env sets whenever it publishes a value; 0 before. Apart from Env,
 * so that a new variable compiles the files that read it and not every loop. */
extern std::atomic<int64_t> g_parallel_size;
int OmpThreadsOfLarge(int64_t work_elements);
void ParallelForImpl(int threads, int64_t n, void (*fn)(const void*, int64_t, int64_t), const void* context);
}  // namespace detail

/* Most threads an operator on this thread may use: OMP_NUM_THREADS, this thread's limit; 1 inside a
 * parallel region. */
int OmpMaxThreads();

/* Threads worth using for so many element operations: 1 below MXNET_CPU_PARALLEL_SIZE, else
 * OmpMaxThreads(). */
inline int OmpThreads(int64_t work_elements) {
  return work_elements < detail::g_parallel_size.load(std::memory_order_relaxed) ? 1 : detail::OmpThreadsOfLarge(work_elements);
}

/* Limits what operators on the calling thread use, e.g. on engine workers that share the cores; 0 =
 * no limit. Returns the previous limit. */
MXNET_DLL int SetThreadOmpLimit(int limit);

/*
 * Calls fn(begin, end) for consecutive ranges that cover [0, n), on `threads` threads of which the
 * caller is one; range k of t is the same for every run. With threads <= 1 or n <= 1 it is the
 * plain call fn(0, n); for n <= 0 nothing is called. The first exception that a range throws is
 * rethrown here after all have ended.
 */
template <typename F>
void ParallelForThreads(int threads, int64_t n, F&& fn) {
  if (n <= 0) return;
  if (threads <= 1 || n <= 1) {
    fn(static_cast<int64_t>(0), n);
    return;
  }
  using Fn = std::remove_reference_t<F>;
  detail::ParallelForImpl(
      threads, n, [](const void* context, int64_t begin, int64_t end) { (*static_cast<Fn*>(const_cast<void*>(context)))(begin, end); },
      &fn);
}

/*
 * As above with at least `grain` items per thread: for loops whose items are rows or images, with
 * grain = the items that outweigh some microseconds. grain 0: the items are single elements and
 * MXNET_CPU_PARALLEL_SIZE decides.
 */
template <typename F>
void ParallelFor(int64_t n, int64_t grain, F&& fn) {
  int threads = 1;
  if (grain <= 0) {
    threads = OmpThreads(n);
  } else if (n >= 2 * grain) {
    const int64_t useful = n / grain;
    threads = OmpMaxThreads();
    if (useful < threads) threads = static_cast<int>(useful);
  }
  ParallelForThreads(threads, n, fn);
}

/*
 * f(item, thread) for items that grow or shrink evenly, as strips of a triangle do: what the
 * threads get adds up to the same.
 */
template <typename F>
void InTurns(int64_t threads, int64_t items, const F& f) {
  ParallelForThreads(static_cast<int>(threads), threads, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      for (int64_t i = 0; i < items; ++i)
        if ((i / threads % 2 ? threads - 1 - i % threads : i % threads) == t) f(i, t);
  });
}

/* Threads that pay for a computation of so many floating-point operations. A team that waits for
 * its next loop takes one up within a microsecond or two, and what is less than some 5 us is left
 * to the caller. Where threads sleep in between, longer loops are too (shared_cores.h). */
constexpr double kLeastTeamFlops = 5e5;
inline int OmpThreadsForFlops(double flops) { return flops < kLeastTeamFlops ? 1 : OmpMaxThreads(); }

/* While it lives, libraries called on this thread that use OpenMP (oneDNN) see `threads` as their
 * number of threads. */
class OmpScope {
 public:
  explicit OmpScope(int threads = OmpMaxThreads());
  ~OmpScope();
  OmpScope(const OmpScope&) = delete;
  OmpScope& operator=(const OmpScope&) = delete;

 private:
  int previous_;
};

/* The name that debuggers, top -H and profilers show; cut to 15 characters. */
MXNET_DLL void SetThreadName(const char* name);

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_OMP_H_
