/* The process's storage: which context is served by which pool, with which options. */
#include "mxnet/storage.h"

#include <atomic>
#include <string>
#include <utility>

#include "base/device/device_interface.h"
#include "engine/gpu_streams.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"
#include "storage/backend_registry.h"
#include "storage/cpu_backend.h"
#include "storage/device_memory.h"
#include "storage/pool.h"
#include "storage/shared_memory.h"

namespace mxnet {
namespace storage {
namespace {

constexpr int kDeviceTypes = 6;  // one more than the largest number in DeviceType

const char* NameOf(PoolType type) {
  switch (type) {
    case PoolType::kNaive: return "Naive";
    case PoolType::kRound: return "Round";
    case PoolType::kUnpooled: return "Unpooled";
  }
  return "unknown";
}

PoolOptions OptionsFromEnv(DeviceType type) {
  const Env& env = Env::Get();
  const auto make = [&env](const std::string& pool, int reserve, size_t page, size_t large, int cutoff) {
    PoolOptions options;
    options.type = pool == "Round" ? PoolType::kRound : pool == "Unpooled" ? PoolType::kUnpooled : PoolType::kNaive;
    if (env.use_naive_storage_managers) options.type = PoolType::kUnpooled;
    options.reserve_percent = reserve;
    options.page_size = page;
    options.large_alloc_round_size = large;
    options.round_linear_cutoff = cutoff;
    return options;
  };
  switch (type) {
    case DeviceType::kGPU:
      return make(env.gpu_mem_pool_type, env.gpu_mem_pool_reserve, env.gpu_mem_pool_page_size, env.gpu_mem_large_alloc_round_size,
                  env.gpu_mem_pool_round_linear_cutoff);
    case DeviceType::kCPUPinned:
      return make(env.cpu_pinned_mem_pool_type, env.cpu_pinned_mem_pool_reserve, env.cpu_pinned_mem_pool_page_size,
                  env.cpu_pinned_mem_large_alloc_round_size, env.cpu_pinned_mem_pool_round_linear_cutoff);
    default:
      return make(env.cpu_mem_pool_type, env.cpu_mem_pool_reserve, env.cpu_mem_pool_page_size, env.cpu_mem_large_alloc_round_size,
                  env.cpu_mem_pool_round_linear_cutoff);
  }
}

/* Contexts and their pools, made at first use. Sub-classes say how a pool is made. */
class PooledStorage : public Storage {
 public:
  ~PooledStorage() override {
    for (auto& row : table_) {
      for (auto& pool : row) delete pool.load();
    }
    for (Other* other = others_.load(); other != nullptr;) {
      Other* next = other->next;
      delete other->pool;
      delete other;
      other = next;
    }
  }

  StorageHandle Alloc(size_t bytes, Context ctx) override {
    StorageHandle handle;
    handle.ctx = ctx;
    handle.size = bytes;
    if (bytes > 0) {
      Pool* pool = PoolOf(ctx);
      handle.dptr = pool->Alloc(bytes, &handle.rounded);
      if (profiler::RecordsMemory()) profiler::RecordAlloc(ctx, handle.dptr, bytes, handle.rounded, pool->used());
    } else {
      CheckContext(ctx);
    }
    return handle;
  }

  void Free(const StorageHandle& handle) override {
    if (handle.dptr == nullptr) return;
    Pool* pool = PoolOf(handle.ctx);
    // Recorded first: from the moment when it is free, another thread may get the same address.
    if (profiler::RecordsMemory()) RecordFree(handle, pool);
    pool->Free(handle.dptr, handle.rounded);
  }

  void DirectFree(const StorageHandle& handle) override {
    if (handle.dptr == nullptr) return;
    Pool* pool = PoolOf(handle.ctx);
    if (profiler::RecordsMemory()) RecordFree(handle, pool);
    pool->DirectFree(handle.dptr, handle.rounded);
  }

  StorageHandle OpenShared(int, int, size_t) override {
    MXNET_THROW(Value) << "[storage] OpenShared on a storage of one's own; accepted: Storage::Get()";
  }
  bool Share(const StorageHandle&) override { MXNET_THROW(Value) << "[storage] Share on a storage of one's own; accepted: Storage::Get()"; }

  void ReleaseAll(Context ctx) override { PoolOf(ctx)->ReleaseAll(); }
  StorageStats Stats(Context ctx) override { return PoolOf(ctx)->Stats(); }
  void ResetPeak(Context ctx) override { PoolOf(ctx)->ResetPeak(); }
  const char* PoolName(Context ctx) override { return NameOf(PoolOf(ctx)->options().type); }
  GivenBack BoundStats(Context ctx) { return PoolOf(ctx)->BoundStats(); }

 protected:
  virtual std::unique_ptr<Pool> MakePool(Context ctx) = 0;

  Pool* PoolOf(Context ctx) {
    const unsigned type = static_cast<unsigned>(ctx.dev_type), id = static_cast<unsigned>(ctx.dev_id);
    if (type < kDeviceTypes && id < kTableIds) {
      Pool* pool = table_[type][id].load(std::memory_order_acquire);
      if (__builtin_expect(pool != nullptr, 1)) return pool;
    }
    return FindOrMake(ctx);
  }

  static void RecordFree(const StorageHandle& handle, Pool* pool) {
    const uint64_t used = pool->used();
    profiler::RecordFree(handle.ctx, handle.dptr, handle.rounded, used > handle.rounded ? used - handle.rounded : 0);
  }

  static void CheckContext(Context ctx) {
    MXNET_CHECK_KIND(ctx.dev_id >= 0, Value) << "[storage] device number " << ctx.dev_id << "; accepted: 0 and above";
  }

 private:
  static constexpr unsigned kTableIds = 16;

  Pool* FindOrMake(Context ctx) {
    CheckContext(ctx);
    const unsigned type = static_cast<unsigned>(ctx.dev_type), id = static_cast<unsigned>(ctx.dev_id);
    if (type < kDeviceTypes && id < kTableIds) {
      std::unique_ptr<Pool> made = MakePool(ctx);
      Pool* expected = nullptr;
      if (table_[type][id].compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return made.release();
      return expected;
    }
    Other* head = others_.load(std::memory_order_acquire);
    for (Other* other = head; other != nullptr; other = other->next) {
      if (other->ctx == ctx) return other->pool;
    }
    std::unique_ptr<Pool> made = MakePool(ctx);
    auto node = std::make_unique<Other>(Other{ctx, made.get(), head});
    while (!others_.compare_exchange_weak(head, node.get(), std::memory_order_acq_rel)) {
      for (Other* other = head; other != node->next; other = other->next) {
        if (other->ctx == ctx) return other->pool;  // another thread was faster
      }
      node->next = head;
    }
    made.release();
    return node.release()->pool;
  }

  // Device numbers past the table, as a list that only grows: no lock that a fork could find taken.
  struct Other {
    Context ctx;
    Pool* pool;
    Other* next;
  };
  std::atomic<Pool*> table_[kDeviceTypes][kTableIds] = {};
  std::atomic<Other*> others_{nullptr};
};

class ProcessStorage final : public PooledStorage {
 public:
  StorageHandle Alloc(size_t bytes, Context ctx) override {
    if (bytes > 0 && ctx.dev_type == DeviceType::kCPUShared) return shared_.Alloc(bytes, ctx);
    return PooledStorage::Alloc(bytes, ctx);
  }
  void Free(const StorageHandle& handle) override {
    if (IsShared(handle)) return shared_.Free(handle);
    PooledStorage::Free(handle);
  }
  void DirectFree(const StorageHandle& handle) override {
    if (IsShared(handle)) return shared_.Free(handle);
    PooledStorage::DirectFree(handle);
  }
  StorageHandle OpenShared(int pid, int id, size_t bytes) override { return shared_.Open(pid, id, bytes); }
  bool Share(const StorageHandle& handle) override { return shared_.Share(handle); }
  void ReleaseAll(Context ctx) override {
    if (ctx.dev_type == DeviceType::kCPUShared) {
      SharedMemory::Sweep();
    } else {
      storage::GiveBackSpare(ctx);
      PooledStorage::ReleaseAll(ctx);
      if (!ctx.is_gpu()) TrimMalloc();
    }
  }
  StorageStats Stats(Context ctx) override {
    if (ctx.dev_type == DeviceType::kCPUShared) return shared_.Stats();
    if (ctx.dev_type == DeviceType::kCPU) storage::GiveBackSpare(ctx);
    return PooledStorage::Stats(ctx);
  }
  void ResetPeak(Context ctx) override {
    if (ctx.dev_type == DeviceType::kCPUShared) {
      shared_.ResetPeak();
    } else {
      PooledStorage::ResetPeak(ctx);
    }
  }
  const char* PoolName(Context ctx) override {
    return ctx.dev_type == DeviceType::kCPUShared ? NameOf(PoolType::kUnpooled) : PooledStorage::PoolName(ctx);
  }

 protected:
  std::unique_ptr<Pool> MakePool(Context ctx) override {
    std::shared_ptr<StorageBackend> backend;
    if (const MemoryHooks* memory = DeviceInterfaceOf(ctx.dev_type).memory.get()) backend = memory->make(ctx.dev_id);
    if (backend == nullptr) {
      MXNET_CHECK_KIND(!ctx.is_gpu(), Value) << "[storage] " << ctx.str()
                                             << " on a library that was built without CUDA; accepted: cpu, cpu_pinned and "
                                             << "cpu_shared here, or a build with USE_CUDA=ON";
      backend = HostBackend();
    }
    auto pool = std::make_unique<Pool>(OptionsFromEnv(ctx.dev_type), std::move(backend), ctx, !ctx.is_gpu());
    if (ctx.dev_type == DeviceType::kCPU) {
      pool->KeepByAge();
      pool->GiveRoom();
    }
    return pool;
  }

 private:
  static bool IsShared(const StorageHandle& handle) { return handle.ctx.dev_type == DeviceType::kCPUShared && handle.dptr != nullptr; }
  SharedMemory shared_;

 public:
  void FreeBehind(const StorageHandle& handle, const std::vector<engine::DeviceWorkPtr>& work) {
    if (handle.dptr == nullptr) return;
    if (work.empty() || IsShared(handle)) {
      for (const engine::DeviceWorkPtr& w : work) FinishQuietly(w);
      return Free(handle);
    }
    Pool* pool = PoolOf(handle.ctx);
    if (profiler::RecordsMemory()) RecordFree(handle, pool);
    pool->FreeBehind(handle.dptr, handle.rounded, work);
  }
  StorageHandle AllocBehind(size_t bytes, Context ctx, void* stream, std::vector<engine::DeviceWorkPtr>* work) {
    if (bytes == 0 || !ctx.is_gpu()) return Alloc(bytes, ctx);
    StorageHandle handle;
    handle.ctx = ctx;
    handle.size = bytes;
    Pool* pool = PoolOf(ctx);
    handle.dptr = pool->AllocBehind(bytes, &handle.rounded, stream, work);
    if (profiler::RecordsMemory()) profiler::RecordAlloc(ctx, handle.dptr, bytes, handle.rounded, pool->used());
    return handle;
  }
  static void FinishQuietly(const engine::DeviceWorkPtr& work) {
    try {
      work->Finish();
    } catch (const std::exception&) {
      // a fault ended the work as well; whoever waits for its results hears of it
    }
  }
};

ProcessStorage* Process() { return static_cast<ProcessStorage*>(Storage::Get()); }

class OwnStorage final : public PooledStorage {
 public:
  OwnStorage(const PoolOptions& options, std::shared_ptr<StorageBackend> backend) : options_(options), backend_(std::move(backend)) {}

 protected:
  std::unique_ptr<Pool> MakePool(Context ctx) override {
    return std::make_unique<Pool>(options_, backend_, ctx, false);  // a test's pointers may lead nowhere
  }

 private:
  const PoolOptions options_;
  const std::shared_ptr<StorageBackend> backend_;
};

// What a profile of memory begins with.
profiler::MemoryTotals TotalsOfCpu() {
  const StorageStats stats = Storage::Get()->Stats(Context::CPU());
  return {stats.used_bytes, stats.used_bytes + stats.cached_bytes};
}
[[maybe_unused]] const bool g_totals_told = profiler::SetMemoryTotals(TotalsOfCpu);

}  // namespace

std::shared_ptr<StorageBackend> HostBackend() {
  static auto* const backend = new std::shared_ptr<StorageBackend>(std::make_shared<CpuBackend>());
  return *backend;
}

// It is made when the library is loaded. A child that was forked while another thread made it would
// wait for that thread forever.
[[maybe_unused]] const std::shared_ptr<StorageBackend> g_host_backend = HostBackend();

StorageHandle AllocBehind(size_t bytes, Context ctx, std::vector<engine::DeviceWorkPtr>* work) {
  return Process()->AllocBehind(bytes, ctx, nullptr, work);
}

StorageHandle AllocOnStream(size_t bytes, const RunContext& run) {
  if (run.stream == nullptr) return Storage::Get()->Alloc(bytes, run.ctx);
  std::vector<engine::DeviceWorkPtr> before;  // what is on the same stream is in front
  const StorageHandle handle = Process()->AllocBehind(bytes, run.ctx, run.stream, &before);
  for (const engine::DeviceWorkPtr& w : before) {
    if (w->stream == run.stream || w->Passed()) continue;
    try {
      w->Precede(run.stream);
    } catch (const std::exception&) {
      ProcessStorage::FinishQuietly(w);
    }
  }
  return handle;
}

void FreeOnStream(const StorageHandle& handle, const RunContext& run) {
  if (handle.dptr == nullptr || run.stream == nullptr) return Storage::Get()->Free(handle);
  std::vector<engine::DeviceWorkPtr> work;
  try {
    if (engine::DeviceWorkPtr end = engine::EndOnStream(run, "free", std::string())) work.push_back(std::move(end));
  } catch (const std::exception&) {
    engine::SyncQuietly(run);  // the end of the operation will meet the same fault
  }
  Process()->FreeBehind(handle, work);
}

void FreeWithVariable(const StorageHandle& handle) {
  if (!engine::any_device_work.load(std::memory_order_relaxed)) return Storage::Get()->Free(handle);
  Process()->FreeBehind(handle, engine::WorkOfDeletion());
}

GivenBack BoundStatsOf(Context ctx) { return ctx.dev_type == DeviceType::kCPUShared ? GivenBack() : Process()->BoundStats(ctx); }

void FinishDeletion() {
  for (const engine::DeviceWorkPtr& w : engine::WorkOfDeletion()) ProcessStorage::FinishQuietly(w);
}

void FinishDevice(Context ctx) {
  if (!ctx.is_gpu()) return;
  for (const engine::DeviceWorkPtr& w : engine::LastWork(ctx.dev_id)) ProcessStorage::FinishQuietly(w);
}

}  // namespace storage

Storage* Storage::Get() {
  // Never destroyed: arrays of other static objects may be freed after every destructor of ours.
  static Storage* const storage = new storage::ProcessStorage;
  return storage;
}

MXNET_DLL std::unique_ptr<Storage> CreateStorage(const PoolOptions& options, std::shared_ptr<StorageBackend> backend) {
  return std::make_unique<storage::OwnStorage>(options, std::move(backend));
}

}  // namespace mxnet
