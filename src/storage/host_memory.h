/*
 * How much memory this process may still take: what the kernel calls available, swap, and the
 * limits of the control groups (v1 and v2) that the process lives in.
 */
#ifndef MXNET_STORAGE_HOST_MEMORY_H_
#define MXNET_STORAGE_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/threads/fork_guard.h"

namespace mxnet {
namespace storage {

class HostMemory final : private ForkGuarded {
 public:
  /* `root` stands before every path that is read ("" for the real system): tests bring files of
   * their own. */
  explicit HostMemory(std::string root = "");
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /*
   * Answers from the last reading, corrected by what the caller has taken and given since. Files
   * are read again when that is more than 1/64 of what was free, when the reading is older than 250
   * ms, or 1 ms when memory is tight (less than a quarter free). Total is 0 when the system does
   * not tell.
   */
  void Get(size_t* free_bytes, size_t* total_bytes);
  void Took(size_t bytes);
  void Gave(size_t bytes);
  uint64_t readings();

 private:
  struct Group {  // files of one limited control group
    std::string limit, usage, stat, cache_key;
  };
  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool) override { mutex_.unlock(); }
  void FindGroups();
  void AddGroups(const std::string& mount, const std::string& path, bool v2);
  void Read();

  const std::string root_;
  std::mutex mutex_;  // guards everything below
  std::vector<Group> groups_;
  uint64_t free_ = 0, total_ = 0;
  int64_t taken_ = 0;     // since the last reading
  int64_t read_at_ = -1;  // ns of a monotonic clock; -1: never
  uint64_t readings_ = 0;
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_HOST_MEMORY_H_
