/* What fails in jobs with servers, and how they go on. The ranks are threads of this process. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "dist_cluster.h"
#include "kvstore/dist/server.h"

namespace mxnet {
namespace kvstore {
namespace {

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

/* Worker 1 waited for parts that worker 0 does not have. */
TEST(DistStore, StoresOfDifferentNumbersOfPartsAreAnError) {
  Cluster cluster(2, 1, "dist_sync_p3");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray value = Full(worker == 0 ? 10 : 3 * Env::Get().kvstore_slice_threshold, 1);
    const std::string error = ErrorOf([&] { kv->Init({"w"}, {&value}); });
    if (worker == 0) return;
    EXPECT_NE(error.find("the first value of key 'w' has 10 elements of float32 in this part on worker 0"), std::string::npos) << error;
    cluster.job(1)->Barrier(0);  // the other's init ends with it
  });
}

/* They were added up as if they were one shape. */
TEST(DistStore, StoresOfOneSizeAndDifferentShapesAreAnError) {
  for (int late : {0, 1}) {  // who comes second
    Cluster cluster(2, 1, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray value = Full(6, 1).Reshape(worker == 0 ? Shape{2, 3} : Shape{3, 2});
      if (worker == late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::string error = ErrorOf([&] { kv->Init({"w"}, {&value}); });
      if (worker == 0) return;
      EXPECT_NE(error.find("key 'w' has shape (2,3) on worker 0, and (3,2) on worker 1"), std::string::npos) << error;
      cluster.job(1)->Barrier(0);  // the other's init ends with it
    });
  }
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
      head.key = KeyHash(KVKey("w"));
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
      head.kind = static_cast<Kind>(1 + random() % 8);
      if (head.kind == Kind::kBarrier || head.kind == Kind::kCommand) head.kind = Kind::kStep;
      head.dtype = static_cast<uint8_t>(random() % 2 ? random() : 0);
      head.flags = static_cast<uint16_t>(random());
      head.flags &= static_cast<uint16_t>(~kLeaving);
      head.key = static_cast<int64_t>(random() % 3);
      head.count = random() % 2 ? static_cast<int64_t>(random() % 70) : static_cast<int64_t>(static_cast<uint64_t>(random()) << 33);
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
        cluster.job(0)->Interrupter()("interrupted by the user");
      }
    });
    EXPECT_NE(ErrorOf([&] { Read(got); }).find("interrupted by the user"), std::string::npos);
    raised = true;
    other.join();
  });
}

/* Some steps of a training whose gradients depend on the weights. */
void Train(KVStore* kv, int worker, int64_t from, int64_t to, Values* result) {
  NDArray big = Full(300, 1), small = Full(3, 1);
  kv->Init({"big", "small one"}, {&big, &small});
  for (int64_t step = from; step <= to; ++step) {
    kv->Pull({"big", "small one"}, {&big, &small});
    if (step == to) break;
    Values g = Read(big), h = Read(small);
    for (float& v : g) v = v * 0.37f + static_cast<float>(worker) + static_cast<float>(step) * h[0];
    for (float& v : h) v = v * 0.5f - static_cast<float>(step) * g[0];
    NDArray pushed_big = Filled(g), pushed_small = Filled(h);
    kv->Push({"small one"}, {&pushed_small});
    kv->Push({"big"}, {&pushed_big});
  }
  *result = Read(big);
  const Values rest = Read(small);
  result->insert(result->end(), rest.begin(), rest.end());
}

/* Jobs after each other, whose servers go on from what they wrote: as if there was one job. */
TEST(DistStore, ServersGoOnFromTheirSnapshots) {
  Bounds bounds("100", "");
  char folder[] = "/tmp/dist_store_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto name = [&](int server, int step) {
    return std::string(folder) + "/server-" + std::to_string(server) + "-of-2-step-" + std::to_string(step) + ".params";
  };
  const auto there = [&](int server, int step) { return access(name(server, step).c_str(), F_OK) == 0; };
  Values expected, got;
  std::mutex mutex;
  const auto run = [&](int64_t from, int64_t to, Values* result) {
    Cluster cluster(2, 2, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      for (const std::string& step : kv->transport()->SendCommand(kGetStep, "")) EXPECT_EQ(step, std::to_string(from));
      Values own;
      Train(kv, worker, from, to, &own);
      std::lock_guard<std::mutex> hold(mutex);
      *result = own;
    });
  };
  run(0, 12, &expected);
  setenv("PS_SNAPSHOT_FOLDER", folder, 1);
  setenv("PS_SNAPSHOT_INTERVAL", "0", 1);
  run(0, 5, &got);  // a step is known to have ended when the next one begins
  for (const int server : {0, 1}) EXPECT_TRUE(there(server, 3) && there(server, 4) && !there(server, 2) && !there(server, 5));
  run(4, 8, &got);
  unlink(name(1, 7).c_str());  // as if this server was killed before it had written
  run(6, 12, &got);
  EXPECT_EQ(got, expected);
  EXPECT_FALSE(there(0, 7));
  setenv("PS_SNAPSHOT_FOLDER", "/proc/nonexistent", 1);
  EXPECT_NE(ErrorOf([] {
              InProcessFabric fabric(1, 1);
              auto job = std::make_shared<Job>(fabric.At(1));
              CreateDistStore("dist", job);
            }).find("PS_SNAPSHOT_FOLDER='/proc/nonexistent'"),
            std::string::npos);
  unsetenv("PS_SNAPSHOT_FOLDER");
  unsetenv("PS_SNAPSHOT_INTERVAL");
  for (const int server : {0, 1})
    for (int step = 0; step < 12; ++step) unlink(name(server, step).c_str());
  EXPECT_EQ(rmdir(folder), 0);
}

/* A worker that leaves before a step is over does not keep a snapshot waiting. */
TEST(DistStore, SnapshotsDoNotWaitForWhoHasLeft) {
  char folder[] = "/tmp/dist_store_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("PS_SNAPSHOT_FOLDER", folder, 1);
  setenv("PS_SNAPSHOT_INTERVAL", "0", 1);
  {
    Cluster cluster(2, 1, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray value = Full(10, 1), got = Full(10, 0);
      kv->Init({"w"}, {&value});
      for (int i = 0; i < 3; ++i) kv->PushPull({"w"}, {&value}, {"w"}, {&got});
      Read(got);
      if (worker == 1) return cluster.fabric().At(1)->Stop(5);
      kv->PushPull({"w"}, {&value}, {"w"}, {&got});
      EXPECT_NE(ErrorOf([&] { Read(got); }).find("worker 1"), std::string::npos);
    });
  }
  unsetenv("PS_SNAPSHOT_FOLDER");
  unsetenv("PS_SNAPSHOT_INTERVAL");
  for (int step = 0; step < 4; ++step) unlink((std::string(folder) + "/server-0-of-1-step-" + std::to_string(step) + ".params").c_str());
  EXPECT_EQ(rmdir(folder), 0);
}

/* A rank may be lost while the server begins to serve. */
TEST(DistStore, AServerHearsOnceOfALostRank) {
  struct Counter : Transport::Handler {
    std::atomic<int> lost{0};
    void OnMessage(int, Message) override {}
    std::shared_ptr<void> Place(int, const int64_t*, size_t) override { return nullptr; }
    void OnLost(const Peer&) override { ++lost; }
  };
  for (int i = 0; i < 300; ++i) {
    InProcessFabric fabric(1, 1);
    auto job = std::make_shared<Job>(fabric.At(1));
    Counter counter;
    std::thread cut([&] { fabric.Cut(0); });
    while (i % 3 == 0 && !fabric.At(1)->Get(0).lost) std::this_thread::yield();
    job->SetServer(&counter);
    cut.join();
    while (counter.lost == 0) std::this_thread::yield();
    fabric.At(1)->Stop(1);
    EXPECT_EQ(counter.lost, 1);
    job->SetServer(nullptr);
  }
}

/* Worker 1, whose messages reach worker 0 before the sender is told that they have left. */
class SlowToTell : public Transport {
 public:
  int rank() const override { return 1; }
  int size() const override { return 2; }
  Peer Get(int rank) const override {
    Peer peer;
    peer.rank = peer.number = rank;
    peer.role = Role::kWorker;
    return peer;
  }
  const std::vector<int>& RanksOf(Role role) const override { return role == Role::kWorker ? workers_ : servers_; }
  void SetHandler(Handler* handler) override { handler_ = handler; }
  void Send(int, Message message, int, std::function<void()>) override { asked = Head::Read(message.head); }
  bool SendShort(int, const Message& message, int) override {
    if (!ends_at_once) return false;
    asked = Head::Read(message.head);
    Answer();  // all this on another thread, while the sender has no core
    Lose();
    return true;
  }
  void Work(const std::function<bool()>&) override {}
  void Stop(double) override {}

  void Answer() {
    Message reply;
    asked.Reply(Kind::kReply).Write(reply.head);
    handler_->OnMessage(0, reply);
  }
  void Lose() {
    Peer peer = Get(0);
    peer.lost = peer.said_goodbye = true;
    handler_->OnLost(peer);
  }

  Head asked;
  bool ends_at_once = false;

 private:
  const std::vector<int> workers_{0, 1}, servers_;
  Handler* handler_ = nullptr;
};

/* Who answers and ends at once has received what was asked: after its last barrier, for example. */
TEST(DistStore, AnswersOfThoseWhoEndedCount) {
  for (const bool answered : {true, false}) {
    auto transport = std::make_shared<SlowToTell>();
    auto job = std::make_shared<Job>(transport);
    Head head;
    head.kind = Kind::kBarrier;
    int calls = 0;
    std::exception_ptr error;
    job->Ask(0, head, Message(), 0, Job::Destination(), [&](std::exception_ptr e, const Message&) { ++calls, error = e; });
    if (answered) transport->Answer();
    EXPECT_EQ(calls, 0);
    transport->Lose();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(error == nullptr, answered);
  }
  auto transport = std::make_shared<SlowToTell>();
  transport->ends_at_once = true;
  EXPECT_NO_THROW(std::make_shared<Job>(transport)->Barrier(0));
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

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
