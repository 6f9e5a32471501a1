/* A small device for storage tests: hands out real memory, counts, checks what comes back, and
 * fails when full or told to. */
#ifndef MXNET_TESTS_CPP_FAKE_DEVICE_H_
#define MXNET_TESTS_CPP_FAKE_DEVICE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/device/device_interface.h"
#include "mxnet/storage.h"
#include "storage/backend_registry.h"
#include "storage/growing_backend.h"

namespace mxnet {

class FakeDevice : public storage::GrowingBackend {
 public:
  explicit FakeDevice(size_t total) : total_(total) {}
  ~FakeDevice() override { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks never came back"; }

  void* Malloc(size_t bytes, size_t alignment) override {
    std::lock_guard<std::mutex> guard(mutex_);
    ++mallocs;
    if (fail_calls.count(mallocs) > 0 || bytes > total_ - used_) return nullptr;
    void* ptr = nullptr;
    if (posix_memalign(&ptr, alignment, bytes) != 0) return nullptr;
    used_ += bytes;
    blocks_[ptr] = bytes;
    return ptr;
  }
  void Free(void* ptr, size_t bytes) override {
    std::lock_guard<std::mutex> guard(mutex_);
    ++frees;
    auto it = blocks_.find(ptr);
    ASSERT_TRUE(it != blocks_.end());
    EXPECT_EQ(it->second, bytes);
    blocks_.erase(it);
    used_ -= bytes;
    free(ptr);
  }
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override {
    std::lock_guard<std::mutex> guard(mutex_);
    *free_bytes = total_ - used_;
    *total_bytes = total_;
  }
  bool SurvivesFork() const override { return survives_fork; }
  size_t GrowsFrom() const override { return grows_from; }
  void* Grow(void* ptr, size_t from, size_t to) override {
    EXPECT_GE(from, grows_from);
    EXPECT_LT(from, to);
    void* const grown = Malloc(to, 4096);
    Free(ptr, from);
    return grown;
  }

  int mallocs = 0, frees = 0;
  size_t grows_from = SIZE_MAX;
  std::set<int> fail_calls;  // numbers of Malloc calls, from 1
  bool survives_fork = true;

 private:
  std::mutex mutex_;
  const size_t total_;
  size_t used_ = 0;
  std::map<void*, size_t> blocks_;
};

/* The memory of GPUs is one FakeDevice of so many bytes from here on: pools outlive the tests.
 * Returns true. */
template <size_t kBytes>
bool FakeGpuMemory() {
  static const storage::MemoryHooks kMemory = {[](int) -> std::shared_ptr<StorageBackend> {
    static auto* const keep = new std::shared_ptr<StorageBackend>(std::make_shared<FakeDevice>(kBytes));
    return *keep;
  }};
  return GpuInterface().memory.Register(&kMemory);
}

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_DEVICE_H_
