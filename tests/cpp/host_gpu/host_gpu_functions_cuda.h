/* For tests that call the GPU made of the host (tests/host_gpu) by its C functions: the library
 * beside the program, memory of its device. */
#ifndef MXNET_TESTS_CPP_HOST_GPU_FUNCTIONS_CUDA_H_
#define MXNET_TESTS_CPP_HOST_GPU_FUNCTIONS_CUDA_H_

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace host_gpu_test {

template <typename Function>
Function* Symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}
#define HOST_GPU_SYMBOL(library, name) host_gpu_test::Symbol<decltype(name)>(library, #name)
/* A member that is the stand-in's function of that name. */
#define HOST_GPU_FUNCTION(name) decltype(&::name) name = host_gpu_test::Symbol<decltype(::name)>(host_gpu_test::StandIn(), #name)

/* Its own functions come first inside it, although the program is linked to NVIDIA's. */
inline void* StandIn() {
  static void* const library = [] {
    char path[4096] = "";
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const std::string self(path, length > 0 ? static_cast<size_t>(length) : 0);
    return dlopen((self.substr(0, self.rfind('/')) + "/host_gpu/libhost_gpu.so").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }();
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

struct Runtime {
  cudaError_t (*malloc)(void**, size_t) = Symbol<cudaError_t(void**, size_t)>(StandIn(), "cudaMalloc");
  decltype(&cudaFree) free = HOST_GPU_SYMBOL(StandIn(), cudaFree);
  decltype(&cudaDeviceSynchronize) wait = HOST_GPU_SYMBOL(StandIn(), cudaDeviceSynchronize);
};
inline const Runtime& Cuda() {
  static const Runtime runtime;
  return runtime;
}

/* Values in the device's memory. */
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(Cuda().malloc(&at_, count_ * sizeof(T)), cudaSuccess);
    std::memcpy(at_, values.data(), count_ * sizeof(T));
  }
  ~OnDevice() { Cuda().free(at_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* get() const { return static_cast<T*>(at_); }
  std::vector<T> Values() const {
    EXPECT_EQ(Cuda().wait(), cudaSuccess);
    return std::vector<T>(get(), get() + count_);
  }

 private:
  size_t count_;
  void* at_ = nullptr;
};

/* Multiples of 1/8 up to 2: sums of a few hundred products of two are exact in float32. */
inline std::vector<float> Random(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(-16, 16);
  std::vector<float> v(count);
  for (float& x : v) x = static_cast<float>(distribution(generator)) / 8;
  return v;
}

}  // namespace host_gpu_test
#endif  // MXNET_TESTS_CPP_HOST_GPU_FUNCTIONS_CUDA_H_
