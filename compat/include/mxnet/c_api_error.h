/*
 * For extensions of MXNet 1.x that hand errors out as the C interface does:
 *
 * extern "C" int MyCall() {
 *   MX_API_BEGIN();
 *   ...                // may throw
 *   MX_API_END();      // returns 0; or -1, and MXGetLastError() has the message
 * }
 */
#ifndef MXNET_C_API_ERROR_H_
#define MXNET_C_API_ERROR_H_

#include <exception>

#include "dmlc/logging.h"
#include "mxnet/c_api.h"

#define MX_API_BEGIN() try {
#define MX_API_END()                    \
  }                                     \
  catch (const std::exception& error) { \
    return MXAPIHandleException(error); \
  }                                     \
  return 0
/* With a statement that runs on failure. */
#define MX_API_END_HANDLE_ERROR(finalize) \
  }                                       \
  catch (const std::exception& error) {   \
    finalize;                             \
    return MXAPIHandleException(error);   \
  }                                       \
  return 0

/* Makes `message` this thread's last error. */
inline void MXAPISetLastError(const char* message) { NNAPISetLastError(message); }
/* The same with an exception's message; returns -1. */
inline int MXAPIHandleException(const std::exception& error) {
  MXAPISetLastError(error.what());
  return -1;
}

#endif  // MXNET_C_API_ERROR_H_
