/* Capturing through the CUDA runtime. Linked only when USE_CUDA=ON. */
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "base/threads/collective_launch.h"
#include "executor/plan/cuda_graphs.h"
#include "mxnet/error.h"

namespace mxnet {
namespace {

struct Captured {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ~Captured() {  // at process end the driver may be gone already
    if (executable && cudaGraphExecDestroy(executable) != cudaSuccess) cudaGetLastError();
    if (graph && cudaGraphDestroy(graph) != cudaSuccess) cudaGetLastError();
  }
};

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[cuda graphs] " << what << " failed: " << CudaErrorText(status);
}

// Relaxed: memory may be made meanwhile, by this thread and by others.
void Begin(void* stream) {
  Check(cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeRelaxed), "beginning a capture");
}

void* Finish(void* stream) {
  auto captured = std::make_unique<Captured>();
  Check(cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &captured->graph), "ending a capture");
  MXNET_CHECK(captured->graph) << "[cuda graphs] a capture gave no graph";
  std::lock_guard<ForkMutex> launching(CollectiveLaunchMutex());
  Check(cudaGraphInstantiate(&captured->executable, captured->graph, 0), "making a graph executable");
  return captured.release();
}

void Abandon(void* stream) {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph) != cudaSuccess) cudaGetLastError();
  if (graph && cudaGraphDestroy(graph) != cudaSuccess) cudaGetLastError();
}

void Launch(void* graph, void* stream) {
  Check(cudaGraphLaunch(static_cast<Captured*>(graph)->executable, static_cast<cudaStream_t>(stream)), "launching a graph");
}
void Destroy(void* graph) { delete static_cast<Captured*>(graph); }

size_t Nodes(void* graph) {
  size_t count = 0;
  Check(cudaGraphGetNodes(static_cast<Captured*>(graph)->graph, nullptr, &count), "counting a graph's nodes");
  return count;
}

void Print(void* graph, const std::string& path, int flags) {
  const unsigned bits = flags < 0 ? static_cast<unsigned>(cudaGraphDebugDotFlagsVerbose) : static_cast<unsigned>(flags);
  Check(cudaGraphDebugDotPrint(static_cast<Captured*>(graph)->graph, path.c_str(), bits), ("writing " + path).c_str());
}

const CaptureHooks kCudaCapture = {Begin, Finish, Abandon, Launch, Destroy, Nodes, Print};
[[maybe_unused]] const bool registered = GpuInterface().graphs.Register(&kCudaCapture);

}  // namespace
}  // namespace mxnet
