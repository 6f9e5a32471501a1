#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "device.h"

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
  if (!said->insert(line).second) return;
  std::fprintf(stderr, "%s\n", line.c_str());
  const char* report = std::getenv("HOST_GPU_REPORT");
  std::FILE* file = report ? std::fopen(report, "a") : nullptr;
  if (!file) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

namespace {

struct Counters {
  std::mutex mutex;
  std::vector<Counter*> all;
};
Counters& Counted() {
  static Counters& counters = *new Counters;
  return counters;
}
void PrintCounts() {
  std::lock_guard<std::mutex> lock(Counted().mutex);
  for (const Counter* c : Counted().all)
    std::fprintf(stderr, "[host_gpu] %s: %llu calls\n", c->function, static_cast<unsigned long long>(c->calls()));
}

}  // namespace

Counter::Counter(const char* name) : function(name) {
  std::lock_guard<std::mutex> lock(Counted().mutex);
  const char* wanted = std::getenv("HOST_GPU_COUNT");
  if (Counted().all.empty() && wanted && *wanted == '1') std::atexit(PrintCounts);
  Counted().all.push_back(this);
}

}  // namespace host_gpu
