/* Registers CUDA streams with the engine. Linked only when USE_CUDA=ON. */
#include <cuda_runtime.h>

#include <vector>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "base/device/device_scope.h"
#include "base/threads/fork_guard.h"
#include "mxnet/error.h"

namespace mxnet {
namespace engine {
namespace {

void Check(cudaError_t status, const char* what) {
  MXNET_CHECK(status == cudaSuccess) << "[engine] " << what << " failed: " << CudaErrorText(status);
}

void SetDevice(int dev_id) {
  int count = 0;
  const auto starts = [dev_id](cudaError_t status) {
    MXNET_CHECK(status != cudaErrorInitializationError)
        << "[engine] gpu(" << dev_id << ") cannot be used: CUDA does not start here, as in a process forked after "
        << "CUDA was started; accepted: CPU memory here, or starting the process with 'spawn'";
    return status;
  };
  const cudaError_t counted = starts(cudaGetDeviceCount(&count));  // a child may know the number from its parent
  Check(counted, "counting GPUs");
  MXNET_CHECK_KIND(dev_id >= 0 && dev_id < count, Value)
      << "[engine] gpu(" << dev_id << ") does not exist; this machine has " << count << " GPU(s)";
  Check(starts(cudaSetDevice(dev_id)), "selecting the GPU");
}

void* Create(bool high_priority) {
  int least = 0, greatest = 0;
  Check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "reading stream priorities");
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high_priority ? greatest : least), "creating a stream");
  return stream;
}

// At process exit the driver may already be gone; there is nobody to tell then.
void Destroy(void* stream) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }

void Synchronize(void* stream) { Check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "running on the GPU"); }

/*
 * Events are used again by streams of their device; what already waits for one keeps to the work
 * that it was recorded behind. They stay until the process ends.
 */
struct Event {
  cudaEvent_t event = nullptr;
  int dev = 0;
  bool timing = false;
};

constexpr int kMostDevices = 64;
ForkMutex* const g_events_mutex = new ForkMutex(ForkLevel::kEvents);
std::vector<Event*>* const g_events = new std::vector<Event*>[2 * kMostDevices];  // free ones; guarded by g_events_mutex

std::vector<Event*>& FreeEvents(int dev, bool timing) { return g_events[dev % kMostDevices * 2 + timing]; }

void Release(void* event) {
  Event* e = static_cast<Event*>(event);
  std::lock_guard<ForkMutex> lock(*g_events_mutex);
  FreeEvents(e->dev, e->timing).push_back(e);
}

void* RecordOne(void* stream, bool timing) {
  int dev = 0;
  Check(cudaGetDevice(&dev), "asking for the current GPU");
  Event* e = nullptr;
  {
    std::lock_guard<ForkMutex> lock(*g_events_mutex);
    std::vector<Event*>& free = FreeEvents(dev, timing);
    if (!free.empty() && free.back()->dev == dev) {
      e = free.back();
      free.pop_back();
    }
  }
  if (e == nullptr) {
    Event made;
    made.dev = dev;
    made.timing = timing;
    Check(cudaEventCreateWithFlags(&made.event, timing ? cudaEventDefault : cudaEventDisableTiming), "creating an event");
    e = new Event(made);
  }
  const cudaError_t status = cudaEventRecord(e->event, static_cast<cudaStream_t>(stream));
  if (status != cudaSuccess) Release(e);
  Check(status, "recording an event");
  return e;
}

void* Record(void* stream) { return RecordOne(stream, false); }
void* MarkTime(void* stream) { return RecordOne(stream, true); }

double Elapsed(void* from, void* to) {
  float milliseconds = 0;
  Check(cudaEventElapsedTime(&milliseconds, static_cast<Event*>(from)->event, static_cast<Event*>(to)->event), "reading an event's time");
  return static_cast<double>(milliseconds) * 1e6;
}

void Wait(void* stream, void* event) {
  Check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<Event*>(event)->event, 0), "letting a stream wait for another");
}

bool Passed(void* event) {
  const cudaError_t status = cudaEventQuery(static_cast<Event*>(event)->event);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // no failure: the next call must not find it
    return false;
  }
  Check(status, "running on the GPU");
  return true;
}

void Finish(void* event) { Check(cudaEventSynchronize(static_cast<Event*>(event)->event), "running on the GPU"); }

// DLPack's 1 and 2 are CUDA's own handles (cudaStreamLegacy, cudaStreamPerThread); they mean the
// current device's streams.
void* RecordOn(int dev_id, void* stream) {
  const DeviceScope scope(dev_id);
  MXNET_CHECK(scope.ok()) << "[engine] gpu(" << dev_id << ") cannot be selected";
  return Record(stream);
}

void WaitOn(int dev_id, void* stream, void* event) {
  const DeviceScope scope(dev_id);
  MXNET_CHECK(scope.ok()) << "[engine] gpu(" << dev_id << ") cannot be selected";
  Wait(stream, event);
}

void Order(void* later, void* earlier) {
  cudaEvent_t event = nullptr;
  Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  cudaError_t status = cudaEventRecord(event, static_cast<cudaStream_t>(earlier));
  if (status == cudaSuccess) status = cudaStreamWaitEvent(static_cast<cudaStream_t>(later), event, 0);
  cudaEventDestroy(event);  // lives on until it has passed
  Check(status, "ordering two streams");
}

const StreamHooks kCudaStreams = {SetDevice, Create,  Destroy,  Synchronize, Record,   Wait,    Passed,
                                  Finish,    Release, RecordOn, WaitOn,      MarkTime, Elapsed, Order};
[[maybe_unused]] const bool registered = GpuInterface().streams.Register(&kCudaStreams);

}  // namespace
}  // namespace engine
}  // namespace mxnet
