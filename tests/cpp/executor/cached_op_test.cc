// Cached operators: hybridized blocks without Python.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include "common/graph_helpers.h"
#include "executor/passes/core/passes.h"
#include "executor/plan/plan.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "ndarray/stored.h"

using namespace mxnet;  // NOLINT

namespace {

Symbol Var(const std::string& name) { return Symbol::Variable(name); }

std::vector<float> GradOf(const std::function<NDArray(NDArray*)>& f, const NDArray& x, bool twice = false) {
  NDArray variable = x, grad = Filled(x.shape(), 0);
  Imperative::MarkVariables({&variable}, {OpReq::kWrite}, {&grad});
  ImperativeState saved = Imperative::State();
  Imperative::State().recording = Imperative::State().training = true;
  NDArray y = f(&variable);
  Imperative::State() = saved;
  if (twice) Imperative::Backward({&y}, {}, {}, true, false, true);
  Imperative::Backward({&y}, {}, {}, false, false, true);
  return Values(grad);
}

// A recorded CachedOp is one _CachedOp node on the tape.
TEST(CachedOp, AgreesWithOperatorsOneByOne) {
  std::mt19937 random(6);
  for (const char* static_alloc : {"false", "true"}) {
    const Symbol one = Make("elemwise_mul", {Make("tanh", {Var("x")}, {}, "t"), Make("tanh", {Var("y")}, {}, "s")});
    auto op = CachedOp::Create(one, {{"static_alloc", static_alloc}, {"inline_limit", "0"}});
    const NDArray x = Random(Shape({3, 3}), &random), y = Random(Shape({3, 3}), &random);
    auto run = [&](NDArray* v) {
      NDArray other = y, out;
      op->Invoke({v, &other}, {&out});
      return out;
    };
    const std::vector<float> xs = Values(x), ys = Values(y);
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (bool twice : {false, true}) {
        const std::vector<float> g = GradOf(run, x, twice);  // twice: retain_graph
        for (size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], (1 - std::tanh(xs[i]) * std::tanh(xs[i])) * std::tanh(ys[i]), 1e-5);
      }
    }
  }
}

TEST(CachedOp, SecondDerivatives) {
  const Symbol x = Var("x");
  const Symbol s = Make("elemwise_mul", {Make("elemwise_mul", {x, x}, {}, "m1"), x}, {}, "m2");  // x^3
  auto op = CachedOp::Create(s, {{"static_alloc", "true"}});
  NDArray v = Array(Shape({2}), {2, 3}), grad = Filled(Shape({2}), 0);
  Imperative::MarkVariables({&v}, {OpReq::kWrite}, {&grad});
  ImperativeState saved = Imperative::State();
  Imperative::State().recording = Imperative::State().training = true;
  NDArray y;
  op->Invoke({&v}, {&y});
  std::vector<NDArray> first = Imperative::Backward({&y}, {}, {&v}, true, true, true);
  Imperative::State() = saved;
  EXPECT_EQ(Values(first[0]), (std::vector<float>{12, 27}));
  Imperative::Backward({&first[0]}, {}, {}, false, false, true);
  EXPECT_EQ(Values(grad), (std::vector<float>{12, 18}));
}

/* Twos, and how often they were read. */
class Twos final : public StoredContents {
 public:
  void Read(void* to) const override {
    ++reads;
    std::fill_n(static_cast<float*>(to), 64 * 256, 2.f);
  }
  mutable std::atomic<int> reads{0};
};

// What is computed of parameters, and packed, serves plans of other shapes until one is written.
TEST(CachedOp, ConstantsServePlansOfOtherShapes) {
  const Symbol weight = Make("elemwise_mul", {Var("stored"), Var("scale")}, {{kPlanConstant, "1"}}, "scaled");
  const Symbol s = Make("FullyConnected", {Var("x"), weight}, {{"num_hidden", "64"}, {"no_bias", "True"}}, "fc");
  auto op = CachedOp::Create(s, {{"static_alloc", "true"}, {"data_indices", "(0,)"}, {"param_indices", "(1, 2)"}});
  const auto twos = std::make_shared<Twos>();
  NDArray stored = StoredArray(Shape({64, 256}), kFloat32, twos), scale = Filled(Shape({64, 256}), 3);
  const auto answer = [&](int64_t rows) {
    NDArray x = Filled(Shape({rows, 256}), 1), y;
    op->Invoke({&x, &stored, &scale}, {&y});
    const std::vector<float> values = Values(y);
    EXPECT_EQ(std::vector<float>(values.size(), values[0]), values);
    return values[0];
  };
  EXPECT_EQ(256 * 6.f, answer(4));
  EXPECT_EQ(1, twos->reads);
  for (int64_t rows : {5, 6, 7}) EXPECT_EQ(256 * 6.f, answer(rows));
  EXPECT_EQ(1, twos->reads);
  CopyFromTo(Filled(Shape({64, 256}), 5), scale);
  for (int64_t rows : {8, 4, 9}) EXPECT_EQ(256 * 10.f, answer(rows));
  EXPECT_EQ(2, twos->reads);
}

TEST(CachedOp, ManyThreadsOneOperator) {
  Symbol s = Var("x");
  for (int i = 0; i < 10; ++i) s = Make("tanh", {Make("transpose", {s}, {}, "p" + std::to_string(i))}, {}, "t" + std::to_string(i));
  for (const char* static_alloc : {"false", "true"}) {
    auto op = CachedOp::Create(s, {{"static_alloc", static_alloc}});
    auto expect = [](float v) {
      for (int i = 0; i < 10; ++i) v = std::tanh(v);
      return v;
    };
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const float v = 0.1f * static_cast<float>(t + 1) + 0.001f * static_cast<float>(i);
          NDArray in = Filled(Shape({20, 20}), v), out;
          op->Invoke({&in}, {&out});
          for (float o : Values(out)) wrong += std::fabs(o - expect(v)) > 1e-4f;
        }
      });
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CachedOp, ItsHiddenOperatorsDoNotComeFromFiles) {
  for (const char* op : {"_CachedOp", "_backward_CachedOp"}) {
    const std::string error = ErrorOf([&] {
      const Symbol s =
          SymbolFromJSON(std::string(R"({"nodes": [{"op": ")") + op + R"(", "name": "a", "inputs": []}], "heads": [[0, 0, 0]]})");
      Executor::Bind(s, Context::CPU(), {}, {}, {}, {}, {})->Forward(false);
    });
    EXPECT_TRUE(error.find("cannot come from a file") != std::string::npos || error.find("made by gradients alone") != std::string::npos)
        << error;
  }
}

TEST(CachedOp, NewShapesNewPlans) {
  auto op = CachedOp::Create(Make("transpose", {Make("negative", {Var("x")}, {}, "n")}), {});
  for (int64_t rows : {2, 5, 2, 7}) {
    NDArray in = Filled(Shape({rows, 3}), 1), out;
    op->Invoke({&in}, {&out});
    EXPECT_EQ(out.shape(), Shape({3, rows}));
    EXPECT_EQ(Values(out), std::vector<float>(static_cast<size_t>(rows * 3), -1));
  }
  NDArray in = Filled(Shape({2, 3}), 1), given = Filled(Shape({3, 2}), 0), wrong = Filled(Shape({2, 2}), 0);
  op->Invoke({&in}, {&given});
  EXPECT_EQ(Values(given), std::vector<float>(6, -1));
  EXPECT_NE(ErrorOf([&] { op->Invoke({&in}, {&wrong}); }).find("output 0 is given as (2,2)"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { CachedOp::Create(Var("x"), {{"no_such_flag", "1"}}); }).find("unknown flag"), std::string::npos);
}

}  // namespace
