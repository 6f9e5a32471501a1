/* How far a program gets ahead of the engine that reads batches and waits for nothing. */
#include "io/shared_iter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "mxnet/engine.h"

namespace mxnet {
namespace {

class Endless : public DataIter {
 public:
  void BeforeFirst() override {}
  bool Next() override { return true; }
  const DataBatch& Value() const override { return batch_; }

 private:
  const DataBatch batch_;
};

TEST(SharedIter, HoldsUpWhoIsFarAhead) {
  Engine* const engine = Engine::Get();
  engine->WaitForAll();
  engine->SetBulkSize(0);
  SharedIter iter(std::make_unique<Endless>());
  Var* const v = engine->NewVariable();
  std::atomic<int> done{0};
  int most = 0;
  constexpr int kBatches = 60, kEach = 4;  // operations of a batch
  for (int i = 0; i < kBatches; ++i) {
    DataBatch batch;
    ASSERT_TRUE(iter.Next(&batch));
    for (int k = 0; k < kEach; ++k) {
      engine->PushSync(
          [&done](RunContext) {
            std::this_thread::sleep_for(std::chrono::microseconds(500));
            ++done;
          },
          Context::CPU(), {}, {v});
    }
    most = std::max(most, (i + 1) * kEach - done);
  }
  if (std::string(engine->type()) != "NaiveEngine") EXPECT_GT(most, 8 * kEach);  // far enough that the engine has work
  EXPECT_LE(most, 17 * kEach + 1);
  engine->WaitForAll();
  engine->DeleteVariable({}, Context::CPU(), v);
}

/* An operation may wait for the thread that reads. */
TEST(SharedIter, GoesOnWhereNothingEnds) {
  Engine* const engine = Engine::Get();
  engine->SetBulkSize(0);
  SharedIter iter(std::make_unique<Endless>());
  Var* const v = engine->NewVariable();
  std::atomic<bool> read{false};
  const auto wait = [&read](RunContext) {
    while (!read) std::this_thread::yield();
  };
  DataBatch batch;
  for (int i = 0; i < 18; ++i) {  // the last one is held up
    ASSERT_TRUE(iter.Next(&batch));
    if (std::string(engine->type()) == "NaiveEngine") continue;
    for (int k = 0; k < 2; ++k) engine->PushSync(wait, Context::CPU(), {}, {v});
  }
  read = true;
  engine->WaitForAll();
  engine->DeleteVariable({}, Context::CPU(), v);
}

}  // namespace
}  // namespace mxnet
