/*
 * How many threads a library with teams of its own (oneDNN) gets for a call. Its threads wait
 * for each other, so on shared cores (shared_cores.h) few are faster.
 */
#ifndef MXNET_BASE_THREADS_LIBRARY_THREADS_H_
#define MXNET_BASE_THREADS_LIBRARY_THREADS_H_

#include "base/threads/determinism.h"

namespace mxnet {

/* For a call of so many floating-point operations whose caller has `threads`. */
MXNET_DLL int LibraryTeam(double flops, int threads);
/* libgomp ends the process where it gets no threads: may a team of so many be opened here, now?
 * False for good where once none could be started. */
bool OpenMPCanStart(int threads);
inline int LibraryTeam(double flops) { return LibraryTeam(flops, OmpThreadsForFlops(flops)); }

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_LIBRARY_THREADS_H_
