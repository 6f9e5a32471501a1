/* What a pool gives back unasked: the cache of blocks, the bound, ageing, and pools that keep to
 * them under walks, steady loops and threads. */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "common/fake_device.h"
#include "storage/block_cache.h"
#include "storage/cache_bound.h"
#include "storage/cpu_backend.h"
#include "storage/pool.h"

namespace mxnet {
namespace storage {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr uint32_t kPatience = CacheBound::kLeastPatience;

/* A device that hands out addresses and no memory, so that tests can walk through gigabytes; it
 * counts and checks what comes back. */
class Addresses : public GrowingBackend {
 public:
  ~Addresses() override { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks never came back"; }
  void* Malloc(size_t bytes, size_t) override {
    std::lock_guard<std::mutex> guard(mutex_);
    void* ptr = reinterpret_cast<void*>(next_);
    next_ += bytes + 4096;
    blocks_[ptr] = bytes;
    held += bytes;
    fresh += bytes;
    peak = std::max(peak, held);
    ++mallocs;
    return ptr;
  }
  void Free(void* ptr, size_t bytes) override {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto it = blocks_.find(ptr);
    ASSERT_TRUE(it != blocks_.end());
    EXPECT_EQ(it->second, bytes);
    blocks_.erase(it);
    held -= bytes;
    ++frees;
  }
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override {
    std::lock_guard<std::mutex> guard(mutex_);
    *free_bytes = total - held;
    *total_bytes = total;
  }
  size_t GrowsFrom() const override { return grows_from; }
  void* Grow(void* ptr, size_t from, size_t to) override {
    EXPECT_LT(from, to);
    if (refuses) Free(ptr, from);
    if (refuses) return nullptr;
    std::lock_guard<std::mutex> guard(mutex_);
    EXPECT_EQ(blocks_[ptr], from);
    blocks_[ptr] = to;
    held += to - from;
    fresh += to - from;
    peak = std::max(peak, held);
    ++grown;
    return ptr;
  }
  size_t held = 0, peak = 0, fresh = 0, total = size_t{1} << 40, grows_from = SIZE_MAX;
  int mallocs = 0, frees = 0, grown = 0;
  bool refuses = false;

 private:
  std::mutex mutex_;
  uintptr_t next_ = uintptr_t{1} << 32;
  std::map<void*, size_t> blocks_;
};

PoolOptions Options(PoolType type = PoolType::kNaive) {
  PoolOptions options;
  options.type = type;
  options.reserve_percent = 0;
  return options;
}

struct Fixture {
  explicit Fixture(Context ctx = Context::CPU(), PoolType type = PoolType::kNaive)
      : device(std::make_shared<Addresses>()), pool(Options(type), device, ctx, false) {}
  StorageHandle Take(size_t bytes) {
    StorageHandle h;
    h.size = bytes;
    h.dptr = pool.Alloc(bytes, &h.rounded);
    return h;
  }
  void Give(const StorageHandle& h) { pool.Free(h.dptr, h.rounded); }
  void Give(std::vector<StorageHandle>* handles) {
    for (const StorageHandle& h : *handles) Give(h);
    handles->clear();
  }
  size_t Tick() {
    bool waiting;
    return pool.Age(&waiting);
  }
  std::shared_ptr<Addresses> device;
  Pool pool;
};

TEST(BlockCache, RandomCallsAgreeWithAModel) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    BlockCache cache;
    struct Known {
      void* ptr;
      size_t size;
      uint32_t tick;
    };
    std::vector<Known> model;  // oldest first
    uintptr_t next = 4096;
    uint32_t tick = 0;
    size_t bytes = 0;
    for (int step = 0; step < 4000; ++step) {
      const unsigned dice = random() % 100;
      const size_t size = 1 + random() % (seed % 2 ? 12 : 3000);
      if (dice < 45) {
        model.push_back({reinterpret_cast<void*>(next += 64), size, tick});
        cache.Put(model.back().ptr, size, tick);
        bytes += size;
      } else if (dice < 50) {
        const size_t least = size - size / 4;
        auto best = model.end();
        for (auto it = model.begin(); it != model.end(); ++it)  // the largest below, of these the newest
          if (it->size < size && it->size >= least && (best == model.end() || it->size >= best->size)) best = it;
        const BlockCache::Block block = cache.TakeBelow(size, least);
        ASSERT_EQ(static_cast<bool>(block), best != model.end());
        if (!block) continue;
        ASSERT_EQ(block.ptr, best->ptr);
        bytes -= best->size;
        model.erase(best);
      } else if (dice < 85) {
        const size_t most = dice < 60 ? size : size + size / 2;
        auto best = model.end();
        for (auto it = model.begin(); it != model.end(); ++it)  // the smallest that fits, of these the newest
          if (it->size >= size && it->size <= most && (best == model.end() || it->size <= best->size)) best = it;
        const BlockCache::Block block = cache.Take(size, most);
        ASSERT_EQ(static_cast<bool>(block), best != model.end());
        if (!block) continue;
        ASSERT_EQ(block.ptr, best->ptr);
        ASSERT_EQ(block.size, best->size);
        bytes -= best->size;
        model.erase(best);
      } else if (dice < 95) {
        const uint32_t before = random() % 2 ? UINT32_MAX : tick > 3 ? tick - 3 : 0;
        const BlockCache::Block block = cache.TakeOldest(before);
        const bool there = !model.empty() && model.front().tick < before;
        ASSERT_EQ(static_cast<bool>(block), there);
        if (!there) continue;
        ASSERT_EQ(block.ptr, model.front().ptr);
        bytes -= model.front().size;
        model.erase(model.begin());
      } else if (dice < 99) {
        ++tick;
      } else if (random() % 8 == 0) {
        std::vector<BlockCache::Block> all;
        cache.TakeAll(&all);
        ASSERT_EQ(all.size(), model.size());
        for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].ptr, model[i].ptr);
        model.clear();
        bytes = 0;
      }
      ASSERT_EQ(cache.count(), model.size());
      ASSERT_EQ(cache.bytes(), bytes);
    }
  }
}

TEST(BlockCache, SizesThatAreGoneAreForgotten) {
  BlockCache cache;
  for (uintptr_t size = 1; size <= 100000; ++size) {
    cache.Put(reinterpret_cast<void*>(size), size, 0);
    ASSERT_EQ(cache.Take(size, size).size, size);
  }
  EXPECT_LT(cache.sizes(), 100u);
}

TEST(CacheBound, FollowsWhatIsUsedLately) {
  CacheBound bound;
  EXPECT_EQ(bound.limit(), CacheBound::kLeast);
  bound.Served(1000 * kMiB, 1000 * kMiB);
  EXPECT_EQ(bound.limit(), 1000 * kMiB);
  for (int i = 0; i < 100; ++i) bound.Served(100 * kMiB, 200 * kMiB);  // the program uses less from here on
  EXPECT_EQ(bound.limit(), 200 * kMiB);
}

TEST(CacheBound, SizesThatComeBackRaiseItAndNewOnesLowerIt) {
  CacheBound bound;
  bound.Served(1000 * kMiB, 1000 * kMiB);
  bound.Missed(10 * kMiB, 0);
  EXPECT_EQ(bound.limit(), 1000 * kMiB);
  bound.GaveBack(300 * kMiB, false, 0);
  bound.Missed(300 * kMiB, 0);
  EXPECT_EQ(bound.limit(), 1075 * kMiB);
  bound.Missed(300 * kMiB, 0);  // given back once only
  EXPECT_EQ(bound.limit(), 1000 * kMiB);
  for (int i = 0; i < 50; ++i) {
    bound.GaveBack(300 * kMiB, false, 0);
    bound.Missed(300 * kMiB, 0);
  }
  EXPECT_EQ(bound.limit(), 2000 * kMiB);  // never more than twice the use
}

TEST(CacheBound, PatienceGrowsForWhoComesBackAndShrinksAgain) {
  CacheBound bound;
  EXPECT_EQ(bound.patience(), kPatience);
  uint32_t tick = 10;
  for (int i = 0; i < 20; ++i, tick += 5) {
    for (int block = 0; block < 3; ++block) bound.GaveBack(kMiB, true, tick);
    for (int block = 0; block < 3; ++block) bound.Missed(kMiB, tick + 1);  // of one step: they count once
    if (i == 0) {
      EXPECT_EQ(bound.patience(), 2 * kPatience);
    }
  }
  EXPECT_EQ(bound.patience(), CacheBound::kMostPatience);
  for (int i = 0; i < 10000; ++i) bound.Tick(++tick);
  EXPECT_EQ(bound.patience(), kPatience);
}

/* Each step uses blocks of new sizes, up to some hundred MiB at once, and frees all. */
TEST(PoolBound, AWalkThroughSizesHoldsNoMoreThanItUses) {
  for (PoolType type : {PoolType::kNaive, PoolType::kRound}) {
    Fixture f(Context::CPU(), type);
    std::mt19937 random(1);
    uint64_t walked = 0;
    for (int shape = 0; shape < 300; ++shape) {
      std::vector<size_t> sizes(1 + random() % 12);
      for (size_t& s : sizes) s = 100000 + random() % (40 * kMiB);
      for (int step = 0; step < 3; ++step) {
        std::vector<StorageHandle> live;
        for (size_t s : sizes) {
          live.push_back(f.Take(s));
          walked += s;
        }
        f.Give(&live);
        EXPECT_LE(f.pool.Stats().cached_bytes, f.pool.BoundStats().limit);
      }
    }
    const StorageStats stats = f.pool.Stats();
    EXPECT_GT(walked, 20 * stats.peak_used_bytes);
    EXPECT_LE(stats.peak_bytes, stats.peak_used_bytes * (type == PoolType::kNaive ? 1.05 : 1.25));  // Round: few sizes, which do come back
    EXPECT_EQ(f.device->peak, stats.peak_bytes);
    EXPECT_GT(f.pool.BoundStats().blocks, 200u);
    for (uint32_t i = 0; i <= kPatience; ++i) f.Tick();
    EXPECT_EQ(f.pool.Stats().cached_bytes, 0u);
  }
}

TEST(PoolBound, ASteadyLoopFindsEveryBlockAgain) {
  Fixture f;
  std::mt19937 random(2);
  std::vector<size_t> forward(40), backward(40);
  for (size_t& s : forward) s = 70000 + random() % (8 * kMiB);
  for (size_t& s : backward) s = 70000 + random() % (8 * kMiB);
  const auto step = [&] {  // sizes of one half of the step are of no use for the other
    std::vector<StorageHandle> live;
    for (size_t s : forward) live.push_back(f.Take(s));
    f.Give(&live);
    for (size_t s : backward) live.push_back(f.Take(s));
    f.Give(&live);
  };
  for (int i = 0; i < 20; ++i) step();
  const uint64_t misses = f.pool.Stats().misses, blocks = f.pool.BoundStats().blocks;
  for (int i = 0; i < 1000; ++i) step();
  EXPECT_EQ(f.pool.Stats().misses, misses);
  EXPECT_EQ(f.pool.BoundStats().blocks, blocks);
  EXPECT_LT(misses, 400u);
}

TEST(PoolBound, AfterALargeStepASmallProgramHoldsLittle) {
  Fixture f;
  std::vector<StorageHandle> live;
  for (int i = 0; i < 100; ++i) live.push_back(f.Take(10 * kMiB));
  f.Give(&live);
  EXPECT_EQ(f.pool.Stats().cached_bytes, 1000 * kMiB);  // a next step would find it
  for (int i = 0; i < 10000; ++i) f.Give(f.Take(5 * kMiB));
  EXPECT_LE(f.pool.Stats().cached_bytes, CacheBound::kLeast);
  EXPECT_EQ(f.pool.Stats().peak_bytes, 1000 * kMiB);
}

TEST(PoolBound, ManySmallBlocksGoBackToo) {
  Fixture f;
  std::vector<StorageHandle> live;
  for (int i = 0; i < 200000; ++i) live.push_back(f.Take(4096));
  f.Give(&live);
  EXPECT_GT(f.pool.Stats().cached_bytes, 700 * kMiB);
  for (uint32_t i = 0; i <= kPatience; ++i) f.Tick();
  EXPECT_LT(f.pool.Stats().cached_bytes, kMiB);  // what the shards hold
}

TEST(PoolBound, AgeCountsFromTheLastUse) {
  Fixture f;
  const StorageHandle a = f.Take(3 * kMiB), b = f.Take(10 * kMiB);
  f.Give(a);
  f.Give(b);
  for (int i = 0; i < 50; ++i) {
    f.Tick();
    f.Give(f.Take(10 * kMiB));
  }
  EXPECT_EQ(f.pool.Stats().cached_bytes, b.rounded);
  EXPECT_EQ(f.pool.Stats().misses, 2u);
  bool waiting = false;
  for (uint32_t i = 0; i <= kPatience; ++i) f.pool.Age(&waiting);
  EXPECT_FALSE(waiting);
  EXPECT_EQ(f.pool.Stats().cached_bytes, 0u);
  EXPECT_EQ(f.pool.BoundStats().bytes, a.rounded + b.rounded);
  // Who comes back after that is waited for longer.
  f.Give(f.Take(10 * kMiB));
  for (uint32_t i = 0; i <= kPatience; ++i) f.Tick();
  EXPECT_EQ(f.pool.Stats().cached_bytes, b.rounded);
  for (uint32_t i = 0; i <= kPatience; ++i) f.Tick();
  EXPECT_EQ(f.pool.Stats().cached_bytes, 0u);
}

TEST(PoolBound, AnEighthMoreServesAsWell) {
  Fixture f;
  const StorageHandle a = f.Take(32 * kMiB);
  f.Give(a);
  const StorageHandle b = f.Take(29 * kMiB);
  EXPECT_EQ(b.dptr, a.dptr);
  EXPECT_EQ(b.rounded, a.rounded);  // what it takes from the pool
  f.Give(b);
  const StorageHandle c = f.Take(27 * kMiB);
  EXPECT_NE(c.dptr, a.dptr);
  f.Give(c);
}

TEST(PoolRoom, MiddleBlocksServeWhatGrowsALittle) {
  Fixture f;
  f.pool.GiveRoom();
  const StorageHandle a = f.Take(790528);
  EXPECT_EQ(a.rounded, 917504u);
  f.Give(a);
  for (const size_t bytes : {798720, 851968, 741000}) {
    const StorageHandle b = f.Take(bytes);
    EXPECT_EQ(b.dptr, a.dptr) << bytes;
    EXPECT_EQ(b.rounded, a.rounded) << bytes;
    f.Give(b);
  }
  EXPECT_EQ(f.pool.Stats().misses, 1u);
  const size_t sizes[][2] = {{61441, 65536},     {65536, 65536},     {65537, 81920},     {77825, 81920},
                             {86016, 98304},     {131072, 131072},   {1572864, 1572864}, {1703936, 1835008},
                             {1835008, 1835008}, {2097152, 2097152}, {2097153, 4194304}};
  for (const auto& size : sizes) {
    const StorageHandle b = f.Take(size[0]);
    EXPECT_EQ(b.rounded, size[1]) << size[0];
    f.pool.DirectFree(b.dptr, b.rounded);
  }
}

/* What the variables say comes first. */
TEST(PoolRoom, OtherTypesAndPagesRoundAsTheyDo) {
  PoolOptions odd = Options(), coarse = Options();
  odd.page_size = 1000;
  coarse.large_alloc_round_size = 65536;
  for (const PoolOptions& options : {Options(PoolType::kRound), Options(PoolType::kUnpooled), odd, coarse}) {
    Pool pool(options, std::make_shared<Addresses>(), Context::CPU(), false);
    pool.GiveRoom();
    for (const size_t bytes : {70000, 300001, 811000}) {
      size_t rounded = 0;
      void* const ptr = pool.Alloc(bytes, &rounded);
      EXPECT_EQ(rounded, options.Round(bytes)) << bytes;
      pool.DirectFree(ptr, rounded);
    }
  }
}

TEST(PoolBound, DevicesGiveBackOnlyForNewMemoryAndBeyondAQuarter) {
  Fixture f(Context::GPU());
  f.device->total = 4000 * kMiB;
  std::vector<StorageHandle> live;
  for (int i = 0; i < 45; ++i) live.push_back(f.Take(20 * kMiB));
  f.Give(&live);
  for (int i = 0; i < 10000; ++i) f.Give(f.Take(20 * kMiB));  // the bound falls, the device is left alone
  EXPECT_EQ(f.device->frees, 0);
  EXPECT_EQ(f.pool.BoundStats().limit, 1000 * kMiB);
  f.Give(f.Take(90 * kMiB));
  EXPECT_EQ(f.device->frees, 0);  // 990 MiB are less than a quarter
  f.Give(f.Take(30 * kMiB));
  EXPECT_GT(f.device->frees, 40);  // now down to what is used lately
  EXPECT_LE(f.device->held, 256 * kMiB);
}

/* A cache of a decoder: what comes back is a little too small for the next call. */
TEST(PoolGrowth, BlocksThatAreALittleTooSmallGrow) {
  Fixture f;
  f.device->grows_from = 256 << 10;
  std::vector<StorageHandle> live;
  for (int i = 0; i < 12; ++i) live.push_back(f.Take(786432));
  f.Give(&live);
  for (int i = 0; i < 12; ++i) live.push_back(f.Take(917504));
  EXPECT_EQ(f.device->mallocs, 12);
  EXPECT_EQ(f.device->grown, 12);
  const StorageStats s = f.pool.Stats();
  EXPECT_EQ(s.used_bytes, 12 * 917504u);
  EXPECT_EQ(s.cached_bytes, 0u);
  EXPECT_EQ(s.misses, 24u);
  EXPECT_EQ(f.device->held, 12 * 917504u);
  f.Give(&live);
}

TEST(PoolGrowth, NotWhatIsMuchTooSmallNorSmallBlocks) {
  Fixture f;
  f.device->grows_from = 256 << 10;
  f.Give(f.Take(512 << 10));
  f.Give(f.Take(240 << 10));
  f.Give(f.Take(700 << 10));
  f.Give(f.Take(260 << 10));
  EXPECT_EQ(f.device->grown, 0);
  f.Give(f.Take(720 << 10));
  EXPECT_EQ(f.device->grown, 1);
}

TEST(PoolGrowth, WhatCannotGrowGoesBackAndTheBooksAgree) {
  Fixture f;
  f.device->grows_from = 256 << 10;
  f.device->refuses = true;
  f.Give(f.Take(768 << 10));
  const StorageHandle a = f.Take(896 << 10);
  EXPECT_EQ(f.device->frees, 1);
  EXPECT_EQ(f.device->held, 896u << 10);
  EXPECT_EQ(f.pool.Stats().used_bytes + f.pool.Stats().cached_bytes, 896u << 10);
  f.Give(a);
  f.device->refuses = false;
  f.device->total = 1000 << 10;  // what it would grow by is not there
  f.Give(f.Take(1024 << 10));
  EXPECT_EQ(f.device->grown, 0);
  EXPECT_EQ(f.device->frees, 2);
  EXPECT_EQ(f.device->held, 1024u << 10);
  EXPECT_EQ(f.pool.Stats().cached_bytes, 1024u << 10);
}

/* A loop of any sizes comes to find all of them. Until then, and where the bound lets it keep only
 * some of them, it touches less new memory than with a pool that makes no block larger. */
TEST(PoolGrowth, LoopsBecomeSteadyAndTouchLess) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const size_t most = (seed % 3 == 0 ? 1 : seed % 3 == 1 ? 4 : 20) * kMiB;  // large blocks stay as they are
    Fixture grows, plain;
    grows.device->grows_from = 256 << 10;
    grows.pool.GiveRoom();
    plain.pool.GiveRoom();
    std::mt19937 random(seed);
    std::vector<size_t> sizes;
    for (int i = 0; i < 40; ++i) sizes.push_back((200 << 10) + random() % most);
    const auto turn = [&](Fixture* f) {
      std::vector<StorageHandle> live;
      for (size_t i = 0; i < sizes.size(); ++i) {
        live.push_back(f->Take(sizes[i]));
        if (i % 3 == 0) f->Give(&live);
      }
      f->Give(&live);
    };
    const bool all_kept = most < 20 * kMiB;
    for (int i = 0; i < 40; ++i) {
      turn(&grows);
      turn(&plain);
      ASSERT_LE(grows.device->fresh, plain.device->fresh) << seed;
      if (all_kept) ASSERT_LE(grows.device->held, plain.device->held) << seed;
    }
    const uint64_t misses = grows.pool.Stats().misses;
    turn(&grows);
    if (all_kept) EXPECT_EQ(grows.pool.Stats().misses, misses) << seed;
  }
}

/* Threads take, mark and give blocks of up to `least` << 11 bytes while time passes; nobody's block
 * changes, and the books agree in the end. */
void RandomWorkloadWhileBlocksAge(const std::shared_ptr<StorageBackend>& backend, size_t least, int steps) {
  Pool pool(Options(), backend, Context::CPU(), true);
  pool.GiveRoom();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> served{0};
  std::thread clock([&] {
    while (!stop) {
      bool waiting;
      pool.Age(&waiting);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::pair<StorageHandle, unsigned char>> live;
      size_t scale = least;
      for (int step = 0; step < steps; ++step) {
        if (step % 100 == 0) scale = least << random() % 12;  // other shapes
        if (live.size() < 24 && random() % 2 == 0) {
          StorageHandle h;
          h.size = 1 + random() % scale;
          h.dptr = pool.Alloc(h.size, &h.rounded);
          ASSERT_GE(h.rounded, h.size);
          const auto mark = static_cast<unsigned char>(random());
          static_cast<unsigned char*>(h.dptr)[0] = static_cast<unsigned char*>(h.dptr)[h.size - 1] = mark;
          live.emplace_back(h, mark);
          ++served;
        } else if (!live.empty()) {
          std::swap(live[random() % live.size()], live.back());
          const StorageHandle h = live.back().first;
          ASSERT_EQ(static_cast<unsigned char*>(h.dptr)[h.size - 1], live.back().second);
          ASSERT_EQ(static_cast<unsigned char*>(h.dptr)[0], live.back().second);
          pool.Free(h.dptr, h.rounded);
          live.pop_back();
        }
      }
      for (const auto& item : live) pool.Free(item.first.dptr, item.first.rounded);
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  clock.join();
  const StorageStats s = pool.Stats();
  EXPECT_EQ(s.used_bytes, 0u);
  EXPECT_EQ(s.hits + s.misses, served);
  pool.ReleaseAll();
  EXPECT_EQ(pool.Stats().cached_bytes, 0u);
}

TEST(PoolBoundThreads, RandomWorkload) {
  auto device = std::make_shared<FakeDevice>(size_t{2} << 30);
  device->grows_from = 256 << 10;
  RandomWorkloadWhileBlocksAge(device, 1000, 4000);
  size_t free_bytes = 0, total_bytes = 0;
  device->MemInfo(&free_bytes, &total_bytes);
  EXPECT_EQ(free_bytes, total_bytes);
}

/* Most blocks are mapped by themselves, and grow. */
TEST(PoolBoundThreads, RandomWorkloadOfTheHostsMemory) { RandomWorkloadWhileBlocksAge(std::make_shared<CpuBackend>(), 8000, 2000); }

/* A pool of the process's kind: the purge thread comes by itself, also in a forked child, and a
 * pool may go while it is there. */
TEST(PoolBound, AJanitorComes) {
  for (int round = 0; round < 2; ++round) {
    auto device = std::make_shared<Addresses>();
    Pool pool(Options(), device, Context::CPU(), false);
    pool.KeepByAge();
    size_t rounded;
    void* ptr = pool.Alloc(5 * kMiB, &rounded);
    pool.Free(ptr, rounded);
    if (round == 1) break;  // destroyed with its block in the cache
    for (int i = 0; i < 600 && pool.Stats().cached_bytes > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(pool.Stats().cached_bytes, 0u);
    EXPECT_EQ(pool.BoundStats().blocks, 1u);
  }
}

}  // namespace
}  // namespace storage
}  // namespace mxnet
