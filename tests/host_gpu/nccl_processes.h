/* NCCL between one device of each of several processes: their parts meet in shared memory. */
#ifndef MXNET_TESTS_HOST_GPU_NCCL_PROCESSES_H_
#define MXNET_TESTS_HOST_GPU_NCCL_PROCESSES_H_

#include <nccl.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace host_gpu {

class Processes {
 public:
  static constexpr int kMost = 16;
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of one operation

  /* This process joins; null: no shared memory. `name` comes from NewName. */
  static std::shared_ptr<Processes> Join(const std::string& name, int rank, int size, int device);
  static std::string NewName();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int device() const { return device_; }
  bool aborted() const { return aborted_; }
  void Abort() { aborted_ = true; }
  /* All are there, and what was asked of this one has begun: later than it was asked, so that
   * callers must ask. */
  ncclResult_t State();
  void Asked() { settled_ = false; }
  /* An operation's number; belongs to who calls. */
  uint64_t Next() { return next_++; }
  /* On a stream: waits for the parts of all, which are then gathered in the order of ranks. False:
   * aborted, or some never came. */
  bool Meet(uint64_t number, const void* part, size_t bytes, ncclDataType_t type, std::vector<std::vector<char>>* parts);

 private:
  struct Shared;
  Processes() = default;
  char* Area(int rank) const;
  template <typename Condition>
  bool Await(Condition condition);

  std::string name_;
  int rank_ = 0, size_ = 0, device_ = 0;
  Shared* shared_ = nullptr;
  std::atomic<bool> aborted_{false};
  bool settled_ = true;
  uint64_t next_ = 0;
};

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_NCCL_PROCESSES_H_
