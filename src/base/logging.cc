#include "base/logging.h"

#include <cstdio>

namespace mxnet {
namespace {
void WriteLine(const char* prefix, const std::string& message) {
  const std::string line = prefix + message + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}
}  // namespace

void LogInfo(const std::string& message) { WriteLine("[mxnet] ", message); }
void LogWarning(const std::string& message) { WriteLine("[mxnet] warning: ", message); }

}  // namespace mxnet
