// One compiled plan, many threads: cached operators and executors that share weights, each call
// with an arena of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "common/graph_helpers.h"
#include "executor/plan/callers.h"
#include "mxnet/engine.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"

using namespace mxnet;  // NOLINT

namespace {

#ifdef __SANITIZE_THREAD__
constexpr int kCalls = 8;
#else
constexpr int kCalls = 40;
#endif
constexpr int kThreads = 6;

/* Convolution, normalisation, pooling, two dense layers: about what an image classifier is made
 * of. */
Symbol Net() {
  Symbol x = Symbol::Variable("data");
  x = Make("Convolution", {x}, {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"pad", "(1, 1)"}}, "conv");
  x = Make("BatchNorm", {x}, {{"fix_gamma", "False"}}, "norm");
  x = Make("Activation", {x}, {{"act_type", "relu"}}, "relu");
  x = Make("Pooling", {x}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}, "pool");
  x = Make("FullyConnected", {x}, {{"num_hidden", "16"}}, "fc1");
  x = Make("tanh", {x}, {}, "tanh");
  x = Make("FullyConnected", {x}, {{"num_hidden", "10"}}, "fc2");
  return Make("softmax", {x}, {}, "out");
}

/* Parameters for `images` pictures of 1x12x12, in the order of `names`; "data" is left none. */
std::vector<NDArray> Parameters(const Symbol& net, Symbol::ListOption which, int images) {
  const IndexedGraph g(net.outputs);
  ShapeVector shapes(g.num_entries());
  for (uint32_t id : g.input_nodes)
    if (g.nodes[id].source->name == "data") shapes[g.eid(id, 0)] = Shape({images, 1, 12, 12});
  EXPECT_TRUE(InferShapes(g, &shapes));
  std::vector<NDArray> arrays;
  for (const auto& n : net.ListInputs(which)) {
    if (n->name == "data") {
      arrays.emplace_back();
      continue;
    }
    const bool positive = n->name == "norm_gamma" || n->name == "norm_moving_var";
    arrays.push_back(
        Random(shapes[g.eid(g.id.at(n.get()), 0)], static_cast<int>(arrays.size()) + 7, positive ? 0.5f : -0.5f, positive ? 1.5f : 0.5f));
  }
  return arrays;
}

void ExpectClose(const std::vector<float>& got, const std::vector<float>& want, std::atomic<int>* wrong) {
  bool same = got.size() == want.size();
  for (size_t i = 0; same && i < got.size(); ++i) same = std::fabs(got[i] - want[i]) <= 1e-5f;
  if (!same) ++*wrong;
}

void InThreads(int count, const std::function<void(int)>& fn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(fn, t);
  for (auto& t : threads) t.join();
}

class CachedOpThreads : public ::testing::TestWithParam<std::map<std::string, std::string>> {};

// Every thread has inputs of its own and, now and then, another batch size, so that plans are
// compiled while others run.
TEST_P(CachedOpThreads, ResultsAreThoseOfOneThread) {
  const Symbol net = Net();
  std::vector<NDArray> weights = Parameters(net, Symbol::kAll, 2);
  auto call = [&](CachedOp* op, NDArray data) {
    std::vector<NDArray*> in;
    for (auto& w : weights) in.push_back(w.is_none() ? &data : &w);
    NDArray out;
    op->Invoke(in, {&out});
    return Values(out);
  };
  std::vector<std::vector<float>> want;
  std::vector<NDArray> data;
  auto reference = CachedOp::Create(net, {});
  for (int k = 0; k < 3 * kThreads; ++k) {
    data.push_back(Random(Shape({k % 3 + 1, 1, 12, 12}), 100 + k));
    want.push_back(call(reference.get(), data.back()));
  }
  auto op = CachedOp::Create(net, GetParam());
  std::atomic<int> wrong{0};
  InThreads(kThreads, [&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      const int k = 3 * t + i % 3;
      ExpectClose(call(op.get(), data[k]), want[k], &wrong);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(op->Stats().num_nodes, 0);
}

// Calls whose results are collected later: several of one thread's calls are under way at once.
TEST_P(CachedOpThreads, CallsWithoutWaiting) {
  const Symbol net = Net();
  std::vector<NDArray> weights = Parameters(net, Symbol::kAll, 2);
  auto op = CachedOp::Create(net, GetParam());
  std::atomic<int> wrong{0};
  InThreads(kThreads, [&](int t) {
    NDArray data = Random(Shape({2, 1, 12, 12}), 500 + t);
    std::vector<NDArray*> in;
    for (auto& w : weights) in.push_back(w.is_none() ? &data : &w);
    std::vector<NDArray> out(kCalls);
    for (auto& o : out) op->Invoke(in, {&o});
    const std::vector<float> first = Values(out[0]);
    for (auto& o : out) ExpectClose(Values(o), first, &wrong);
  });
  EXPECT_EQ(wrong.load(), 0);
}

// Weights change while others infer: each result belongs to one state of the weight, never to a
// mixture.
TEST_P(CachedOpThreads, WeightsAreReplacedMeanwhile) {
  Symbol s = Make("FullyConnected", {Symbol::Variable("x"), Symbol::Variable("w")}, {{"num_hidden", "32"}, {"no_bias", "True"}}, "fc");
  auto op = CachedOp::Create(s, GetParam());
  NDArray w(Shape({32, 64}), Context::CPU());
  auto set = [&w](float value) {
    const std::vector<float> values(32 * 64, value);
    w.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  };
  set(1);
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0};
  std::thread writer([&] {
    for (int k = 1; !stop; k = k % 9 + 1) set(static_cast<float>(k));
  });
  InThreads(kThreads, [&](int) {
    NDArray x(Shape({3, 64}), Context::CPU());
    const std::vector<float> ones(3 * 64, 1.f);
    x.CopyBytesFrom(ones.data(), ones.size() * sizeof(float));
    for (int i = 0; i < kCalls; ++i) {
      NDArray out;
      op->Invoke({&x, &w}, {&out});
      const std::vector<float> y = Values(out);
      const float k = y[0] / 64;
      if (k < 1 || k > 9 || k != std::floor(k) || std::any_of(y.begin(), y.end(), [&](float v) { return v != y[0]; })) ++mixed;
    }
  });
  stop = true;
  writer.join();
  EXPECT_EQ(mixed.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Flags, CachedOpThreads,
                         ::testing::Values(std::map<std::string, std::string>{}, std::map<std::string, std::string>{{"thread_safe", "1"}},
                                           std::map<std::string, std::string>{{"static_alloc", "1"}, {"static_shape", "1"}},
                                           std::map<std::string, std::string>{
                                               {"static_alloc", "1"}, {"static_shape", "1"}, {"thread_safe", "1"}}));

// Training through one CachedOp from several threads: each has its own tape.
TEST(Threads, RecordedCalls) {
  const Symbol s = Make("sum", {Make("square", {Symbol::Variable("x")}, {}, "square")}, {}, "sum");
  auto op = CachedOp::Create(s, {{"static_alloc", "1"}});
  std::atomic<int> wrong{0};
  InThreads(kThreads, [&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      NDArray x = Random(Shape({50}), 1000 + t), grad(Shape({50}), Context::CPU());
      const std::vector<float> values = Values(x);
      Imperative::MarkVariables({&x}, {OpReq::kWrite}, {&grad});
      NDArray out;
      Imperative::State().recording = Imperative::State().training = true;
      op->Invoke({&x}, {&out});
      Imperative::State().recording = Imperative::State().training = false;
      Imperative::Backward({&out}, {}, {}, false, false, true);
      std::vector<float> twice = values;
      for (float& v : twice) v *= 2;
      ExpectClose(Values(grad), twice, &wrong);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Threads, ExecutorsOfOnePlan) {
  const Symbol net = Net();
  std::vector<NDArray> args = Parameters(net, Symbol::kReadOnlyArgs, 2), aux = Parameters(net, Symbol::kAuxStates, 2);
  const Shape shape({2, 1, 12, 12});
  auto bound = [&](int seed) {
    std::vector<NDArray> list = args;
    for (auto& a : list)
      if (a.is_none()) a = Random(shape, seed);
    return list;
  };
  auto first = Executor::Bind(net, Context::CPU(), {}, bound(1), {}, {}, aux);
  std::vector<std::shared_ptr<Executor>> executors;
  std::vector<std::vector<float>> want;
  for (int t = 0; t < kThreads; ++t) {
    auto alone = Executor::Bind(net, Context::CPU(), {}, bound(t), {}, {}, aux);
    alone->Forward(false);
    want.push_back(Values(alone->Outputs()[0]));
    executors.push_back(first->SharePlan(bound(t), aux));
  }
  std::atomic<int> wrong{0};
  InThreads(kThreads, [&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      executors[t]->Forward(false);
      ExpectClose(Values(executors[t]->Outputs()[0]), want[t], &wrong);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
  std::vector<NDArray> other = bound(1);
  for (size_t i = 0; i < other.size(); ++i)
    if (args[i].is_none()) other[i] = Random(Shape({3, 1, 12, 12}), 5);
  EXPECT_THROW(first->SharePlan(other, aux), Error);
}

TEST(CallerNumber, IsGivenAgain) {
  const int mine = CallerNumber();
  EXPECT_EQ(CallerNumber(), mine);
  int first = -1, second = -1;
  std::thread([&] { first = CallerNumber(); }).join();
  std::thread([&] { second = CallerNumber(); }).join();
  EXPECT_NE(first, mine);
  EXPECT_EQ(first, second);
}

}  // namespace
