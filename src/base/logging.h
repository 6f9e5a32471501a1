/*
 * Messages to the user on stderr, one write per line so that lines of several threads do not mix.
 * Errors are thrown, not logged; see mxnet/error.h.
 */
#ifndef MXNET_BASE_LOGGING_H_
#define MXNET_BASE_LOGGING_H_

#include <string>

#include "mxnet/error.h"

namespace mxnet {

MXNET_DLL void LogInfo(const std::string& message);     // "[mxnet] message"
MXNET_DLL void LogWarning(const std::string& message);  // "[mxnet] warning: message"

}  // namespace mxnet
#endif  // MXNET_BASE_LOGGING_H_
