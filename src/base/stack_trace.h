/* Native stack traces for error messages. */
#ifndef MXNET_BASE_STACK_TRACE_H_
#define MXNET_BASE_STACK_TRACE_H_

#include <string>

namespace mxnet {

/* Up to `depth` frames above the caller, one per line, demangled; the first `skip` of them are left
 * out. "" for depth <= 0. */
std::string StackTrace(int depth, int skip = 0);

/* DMLC_LOG_STACK_TRACE_DEPTH, or 0 while the environment could not be read. Never throws. */
int StackTraceDepth();

}  // namespace mxnet
#endif  // MXNET_BASE_STACK_TRACE_H_
