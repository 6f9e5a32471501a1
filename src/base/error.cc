#include "mxnet/error.h"

#include <cxxabi.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/stack_trace.h"

namespace mxnet {

namespace {
constexpr int kMaxStackDepth = 256;

// The C library loads the unwinder when a thread first ends by pthread_exit, and ends the process
// where no memory is left for that: so it is loaded now.
[[maybe_unused]] const int g_unwinder = [] {
  void* frame = nullptr;
  return backtrace(&frame, 1);
}();

// backtrace_symbols writes "file(mangled+0x12) [0xaddr]".
std::string Demangle(const std::string& frame) {
  const size_t open = frame.find('(');
  const size_t plus = frame.find('+', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || plus == std::string::npos || plus <= open + 1) return frame;
  int status = 0;
  char* name = abi::__cxa_demangle(frame.substr(open + 1, plus - open - 1).c_str(), nullptr, nullptr, &status);
  const std::string out = status == 0 && name ? frame.substr(0, open + 1) + name + frame.substr(plus) : frame;
  std::free(name);
  return out;
}
}  // namespace

std::string StackTrace(int depth, int skip) {
  if (depth <= 0) return "";
  ++skip;  // this function
  std::vector<void*> addresses(std::min(depth, kMaxStackDepth) + skip);
  const int count = backtrace(addresses.data(), static_cast<int>(addresses.size()));
  char** symbols = backtrace_symbols(addresses.data(), count);
  if (!symbols) return "";
  std::ostringstream out;
  for (int i = skip; i < count; ++i) out << "\n  [" << i - skip << "] " << Demangle(symbols[i]);
  std::free(symbols);
  return out.str();
}

namespace detail {

ErrorStream::ErrorStream(Error::Kind kind, const char* file, int line) : kind_(kind), file_(file), line_(line) {}

ErrorStream::~ErrorStream() noexcept(false) {
  const int depth = StackTraceDepth();
  if (depth > 0) stream_ << "\nStack trace (" << file_ << ":" << line_ << "):" << StackTrace(depth, 1);
  throw Error(kind_, stream_.str());
}

}  // namespace detail
}  // namespace mxnet
