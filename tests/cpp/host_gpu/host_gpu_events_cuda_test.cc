/* Events of the GPU made of the host: what they are asked about is held to CUDA's rules. */
#include <chrono>
#include <thread>

#include "host_gpu_functions_cuda.h"

namespace host_gpu_test {
namespace {

struct Events {
  HOST_GPU_FUNCTION(cudaEventCreateWithFlags);
  HOST_GPU_FUNCTION(cudaEventDestroy);
  HOST_GPU_FUNCTION(cudaEventRecord);
  HOST_GPU_FUNCTION(cudaEventQuery);
  HOST_GPU_FUNCTION(cudaEventSynchronize);
  HOST_GPU_FUNCTION(cudaEventElapsedTime);
  HOST_GPU_FUNCTION(cudaStreamCreateWithPriority);
  HOST_GPU_FUNCTION(cudaStreamDestroy);
  HOST_GPU_FUNCTION(cudaStreamBeginCapture);
  HOST_GPU_FUNCTION(cudaStreamEndCapture);
  HOST_GPU_FUNCTION(cudaGraphDestroy);

  cudaEvent_t Make(unsigned flags) const {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
    return event;
  }
};

TEST(HostGpuEvents, TellTimesInOrder) {
  const Events cuda;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cuda.cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0), cudaSuccess);
  cudaEvent_t first = cuda.Make(cudaEventDefault), second = cuda.Make(cudaEventDefault);
  ASSERT_EQ(cuda.cudaEventRecord(first, stream), cudaSuccess);
  ASSERT_EQ(cuda.cudaEventSynchronize(first), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  ASSERT_EQ(cuda.cudaEventRecord(second, stream), cudaSuccess);
  ASSERT_EQ(cuda.cudaEventSynchronize(second), cudaSuccess);
  float ms = 0, back = 0;
  ASSERT_EQ(cuda.cudaEventElapsedTime(&ms, first, second), cudaSuccess);
  EXPECT_GE(ms, 3.f);
  ASSERT_EQ(cuda.cudaEventElapsedTime(&back, second, first), cudaSuccess);
  EXPECT_FLOAT_EQ(back, -ms);
  for (cudaEvent_t e : {first, second}) cuda.cudaEventDestroy(e);
  cuda.cudaStreamDestroy(stream);
}

TEST(HostGpuEvents, RefuseWhatCudaRefuses) {
  const Events cuda;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cuda.cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0), cudaSuccess);
  cudaEvent_t good = cuda.Make(cudaEventDefault), untimed = cuda.Make(cudaEventDisableTiming), never = cuda.Make(cudaEventDefault),
              captured = cuda.Make(cudaEventDefault);
  for (cudaEvent_t e : {good, untimed}) ASSERT_EQ(cuda.cudaEventRecord(e, stream), cudaSuccess);
  ASSERT_EQ(cuda.cudaEventSynchronize(untimed), cudaSuccess);
  float ms = 0;
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, good, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, untimed, good), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, good, never), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, nullptr, good), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cuda.cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(cuda.cudaEventRecord(captured, stream), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, good, captured), cudaErrorInvalidResourceHandle);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuda.cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cuda.cudaGraphDestroy(graph);
  for (cudaEvent_t e : {good, untimed, never, captured}) cuda.cudaEventDestroy(e);
  cuda.cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace host_gpu_test
