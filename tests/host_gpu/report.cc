#include "host_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

namespace host_gpu {

bool NullMode() {
  static const bool null = [] {
    const char* mode = std::getenv("HOST_GPU_MODE");
    return mode && std::strcmp(mode, "null") == 0;
  }();
  return null;
}

void Complain(const char* function, const char* text) {
  static std::mutex* const mutex = new std::mutex;
  static std::set<std::string>* const said = new std::set<std::string>;
  const std::string line = std::string("[host_gpu] ") + function + ": " + text;
  std::lock_guard<std::mutex> lock(*mutex);
  if (said->insert(line).second) std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace host_gpu
