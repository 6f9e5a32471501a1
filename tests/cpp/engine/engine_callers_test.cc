/* The engine's contract (include/mxnet/engine.h) for callers that run work themselves (TryAcquire),
 * for several threads that push, and for the engine's end; on all three engines. */
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/waiting_work.h"
#include "engine_fixture.h"
#include "mxnet/engine.h"
#include "mxnet/interruptible.h"

namespace mxnet {
namespace {

using EngineCallers = EngineTest;
MXNET_ON_ALL_ENGINES(EngineCallers);

// ---- inline path --------------------------------------------------------------------------------

TEST_P(EngineCallers, TryAcquireExcludesAndReleaseLetsIn) {
  Var *a = New(), *b = New();
  ASSERT_TRUE(engine_->TryAcquire(&a, 1, &b, 1));
  EXPECT_FALSE(engine_->TryAcquire(&b, 1, nullptr, 0));
  EXPECT_FALSE(engine_->TryAcquire(nullptr, 0, &a, 1));
  ASSERT_TRUE(engine_->TryAcquire(&a, 1, nullptr, 0));  // readers share
  engine_->Release(&a, 1, nullptr, 0);
  std::atomic<bool> ran{false};
  std::thread pusher([&] {
    engine_->PushSync([&](RunContext) { ran = true; }, kCpu, {a}, {b});
    engine_->WaitForVar(b);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(ran);
  engine_->Release(&a, 1, &b, 1);
  pusher.join();
  EXPECT_TRUE(ran);
  EXPECT_EQ(engine_->Version(b), 2u);
  EXPECT_EQ(engine_->Version(a), 0u);
  EXPECT_EQ(engine_->stats().inlined, 2u);
  Delete({a, b});
}

TEST_P(EngineCallers, ReleaseWithErrorPoisons) {
  Engine::SetCallSiteProvider([] { return std::string("x.py:3"); });
  Var *a = New(), *b = New();
  ASSERT_TRUE(engine_->TryAcquire(nullptr, 0, &a, 1));
  engine_->Release(nullptr, 0, &a, 1, std::make_exception_ptr(Error("inline trouble")), "relu");
  Engine::SetCallSiteProvider(nullptr);
  EXPECT_FALSE(engine_->TryAcquire(&a, 1, nullptr, 0));  // poisoned
  EXPECT_FALSE(engine_->TryAcquire(nullptr, 0, &a, 1));
  Nothing({a}, {b});
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(b); }), "[relu] inline trouble; called at x.py:3");
  engine_->WaitForAll();
  EXPECT_FALSE(engine_->TryAcquire(&a, 1, nullptr, 0));
  Nothing({}, {a, b});
  engine_->WaitForAll();
  ASSERT_TRUE(engine_->TryAcquire(&a, 1, &b, 1));
  engine_->Release(&a, 1, &b, 1);
  Delete({a, b});
}

// ---- several threads ----------------------------------------------------------------------------

TEST_P(EngineCallers, OppositeOrdersFromTwoThreadsDoNotDeadlock) {
  Var *a = New(), *b = New();
  int x = 0;
  auto push = [&](std::vector<Var*> writes) {
    for (int i = 0; i < 3000; ++i) engine_->PushSync([&x](RunContext) { ++x; }, kCpu, {}, writes);
  };
  std::thread one(push, std::vector<Var*>{a, b}), two(push, std::vector<Var*>{b, a});
  one.join();
  two.join();
  engine_->WaitForAll();
  EXPECT_EQ(x, 6000);
  Delete({a, b});
}

TEST_P(EngineCallers, WaitForAllCoversOtherThreadsBulks) {
  Var* v = New();
  Gate pushed, checked;
  int x = 0;
  std::thread other([&] {
    engine_->SetBulkSize(100);
    engine_->PushSync([&](RunContext) { x = 1; }, kCpu, {}, {v});
    pushed.Open();
    checked.Wait();
  });
  pushed.Wait();
  engine_->WaitForAll();
  EXPECT_EQ(x, 1);
  checked.Open();
  other.join();
  Delete({v});
}

TEST_P(EngineCallers, AnotherThreadSeesWhatAnOpenBulkHolds) {
  Var *v = New(), *w = New();
  for (int round = 0; round < 4; ++round) {
    Gate pushed, checked;
    int x = 0, y = -1;
    std::thread other([&] {
      engine_->SetBulkSize(100);
      engine_->PushSync([&](RunContext) { x = 1; }, kCpu, {}, {v});
      pushed.Open();
      checked.Wait();
    });
    pushed.Wait();
    if (round == 0) engine_->WaitForVar(v);
    if (round == 1) engine_->PushSync([&](RunContext) { y = x; }, kCpu, {v}, {w});
    if (round == 2 && engine_->TryAcquire(&v, 1, nullptr, 0)) {
      EXPECT_TRUE(naive());
      EXPECT_EQ(x, 1);
      engine_->Release(&v, 1, nullptr, 0);
    }
    if (round == 3) {
      engine_->SetBulkSize(100);
      engine_->PushSync([&](RunContext) { y = x; }, kCpu, {v}, {w});
      engine_->SetBulkSize(0);
    }
    engine_->WaitForVar(v);
    engine_->WaitForVar(w);
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, round % 2 == 1 ? 1 : -1);
    checked.Open();
    other.join();
  }
  Delete({v, w});
}

TEST_P(EngineCallers, ThreadExitFlushesItsBulk) {
  Var* v = New();
  int x = 0;
  std::thread([&] {
    engine_->SetBulkSize(100);
    engine_->PushSync([&](RunContext) { x = 1; }, kCpu, {}, {v});
  }).join();
  engine_->WaitForVar(v);
  EXPECT_EQ(x, 1);
  std::thread([&] { EXPECT_EQ(engine_->SetBulkSize(0), 0); }).join();  // a new thread starts without bulking
  Delete({v});
}

TEST_P(EngineCallers, DestructorDrains) {
  std::atomic<int> done{0};
  std::vector<Var*> vars;
  for (int i = 0; i < 10; ++i) vars.push_back(New());
  engine_->SetBulkSize(7);
  for (int i = 0; i < 500; ++i) {
    engine_->PushSync(
        [&](RunContext) {
          ++done;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        },
        kCpu, {vars[i % 10]}, {vars[(i + 1) % 10]});
  }
  Completer other;
  engine_->PushAsync(
      [&](RunContext, OnComplete complete) {
        other.Add([&done, complete] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          ++done;
          complete();
        });
      },
      kCpu, {}, {vars[0]});
  for (Var* v : vars) engine_->DeleteVariable([&](RunContext) { ++done; }, kCpu, v);
  engine_.reset();
  EXPECT_EQ(done, 511);
}

// ---- operations that end by messages (waiting_work.h) -------------------------------------------

TEST_P(EngineCallers, WhatOnlyStartsSomethingRunsHereOrInItsTurn) {
  Var* v = New();
  Completer other;
  std::thread::id ran;
  const auto start = [&](RunContext, OnComplete done) {
    ran = std::this_thread::get_id();
    other.Add([done] { done(); });
  };
  engine::PushStarting(engine_.get(), start, {}, {v}, 0, "start");
  EXPECT_EQ(ran, std::this_thread::get_id());
  engine_->WaitForVar(v);
  engine::PushStarting(
      engine_.get(), [](RunContext, OnComplete) { throw Error("no start"); }, {}, {v}, 0, "start");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "[start] no start"));
  if (naive()) return Delete({v});
  Gate gate;
  engine_->PushSync([&](RunContext) { gate.Wait(); }, kCpu, {}, {v});
  ran = std::thread::id();
  engine::PushStarting(engine_.get(), start, {}, {v}, 0, "start");
  EXPECT_EQ(ran, std::thread::id());
  gate.Open();
  engine_->WaitForVar(v);
  EXPECT_NE(ran, std::this_thread::get_id());
  EXPECT_EQ(engine_->Version(v), 4u);
  Delete({v});
}

/* Ends operations on the threads that wait for the engine; `lazy`: leaves that to others. */
class Ends final : public engine::WaitingWork {
 public:
  void Add(const OnComplete& done) {
    std::lock_guard<std::mutex> hold(mutex_);
    todo_.push_back(done);
  }
  void Work(const std::function<bool()>& over) override {
    ++calls;
    while (!lazy && !over()) RunOne();
  }
  void RunOne() {
    std::unique_lock<std::mutex> hold(mutex_);
    if (todo_.empty()) return;
    const OnComplete done = todo_.front();
    todo_.pop_front();
    hold.unlock();
    done();
  }
  std::atomic<int> calls{0};
  bool lazy = false;

 private:
  std::mutex mutex_;
  std::deque<OnComplete> todo_;
};

TEST_P(EngineCallers, ThreadsThatWaitDoWork) {
  Var *a = New(), *b = New();
  Ends ends;
  engine::SetWaitingWork(&ends);
  const auto push = [&](Var* v) {
    engine::PushStarting(
        engine_.get(), [&](RunContext, OnComplete done) { ends.Add(done); }, {}, {v}, 0, "start");
  };
  for (int i = 0; i < 100; ++i) {
    push(a), push(b);
    i % 2 ? engine_->WaitForVar(b) : engine_->WaitForAll();
  }
  EXPECT_EQ(engine_->Version(b), 100u);
  EXPECT_GE(ends.calls.load(), 1);
  engine_->WaitForAll();
  // Others end what is waited for.
  ends.lazy = true;
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) ends.RunOne();
  });
  for (int i = 0; i < 100; ++i) {
    push(a), push(b);
    i % 2 ? engine_->WaitForVar(b) : engine_->WaitForAll();
  }
  over = true;
  other.join();
  engine::SetWaitingWork(nullptr);
  EXPECT_EQ(engine_->Version(b), 200u);
  engine_->WaitForAll();
  Delete({a, b});
}

TEST_P(EngineCallers, WaitsThatAreInterruptedAreLeftBehind) {
  if (naive()) GTEST_SKIP() << "operations run where they are pushed";
  Var* v = New();
  for (const bool all : {false, true}) {
    std::atomic<bool> go{false};
    engine_->PushSync(
        [&](RunContext) {
          while (!go) std::this_thread::yield();
          throw Error("late");
        },
        kCpu, {}, {v});
    int interrupted = 0;
    std::string message;
    for (bool over = false; !over;) {
      try {
        InterruptibleWaits scope;
        all ? engine_->WaitForAll() : engine_->WaitForVar(v, true);
        over = true;
      } catch (const WaitInterrupted&) {
        go = ++interrupted == 2;
      } catch (const Error& e) {
        message = e.what();
        over = true;
      }
    }
    EXPECT_EQ(interrupted, 2);
    EXPECT_NE(message.find("late"), std::string::npos) << message;
  }
  EXPECT_FALSE(InterruptibleWaits::on());
  Delete({v});
}

TEST_P(EngineCallers, NotifyShutdownEndsBulking) {
  Var* v = New();
  int x = 0;
  engine_->SetBulkSize(100);
  engine_->PushSync([&](RunContext) { ++x; }, kCpu, {}, {v});
  engine_->NotifyShutdown();
  engine_->NotifyShutdown();
  engine_->PushSync([&](RunContext) { ++x; }, kCpu, {}, {v});
  EXPECT_EQ(engine_->stats().bulked, naive() ? 0u : 1u);
  engine_->WaitForVar(v);
  EXPECT_EQ(x, 2);
  Delete({v});
}

}  // namespace
}  // namespace mxnet
