/* The GPU streams of the calling thread, and what is under way on those of all threads. */
#ifndef MXNET_ENGINE_GPU_STREAMS_H_
#define MXNET_ENGINE_GPU_STREAMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu_work.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace engine {

/* For a GPU context: makes the device current on this thread and fills in this thread's streams on
 * it, created on first
   use, synchronised and destroyed with the thread. Throws Error when the device refuses. Nothing to do for a CPU context. */
void FillStreams(RunContext* rctx, bool high_priority);

/*
 * When may the next operation see the results of a GPU operation? When its kernels have run.
 * EndOnStream leaves their end, for which others wait (gpu_work.h); EndOnHost waits here, as
 * EndOnStream does where there are no events, and while the profiler measures streams that tell no
 * times. An asynchronous operation must call its OnComplete only after its own work on the stream
 * is done.
 */
DeviceWorkPtr EndOnStream(const RunContext& rctx, const char* name, const std::string& site);
DeviceWorkPtr EndOnHost(const RunContext& rctx, const char* name, const std::string& site);
/* Waits for both streams after a failure; another fault is not reported. */
void SyncQuietly(const RunContext& rctx);

/* The last work of every live stream, or of those of one device. */
std::vector<DeviceWorkPtr> LastWork(int dev_id = -1);
/*
 * While one of these lives, the streams of this thread record work instead of running it (CUDA
 * graphs): nobody records an event there. Who has to wait for what was on a stream before finds an
 * event; who has to wait for what is recorded waits until that is over.
 */
class StreamCaptureScope {
 public:
  StreamCaptureScope();
  ~StreamCaptureScope();
  StreamCaptureScope(const StreamCaptureScope&) = delete;
  StreamCaptureScope& operator=(const StreamCaptureScope&) = delete;
};
/* Whether the stream, one of the engine's, is in such a scope. */
bool IsCaptured(void* stream);

/* For DeviceWork. */
uint64_t NextOrder();
/* The first event behind the work `order` of that stream. Null: it has passed (`over`), or there is
 * none and `make` is false. Throws what recording throws. */
EventMarkPtr MarkBehind(StreamClock* clock, uint64_t order, bool make, bool* over);
void NotePassed(StreamClock* clock, const EventMark& mark);

/* In the child of a fork: the parent's streams are not here. */
void ForgetStreams();

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_GPU_STREAMS_H_
