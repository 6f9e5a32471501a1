/*
 * Keeps C++ exceptions inside the C ABI:
 *
 *   int MXFoo(uint32_t num, const char** keys, FooHandle* out) {
 *     API_BEGIN(out);          // the pointers that must not be null: the call fails where one is
 *     Need(num, keys, "keys"); // an array that comes with a count
 *     ...                      // may throw
 *     API_END();
 *   }
 *
 * tests/python/runtime/test_c_api_null.py calls every exported function with null pointers.
 */
#ifndef MXNET_C_API_C_API_ERROR_H_
#define MXNET_C_API_C_API_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "mxnet/c_api.h"
#include "mxnet/error.h"
#include "mxnet/profiler.h"

namespace mxnet {

/* Remembers the exception being handled as this thread's last error. Returns -1. Call it inside a
 * catch block. */
MXNET_DLL int HandleApiException() noexcept;

/* `index` counts in `names`, which commas separate. */
[[noreturn]] MXNET_DLL void ThrowNullOutput(const char* function, const char* names, size_t index);
[[noreturn]] MXNET_DLL void ThrowBadArray(int64_t count, const char* what);
[[noreturn]] MXNET_DLL void ThrowNullElement(int64_t index, const char* what);

inline void CheckOutputs(const char* function, const char* names, std::initializer_list<const void*> outputs) {
  for (const void* const& output : outputs)
    if (__builtin_expect(output == nullptr, 0)) ThrowNullOutput(function, names, static_cast<size_t>(&output - outputs.begin()));
}

/* An array that comes with a count: null only where the count is 0. */
inline void Need(int64_t count, const void* array, const char* what) {
  if (__builtin_expect(count < 0 || (count > 0 && array == nullptr), 0)) ThrowBadArray(count, what);
}

}  // namespace mxnet

/* Of a body that several functions of the interface share: `function` is the name of the one that
 * was called. */
#define API_BEGIN_AS(function, ...)                                                           \
  try {                                                                                       \
    ::mxnet::profiler::NameScope api_scope(::mxnet::profiler::NameScope::kApiCall, function); \
    ::mxnet::CheckOutputs(function, #__VA_ARGS__, {__VA_ARGS__});
#define API_BEGIN(...) API_BEGIN_AS(__func__, __VA_ARGS__)
/* Not shown by the profiler: its own calls, and those that only read or set a flag. */
#define API_BEGIN_UNSEEN(...) \
  try {                       \
    ::mxnet::CheckOutputs(__func__, #__VA_ARGS__, {__VA_ARGS__});
#define API_END()                         \
  }                                       \
  catch (...) {                           \
    return ::mxnet::HandleApiException(); \
  }                                       \
  return 0
/* With a statement that runs on failure, e.g. to free what was half made. */
#define API_END_HANDLE_ERROR(finalize)    \
  }                                       \
  catch (...) {                           \
    finalize;                             \
    return ::mxnet::HandleApiException(); \
  }                                       \
  return 0

#endif  // MXNET_C_API_C_API_ERROR_H_
