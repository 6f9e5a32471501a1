/* Stores of jobs with servers, whose ranks are threads of this process. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "kvstore/dist/in_process.h"
#include "kvstore/dist/store.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"

namespace mxnet {
namespace kvstore {
namespace {

using Values = std::vector<float>;
using WorkerFn = std::function<void(int worker, KVStore* kv)>;

NDArray Filled(const Values& values) {
  NDArray a({static_cast<int64_t>(values.size())}, Context::CPU(), kFloat32);
  if (!values.empty()) a.SyncCopyFromCPU(values.data(), values.size() * 4);
  return a;
}

NDArray Full(int64_t size, float value) { return Filled(Values(static_cast<size_t>(size), value)); }

Values Read(const NDArray& a) {
  Values values(static_cast<size_t>(a.shape().Size()));
  a.SyncCopyToCPU(values.data(), values.size() * 4);
  return values;
}

Values Random(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  Values values(size);
  for (float& v : values) v = number(random);
  return values;
}

template <typename F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/* stored -= rate * pushed */
KVStore::Updater Descent(float rate) {
  return [rate](const KVKey&, const NDArray& pushed, NDArray* stored) {
    const TBlob from = pushed.data(), to = stored->data();
    Engine::Get()->PushSync(
        [from, to, rate](RunContext) {
          for (int64_t i = 0; i < to.Size(); ++i) to.data<float>()[i] -= rate * from.data<float>()[i];
        },
        Context::CPU(), {pushed.var(), stored->var()}, {stored->var()});
  };
}

/* A job; its servers serve as long as it lives. Command 1 sets an updater, 5 one that fails; 9
 * fails. */
class Cluster {
 public:
  Cluster(int workers, int servers, const std::string& type, InProcessOptions options = InProcessOptions())
      : fabric_(workers, servers, options), type_(type), workers_(workers) {
    for (int rank = 0; rank < workers + servers; ++rank) jobs_.push_back(std::make_shared<Job>(fabric_.At(rank)));
    for (int i = 0; i < servers; ++i) {
      servers_.push_back(CreateDistStore(type, jobs_[static_cast<size_t>(workers + i)]));
      KVStore* server = servers_.back().get();
      threads_.emplace_back([server] {
        server->RunServer([server](int id, const std::string& body) {
          if (id == 1) server->SetUpdater(Descent(std::stof(body)));
          if (id == 5)
            server->SetUpdater([server](const KVKey&, const NDArray&, NDArray*) { server->ReportServerError("line 7 of updater"); });
          if (id == 9) MXNET_THROW(Value) << "no such optimizer: " << body;
        });
      });
    }
  }
  ~Cluster() {
    Leave();
    for (std::thread& t : threads_) t.join();
    servers_.clear();
    for (auto& job : jobs_) job->Interrupt("end");
    jobs_.clear();
  }
  /* All workers say goodbye. */
  void Leave() {
    for (int w = 0; w < workers_; ++w) fabric_.At(w)->Stop(5);
  }
  /* Each worker's program, at the same time. */
  void Run(const WorkerFn& program) {
    std::vector<std::thread> threads;
    for (int w = 0; w < workers_; ++w)
      threads.emplace_back([&, w] {
        std::unique_ptr<KVStore> kv = CreateDistStore(type_, job(w));
        try {
          program(w, kv.get());
        } catch (const std::exception& e) {
          ADD_FAILURE() << "worker " << w << ": " << e.what();
        }
      });
    for (std::thread& t : threads) t.join();
  }
  const std::shared_ptr<Job>& job(int rank) { return jobs_[static_cast<size_t>(rank)]; }
  InProcessFabric& fabric() { return fabric_; }

 private:
  InProcessFabric fabric_;
  const std::string type_;
  const int workers_;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<KVStore>> servers_;
  std::vector<std::thread> threads_;
};

class Bounds {
 public:
  Bounds(const char* split_from, const char* slice) {
    Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", split_from);
    Env::Set("MXNET_KVSTORE_SLICE_THRESHOLD", slice);
  }
  ~Bounds() {
    Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", "");
    Env::Set("MXNET_KVSTORE_SLICE_THRESHOLD", "");
  }
};

TEST(Sharding, PartsCoverAValueAndAreTheSameEverywhere) {
  for (const int servers : {1, 2, 3, 7})
    for (const int64_t size : {0, 1, 63, 64, 65, 999, 1000, 1001, 4096, 100000})
      for (const int64_t slice : {0, 64, 100, 1000}) {
        ShardingOptions options;
        options.servers = servers;
        options.split_from = 1000;
        options.slice = slice;
        const std::vector<Part> parts = Shard(KeyHash("weight"), size, options);
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
  for (int key = 0; key < 400; ++key) ++count[static_cast<size_t>(Shard(KeyHash("i" + std::to_string(key)), 10, options)[0].server)];
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

TEST(DistStore, ErrorsOfServersReachTheWorkers) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    EXPECT_NE(ErrorOf([&] { kv->transport()->SendCommand(9, "adum"); }).find("no such optimizer: adum"), std::string::npos);
    kv->transport()->SendCommand(5, "");
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    const std::string error = ErrorOf([&] { Read(got); });
    EXPECT_NE(error.find("server 0"), std::string::npos) << error;
    EXPECT_NE(error.find("key 'w': line 7 of updater"), std::string::npos) << error;
  });
}

TEST(DistStore, StoresOfDifferentSizesAreAnError) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(10 + worker, 1);
    const std::string error = ErrorOf([&] { kv->Init({"w"}, {&value}); });
    if (worker == 0) return;
    EXPECT_NE(error.find("11 of float32 on worker 1"), std::string::npos) << error;
    cluster.job(1)->Barrier(0);  // the other's init ends with it
  });
}

TEST(DistStore, PushesOfAnotherTypeAreToldToAll) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    if (worker == 1) {
      Head head;
      head.kind = Kind::kPush;
      head.flags = kSync;
      head.key = KeyHash("sw");
      head.count = 9;
      cluster.job(1)->Tell(2, head, Message(), 0);
      return kv->transport()->Barrier();
    }
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    EXPECT_NE(ErrorOf([&] { Read(got); }).find("a push of 9 elements"), std::string::npos);
    kv->transport()->Barrier();
  });
}

/* Nothing that is sent to a server may hurt it. */
TEST(DistStore, ServersRefuseMessagesOfNoSense) {
  Cluster cluster(1, 1, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    std::mt19937 random(7);
    std::vector<char> bytes(300);
    for (int i = 0; i < 3000; ++i) {
      for (char& b : bytes) b = static_cast<char>(random() % 4 ? 0 : random());
      Head head;
      head.kind = static_cast<Kind>(1 + random() % 4);
      head.dtype = static_cast<uint8_t>(random() % 2 ? random() : 0);
      head.flags = static_cast<uint16_t>(random());
      head.flags &= static_cast<uint16_t>(~kLeaving);
      head.key = static_cast<int64_t>(random() % 3);
      head.count = random() % 2 ? static_cast<int64_t>(random() % 70) : static_cast<int64_t>(random()) << 33;
      head.compression = static_cast<int32_t>(random() % 5);
      auto owner = std::make_shared<std::vector<char>>(bytes.begin(), bytes.begin() + static_cast<int64_t>(random() % 300));
      cluster.job(0)->Tell(1, head, MakeMessage(head, owner->data(), owner->size(), owner), 0);
    }
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    EXPECT_EQ(Read(got), Values(10, 1));
  });
}

/* A worker whose last epoch is shorter. */
TEST(DistStore, WhoWaitsForAWorkerThatHasEndedIsTold) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    for (int i = 0; i < 3; ++i) kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    Read(got);
    if (worker == 1) return cluster.fabric().At(1)->Stop(5);
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    const std::string error = ErrorOf([&] { Read(got); });
    EXPECT_NE(error.find("worker 1"), std::string::npos) << error;
    EXPECT_NE(error.find("has ended after 3 pushes to key 'w'; push 4 of each"), std::string::npos) << error;
    EXPECT_NE(ErrorOf([&] { kv->transport()->Barrier(); }).find("worker 1"), std::string::npos);
  });
}

TEST(DistStore, LostWorkersAreNamedAndAsynchronousJobsGoOn) {
  for (const char* type : {"dist_sync", "dist_async", "dist_p3"}) {
    Cluster cluster(3, 1, type);
    const bool sync = std::string(type) != "dist_async";
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray value = Full(10, 1), got = Full(10, 0);
      kv->Init({"w"}, {&value});
      kv->transport()->SendCommand(1, "1");
      if (worker == 2) {
        kv->transport()->Barrier();
        return cluster.fabric().Cut(2);
      }
      EXPECT_EQ(kv->transport()->NumDeadNodes(7, 60), 0);
      kv->transport()->Barrier();
      EXPECT_NE(ErrorOf([&] { kv->transport()->Barrier(); }).find("worker 2"), std::string::npos);  // comes when the loss is known
      while (kv->transport()->NumDeadNodes(4, 60) == 0) std::this_thread::yield();
      EXPECT_EQ(kv->transport()->NumDeadNodes(4, 60), 1);
      EXPECT_EQ(kv->transport()->NumDeadNodes(2, 60), 0);
      EXPECT_EQ(kv->transport()->NumDeadNodes(9 + 2 * 2, 60), 1);
      for (int i = 0; i < 2; ++i) {
        kv->PushPull({"w"}, {&value}, {"w"}, {&got});
        const std::string error = ErrorOf([&] { Read(got); });
        EXPECT_EQ(error.find("worker 2 (rank 2, process") != std::string::npos, sync) << error;
        EXPECT_EQ(error.empty(), !sync) << error;
      }
    });
  }
}

TEST(DistStore, LostServersRaiseOnAllWorkers) {
  Bounds bounds("8", "");
  Cluster cluster(2, 2, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(1000, 1), got = Full(1000, 0);
    kv->Init({"w"}, {&value});
    if (worker == 0) {
      kv->PushPull({"w"}, {&value}, {"w"}, {&got});  // waits for the other's push
      cluster.fabric().Cut(3);
      const std::string error = ErrorOf([&] { Read(got); });
      EXPECT_NE(error.find("server 1 (rank 3"), std::string::npos) << error;
    }
    std::string error;
    while (error.empty())
      error = ErrorOf([&] {
        kv->Pull({"w"}, {&got});
        Read(got);
      });
    EXPECT_NE(error.find("server 1 (rank 3"), std::string::npos) << error;
    EXPECT_EQ(kv->transport()->NumDeadNodes(2, 60), 1);
  });
}

TEST(DistStore, StalledWorkersAreLostWhenTheTimeIsOver) {
  InProcessOptions options;
  options.progress.times.heartbeat_interval = 0.05;
  options.progress.times.heartbeat_timeout = 3;
  Cluster cluster(2, 1, "dist_sync", options);
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    if (worker == 1) return cluster.fabric().Stall(1);
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    const std::string error = ErrorOf([&] { Read(got); });
    EXPECT_NE(error.find("worker 1 (rank 1"), std::string::npos) << error;
    EXPECT_NE(error.find("is lost: it was last heard of "), std::string::npos) << error;
  });
  cluster.fabric().Resume(1);
}

TEST(DistStore, WhoWaitsCanBeInterrupted) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(10, 1), got = Full(10, 0);
    kv->Init({"w"}, {&value});
    if (worker == 1) return;
    kv->PushPull({"w"}, {&value}, {"w"}, {&got});
    std::atomic<bool> raised{false};
    std::thread other([&] {
      while (!raised) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        cluster.job(0)->Interrupt("interrupted by the user");
      }
    });
    EXPECT_NE(ErrorOf([&] { Read(got); }).find("interrupted by the user"), std::string::npos);
    raised = true;
    other.join();
  });
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

/* A job after another, whose servers were killed: they go on from what they wrote. */
TEST(DistStore, ServersGoOnFromTheirSnapshots) {
  Bounds bounds("100", "");
  char folder[] = "/tmp/dist_store_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("PS_SNAPSHOT_FOLDER", folder, 1);
  setenv("PS_SNAPSHOT_INTERVAL", "0", 1);
  for (int job = 0; job < 2; ++job) {
    Cluster cluster(2, 2, "dist_sync");
    cluster.Run([&](int, KVStore* kv) {
      NDArray first = Full(300, 1), small = Full(3, 1), got = Full(300, 0);
      kv->Init({"big", "small one"}, {&first, &small});
      kv->Pull({"big"}, {&got});
      EXPECT_EQ(Read(got), Values(300, job == 0 ? 1 : 6));
      NDArray pushed = Full(300, 3);
      kv->PushPull({"big"}, {&pushed}, {"big"}, {&got});
      EXPECT_EQ(Read(got), Values(300, 6));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      for (int i = 0; i < 3; ++i) {  // each lets the servers look at the time
        kv->transport()->Barrier();
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
    });
  }
  setenv("PS_SNAPSHOT_FOLDER", "/nonexistent", 1);
  EXPECT_NE(ErrorOf([] {
              InProcessFabric fabric(1, 1);
              auto job = std::make_shared<Job>(fabric.At(1));
              CreateDistStore("dist", job);
            }).find("PS_SNAPSHOT_FOLDER='/nonexistent'"),
            std::string::npos);
  unsetenv("PS_SNAPSHOT_FOLDER");
  unsetenv("PS_SNAPSHOT_INTERVAL");
  for (const char* name : {"/server-0-of-2.params", "/server-1-of-2.params"}) EXPECT_EQ(unlink((std::string(folder) + name).c_str()), 0);
  EXPECT_EQ(rmdir(folder), 0);
}

/* A worker may be faster than the server's process. */
TEST(DistStore, ServersGetWhatCameBeforeThem) {
  InProcessFabric fabric(1, 1);
  auto worker = std::make_shared<Job>(fabric.At(0)), server = std::make_shared<Job>(fabric.At(1));
  std::thread program([&] {
    std::unique_ptr<KVStore> kv = CreateDistStore("dist", worker);
    NDArray value = Full(10, 1);
    EXPECT_EQ(ErrorOf([&] { kv->Init({"w"}, {&value}); }), "");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::unique_ptr<KVStore> store = CreateDistStore("dist", server);
  std::thread serving([&] { store->RunServer(nullptr); });
  program.join();
  fabric.At(0)->Stop(5);
  serving.join();
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
  EXPECT_GE(first_layer(plain), static_cast<std::ptrdiff_t>(plain.size() / 2));  // pushed last
  EXPECT_LE(first_layer(slices), 2);                                             // behind what was on its way before
  std::printf("a step: %.3f s with dist_sync, %.3f s with dist_p3\n", StepSeconds(plain), StepSeconds(slices));
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
