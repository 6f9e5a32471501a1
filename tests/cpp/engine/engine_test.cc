/* The engine's contract (include/mxnet/engine.h), clause by clause, on all three engines. The
 * clauses about callers that run work themselves and about several threads are in
 * engine_callers_test.cc. */
#include "mxnet/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "engine/change.h"
#include "engine/waiting_work.h"
#include "engine_fixture.h"

namespace mxnet {
namespace {

MXNET_ON_ALL_ENGINES(EngineTest);

TEST(EngineCreate, NamesAndDefault) {
  for (const char* name : {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"}) {
    EXPECT_STREQ(std::unique_ptr<Engine>(Engine::Create(name))->type(), name);
  }
  EXPECT_STREQ(std::unique_ptr<Engine>(Engine::Create(""))->type(), "ThreadedEnginePerDevice");
  EXPECT_TRUE(Contains(MessageOf([] { Engine::Create("FastEngine"); }), "FastEngine"));
  EXPECT_NE(Engine::Get(), nullptr);
  EXPECT_EQ(Engine::Get(), Engine::Get());
}

TEST_P(EngineTest, WritesTakeEffectInPushOrder) {
  Var* v = New();
  std::vector<int> order;
  for (int i = 0; i < 2000; ++i) engine_->PushSync([&order, i](RunContext) { order.push_back(i); }, kCpu, {}, {v});
  engine_->WaitForVar(v);
  ASSERT_EQ(order.size(), 2000u);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(order[i], i);
  EXPECT_EQ(engine_->Version(v), 2000u);
  Delete({v});
}

TEST_P(EngineTest, WaitForPendingLeavesTheLast) {
  Var* v = New();
  engine_->SetBulkSize(0);
  const uint64_t before = engine_->Pushed();
  std::atomic<int> ended{0};
  const auto push = [&](int count) {
    for (int i = 0; i < count; ++i) {
      engine_->PushSync(
          [&](RunContext) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ++ended;
          },
          kCpu, {}, {v});
    }
  };
  push(40);
  EXPECT_EQ(engine_->Pushed() - before, 40u);
  engine_->WaitForPending(50, 0);  // there are not so many
  engine_->WaitForPending(10, 5);
  EXPECT_GE(ended, 35);
  engine_->WaitForVar(v);
  push(40);
  engine_->WaitForAll();  // as before, to the end
  EXPECT_EQ(ended, 80);
  engine_->PushSync([&](RunContext) { engine_->WaitForPending(0, 0); }, kCpu, {}, {v});  // returns at once
  engine_->WaitForVar(v);
  Delete({v});
}

TEST_P(EngineTest, WaitBeforeForkLeavesFailures) {
  Var* v = New();
  engine_->SetBulkSize(15);
  std::atomic<int> ended{0};
  for (int i = 0; i < 40; ++i) {
    engine_->PushSync(
        [&](RunContext) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++ended;
        },
        kCpu, {}, {v});
  }
  engine::WaitBeforeFork(engine_.get());
  EXPECT_EQ(ended, 40);  // also those of an open bulk
  engine_->PushSync([](RunContext) { throw std::runtime_error("broken"); }, kCpu, {}, {v});
  engine::WaitBeforeFork(engine_.get());
  EXPECT_THROW(engine_->WaitForVar(v), std::exception);
  engine_->PushSync([&](RunContext) { engine::WaitBeforeFork(engine_.get()); }, kCpu, {}, {New()});  // returns at once
  engine_->WaitForAll();
}

TEST_P(EngineTest, ReadsBetweenWritesSeeTheFirstWrite) {
  Var* v = New();
  int value = 0;
  std::atomic<int> wrong{0};
  for (int round = 1; round <= 200; ++round) {
    engine_->PushSync([&value, round](RunContext) { value = round; }, kCpu, {}, {v});
    for (int r = 0; r < 3; ++r) engine_->PushSync([&, round](RunContext) { wrong += value != round; }, kCpu, {v}, {});
  }
  engine_->WaitForVar(v, true);  // also the readers
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value, 200);
  Delete({v});
}

TEST_P(EngineTest, WaitForWriteWaitsForReaders) {
  if (naive()) GTEST_SKIP() << "a push returns when the operation is done";
  Var* v = New();
  Gate gate;
  std::atomic<bool> read_done{false};
  Nothing({}, {v});
  engine_->WaitForVar(v);
  engine_->PushSync(
      [&](RunContext) {
        gate.Wait();
        read_done = true;
      },
      kCpu, {v}, {});
  engine_->WaitForVar(v);  // returns although the reader is still there
  EXPECT_FALSE(read_done);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.Open();
  });
  engine_->WaitForVar(v, true);
  EXPECT_TRUE(read_done);
  opener.join();
  Delete({v});
}

TEST_P(EngineTest, AsyncCompletedByAnotherThread) {
  Var* v = New();
  Completer other;
  int value = 0;
  for (int i = 0; i < 20; ++i) {
    engine_->PushAsync(
        [&](RunContext, OnComplete done) {
          other.Add([&value, done] {
            ++value;
            done();
          });
        },
        kCpu, {}, {v}, i % 2 ? FnProperty::kNormal : FnProperty::kAsync, 0, "async");
  }
  engine_->WaitForVar(v);
  EXPECT_EQ(value, 20);
  Delete({v});
}

TEST_P(EngineTest, AsyncFailures) {
  Var* v = New();
  engine_->PushAsync([](RunContext, OnComplete done) { done(std::make_exception_ptr(Error("late trouble"))); }, kCpu, {}, {v},
                     FnProperty::kNormal, 0, "late");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "late trouble"));
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "late trouble"));
  engine_->PushAsync([](RunContext, OnComplete) { throw Error("early trouble"); }, kCpu, {}, {v}, FnProperty::kNormal, 0, "early");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "early trouble"));
  engine_->WaitForAll();
  // Reported success first, then thrown: the variable is good and the operation counts once.
  engine_->PushAsync(
      [](RunContext, OnComplete done) {
        done();
        throw Error("after the end");
      },
      kCpu, {}, {v}, FnProperty::kNormal, 0, "after");
  engine_->WaitForVar(v);
  EXPECT_EQ(engine_->Version(v), 3u);
  Delete({v});
}

TEST_P(EngineTest, DuplicateVariables) {
  Var *a = New(), *b = New();
  auto push = [&](std::vector<Var*> r, std::vector<Var*> w) {
    return MessageOf([&] { engine_->PushSync([](RunContext) {}, kCpu, r, w, FnProperty::kNormal, 0, "dup"); });
  };
  EXPECT_TRUE(Contains(push({}, {a, b, a}), "[dup]"));
  EXPECT_TRUE(Contains(push({nullptr}, {a}), "null"));
  EXPECT_EQ(push({a, b, a, a}, {}), "");
  engine_->SetBulkSize(8);
  EXPECT_TRUE(Contains(push({}, {a, a}), "[dup]"));
  EXPECT_EQ(push({a, a}, {b}), "");
  engine_->SetBulkSize(0);
  engine_->WaitForAll();
  EXPECT_EQ(engine_->Version(a), 0u);
  EXPECT_EQ(engine_->Version(b), 1u);
  EXPECT_TRUE(engine_->TryAcquire(&a, 1, &b, 1));  // nothing was left held
  engine_->Release(&a, 1, &b, 1);
  Delete({a, b});
}

TEST_P(EngineTest, GpuWithoutGpuBuildIsAnError) {
  const ScopedPart<StreamHooks> streams(GpuInterface().streams, nullptr);  // also in a build with CUDA
  Var* v = New();
  std::string message = MessageOf([&] { engine_->PushSync([](RunContext) {}, Context::GPU(3), {}, {v}, FnProperty::kNormal, 0, "conv"); });
  EXPECT_TRUE(Contains(message, "gpu(3)")) << message;
  EXPECT_TRUE(Contains(message, "[conv]")) << message;
  Delete({v});
}

// ---- errors -------------------------------------------------------------------------------------

TEST_P(EngineTest, ErrorPoisonsSkipsAndStays) {
  Var *a = New(), *b = New(), *c = New(), *clean = New();
  std::atomic<int> ran{0};
  Fail({}, {a}, "conv");
  engine_->PushSync([&](RunContext) { ++ran; }, kCpu, {a}, {b});
  engine_->PushSync([&](RunContext) { ++ran; }, kCpu, {clean, b}, {c});
  engine_->PushSync([&](RunContext) { ran += 10; }, kCpu, {}, {clean});
  std::string message = MessageOf([&] { engine_->WaitForVar(c); });
  EXPECT_TRUE(Contains(message, "[conv] broken")) << message;
  engine_->WaitForVar(clean);
  EXPECT_EQ(ran, 10);
  for (Var* v : {c, a, c}) EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(v); }), message) << "never computed";
  EXPECT_EQ(MessageOf([&] { engine_->WaitForAll(); }), "") << "the program knows";
  engine_->PushSync([&](RunContext) { ++ran; }, kCpu, {c}, {b});  // reading after the wait does not make it valid
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(b); }), message);
  EXPECT_EQ(MessageOf([&] { engine_->WaitForAll(); }), "");
  EXPECT_EQ(ran, 10);
  Nothing({}, {b});
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(b); }), "");
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(a); }), message);
  Delete({a, b, c, clean});
}

TEST_P(EngineTest, WhatIsChangedKeepsItsContents) {
  Var *weight = New(), *gradient = New(), *loss = New();
  int updates = 0;
  const auto update = [&] { engine_->PushSync([&](RunContext) { ++updates; }, kCpu, {gradient, weight}, {weight}); };
  Nothing({}, {weight, gradient});
  update();
  Fail({weight}, {gradient, loss}, "bad batch");
  update();                   // skipped
  Nothing({weight}, {loss});  // so is what reads the weight before the program knows
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(loss); }), "bad batch"));
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(weight); }), "");
  EXPECT_EQ(updates, 1);
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(gradient); }), "bad batch"));
  Nothing({weight}, {gradient, loss});  // the next batch
  update();
  EXPECT_EQ(MessageOf([&] {
              engine_->WaitForVar(loss);
              engine_->WaitForVar(weight);
              engine_->WaitForAll();
            }),
            "");
  EXPECT_EQ(updates, 2);
  // A change by what is known to have failed is told by itself, or it would be lost.
  Fail({}, {gradient}, "known");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(gradient); }), "known"));
  update();
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(weight); }), "known"));
  EXPECT_EQ(MessageOf([&] {
              engine_->WaitForVar(weight);
              engine_->WaitForAll();
            }),
            "");
  EXPECT_EQ(updates, 2);
  // A change that fails itself, queued and inline.
  Fail({weight}, {weight}, "no memory");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(weight); }), "no memory"));
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(weight); }), "");
  Var* both[] = {weight, loss};
  ASSERT_TRUE(engine_->TryAcquire(nullptr, 0, both, 2));
  engine::ReleaseChanged(engine_.get(), nullptr, 0, both, 2, 1, std::make_exception_ptr(Error("inline")), "op");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForAll(); }), "inline"));
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(weight); }), "");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(loss); }), "inline"));
  Nothing({loss}, {loss});  // changing what was never computed does not make it valid
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(loss); }), "inline"));
  Delete({weight, gradient, loss});
}

TEST_P(EngineTest, WorkspaceIsWorthNothingAfterAFailure) {
  Var* workspace = engine::NewWorkspaceVariable(engine_.get());
  bool ran = false;
  Nothing({}, {workspace});
  Fail({workspace}, {workspace}, "second part");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForAll(); }), "second part"));
  engine_->PushSync([&](RunContext) { ran = true; }, kCpu, {workspace}, {workspace});  // a third part
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(workspace); }), "second part"));
  EXPECT_FALSE(ran);
  Nothing({}, {workspace});
  EXPECT_EQ(MessageOf([&] {
              engine_->WaitForVar(workspace);
              engine_->WaitForAll();
            }),
            "");
  Delete({workspace});
}

TEST_P(EngineTest, ErrorKeepsKindAndTellsOperatorAndCallSite) {
  Engine::SetCallSiteProvider([] { return std::string("train.py:12"); });
  Var* v = New();
  Fail({}, {v}, "take", "[take] index 7 is out of range");
  Engine::SetCallSiteProvider(nullptr);
  try {
    engine_->WaitForVar(v);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::kIndex);
    EXPECT_STREQ(e.what(), "[take] index 7 is out of range; called at train.py:12");
  }
  engine_->PushSync([](RunContext) { throw std::runtime_error("x"); }, kCpu, {}, {v}, FnProperty::kNormal, 0, "other");
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(v); }), "[other] x");
  engine_->PushSync([](RunContext) { throw Error("[dot] x"); }, kCpu, {}, {v}, FnProperty::kNormal, 0, "FullyConnected");
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(v); }), "[dot] x; raised in operator FullyConnected");
  engine_->PushSync([](RunContext) { throw 7; }, kCpu, {}, {v}, FnProperty::kNormal, 0, "odd");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "[odd]"));
  Delete({v});
}

TEST_P(EngineTest, LaterWriteClearsTheError) {
  Var* v = New();
  Fail({}, {v}, "bad");
  Nothing({}, {v});
  EXPECT_EQ(MessageOf([&] { engine_->WaitForVar(v); }), "");
  EXPECT_EQ(MessageOf([&] { engine_->WaitForAll(); }), "");
  Fail({}, {v}, "bad");
  Fail({}, {v}, "worse");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "[worse]"));
  EXPECT_EQ(MessageOf([&] { engine_->WaitForAll(); }), "");
  Delete({v});
}

TEST_P(EngineTest, WaitForAllRaisesTheFirst) {
  Var *a = New(), *b = New();
  Fail({}, {a}, "first");
  Fail({a}, {a == b ? a : b}, "never");  // skipped: the same failure
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForAll(); }), "[first]"));
  EXPECT_EQ(MessageOf([&] { engine_->WaitForAll(); }), "");
  for (Var* v : {a, b}) EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForVar(v); }), "[first]"));
  Fail({}, {a}, "orphan");
  Delete({a});
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForAll(); }), "[orphan]"));  // the variable is gone, the failure is told
  Fail({}, {}, "no output");
  EXPECT_TRUE(Contains(MessageOf([&] { engine_->WaitForAll(); }), "[no output]"));
  Delete({b});
}

TEST_P(EngineTest, NoSkipRunsOnPoisonedInput) {
  Var *a = New(), *b = New();
  bool ran = false;
  Fail({}, {a}, "bad");
  engine_->PushSync([&](RunContext) { ran = true; }, kCpu, {a}, {b}, FnProperty::kNoSkip);
  engine_->WaitForVar(b);
  EXPECT_TRUE(ran);
  for (int i = 0; i < 2; ++i) EXPECT_NE(MessageOf([&] { engine_->Throw(a); }), "");
  Delete({a, b});
}

TEST_P(EngineTest, PoisonedAsyncIsSkipped) {
  Var *a = New(), *b = New();
  std::atomic<int> ran{0};
  Fail({}, {a}, "bad");
  engine_->PushAsync(
      [&](RunContext, OnComplete done) {
        ++ran;
        done();
      },
      kCpu, {a}, {b});
  EXPECT_NE(MessageOf([&] { engine_->WaitForVar(b); }), "");
  EXPECT_EQ(ran, 0);
  Delete({a, b});
}

// ---- waiting and pushing from inside ------------------------------------------------------------

TEST_P(EngineTest, WaitingInsideAnOperationThrows) {
  Var *v = New(), *other = New();
  std::string var_message, all_message;
  engine_->PushSync(
      [&](RunContext) {
        var_message = MessageOf([&] { engine_->WaitForVar(other); });
        all_message = MessageOf([&] { engine_->WaitForAll(); });
      },
      kCpu, {}, {v});
  engine_->WaitForVar(v);
  EXPECT_TRUE(Contains(var_message, "WaitForVar")) << var_message;
  EXPECT_TRUE(Contains(all_message, "WaitForAll")) << all_message;
  Delete({v, other});
}

TEST_P(EngineTest, PushFromInsideAnOperation) {
  Var *a = New(), *b = New();
  std::vector<int> order;
  engine_->PushSync(
      [&](RunContext) {
        // Writes what this operation holds: must come after it.
        engine_->PushSync([&](RunContext) { order.push_back(2); }, kCpu, {b}, {a});
        order.push_back(1);
      },
      kCpu, {}, {a});
  engine_->WaitForAll();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  Delete({a, b});
}

TEST_P(EngineTest, DeleteRunsAfterEverythingPushed) {
  for (int i = 0; i < 200; ++i) {
    auto value = std::make_shared<int>(0);
    auto seen = std::make_shared<int>(-1);
    Var* v = New();
    Var* out = New();
    engine_->PushSync([value](RunContext) { *value = 1; }, kCpu, {}, {v});
    engine_->PushSync([value](RunContext) { *value += 1; }, kCpu, {}, {v});
    engine_->PushSync([=](RunContext) { *seen = *value; }, kCpu, {v}, {out});
    engine_->DeleteVariable([value](RunContext) { *value = -5; }, kCpu, v);
    engine_->WaitForAll();
    EXPECT_EQ(*seen, 2);
    EXPECT_EQ(*value, -5);
    Delete({out});
  }
}

TEST_P(EngineTest, ClosuresAreReleasedBeforeTheWaitReturns) {
  Var* v = New();
  auto held = std::make_shared<int>(1);
  for (int i = 0; i < 50; ++i) engine_->PushSync([held](RunContext) {}, kCpu, {}, {v});
  engine_->WaitForVar(v);
  EXPECT_EQ(held.use_count(), 1);
  Delete({v});
}

/* Calls a function when it is destroyed. */
struct AtTheEnd {
  explicit AtTheEnd(std::function<void()> function) : f(std::move(function)) {}
  ~AtTheEnd() { f(); }
  const std::function<void()> f;
};

TEST_P(EngineTest, AsynchronousClosuresAreReleasedBeforeTheWaitReturns) {
  Var *v = New(), *poisoned = New();
  Fail({}, {poisoned}, "bad");
  Completer other;
  std::atomic<int> gone{0};
  int pushed = 0;
  enum How { kInside, kThrows, kMeanwhile, kLater, kSkipped };
  for (const bool all : {false, true}) {
    for (const How how : {kInside, kThrows, kMeanwhile, kLater, kSkipped}) {
      auto held = std::make_shared<AtTheEnd>([&gone] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++gone;
      });
      engine_->PushAsync(
          [how, &other, held = std::move(held)](RunContext, OnComplete done) {
            if (how == kThrows) throw Error("no end");
            if (how == kInside) done();
            if (how == kMeanwhile) {
              Gate ended;
              other.Add([done, &ended] {
                done();
                ended.Open();
              });
              ended.Wait();
            }
            if (how == kLater) {
              other.Add([done] {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
                done();
              });
            }
          },
          kCpu, how == kSkipped ? std::vector<Var*>{poisoned} : std::vector<Var*>(), {v});
      MessageOf([&] { all ? engine_->WaitForAll() : engine_->WaitForVar(v); });
      EXPECT_EQ(gone, ++pushed) << how << " " << all;
    }
  }
  Delete({v, poisoned});
}

TEST_P(EngineTest, ClosuresMayPushAndDeleteWhenTheyAreDestroyed) {
  Completer other;
  enum How { kSync, kBulk, kAsync, kOther };
  for (const How how : {kSync, kBulk, kAsync, kOther}) {
    Var *v = New(), *temporary = New();
    std::atomic<int> ran{0};
    std::string message;
    auto held = std::make_shared<AtTheEnd>([&, v, temporary] {  // the operation has the variables still
      message = MessageOf([&] { engine_->WaitForVar(v); });
      engine_->PushSync([&ran](RunContext) { ++ran; }, kCpu, {}, {v});
      engine_->PushAsync(
          [&ran](RunContext, OnComplete done) {
            ++ran;
            done();
          },
          kCpu, {v}, {});
      engine_->DeleteVariable([&ran](RunContext) { ++ran; }, kCpu, temporary);
    });
    if (how == kSync || how == kBulk) {
      if (how == kBulk) engine_->SetBulkSize(10);
      engine_->PushSync([held = std::move(held)](RunContext) {}, kCpu, {temporary}, {v});
      engine_->SetBulkSize(0);
    } else {
      engine_->PushAsync(
          [how, &other, held = std::move(held)](RunContext, OnComplete done) { how == kAsync ? done() : other.Add([done] { done(); }); },
          kCpu, {temporary}, {v});
    }
    engine_->WaitForAll();
    EXPECT_EQ(ran, 3) << how;
    EXPECT_EQ(engine_->Version(v), 2u) << how;
    EXPECT_TRUE(Contains(message, "WaitForVar")) << how << " " << message;
    Delete({v});
  }
}

}  // namespace
}  // namespace mxnet
