/* What a running operation knows about where it runs. */
#ifndef MXNET_RUN_CONTEXT_H_
#define MXNET_RUN_CONTEXT_H_

#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {

/*
 * What operations do that a CUDA graph cannot repeat. Who captures makes one and looks at it
 * afterwards; helpers of kernels report to it.
 */
struct CaptureState {
  bool capturing = false;   // the stream records work in place of running it
  uint64_t host_waits = 0;  // how often the host waited for the stream to look at a result
  /* Random numbers of a graph: two numbers in the device's memory, seed and counter where a replay
   * begins; null: what is captured cannot draw. */
  const uint64_t* draws = nullptr;
  uint64_t draws_begin = 0;  // the counter where the capture began
  uint64_t replayable = 0;   // counters taken so far for kernels that look there (DrawsOnDevice)
};

/* `stream` is a cudaStream_t on GPU workers, else null. */
struct RunContext {
  Context ctx;
  void* stream = nullptr;
  void* aux_stream = nullptr;  // second stream when MXNET_GPU_WORKER_NSTREAMS=2, else null
  bool is_bulk = false;
  CaptureState* capture = nullptr;  // null: the work is not meant for a CUDA graph
  bool capturing() const { return capture != nullptr && capture->capturing; }
};

}  // namespace mxnet
#endif  // MXNET_RUN_CONTEXT_H_
