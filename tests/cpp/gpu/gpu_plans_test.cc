/* Plans compiled for a GPU, run node by node on the emulator and the fake libraries. */
#include <algorithm>
#include <cmath>
#include <random>

#include "common/plan_inputs.h"
#include "executor/plan/plan.h"
#include "fake_attention_library.h"
#include "fake_engine_library.h"
#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

Symbol Make(const char* op, const std::vector<Symbol>& inputs, const AttrDict& dict, const std::string& name) {
  Symbol s = Symbol::Atomic(Op::Get(op), dict);
  s.Compose(inputs, {}, name);
  return s;
}

/* Numbers for an input: small, and positive where a variance may be. */
std::vector<float> Numbers(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(static_cast<size_t>(shape.Size()));
  for (float& x : v) x = std::uniform_real_distribution<float>(0.1f, 1.f)(random) * (seed % 3 ? 1.f : 0.5f);
  return v;
}

/* The first output of the plan and the gradients of all inputs, in float32, for inputs of Numbers
 * and a head gradient of ones. */
std::vector<float> RunPlan(const Plan& plan, const PlanRequest& request) {
  std::vector<std::vector<char>> memory(plan.num_slots());
  for (int i = 0; i < plan.num_inputs; ++i) {
    const std::vector<float> numbers = Numbers(request.inputs[i].shape, static_cast<unsigned>(i));
    memory[i].resize(numbers.size() * 8);
    for (size_t k = 0; k < numbers.size(); ++k)
      WriteElement(memory[i].data(), request.inputs[i].dtype, static_cast<int64_t>(k),
                   static_cast<double>(numbers[k]) * (IsFloating(request.inputs[i].dtype) ? 1 : 200));
  }
  const int64_t out_size = plan.output_types[0].shape.Size();
  memory[plan.output_slot(0)].resize(static_cast<size_t>(out_size) * 8);
  memory[plan.head_slot(0)].resize(static_cast<size_t>(out_size) * 8);
  for (int64_t i = 0; i < out_size; ++i) WriteElement(memory[plan.head_slot(0)].data(), plan.output_types[0].dtype, i, 1);
  if (plan.has_backward)
    for (int i = 0; i < plan.num_inputs; ++i) memory[plan.grad_slot(i)].resize(static_cast<size_t>(request.inputs[i].shape.Size()) * 8);
  std::vector<char> arena(plan.memory.arena_bytes + 64), constants(plan.constant_bytes + 64);
  std::vector<std::vector<char>> workspace;
  auto aligned = [](std::vector<char>& v) { return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(v.data()) + 63) / 64 * 64); };
  std::vector<TBlob> blobs;
  for (const Plan::Blob& b : plan.blobs) {
    TBlob t = b.shape;
    switch (b.place) {
      case Plan::Place::kNowhere:
      case Plan::Place::kSparse: break;
      case Plan::Place::kSlot: t.dptr = memory[b.at].data(); break;
      case Plan::Place::kConstant: t.dptr = aligned(constants) + b.at; break;
      case Plan::Place::kArena: t.dptr = aligned(arena) + b.at; break;
    }
    blobs.push_back(t);
  }
  std::vector<std::shared_ptr<OpState>> states(plan.nodes.size());
  RandomState random;  // the same for every plan
  random.Seed(9);
  for (const Plan::Node& n : plan.nodes) {
    KernelArgs a;
    a.random = n.attrs->op->uses_random ? &random : nullptr;
    a.attrs = n.attrs.get();
    a.is_train = plan.is_train;
    a.in = Span<const TBlob>(blobs.data() + n.in, n.num_in);
    a.out = Span<const TBlob>(blobs.data() + n.out, n.num_out);
    a.req = Span<const OpReq>(plan.reqs.data() + n.req, n.num_out);
    a.run.ctx = plan.ctx;
    a.state = &states[&n - plan.nodes.data()];
    a.workspace = [&](size_t bytes) {
      workspace.emplace_back(bytes + 64);
      return static_cast<void*>(aligned(workspace.back()));
    };
    EXPECT_NE(n.kernel, nullptr) << n.name;
    if (n.kernel) (*n.kernel)(a);
  }
  std::vector<float> result;
  auto take = [&](int slot, int dtype, int64_t size) {
    for (int64_t i = 0; i < size; ++i) result.push_back(static_cast<float>(ReadElement(memory[slot].data(), dtype, i)));
  };
  take(plan.output_slot(0), plan.output_types[0].dtype, out_size);
  for (int i = 0; plan.has_backward && i < plan.num_inputs; ++i)
    if (plan.grad_req[i] != OpReq::kNull) take(plan.grad_slot(i), request.inputs[i].dtype, request.inputs[i].shape.Size());
  return result;
}

std::vector<std::string> Operators(const Plan& plan) {
  std::vector<std::string> ops;
  for (const auto& node : plan.nodes) ops.push_back(node.attrs->op->name);
  return ops;
}

// ---- plans for a GPU
TEST(DevicePlan, LayersTakeWhatIsBehindThemIn) {
  Symbol s = Make("Convolution", {Symbol::Variable("data"), Symbol::Variable("w"), Symbol::Variable("b")},
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}}, "conv");
  s = Make("relu", {Make("elemwise_add", {s, Symbol::Variable("other")}, {}, "sum")}, {}, "relu");
  s = Make("FullyConnected", {s, Symbol::Variable("w2"), Symbol::Variable("b2")}, {{"num_hidden", "5"}}, "dense");
  s = Make("Activation", {s}, {{"act_type", "tanh"}}, "tanh");
  PlanRequest request;
  request.symbol = s;
  request.ctx = Context::GPU(0);
  request.inputs = InputsOf({Shape{2, 3, 5, 5}, Shape{4, 3, 3, 3}, Shape{4}, Shape{2, 4, 3, 3}, Shape{5, 36}, Shape{5}}, kFloat32);
  const auto plan = Plan::Compile(request);
  EXPECT_EQ(Operators(*plan), (std::vector<std::string>{"_fused_convolution", "_fused_dense"}));
}

// What the same graph gives on the CPU.
void CheckPlan(const Symbol& symbol, const ShapeVector& shapes, int dtype, const std::vector<std::string>& operators,
               const std::vector<OpReq>& grad_req = {}) {
  PlanRequest request;
  request.symbol = symbol;
  request.inputs = InputsOf(shapes, kFloat32);
  request.grad_req = grad_req;
  request.is_train = !grad_req.empty();
  Env::Set("MXNET_ONEDNN_ENABLED", "0");  // no blocked layouts
  const std::vector<float> want = RunPlan(*Plan::Compile(request), request);
  Env::Set("MXNET_ONEDNN_ENABLED", "");
  request.ctx = Context::GPU(0);
  const auto plan = Plan::Compile(request);
  EXPECT_EQ(plan->has_backward, !grad_req.empty());
  if (!operators.empty()) {
    EXPECT_EQ(Operators(*plan), operators);
  }
  FakeGemmLibrary products;
  FakeEngineLibrary engines;
  for (bool fuses : {true, false}) {
    FakeEngineLibrary::state().fuses = fuses;
    gpu_library::ForgetEngines();
    EmulatedDevice device;
    const std::vector<float> got = RunPlan(*plan, request);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], (dtype == kFloat32 ? 1e-4f : 2e-2f) * (1 + std::fabs(want[i]))) << i;
  }
}

TEST(DevicePlan, BatchNormGoesIntoTheLayer) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Symbol s = Make("Convolution", {Symbol::Variable("data"), Symbol::Variable("w")},
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"no_bias", "True"}}, "conv");
  s = Make("BatchNorm", {s, Symbol::Variable("gamma"), Symbol::Variable("beta"), Symbol::Variable("mean"), Symbol::Variable("var")},
           {{"fix_gamma", "False"}}, "norm");
  s = Make("relu", {s}, {}, "relu");
  s = Make("FullyConnected", {s, Symbol::Variable("w2"), Symbol::Variable("b2")}, {{"num_hidden", "5"}}, "dense");
  s = Make("_mul_scalar", {s}, {{"scalar", "2"}}, "twice");
  CheckPlan(s, {Shape{2, 3, 5, 5}, Shape{4, 3, 3, 3}, Shape{4}, Shape{4}, Shape{4}, Shape{4}, Shape{5, 36}, Shape{5}}, kFloat32,
            {"_fold_scale_shift", "_fused_convolution", "_fold_scale_shift", "FullyConnected"});
}

// A loop whose steps are dense layers, and a branch of its result.
TEST(DevicePlan, LoopsAndBranches) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  const Symbol x = Symbol::Variable("x"), h = Symbol::Variable("h"), w = Symbol::Variable("w");
  const Symbol dense = Make("FullyConnected", {h, w}, {{"num_hidden", "3"}, {"no_bias", "True"}}, "dense");
  const Symbol next = Make("tanh", {Make("elemwise_add", {dense, x}, {}, "sum")}, {}, "next");
  const Symbol twice = Make("_mul_scalar", {next}, {{"scalar", "2"}}, "twice");
  const Symbol loop =
      Make("_foreach", {Symbol::Group({twice, next}), Symbol::Variable("data"), Symbol::Variable("h0"), Symbol::Variable("w0")},
           {{"num_args", "4"},
            {"num_outputs", "2"},
            {"num_out_data", "1"},
            {"in_data_locs", "[2]"},
            {"in_state_locs", "[0]"},
            {"remain_locs", "[1]"}},
           "loop");
  const Symbol p = Make("_greater_scalar", {Symbol::Variable("p")}, {{"scalar", "0"}}, "positive");
  const Symbol a = Make("sin", {Symbol::Variable("a")}, {}, "sin"), b = Make("square", {Symbol::Variable("b")}, {}, "square");
  const Symbol choice =
      Make("_cond", {p, a, b, Symbol::Variable("which"), loop[0], loop[1]},
           {{"num_args", "6"}, {"num_outputs", "1"}, {"cond_input_locs", "[0]"}, {"then_input_locs", "[1]"}, {"else_input_locs", "[1]"}},
           "choice");
  CheckPlan(choice, {Shape{1}, Shape{4, 2, 3}, Shape{2, 3}, Shape{3, 3}}, kFloat32, {});
  CheckPlan(choice, {Shape{1}, Shape{4, 2, 3}, Shape{2, 3}, Shape{3, 3}}, kFloat32, {},
            {OpReq::kNull, OpReq::kWrite, OpReq::kWrite, OpReq::kWrite});
}

TEST(DevicePlan, CastsOfParametersAreKept) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  auto half = [](const char* name) {
    return Make("amp_cast", {Symbol::Variable(name)}, {{"dtype", "float16"}}, std::string(name) + "_cast");
  };
  Symbol s = Make("Convolution", {half("data"), half("w"), half("b")}, {{"kernel", "(3, 3)"}, {"num_filter", "4"}}, "conv");
  s = Make("BatchNorm", {s, Symbol::Variable("gamma"), Symbol::Variable("beta"), Symbol::Variable("mean"), Symbol::Variable("var")}, {},
           "norm");
  s = Make("relu", {s}, {}, "relu");
  CheckPlan(s, {Shape{2, 3, 5, 5}, Shape{4, 3, 3, 3}, Shape{4}, Shape{4}, Shape{4}, Shape{4}, Shape{4}}, kFloat16,
            {"amp_cast", "_fold_scale_shift", "_to_layout", "_fused_convolution", "_to_layout"});
}

// A block of a residual network; tensor cores make plans put channels last.
Symbol Residual() {
  auto conv = [](const Symbol& from, const std::string& name) {
    return Make("Convolution", {from, Symbol::Variable(name + "_w")},
                {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}}, name);
  };
  auto norm = [](const Symbol& from, const std::string& name) {
    return Make("BatchNorm",
                {from, Symbol::Variable(name + "_gamma"), Symbol::Variable(name + "_beta"), Symbol::Variable(name + "_mean"),
                 Symbol::Variable(name + "_var")},
                {{"fix_gamma", "False"}}, name);
  };
  const Symbol first = Make("relu", {norm(conv(Symbol::Variable("data"), "c1"), "n1")}, {}, "r1");
  Symbol s = Make("relu", {Make("elemwise_add", {norm(conv(first, "c2"), "n2"), first}, {}, "sum")}, {}, "r2");
  s = Make("Pooling", {s}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}, "pool");
  return Make("FullyConnected", {s, Symbol::Variable("w"), Symbol::Variable("b")}, {{"num_hidden", "3"}}, "dense");
}
const ShapeVector kResidualShapes = {Shape{2, 3, 6, 6}, Shape{4, 3, 3, 3}, Shape{4}, Shape{4}, Shape{4},     Shape{4}, Shape{4, 4, 3, 3},
                                     Shape{4},          Shape{4},          Shape{4}, Shape{4}, Shape{3, 36}, Shape{3}};

TEST(DevicePlan, TensorCoresGetChannelsLast) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  CheckPlan(Residual(), kResidualShapes, kFloat32,
            {"_fold_scale_shift", "_fused_convolution", "_fold_scale_shift", "_fused_convolution", "Pooling", "FullyConnected"});
  EXPECT_FALSE(FakeEngineLibrary::state().run.back().channels_last);
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1");
  // weights once per plan, data, and what leaves the images
  CheckPlan(Residual(), kResidualShapes, kFloat32,
            {"_fold_scale_shift", "_to_layout", "_fused_convolution", "_fold_scale_shift", "_to_layout", "_fused_convolution", "Pooling",
             "_to_layout", "FullyConnected"});
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "");
  EXPECT_TRUE(FakeEngineLibrary::state().run.back().channels_last);
}

TEST(DevicePlan, TrainingOnPlanesAndWithChannelsLast) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  std::vector<OpReq> grad_req(kResidualShapes.size(), OpReq::kWrite);
  for (int moving : {4, 5, 9, 10}) grad_req[moving] = OpReq::kNull;
  PlanRequest request;
  request.symbol = Residual();
  request.inputs = InputsOf(kResidualShapes, kFloat32);
  request.grad_req = grad_req;
  request.is_train = true;
  request.ctx = Context::GPU(0);
  const std::vector<std::string> operators = Operators(*Plan::Compile(request));
  for (const char* name : {"_contrib_BatchNormWithReLU", "_fused_batch_norm_add_relu"})
    for (const char* way : {"", "_backward"})
      EXPECT_EQ(std::count(operators.begin(), operators.end(), *way ? way + std::string(name).substr(name[1] == 'c' ? 8 : 0) : name), 1)
          << way << name;
  CheckPlan(Residual(), kResidualShapes, kFloat32, {}, grad_req);
  EXPECT_FALSE(FakeEngineLibrary::state().run.back().channels_last);
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1");
  CheckPlan(Residual(), kResidualShapes, kFloat32, {}, grad_req);
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "");
  EXPECT_TRUE(FakeEngineLibrary::state().run.back().channels_last);
}

// Several heads, split and joined by transposes, between casts of mixed precision: one operator, in
// a library's kernel and in parts.
TEST(DevicePlan, AttentionIsOneOperator) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  auto cast = [](const Symbol& s, const char* dtype, const std::string& name) { return Make("amp_cast", {s}, {{"dtype", dtype}}, name); };
  auto heads = [&](const std::string& name) {
    const Symbol split =
        Make("Reshape", {cast(Symbol::Variable(name), "float16", name + "_half")}, {{"shape", "(0, 0, 2, -1)"}}, name + "_split");
    return Make("Reshape", {Make("transpose", {split}, {{"axes", "(0, 2, 1, 3)"}}, name + "_moved")}, {{"shape", "(-3, 0, 0)"}},
                name + "_heads");
  };
  enum Precision {
    kHalfAll,
    kWideSoftmax,
    kWideWeights
  };  // the last: values are widened for the second product, whose result is narrowed, as amp.convert_symbol does
  for (Precision precision : {kHalfAll, kWideSoftmax, kWideWeights}) {
    const bool wide = precision != kHalfAll;
    Symbol s = Make("batch_dot", {heads("q"), heads("k")}, {{"transpose_b", "True"}}, "scores");
    s = Make("_mul_scalar", {s}, {{"scalar", "0.25"}}, "scaled");
    if (wide) s = cast(s, "float32", "wide");
    s = Make("broadcast_add", {s, wide ? Symbol::Variable("mask") : cast(Symbol::Variable("mask"), "float16", "mask_half")}, {}, "masked");
    s = Make("Dropout", {Make("softmax", {s}, {{"axis", "-1"}}, "weights")}, {{"p", "0.3"}}, "dropped");
    if (precision == kWideSoftmax) s = cast(s, "float16", "narrow");
    const Symbol both = Make("amp_multicast", {s, heads("v")}, {{"num_outputs", "2"}}, "both");
    s = precision == kWideWeights ? Make("batch_dot", {both[0], both[1]}, {}, "values") : Make("batch_dot", {s, heads("v")}, {}, "values");
    s = Make("Reshape", {s}, {{"shape", "(-4, -1, 2, 0, 0)"}}, "split");
    s = Make("Reshape", {Make("transpose", {s}, {{"axes", "(0, 2, 1, 3)"}}, "moved")}, {{"shape", "(0, 0, -3)"}}, "joined");
    PlanRequest read_wide;  // without that its result is read in float32: it stays as it is
    read_wide.symbol = s, read_wide.ctx = Context::GPU(0),
    read_wide.inputs = InputsOf({Shape{2, 5, 16}, Shape{2, 6, 16}, Shape{4, 1, 6}, Shape{2, 6, 16}}, kFloat32);
    const std::vector<std::string> plain = Operators(*Plan::Compile(read_wide));
    EXPECT_EQ(std::count(plain.begin(), plain.end(), "_fused_attention"), precision != kWideWeights);
    if (precision == kWideWeights) s = cast(s, "float16", "narrow");
    s = cast(s, "float32", "result");
    const ShapeVector shapes = {Shape{2, 5, 16}, Shape{2, 6, 16}, Shape{4, 1, 6}, Shape{2, 6, 16}};
    for (bool taken : {false, true}) {
      FakeAttentionLibrary attention;
      if (!taken) FakeAttentionLibrary::refuse() = [](const gpu_library::AttentionProblem&) { return true; };
      std::vector<std::string> operators = {"amp_cast", "amp_cast", "amp_cast", "_fused_attention", "amp_cast"};
      if (!wide) operators.insert(operators.begin(), "amp_cast");
      CheckPlan(s, shapes, kFloat16, operators);
      EXPECT_EQ(FakeAttentionLibrary::run().size(), taken ? 2u : 0u);
      operators.insert(std::find(operators.begin(), operators.end(), "_fused_attention"), "_draw_counters");  // in training it drops
      operators.insert(operators.end(),
                       {"_backward_cast", "_backward_fused_attention", "_backward_cast", "_backward_cast", "_backward_cast"});
      CheckPlan(s, shapes, kFloat16, operators, {OpReq::kWrite, OpReq::kWrite, OpReq::kNull, OpReq::kWrite});
      EXPECT_EQ(FakeAttentionLibrary::run().size(), taken ? 6u : 0u);
    }
  }
}

// Interleaved projections with lengths as GluonNLP's BERT makes them, one for each example: engines
// get a mask of one row for each head.
TEST(DevicePlan, InterleavedAttentionIsOneOperator) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  auto cast = [](const Symbol& s, const char* dtype, const std::string& name) { return Make("Cast", {s}, {{"dtype", dtype}}, name); };
  const AttrDict heads = {{"heads", "2"}};
  for (const auto& way : {std::make_pair(true, "0"), {true, "0.3"}, {false, "0"}, {false, "0.3"}}) {
    const bool self = way.first;
    const char* p = way.second;
    const std::string ops = std::string("_contrib_interleaved_matmul_") + (self ? "selfatt" : "encdec");
    const Symbol q = cast(Symbol::Variable("q"), "float16", "q_half"), kv = self ? q : cast(Symbol::Variable("kv"), "float16", "kv_half");
    Symbol length =
        Make("Reshape", {Make("_mul_scalar", {Symbol::Variable("share")}, {{"scalar", "7"}}, "long")}, {{"shape", "(-1, 1)"}}, "column");
    length = cast(Make("broadcast_axis", {length}, {{"axis", "1"}, {"size", "5"}}, "rows"), "int32", "whole");
    length = Make("broadcast_axis", {Make("expand_dims", {length}, {{"axis", "1"}}, "expanded")}, {{"axis", "1"}, {"size", "2"}}, "each");
    length = Make("Reshape", {length}, {{"shape", "(-1, 0)"}, {"reverse", "True"}}, "length");
    Symbol s = Make((ops + "_qk").c_str(), self ? std::vector<Symbol>{q} : std::vector<Symbol>{q, kv}, heads, "scores");
    s = Make("softmax", {s, length}, {{"use_length", "True"}}, "weights");
    s = Make("Dropout", {s}, {{"p", p}}, "dropped");
    s = cast(Make((ops + "_valatt").c_str(), {kv, s}, heads, "values"), "float32", "result");
    ShapeVector shapes = {Shape{6, 3, 32}, Shape{5, 3, 16}, Shape{3}};  // in the order in which they are met
    if (self) shapes = {Shape{5, 3, 48}, Shape{3}};
    std::vector<OpReq> grad_req(shapes.size(), OpReq::kWrite);
    grad_req.back() = OpReq::kNull;
    for (bool taken : {false, true}) {
      FakeAttentionLibrary attention;
      if (!taken) FakeAttentionLibrary::refuse() = [](const gpu_library::AttentionProblem&) { return true; };
      for (bool train : {false, true}) {
        PlanRequest request;
        request.symbol = s, request.inputs = InputsOf(shapes, kFloat32), request.ctx = Context::GPU(0), request.is_train = train;
        if (train) request.grad_req = grad_req;
        const std::vector<std::string> operators = Operators(*Plan::Compile(request));
        EXPECT_EQ(std::count(operators.begin(), operators.end(), "_fused_attention"), 1);
        EXPECT_EQ(std::count(operators.begin(), operators.end(), "_backward_fused_attention"), train);
        EXPECT_EQ(std::count(operators.begin(), operators.end(), "softmax") + std::count(operators.begin(), operators.end(), "Dropout"), 0);
        CheckPlan(s, shapes, kFloat16, operators, train ? grad_req : std::vector<OpReq>());
      }
      ASSERT_EQ(FakeAttentionLibrary::run().size(), taken ? 6u : 0u);
      for (const gpu_library::AttentionProblem& p : FakeAttentionLibrary::run()) {
        EXPECT_EQ(std::vector<int64_t>(p.mask_dims, p.mask_dims + 4), (std::vector<int64_t>{3, 2, p.backward ? 5 : 1, self ? 5 : 6}));
        EXPECT_EQ(p.key.row, self ? 3 * 48 : 3 * 32);
      }
    }
  }
}

// ---- fusion of pointwise operators
Symbol Number(const char* op, const Symbol& x, const char* scalar, const std::string& name) {
  return Make(op, {x}, {{"scalar", scalar}}, name);
}
Symbol CastTo(const Symbol& x, int dtype, const std::string& name) { return Make("amp_cast", {x}, {{"dtype", DTypeName(dtype)}}, name); }

/* The same graph with these many launches, fused and as it is written, and the same results within
 * a relative tolerance. */
void CheckFusion(const Symbol& symbol, const ShapeVector& shapes, const std::vector<int>& dtypes, int fused_launches, int launches,
                 float tolerance, const std::vector<OpReq>& grad_req = {}) {
  PlanRequest request;
  request.symbol = symbol;
  request.ctx = Context::GPU(0);
  for (size_t i = 0; i < shapes.size(); ++i) request.inputs.emplace_back(shapes[i], dtypes[i]);
  request.grad_req = grad_req;
  request.is_train = !grad_req.empty();
  std::vector<float> results[2];
  for (bool fuse : {false, true}) {
    Env::Set("MXNET_USE_FUSION", fuse ? "" : "0");
    Env::Set("MXNET_PLAN_PASSES_OFF", fuse ? "" : "fuse_softmax,fuse_layer_norm,fuse_gelu");
    const auto plan = Plan::Compile(request);
    Env::Set("MXNET_USE_FUSION", "");
    Env::Set("MXNET_PLAN_PASSES_OFF", "");
    EmulatedDevice device;
    const int before = EmulatedDevice::launches();
    results[fuse] = RunPlan(*plan, request);
    EXPECT_EQ(EmulatedDevice::launches() - before, fuse ? fused_launches : launches) << testing::PrintToString(Operators(*plan));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) ASSERT_NEAR(results[1][i], results[0][i], tolerance * (1 + std::fabs(results[0][i]))) << i;
}

// Every step is rounded as a separate operator would: one unit in the last place is for
// contractions.
float Unit(int dtype) { return dtype == kFloat32 ? 1e-6f : dtype == kFloat16 ? 1e-3f : 8e-3f; }

TEST(DeviceFusion, ChainsWithBroadcastsAreOneLaunch) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Symbol s = Make("broadcast_mul", {Symbol::Variable("x"), Symbol::Variable("gamma")}, {}, "scaled");
  s = Make("broadcast_add", {s, Symbol::Variable("beta")}, {}, "shifted");
  s = Make("tanh", {Number("_plus_scalar", s, "0.5", "plus")}, {}, "tanh");
  s = Make("elemwise_mul", {s, Make("sigmoid", {Symbol::Variable("y")}, {}, "gate")}, {}, "gated");
  const ShapeVector shapes = {Shape{3, 5, 7}, Shape{5, 1}, Shape{1, 7}, Shape{3, 5, 7}};
  for (int dtype : {kFloat32, kFloat16, kBfloat16}) CheckFusion(s, shapes, std::vector<int>(4, dtype), 1, 6, Unit(dtype));
}

TEST(DeviceFusion, CastsAreTakenIn) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  // images made ready
  Symbol s = Number("_mul_scalar", Make("Cast", {Symbol::Variable("image")}, {{"dtype", "float32"}}, "wide"), "0.01", "scaled");
  s = Make("broadcast_sub", {s, Symbol::Variable("mean")}, {}, "centred");
  CheckFusion(CastTo(s, kFloat16, "narrow"), {Shape{2, 3, 4, 5}, Shape{1, 3, 1, 1}}, {kUint8, kFloat32}, 1, 4, Unit(kFloat16));
  // mixed precision: also the cast of what is broadcast
  for (int half : {kFloat16, kBfloat16}) {
    s = Make("exp", {CastTo(Number("_mul_scalar", Symbol::Variable("x"), "1.1", "times"), kFloat32, "wide")}, {}, "exp");
    s = Make("broadcast_add", {s, CastTo(Symbol::Variable("bias"), kFloat32, "wide_bias")}, {}, "sum");
    s = Make("relu", {CastTo(s, half, "narrow")}, {}, "relu");
    CheckFusion(s, {Shape{3, 8}, Shape{1, 8}}, {half, half}, 1, 7, Unit(half));
    CheckFusion(s, {Shape{3, 8}, Shape{1, 8}}, {half, half}, 6, 14, Unit(half), {OpReq::kWrite, OpReq::kAdd});
  }
}

// Casts that round once where the chain's kernel does: into its type from anything, into halves
// from what it holds exactly, out of float64 at the end.
TEST(DeviceFusion, CastsOfOtherWidths) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  auto cast = [](const Symbol& x, const char* dtype, const std::string& name) { return Make("Cast", {x}, {{"dtype", dtype}}, name); };
  const Symbol x = Symbol::Variable("x"), y = Symbol::Variable("y");
  const ShapeVector shapes = {Shape{3, 8}, Shape{1, 8}};
  const Symbol single =
      Make("tanh", {Make("broadcast_add", {cast(x, "float32", "x32"), cast(y, "float32", "y32")}, {}, "sum")}, {}, "tanh");
  CheckFusion(single, shapes, {kFloat64, kInt64}, 1, 4, Unit(kFloat32));
  const Symbol wide = Make("tanh", {Make("broadcast_add", {cast(x, "float64", "x64"), cast(y, "float64", "y64")}, {}, "sum")}, {}, "tanh");
  CheckFusion(cast(wide, "float16", "narrow"), shapes, {kFloat32, kInt32}, 1, 5, Unit(kFloat16));
  CheckFusion(cast(wide, "float16", "narrow"), shapes, {kFloat32, kFloat16}, 3, 8, Unit(kFloat16), {OpReq::kWrite, OpReq::kNull});
  CheckFusion(Number("_mul_scalar", cast(x, "float16", "narrow"), "3", "times"), {shapes[0]}, {kFloat64}, 2, 2, Unit(kFloat16));
}

TEST(DeviceFusion, RepetitionsAndSumsAreTakenIn) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  const Symbol x = Symbol::Variable("x"), row = Symbol::Variable("row");
  const Symbol wide = Number("_mul_scalar", Make("broadcast_to", {row}, {{"shape", "(3, 8)"}}, "wide"), "1.5", "times");
  for (int dtype : {kFloat32, kFloat16}) {
    CheckFusion(Make("exp", {wide}, {}, "exp"), {Shape{1, 8}}, {dtype}, 1, 3, Unit(dtype));  // the inputs do not tell the shape
    Symbol s = Make("add_n", {Make("sin", {x}, {}, "sin"), Make("broadcast_like", {row, x}, {}, "like"), wide, x, x}, {{"num_args", "5"}},
                    "total");
    s = Make("tanh", {s}, {}, "tanh");
    CheckFusion(s, {Shape{3, 8}, Shape{1, 8}}, std::vector<int>(2, dtype), 1, 6, Unit(dtype));
    CheckFusion(s, {Shape{3, 8}, Shape{1, 8}}, std::vector<int>(2, dtype), 8, 14, 4 * Unit(dtype), {OpReq::kAdd, OpReq::kWrite});
  }
}

// No result lies where a smaller one of another width is still read, though both have as many
// bytes.
TEST(DeviceFusion, GradientsOfMeansAreTakenIn) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  for (const char* reduction : {"mean", "sum"})
    for (const char* keepdims : {"0", "1"}) {
      const Symbol s =
          Make(reduction, {Make("tanh", {Make("_mul_scalar", {Symbol::Variable("x")}, {{"scalar", "3"}}, "thrice")}, {}, "tanh")},
               {{"axis", "1"}, {"keepdims", keepdims}}, "reduced");
      std::vector<std::string> operators = {"_fused_pointwise", reduction};
      if (*keepdims == '0') operators.push_back("Reshape");
      operators.push_back("_fused_pointwise");
      CheckPlan(s, {Shape{4, 37, 5}}, kFloat32, operators, {OpReq::kWrite});
    }
}

TEST(DeviceFusion, NotInPlaceOfAnotherWidth) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Symbol s = Make("broadcast_add", {Make("exp", {Symbol::Variable("row")}, {}, "exp"), Symbol::Variable("x")}, {}, "sum");
  s = Make("transpose", {CastTo(s, kFloat16, "narrow")}, {}, "turned");
  CheckFusion(s, {Shape{1, 4}, Shape{2, 4}}, {kFloat32, kFloat32}, 3, 4, Unit(kFloat16));
}

// More members than one kernel's arguments have room for.
TEST(DeviceFusion, ArgumentsOfAKernelAreEnough) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Symbol s = Symbol::Variable("x");
  ShapeVector shapes = {Shape{2, 2, 2, 2, 2, 2}};
  for (int i = 0; i < 15; ++i) {
    const std::string n = std::to_string(i);
    s = Make("broadcast_add", {s, Symbol::Variable("y" + n)}, {}, "add" + n);
    shapes.push_back(i % 2 ? Shape{2, 1, 2, 1, 2, 1} : Shape{1, 2, 1, 2, 1, 2});
    for (const char* k : {"a", "b", "c"}) s = Make("Activation", {s}, {{"act_type", "softsign"}}, "softsign" + n + k);
  }
  CheckFusion(s, shapes, std::vector<int>(shapes.size(), kFloat32), 2, 60, Unit(kFloat32));
}

TEST(DeviceFusion, SoftmaxWrittenOut) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  const AttrDict last = {{"axis", "-1"}, {"keepdims", "True"}};
  const Symbol x = Symbol::Variable("x");
  const Symbol powers = Make("exp", {Make("broadcast_sub", {x, Make("max", {x}, last, "max")}, {}, "below")}, {}, "powers");
  const Symbol s = Make("square", {Make("broadcast_div", {powers, Make("sum", {powers}, last, "total")}, {}, "shares")}, {}, "squares");
  for (int dtype : {kFloat32, kFloat16}) {
    const float tolerance = dtype == kFloat32 ? 1e-5f : 5e-3f;  // sums in between are rounded apart from each other
    CheckFusion(s, {Shape{4, 9}}, {dtype}, 2, 6, tolerance);
    CheckFusion(s, {Shape{4, 9}}, {dtype}, 4, 17, tolerance, {OpReq::kWrite});
  }
}

TEST(DeviceFusion, LayerNormAndGeluWrittenOut) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  const AttrDict last = {{"axis", "-1"}, {"keepdims", "True"}};
  const Symbol x = Symbol::Variable("x");
  const Symbol centred = Make("broadcast_sub", {x, Make("mean", {x}, last, "mean")}, {}, "centred");
  const Symbol variance = Make("mean", {Make("square", {centred}, {}, "squares")}, last, "variance");
  const Symbol normal =
      Make("broadcast_div", {centred, Make("sqrt", {Number("_plus_scalar", variance, "1e-3", "safe")}, {}, "deviation")}, {}, "normal");
  Symbol s = Make("broadcast_add", {Make("broadcast_mul", {normal, Symbol::Variable("gamma")}, {}, "scaled"), Symbol::Variable("beta")}, {},
                  "shifted");
  const ShapeVector shapes = {Shape{4, 12}, Shape{12}, Shape{12}};
  CheckFusion(s, shapes, std::vector<int>(3, kFloat32), 1, 9, 1e-5f);
  CheckFusion(Make("square", {s}, {}, "square"), shapes, std::vector<int>(3, kFloat32), 6, 26, 1e-4f,
              {OpReq::kWrite, OpReq::kWrite, OpReq::kWrite});
  const Symbol half =
      Number("_plus_scalar", Make("erf", {Number("_mul_scalar", x, "0.70710678118654752", "inner")}, {}, "erf"), "1", "one");
  CheckFusion(Number("_mul_scalar", Make("elemwise_mul", {x, half}, {}, "product"), "0.5", "gelu"), {Shape{4, 12}}, {kFloat32}, 1, 5,
              1e-6f);
}

// A chain between layers of images, on planes and with channels last.
TEST(DeviceFusion, ImagesInBothLayouts) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Symbol s = Make("Convolution", {Symbol::Variable("data"), Symbol::Variable("w")},
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"no_bias", "True"}}, "conv");
  s = Make("broadcast_mul", {Make("elemwise_mul", {s, Make("sigmoid", {s}, {}, "gate")}, {}, "swish"), Symbol::Variable("gamma")}, {},
           "scaled");
  s = Make("tanh", {Make("broadcast_add", {s, Symbol::Variable("map")}, {}, "shifted")}, {}, "tanh");
  s = Make("Pooling", {s}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}, "pool");
  const ShapeVector shapes = {Shape{2, 3, 6, 6}, Shape{4, 3, 3, 3}, Shape{1, 4, 1, 1}, Shape{1, 1, 4, 4}};
  for (const char* conversion : {"", "1"}) {
    Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", conversion);
    CheckPlan(s, shapes, kFloat32,
              *conversion ? std::vector<std::string>{"_to_layout", "_fused_convolution", "_fused_pointwise", "Pooling", "_to_layout"}
                          : std::vector<std::string>{"_fused_convolution", "_fused_pointwise", "Pooling"});
    CheckPlan(s, shapes, kFloat32, {}, std::vector<OpReq>(4, OpReq::kWrite));
    Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "");
  }
}

}  // namespace
}  // namespace mxnet
