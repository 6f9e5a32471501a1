/*
 * What one process of a job does in the tests of jobs (tests/python/kvstore/test_launch.py, which
 * starts this program by tools/launch.py with one test as filter). By itself every test is skipped.
 * MXNET_TEST_RANK names the rank that something happens to.
 */
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kvstore/dist/transport.h"
#include "mxnet/error.h"

using namespace mxnet::kvstore;  // NOLINT

namespace {

int Special() {
  const char* text = std::getenv("MXNET_TEST_RANK");
  return text ? std::atoi(text) : -1;
}

std::vector<uint8_t> Payload(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> payload(bytes);
  for (size_t i = 0; i < bytes; ++i) payload[i] = static_cast<uint8_t>(seed * 31 + i * 7 + i / 253);
  return payload;
}

class JobRank : public testing::Test, public Transport::Handler {
 protected:
  void SetUp() override {
    if (std::getenv("DMLC_LAUNCHER_SOCKET") == nullptr && std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr)
      GTEST_SKIP() << "not started by tools/launch.py";
  }
  void Join() {
    transport = JobTransport();
    transport->SetHandler(this);
  }
  void TearDown() override {
    if (!transport) return;
    transport->Stop(20);
    transport->SetHandler(nullptr);
  }
  void OnMessage(int from, Message message) override {
    std::lock_guard<std::mutex> lock(mutex);
    messages.emplace_back(from, std::move(message));
    changed.notify_all();
  }
  std::shared_ptr<void> Place(int, const int64_t*, size_t) override { return nullptr; }
  void OnLost(const Peer& peer) override {
    std::lock_guard<std::mutex> lock(mutex);
    lost.push_back(peer);
    changed.notify_all();
  }
  template <typename Condition>
  bool Wait(Condition condition, int seconds = 60) {
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(seconds), condition);
  }
  void SendWord(int to, int64_t word, const std::vector<uint8_t>& payload = {}) {
    auto kept = std::make_shared<std::vector<uint8_t>>(payload);
    Message message;
    message.head[0] = word;
    message.data = kept->data();
    message.bytes = kept->size();
    message.owner = kept;
    transport->Send(to, message, 0, nullptr);
  }
  bool NobodyDied() {
    std::lock_guard<std::mutex> lock(mutex);
    return std::all_of(lost.begin(), lost.end(), [](const Peer& peer) { return peer.said_goodbye; });
  }
  /* All have come so far. */
  void Meet() {
    for (int to = 0; to < transport->size(); ++to) SendWord(to, -1);
    EXPECT_TRUE(Wait([&] { return Count(-1) >= transport->size(); }));
  }
  /* Likewise, and all know that the special one has come: its word is not lost with it. */
  void MeetBeforeTheEndOf(int special) {
    Meet();
    SendWord(special, -2);
    if (transport->rank() == special) EXPECT_TRUE(Wait([&] { return Count(-2) >= transport->size(); }));
  }
  int Count(int64_t word) const {
    return static_cast<int>(std::count_if(messages.begin(), messages.end(), [&](const auto& m) { return m.second.head[0] == word; }));
  }
  /* Waits for the loss, and says whose it is; the test reads that. */
  void ExpectLoss(int rank, int seconds) {
    const auto died = [&] { return std::find_if(lost.begin(), lost.end(), [](const Peer& peer) { return !peer.said_goodbye; }); };
    ASSERT_TRUE(Wait([&] { return died() != lost.end(); }, seconds));
    std::lock_guard<std::mutex> lock(mutex);
    EXPECT_EQ(died()->rank, rank);
    std::printf("rank %d lost %s\n", transport->rank(), died()->str().c_str());
    std::fflush(stdout);
  }

  std::shared_ptr<Transport> transport;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<int, Message>> messages;
  std::vector<Peer> lost;
};

}  // namespace

TEST_F(JobRank, Exchanges) {
  Join();
  const int me = transport->rank(), size = transport->size(), each = 40;
  const Peer self = transport->Get(me);
  EXPECT_EQ(self.process, getpid());
  ASSERT_NE(std::getenv("DMLC_ROLE"), nullptr);
  EXPECT_EQ(self.role == Role::kServer ? "server" : "worker", std::string(std::getenv("DMLC_ROLE")));
  EXPECT_EQ(std::to_string(self.number), std::getenv(self.role == Role::kServer ? "DMLC_SERVER_ID" : "DMLC_WORKER_ID"));
  std::mt19937 random(static_cast<unsigned>(me));
  for (int i = 0; i < each; ++i)
    for (int to = 0; to < size; ++to) SendWord(to, i, Payload(i % 4 == 0 ? random() % 2000000 : random() % 6000, static_cast<uint32_t>(i)));
  ASSERT_TRUE(Wait([&] { return static_cast<int>(messages.size()) == each * size; }));
  transport->SetHandler(nullptr);
  std::vector<int64_t> next(static_cast<size_t>(size));
  for (const auto& [from, message] : messages) {
    EXPECT_EQ(message.head[0], next[static_cast<size_t>(from)]++);
    const std::vector<uint8_t> expected = Payload(message.bytes, static_cast<uint32_t>(message.head[0]));
    EXPECT_TRUE(message.bytes == 0 || std::memcmp(message.data, expected.data(), message.bytes) == 0);
  }
  EXPECT_TRUE(NobodyDied());
}

TEST_F(JobRank, OneIsKilled) {
  Join();
  MeetBeforeTheEndOf(Special());
  if (transport->rank() == Special()) raise(SIGKILL);
  // In the middle of something.
  SendWord(Special(), 1, Payload(20 << 20, 0));
  ExpectLoss(Special(), 60);
}

TEST_F(JobRank, OneIsStalled) {
  Join();
  MeetBeforeTheEndOf(Special());
  if (transport->rank() == Special()) {
    raise(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(600));
  }
  ExpectLoss(Special(), 60);
}

TEST_F(JobRank, OneIsLate) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::atoi(rank) == Special()) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  Join();
  Meet();
}

TEST_F(JobRank, OneNeverComes) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::atoi(rank) == Special()) std::this_thread::sleep_for(std::chrono::seconds(600));
  try {
    Join();
    FAIL() << "it joined";
  } catch (const mxnet::Error& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    _exit(9);
  }
}

TEST_F(JobRank, OneEndsEarly) {
  Join();
  Meet();
  if (transport->rank() == Special()) return;
  ASSERT_TRUE(Wait([&] { return !lost.empty(); }));
  EXPECT_EQ(lost[0].rank, Special());
  EXPECT_TRUE(lost[0].said_goodbye);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

/* As a data loader's process: it leaves MPI alone, and its end is nobody's loss. */
TEST_F(JobRank, ForkedProcessesStayOut) {
  Join();
  Meet();
  const pid_t child = fork();
  if (child == 0) {
    try {
      SendWord(0, 5);
      _exit(1);
    } catch (const mxnet::Error&) {
    }
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (int to = 0; to < transport->size(); ++to) SendWord(to, -2);
  EXPECT_TRUE(Wait([&] { return Count(-2) == transport->size(); }));
  EXPECT_TRUE(NobodyDied());
}

/* The test cuts the network after all have met. Ranks of the other host are lost by silence. */
TEST_F(JobRank, TheNetworkBreaks) {
  Join();
  Meet();
  std::printf("rank %d met\n", transport->rank());
  std::fflush(stdout);
  const auto died = [&] { return std::count_if(lost.begin(), lost.end(), [](const Peer& peer) { return !peer.said_goodbye; }); };
  ASSERT_TRUE(Wait([&] { return died() > 0; }));
  std::printf("rank %d lost %s\n", transport->rank(), transport->Get(lost[0].rank).str().c_str());
  std::fflush(stdout);
}

TEST(JobTransport, NeedsAJob) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) GTEST_SKIP() << "in a job";
  try {
    JobTransport();
    FAIL() << "there is no job";
  } catch (const mxnet::Error& e) {
    EXPECT_STREQ(e.what(),
                 "[kvstore] this process is not part of a distributed job; start it by "
                 "`tools/launch.py -n <workers> -s <servers> python train.py`");
  }
}
