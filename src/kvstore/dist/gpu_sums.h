/*
 * Sums of arrays over one GPU of each worker, which the GPUs make themselves (NCCL).
 *
 * ORDER      Collective operations have one order on all workers: their turns, which the first
 *            worker gives (all_reduce_state.h). A thread of each process launches what has a turn,
 *            in whatever order it hears of the turns, and waits for the GPU.
 * FAILURE    Once a worker is lost, what is under way or still to come fails: no kernel goes on
 *            waiting for a GPU that will never come.
 */
#ifndef MXNET_KVSTORE_DIST_GPU_SUMS_H_
#define MXNET_KVSTORE_DIST_GPU_SUMS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mxnet {
namespace kvstore {

class GpuSums {
 public:
  struct Turn {
    int64_t number = 0;    // 0, 1, ...: each once
    std::string group;     // identity of the group, which its first member has made (kvstore/nccl.h)
    int device = 0;        // of this process
    void* data = nullptr;  // there; becomes the sum
    int64_t count = 0;
    int dtype = 0;
    std::function<void(std::exception_ptr)> done;  // on the thread that launches
  };

  /* This process is member `number` of `size` in every group. */
  GpuSums(int number, int size) : number_(number), size_(size) {}
  ~GpuSums();
  GpuSums(const GpuSums&) = delete;
  GpuSums& operator=(const GpuSums&) = delete;

  void Add(Turn turn);
  /* Some worker is lost. */
  void Lose();
  /* Why GPUs of this process cannot add up with those of others, or an empty text. */
  static std::string Missing();
  /* The identity of a new group, and of a device of this process. */
  static std::string NewGroup();
  static std::string DeviceIdentity(int device);

 private:
  void Loop();
  void Run(std::vector<Turn> turns);
  void* GroupOf(const Turn& turn);

  const int number_, size_;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<int64_t, Turn> turns_;
  int64_t next_ = 0;
  bool stopped_ = false;
  std::thread thread_;                   // once there is a turn
  std::map<std::string, void*> groups_;  // only of that thread
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_GPU_SUMS_H_
