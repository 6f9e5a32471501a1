#include "storage/host_memory.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mxnet {
namespace storage {
namespace {

constexpr int64_t kOldNs = 250 * 1000 * 1000;
constexpr int64_t kOldWhenTightNs = 1000 * 1000;
constexpr uint64_t kNoLimit = uint64_t{1} << 62;  // v1 writes "no limit" as a number near 2^63

int64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

bool ReadFile(const std::string& path, std::string* text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[8192];
  text->clear();
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0 && text->size() < 65536) text->append(buffer, n);
  close(fd);
  return n >= 0;
}

// The number that follows `key` at the start of a line; false when there is none.
bool FindNumber(const std::string& text, const char* key, uint64_t* value) {
  const size_t length = strlen(key);
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, length, key) == 0) {
      char* end = nullptr;
      *value = strtoull(text.c_str() + at + length, &end, 10);
      return end != text.c_str() + at + length;
    }
    const size_t line_end = text.find('\n', at);
    if (line_end == std::string::npos) break;
    at = line_end + 1;
  }
  return false;
}

}  // namespace

HostMemory::HostMemory(std::string root) : root_(std::move(root)) {
  FindGroups();
  AddForkGuarded(this, ForkLevel::kStorage);
}

HostMemory::~HostMemory() { RemoveForkGuarded(this); }

// A limit may sit at any level above the process; all levels count.
void HostMemory::AddGroups(const std::string& mount, const std::string& path, bool v2) {
  for (std::string level = path;; level.resize(level.rfind('/'))) {
    const std::string dir = root_ + mount + (level == "/" ? "" : level) + "/";
    Group group = v2 ? Group{dir + "memory.max", dir + "memory.current", dir + "memory.stat", "inactive_file "}
                     : Group{dir + "memory.limit_in_bytes", dir + "memory.usage_in_bytes", dir + "memory.stat", "total_inactive_file "};
    std::string text;
    uint64_t limit = 0;
    if (ReadFile(group.limit, &text) && FindNumber(text, "", &limit) && limit < kNoLimit) groups_.push_back(group);
    if (level.empty() || level == "/") break;
  }
}

void HostMemory::FindGroups() {
  std::string text;
  if (!ReadFile(root_ + "/proc/self/cgroup", &text)) return;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(at, end - at);  // number:controllers:path
    at = end + 1;
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers.empty()) {
      AddGroups("/sys/fs/cgroup", path, true);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      AddGroups("/sys/fs/cgroup/memory", path, false);
    }
  }
}

void HostMemory::Read() {
  ++readings_;
  taken_ = 0;
  std::string text;
  uint64_t total = 0, available = 0, swap = 0;
  total_ = free_ = 0;
  if (!ReadFile(root_ + "/proc/meminfo", &text) || !FindNumber(text, "MemTotal:", &total) ||
      !FindNumber(text, "MemAvailable:", &available)) {
    return;
  }
  FindNumber(text, "SwapFree:", &swap);
  total_ = total * 1024;
  free_ = (available + swap) * 1024;
  for (const Group& group : groups_) {
    uint64_t limit = 0, usage = 0, cache = 0;
    if (!ReadFile(group.limit, &text) || !FindNumber(text, "", &limit) || limit >= kNoLimit) continue;
    if (!ReadFile(group.usage, &text) || !FindNumber(text, "", &usage)) continue;
    if (ReadFile(group.stat, &text)) FindNumber(text, group.cache_key.c_str(), &cache);
    usage -= std::min(usage, cache);  // file cache that the kernel drops on demand
    total_ = std::min(total_, limit);
    free_ = std::min(free_, limit > usage ? limit - usage : 0);
  }
}

void HostMemory::Get(size_t* free_bytes, size_t* total_bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  const auto estimate = [this] {
    const int64_t left = static_cast<int64_t>(free_) - taken_;
    return left > 0 ? static_cast<uint64_t>(left) : 0;
  };
  const int64_t now = NowNs();
  const int64_t age = now - read_at_;
  const bool tight = estimate() < total_ / 4;
  const bool moved = static_cast<uint64_t>(std::abs(taken_)) > free_ / 64;
  if (read_at_ < 0 || age > kOldNs || moved || (tight && age >= kOldWhenTightNs)) {
    Read();
    read_at_ = now;
  }
  *free_bytes = estimate();
  *total_bytes = total_;
}

void HostMemory::Took(size_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  taken_ += static_cast<int64_t>(bytes);
}

void HostMemory::Gave(size_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  taken_ -= static_cast<int64_t>(bytes);
}

uint64_t HostMemory::readings() {
  std::lock_guard<std::mutex> guard(mutex_);
  return readings_;
}

}  // namespace storage
}  // namespace mxnet
