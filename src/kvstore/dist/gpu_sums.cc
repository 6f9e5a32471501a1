#include "kvstore/dist/gpu_sums.h"

#include <utility>

#include "base/device/device_interface.h"
#include "kvstore/nccl.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

const nccl::Library* Library() { return GpuInterface().collectives.get(); }

}  // namespace

std::string GpuSums::Missing() {
  const nccl::Library* library = Library();
  if (library == nullptr || library->joined == nullptr) return "this build has no CUDA";
  if (std::string missing = library->open(); !missing.empty()) return missing;
  return library->joined->missing();
}

std::string GpuSums::NewGroup() { return Library()->joined->new_group(); }

std::string GpuSums::DeviceIdentity(int device) { return Library()->joined->identity(device); }

GpuSums::~GpuSums() {
  Lose();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void GpuSums::Add(Turn turn) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const int64_t number = turn.number;
    turns_[number] = std::move(turn);
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  }
  changed_.notify_all();
}

void GpuSums::Lose() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lost_ = true;
  }
  changed_.notify_all();
}

void GpuSums::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || turns_.count(next_) || (lost_ && !turns_.empty()); });
    if (turns_.empty()) return;  // stopped
    std::vector<Turn> turns;
    while (!turns_.empty() && (lost_ || turns_.begin()->first == next_)) {
      turns.push_back(std::move(turns_.begin()->second));
      turns_.erase(turns_.begin());
      ++next_;
    }
    lock.unlock();
    Run(std::move(turns));
    lock.lock();
  }
}

void* GpuSums::GroupOf(const Turn& turn) {
  void*& group = groups_[turn.group];
  if (group == nullptr) group = Library()->joined->join(turn.group, turn.device, number_, size_, &lost_);
  return group;
}

/* Launches all of them before it waits for any. */
void GpuSums::Run(std::vector<Turn> turns) {
  std::map<void*, std::exception_ptr> errors;  // of groups
  std::vector<std::pair<void*, std::exception_ptr>> ends(turns.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i];
    try {
      MXNET_CHECK(!lost_) << "[kvstore] a worker is lost";
      ends[i].first = GroupOf(turn);
      errors.emplace(ends[i].first, nullptr);
      Library()->joined->add(ends[i].first, turn.data, turn.count, turn.dtype);
    } catch (...) {
      ends[i].second = std::current_exception();
    }
  }
  for (auto& [group, error] : errors) {
    try {
      Library()->joined->finish(group);
    } catch (...) {
      error = std::current_exception();
    }
  }
  for (size_t i = 0; i < turns.size(); ++i) turns[i].done(ends[i].second ? ends[i].second : errors[ends[i].first]);
}

}  // namespace kvstore
}  // namespace mxnet
