/* Messages between ranks of one process: order, priorities, payloads in parts, loss, the end. */
#include "kvstore/dist/transport.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>

#include "kvstore/dist/transport_progress.h"
#include "mxnet/error.h"
#include "transport_recorder.h"

using namespace mxnet::kvstore;  // NOLINT

TEST(Transport, KnowsRolesAndNumbers) {
  Job job(2, 1);
  EXPECT_EQ(job.at(0).size(), 3);
  EXPECT_EQ(job.at(2).rank(), 2);
  EXPECT_EQ(job.at(1).RanksOf(Role::kWorker), (std::vector<int>{0, 1}));
  EXPECT_EQ(job.at(1).RanksOf(Role::kServer), std::vector<int>{2});
  const Peer peer = job.at(0).Get(2);
  EXPECT_EQ(peer.role, Role::kServer);
  EXPECT_EQ(peer.number, 0);
  EXPECT_FALSE(peer.lost);
  EXPECT_EQ(peer.str(), "server 0 (rank 2, process " + std::to_string(getpid()) + " on host in-process)");
  EXPECT_THROW(job.at(0).Get(3), mxnet::Error);
  EXPECT_THROW(job.at(0).Send(-1, Message(), 0, nullptr), mxnet::Error);
}

TEST(Transport, PayloadsOfAllLengthsArriveWhole) {
  InProcessOptions options;
  options.progress.part_bytes = 1000;
  options.progress.window_bytes = 3000;
  Job job(2, 0, options);
  for (bool place : {false, true}) {
    job.recorders[1]->place = place;
    const std::vector<size_t> lengths = {0, 1, 999, 4000, 4096, 5000, 6000, 100001, 1 << 20};
    std::atomic<int> sent{0};
    for (size_t length : lengths) {
      auto payload = Payload(length, 3);
      Message message = Make(static_cast<int64_t>(length), payload);
      job.at(0).Send(1, message, 0, [&sent] { ++sent; });
    }
    Recorder& to = *job.recorders[1];
    ASSERT_TRUE(to.Wait([&] { return to.got.size() == lengths.size(); }));
    for (size_t i = 0; i < lengths.size(); ++i) EXPECT_TRUE(Same(to.got[i].message, *Payload(lengths[i], 3))) << lengths[i];
    while (sent.load() < static_cast<int>(lengths.size())) std::this_thread::yield();
    EXPECT_EQ(to.placed.load(), place ? 8 : 0);
    to.got.clear();
  }
}

/* A payload may change as soon as `sent` runs. */
TEST(Transport, SentSaysThatThePayloadIsFree) {
  for (int to : {0, 1}) {
    InProcessOptions options;
    options.progress.part_bytes = 4096;
    options.bandwidth = 50e6;
    Job job(2, 0, options);
    auto payload = Payload(300000, 1);
    const std::vector<uint8_t> before = *payload;
    std::atomic<bool> sent{false};
    Message message = Make(1, payload);
    message.owner = nullptr;
    job.at(0).Send(to, message, 0, [&] {
      std::fill(payload->begin(), payload->end(), uint8_t{0});
      sent = true;
    });
    Recorder& recorder = *job.recorders[static_cast<size_t>(to)];
    ASSERT_TRUE(recorder.Wait([&] { return recorder.got.size() == 1; }));
    while (!sent) std::this_thread::yield();
    EXPECT_TRUE(Same(recorder.got[0].message, before));
  }
}

/* Messages of equal priority keep their order, whatever their lengths, from any threads. */
TEST(Transport, RandomTraffic) {
  constexpr int kRanks = 4, kMessages = 300;
  InProcessOptions options;
  options.progress.part_bytes = 2000;
  options.progress.window_bytes = 6000;
  options.delay = 1e-4;
  Job job(3, 1, options);
  std::atomic<int> sent{0};
  std::vector<std::thread> threads;
  for (int from = 0; from < kRanks; ++from)
    threads.emplace_back([&, from] {
      std::mt19937 random(static_cast<unsigned>(from));
      std::map<std::pair<int, int>, int64_t> next;  // by receiver and priority
      for (int i = 0; i < kMessages; ++i) {
        const int to = static_cast<int>(random() % kRanks), priority = static_cast<int>(random() % 3) - 1;
        const size_t bytes = random() % 3 == 0 ? random() % 30000 : random() % 100;
        Message message = Make(next[{to, priority}]++, Payload(bytes, static_cast<uint8_t>(i)));
        message.head[1] = priority;
        message.head[7] = i;
        job.at(from).Send(to, std::move(message), priority, [&sent] { ++sent; });
      }
    });
  for (auto& thread : threads) thread.join();
  const auto count = [&job] {
    size_t all = 0;
    for (auto& recorder : job.recorders) {
      std::lock_guard<std::mutex> lock(recorder->mutex);
      all += recorder->got.size();
    }
    return all;
  };
  while (count() < kRanks * kMessages) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int rank = 0; rank < kRanks; ++rank) job.at(rank).Stop(60);
  EXPECT_EQ(sent.load(), kRanks * kMessages);
  size_t ended = 0;
  for (auto& recorder : job.recorders) {
    std::lock_guard<std::mutex> lock(recorder->mutex);
    std::map<std::pair<int, int64_t>, int64_t> next;
    for (const Got& got : recorder->got) {
      const int64_t* head = got.message.head;
      EXPECT_EQ(head[0], (next[{got.from, head[1]}]++));
      EXPECT_TRUE(Same(got.message, *Payload(got.message.bytes, static_cast<uint8_t>(head[7]))));
    }
    EXPECT_EQ(recorder->lost.size(), ended++);  // those that stopped before
    for (const Peer& peer : recorder->lost) EXPECT_TRUE(peer.said_goodbye) << peer.str();
  }
  EXPECT_EQ(count(), static_cast<size_t>(kRanks * kMessages));
}

std::vector<int64_t> Order(Recorder* to, size_t count) {
  EXPECT_TRUE(to->Wait([&] { return to->got.size() == count; }));
  std::vector<int64_t> order;
  for (const Got& got : to->got) order.push_back(got.message.head[0]);
  return order;
}

TEST(Transport, UrgentMessagesGoFirst) {
  Job job(2, 0);
  job.fabric.Stall(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it comes to rest
  for (int i = 0; i < 3; ++i) job.at(0).Send(1, Make(i, Payload(100000, 0)), 0, nullptr);
  job.at(0).Send(1, Make(100, Payload(60000, 0)), 5, nullptr);
  job.at(0).Send(1, Make(101, Payload(60000, 0)), 9, nullptr);
  job.at(0).Send(1, Make(102), 9, nullptr);
  job.at(0).Send(1, Make(-1), -9, nullptr);
  job.fabric.Resume(0);
  EXPECT_EQ(Order(job.recorders[1].get(), 7), (std::vector<int64_t>{101, 102, 100, 0, 1, 2, -1}));
}

/* On a slow connection, what is urgent overtakes the rest of a payload. */
TEST(Transport, UrgentMessagesOvertakeParts) {
  InProcessOptions options;
  options.bandwidth = 5e6;
  options.progress.part_bytes = 50000;
  options.progress.window_bytes = 100000;
  Job job(2, 0, options);
  job.at(0).Send(1, Make(0, Payload(5000000, 0)), 0, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  job.at(0).Send(1, Make(1, Payload(60000, 0)), 5, nullptr);
  EXPECT_EQ(Order(job.recorders[1].get(), 2), (std::vector<int64_t>{1, 0}));
}

TEST(Transport, MessagesWaitForAHandler) {
  InProcessFabric fabric(2, 0);
  fabric.At(0)->Send(1, Make(7, Payload(100000, 0)), 0, nullptr);
  fabric.At(0)->Stop(10);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Recorder recorder(fabric.At(1).get());
  ASSERT_TRUE(recorder.Wait([&] { return recorder.got.size() == 1 && recorder.lost.size() == 1; }));
  EXPECT_EQ(recorder.got[0].message.head[0], 7);
}

/* Sent and stopped just after the progress thread looked at what was sent: nothing is dropped. */
TEST(Transport, StopDropsNothingThatWasSentBefore) {
  std::atomic<int> ticks{0};
  InProcessOptions options;
  options.tick = [&ticks](int rank) {
    if (rank == 0 && ++ticks == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  Job job(2, 0, options);
  while (ticks.load() == 0) std::this_thread::yield();
  job.at(0).Send(1, Make(7, Payload(100000, 0)), 0, nullptr);
  job.at(0).Stop(10);
  Recorder& recorder = *job.recorders[1];
  ASSERT_TRUE(recorder.Wait([&] { return recorder.lost.size() == 1; }));
  EXPECT_EQ(recorder.got.size(), 1U);
}

TEST(Transport, HandlersMaySend) {
  Job job(2, 0);
  for (int rank : {0, 1})
    job.recorders[static_cast<size_t>(rank)]->on_message = [&job, rank](int from, const Message& message) {
      if (message.head[0] < 1000) job.at(rank).Send(from, Make(message.head[0] + 1), 0, nullptr);
    };
  job.at(0).Send(1, Make(0), 0, nullptr);
  Recorder& last = *job.recorders[1];
  ASSERT_TRUE(last.Wait([&] { return !last.got.empty() && last.got.back().message.head[0] == 1000; }));
}

TEST(Transport, ACutRankIsLostToAll) {
  Job job(3, 0);
  std::atomic<int> sent{0};
  job.fabric.Cut(2);
  for (int rank : {0, 1}) {
    Recorder& recorder = *job.recorders[static_cast<size_t>(rank)];
    ASSERT_TRUE(recorder.Wait([&] { return recorder.lost.size() == 1; }));
    EXPECT_EQ(recorder.lost[0].rank, 2);
    EXPECT_FALSE(recorder.lost[0].said_goodbye);
    EXPECT_TRUE(job.at(rank).Get(2).lost);
  }
  Recorder& cut = *job.recorders[2];
  ASSERT_TRUE(cut.Wait([&] { return cut.lost.size() == 2; }));
  job.at(0).Send(2, Make(0, Payload(100000, 0)), 0, [&sent] { ++sent; });
  job.at(0).Send(1, Make(1, Payload(100000, 0)), 0, [&sent] { ++sent; });
  Recorder& other = *job.recorders[1];
  ASSERT_TRUE(other.Wait([&] { return other.got.size() == 1; }));
  while (sent.load() < 2) std::this_thread::yield();
  for (int rank = 0; rank < 3; ++rank) job.at(rank).Stop(10);
}

/* Cut in the middle of payloads in both directions: each `sent` still runs once. */
TEST(Transport, CutsDuringPayloads) {
  for (int seed = 0; seed < 5; ++seed) {
    InProcessOptions options;
    options.bandwidth = 100e6;
    options.progress.part_bytes = 10000;
    options.progress.window_bytes = 30000;
    Job job(2, 1, options);
    std::atomic<int> sent{0};
    for (int i = 0; i < 10; ++i)
      for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to) job.at(from).Send(to, Make(i, Payload(100000, 0)), i % 2, [&sent] { ++sent; });
    std::this_thread::sleep_for(std::chrono::milliseconds(seed));
    job.fabric.Cut(1);
    for (int from : {0, 2}) {
      Recorder& to = *job.recorders[static_cast<size_t>(2 - from)];
      ASSERT_TRUE(to.Wait([&] { return std::count_if(to.got.begin(), to.got.end(), [&](const Got& g) { return g.from == from; }) == 10; }));
    }
    for (int rank = 0; rank < 3; ++rank) job.at(rank).Stop(20);
    EXPECT_EQ(sent.load(), 90);
  }
}

TEST(Transport, SilenceIsLossAfterTheTimeOut) {
  InProcessOptions options;
  options.progress.times.heartbeat_interval = 0.1;
  options.progress.times.heartbeat_timeout = 1.5;
  Job job(3, 0, options);
  job.fabric.Stall(1);
  for (int rank : {0, 2}) {
    Recorder& recorder = *job.recorders[static_cast<size_t>(rank)];
    ASSERT_TRUE(recorder.Wait([&] { return recorder.lost.size() == 1; }));
    EXPECT_EQ(recorder.lost[0].rank, 1);
    EXPECT_GT(recorder.lost[0].silent_seconds, 1.4);
  }
  // The one that slept learns that it is out, from both.
  job.fabric.Resume(1);
  Recorder& slept = *job.recorders[1];
  ASSERT_TRUE(slept.Wait([&] { return slept.lost.size() == 2; }));
  job.at(0).Send(2, Make(4), 0, nullptr);
  ASSERT_TRUE(job.recorders[2]->Wait([&] { return job.recorders[2]->got.size() == 1; }));
  EXPECT_FALSE(job.at(0).Get(2).lost);
}

/* Heartbeats keep silent ranks; a short stall of a rank is nobody's loss. */
TEST(Transport, ShortPausesAreNoLoss) {
  InProcessOptions options;
  options.progress.times.heartbeat_interval = 0.1;
  options.progress.times.heartbeat_timeout = 4;
  Job job(2, 0, options);
  job.fabric.Stall(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  job.fabric.Resume(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(job.at(0).Get(1).lost);
  EXPECT_FALSE(job.at(1).Get(0).lost);
  EXPECT_LT(job.at(1).Get(0).silent_seconds, 1);
}

/* Says on which thread the last packet left. */
class OneWay final : public PacketLayer {
 public:
  OneWay(bool shared, std::atomic<std::thread::id>* sender) : shared_(shared), sender_(sender) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  bool SendPacket(int, const void*, size_t, const void*, size_t, int64_t ticket) override {
    *sender_ = std::this_thread::get_id();
    tickets_.push_back(ticket);
    return false;
  }
  void SendPart(int, int, const void*, size_t, int64_t ticket) override { tickets_.push_back(ticket); }
  void ReceivePart(int, int, void*, size_t, int64_t) override {}
  int max_tag() const override { return 100; }
  bool shared() const override { return shared_; }
  bool Poll(Events* events) override {
    const std::vector<int64_t> done = std::move(tickets_);
    tickets_.clear();
    for (const int64_t ticket : done) events->OnDone(ticket);
    return !done.empty();
  }
  void Drop(int) override {}
  void Close(bool) override {}

 private:
  const bool shared_;
  std::atomic<std::thread::id>* const sender_;
  std::vector<int64_t> tickets_;
};

TEST(Transport, ASharedLayerIsCalledByWhoSendsWhileTheProgressThreadRests) {
  for (const bool shared : {true, false}) {
    std::atomic<std::thread::id> sender{};
    std::vector<Peer> members(2);
    members[1].rank = members[1].number = 1;
    ProgressOptions options;
    options.times.heartbeat_interval = 0;
    ProgressTransport transport(std::make_unique<OneWay>(shared, &sender), members, options);
    std::thread progress([&] { transport.Run(); });
    bool here = false;
    for (int i = 0; i < (shared ? 10000 : 50) && !here; ++i) {
      std::atomic<bool> sent{false};
      transport.Send(1, Message(), 0, [&] { sent = true; });
      while (!sent) std::this_thread::yield();
      here = sender.load() == std::this_thread::get_id();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(here, shared);
    transport.Stop(0.01);
    progress.join();
  }
}

/* One that works handles what comes itself, and the progress thread what comes later. */
TEST(Transport, AThreadThatWaitsMayDoTheWork) {
  Job job(2, 0);
  std::atomic<std::thread::id> handler{};
  job.recorders[1]->on_message = [&](int, const Message&) { handler = std::this_thread::get_id(); };
  Recorder& to = *job.recorders[1];
  const auto got = [&to](size_t count) {
    std::lock_guard<std::mutex> lock(to.mutex);
    return to.got.size() == count;
  };
  size_t sent = 0;
  bool here = false, there = false;
  for (int i = 0; i < 10000 && !here; ++i) {
    job.at(0).Send(1, Make(0, Payload(100000, 0)), 0, nullptr);
    job.at(1).Work([&, count = ++sent] { return got(count); });
    ASSERT_TRUE(to.Wait([&] { return to.got.size() == sent; }));
    here = handler.load() == std::this_thread::get_id();
  }
  EXPECT_TRUE(here);
  for (int i = 0; i < 100 && !there; ++i) {
    job.at(0).Send(1, Make(1), 0, nullptr);
    ++sent;
    ASSERT_TRUE(to.Wait([&] { return to.got.size() == sent; }));
    there = handler.load() != std::this_thread::get_id();
  }
  EXPECT_TRUE(there);
}

/* With nothing to do it returns, whatever is waited for. */
TEST(Transport, WorkEndsWhereNothingHappens) {
  Job job(2, 0);
  job.at(0).Work([] { return false; });
  job.at(0).Stop(10);
  job.at(0).Work([] { return false; });
}

/* A short message that nothing waits before leaves at once: its payload may change. */
TEST(Transport, ShortMessagesLeaveBeforeTheSenderGoesOn) {
  Job job(2, 0);
  Recorder& to = *job.recorders[1];
  size_t sent = 0;
  for (int i = 0; i < 10000 && sent < 100; ++i) {
    std::vector<uint8_t> bytes(1000, static_cast<uint8_t>(sent));
    Message message;
    message.head[0] = static_cast<int64_t>(sent);
    message.data = bytes.data();
    message.bytes = bytes.size();
    if (job.at(0).SendShort(1, message, 0))
      ++sent;
    else  // the progress thread is there, or many messages are on their way
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::fill(bytes.begin(), bytes.end(), 255);
  }
  ASSERT_EQ(sent, 100u);
  ASSERT_TRUE(to.Wait([&] { return to.got.size() == sent; }));
  for (size_t i = 0; i < sent; ++i) {
    EXPECT_EQ(to.got[i].message.head[0], static_cast<int64_t>(i));
    EXPECT_TRUE(Same(to.got[i].message, std::vector<uint8_t>(1000, static_cast<uint8_t>(i))));
  }
  EXPECT_FALSE(job.at(0).SendShort(0, Make(0), 0));                      // to itself
  EXPECT_FALSE(job.at(0).SendShort(1, Make(0, Payload(100000, 0)), 0));  // long
  EXPECT_THROW(job.at(0).SendShort(2, Make(0), 0), mxnet::Error);
  job.at(1).Stop(10);
  Recorder& from = *job.recorders[0];
  ASSERT_TRUE(from.Wait([&] { return from.lost.size() == 1; }));
  EXPECT_FALSE(job.at(0).SendShort(1, Make(0), 0));
}

/* What urgent messages overtake is not overtaken by those that leave at once. */
TEST(Transport, ShortMessagesWaitForThoseBefore) {
  InProcessOptions options;
  options.bandwidth = 5e6;
  options.progress.part_bytes = 50000;
  options.progress.window_bytes = 100000;
  Job job(2, 0, options);
  job.at(0).Send(1, Make(0, Payload(1000000, 0)), 0, nullptr);
  EXPECT_FALSE(job.at(0).SendShort(1, Make(1), 0));
  job.at(0).Send(1, Make(1), 0, nullptr);
  job.at(0).Send(1, Make(2), 0, nullptr);
  EXPECT_EQ(Order(job.recorders[1].get(), 3), (std::vector<int64_t>{0, 1, 2}));
}

/* A message that comes soon after polling has ended lengthens it: both sides may have slept. */
TEST(Transport, PollsLongerWhereItWouldHaveBeenOfUse) {
  Job job(2, 0);
  Recorder& to = *job.recorders[0];
  const auto polled = [&job] {  // microseconds of this thread
    timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    job.at(0).Work([] { return false; });
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return 1000000 * (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1000;
  };
  size_t sent = 0;
  const auto send = [&] {
    job.at(1).Send(0, Make(0), 0, nullptr);
    ++sent;
    ASSERT_TRUE(to.Wait([&] { return to.got.size() == sent; }));
  };
  int64_t longest = 0;
  for (int i = 0; i < 200 && longest < 500; ++i) {
    for (int vain = 0; vain < 5; ++vain) polled();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    send();
    std::this_thread::sleep_for(std::chrono::microseconds(250));
    send();
    longest = std::max<int64_t>(longest, polled());
  }
  EXPECT_GE(longest, 500);
}

/* Threads that come, work and go at once, while others send. */
TEST(Transport, RandomWork) {
  constexpr int kRanks = 3, kMessages = 400;
  InProcessOptions options;
  options.progress.part_bytes = 2000;
  options.progress.window_bytes = 6000;
  Job job(kRanks, 0, options);
  std::vector<std::thread> threads;
  const auto count = [&job](int rank) {
    Recorder& recorder = *job.recorders[static_cast<size_t>(rank)];
    std::lock_guard<std::mutex> lock(recorder.mutex);
    return recorder.got.size();
  };
  for (int from = 0; from < kRanks; ++from)
    for (int thread = 0; thread < 2; ++thread)
      threads.emplace_back([&, from, thread] {
        std::mt19937 random(static_cast<unsigned>(from * 2 + thread));
        for (int i = 0; i < kMessages; ++i) {
          const int to = static_cast<int>(random() % kRanks);
          job.at(from).Send(to, Make(i, Payload(random() % 3 ? random() % 100 : random() % 30000, 1)), 0, nullptr);
          const size_t before = count(from);
          if (random() % 4 == 0) job.at(from).Work([&] { return count(from) > before; });
        }
      });
  for (auto& thread : threads) thread.join();
  const auto all = [&] { return count(0) + count(1) + count(2); };
  while (all() < 2 * kRanks * kMessages) job.at(0).Work([&] { return all() == 2 * kRanks * kMessages; });
  for (auto& recorder : job.recorders)
    for (const Got& got : recorder->got) EXPECT_TRUE(Same(got.message, *Payload(got.message.bytes, 1)));
}

TEST(Transport, StopSendsWhatWaits) {
  InProcessOptions options;
  options.bandwidth = 100e6;
  Job job(2, 0, options);
  std::atomic<int> sent{0};
  for (int i = 0; i < 20; ++i) job.at(0).Send(1, Make(i, Payload(500000, 0)), 0, [&sent] { ++sent; });
  job.at(0).Stop(30);
  EXPECT_EQ(sent.load(), 20);
  Recorder& to = *job.recorders[1];
  ASSERT_TRUE(to.Wait([&] { return to.lost.size() == 1; }));
  EXPECT_EQ(to.got.size(), 20u);
  EXPECT_TRUE(to.lost[0].said_goodbye);
  // What is sent after the end, or to who has ended, is dropped.
  job.at(0).Send(1, Make(0), 0, [&sent] { ++sent; });
  EXPECT_EQ(sent.load(), 21);
  job.at(1).Send(0, Make(0, Payload(100000, 0)), 0, [&sent] { ++sent; });
  while (sent.load() < 22) std::this_thread::yield();
}

TEST(Transport, StopDoesNotWaitForTheStalled) {
  Job job(2, 0);
  job.fabric.Stall(1);
  job.at(0).Send(1, Make(0, Payload(10 << 20, 0)), 0, nullptr);
  job.at(0).Stop(0.2);
  job.fabric.Resume(1);
}

TEST(Transport, AForkedProcessMayNotSend) {
  Job job(2, 0);
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      job.at(0).Send(1, Make(0), 0, nullptr);
    } catch (const mxnet::Error&) {
      status = job.at(0).Get(1).lost ? 2 : 0;
      job.at(0).Stop(10);
    }
    _exit(status);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Transport, ReportedRanksAreLost) {
  Job job(2, 0);
  static_cast<ProgressTransport&>(job.at(0)).ReportLost(1);
  Recorder& recorder = *job.recorders[0];
  ASSERT_TRUE(recorder.Wait([&] { return recorder.lost.size() == 1; }));
}

/* The process ends when Stop returns, and takes the progress thread along: a launcher that had not
 * heard of the end took it for a loss. */
TEST(Transport, StopReturnsWhenTheEndIsTold) {
  std::atomic<bool> told{false};
  InProcessOptions options;
  options.end = [&told](int rank) {
    if (rank != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    told = true;
  };
  InProcessFabric fabric(2, 0, options);
  fabric.At(0)->Stop(10);
  EXPECT_TRUE(told);
}
