/* The GPU streams of the calling thread. */
#ifndef MXNET_ENGINE_DEVICE_STREAMS_H_
#define MXNET_ENGINE_DEVICE_STREAMS_H_

#include "mxnet/engine.h"

namespace mxnet {
namespace engine {

/* For a GPU context: makes the device current on this thread and fills in this thread's streams on it, created on first
   use and destroyed with the thread. Throws Error when the device refuses. Nothing to do for a CPU context. */
void FillStreams(RunContext* rctx, bool high_priority);

/*
 * When may the next operation see the results of a GPU operation? When its kernels have run. A synchronous operation on
 * a GPU worker is therefore followed by a stream synchronisation before its variables are released. This keeps one rule
 * for CPU and GPU readers, at the price of idle gaps between kernels; bulks pay it once. An asynchronous operation must
 * call its OnComplete only after its own work on the stream is done.
 */
void SyncStreams(const RunContext& rctx);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_DEVICE_STREAMS_H_
