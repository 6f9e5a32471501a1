/*
 * Keeps libgomp's threads from spinning between parallel regions while cores are shared.
 *
 * How long they spin is fixed when libgomp is loaded: 300,000 times, up to 20 ms. But where the
 * threads of all teams are more than processors it is 100 times. So while cores are shared a thread
 * of ours keeps a team with that many threads, all of which sleep. Nothing happens where
 * GOMP_SPINCOUNT or OMP_WAIT_POLICY is set.
 */
#ifndef MXNET_BASE_THREADS_OPENMP_REST_H_
#define MXNET_BASE_THREADS_OPENMP_REST_H_

#include <atomic>

namespace mxnet {

namespace detail {
extern std::atomic<bool> g_openmp_rests;
void RestOpenMPSlow(bool rest);
}  // namespace detail

inline bool OpenMPRests() { return detail::g_openmp_rests.load(std::memory_order_relaxed); }

inline void RestOpenMP(bool rest) {
  if (OpenMPRests() != rest) detail::RestOpenMPSlow(rest);
}

/* In the child of a fork, which has none of these threads. */
void ForgetOpenMPRest();

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_OPENMP_REST_H_
