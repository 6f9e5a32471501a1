/* Shared by the C ABI's files: handle casts and the thread's store of what was handed out by pointer. */
#ifndef MXNET_SRC_C_API_C_API_COMMON_H_
#define MXNET_SRC_C_API_C_API_COMMON_H_

#include <memory>
#include <string>
#include <vector>

#include "c_api/c_api_error.h"
#include "mxnet/c_api.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* One T of each thread, on the heap: the library's thread-local block itself must stay small, or dlopen refuses it. */
template <typename T>
T& PerThread() {
  static thread_local std::unique_ptr<T> value;
  if (!value) value.reset(new T());
  return *value;
}

/* Results that a caller sees through pointers live here until its next call on the same thread. */
struct ApiStore {
  std::string text;
  std::vector<std::string> strings;
  std::vector<const char*> pointers;
  std::vector<const char*> pointers2, pointers3;
  std::vector<void*> handles;
  std::vector<int> ints;
  std::vector<uint32_t> uints;
  std::vector<int64_t> longs;
  static ApiStore& Get() { return PerThread<ApiStore>(); }
  /* Points `pointers` at `strings`. */
  const char** Point() {
    pointers.clear();
    for (const auto& s : strings) pointers.push_back(s.c_str());
    return pointers.data();
  }
};

inline NDArray* AsNDArray(NDArrayHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[C API] got a null NDArray handle";
  return static_cast<NDArray*>(h);
}

inline std::vector<NDArray*> AsNDArrays(NDArrayHandle* handles, uint32_t n) {
  std::vector<NDArray*> out(n);
  for (uint32_t i = 0; i < n; ++i) out[i] = AsNDArray(handles[i]);
  return out;
}

}  // namespace mxnet

#endif  // MXNET_SRC_C_API_C_API_COMMON_H_
