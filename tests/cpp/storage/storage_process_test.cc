/* The process's own storage: alignment, limits of the machine, fork, environment, C functions. */
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/device/device_query.h"
#include "common/fake_device.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_storage.h"
#include "mxnet/storage.h"
#include "storage/backend_registry.h"
#include "storage/cpu_backend.h"
#include "storage/host_memory.h"

#if defined(__SANITIZE_THREAD__)
/* Children of processes with threads start the one that tidies their pools. */
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace mxnet {
namespace {

const Context kCpu = Context::CPU();

// AddressSanitizer's own allocator may be locked by another thread at fork, and stays locked in the
// child. ThreadSanitizer takes a child's new thread for the parent's that had its stack.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kThreadsAtFork = 0;
#else
constexpr int kThreadsAtFork = 3;
#endif

TEST(ProcessStorage, CpuBlocksAreAlignedAndUsable) {
  Storage* storage = Storage::Get();
  for (Context ctx : {kCpu, Context::CPU(7), Context::CPUPinned()}) {
    for (size_t bytes : {size_t{1}, size_t{70}, size_t{5000}, size_t{200000}, size_t{2} << 20, (size_t{5} << 20) + 123}) {
      StorageHandle h = storage->Alloc(bytes, ctx);
      const auto address = reinterpret_cast<uintptr_t>(h.dptr);
      EXPECT_EQ(address % 64, 0u);
      if (bytes >= size_t{2} << 20) {
        EXPECT_EQ(address % 4096, 0u);
      }
      memset(h.dptr, 0x5a, bytes);
      storage->Free(h);
    }
    storage->ReleaseAll(ctx);
    EXPECT_EQ(storage->Stats(ctx).cached_bytes, 0u);
    EXPECT_EQ(storage->Stats(ctx).used_bytes, 0u);
  }
}

long FaultsSince(long before) {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt - before;
}

/* Every page of the old block is in the new one: nothing of it is faulted again. */
TEST(HostBackend, BlocksGrowWithTheirPages) {
  auto* backend = dynamic_cast<storage::GrowingBackend*>(storage::HostBackend().get());
  ASSERT_NE(backend, nullptr);
  const size_t sizes[][2] = {{256 << 10, 260 << 10}, {768 << 10, 896 << 10}, {1536 << 10, 1792 << 10}, {400000, 500001}};
  for (const auto& size : sizes) {
    ASSERT_GE(size[0], backend->GrowsFrom());
    auto* block = static_cast<char*>(backend->Malloc(size[0], 64));
    ASSERT_NE(block, nullptr);
    for (size_t i = 0; i < size[0]; ++i) block[i] = static_cast<char>(i % 251);
    auto* grown = static_cast<char*>(backend->Grow(block, size[0], size[1]));
    ASSERT_NE(grown, nullptr) << size[0];
    EXPECT_EQ(reinterpret_cast<uintptr_t>(grown) % 64, 0u);
    const long before = FaultsSince(0);
    bool same = true;
    for (size_t i = 0; i < size[0]; ++i) same = same && grown[i] == static_cast<char>(i % 251);
    EXPECT_TRUE(same) << size[0];
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadows have pages as well
    EXPECT_EQ(FaultsSince(before), 0) << size[0];
#else
    (void)before;
#endif
    memset(grown, 1, size[1]);
    backend->Free(grown, size[1]);
  }
}

TEST(ProcessStorage, RefusesMoreThanTheMachineHas) {
  for (size_t bytes : {size_t{1} << 46, size_t{1} << 62, SIZE_MAX}) {
    for (Context ctx : {kCpu, Context::CPUShared()}) {
      try {
        Storage::Get()->Alloc(bytes, ctx);
        FAIL() << "no error";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), Error::Kind::kOutOfMemory) << e.what();
        EXPECT_EQ(std::string(e.what()).find("[storage] out of memory on " + ctx.str()), 0u) << e.what();
      }
    }
  }
}

TEST(ProcessStorage, AbsentGpuIsAClearError) {
  const int count = DeviceCount(DeviceType::kGPU);
  for (int tries = 0; tries < 2; ++tries) {
    try {
      Storage::Get()->Alloc(4, Context::GPU(count));
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::kValue);
      EXPECT_NE(std::string(e.what()).find("[storage] gpu(" + std::to_string(count) + ")"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("accepted:"), std::string::npos) << e.what();
    }
  }
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_THROW(DeviceMemInfo(Context::GPU(count), &free_bytes, &total_bytes), Error);
}

TEST(ProcessStorage, ForkedChildrenAllocateAndFreeWhileThreadsDo) {
  Storage* storage = Storage::Get();
  StorageHandle inherited = storage->Alloc(100, kCpu);
  strcpy(static_cast<char*>(inherited.dptr), "kept");
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreadsAtFork; ++t) {
    threads.emplace_back([&] {
      std::vector<StorageHandle> handles;
      while (!stop) {
        for (int i = 0; i < 50; ++i) handles.push_back(storage->Alloc(3000 + 4000 * i, Context::CPU(i % 20)));
        for (auto& h : handles) storage->Free(h);
        handles.clear();
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // a lock that was held at fork would hang
      if (strcmp(static_cast<char*>(inherited.dptr), "kept") != 0) _exit(2);
      storage->Free(inherited);
      std::vector<StorageHandle> handles;
      for (size_t k = 1; k <= 100; ++k) {
        handles.push_back(storage->Alloc(k * 3000, Context::CPU(static_cast<int>(k) % 20)));
        memset(handles.back().dptr, 1, k * 3000);
      }
      for (auto& h : handles) storage->Free(h);
      for (int id = 0; id < 20; ++id) storage->ReleaseAll(Context::CPU(id));
      _exit(storage->Stats(kCpu).cached_bytes == 0 ? 0 : 3);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  storage->Free(inherited);
}

/* ---- how much memory the host has, from files of our own ---- */

class HostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mxnet_host_memory_XXXXXX";
    root_ = mkdtemp(name);
    Write("/proc/meminfo", "MemTotal:       1000000 kB\nMemFree:  1 kB\nMemAvailable:    800000 kB\nSwapFree:    1000 kB\n");
  }
  void TearDown() override {
    const std::string command = "rm -r '" + root_ + "'";
    EXPECT_EQ(system(command.c_str()), 0);
  }
  void Write(const std::string& path, const std::string& text) {
    for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0700);
    }
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
  size_t free_ = 0, total_ = 0;
};

TEST_F(HostMemoryTest, WithoutControlGroups) {
  storage::HostMemory memory(root_);
  memory.Get(&free_, &total_);
  EXPECT_EQ(free_, 801000u * 1024);
  EXPECT_EQ(total_, 1000000u * 1024);
}

TEST_F(HostMemoryTest, UnknownSystemHasNoTotal) {
  Write("/proc/meminfo", "nothing of use\n");
  storage::HostMemory memory(root_);
  memory.Get(&free_, &total_);
  EXPECT_EQ(total_, 0u);
}

TEST_F(HostMemoryTest, SecondVersionGroupsLimitAtEveryLevel) {
  Write("/proc/self/cgroup", "0::/outer/inner\n");
  Write("/sys/fs/cgroup/outer/memory.max", "500000000\n");
  Write("/sys/fs/cgroup/outer/memory.current", "300000000\n");
  Write("/sys/fs/cgroup/outer/memory.stat", "anon 7\ninactive_file 100000000\nactive_file 5\n");
  Write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  storage::HostMemory memory(root_);
  memory.Get(&free_, &total_);
  EXPECT_EQ(free_, 300000000u);  // 500 less 300, of which 100 are file cache
  EXPECT_EQ(total_, 500000000u);
}

TEST_F(HostMemoryTest, FirstVersionGroups) {
  Write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n");
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "400000000\n");
  Write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "450000000\n");
  Write("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 60000000\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  storage::HostMemory memory(root_);
  memory.Get(&free_, &total_);
  EXPECT_EQ(free_, 10000000u);
  EXPECT_EQ(total_, 400000000u);
}

TEST_F(HostMemoryTest, ReadsFilesRarely) {
  storage::HostMemory memory(root_);
  const auto start = std::chrono::steady_clock::now();
  size_t taken = 0;
  for (int i = 0; i < 10000; ++i) {
    memory.Get(&free_, &total_);
    ASSERT_EQ(free_, 801000u * 1024 - taken);
    memory.Took(1000);  // 10 MB in all: under 1/64 of what is free
    taken += 1000;
  }
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  if (passed < 200) {
    EXPECT_EQ(memory.readings(), 1u);
  }
  memory.Took(100000000);
  memory.Get(&free_, &total_);  // moved far from the reading: read again
  EXPECT_EQ(free_, 801000u * 1024);
}

/* ---- environment: this program again, with variables set; the disabled test below prints what it
 * sees ---- */

void PrintRounding(Context ctx) {
  Storage* storage = Storage::Get();
  StorageHandle a = storage->Alloc(5000, ctx);
  storage->Free(a);
  StorageHandle b = storage->Alloc(3000000, ctx);
  const StorageStats s = storage->Stats(ctx);
  printf("<%s %s %zu %zu cached %zu releases %d>", ctx.str().c_str(), storage->PoolName(ctx), a.rounded, b.rounded,
         static_cast<size_t>(s.cached_bytes), static_cast<int>(s.releases));
  storage->Free(b);
}

TEST(StorageChild, DISABLED_PrintRounding) {
  PrintRounding(Context::CPU());
  PrintRounding(Context::CPUPinned());
}

// GPU variables need no GPU: a device of 100,000,000 bytes takes its place.
TEST(StorageChild, DISABLED_PrintGpuRounding) {
  FakeGpuMemory<100000000>();
  PrintRounding(Context::GPU());
}

std::string ChildOutput(const std::string& environment, const std::string& test = "DISABLED_PrintRounding") {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  EXPECT_GT(n, 0);
  self[n > 0 ? n : 0] = '\0';
  const std::string command =
      "env " + environment + " '" + self + "' --gtest_also_run_disabled_tests --gtest_filter=StorageChild." + test + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text, found;
  char buffer[1024];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << text;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    found += text.substr(at, text.find('>', at) - at + 1);
  }
  return found;
}

TEST(StorageEnvironment, Defaults) {
  EXPECT_EQ(ChildOutput("-u MXNET_CPU_MEM_POOL_TYPE"),
            "<cpu(0) Naive 8192 4194304 cached 8192 releases 0><cpu_pinned(0) Naive 8192 4194304 cached 8192 releases 0>");
}

TEST(StorageEnvironment, PoolTypesAndSizes) {
  EXPECT_EQ(ChildOutput("MXNET_CPU_MEM_POOL_TYPE=Round MXNET_CPU_PINNED_MEM_POOL_TYPE=Unpooled"),
            "<cpu(0) Round 8192 4194304 cached 8192 releases 0><cpu_pinned(0) Unpooled 5000 3000000 cached 0 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_CPU_MEM_POOL_TYPE=Round MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF=12 "
                        "MXNET_CPU_PINNED_MEM_POOL_TYPE=Round MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF=20"),
            "<cpu(0) Round 8192 3002368 cached 8192 releases 0><cpu_pinned(0) Round 8192 3145728 cached 8192 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_CPU_MEM_POOL_PAGE_SIZE=1000 MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE=1000000 "
                        "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE=64 MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE=1"),
            "<cpu(0) Naive 5000 3000000 cached 5000 releases 0><cpu_pinned(0) Naive 5056 3000000 cached 5056 releases 0>");
}

TEST(StorageEnvironment, NaiveStorageManagersMeanNoPool) {
  EXPECT_EQ(ChildOutput("MXNET_USE_NAIVE_STORAGE_MANAGERS=1 MXNET_CPU_MEM_POOL_TYPE=Round"),
            "<cpu(0) Unpooled 5000 3000000 cached 0 releases 0><cpu_pinned(0) Unpooled 5000 3000000 cached 0 releases 0>");
}

TEST(StorageEnvironment, ReservingEverythingReleasesTheCacheAtEveryMiss) {
  EXPECT_EQ(ChildOutput("MXNET_CPU_MEM_POOL_RESERVE=100"),
            "<cpu(0) Naive 8192 4194304 cached 0 releases 1><cpu_pinned(0) Naive 8192 4194304 cached 8192 releases 0>");
}

TEST(StorageEnvironment, GpuVariables) {
  const std::string test = "DISABLED_PrintGpuRounding";
  EXPECT_EQ(ChildOutput("-u MXNET_GPU_MEM_POOL_TYPE", test), "<gpu(0) Naive 8192 4194304 cached 8192 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_GPU_MEM_POOL_PAGE_SIZE=1024 MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE=1000000", test),
            "<gpu(0) Naive 5120 4000000 cached 5120 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_GPU_MEM_POOL_TYPE=Round MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF=12", test),
            "<gpu(0) Round 8192 3002368 cached 8192 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_GPU_MEM_POOL_TYPE=Unpooled", test), "<gpu(0) Unpooled 5000 3000000 cached 0 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_USE_NAIVE_STORAGE_MANAGERS=1", test), "<gpu(0) Unpooled 5000 3000000 cached 0 releases 0>");
  // 8,192 and 4,194,304 bytes leave 95.8 % of the device.
  EXPECT_EQ(ChildOutput("MXNET_GPU_MEM_POOL_RESERVE=95", test), "<gpu(0) Naive 8192 4194304 cached 8192 releases 0>");
  EXPECT_EQ(ChildOutput("MXNET_GPU_MEM_POOL_RESERVE=96", test), "<gpu(0) Naive 8192 4194304 cached 0 releases 1>");
}

/* ---- C functions ---- */

TEST(StorageCApi, StatisticsAndEmptyCache) {
  ASSERT_EQ(MXStorageEmptyCache(1, 0), 0);
  ASSERT_EQ(MXStorageResetPeak(1, 0), 0);
  uint64_t before[7], now[7];
  ASSERT_EQ(MXStorageStats(1, 0, before), 0);
  EXPECT_EQ(before[1], 0u);
  Storage* storage = Storage::Get();
  storage->Free(storage->Alloc(10, kCpu));
  storage->Free(storage->Alloc(10, kCpu));
  ASSERT_EQ(MXStorageStats(1, 0, now), 0);
  const bool pooled = strcmp(storage->PoolName(kCpu), "Unpooled") != 0;
  EXPECT_EQ(now[0], before[0]);
  if (pooled) {
    EXPECT_EQ(now[1], PoolOptions().Round(10));
    EXPECT_EQ(now[2], before[2] + now[1]);
    EXPECT_EQ(now[3], before[3] + now[1]);
    EXPECT_EQ(now[4], before[4] + 1);
    EXPECT_EQ(now[5], before[5] + 1);
  }
  ASSERT_EQ(MXStorageEmptyCache(1, 0), 0);
  ASSERT_EQ(MXStorageStats(1, 0, now), 0);
  EXPECT_EQ(now[1], 0u);
  EXPECT_EQ(now[6], before[6] + (pooled ? 1 : 0));
  const char* name = nullptr;
  ASSERT_EQ(MXStoragePoolName(1, 0, &name), 0);
  EXPECT_STREQ(name, storage->PoolName(kCpu));
}

TEST(StorageCApi, Gpus) {
  int count = -1;
  ASSERT_EQ(MXGetGPUCount(&count), 0);
  EXPECT_EQ(count, DeviceCount(DeviceType::kGPU));
  int free_mb = 0, total_mb = 0;
  uint64_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(MXGetGPUMemoryInformation(count, &free_mb, &total_mb), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("gpu(" + std::to_string(count) + ")"), std::string::npos);
  EXPECT_EQ(MXGetGPUMemoryInformation64(count, &free_bytes, &total_bytes), -1);
  EXPECT_EQ(MXStorageEmptyCache(2, count), -1);
  EXPECT_EQ(MXStorageEmptyCache(77, 0), -1);
  if (count > 0) {
    ASSERT_EQ(MXGetGPUMemoryInformation64(0, &free_bytes, &total_bytes), 0);
    EXPECT_GT(total_bytes, 0u);
    EXPECT_LE(free_bytes, total_bytes);
  }
}

}  // namespace
}  // namespace mxnet
