/* CUDA graphs over a fake device: what becomes a segment, when it is captured, what is logged; and
 * whole plans whose captured launches the emulator replays. */
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/plan_inputs.h"
#include "common/scoped_part.h"
#include "executor/plan/cuda_graphs.h"
#include "executor/plan/plan_instance.h"
#include "fake_gemm_library.h"
#include "gpu_emulator.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "operator/nn/rnn/rnn.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

/* What is pushed while a stream is captured goes into `taking`. */
struct FakeGraph {
  std::vector<int> nodes;
  std::vector<std::function<void()>> launches;  // kernels and products
};
FakeGraph* g_capture = nullptr;
std::set<FakeGraph*> g_live;
std::vector<int> g_ran;  // nodes in the order in which the device ran them
std::vector<std::pair<std::string, int>> g_printed;
int g_captures = 0, g_replays = 0, g_refuse = 0;
const rtc::LaunchHooks* g_emulator = nullptr;

const CaptureHooks kCapture = {
    [](void*) {
      ASSERT_EQ(g_capture, nullptr);
      g_capture = new FakeGraph;
    },
    [](void*) -> void* {
      FakeGraph* g = g_capture;
      g_capture = nullptr;
      if (g_refuse) {
        delete g;
        MXNET_THROW(Generic) << "refused";
      }
      ++g_captures;
      g_live.insert(g);
      return g;
    },
    [](void*) {
      delete g_capture;
      g_capture = nullptr;
    },
    [](void* p, void*) {
      FakeGraph* g = static_cast<FakeGraph*>(p);
      ASSERT_EQ(g_live.count(g), 1u);
      ++g_replays;
      g_ran.insert(g_ran.end(), g->nodes.begin(), g->nodes.end());
      for (const auto& launch : g->launches) launch();
    },
    [](void* p) {
      EXPECT_EQ(g_live.erase(static_cast<FakeGraph*>(p)), 1u);
      delete static_cast<FakeGraph*>(p);
    },
    [](void* p) { return static_cast<FakeGraph*>(p)->nodes.size() + static_cast<FakeGraph*>(p)->launches.size(); },
    [](void*, const std::string& path, int flags) { g_printed.emplace_back(path, flags); }};

class DeviceGraphsTest : public testing::Test {
 protected:
  void SetUp() override {
    graphs_.emplace(GpuInterface().graphs, &kCapture);
    g_ran.clear();
    g_printed.clear();
    g_captures = g_replays = g_refuse = 0;
  }
  void TearDown() override {
    for (const char* name : {"MXNET_ENABLE_CUDA_GRAPHS", "MXNET_ENFORCE_DETERMINISM", "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION",
                             "MXNET_CUDA_GRAPHS_VERBOSE", "MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "MXNET_CUDA_GRAPHS_DBG_FILE",
                             "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS"})
      Env::Set(name, "");
    EXPECT_TRUE(g_live.empty()) << "graphs that nobody destroyed";
    graphs_.reset();
  }
  /* Nodes put their number on the stream; those of `waits` wait for the host. */
  DeviceGraphs::Work Nodes(std::set<int> waits = {}, const void* address = nullptr, int throwing = -1) {
    DeviceGraphs::Work w;
    w.run = [=](int t, const RunContext& run) {
      const bool capturing = g_capture != nullptr;
      EXPECT_EQ(run.capturing(), capturing);
      if (waits.count(t)) {
        EXPECT_FALSE(capturing) << "node " << t << " was known to wait";
        g_ran.push_back(t);
        return false;
      }
      MXNET_CHECK(t != throwing) << "node " << t << " fails";
      (capturing ? g_capture->nodes : g_ran).push_back(t);
      return true;
    };
    w.addresses = [=](int begin, int end, DeviceGraphs::Key* key) { key->assign(static_cast<size_t>(end - begin), address); };
    w.name = [](int t) { return "n" + std::to_string(t); };
    return w;
  }
  static std::vector<int> Order(int n) {
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(i);
    return v;
  }
  std::optional<ScopedPart<CaptureHooks>> graphs_;
};

TEST_F(DeviceGraphsTest, OneLaunchPerReplay) {
  DeviceGraphs graphs(6, 0, false);
  for (int run = 0; run < 5; ++run) {
    g_ran.clear();
    graphs.Run(0, 6, Nodes());
    EXPECT_EQ(g_ran, Order(6)) << "run " << run;
    EXPECT_EQ(g_captures, run >= 1) << "run " << run;
    EXPECT_EQ(g_replays, std::max(0, run)) << "run " << run;
  }
}

TEST_F(DeviceGraphsTest, WhatWaitsRunsBetweenSegments) {
  DeviceGraphs graphs(7, 0, false);
  for (int run = 0; run < 5; ++run) {
    g_ran.clear();
    g_replays = 0;
    graphs.Run(0, 7, Nodes({2, 3, 6}));
    EXPECT_EQ(g_ran, Order(7)) << "run " << run;
  }
  EXPECT_EQ(g_captures, 2);  // 0 1 and 4 5
  EXPECT_EQ(g_replays, 2);
}

TEST_F(DeviceGraphsTest, CapturedAgainWhenAddressesChange) {
  DeviceGraphs graphs(3, 0, true);
  char places[8];
  auto run = [&](int place) {
    g_ran.clear();
    graphs.Run(0, 3, Nodes({}, places + place));
    EXPECT_EQ(g_ran, Order(3));
  };
  for (int i = 0; i < 6; ++i) run(i % 2);
  EXPECT_EQ(g_captures, 2);
  EXPECT_EQ(g_replays, 4);
  EXPECT_EQ(g_live.size(), 2u);
  for (int place = 2; place < 8; ++place)
    for (int i = 0; i < 3; ++i) run(place);
  EXPECT_EQ(g_captures, 8);
  EXPECT_EQ(g_live.size(), 4u) << "old graphs are destroyed";
  for (int i = 0; i < 3; ++i) run(0);
  EXPECT_EQ(g_captures, 9);
}

TEST_F(DeviceGraphsTest, ForwardAndBackwardHaveGraphsOfTheirOwn) {
  DeviceGraphs graphs(6, 0, true);
  for (int i = 0; i < 3; ++i) {
    g_ran.clear();
    graphs.Run(0, 4, Nodes());
    graphs.Run(4, 6, Nodes());
    EXPECT_EQ(g_ran, Order(6));
  }
  EXPECT_EQ(g_captures, 2);
}

TEST_F(DeviceGraphsTest, RefusedCapturesRunAsBefore) {
  DeviceGraphs graphs(3, 0, false);
  g_refuse = 1;
  for (int i = 0; i < 4; ++i) {
    g_ran.clear();
    graphs.Run(0, 3, Nodes());
    EXPECT_EQ(g_ran, Order(3));
    EXPECT_EQ(g_capture, nullptr);
  }
  EXPECT_EQ(g_replays, 0);
  DeviceGraphs failing(3, 0, false);
  g_refuse = 0;
  failing.Run(0, 3, Nodes());
  EXPECT_THROW(failing.Run(0, 3, Nodes({}, nullptr, 1)), Error);  // of the node: told to the caller, and the stream is free again
  EXPECT_EQ(g_capture, nullptr);
  for (int i = 0; i < 4; ++i) {
    g_ran.clear();
    failing.Run(0, 3, Nodes());
    EXPECT_EQ(g_ran, Order(3));
  }
}

// What nodes do may depend on variables: every run is one under the value of its time, in a replay
// too.
TEST_F(DeviceGraphsTest, ReplaysBelongToTheEnvironmentOfTheirCapture) {
  DeviceGraphs graphs(2, 0, false);
  const auto node = [](int t) { return 10 * t + Env::Get().enforce_determinism; };
  DeviceGraphs::Work work = Nodes();
  work.run = [&](int t, const RunContext&) {
    (g_capture ? g_capture->nodes : g_ran).push_back(node(t));
    return true;
  };
  const auto run = [&](const char* value) {
    Env::Set("MXNET_ENFORCE_DETERMINISM", value);
    g_ran.clear();
    graphs.Run(0, 2, work);
    EXPECT_EQ(g_ran, (std::vector<int>{node(0), node(1)}));
  };
  for (int i = 0; i < 3; ++i) run("0");
  EXPECT_EQ(g_captures, 1);
  for (int i = 0; i < 3; ++i) run("1");
  EXPECT_EQ(g_captures, 2);
  const int replays = g_replays;
  run("0");
  run("1");
  EXPECT_EQ(g_captures, 2) << "graphs of values that come back are still there";
  EXPECT_EQ(g_replays, replays + 2);

  // changed while a capture is under way: the graph is of neither value
  DeviceGraphs changing(2, 0, false);
  const char* next = nullptr;
  work.run = [&](int t, const RunContext&) {
    (g_capture ? g_capture->nodes : g_ran).push_back(node(t));
    if (g_capture && next) Env::Set("MXNET_ENFORCE_DETERMINISM", next);
    return true;
  };
  for (int i = 0; i < 6; ++i) {
    next = i == 1 ? "0" : nullptr;  // the capture
    if (i == 2) Env::Set("MXNET_ENFORCE_DETERMINISM", "1");
    g_ran.clear();
    changing.Run(0, 2, work);
    EXPECT_EQ(g_ran, (std::vector<int>{node(0), node(1)})) << "run " << i;
    EXPECT_EQ(g_capture, nullptr);
  }
}

TEST_F(DeviceGraphsTest, FilesAndFlags) {
  EXPECT_EQ(GraphFileName("/tmp/net", 3, true, 12), "/tmp/net-dev3-trn.12.dot");
  EXPECT_EQ(GraphFileName("a.b", 0, false, 0), "a.b-dev0-inf.0.dot");
  Env::Set("MXNET_CUDA_GRAPHS_DBG_FILE", "/tmp/net");
  DeviceGraphs graphs(2, 1, true);
  for (int i = 0; i < 3; ++i) graphs.Run(0, 2, Nodes());
  ASSERT_EQ(g_printed.size(), 1u) << "one file for each graph";
  EXPECT_EQ(g_printed[0].first.find("/tmp/net-dev1-trn."), 0u) << g_printed[0].first;
  EXPECT_EQ(g_printed[0].second, -1);
  Env::Set("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", "4");
  char place;
  for (int i = 0; i < 2; ++i) graphs.Run(0, 2, Nodes({}, &place));
  ASSERT_EQ(g_printed.size(), 2u);
  EXPECT_EQ(g_printed[1].second, 4);
  EXPECT_NE(g_printed[1].first, g_printed[0].first);
}

int Lines(const std::string& text) {
  int n = 0;
  for (size_t at = text.find("[cuda graphs]"); at != std::string::npos; at = text.find("[cuda graphs]", at + 1)) ++n;
  return n;
}

TEST_F(DeviceGraphsTest, ReportsAndTheirLimit) {
  auto run = [&](int times) {
    testing::internal::CaptureStderr();
    DeviceGraphs graphs(3, 0, false);
    for (int i = 0; i < times; ++i) graphs.Run(0, 3, Nodes({2}));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(run(4), "");
  Env::Set("MXNET_CUDA_GRAPHS_VERBOSE", "1");
  const std::string text = run(5);  // found out, a run of the shorter segment, captured, replayed twice
  EXPECT_EQ(Lines(text), 4) << text;
  EXPECT_NE(text.find("gpu(0), inference: n2 waits"), std::string::npos) << text;
  EXPECT_NE(text.find("captured from 2 nodes, n0 to n1: 2 kernels"), std::string::npos) << text;
  EXPECT_NE(text.find("replayed"), std::string::npos) << text;
  Env::Set("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "3");  // of the process
  EXPECT_EQ(Lines(run(8)), 3);
  EXPECT_EQ(run(8), "");
  Env::Set("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "0");
  EXPECT_EQ(Lines(run(8)), 7);
}

// ---- whole plans, kernels on the emulator
const StreamHooks kStreams = {[](int) {}, [](bool) -> void* { return new int(0); }, [](void* s) { delete static_cast<int*>(s); },
                              [](void*) {}};

void LaunchOrCapture(const rtc::Kernel& kernel, const rtc::LaunchShape& shape, void* args, size_t bytes, const RunContext& run) {
  if (!g_capture) return g_emulator->launch(kernel, shape, args, bytes, run);
  const char* begin = static_cast<const char*>(args);
  std::vector<char> kept(begin, begin + bytes);
  g_capture->launches.push_back(
      [&kernel, shape, kept, run]() mutable { g_emulator->launch(kernel, shape, kept.data(), kept.size(), run); });
}
void ReadFromEmulator(const void* src, void* dst, size_t bytes, const RunContext& run) { g_emulator->read(src, dst, bytes, run); }
const rtc::LaunchHooks kCapturedKernels = {LaunchOrCapture, ReadFromEmulator};

const gpu_library::GemmLibrary* g_products = nullptr;  // computes at once
std::vector<gpu_library::Arithmetic> g_computed;       // in what, in the order in which the device computed
void MultiplyOrCapture(const gpu_library::GemmProblem& problem, const gpu_library::GemmAlgorithm& algorithm,
                       const gpu_library::GemmOperands& operands, void* workspace, const RunContext& run) {
  const auto multiply = [problem, algorithm, operands, workspace, run] {
    g_computed.push_back(problem.arithmetic);
    g_products->multiply(problem, algorithm, operands, workspace, run);
  };
  if (g_capture)
    g_capture->launches.push_back(multiply);
  else
    multiply();
}
gpu_library::GemmAlgorithm ChooseGemm(const gpu_library::GemmProblem& problem, size_t limit, const RunContext& run) {
  return g_products->choose(problem, limit, run);
}
const gpu_library::GemmLibrary kCapturedGemms = {ChooseGemm, MultiplyOrCapture};

class PlanGraphs : public DeviceGraphsTest {
 protected:
  void SetUp() override {
    DeviceGraphsTest::SetUp();
    if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
    static const bool once = [] {
      GpuInterface().streams.Set(&kStreams);  // stays: workers give their streams back when the process ends
      return FakeGpuMemory<size_t{1} << 30>();
    }();
    ASSERT_TRUE(once);
    device_.reset(new EmulatedDevice);
    kernels_.emplace(GpuInterface().kernels, &kCapturedKernels);
    g_emulator = kernels_->before();
    gemm_.emplace(GpuInterface().gemm, &kCapturedGemms);
    g_products = gemm_->before();
    gpu_library::ForgetGemms();
    g_computed.clear();
    Env::Set("MXNET_ENABLE_CUDA_GRAPHS", "1");
  }
  void TearDown() override {
    Engine::Get()->WaitForAll();
    gemm_.reset();
    gpu_library::ForgetGemms();
    kernels_.reset();
    device_.reset();
    DeviceGraphsTest::TearDown();
  }
  static Symbol Make(const char* op, const std::vector<Symbol>& inputs, const AttrDict& dict, const std::string& name) {
    Symbol s = Symbol::Atomic(Op::Get(op), dict);
    s.Compose(inputs, {}, name);
    return s;
  }
  static NDArray Array(const Shape& shape, float value) {
    NDArray a(shape, Context::GPU(0), kFloat32);
    Fill(a, value);
    return a;
  }
  static void Fill(const NDArray& a, float value) {
    a.WaitToWrite();
    for (int64_t i = 0; i < a.shape().Size(); ++i) a.data().dptr<float>()[i] = value + static_cast<float>(i % 3);
  }
  /* An instance of the plan with arrays in all its places: inputs as given, the others zero. */
  struct Call {
    std::shared_ptr<PlanInstance> instance;
    std::shared_ptr<PlanCall> call;
  };
  static Call Begin(const std::shared_ptr<const Plan>& plan, const PlanRequest& request, bool graphs, const std::vector<Shape>& outputs) {
    Call c{std::make_shared<PlanInstance>(plan, std::make_shared<Arena>(request.ctx)), std::make_shared<PlanCall>()};
    c.call->graphs = graphs;
    c.call->arrays.resize(plan->num_slots());
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      c.call->arrays[i] = Array(request.inputs[i].shape, 0.1f * static_cast<float>(i));
      if (i < request.grad_req.size() && request.grad_req[i] != OpReq::kNull)
        c.call->arrays[plan->grad_slot(static_cast<int>(i))] = Array(request.inputs[i].shape, 0);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      c.call->arrays[plan->output_slot(static_cast<int>(i))] = Array(outputs[i], 0);
      if (plan->has_backward) c.call->arrays[plan->head_slot(static_cast<int>(i))] = Array(outputs[i], 0.5f);
    }
    return c;
  }
  static std::vector<float> Values(const NDArray& a) {
    a.WaitToRead();
    const float* p = a.data().dptr<const float>();
    return {p, p + a.shape().Size()};
  }
  std::unique_ptr<EmulatedDevice> device_;
  std::optional<ScopedPart<rtc::LaunchHooks>> kernels_;
  std::optional<ScopedPart<gpu_library::GemmLibrary>> gemm_;
  FakeGemmLibrary products_;  // before SetUp puts another one in front of it
};

TEST_F(PlanGraphs, ForwardAndBackwardGiveTheSame) {
  Symbol s = Make("tanh", {Make("elemwise_mul", {Symbol::Variable("x"), Symbol::Variable("y")}, {}, "product")}, {}, "tanh");
  s = Make("softmax", {Make("transpose", {s}, {}, "turned")}, {}, "softmax");
  PlanRequest request;
  request.symbol = s;
  request.ctx = Context::GPU(0);
  request.inputs = InputsOf({Shape{2, 3}, Shape{2, 3}}, kFloat32);
  request.is_train = true;
  request.grad_req = {OpReq::kWrite, OpReq::kAdd};
  const auto plan = Plan::Compile(request);
  ASSERT_TRUE(plan->has_backward);
  auto train = [&](bool graphs, std::vector<std::vector<float>>* seen) {
    const auto [instance, call] = Begin(plan, request, graphs, {Shape{3, 2}});
    for (int step = 0; step < 4; ++step) {
      Fill(call->arrays[0], 0.1f * static_cast<float>(step));
      if (step == 3) call->arrays[1] = Array(request.inputs[1].shape, -0.3f);  // another address
      instance->Run(call, false);
      instance->Run(call, true);
      for (int slot : {plan->output_slot(0), plan->grad_slot(0), plan->grad_slot(1)}) seen->push_back(Values(call->arrays[slot]));
    }
    Engine::Get()->WaitForAll();
  };
  std::vector<std::vector<float>> without, with;
  train(false, &without);
  EXPECT_EQ(g_captures, 0);
  train(true, &with);
  EXPECT_EQ(g_captures, 2);  // forward and backward, in step 1; the new address of step 3 is seen once
  EXPECT_EQ(g_replays, 4) << "one launch each in steps 1 and 2";
  EXPECT_EQ(with, without);
}

// What waits stands between graphs; what draws belongs to them, with other numbers in every replay:
// those of runs without graphs.
TEST_F(PlanGraphs, WaitingNodesRunBetweenAndDrawingOnesWithin) {
  Symbol s = Make("relu", {Symbol::Variable("x")}, {}, "relu");
  s = Make("take", {s, Symbol::Variable("i")}, {{"mode", "raise"}}, "taken");  // looks whether its indices are in range
  s = Make("tanh", {s}, {}, "tanh");
  s = Make("Dropout", {s}, {{"p", "0.5"}}, "drop")[0];
  s = Make("LeakyReLU", {s}, {{"act_type", "rrelu"}}, "leaky")[0];
  s = Make("elemwise_add", {s, Make("_random_normal", {}, {{"shape", "(3, 64)"}, {"ctx", "gpu(0)"}}, "noise")}, {}, "sum");
  const Symbol integers = Make("_random_randint", {}, {{"low", "1"}, {"high", "1000"}, {"shape", "(3, 64)"}}, "integers");
  s = Make("elemwise_add", {s, Make("Cast", {integers}, {{"dtype", "float32"}}, "floats")}, {}, "sum2");
  s = Make("_shuffle", {s}, {}, "shuffled");
  s = Make("softmax", {s}, {}, "softmax");
  PlanRequest request;
  request.symbol = s;
  request.ctx = Context::GPU(0);
  request.inputs = InputsOf({Shape{4, 64}, Shape{3}}, kFloat32);
  request.is_train = true;
  const auto plan = Plan::Compile(request);
  auto run = [&](bool graphs) {
    const auto [instance, call] = Begin(plan, request, graphs, {Shape{3, 64}});
    call->random = Imperative::Random(request.ctx);  // one of several
    call->random->state.Seed(7);
    Fill(call->arrays[0], 0.25f);
    Fill(call->arrays[1], 0);
    std::vector<std::vector<float>> seen;
    for (int step = 0; step < 5; ++step) {
      instance->Run(call, false);
      seen.push_back(Values(call->arrays[plan->output_slot(0)]));
    }
    Engine::Get()->WaitForAll();
    return seen;
  };
  const auto without = run(false), with = run(true);
  EXPECT_EQ(with, without);
  EXPECT_NE(with[3], with[4]) << "the same numbers were drawn again";
  EXPECT_EQ(g_captures, 2) << "before and after what waits";
  EXPECT_EQ(g_replays, 6) << "in steps 2, 3 and 4: the first one showed what waits, the second one was the first of these segments";
}

// Products of replays are computed as the variables say at the time of the call.
TEST_F(PlanGraphs, ReplaysFollowTheEnvironment) {
  PlanRequest request;
  request.symbol = Make("FullyConnected", {Symbol::Variable("x"), Symbol::Variable("w")}, {{"num_hidden", "3"}, {"no_bias", "1"}}, "dense");
  request.ctx = Context::GPU(0);
  request.inputs = InputsOf({Shape{2, 5}, Shape{3, 5}}, kFloat32);
  const auto plan = Plan::Compile(request);
  const Call c = Begin(plan, request, true, {Shape{2, 3}});
  for (const char* value : {"0", "0", "0", "1", "1", "1", "0", "1"}) {
    Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", value);
    g_computed.clear();
    c.instance->Run(c.call, false);
    Values(c.call->arrays[plan->output_slot(0)]);
    EXPECT_EQ(g_computed, std::vector<gpu_library::Arithmetic>{*value == '1' ? gpu_library::Arithmetic::kTensorFloat
                                                                             : gpu_library::Arithmetic::kFloat});
  }
  EXPECT_EQ(g_captures, 2);
  EXPECT_EQ(g_replays, 6);
  Engine::Get()->WaitForAll();
}

// A recurrent layer is many small products and kernels that hand their state on through workspace
// memory: one launch, on other values in each run.
TEST_F(PlanGraphs, RecurrentLayersForwardAndBackward) {
  constexpr int64_t kSteps = 3, kBatch = 2, kInput = 4, kHidden = 3;
  for (const char* mode : {"lstm", "gru"}) {
    const bool lstm = std::string(mode) == "lstm";
    const AttrDict attrs = {{"mode", mode},         {"state_size", std::to_string(kHidden)},
                            {"num_layers", "2"},    {"bidirectional", "1"},
                            {"state_outputs", "1"}, {"p", "0.4"}};
    const nn::RnnDims d = nn::DimsOf(MakeAttrs(Op::Get("RNN"), attrs)->get<nn::RNNParam>(), Shape{kSteps, kBatch, kInput});
    PlanRequest request;
    std::vector<Symbol> inputs = {Symbol::Variable("x"), Symbol::Variable("params"), Symbol::Variable("h")};
    const Shape state = {d.layers * d.directions, kBatch, kHidden}, outputs = {kSteps, kBatch, d.directions * kHidden};
    request.inputs = InputsOf({Shape{kSteps, kBatch, kInput}, Shape{d.ParamSize()}, state}, kFloat32);
    std::vector<Shape> results = {outputs, state};
    if (lstm) inputs.push_back(Symbol::Variable("c")), request.inputs.emplace_back(state, kFloat32), results.push_back(state);
    request.symbol = Make("RNN", inputs, attrs, "rnn");
    request.ctx = Context::GPU(0);
    request.is_train = true;
    request.grad_req.assign(inputs.size(), OpReq::kWrite);
    const auto plan = Plan::Compile(request);
    ASSERT_TRUE(plan->has_backward);
    const auto train = [&](bool graphs) {
      const Call c = Begin(plan, request, graphs, results);
      c.call->random = Imperative::Random(request.ctx);
      c.call->random->state.Seed(3);
      std::vector<std::vector<float>> seen;
      for (int step = 0; step < 5; ++step) {
        for (size_t i = 0; i < inputs.size(); ++i) Fill(c.call->arrays[i], 0.07f * static_cast<float>(step) - 0.2f * static_cast<float>(i));
        c.instance->Run(c.call, false);
        c.instance->Run(c.call, true);
        for (size_t i = 0; i < results.size(); ++i) seen.push_back(Values(c.call->arrays[plan->output_slot(static_cast<int>(i))]));
        for (size_t i = 0; i < inputs.size(); ++i) seen.push_back(Values(c.call->arrays[plan->grad_slot(static_cast<int>(i))]));
      }
      Engine::Get()->WaitForAll();
      return seen;
    };
    const auto without = train(false);
    g_captures = g_replays = 0;
    const auto with = train(true);
    EXPECT_EQ(with, without) << mode;
    EXPECT_NE(with[with.size() - 1], with[with.size() - 1 - results.size() - inputs.size()]) << "every step has values of its own";
    EXPECT_EQ(g_captures, 2) << mode;
    EXPECT_EQ(g_replays, 8) << mode;
  }
}

}  // namespace
}  // namespace mxnet
