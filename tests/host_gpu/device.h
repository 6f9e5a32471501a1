/* What the files of the stand-in share: devices, allocations, streams. */
#ifndef MXNET_TESTS_HOST_GPU_DEVICE_H_
#define MXNET_TESTS_HOST_GPU_DEVICE_H_

#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "host_gpu.h"

namespace host_gpu {

constexpr int kMultiprocessors = 132;

int DeviceTotal();    // HOST_GPU_DEVICES
int CurrentDevice();  // of the calling thread
/* cudaSuccess, or what every call gets in a child of a process that had begun to use CUDA. Every
 * interposed function asks first. */
cudaError_t Usable();
/* A kernel has failed: from here on nothing is usable. */
void Break();
/* Calls of one function; with HOST_GPU_COUNT=1 printed when the process ends. */
class Counter {
 public:
  explicit Counter(const char* function);
  void Count() { calls_.fetch_add(1, std::memory_order_relaxed); }
  const char* const function;
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> calls_{0};
};
/* How functions of libraries begin: calls are counted (HOST_GPU_COUNT=1). */
#define HOST_GPU_COUNT_CALL()                                             \
  do {                                                                    \
    static host_gpu::Counter& counter = *new host_gpu::Counter(__func__); \
    counter.Count();                                                      \
  } while (0)
/* How functions of the runtime begin. */
#define HOST_GPU_ENTER()                           \
  do {                                             \
    HOST_GPU_COUNT_CALL();                         \
    const cudaError_t usable = host_gpu::Usable(); \
    if (usable != cudaSuccess) return usable;      \
  } while (0)

/* With HOST_GPU_TRACE a line to stderr. */
void Trace(const char* what, const char* kind, const void* where);

/* Begins a function that may wait for a device: a complaint while another thread launches a
 * collective operation (nccl.cc), where that would never end. */
void CheckNoLaunch(const char* function);

/* HOST_GPU_LATE: up to so many microseconds on the calling thread. */
void Rest();

/* Keeps `status` as the thread's last error. */
cudaError_t Fail(cudaError_t status);

/* Where memory of a device may be touched by the host's threads. */
class Touch {
 public:
  Touch();
  ~Touch();
};

enum class Place { kPageable, kPinned, kDevice };
Place PlaceOf(const void* p, size_t bytes, int* device);  // kPageable too for what lies half outside

/* One operation in a captured graph. */
struct Node {
  const char* kind;
  std::function<void()> work;
  std::vector<int> behind;
};

/* A capture under way: which nodes each of its streams is behind now. */
struct Capture {
  std::vector<Node> nodes;
  bool broken = false;
};

struct Stream {
  int device = 0;
  // guarded by `mutex`
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  uint64_t put = 0, done = 0;
  bool started = false;
  // guarded by one mutex for all captures (cuda_stream.cc)
  std::shared_ptr<Capture> capture;
  bool origin = false;   // of its capture
  std::set<int> behind;  // nodes of the capture

  void Put(std::function<void()> work);
  void Wait(uint64_t upto);
  bool Done(uint64_t upto);
  uint64_t Last();
};

/* The stream behind a handle (0: the current device's default stream); null for handles that are
 * none. */
std::shared_ptr<Stream> Find(cudaStream_t handle);
bool Capturing(Stream& stream);
/* Waits for everything on a device. */
void Drain(int device);

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_DEVICE_H_
