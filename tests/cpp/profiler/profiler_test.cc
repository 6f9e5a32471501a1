/* The profiler from C++: threads that record while others read, fork, and what a scope costs when
 * it records nothing. */
#include "mxnet/profiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "mxnet/executor.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "profiler/events.h"

namespace mxnet {
namespace {

using profiler::Config;
using profiler::NameScope;

std::string TracePath() { return testing::TempDir() + "mxnet_profiler_test_" + std::to_string(getpid()) + ".json"; }

std::string Contents(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

int Count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

/* Braces and brackets outside strings are balanced and the text is one object. */
bool LooksLikeJson(const std::string& text) {
  std::string open;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return false;
      open.pop_back();
    }
  }
  return !text.empty() && text[0] == '{' && open.empty() && !in_string;
}

class ProfilerTest : public testing::Test {
 protected:
  ProfilerTest() : path_(TracePath()) {
    config_.filename = path_;
    config_.continuous_dump = false;
    config_.aggregate_stats = true;
  }
  ~ProfilerTest() override {
    profiler::SetRunning(false);
    std::remove(path_.c_str());
  }
  void Run() {
    profiler::SetConfig(config_);
    profiler::SetRunning(true);
  }
  std::string Finish() {
    profiler::Dump(true);
    return Contents(path_);
  }
  const std::string path_;
  Config config_;
};

void AddArrays(int times) {
  const AttrsPtr add = MakeAttrs(Op::Get("elemwise_add"), {});
  NDArray a(Shape({4, 4}), Context::CPU()), b(Shape({4, 4}), Context::CPU());
  const std::vector<float> ones(16, 1.0f);
  a.CopyBytesFrom(ones.data(), 64);
  b.CopyBytesFrom(ones.data(), 64);
  for (int i = 0; i < times; ++i) {
    NDArray c;
    Imperative::Invoke(add, {&a, &b}, {&c});
    c.WaitToRead();
  }
}

TEST_F(ProfilerTest, OffRecordsNothing) {
  AddArrays(3);
  EXPECT_EQ(profiler::Active(), 0u);
  Run();
  const std::string text = Finish();
  EXPECT_TRUE(LooksLikeJson(text));
  EXPECT_EQ(Count(text, "elemwise_add"), 0);
  EXPECT_THROW(profiler::Dump(true), Error);
}

TEST_F(ProfilerTest, ThreadsRecordWhileAnotherReads) {
  config_.continuous_dump = true;
  config_.dump_period = 0.005;
  Run();
  constexpr int kThreads = 4, kTimes = 400;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      AddArrays(kTimes);
      for (int i = 0; i < 3000; ++i) NameScope scope(NameScope::kApiCall, "probe");  // several blocks of a thread's queue
      --running;
    });
  }
  while (running.load() > 0) {
    profiler::Dump(false);
    EXPECT_TRUE(LooksLikeJson(Contents(path_)));
    profiler::AggregateStats(true, profiler::SortBy::kTotal, false, false);
    profiler::SetPaused(false);
  }
  for (std::thread& t : threads) t.join();
  const std::string text = Finish();
  EXPECT_TRUE(LooksLikeJson(text));
  EXPECT_EQ(Count(text, "\"name\": \"elemwise_add\""), kThreads * kTimes);
  EXPECT_EQ(Count(text, "\"name\": \"probe\""), kThreads * 3000);
}

TEST_F(ProfilerTest, PlansOnSeveralThreads) {
  config_.profile_memory = config_.profile_api = false;
  Run();
  auto work = [] {
    NodeEntry x = {MakeVariable("x"), 0, 0};
    Symbol symbol;
    symbol.outputs = {MakeOp("tanh", {MakeOp("exp", {x}, {}, "e")}, {}, "t")};
    SimpleBindRequest request;
    request.symbol = symbol;
    request.ctx = Context::CPU();
    request.types["x"].shape = Shape({8, 8});
    request.grad_req = {OpReq::kNull};
    auto executor = SimpleBind(request);
    for (int i = 0; i < 100; ++i) executor->Forward(false);
    executor->Outputs()[0].WaitToRead();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  Engine::Get()->WaitForAll();
  const std::string text = Finish();
  EXPECT_EQ(Count(text, "\"node\": \"t\""), 400);
  EXPECT_EQ(Count(text, "\"name\": \"forward\""), 400);
}

TEST_F(ProfilerTest, ChildStartsClean) {
  Run();
  AddArrays(1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (profiler::Active() != 0 || profiler::Running()) _exit(1);
    AddArrays(1);
    Config config;
    config.filename = path_ + ".child";
    config.continuous_dump = false;
    profiler::SetConfig(config);
    profiler::SetRunning(true);
    AddArrays(2);
    profiler::Dump(true);
    const int seen = Count(Contents(config.filename), "\"name\": \"elemwise_add\"");
    std::remove(config.filename.c_str());
    _exit(seen == 2 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  AddArrays(1);
  EXPECT_EQ(Count(Finish(), "\"name\": \"elemwise_add\""), 2);
}

TEST_F(ProfilerTest, NamesAreEscaped) {
  Run();
  profiler::Object* counter = profiler::NewObject(profiler::ObjectKind::kCounter, "a \"domain\"", "back\\slash\nnew line");
  profiler::SetCounter(counter, 7);
  profiler::DeleteObject(counter);
  const std::string text = Finish();
  EXPECT_TRUE(LooksLikeJson(text));
  EXPECT_EQ(Count(text, "a \\\"domain\\\""), 1);
  EXPECT_EQ(Count(text, "\"back\\\\slash\\u000anew line\": 7"), 1);
}

TEST_F(ProfilerTest, CounterWrapsAround) {
  Run();
  profiler::Object* counter = profiler::NewObject(profiler::ObjectKind::kCounter, "d", "c");
  profiler::AdjustCounter(counter, -1);
  profiler::AdjustCounter(counter, 3);
  profiler::DeleteObject(counter);
  const std::string text = Finish();
  EXPECT_EQ(Count(text, "{\"c\": 18446744073709551615}"), 1);
  EXPECT_EQ(Count(text, "{\"c\": 2}"), 1);
}

TEST(ProfilerEvents, QueueKeepsOrderAcrossBlocks) {
  profiler::ThreadLog log(1, "one");
  std::atomic<bool> done{false};
  constexpr uint64_t kEvents = 200000;
  std::thread writer([&] {
    profiler::Event e = {};
    for (e.id = 0; e.id < kEvents; ++e.id) log.Append(e);
    done.store(true);
  });
  uint64_t next = 0;
  std::vector<profiler::Event> got;
  for (bool last = false; !last;) {
    last = done.load();
    got.clear();
    log.Read(&got);
    for (const auto& e : got) {
      ASSERT_EQ(e.id, next);
      ++next;
    }
  }
  writer.join();
  EXPECT_EQ(next, kEvents);
}

TEST(ProfilerConfig, RejectsWhatItDoesNotKnow) {
  const char* keys[] = {"profile_memory", "dump_period"};
  const char* good[] = {"False", "0.5"};
  const Config c = profiler::ParseConfig(2, keys, good);
  EXPECT_FALSE(c.profile_memory);
  EXPECT_EQ(c.dump_period, 0.5);
  for (const char* bad : {"0", "-1", "nan", "1s", ""}) {
    const char* values[] = {"True", bad};
    EXPECT_THROW(profiler::ParseConfig(2, keys, values), Error) << bad;
  }
}

}  // namespace
}  // namespace mxnet
