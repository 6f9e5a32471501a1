/* Convolutions of GPUs: which engine is chosen by which variable, and what operators make of a
 * library that computes on the host. */
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "fake_engine_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/env.h"
#include "operator/gpu_library/gemm.h"
#include "operator/gpu_library/version.h"

namespace mxnet {
namespace {

using gpu_library::ConvProblem;
using gpu_library::ConvSettings;
using gpu_library::EngineConfig;

FakeEngineLibrary::State& Fake() { return FakeEngineLibrary::state(); }
EngineConfig Engine(int64_t number, uint32_t notes = 0, size_t workspace = 0) {
  return FakeEngineLibrary::Engine(number, notes, workspace);
}

class Convolutions : public DeviceKernels {
 protected:
  void CheckConv(const Case& c, double scale = 16) {
    auto want = std::make_shared<Result>(RunKernel(c, DeviceType::kCPU)), got = std::make_shared<Result>();
    const bool fuses = fuses_, takes_last = takes_last_;
    const std::set<int> refused = refused_;
    Later(
        Name(c), 0,
        [c, got, fuses, takes_last, refused] {
          Fake().fuses = fuses;
          Fake().takes_last = takes_last;
          Fake().refused = refused;
          gpu_library::ForgetEngines();
          *got = RunKernel(c, DeviceType::kGPU);
        },
        [c, want, got, scale] {
          for (size_t i = 0; i < want->bytes.size(); ++i) ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i], scale);
        });
  }
  bool fuses_ = true, takes_last_ = true;
  std::set<int> refused_;
  FakeEngineLibrary library_;
};

struct Kind {
  AttrDict attrs;
  Shape data, weight, out;
};
// every number of dimensions; groups, dilation, strides, padding; both orders
std::vector<Kind> Kinds() {
  return {
      {{{"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}, {"num_filter", "4"}}, {2, 3, 9}, {4, 3, 3}, {2, 4, 5}},
      {{{"kernel", "(3, 2)"}, {"stride", "(2, 1)"}, {"pad", "(1, 0)"}, {"dilate", "(1, 2)"}, {"num_filter", "4"}},
       {2, 3, 7, 6},
       {4, 3, 3, 2},
       {2, 4, 4, 4}},
      {{{"kernel", "(3, 3)"}, {"num_group", "2"}, {"num_filter", "6"}}, {2, 4, 5, 5}, {6, 2, 3, 3}, {2, 6, 3, 3}},
      {{{"kernel", "(2, 3, 2)"}, {"pad", "(1, 1, 1)"}, {"num_filter", "3"}}, {1, 2, 3, 4, 3}, {3, 2, 2, 3, 2}, {1, 3, 4, 4, 4}},
      {{{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "4"}, {"layout", "NHWC"}}, {2, 5, 4, 3}, {4, 3, 3, 3}, {2, 5, 4, 4}},
  };
}

TEST_F(Convolutions, ForwardAndGradients) {
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16})
    for (const Kind& k : Kinds()) {
      const Shape bias{k.weight[0]};
      CheckConv({"Convolution", {k.data, k.weight, bias}, {dtype}, k.attrs});
      CheckConv({"_backward_Convolution", {k.out, k.data, k.weight, bias}, {dtype}, k.attrs});
      AttrDict bare = k.attrs;
      bare["no_bias"] = "1";
      CheckConv({"Convolution", {k.data, k.weight}, {dtype}, bare});
      CheckConv({"_backward_Convolution", {k.out, k.data, k.weight}, {dtype}, bare});
    }
}

TEST_F(Convolutions, Deconvolution) {
  for (int dtype : {kFloat32, kFloat16}) {
    const AttrDict plain = {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"},
                            {"adj", "(1, 1)"},    {"num_filter", "4"},  {"no_bias", "0"}};
    CheckConv({"Convolution_v1", {{2, 4, 6, 5}, {6, 4, 3, 2}, {6}}, {dtype}, {{"kernel", "(3, 2)"}, {"num_filter", "6"}}});
    CheckConv({"Deconvolution", {{2, 3, 4, 4}, {3, 4, 3, 3}, {4}}, {dtype}, plain});
    CheckConv({"_backward_Deconvolution", {{2, 4, 8, 8}, {2, 3, 4, 4}, {3, 4, 3, 3}, {4}}, {dtype}, plain});
    const AttrDict grouped = {{"kernel", "(2,)"}, {"num_group", "2"}, {"num_filter", "4"}};
    CheckConv({"Deconvolution", {{2, 4, 5}, {4, 2, 2}}, {dtype}, grouped});
    CheckConv({"_backward_Deconvolution", {{2, 4, 6}, {2, 4, 5}, {4, 2, 2}}, {dtype}, grouped});
  }
}

TEST_F(Convolutions, FusedInTheGraphOrBehindIt) {
  for (bool fuses : {true, false}) {
    fuses_ = fuses;
    for (int dtype : {kFloat32, kFloat16})
      for (const char* post : {"", "relu", "sigmoid", "clip:-1,2"}) {
        AttrDict attrs = {{"kernel", "(3, 3)"}, {"num_filter", "4"}};
        if (*post) attrs["post"] = post;
        const Shape data{2, 3, 5, 5}, weight{4, 3, 3, 3}, out{2, 4, 3, 3};
        CheckConv({"_fused_convolution", {data, weight, {4}}, {dtype}, attrs});
        attrs["with_add"] = "1";
        CheckConv({"_fused_convolution", {data, weight, {4}, out}, {dtype}, attrs});
        if (dtype == kFloat16) CheckConv({"_fused_convolution", {data, weight, {4}, out}, {dtype, dtype, kFloat32, dtype}, attrs});
      }
    RunNow();
  }
}

TEST_F(Convolutions, TypesThatNoEngineTakesAreComputedInFloat) {
  refused_ = {kFloat16, kBfloat16};
  for (int dtype : {kFloat16, kBfloat16})
    for (const Kind& k : Kinds()) {
      const Shape bias{k.weight[0]};
      CheckConv({"Convolution", {k.data, k.weight, bias}, {dtype}, k.attrs});
      CheckConv({"_backward_Convolution", {k.out, k.data, k.weight, bias}, {dtype}, k.attrs});
    }
  RunNow();
  EXPECT_EQ(Fake().run.back().dtype, kFloat32);
}

// Where no engine takes channels last, everything is brought into planes, an addend too; a 16-bit
// type may still go on to float32.
TEST_F(Convolutions, ProblemsThatOnlyPlanesSolve) {
  takes_last_ = false;
  const Kind k = Kinds().back();
  for (int step = 0; step < 2; ++step) {
    if (step == 1) refused_ = {kFloat16};
    for (int dtype : {kFloat32, kFloat16}) {
      CheckConv({"Convolution", {k.data, k.weight, {4}}, {dtype}, k.attrs});
      CheckConv({"_backward_Convolution", {k.out, k.data, k.weight, {4}}, {dtype}, k.attrs});
      const AttrDict fused = {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"post", "relu"}, {"with_add", "1"}};
      CheckConv({"_fused_convolution", {{2, 3, 5, 5}, {4, 3, 3, 3}, {4}, {2, 4, 3, 3}}, {dtype}, fused, OpReq::kWrite, -3, 3, false, 9, 1});
    }
    RunNow();
    for (const ConvProblem& p : Fake().run) EXPECT_FALSE(p.channels_last) << p.Text();
  }
}

TEST_F(Convolutions, WithoutElements) {
  CheckConv({"Convolution", {{0, 3, 5, 5}, {4, 3, 3, 3}, {4}}, {kFloat32}, {{"kernel", "(3, 3)"}, {"num_filter", "4"}}});
  CheckConv(
      {"_backward_Convolution", {{0, 4, 3, 3}, {0, 3, 5, 5}, {4, 3, 3, 3}, {4}}, {kFloat32}, {{"kernel", "(3, 3)"}, {"num_filter", "4"}}});
}

TEST_F(Convolutions, BilinearUpSampling) {
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16})
    for (const char* scale : {"1", "2", "3"}) {
      const int64_t k = *scale - '0', window = 2 * k - k % 2;
      const AttrDict attrs = {{"scale", scale}, {"sample_type", "bilinear"}, {"num_filter", "3"}, {"num_args", "2"}};
      CheckConv({"UpSampling", {{2, 3, 4, 5}, {3, 1, window, window}}, {dtype}, attrs});
      CheckConv({"_backward_UpSampling", {{2, 3, 4 * k, 5 * k}, {2, 3, 4, 5}, {3, 1, window, window}}, {dtype}, attrs});
    }
}

// A fused layer may write over its addend: measuring engines must not.
TEST_F(Convolutions, AddendInTheResultsMemorySurvivesTuning) {
  for (bool fuses : {true, false}) {
    auto got = std::make_shared<std::vector<float>>();
    Later(
        "in place", 0,
        [got, fuses] {
          Fake().fuses = fuses;
          Fake().engines = {Engine(1, 0, 0), Engine(2, 0, 64)};
          gpu_library::ForgetEngines();
          std::vector<float> data(16, 1.f), weight(4, 2.f);
          got->assign(16, 100.f);
          ConvProblem unused;
          KernelArgs a;
          std::vector<std::vector<char>> memory;
          a.workspace = [&memory](size_t bytes) {
            memory.emplace_back(bytes + 64);
            return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64);
          };
          a.run.ctx = Context::GPU(0);
          nn::ConvCall call;
          call.dims.batch = 1, call.dims.channels = 1, call.dims.filters = 4;
          call.dims.in[1] = call.dims.out[1] = 2, call.dims.in[2] = call.dims.out[2] = 2;
          call.src.ptr = data.data(), call.weight.ptr = weight.data(), call.dst.ptr = got->data();
          gpu_library::Epilogue epilogue;
          epilogue.addend = got->data();
          gpu_library::Convolve(a, call, 1, 1024, epilogue);
        },
        [got] {
          EXPECT_EQ(Fake().measured.size() % 2, 0u);
          for (float v : *got) EXPECT_EQ(v, 102.f);
        });
  }
}

// Weights that lie otherwise than images are brought into the images' order, and weight gradients
// back.
TEST_F(Convolutions, TensorsOfMixedOrder) {
  for (nn::ConvPass pass : {nn::ConvPass::kForward, nn::ConvPass::kBackwardData, nn::ConvPass::kBackwardWeights}) {
    auto plain = std::make_shared<std::vector<float>>(), mixed = std::make_shared<std::vector<float>>();
    auto compute = [pass](bool last, std::vector<float>* result) {
      // images 1 x 2 x (3 x 3), weights 2 x 2 x (2 x 2), results 1 x 2 x (2 x 2)
      std::vector<float> src(18), weight(16), dst(8);
      auto fill = [](std::vector<float>* v, int64_t outer, int64_t channels, int64_t inner, bool to_last) {
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < inner; ++i)
              (*v)[to_last ? (o * inner + i) * channels + c : (o * channels + c) * inner + i] =
                  static_cast<float>(((o * channels + c) * inner + i) % 7) - 3.f;
      };
      fill(&src, 1, 2, 9, last);
      fill(&weight, 2, 2, 4, false);
      fill(&dst, 1, 2, 4, last);
      KernelArgs a;
      std::vector<std::vector<char>> memory;
      a.workspace = [&memory](size_t bytes) {
        memory.emplace_back(bytes + 64);
        return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64);
      };
      a.run.ctx = Context::GPU(0);
      nn::ConvCall call;
      call.pass = pass;
      call.dims.batch = 1, call.dims.channels = 2, call.dims.filters = 2;
      for (int i = 1; i < 3; ++i) call.dims.in[i] = 3, call.dims.kernel[i] = 2, call.dims.out[i] = 2;
      call.src = {src.data(), last}, call.weight = {weight.data(), false}, call.dst = {dst.data(), last};
      gpu_library::Convolve(a, call, 0, 1024);
      EXPECT_EQ(Fake().run.empty() ? last : Fake().run.back().channels_last, last);
      std::vector<float>* given = pass == nn::ConvPass::kForward ? &dst : pass == nn::ConvPass::kBackwardData ? &src : &weight;
      const int64_t inner = pass == nn::ConvPass::kBackwardData ? 9 : 4;
      result->assign(given->size(), 0.f);
      for (int64_t i = 0; i < static_cast<int64_t>(given->size()); ++i) {
        const int64_t from = last && pass != nn::ConvPass::kBackwardWeights ? i % inner * 2 + i / inner : i;
        (*result)[i] = (*given)[from];
      }
    };
    Later(
        "mixed order", 0,
        [=] {
          compute(false, plain.get());
          compute(true, mixed.get());
        },
        [=] { EXPECT_EQ(*plain, *mixed); });
  }
}

// ---- choice
ConvProblem Problem(nn::ConvPass pass = nn::ConvPass::kForward, int dtype = kFloat16) {
  ConvProblem p;
  p.pass = pass;
  p.dtype = dtype;
  p.dims.batch = 1, p.dims.channels = 1, p.dims.filters = 1;
  return p;
}
// The engine that a choice takes; -1: null.
int64_t Choose(const ConvProblem& problem, const ConvSettings& settings) {
  static std::vector<char> memory;
  alignas(16) float values[12] = {};
  RunContext run;
  run.ctx = Context::GPU(0);
  auto chosen = gpu_library::ChooseEngine(
      problem, settings,
      [&values] {
        gpu_library::ConvOperands o;
        o.src = values, o.weight = values + 4, o.dst = values + 8;
        return o;
      },
      [](size_t bytes) {
        if (bytes > size_t{1} << 30) throw Error(Error::Kind::kOutOfMemory, "full");
        memory.resize(64);
        return static_cast<void*>(memory.data());
      },
      run);
  return chosen ? chosen->engine : -1;
}
ConvSettings FromEnv(const ConvProblem& p = Problem(), int tune = 0) { return gpu_library::SettingsFor(p, tune, 1, Env::Get()); }
class Set {
 public:
  Set(const char* name, const char* value) : name_(name) { Env::Set(name, value); }
  ~Set() { Env::Set(name_, ""); }

 private:
  const char* name_;
};

TEST(EngineChoice, NotesAreFilteredByTheirVariables) {
  FakeEngineLibrary library;
  struct Row {
    const char *name, *forbids, *permits;
    uint32_t note;
    int dtype;
  };
  const Row rows[] = {
      {"MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", "0", "1", gpu_library::kReducedPrecision, kFloat16},
      {"MXNET_CUDNN_ALLOW_FFT", "0", "1", gpu_library::kFft, kFloat16},
      {"MXNET_CUDNN_ALLOW_WINOGRAD", "0", "1", gpu_library::kWinograd, kFloat16},
      {"MXNET_ENFORCE_DETERMINISM", "1", "0", gpu_library::kNondeterministic, kFloat16},
      {"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "0", "1", gpu_library::kDownConvert, kFloat16},
      {"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "0", "1", gpu_library::kTensorCore, kFloat32},
  };
  for (const Row& r : rows) {
    Fake().engines = {Engine(7, r.note), Engine(8)};
    const ConvProblem p = Problem(nn::ConvPass::kForward, r.dtype);
    {
      Set set(r.name, r.permits);
      EXPECT_EQ(Choose(p, FromEnv(p)), 7) << r.name;
    }
    Set set(r.name, r.forbids);
    EXPECT_EQ(Choose(p, FromEnv(p)), 8) << r.name;
    gpu_library::ForgetEngines();
  }
  Fake().engines = {Engine(7, gpu_library::kTensorCore), Engine(8)};
  EXPECT_EQ(Choose(Problem(), FromEnv()), 7);  // half types need no conversion
  Env env = Env::Get();
  env.cuda_allow_tensor_core = false;
  EXPECT_EQ(Choose(Problem(), gpu_library::SettingsFor(Problem(), 0, 1, env)), 8);
  env.cuda_tensor_op_math_allow_conversion = true;  // has no effect without tensor cores
  EXPECT_TRUE(gpu_library::SettingsFor(Problem(), 0, 1, env).forbidden & gpu_library::kDownConvert);
}

TEST(EngineChoice, EnginesAreDisabledByPass) {
  FakeEngineLibrary library;
  Fake().engines = {Engine(1), Engine(2), Engine(3)};
  Set forward("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "1"), data("MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", "1,2"),
      weights("MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", "2");
  const std::pair<nn::ConvPass, int64_t> want[] = {
      {nn::ConvPass::kForward, 2}, {nn::ConvPass::kBackwardData, 3}, {nn::ConvPass::kBackwardWeights, 1}};
  for (const auto& w : want) EXPECT_EQ(Choose(Problem(w.first), FromEnv(Problem(w.first))), w.second);
}

TEST(EngineChoice, HeuristicModeIsPassedOn) {
  FakeEngineLibrary library;
  Choose(Problem(), FromEnv());
  Set set("MXNET_CUDNN_HEUR_MODE", "0");
  Choose(Problem(), FromEnv());
  EXPECT_EQ(Fake().modes, (std::vector<int>{1, 0}));
}

TEST(EngineChoice, TuningMeasuresWithinTheLimitOrEverything) {
  FakeEngineLibrary library;
  Fake().engines = {Engine(1, 0, 100), Engine(2, 0, 4 << 20), Engine(3, 0, 200), Engine(4), Engine(5), Engine(6, gpu_library::kFft)};
  Fake().times = {{1, 3.f}, {2, 1.f}, {3, 2.f}, {4, 0.1f}, {5, 0.2f}, {6, 0.01f}};
  Fake().unprepared = {4};
  Fake().failing = {5};
  Set set("MXNET_CUDNN_ALLOW_FFT", "0");
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 0)), 1);
  EXPECT_TRUE(Fake().measured.empty());
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 1)), 3);  // 2 needs more than a MiB
  EXPECT_EQ(Fake().measured, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 2)), 2);
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 2)), 2);
  EXPECT_EQ(Fake().asked.size(), 3u);  // remembered
  ConvProblem other = Problem();
  other.dims.batch = 2;
  other.dims.out[2] = 1;
  EXPECT_EQ(gpu_library::SettingsFor(other, -1, 1, Env::Get()).tune, 1);
  Set tune("MXNET_CUDNN_AUTOTUNE_DEFAULT", "2");
  EXPECT_EQ(gpu_library::SettingsFor(other, -1, 1, Env::Get()).tune, 2);
  EXPECT_EQ(gpu_library::SettingsFor(other, 0, 1, Env::Get()).tune, 0);  // the operator's parameter counts first
}

TEST(EngineChoice, LongListsAreCutBehindTheBest) {
  FakeEngineLibrary library;
  Fake().engines.clear();
  for (int64_t e = 0; e < 40; ++e) Fake().engines.push_back(Engine(e)), Fake().times[e] = static_cast<float>(100 - e);
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 1)), 15);
  EXPECT_EQ(Fake().measured.size(), 16u);
  ConvProblem fused = Problem();
  fused.relu = true;
  EXPECT_EQ(Choose(fused, FromEnv(fused, 1)), 5);
}

TEST(EngineChoice, WhatDoesNotFitIntoMemoryIsNotMeasured) {
  FakeEngineLibrary library;
  Fake().engines = {Engine(1, 0, 100), Engine(2, 0, size_t{3} << 30)};
  Fake().times = {{1, 3.f}, {2, 1.f}};
  EXPECT_EQ(Choose(Problem(), FromEnv(Problem(), 2)), 1);
  EXPECT_EQ(Fake().measured, (std::vector<int64_t>{1}));
}

std::string ErrorOf(const ConvProblem& p, const ConvSettings& s) {
  try {
    Choose(p, s);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
TEST(EngineChoice, ErrorsSayWhatRuledEnginesOut) {
  FakeEngineLibrary library;
  Fake().engines = {Engine(1, gpu_library::kNondeterministic)};
  {
    Set set("MXNET_ENFORCE_DETERMINISM", "1");
    const std::string text = ErrorOf(Problem(), FromEnv());
    EXPECT_NE(text.find("MXNET_ENFORCE_DETERMINISM=1"), std::string::npos) << text;
    EXPECT_NE(text.find("forward convolution, float16, NCHW"), std::string::npos) << text;
  }
  {
    Set set("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "1");
    EXPECT_NE(ErrorOf(Problem(), FromEnv()).find("DISABLED_CONV"), std::string::npos);
  }
  Fake().engines = {Engine(1, 0, 2 << 20)};
  EXPECT_NE(ErrorOf(Problem(), FromEnv()).find("1 MiB"), std::string::npos);
  Fake().engines = {};
  const ConvProblem single = Problem(nn::ConvPass::kForward, kFloat32);
  EXPECT_NE(ErrorOf(single, FromEnv(single)).find("no engine that takes it"), std::string::npos);
  EXPECT_EQ(Choose(Problem(), FromEnv()), -1);  // a 16-bit type is computed in float32 then
  gpu_library::ForgetEngines();
  ConvProblem fused = Problem();  // a graph that is not supported is computed in parts instead, and that is remembered
  fused.relu = true;
  const size_t asked = Fake().asked.size();
  EXPECT_EQ(Choose(fused, FromEnv()), -1);
  EXPECT_EQ(Choose(fused, FromEnv()), -1);
  EXPECT_EQ(Fake().asked.size(), asked + 1);
}

std::string Printed(const char* level, int tune) {
  gpu_library::ForgetEngines();
  Set set("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", level);
  testing::internal::CaptureStderr();
  Choose(Problem(), FromEnv(Problem(), tune));
  return testing::internal::GetCapturedStderr();
}
TEST(EngineChoice, VerboseLevels) {
  FakeEngineLibrary library;
  Fake().engines = {Engine(1, gpu_library::kReducedPrecision | gpu_library::kWinograd, 100), Engine(2, gpu_library::kTensorCore)};
  Fake().times = {{1, 3.f}, {2, 1.25f}};
  EXPECT_EQ(Printed("0", 1), "");
  const std::string chosen = Printed("1", 1);
  EXPECT_NE(chosen.find("*1: engine 2 knobs 2=12 notes tc workspace 0 time 1.250 ms"), std::string::npos) << chosen;
  EXPECT_EQ(chosen.find("engine 1"), std::string::npos) << chosen;
  const std::string all = Printed("2", 1);
  EXPECT_NE(all.find(" 0: engine 1 knobs 2=11 notes rp,w workspace 100 time 3.000 ms"), std::string::npos) << all;
  EXPECT_NE(all.find("*1: engine 2"), std::string::npos) << all;
  const std::string untuned = Printed("2", 0);
  EXPECT_NE(untuned.find("*0: engine 1 knobs 2=11 notes rp,w workspace 100\n"), std::string::npos) << untuned;
  EXPECT_NE(untuned.find(" 1: engine 2"), std::string::npos) << untuned;
}

TEST(EngineChoice, ProblemsAreToldApart) {
  std::set<std::string> keys;
  size_t made = 0;
  auto add = [&](const std::function<void(ConvProblem*)>& change) {
    ConvProblem p = Problem();
    change(&p);
    keys.insert(p.CacheKey());
    ++made;
  };
  add([](ConvProblem*) {});
  add([](ConvProblem* p) { p->pass = nn::ConvPass::kBackwardData; });
  add([](ConvProblem* p) { p->dtype = kFloat32; });
  add([](ConvProblem* p) { p->channels_last = true; });
  add([](ConvProblem* p) { p->bias = true; });
  add([](ConvProblem* p) { p->addend = true; });
  add([](ConvProblem* p) { p->relu = true; });
  add([](ConvProblem* p) { p->alignment = 4; });
  add([](ConvProblem* p) { p->device = 1; });
  add([](ConvProblem* p) { p->bias_dtype = kFloat16; });
  add([](ConvProblem* p) { p->dims.groups = 2; });
  for (int i = 0; i < 3; ++i) {
    add([i](ConvProblem* p) { p->dims.in[i] = 9; });
    add([i](ConvProblem* p) { p->dims.out[i] = 9; });
    add([i](ConvProblem* p) { p->dims.kernel[i] = 9; });
    add([i](ConvProblem* p) { p->dims.stride[i] = 9; });
    add([i](ConvProblem* p) { p->dims.dilate[i] = 9; });
    add([i](ConvProblem* p) { p->dims.pad[i] = 9; });
  }
  EXPECT_EQ(keys.size(), made);
}

TEST(LibraryVersions, AreComparedUnlessTheVariablesSayNo) {
  gpu_library::Versions v;
  v.cuda_built = v.cuda_running = 13000, v.cuda_driver = 13020;
  v.cudnn_built = 91900, v.cudnn_running = 92001;
  Env env = Env::Get();
  env.cuda_lib_checking = env.cudnn_lib_checking = true;
  EXPECT_EQ(gpu_library::VersionWarnings(v, env), "");
  v.cudnn_running = 90600;
  EXPECT_NE(gpu_library::VersionWarnings(v, env).find("cuDNN 9.6.0 is running, but this library was built with 9.19.0"), std::string::npos);
  env.cudnn_lib_checking = false;
  EXPECT_EQ(gpu_library::VersionWarnings(v, env), "");
  v.cuda_running = 13010, v.cuda_driver = 12080;
  const std::string text = gpu_library::VersionWarnings(v, env);
  EXPECT_NE(text.find("CUDA 13.1 is running, but this library was built with 13.0"), std::string::npos) << text;
  EXPECT_NE(text.find("the driver is for CUDA 12.8"), std::string::npos) << text;
  env.cuda_lib_checking = false;
  EXPECT_EQ(gpu_library::VersionWarnings(v, env), "");
}

// ---- the environment of a process, as far as libraries are asked differently
std::string WhatIsAsked() {
  const Env& env = Env::Get();
  std::ostringstream s;
  for (nn::ConvPass pass : {nn::ConvPass::kForward, nn::ConvPass::kBackwardData, nn::ConvPass::kBackwardWeights})
    for (int dtype : {kFloat32, kFloat16}) {
      const ConvSettings c = gpu_library::SettingsFor(Problem(pass, dtype), -1, 1, env);
      s << c.tune << c.heuristic_mode << " " << c.forbidden << " v" << c.verbose;
      for (int e : c.disabled) s << "," << e;
      const gpu_library::Arithmetic a = gpu_library::ArithmeticOf(dtype, env);
      s << " a" << static_cast<int>(a) << "r" << gpu_library::AllowedReductions(dtype, a, env) << ";";
    }
  gpu_library::Versions v;
  v.cuda_built = 13000, v.cuda_running = v.cuda_driver = 13010, v.cudnn_built = 91900, v.cudnn_running = 80000;
  s << gpu_library::VersionWarnings(v, env).size();
  return s.str();
}
TEST(LibraryEnvironment, DISABLED_Tell) {
  std::cout << "asked: " << WhatIsAsked() << std::endl;
}  // run by the next one in processes of their own

std::string AskedWith(const std::string& setting) {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return "";
  self[n] = 0;
  const std::string command =
      "env " + setting + " '" + self + "' --gtest_also_run_disabled_tests --gtest_filter=LibraryEnvironment.DISABLED_Tell 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text, line;
  char piece[4096];
  while (pipe && std::fgets(piece, sizeof piece, pipe)) text += piece;
  EXPECT_EQ(pipe ? pclose(pipe) : -1, 0) << text;
  const size_t at = text.find("asked: ");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST(LibraryEnvironment, EveryVariableChangesWhatIsAsked) {
  const std::string plain = AskedWith("MXNET_CUDNN_HEUR_MODE=1");  // the default
  EXPECT_NE(plain, "");
  std::set<std::string> seen = {plain};
  for (const char* setting :
       {"MXNET_CUDNN_AUTOTUNE_DEFAULT=0", "MXNET_CUDNN_AUTOTUNE_DEFAULT=2", "MXNET_CUDNN_HEUR_MODE=0", "MXNET_CUDNN_ALGO_VERBOSE_LEVEL=1",
        "MXNET_CUDNN_ALGO_VERBOSE_LEVEL=2", "MXNET_CUDA_ALLOW_TENSOR_CORE=0", "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION=1",
        "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION=0", "MXNET_CUDNN_ALLOW_FFT=0", "MXNET_CUDNN_ALLOW_WINOGRAD=0",
        "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES=3", "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES=3",
        "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES=3,4", "MXNET_CUDA_LIB_CHECKING=0", "MXNET_CUDNN_LIB_CHECKING=0",
        "MXNET_ENFORCE_DETERMINISM=1", "MXNET_FC_TRUE_FP16=1"})
    EXPECT_TRUE(seen.insert(AskedWith(setting)).second) << setting << " changes nothing";
}

}  // namespace
}  // namespace mxnet
