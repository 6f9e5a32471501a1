/*
 * Chunks of small arrays that a thread is done with, kept whole: memory and variable.
 *
 * An eager loop makes a result and drops the one before. What the pools of memory and variables
 * take for that is more than a small kernel does, so the thread keeps a few chunks and hands them
 * out again.
 *
 * THREADS  Each thread that makes results has chunks of its own. They count as memory in use;
 *          statistics of the CPU's memory give those of the asking thread back first.
 */
#ifndef MXNET_NDARRAY_SPARE_CHUNKS_H_
#define MXNET_NDARRAY_SPARE_CHUNKS_H_

#include "mxnet/ndarray.h"

namespace mxnet {

/* A chunk of the CPU's memory as NDArray::Init makes it, or null: there is none. */
Chunk* TakeSpare(size_t bytes, Context ctx);
/* For a chunk that nobody has any more. False: it is to be destroyed. */
bool KeepSpare(Chunk* chunk);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_SPARE_CHUNKS_H_
