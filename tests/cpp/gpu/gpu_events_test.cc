/* Operators of a GPU behind each other by events: random work on fake streams, which run late and
 * on threads of their own, against serial execution. */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/fake_streams.h"
#include "common/scoped_part.h"
#include "engine/gpu_work.h"
#include "engine/var.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "storage/pool.h"

namespace mxnet {
namespace {

class DeviceEvents : public testing::Test {
 protected:
  void SetUp() override {
    streams_.emplace(GpuInterface().streams, &kFakeStreams);
    FakeStream::fault = false;
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_EQ(FakeStream::events, 0) << "events never came back";
    streams_.reset();
  }
  void Make(const char* type) { engine_.reset(Engine::Create(type)); }
  std::optional<ScopedPart<StreamHooks>> streams_;
  std::unique_ptr<Engine> engine_;
};

void Nap(unsigned random) {
  if (random % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random % 200));
}

// Every operator reads some cells and writes others. On the host it works at once, on a device when
// its stream comes to it.
TEST_F(DeviceEvents, RandomWorkAsIfInOrder) {
  for (const char* type : {"ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"}) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      Make(type);
      constexpr int kCells = 7, kOps = 250;
      std::mt19937 random(seed);
      std::vector<uint64_t> serial(kCells, 1);
      std::vector<uint64_t> cells(kCells, 1);
      std::vector<Var*> vars;
      for (int i = 0; i < kCells; ++i) vars.push_back(engine_->NewVariable());
      engine_->SetBulkSize(seed % 3 == 0 ? 5 : 0);
      for (int op = 0; op < kOps; ++op) {
        std::vector<int> order(kCells);
        for (int i = 0; i < kCells; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        const int reads = static_cast<int>(random() % 3), writes = 1 + static_cast<int>(random() % 2);
        std::vector<int> in(order.begin(), order.begin() + reads), out(order.begin() + reads, order.begin() + reads + writes);
        const unsigned nap = random();
        auto work = [in, out, op, nap](std::vector<uint64_t>* data) {
          uint64_t sum = static_cast<uint64_t>(op);
          for (int i : in) sum = sum * 31 + (*data)[i];
          Nap(nap);
          for (int o : out) (*data)[o] = (*data)[o] * 131 + sum;
        };
        work(&serial);
        std::vector<Var*> r, w;
        for (int i : in) r.push_back(vars[i]);
        for (int o : out) w.push_back(vars[o]);
        const unsigned kind = random() % 8;
        const Context ctx = kind < 2 ? Context::CPU() : Context::GPU(static_cast<int>(kind % 2));
        const FnProperty prop = kind == 2   ? FnProperty::kCopyToGPU
                                : kind == 3 ? FnProperty::kGPUPrioritized
                                : kind == 4 ? FnProperty::kCopyFromGPU
                                            : FnProperty::kNormal;
        if (kind == 0 && engine_->TryAcquire(r.data(), reads, w.data(), writes)) {
          work(&cells);
          engine_->Release(r.data(), reads, w.data(), writes);
        } else {
          engine_->PushSync(
              [work, &cells](RunContext run) {
                if (run.stream == nullptr) return work(&cells);
                static_cast<FakeStream*>(run.stream)->Put([work, &cells] { work(&cells); });
              },
              ctx, r, w, prop, 0, "random");
        }
        if (random() % 16 == 0) {
          const int i = static_cast<int>(random() % kCells);
          engine_->WaitForVar(vars[i], random() % 2 == 0);
          ASSERT_EQ(cells[i], serial[i]) << type << " seed " << seed << " operator " << op;
        }
      }
      engine_->WaitForAll();
      EXPECT_EQ(cells, serial) << type << " seed " << seed;
      for (Var* v : vars) engine_->DeleteVariable({}, Context::CPU(), v);
      engine_->WaitForAll();
    }
  }
}

// A gate on the stream stays shut until all operators have been pushed and are complete for the
// engine: a host that waits behind one would hang here.
TEST_F(DeviceEvents, HostWaitsOnlyForResults) {
  Make("ThreadedEnginePerDevice");
  std::atomic<bool> open{false};
  Var* v = engine_->NewVariable();
  Var* w = engine_->NewVariable();
  std::atomic<int> queued{0}, ran{0};
  const int syncs = FakeStream::syncs;
  for (int i = 0; i < 20; ++i) {
    engine_->PushSync(
        [&, i](RunContext run) {
          static_cast<FakeStream*>(run.stream)->Put([&, i] {
            while (i == 0 && !open) std::this_thread::yield();
            ++ran;
          });
          ++queued;
        },
        Context::GPU(0), {}, {v}, i % 2 ? FnProperty::kCopyToGPU : FnProperty::kNormal, 0, "gated");
  }
  while (queued < 20) std::this_thread::yield();
  EXPECT_EQ(ran, 0);
  EXPECT_FALSE(engine_->TryAcquire(&v, 1, nullptr, 0)) << "not for the host yet";
  std::atomic<int> seen{-1};
  engine_->PushSync([&](RunContext) { seen = ran.load(); }, Context::CPU(), {v}, {w}, FnProperty::kNormal, 0, "host");
  open = true;
  engine_->WaitForVar(w);
  EXPECT_EQ(seen, 20);
  engine_->WaitForVar(v, true);
  EXPECT_TRUE(engine_->TryAcquire(nullptr, 0, &v, 1));
  engine_->Release(nullptr, 0, &v, 1);
  EXPECT_EQ(FakeStream::syncs, syncs);
  for (Var* x : {v, w}) engine_->DeleteVariable({}, Context::CPU(), x);
}

TEST_F(DeviceEvents, FaultsNameTheOperator) {
  Make("ThreadedEnginePerDevice");
  Var* v = engine_->NewVariable();
  const auto push = [&](const char* name) {
    engine_->PushSync([](RunContext run) { static_cast<FakeStream*>(run.stream)->Put([] { Nap(100); }); }, Context::GPU(0), {}, {v},
                      FnProperty::kNormal, 0, name);
  };
  for (int all = 0; all < 2; ++all) {
    push("first");
    engine_->WaitForVar(v);
    FakeStream::fault = true;
    push("culprit");
    std::string message;
    try {
      if (all)
        engine_->WaitForAll();
      else
        engine_->WaitForVar(v);
    } catch (const Error& e) {
      message = e.what();
    }
    EXPECT_NE(message.find("fake fault"), std::string::npos) << message;
    EXPECT_NE(message.find("operator culprit"), std::string::npos) << message;
    EXPECT_THROW(engine_->WaitForVar(v), Error) << "it was never computed";
    EXPECT_NO_THROW(engine_->WaitForAll()) << "raised once";
    Var* host = engine_->NewVariable();
    bool ran = false;
    engine_->PushSync([&](RunContext) { ran = true; }, Context::CPU(), {v}, {host}, FnProperty::kNormal, 0, "reader");
    EXPECT_THROW(engine_->WaitForVar(host), Error) << "its input is no result";
    EXPECT_FALSE(ran);
    FakeStream::fault = false;
    engine_->DeleteVariable({}, Context::CPU(), host);
  }
  engine_->DeleteVariable({}, Context::CPU(), v);
  engine_->WaitForAll();
}

// An operation that is skipped leaves no event behind what its stream was told to wait for; what
// comes next must still wait.
TEST_F(DeviceEvents, SkippedOperatorsKeepTheOrder) {
  Make("ThreadedEnginePerDevice");
  Var* data = engine_->NewVariable();
  Var* bad = engine_->NewVariable();
  std::atomic<bool> over{false};
  engine_->PushSync([](RunContext) { throw Error("bad input"); }, Context::CPU(), {}, {bad});
  engine_->PushSync(
      [&](RunContext run) {
        static_cast<FakeStream*>(run.stream)->Put([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          over = true;
        });
      },
      Context::GPU(0), {}, {data});
  engine_->PushSync([](RunContext) { FAIL(); }, Context::GPU(0), {bad}, {data}, FnProperty::kCopyToGPU);
  bool seen = false;
  engine_->PushSync([&](RunContext) { seen = over; }, Context::CPU(), {}, {data}, FnProperty::kNoSkip);
  engine_->WaitForVar(data, true);
  EXPECT_TRUE(seen);
  EXPECT_THROW(engine_->WaitForAll(), Error);
  for (Var* x : {data, bad}) engine_->DeleteVariable({}, Context::CPU(), x);
}

engine::DeviceWorkPtr On(FakeStream* stream) {
  return std::make_shared<engine::DeviceWork>(&kFakeStreams, stream, kFakeStreams.record(stream), "work", std::string());
}

TEST_F(DeviceEvents, BlocksAreReusedInTheOrderOfStreams) {
  PoolOptions options;
  auto device = std::make_shared<FakeDevice>(3 * 4096);
  options.reserve_percent = 0;
  storage::Pool pool(options, device, Context::GPU(0), false);
  FakeStream one, two;
  std::atomic<bool> open{false};
  one.Put([&] {
    while (!open) std::this_thread::yield();
  });
  size_t rounded = 0;
  void* block = pool.Alloc(4000, &rounded);
  pool.FreeBehind(block, rounded, {On(&one)});
  EXPECT_EQ(pool.Stats().used_bytes, 4096u);
  std::vector<engine::DeviceWorkPtr> work;
  void* other = pool.AllocBehind(4000, &rounded, &two, &work);  // another stream: not that one
  EXPECT_NE(other, block);
  EXPECT_TRUE(work.empty());
  EXPECT_EQ(pool.AllocBehind(4000, &rounded, &one, &work), block);  // its own stream: at once
  ASSERT_EQ(work.size(), 1u);
  pool.FreeBehind(block, rounded, work);
  work.clear();
  EXPECT_EQ(pool.AllocBehind(4000, &rounded, nullptr, &work), block);  // whoever waits for its events
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0]->stream, &one);
  pool.FreeBehind(block, rounded, std::move(work));
  void* third = pool.Alloc(4000, &rounded);
  EXPECT_NE(third, block) << "plain requests get only what nobody uses";
  // The device is full. The next request waits for the stream rather than fail.
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    open = true;
  });
  EXPECT_EQ(pool.Alloc(4000, &rounded), block);
  opens.join();
  EXPECT_THROW(pool.Alloc(4000, &rounded), Error);
  for (void* p : {block, other, third}) pool.Free(p, rounded);
  EXPECT_EQ(pool.Stats().used_bytes, 0u);
}

// The writer of new memory waits for what the block's last owner left under way.
TEST_F(DeviceEvents, NewVariablesBeginBehindTheLastOwner) {
  Make("ThreadedEnginePerDevice");
  FakeStream stream;
  std::atomic<bool> over{false};
  stream.Put([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    over = true;
  });
  Var* v = engine_->NewVariable();
  engine::BeginBehind(v, {On(&stream)});
  bool seen = false;
  engine_->PushSync([&](RunContext run) { static_cast<FakeStream*>(run.stream)->Put([&] { seen = over; }); }, Context::GPU(0), {}, {v});
  // Freed while its stream is at work: the deletion knows.
  std::atomic<size_t> known{0};
  engine_->WaitForVar(v);
  EXPECT_TRUE(seen);
  std::atomic<bool> open{false};
  engine_->PushSync(
      [&](RunContext run) {
        static_cast<FakeStream*>(run.stream)->Put([&] {
          while (!open) std::this_thread::yield();
        });
      },
      Context::GPU(0), {}, {v});
  engine_->DeleteVariable([&](RunContext) { known = 1 + engine::WorkOfDeletion().size(); }, Context::GPU(0), v);
  while (known == 0) std::this_thread::yield();
  EXPECT_EQ(known, 2u);
  open = true;
  engine_->WaitForAll();
}

}  // namespace
}  // namespace mxnet
