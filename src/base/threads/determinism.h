/*
 * MXNET_ENFORCE_DETERMINISM: the same bits in every run and for any number of threads.
 *
 * Loops whose items are independent need nothing: ParallelFor may divide them as it likes. A sum
 * that is divided among threads has FixedParts parts, which are added in order. A library that
 * divides its work by the number of threads gets one thread (OmpScope sees to that) and parts of a
 * size that depends on the shapes alone, which ParallelFor distributes. What is chosen by measuring
 * must be chosen by rule.
 */
#ifndef MXNET_BASE_THREADS_DETERMINISM_H_
#define MXNET_BASE_THREADS_DETERMINISM_H_

#include "base/threads/omp.h"

namespace mxnet {

/* Parts of a sum over at most `most` items: one per thread, or a fixed number. For
 * ParallelFor(parts, 1, ...). */
int64_t FixedParts(int64_t most);

/* Threads that a library may use where the caller has `threads` for it. */
int LibraryThreads(int threads = OmpMaxThreads());

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_DETERMINISM_H_
