/* Pools: rounding, cache, statistics, failures, threads and fork. The process's own storage:
 * storage_process_test.cc. */
#include "mxnet/storage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/fake_device.h"

namespace mxnet {
namespace {

PoolOptions Options(PoolType type, int reserve = 0) {
  PoolOptions options;
  options.type = type;
  options.reserve_percent = reserve;
  return options;
}

const Context kCpu = Context::CPU();

TEST(PoolOptions, NaiveRoundsToPagesAndLargeSizes) {
  const PoolOptions o;
  EXPECT_EQ(o.Round(0), 0u);
  EXPECT_EQ(o.Round(1), 4096u);
  EXPECT_EQ(o.Round(4096), 4096u);
  EXPECT_EQ(o.Round(4097), 8192u);
  EXPECT_EQ(o.Round(2097152 - 4096), 2093056u);
  EXPECT_EQ(o.Round(2097151), 2097152u);
  EXPECT_EQ(o.Round(2097152), 2097152u);
  EXPECT_EQ(o.Round(2097153), 4194304u);
  EXPECT_EQ(o.Round(4194304), 4194304u);
  EXPECT_EQ(o.Round(100000000), 100663296u);
  EXPECT_EQ(o.Round(SIZE_MAX), SIZE_MAX);
  EXPECT_EQ(o.Round(SIZE_MAX - 4094), SIZE_MAX);
}

TEST(PoolOptions, NaiveOddSizes) {
  PoolOptions o;
  o.page_size = 1000;
  o.large_alloc_round_size = 10000;
  EXPECT_EQ(o.Round(1), 1000u);
  EXPECT_EQ(o.Round(9001), 10000u);
  EXPECT_EQ(o.Round(10001), 20000u);
  EXPECT_EQ(o.Round(20001), 30000u);
  o.large_alloc_round_size = 1;  // documented as: disabled
  EXPECT_EQ(o.Round(10001), 11000u);
  EXPECT_EQ(o.Round(99999999), 100000000u);
  o.page_size = 1;
  EXPECT_EQ(o.Round(12345), 12345u);
}

TEST(PoolOptions, RoundToPowersThenLinear) {
  PoolOptions o = Options(PoolType::kRound);
  EXPECT_EQ(o.Round(0), 0u);
  EXPECT_EQ(o.Round(1), 1u);
  EXPECT_EQ(o.Round(2), 2u);
  EXPECT_EQ(o.Round(3), 4u);
  EXPECT_EQ(o.Round(4096), 4096u);
  EXPECT_EQ(o.Round(4097), 8192u);
  EXPECT_EQ(o.Round((1 << 24) - 1), 16777216u);
  EXPECT_EQ(o.Round(1 << 24), 16777216u);
  EXPECT_EQ(o.Round((1 << 24) + 1), 33554432u);
  EXPECT_EQ(o.Round(33554433), 50331648u);
  o.round_linear_cutoff = 10;
  EXPECT_EQ(o.Round(1000), 1024u);
  EXPECT_EQ(o.Round(1025), 2048u);
  EXPECT_EQ(o.Round(2049), 3072u);
  o.round_linear_cutoff = 0;
  EXPECT_EQ(o.Round(777), 777u);
  o.round_linear_cutoff = 62;
  EXPECT_EQ(o.Round(SIZE_MAX), SIZE_MAX);
}

TEST(PoolOptions, UnpooledKeepsTheSize) {
  const PoolOptions o = Options(PoolType::kUnpooled);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4097}, size_t{3} << 20}) EXPECT_EQ(o.Round(bytes), bytes);
}

TEST(Pool, CountsHitsMissesAndPeaks) {
  auto device = std::make_shared<FakeDevice>(size_t{64} << 20);
  auto storage = CreateStorage(Options(PoolType::kNaive), device);
  StorageHandle a = storage->Alloc(100, kCpu), b = storage->Alloc(5000, kCpu), c = storage->Alloc(3000000, kCpu);
  EXPECT_EQ(a.size, 100u);
  EXPECT_EQ(a.rounded, 4096u);
  EXPECT_EQ(b.rounded, 8192u);
  EXPECT_EQ(c.rounded, 4194304u);
  StorageStats s = storage->Stats(kCpu);
  EXPECT_EQ(s.used_bytes, 4096u + 8192 + 4194304);
  EXPECT_EQ(s.cached_bytes, 0u);
  EXPECT_EQ(s.misses, 3u);
  EXPECT_EQ(s.hits, 0u);
  storage->Free(a);
  storage->Free(c);
  s = storage->Stats(kCpu);
  EXPECT_EQ(s.used_bytes, 8192u);
  EXPECT_EQ(s.cached_bytes, 4096u + 4194304);
  // Another size of the same class is a hit and gets the same memory back; another class is a miss.
  StorageHandle d = storage->Alloc(4096, kCpu), e = storage->Alloc(4000000, kCpu), f = storage->Alloc(8193, kCpu);
  EXPECT_EQ(d.dptr, a.dptr);
  EXPECT_EQ(e.dptr, c.dptr);
  s = storage->Stats(kCpu);
  EXPECT_EQ(s.hits, 2u);
  EXPECT_EQ(s.misses, 4u);
  EXPECT_EQ(s.peak_bytes, 4096u + 8192 + 4194304 + 12288);
  EXPECT_EQ(s.peak_used_bytes, s.peak_bytes);
  storage->Free(e);
  storage->ResetPeak(kCpu);
  s = storage->Stats(kCpu);
  EXPECT_EQ(s.peak_bytes, 4096u + 8192 + 4194304 + 12288);  // what is cached is still held
  EXPECT_EQ(s.peak_used_bytes, 4096u + 8192 + 12288);
  storage->ReleaseAll(kCpu);
  s = storage->Stats(kCpu);
  EXPECT_EQ(s.cached_bytes, 0u);
  EXPECT_EQ(s.releases, 1u);
  EXPECT_EQ(device->frees, 1);
  for (const StorageHandle& h : {b, d, f}) storage->Free(h);
  EXPECT_EQ(storage->Stats(kCpu).used_bytes, 0u);
  EXPECT_STREQ(storage->PoolName(kCpu), "Naive");
}

TEST(Pool, ContextsDoNotShareBlocks) {
  auto device = std::make_shared<FakeDevice>(1 << 20);
  auto storage = CreateStorage(Options(PoolType::kNaive), device);
  const Context contexts[] = {kCpu, Context::CPU(1), Context::CPU(1000), Context::CPU(1001), Context::GPU(3)};
  for (Context ctx : contexts) {
    storage->Free(storage->Alloc(1, ctx));
    storage->Free(storage->Alloc(1, ctx));
    EXPECT_EQ(storage->Stats(ctx).misses, 1u) << ctx.str();
    EXPECT_EQ(storage->Stats(ctx).hits, 1u) << ctx.str();
  }
  EXPECT_EQ(device->mallocs, 5);
}

TEST(Pool, EveryTypeAndPageSizeServesEverySize) {
  const size_t sizes[] = {1, 2, 3, 63, 100, 1024, 4095, 4097, 32768, 40001, 65535, 65536, 65537, 1000000};
  std::vector<PoolOptions> all;
  for (PoolType type : {PoolType::kNaive, PoolType::kRound, PoolType::kUnpooled}) {
    for (size_t page : {1, 100, 1024, 4096, 65536, 1 << 20}) {
      for (size_t large : {1, 1000, 10000, 40000, 2097152}) {
        for (int cutoff : {0, 1, 5, 16, 24}) {
          PoolOptions o = Options(type);
          o.page_size = page;
          o.large_alloc_round_size = large;
          o.round_linear_cutoff = cutoff;
          all.push_back(o);
        }
      }
    }
  }
  for (const PoolOptions& o : all) {
    auto storage = CreateStorage(o, std::make_shared<FakeDevice>(size_t{256} << 20));
    for (size_t bytes : sizes) {
      for (int pass = 0; pass < 2; ++pass) {
        StorageHandle h = storage->Alloc(bytes, kCpu);
        ASSERT_EQ(h.rounded, o.Round(bytes)) << bytes;
        ASSERT_GE(h.rounded, bytes);
        memset(h.dptr, 1, bytes);
        storage->Free(h);
      }
    }
    const StorageStats s = storage->Stats(kCpu);
    ASSERT_EQ(s.used_bytes, 0u);
    ASSERT_EQ(s.hits + s.misses, 28u);
    if (o.type == PoolType::kUnpooled) {
      ASSERT_EQ(s.cached_bytes + s.hits, 0u);
    } else {
      ASSERT_GE(s.hits, 14u);
    }
  }
}

TEST(Pool, UnpooledGivesBackAtOnce) {
  auto device = std::make_shared<FakeDevice>(1 << 20);
  auto storage = CreateStorage(Options(PoolType::kUnpooled), device);
  StorageHandle h = storage->Alloc(777, kCpu);
  EXPECT_EQ(h.rounded, 777u);
  storage->Free(h);
  EXPECT_EQ(device->frees, 1);
  EXPECT_EQ(storage->Stats(kCpu).peak_bytes, 777u);
}

TEST(Pool, EmptyRequestsTakeNothing) {
  auto storage = CreateStorage(Options(PoolType::kNaive), std::make_shared<FakeDevice>(1 << 20));
  StorageHandle h = storage->Alloc(0, kCpu);
  EXPECT_EQ(h.dptr, nullptr);
  storage->Free(h);
  storage->DirectFree(h);
  EXPECT_EQ(storage->Stats(kCpu).misses, 0u);
  EXPECT_THROW(storage->Alloc(0, Context::CPU(-1)), Error);
  EXPECT_THROW(storage->Alloc(1, Context::CPU(-1)), Error);
}

TEST(Pool, DirectFreeBypassesTheCache) {
  auto device = std::make_shared<FakeDevice>(1 << 20);
  auto storage = CreateStorage(Options(PoolType::kNaive), device);
  storage->DirectFree(storage->Alloc(100, kCpu));
  EXPECT_EQ(device->frees, 1);
  const StorageStats s = storage->Stats(kCpu);
  EXPECT_EQ(s.used_bytes + s.cached_bytes, 0u);
  EXPECT_EQ(s.peak_bytes, 4096u);
}

TEST(Pool, BlocksFreedByOneThreadServeAnother) {
  for (size_t bytes : {100, 60000, 100000}) {
    auto storage = CreateStorage(Options(PoolType::kNaive), std::make_shared<FakeDevice>(size_t{1} << 30));
    std::vector<StorageHandle> handles(1000);
    for (auto& h : handles) h = storage->Alloc(bytes, kCpu);
    std::thread([&] {
      for (auto& h : handles) storage->Free(h);
    }).join();
    EXPECT_EQ(storage->Stats(kCpu).cached_bytes, 1000 * handles[0].rounded);
    std::set<void*> distinct;
    std::thread([&] {
      for (auto& h : handles) {
        h = storage->Alloc(bytes, kCpu);
        distinct.insert(h.dptr);
      }
    }).join();
    const StorageStats s = storage->Stats(kCpu);
    EXPECT_EQ(distinct.size(), 1000u);
    EXPECT_EQ(s.misses, 1000u);
    EXPECT_EQ(s.hits, 1000u);
    EXPECT_EQ(s.cached_bytes, 0u);
    for (auto& h : handles) storage->Free(h);
  }
}

TEST(Pool, CacheIsReleasedBeforeTheReserveIsEaten) {
  auto device = std::make_shared<FakeDevice>(100 * 4096);
  auto storage = CreateStorage(Options(PoolType::kNaive, 10), device);
  storage->Free(storage->Alloc(50 * 4096, kCpu));
  StorageHandle a = storage->Alloc(40 * 4096, kCpu);  // leaves exactly the reserve
  EXPECT_EQ(storage->Stats(kCpu).releases, 0u);
  StorageHandle b = storage->Alloc(4096, kCpu);  // would not: the cached 50 pages go back first
  StorageStats s = storage->Stats(kCpu);
  EXPECT_EQ(s.releases, 1u);
  EXPECT_EQ(s.cached_bytes, 0u);
  EXPECT_EQ(s.used_bytes, 41u * 4096);
  EXPECT_EQ(s.peak_bytes, 90u * 4096);
  // With nothing left to release the reserve is not held against the request.
  StorageHandle c = storage->Alloc(55 * 4096, kCpu);
  EXPECT_EQ(device->mallocs, 4);
  for (const StorageHandle& h : {a, b, c}) storage->Free(h);
}

TEST(Pool, OutOfMemoryNamesTheNumbers) {
  auto storage = CreateStorage(Options(PoolType::kNaive), std::make_shared<FakeDevice>(100 * 4096));
  StorageHandle a = storage->Alloc(60 * 4096, kCpu);
  try {
    storage->Alloc(50 * 4096 - 1, kCpu);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::kOutOfMemory);
    const std::string text = e.what();
    for (const char* part : {"[storage]", "cpu(0)", "204799 bytes requested", "204800 after rounding", "245760 used", "0 cached",
                             "163840 free", "409600 in total"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
  EXPECT_EQ(storage->Stats(kCpu).used_bytes, 60u * 4096);
  EXPECT_THROW(storage->Alloc(SIZE_MAX, kCpu), Error);
  storage->Free(a);
  storage->Free(storage->Alloc(100 * 4096, kCpu));  // the failure left nothing behind
}

TEST(Pool, ReleasesAndRetriesOnceWhenTheBackendFails) {
  auto device = std::make_shared<FakeDevice>(1 << 24);
  device->fail_calls = {2, 4, 5};
  auto storage = CreateStorage(Options(PoolType::kNaive), device);
  storage->Free(storage->Alloc(100, kCpu));
  StorageHandle a = storage->Alloc(5000, kCpu);  // call 2 fails, the cached page goes back, call 3 serves
  EXPECT_EQ(device->mallocs, 3);
  EXPECT_EQ(device->frees, 1);
  EXPECT_EQ(storage->Stats(kCpu).releases, 1u);
  storage->Free(a);
  try {
    storage->Alloc(1, kCpu);  // calls 4 and 5 fail: no third try
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::kOutOfMemory);
  }
  EXPECT_EQ(device->mallocs, 5);
  const StorageStats s = storage->Stats(kCpu);
  EXPECT_EQ(s.used_bytes + s.cached_bytes, 0u);
  storage->Free(storage->Alloc(1, kCpu));
}

/* Threads allocate, pass blocks to one another, check that nobody else wrote to a block they held,
 * and free. */
void RandomWorkload(PoolType type, size_t total, size_t largest) {
  auto device = std::make_shared<FakeDevice>(total);
  auto storage = CreateStorage(Options(type, 5), device);
  constexpr int kThreads = 6, kSteps = 3000;
  struct Item {
    StorageHandle handle;
    unsigned char mark;
  };
  std::mutex mutex;
  std::vector<Item> passed;
  std::atomic<uint64_t> served{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < kSteps; ++step) {
        const unsigned dice = random() % 100;
        if (dice < 53) {
          const size_t bytes = 1 + random() % (dice < 48 ? 20000 : largest);
          Item item;
          try {
            item.handle = storage->Alloc(bytes, kCpu);
          } catch (const Error& e) {
            ASSERT_EQ(e.kind(), Error::Kind::kOutOfMemory);
            ++refused;
            continue;
          }
          ++served;
          item.mark = static_cast<unsigned char>(random());
          memset(item.handle.dptr, item.mark, bytes);
          std::lock_guard<std::mutex> guard(mutex);
          passed.push_back(item);
        } else if (dice < 99) {
          Item item;
          {
            std::lock_guard<std::mutex> guard(mutex);
            if (passed.empty()) continue;
            const size_t at = random() % passed.size();
            item = passed[at];
            passed[at] = passed.back();
            passed.pop_back();
          }
          const auto* data = static_cast<unsigned char*>(item.handle.dptr);
          ASSERT_EQ(data[0], item.mark);
          ASSERT_EQ(data[item.handle.size - 1], item.mark);
          if (dice == 98) {
            storage->DirectFree(item.handle);
          } else {
            storage->Free(item.handle);
          }
        } else {
          const StorageStats s = storage->Stats(kCpu);
          ASSERT_LE(s.used_bytes, s.peak_used_bytes);
          ASSERT_LE(s.used_bytes + s.cached_bytes, s.peak_bytes);
          ASSERT_LT(s.cached_bytes, size_t{1} << 40);
          if (step % 7 == 0) storage->ReleaseAll(kCpu);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  uint64_t live = 0;
  for (const Item& item : passed) live += item.handle.rounded;
  EXPECT_EQ(storage->Stats(kCpu).used_bytes, live);
  for (const Item& item : passed) storage->Free(item.handle);
  const StorageStats s = storage->Stats(kCpu);
  EXPECT_EQ(s.used_bytes, 0u);
  EXPECT_EQ(s.hits + s.misses, served + refused);
  storage->ReleaseAll(kCpu);
  size_t free_bytes = 0, total_bytes = 0;
  device->MemInfo(&free_bytes, &total_bytes);
  EXPECT_EQ(free_bytes, total_bytes);
}

TEST(PoolThreads, RandomWorkloadNaive) { RandomWorkload(PoolType::kNaive, size_t{1} << 30, 300000); }
TEST(PoolThreads, RandomWorkloadRound) { RandomWorkload(PoolType::kRound, size_t{1} << 30, 300000); }
TEST(PoolThreads, RandomWorkloadUnpooled) { RandomWorkload(PoolType::kUnpooled, size_t{1} << 30, 300000); }
TEST(PoolThreads, RandomWorkloadShortOfMemory) { RandomWorkload(PoolType::kNaive, size_t{2} << 20, 100000); }

TEST(PoolFork, DeviceThatDoesNotSurviveIsClosedInTheChild) {
  auto device = std::make_shared<FakeDevice>(1 << 20);
  device->survives_fork = false;
  auto storage = CreateStorage(Options(PoolType::kNaive), device);
  const Context gpu = Context::GPU();
  StorageHandle kept = storage->Alloc(100, gpu), large = storage->Alloc(100000, gpu);
  storage->Free(storage->Alloc(9000, gpu));
  const pid_t child = fork();
  if (child == 0) {
    storage->Free(kept);  // nothing happens, here or to the parent
    storage->DirectFree(large);
    for (size_t bytes : {100, 9000, 100000}) {
      try {
        storage->Alloc(bytes, gpu);
        _exit(1);
      } catch (const Error& e) {
        if (std::string(e.what()).find("forked") == std::string::npos) _exit(2);
      }
    }
    _exit(device->frees == 0 ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(storage->Stats(gpu).cached_bytes, 12288u);
  storage->Free(kept);
  storage->Free(large);
}

}  // namespace
}  // namespace mxnet
