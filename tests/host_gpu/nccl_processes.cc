#include "nccl_processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "host_gpu.h"

namespace host_gpu {

/* An operation's parts lie in the ranks' areas, which follow. A rank writes its own when all have
 * taken what was there. */
struct Processes::Shared {
  std::atomic<int> joined;
  std::atomic<uint64_t> posted[kMost], taken[kMost];  // how many operations
  std::atomic<uint64_t> bytes[kMost];                 // of the last one
  std::atomic<int> type[kMost];
};

std::string Processes::NewName() {
  std::random_device random;
  return "/host_gpu_nccl_" + std::to_string(getpid()) + "_" + std::to_string(random());
}

std::shared_ptr<Processes> Processes::Join(const std::string& name, int rank, int size, int device) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  const size_t bytes = sizeof(Shared) + static_cast<size_t>(size) * kMostBytes;
  void* memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<Processes> made(new Processes);
  made->name_ = name;
  made->rank_ = rank;
  made->size_ = size;
  made->device_ = device;
  made->shared_ = static_cast<Shared*>(memory);
  made->settled_ = false;
  made->shared_->joined.fetch_add(1);
  return made;
}

Processes::~Processes() {
  munmap(shared_, sizeof(Shared) + static_cast<size_t>(size_) * kMostBytes);
  if (rank_ == 0) shm_unlink(name_.c_str());
}

char* Processes::Area(int rank) const { return reinterpret_cast<char*>(shared_ + 1) + static_cast<size_t>(rank) * kMostBytes; }

ncclResult_t Processes::State() {
  if (shared_->joined.load() < size_) return ncclInProgress;
  if (rank_ == 0 && next_ == 0) shm_unlink(name_.c_str());  // all have it
  const bool settled = settled_;
  settled_ = true;
  return settled ? ncclSuccess : ncclInProgress;
}

template <typename Condition>
bool Processes::Await(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int rank = 0; rank < size_; ++rank)
    while (!condition(rank)) {
      if (aborted_) return false;
      if (std::chrono::steady_clock::now() > end) {
        Complain("ncclAllReduce", "some processes never came");
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  return true;
}

bool Processes::Meet(uint64_t number, const void* part, size_t bytes, ncclDataType_t type, std::vector<std::vector<char>>* parts) {
  const size_t own = static_cast<size_t>(rank_);
  if (!Await([&](int rank) { return shared_->taken[rank].load() >= number; })) return false;
  std::memcpy(Area(rank_), part, bytes);
  shared_->bytes[own] = bytes;
  shared_->type[own] = type;
  shared_->posted[own] = number + 1;
  if (!Await([&](int rank) { return shared_->posted[rank].load() >= number + 1; })) return false;
  for (int rank = 0; rank < size_; ++rank) {
    if (shared_->bytes[rank].load() != bytes || shared_->type[rank].load() != type)
      Complain("ncclAllReduce", "the processes' operations with one number differ in count or type");
    parts->emplace_back(Area(rank), Area(rank) + bytes);
  }
  shared_->taken[own] = number + 1;
  return true;
}

}  // namespace host_gpu
