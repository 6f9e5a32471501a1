/*
 * Keeps C++ exceptions inside the C ABI:
 *
 *   int MXFoo(int x) {
 *     API_BEGIN();
 *     ...            // may throw
 *     API_END();
 *   }
 */
#ifndef MXNET_SRC_C_API_C_API_ERROR_H_
#define MXNET_SRC_C_API_C_API_ERROR_H_

#include "mxnet/c_api.h"
#include "mxnet/error.h"
#include "mxnet/profiler.h"

namespace mxnet {

/* Remembers the exception being handled as this thread's last error. Returns -1. Call it inside a catch block. */
MXNET_DLL int HandleApiException() noexcept;

}  // namespace mxnet

#define API_BEGIN()                                                                              \
  try {                                                                                          \
    ::mxnet::profiler::NameScope api_scope(::mxnet::profiler::NameScope::kApiCall, __func__);
/* Not shown by the profiler: its own calls. */
#define API_BEGIN_UNSEEN() try {
#define API_END() } catch (...) { return ::mxnet::HandleApiException(); } return 0
/* With a statement that runs on failure, e.g. to free what was half made. */
#define API_END_HANDLE_ERROR(finalize) } catch (...) { finalize; return ::mxnet::HandleApiException(); } return 0

#endif  // MXNET_SRC_C_API_C_API_ERROR_H_
