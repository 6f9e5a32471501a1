/* Shared by the C ABI's files: handle casts and the thread's store of what was handed out by
 * pointer. */
#ifndef MXNET_C_API_C_API_COMMON_H_
#define MXNET_C_API_C_API_COMMON_H_

#include <memory>
#include <string>
#include <vector>

#include "c_api/c_api_error.h"
#include "imperative/tape.h"
#include "mxnet/c_api.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* One T of each thread, on the heap: the library's thread-local block itself must stay small, or
 * dlopen refuses it. */
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
  std::vector<int> ints, stypes;
  std::vector<uint32_t> uints;
  std::vector<int64_t> longs;
  std::vector<uint64_t> index;
  static ApiStore& Get() { return PerThread<ApiStore>(); }
  /* Points `pointers` at `strings`. */
  const char** Point() {
    pointers.clear();
    for (const auto& s : strings) pointers.push_back(s.c_str());
    return pointers.data();
  }
};

inline const char* Text(const char* s, const char* what) {
  MXNET_CHECK_KIND(s != nullptr, Value) << "[c_api] " << what << " is null";
  return s;
}

/* A list of texts, none of which may be null. */
inline void NeedTexts(int64_t count, const char* const* texts, const char* what) {
  Need(count, texts, what);
  for (int64_t i = 0; i < count; ++i)
    if (__builtin_expect(texts[i] == nullptr, 0)) ThrowNullElement(i, what);
}

inline NDArray* AsNDArray(NDArrayHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null NDArray handle";
  return static_cast<NDArray*>(h);
}

/* Of an array whose values are asked for: what is made while the graph of a hybridized block is
 * recorded has none. */
inline NDArray* Computed(NDArrayHandle handle) {
  NDArray* a = AsNDArray(handle);
  if (__builtin_expect(static_cast<bool>(a->deferred_entry), 0)) CheckComputed(*a);
  return a;
}

/* Of an array that has a shape: what MXNDArrayCreateNone makes has none before something is written
 * to it. */
inline NDArray* WithMemory(NDArrayHandle handle) {
  NDArray* a = AsNDArray(handle);
  MXNET_CHECK_KIND(!a->is_none(), Value) << "[NDArray] the array has no shape and no memory yet; accepted: one that has";
  return a;
}

inline std::vector<NDArray*> AsNDArrays(NDArrayHandle* handles, int64_t n) {
  Need(n, handles, "arrays");
  std::vector<NDArray*> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[i] = AsNDArray(handles[i]);
  return out;
}

}  // namespace mxnet

#endif  // MXNET_C_API_C_API_COMMON_H_
