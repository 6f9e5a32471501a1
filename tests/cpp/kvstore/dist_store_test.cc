/* Stores of jobs with servers, whose ranks are threads of this process. */
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "dist_cluster.h"
#include "engine/waiting_work.h"

namespace mxnet {
namespace kvstore {
namespace {

TEST(Sharding, PartsCoverAValueAndAreTheSameEverywhere) {
  for (const int servers : {1, 2, 3, 7})
    for (const int64_t size : {0, 1, 63, 64, 65, 999, 1000, 1001, 4096, 100000})
      for (const int64_t slice : {0, 64, 100, 1000}) {
        ShardingOptions options;
        options.servers = servers;
        options.split_from = 1000;
        options.slice = slice;
        const std::vector<Part> parts = Shard(KeyHash(KVKey("weight")), size, options);
        int64_t at = 0;
        for (const Part& part : parts) {
          EXPECT_EQ(part.begin, at);
          EXPECT_EQ(part.begin % 64, 0);
          EXPECT_TRUE(part.server >= 0 && part.server < servers);
          at += part.count;
        }
        EXPECT_EQ(at, size);
        if (slice == 0) {
          EXPECT_EQ(parts.size() > 1, size >= 1000 && servers > 1);
        }
      }
}

TEST(Sharding, SmallValuesAreSpreadOverServers) {
  std::vector<int> count(4);
  ShardingOptions options;
  options.servers = 4;
  for (int key = 0; key < 400; ++key) ++count[static_cast<size_t>(Shard(KeyHash(KVKey(key)), 10, options)[0].server)];
  for (const int c : count) EXPECT_GT(c, 60);
}

TEST(Protocol, HeadsAreReadAsWritten) {
  Head head;
  head.kind = Kind::kPush;
  head.dtype = 12;
  head.flags = kSync | kLeaving;
  head.store = 70000;
  head.request = -5;
  head.compression = 2;
  head.threshold = -0.25f;
  int64_t words[8];
  head.Write(words);
  const Head read = Head::Read(words);
  EXPECT_EQ(read.kind, head.kind);
  EXPECT_EQ(read.dtype, head.dtype);
  EXPECT_EQ(read.flags, head.flags);
  EXPECT_EQ(read.store, head.store);
  EXPECT_EQ(read.request, head.request);
  EXPECT_EQ(read.compression, head.compression);
  EXPECT_EQ(read.threshold, head.threshold);
}

struct Size {
  int workers, servers;
  const char* type;
};

class Jobs : public ::testing::TestWithParam<Size> {};

/* Random sizes around the bounds; sums are those of adding in the order of the workers. */
TEST_P(Jobs, SumsAreThoseOfAddingInTheOrderOfTheWorkers) {
  Bounds bounds("1000", "100");
  const Size size = GetParam();
  Cluster cluster(size.workers, size.servers, size.type);
  const std::vector<size_t> sizes = {1, 0, 999, 1000, 1001, 77, 5000};
  constexpr int kRounds = 4;
  cluster.Run([&](int worker, KVStore* kv) {
    EXPECT_EQ(kv->transport()->rank(), worker);
    EXPECT_EQ(kv->transport()->size(), size.workers);
    const auto key = [](size_t k) { return KVKey("k" + std::to_string(k)); };
    for (size_t k = 0; k < sizes.size(); ++k) {
      NDArray first = Full(static_cast<int64_t>(sizes[k]), static_cast<float>(worker + 5)), got = Full(static_cast<int64_t>(sizes[k]), 0);
      kv->Init({key(k)}, {&first});
      kv->Pull({key(k)}, {&got});
      EXPECT_EQ(Read(got), Values(sizes[k], 5));
    }
    std::vector<NDArray> arrays, results(sizes.size() * kRounds);
    for (int round = 0; round < kRounds; ++round)
      for (size_t k = 0; k < sizes.size(); ++k) {
        const auto seed = [&](int w) { return static_cast<unsigned>(round * 1000 + static_cast<int>(k) * 10 + w); };
        arrays.push_back(Filled(Random(sizes[k], seed(worker))));
        NDArray& result = results[static_cast<size_t>(round) * sizes.size() + k];
        if (round % 2) {
          result = arrays.back();
          kv->PushPull({key(k)}, {&arrays.back()}, {key(k)}, {&result}, -static_cast<int>(k));
        } else {
          result = Full(static_cast<int64_t>(sizes[k]), 0);
          kv->Push({key(k)}, {&arrays.back()}, -static_cast<int>(k));
          kv->Pull({key(k)}, {&result}, -static_cast<int>(k));
        }
      }
    for (int round = 0; round < kRounds; ++round)
      for (size_t k = 0; k < sizes.size(); ++k) {
        Values sum;
        for (int w = 0; w < size.workers; ++w) {
          const Values pushed = Random(sizes[k], static_cast<unsigned>(round * 1000 + static_cast<int>(k) * 10 + w));
          if (w == 0) sum = pushed;
          for (size_t i = 0; w > 0 && i < sum.size(); ++i) sum[i] += pushed[i];
        }
        EXPECT_EQ(Read(results[static_cast<size_t>(round) * sizes.size() + k]), sum) << "round " << round << " key " << k;
      }
  });
}

INSTANTIATE_TEST_SUITE_P(All, Jobs,
                         ::testing::Values(Size{1, 1, "dist_sync"}, Size{2, 1, "dist"}, Size{2, 3, "dist_sync_device"},
                                           Size{3, 2, "dist_p3"}, Size{4, 3, "dist_sync"}, Size{4, 1, "dist_sync_p3"}));

TEST(DistStore, ServersRunTheUpdater) {
  Bounds bounds("1000", "");
  Cluster cluster(2, 2, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray first = Full(1500, 1), pushed = Full(1500, static_cast<float>(worker + 1)), got = Full(1500, 0), more = Full(1500, 0);
    kv->Init({3}, {&first});
    kv->transport()->SendCommand(1, "0.5");
    for (int i = 0; i < 3; ++i) kv->Push({3}, {&pushed});
    kv->Pull({3, 3}, {&got, &more});
    EXPECT_EQ(Read(got), Values(1500, 1 - 3 * 0.5f * 3));
    EXPECT_EQ(Read(more), Read(got));
  });
}

/* An updater that takes norms gets values as a whole. */
TEST(DistStore, ValuesAreNotSplitWhereTheUpdaterNeedsThemWhole) {
  Bounds bounds("100", "64");
  for (const char* type : {"dist_sync", "dist_p3"}) {
    Cluster cluster(2, 2, type);
    cluster.Run([&](int worker, KVStore* kv) {
      if (worker == 0) kv->transport()->SendCommand(3, "");
      kv->transport()->Barrier();
      kv->transport()->SetSplitsValues(false);
      NDArray value = Full(300, 2), got = Full(300, 0);
      kv->Init({"whole"}, {&value});
      kv->transport()->SetSplitsValues(true);
      kv->Init({"split"}, {&value});
      kv->PushPull({"whole"}, {&value}, {"whole"}, {&got});
      EXPECT_EQ(Read(got), Values(300, 300));  // how many elements the updater got
      kv->PushPull({"split"}, {&value}, {"split"}, {&got});
      EXPECT_LT(Read(got)[0], 300);
    });
  }
}

/* A push may bring the value of a pull that comes later. */
TEST(DistStore, PushesAndPullsOfShortValuesInAnyOrder) {
  for (const char* type : {"dist_sync", "dist_p3"}) {
    Cluster cluster(2, 2, type);
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray first = Full(100, 0), got = Full(100, 0), other = Full(100, 0), value = Full(100, 0);
      kv->Init({0, 1}, {&first, &first});
      std::mt19937 random(5);  // the same on both workers
      float sums[2] = {0, 0};
      for (int i = 0; i < 400; ++i) {
        const int key = static_cast<int>(random() % 2), steps = i % 50 < 30 ? 3 : static_cast<int>(random() % 8);
        const float number = static_cast<float>(random() % 1000);
        if (steps & 1) {
          value = Full(100, number + static_cast<float>(worker));
          kv->Push({key}, {&value});
          sums[key] = 2 * number + 1;
          if (random() % 3 == 0) value = Full(100, -1);  // the array is the program's again
        }
        if (steps & 2) kv->Pull({key}, {&got});
        if (steps & 4) kv->Pull({key}, {&other});
        if ((steps & 2) && i % 3 == 0) {
          EXPECT_EQ(Read(got), Values(100, sums[key])) << i;
        }
        if (steps & 4) {
          EXPECT_EQ(Read(other), Values(100, sums[key])) << i;
        }
      }
    });
  }
}

/* What is on its way stays as it was when it was pushed; the next push of the key keeps its
 * turn. */
TEST(DistStore, TheSourceOfAPushIsHeldTillItHasLeft) {
  constexpr int64_t kElements = 200000;
  InProcessOptions options;
  options.bandwidth = 16e6;
  for (const char* type : {"dist_sync", "dist_p3"}) {
    Cluster cluster(2, 1, type, options);
    cluster.Run([&](int, KVStore* kv) {
      NDArray value = Full(kElements, 0), got[4];
      kv->Init({"w"}, {&value});
      for (int i = 0; i < 4; ++i) {
        const Values numbers(kElements, static_cast<float>(i + 1));
        value.CopyBytesFrom(numbers.data(), numbers.size() * 4);  // behind the push before
        got[i] = Full(kElements, 0);
        kv->Push({"w"}, {&value}, i % 2);
        kv->Pull({"w"}, {&got[i]});
      }
      for (int i = 0; i < 4; ++i) EXPECT_EQ(Read(got[i]), Values(kElements, static_cast<float>(2 * i + 2)));
    });
  }
}

/* As in a process of a job, where threads that wait carry the messages; several of them at once. */
TEST(DistStore, ThreadsThatWaitDoTheWork) {
  for (const int servers : {1, 0}) {
    Cluster cluster(2, servers, "dist_sync");
    engine::SetWaitingWork(cluster.job(0).get());
    cluster.Run([&](int worker, KVStore* kv) {
      const std::vector<int64_t> sizes = {10, 5000, 30000, 600000};
      for (const int64_t size : sizes) {
        NDArray first = Full(size, 0);
        kv->Init({static_cast<int>(size)}, {&first});
      }
      std::vector<std::thread> threads;
      for (const int64_t size : sizes)
        threads.emplace_back([&, size] {
          const KVKey key(static_cast<int>(size));
          const Values sum(static_cast<size_t>(size), 3);
          NDArray value = Full(size, static_cast<float>(worker + 1)), got = Full(size, 0);
          for (int i = 0; i < 40; ++i) {
            if (i % 3 == 0) {
              kv->PushPull({key}, {&value}, {key}, {&got});
            } else {
              kv->Push({key}, {&value});
              kv->Pull({key}, {&got});
            }
            EXPECT_EQ(Read(got), sum);
          }
        });
      for (std::thread& thread : threads) thread.join();
      kv->transport()->Barrier();
    });
    engine::SetWaitingWork(nullptr);
  }
}

/* Replies are sent from what is stored, and the updater changes that in place. */
TEST(DistStore, AnUpdaterLeavesRepliesOnTheirWayAsTheyWere) {
  constexpr int64_t kElements = 200000;
  InProcessOptions options;
  options.bandwidth = 8e6;
  Cluster cluster(2, 1, "dist_sync", options);
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(kElements, static_cast<float>(worker + 1)), got = Full(kElements, 0), next = Full(kElements, 0);
    kv->Init({"w"}, {&value});
    kv->Push({"w"}, {&value});
    if (worker == 0) {
      kv->Pull({"w"}, {&got});
      EXPECT_EQ(Read(got), Values(kElements, 3));
      kv->transport()->SendCommand(1, "1");  // the other worker's reply is on its way
    } else {
      for (int i = 0; i < 4; ++i) kv->Pull({"w"}, {&got});
    }
    kv->Push({"w"}, {&value});
    EXPECT_EQ(Read(got), Values(kElements, 3));
    kv->Pull({"w"}, {&next});
    EXPECT_EQ(Read(next), Values(kElements, 0));
  });
}

TEST(DistStore, AsynchronousPushesAreAppliedAtOnce) {
  Cluster cluster(2, 1, "dist_async");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray first = Full(10, 0), pushed = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&first});
    kv->transport()->SendCommand(1, "1");
    kv->transport()->Barrier();
    if (worker == 0) {  // the other one pushes nothing
      for (int i = 0; i < 5; ++i) kv->Push({"w"}, {&pushed});
      kv->Pull({"w"}, {&got});
      EXPECT_EQ(Read(got), Values(10, -5));
    }
    kv->transport()->Barrier();
    kv->Pull({"w"}, {&got});
    EXPECT_EQ(Read(got), Values(10, -5));
  });
}

TEST(DistStore, AsynchronousStoresNeedAnUpdater) {
  Cluster cluster(1, 1, "dist_async");
  cluster.Run([&](int, KVStore* kv) {
    NDArray value = Full(10, 0);
    kv->Init({"w"}, {&value});
    kv->Push({"w"}, {&value});
    kv->Pull({"w"}, {&value});
    EXPECT_NE(ErrorOf([&] { Read(value); }).find("set_optimizer comes first"), std::string::npos);
  });
}

TEST(DistStore, CompressedGradientsKeepWhatIsLeftOut) {
  Bounds bounds("100", "64");
  for (const char* type : {"dist_sync", "dist_p3"}) {
    Cluster cluster(2, 2, type);
    cluster.Run([&](int, KVStore* kv) {
      kv->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.5"}});
      NDArray first = Full(1000, 0), pushed = Full(1000, 0.3f), got = Full(1000, 9);
      kv->Init({"w"}, {&first});
      for (const float expected : {0.f, 1.f, 0.f, 1.f}) {  // 0.3, 0.6, 0.1 + 0.3, 0.7
        kv->Push({"w"}, {&pushed});
        kv->Pull({"w"}, {&got});
        EXPECT_EQ(Read(got), Values(1000, expected));
      }
    });
  }
}

TEST(DistStore, TwoStoresOfAJobAreApart) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    std::unique_ptr<KVStore> other = CreateDistStore("dist_sync", cluster.job(worker));
    NDArray one = Full(3, 1), two = Full(4, 2), got = Full(4, 0);
    kv->Init({"w"}, {&one});
    other->Init({"w"}, {&two});
    other->PushPull({"w"}, {&two}, {"w"}, {&got});
    EXPECT_EQ(Read(got), Values(4, 4));
  });
}

TEST(DistStore, TypesAreRefusedByName) {
  EXPECT_NE(ErrorOf([] { DistType::Parse("dist_asink", false); }).find("'dist_asink'"), std::string::npos);
  EXPECT_TRUE(DistType::Parse("dist_sync", true).slices);
  EXPECT_FALSE(DistType::Parse("dist_async", true).slices);
  EXPECT_TRUE(DistType::Parse("dist_device_sync", false).on_device);
}

struct Arrival {
  int layer;
  double seconds;
};

constexpr double kBandwidth = 6e6;
constexpr int64_t kSize = 60000;

/*
 * Over slow links: pushes as a backward pass makes them, the last layer's first, and in which order
 * the layers' sums arrive at worker 0.
 */
std::vector<Arrival> Arrivals(const char* type) {
  constexpr int kLayers = 6;
  InProcessOptions options;
  options.bandwidth = kBandwidth;
  options.progress.part_bytes = 16 << 10;
  options.progress.window_bytes = 32 << 10;
  Cluster cluster(2, 1, type, options);
  std::vector<Arrival> order;
  cluster.Run([&](int worker, KVStore* kv) {
    std::vector<NDArray> grads, sums;
    for (int k = 0; k < kLayers; ++k) {
      grads.push_back(Full(kSize, static_cast<float>(k)));
      sums.push_back(Full(kSize, 0));
      kv->Init({k}, {&grads.back()});
    }
    kv->transport()->Barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int k = kLayers - 1; k >= 0; --k) kv->PushPull({k}, {&grads[static_cast<size_t>(k)]}, {k}, {&sums[static_cast<size_t>(k)]}, -k);
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int k = 0; k < kLayers && worker == 0; ++k)
      threads.emplace_back([&, k] {
        sums[static_cast<size_t>(k)].WaitToRead();
        std::lock_guard<std::mutex> hold(mutex);
        order.push_back({k, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(Read(sums[3]), Values(kSize, 6));
  });
  return order;
}

/* When the next forward pass ends, in which a layer takes as long as its way over the link. */
double StepSeconds(std::vector<Arrival> arrivals) {
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.layer < b.layer; });
  double end = 0;
  for (const Arrival& a : arrivals) end = std::max(end, a.seconds) + kSize * 4 / kBandwidth;
  return end;
}

TEST(DistStore, SlicesLetTheFirstLayersArriveFirst) {
  Bounds bounds("", "10000");
  const std::vector<Arrival> plain = Arrivals("dist_sync"), slices = Arrivals("dist_p3");
  const auto first_layer = [](const std::vector<Arrival>& all) {
    return std::find_if(all.begin(), all.end(), [](const Arrival& a) { return a.layer == 0; }) - all.begin();
  };
  EXPECT_LE(first_layer(slices), 2);  // pushed last; behind what was on its way before
  std::printf("a step: %.3f s with dist_sync, %.3f s with dist_p3\n", StepSeconds(plain), StepSeconds(slices));
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
