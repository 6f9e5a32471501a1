/* Bulks and priorities of the engines that have workers. */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/engine.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

const Context kCpu = Context::CPU();

class BulkTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    engine_.reset(Engine::Create(GetParam()));
    for (Var*& v : v_) v = engine_->NewVariable();
  }
  void TearDown() override {
    for (Var* v : v_) engine_->DeleteVariable({}, kCpu, v);
  }
  void Push(
      std::vector<Var*> reads, std::vector<Var*> writes, std::function<void()> f = [] {}, Context ctx = kCpu) {
    engine_->PushSync([f](RunContext) { f(); }, ctx, reads, writes, FnProperty::kNormal, 0, "item");
  }
  static void Throws() { throw Error("broken"); }
  bool Raises(Var* v) {
    try {
      engine_->WaitForVar(v);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("[item] broken"), std::string::npos) << e.what();
      return true;
    }
    return false;
  }
  /* The default: then operations that are queued have one order. */
  static bool OneWorker() { return Env::Get().cpu_worker_nthreads == 1; }
  std::unique_ptr<Engine> engine_;
  Var* v_[6];
};

INSTANTIATE_TEST_SUITE_P(Threaded, BulkTest, ::testing::Values("ThreadedEngine", "ThreadedEnginePerDevice"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BulkTest, FlushedAtSizeAtWaitAtAsyncAndByHand) {
  EXPECT_EQ(engine_->SetBulkSize(4), 0);
  int x = 0;
  for (int i = 0; i < 8; ++i) Push({}, {v_[0]}, [&] { ++x; });
  EngineStats s = engine_->stats();
  EXPECT_EQ(s.bulks, 2u);
  EXPECT_EQ(s.bulked, 8u);
  EXPECT_EQ(s.pushed, 2u);
  Push({}, {v_[0]}, [&] { ++x; });
  EXPECT_EQ(engine_->stats().bulks, 2u);  // open
  engine_->WaitForVar(v_[1]);             // any wait flushes
  EXPECT_EQ(engine_->stats().bulks, 3u);
  Push({}, {v_[0]}, [&] { ++x; });
  engine_->PushAsync([](RunContext, OnComplete done) { done(); }, kCpu, {}, {v_[1]});
  EXPECT_EQ(engine_->stats().bulks, 4u);
  EXPECT_EQ(engine_->stats().pushed, 5u);
  Push({}, {v_[0]}, [&] { ++x; });
  engine_->FlushBulk();
  EXPECT_EQ(engine_->stats().bulks, 5u);
  engine_->FlushBulk();  // nothing open: no empty bulk
  EXPECT_EQ(engine_->stats().bulks, 5u);
  Push({}, {v_[0]}, [&] { ++x; });
  EXPECT_EQ(engine_->SetBulkSize(2), 4);  // lowering flushes
  EXPECT_EQ(engine_->stats().bulks, 6u);
  Push({}, {v_[0]}, [&] { ++x; });
  engine_->PushSync([&](RunContext) { ++x; }, kCpu, {}, {v_[0]}, FnProperty::kCPUPrioritized);  // not bulked
  EXPECT_EQ(engine_->stats().bulks, 7u);
  engine_->WaitForVar(v_[0]);
  EXPECT_EQ(x, 14);
  EXPECT_EQ(engine_->Version(v_[0]), 14u);  // every write counts, bulk or not
}

TEST_P(BulkTest, ContextIsThatOfExecution) {
  engine_->SetBulkSize(10);
  Push(
      {}, {v_[0]}, [] {}, Context::CPU());
  Push(
      {}, {v_[0]}, [] {}, Context::CPUPinned());  // runs on the CPU's workers too: same bulk
  EXPECT_EQ(engine_->stats().bulks, 0u);
  engine_->PushSync([](RunContext) {}, kCpu, {}, {v_[0]}, FnProperty::kNormal, 5);  // another priority: another bulk
  EXPECT_EQ(engine_->stats().bulks, 1u);
  engine_->WaitForAll();
}

TEST_P(BulkTest, OperationsKnowThatTheyAreInABulk) {
  bool inside = false, outside = true;
  engine_->SetBulkSize(10);
  engine_->PushSync([&](RunContext c) { inside = c.is_bulk; }, kCpu, {}, {v_[0]});
  engine_->SetBulkSize(0);
  engine_->PushSync([&](RunContext c) { outside = c.is_bulk; }, kCpu, {}, {v_[0]});
  engine_->WaitForVar(v_[0]);
  EXPECT_TRUE(inside);
  EXPECT_FALSE(outside);
}

TEST_P(BulkTest, FailureStaysWithWhatDependsOnIt) {
  engine_->SetBulkSize(10);
  int ran = 0;
  Push({}, {v_[0]}, [&] { ran += 1; });
  Push({v_[0]}, {v_[1]}, [] { Throws(); });
  Push({v_[1]}, {v_[2]}, [&] { ran += 100; });  // skipped
  Push({v_[0]}, {v_[3]}, [&] { ran += 10; });   // independent
  Push({v_[2]}, {v_[4]}, [&] { ran += 100; });  // skipped
  engine_->FlushBulk();
  engine_->WaitForVar(v_[0]);
  engine_->WaitForVar(v_[3]);
  EXPECT_EQ(ran, 11);
  EXPECT_TRUE(Raises(v_[4]));
  EXPECT_TRUE(Raises(v_[1]));
  EXPECT_TRUE(Raises(v_[4]));  // never computed, however often it is asked
  engine_->WaitForAll();
}

TEST_P(BulkTest, FailureOverwrittenInTheSameBulk) {
  engine_->SetBulkSize(10);
  int ran = 0;
  Push({}, {v_[0]}, [] { Throws(); });
  Push({}, {v_[0]}, [&] { ++ran; });
  Push({v_[0]}, {v_[1]}, [&] { ++ran; });
  EXPECT_FALSE(Raises(v_[1]));
  EXPECT_FALSE(Raises(v_[0]));
  EXPECT_EQ(ran, 2);
  engine_->WaitForAll();
}

TEST_P(BulkTest, WaitForAllKnowsWhatWasOverwrittenInTheSameBulk) {
  engine_->SetBulkSize(10);
  for (int i = 0; i < 5000; ++i) {
    Push({}, {v_[0]}, [] { Throws(); });
    Push({}, {v_[0]});
    ASSERT_NO_THROW(engine_->WaitForAll()) << i;
  }
}

TEST_P(BulkTest, WhatIsChangedKeepsItsContents) {
  engine_->SetBulkSize(10);
  int ran = 0;
  Push({}, {v_[0], v_[1]}, [&] { ++ran; });            // weight, other
  Push({}, {v_[2]}, [] { Throws(); });                 // gradient
  Push({v_[2], v_[0]}, {v_[0]}, [&] { ran += 100; });  // update: skipped
  Push({v_[0]}, {v_[3]}, [&] { ran += 100; });         // reads the weight in front of the wait: skipped
  engine_->FlushBulk();
  EXPECT_TRUE(Raises(v_[3]));
  EXPECT_FALSE(Raises(v_[0]));  // told already, and it holds what it held
  EXPECT_TRUE(Raises(v_[2]));
  Push({v_[0]}, {v_[4]}, [&] { ++ran; });
  Push({v_[2]}, {v_[2]}, [&] { ran += 100; });  // nothing to change: skipped
  engine_->FlushBulk();
  EXPECT_FALSE(Raises(v_[4]));
  EXPECT_TRUE(Raises(v_[2]));
  EXPECT_EQ(ran, 2);
  Push({}, {v_[2], v_[3]}, [&] { ++ran; });
  EXPECT_FALSE(Raises(v_[2]) || Raises(v_[3]));
  engine_->WaitForAll();
}

TEST_P(BulkTest, PoisonComesInFromOutside) {
  Push({}, {v_[0]}, [] { Throws(); });
  engine_->SetBulkSize(10);
  int ran = 0;
  Push({v_[0]}, {v_[1]}, [&] { ran += 100; });  // skipped
  Push({}, {v_[2]}, [&] { ran += 1; });
  Push({}, {v_[0]}, [&] { ran += 10; });  // repairs the input
  Push({v_[0]}, {v_[3]}, [&] { ran += 1000; });
  engine_->WaitForVar(v_[2]);
  engine_->WaitForVar(v_[3]);
  engine_->WaitForVar(v_[0]);
  EXPECT_EQ(ran, 1011);
  EXPECT_TRUE(Raises(v_[1]));
  engine_->WaitForAll();
}

TEST_P(BulkTest, DeletingATemporaryKeepsTheBulkOpen) {
  engine_->SetBulkSize(10);
  int x = 0, seen = -1, deleted_at = -1, steps = 0;
  Var* temporary = engine_->NewVariable();
  Push({}, {temporary}, [&] {
    x = 5;
    ++steps;
  });
  Push({temporary}, {v_[0]}, [&] {
    seen = x;
    ++steps;
  });
  engine_->DeleteVariable(
      [&](RunContext) {
        x = -1;
        deleted_at = steps;
      },
      kCpu, temporary);
  EXPECT_EQ(engine_->stats().bulks, 0u);
  Push({}, {v_[0]}, [&] { ++steps; });
  EXPECT_EQ(engine_->stats().bulks, 0u);
  engine_->WaitForAll();
  EXPECT_EQ(engine_->stats().bulks, 1u);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(deleted_at, 3);
}

TEST_P(BulkTest, AcquiringAVariableOfTheOpenBulkFlushesIt) {
  engine_->SetBulkSize(10);
  int x = 0;
  Push({}, {v_[0]}, [&] { x = 1; });
  EXPECT_TRUE(engine_->TryAcquire(nullptr, 0, &v_[1], 1));  // another variable: the bulk stays open
  engine_->Release(nullptr, 0, &v_[1], 1);
  EXPECT_EQ(engine_->stats().bulks, 0u);
  while (!engine_->TryAcquire(&v_[0], 1, nullptr, 0)) std::this_thread::yield();
  EXPECT_EQ(x, 1);
  engine_->Release(&v_[0], 1, nullptr, 0);
  EXPECT_EQ(engine_->stats().bulks, 1u);
}

TEST_P(BulkTest, LargeBulk) {
  engine_->SetBulkSize(500);
  std::vector<Var*> vars;
  std::vector<int> values(501, 0);
  for (int i = 0; i <= 500; ++i) vars.push_back(engine_->NewVariable());
  values[0] = 7;
  for (int i = 0; i < 500; ++i) Push({vars[i]}, {vars[i + 1]}, [&values, i] { values[i + 1] = values[i] + 1; });
  EXPECT_EQ(engine_->stats().bulks, 1u);
  engine_->WaitForVar(vars[500]);
  EXPECT_EQ(values[500], 507);
  for (Var* v : vars) engine_->DeleteVariable({}, kCpu, v);
}

TEST_P(BulkTest, LargerPrioritiesRunEarlier) {
  if (!OneWorker()) GTEST_SKIP() << "several workers run";
  // Hold the worker, queue, and look at the order.
  std::atomic<bool> started{false}, go{false};
  Push({}, {v_[0]}, [&] {
    started = true;
    while (!go) std::this_thread::yield();
  });
  while (!started) std::this_thread::yield();
  std::vector<int> order;
  const std::vector<int> priorities = {0, -3, 5, 0, 9, -3, 5, 0};
  std::vector<Var*> vars;
  for (size_t i = 0; i < priorities.size(); ++i) {
    vars.push_back(engine_->NewVariable());
    engine_->PushSync([&order, i](RunContext) { order.push_back(static_cast<int>(i)); }, kCpu, {}, {vars[i]}, FnProperty::kNormal,
                      priorities[i]);
  }
  go = true;
  engine_->WaitForAll();
  EXPECT_EQ(order, (std::vector<int>{4, 2, 6, 0, 3, 7, 1, 5}));
  for (Var* v : vars) engine_->DeleteVariable({}, kCpu, v);
}

TEST_P(BulkTest, ALongChainDoesNotStarveOtherThreads) {
  // x -> x -> x may stay on its worker only while nobody else's operation is queued.
  std::atomic<bool> go{false};
  std::atomic<int> chain{0};
  int when = -1;
  Push({}, {v_[0]}, [&] {
    while (!go) std::this_thread::yield();
  });
  for (int i = 0; i < 1000; ++i) Push({}, {v_[0]}, [&] { ++chain; });
  std::thread([&] { Push({}, {v_[1]}, [&] { when = chain; }); }).join();
  go = true;
  engine_->WaitForAll();
  EXPECT_LE(when, 1);
}

// A program that runs ahead: what reads a result comes before what only begins, so few results live
// at once.
TEST_P(BulkTest, OneThreadsOperationsRunInItsOrder) {
  if (!OneWorker()) GTEST_SKIP() << "several workers run";
  constexpr int kSteps = 200;
  std::atomic<bool> go{false};
  int live = 0, most = 0;  // one worker
  Push({}, {v_[0]}, [&] {
    while (!go) std::this_thread::yield();
  });
  std::vector<Var*> results;
  for (int i = 0; i < kSteps; ++i) {
    results.push_back(engine_->NewVariable());
    Push({v_[0]}, {results.back()}, [&] { most = std::max(most, ++live); });
    Push({results.back()}, {v_[1]}, [&] { --live; });
  }
  go = true;
  engine_->WaitForAll();
  EXPECT_LE(most, 2);
  for (Var* v : results) engine_->DeleteVariable({}, kCpu, v);
}

// Of two that became ready at once the first makes a third ready, which the second stands before:
// the third still comes before the next step.
TEST_P(BulkTest, WhatBecomesReadyLateStaysInItsStep) {
  if (!OneWorker()) GTEST_SKIP() << "several workers run";
  constexpr int kSteps = 200;
  std::atomic<bool> go{false};
  int live = 0, most = 0;  // one worker
  Push({}, {v_[0]}, [&] {
    while (!go) std::this_thread::yield();
  });
  std::vector<Var*> made;
  for (int i = 0; i < kSteps; ++i) {
    for (int k = 0; k < 3; ++k) made.push_back(engine_->NewVariable());
    Var *const first = made.end()[-3], *const second = made.end()[-2], *const third = made.end()[-1];
    Push({v_[0]}, {first}, [&] { most = std::max(most, ++live); });
    Push({first}, {second});
    Push({first}, {third});
    Push({second}, {v_[1]}, [&] { --live; });
  }
  go = true;
  engine_->WaitForAll();
  EXPECT_LE(most, 2);
  for (Var* v : made) engine_->DeleteVariable({}, kCpu, v);
}

TEST_P(BulkTest, ThreadsTakeTurns) {
  if (!OneWorker()) GTEST_SKIP() << "several workers run";
  constexpr int kMany = 100;
  std::atomic<bool> go{false};
  int done = 0;  // one worker
  std::vector<int> when;
  Push({}, {v_[0]}, [&] {
    while (!go) std::this_thread::yield();
  });
  std::vector<Var*> made;
  for (int i = 0; i < kMany; ++i) {
    made.push_back(engine_->NewVariable());
    Push({}, {made.back()}, [&] { ++done; });
  }
  std::thread([&] {
    for (int i = 0; i < 3; ++i) Push({}, {v_[1 + i]}, [&] { when.push_back(done); });
  }).join();
  go = true;
  engine_->WaitForAll();
  ASSERT_EQ(when.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_LE(when[static_cast<size_t>(i)], i + 2);
  EXPECT_EQ(done, kMany);
  for (Var* v : made) engine_->DeleteVariable({}, kCpu, v);
}

}  // namespace
}  // namespace mxnet
