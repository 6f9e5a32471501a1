/* Matrix products of GPUs: what is asked of the vendor's library, which is a fake on host memory
 * here, and what operators make of it. */
#include <thread>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/env.h"
#include "operator/gpu_library/bounded_cache.h"
#include "operator/gpu_library/recent.h"

namespace mxnet {
namespace {

using gpu_library::Arithmetic;

class Products : public DeviceKernels {
 protected:
  /* As Check, for operators that may need no kernel of ours. */
  void CheckGemm(const Case& c, double scale = 1) {
    auto want = std::make_shared<Result>(RunKernel(c, DeviceType::kCPU)), got = std::make_shared<Result>();
    Later(
        Name(c), 0, [c, got] { *got = RunKernel(c, DeviceType::kGPU); },
        [c, want, got, scale] {
          for (size_t i = 0; i < want->bytes.size(); ++i) ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i], scale);
        });
  }
  FakeGemmLibrary library_;
};

const int kReal[] = {kFloat32, kFloat64, kFloat16, kBfloat16};

TEST_F(Products, Dot) {
  for (int dtype : kReal) {
    for (const char* ta : {"0", "1"})
      for (const char* tb : {"0", "1"}) {
        const AttrDict attrs = {{"transpose_a", ta}, {"transpose_b", tb}};
        const Shape a = *ta == '1' ? Shape{5, 3} : Shape{3, 5}, b = *tb == '1' ? Shape{4, 5} : Shape{5, 4};
        CheckGemm({"dot", {a, b}, {dtype}, attrs}, 8);
        CheckGemm({"_backward_dot", {{3, 4}, a, b}, {dtype}, attrs}, 8);
        auto batched = [](const Shape& s) { return Shape{2, s[0], s[1]}; };
        CheckGemm({"batch_dot", {batched(a), batched(b)}, {dtype}, attrs}, 8);
        CheckGemm({"_backward_batch_dot", {{2, 3, 4}, batched(a), batched(b)}, {dtype}, attrs}, 8);
      }
    CheckGemm({"dot", {{3, 2, 5}, {5, 4, 2}}, {dtype}, {}}, 8);
    CheckGemm({"dot", {{5}, {5}}, {dtype}, {}}, 8);
  }
  CheckGemm({"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}, OpReq::kWrite, -3, 3, true}, 8);
  CheckGemm({"dot", {{3, 0}, {0, 4}}, {kFloat32}, {}});  // an empty sum is zero
  CheckGemm({"dot", {{0, 5}, {5, 4}}, {kFloat32}, {}});
}

TEST_F(Products, FullyConnected) {
  for (int dtype : kReal) {
    CheckGemm({"FullyConnected", {{3, 5}, {4, 5}, {4}}, {dtype}, {{"num_hidden", "4"}}}, 8);
    CheckGemm({"FullyConnected", {{3, 5}, {4, 5}}, {dtype}, {{"num_hidden", "4"}, {"no_bias", "1"}}}, 8);
    CheckGemm({"FullyConnected", {{2, 3, 5}, {4, 5}, {4}}, {dtype}, {{"num_hidden", "4"}, {"flatten", "0"}}}, 8);
    for (OpReq req : {OpReq::kWrite, OpReq::kAdd})
      CheckGemm({"_backward_FullyConnected", {{3, 4}, {3, 5}, {4, 5}, {4}}, {dtype}, {{"num_hidden", "4"}}, req}, 8);
  }
  CheckGemm({"FullyConnected", {{3, 0}, {4, 0}, {4}}, {kFloat32}, {{"num_hidden", "4"}}});
  CheckGemm({"FullyConnected", {{0, 5}, {4, 5}, {4}}, {kFloat32}, {{"num_hidden", "4"}}});
}

TEST_F(Products, FusedDense) {
  for (int dtype : {kFloat32, kFloat16, kBfloat16})
    for (const char* post :
         {"", "relu", "sigmoid", "tanh", "softrelu", "gelu", "leaky:0.1", "elu:0.5", "clip:-1,2", "hard_sigmoid:0.2,0.5"}) {
      AttrDict attrs = {{"num_hidden", "4"}};
      if (*post) attrs["post"] = post;
      CheckGemm({"_fused_dense", {{3, 5}, {4, 5}, {4}}, {dtype}, attrs}, 8);
      attrs["with_add"] = "1";
      CheckGemm({"_fused_dense", {{3, 5}, {4, 5}, {4}, {3, 4}}, {dtype}, attrs}, 8);
      if (dtype != kFloat32) CheckGemm({"_fused_dense", {{3, 5}, {4, 5}, {4}, {3, 4}}, {dtype, dtype, kFloat32, dtype}, attrs}, 8);
    }
}

TEST_F(Products, InterleavedAttention) {
  for (int dtype : kReal) {
    const AttrDict heads = {{"heads", "2"}};
    const Shape qkv{5, 3, 24}, q{6, 3, 8}, kv{5, 3, 16};
    CheckGemm({"_contrib_interleaved_matmul_selfatt_qk", {qkv}, {dtype}, heads}, 8);
    CheckGemm({"_contrib_interleaved_matmul_selfatt_valatt", {qkv, {6, 5, 5}}, {dtype}, heads}, 8);
    CheckGemm({"_contrib_interleaved_matmul_encdec_qk", {q, kv}, {dtype}, heads}, 8);
    CheckGemm({"_contrib_interleaved_matmul_encdec_valatt", {kv, {6, 6, 5}}, {dtype}, heads}, 8);
    CheckGemm({"_backward_interleaved_matmul_selfatt_qk", {{6, 5, 5}, qkv}, {dtype}, heads}, 8);
    CheckGemm({"_backward_interleaved_matmul_selfatt_valatt", {{5, 3, 8}, qkv, {6, 5, 5}}, {dtype}, heads}, 8);
    CheckGemm({"_backward_interleaved_matmul_encdec_qk", {{6, 6, 5}, q, kv}, {dtype}, heads}, 8);
    CheckGemm({"_backward_interleaved_matmul_encdec_valatt", {{6, 3, 8}, kv, {6, 6, 5}}, {dtype}, heads}, 8);
  }
}

// ---- what is asked of the library
struct Asked {
  gpu_library::GemmProblem problem;
  int kernels;
};
Asked Ask(const Case& c) {
  FakeGemmLibrary library;
  EmulatedDevice device;
  const int before = EmulatedDevice::launches();
  RunKernel(c, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::chosen().size(), 1u) << Name(c);
  return {FakeGemmLibrary::chosen().empty() ? gpu_library::GemmProblem() : FakeGemmLibrary::chosen()[0],
          EmulatedDevice::launches() - before};
}
Case Fused(int dtype, const char* post, int bias_dtype = -1) {
  Case c{"_fused_dense", {{3, 5}, {4, 5}, {4}}, {dtype, dtype, bias_dtype < 0 ? dtype : bias_dtype}, {{"num_hidden", "4"}}};
  if (*post) c.attrs["post"] = post;
  return c;
}

TEST(GemmChoice, EpiloguesTakeWhatTheLibraryCan) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  Asked a = Ask(Fused(kFloat16, "relu"));
  EXPECT_TRUE(a.problem.bias && a.problem.relu);
  EXPECT_EQ(a.kernels, 0);
  a = Ask(Fused(kFloat32, "tanh"));
  EXPECT_TRUE(a.problem.bias && !a.problem.relu);
  EXPECT_EQ(a.kernels, 1);
  a = Ask(Fused(kFloat16, "relu", kFloat32));  // a bias of another type is ours, and so is what follows it
  EXPECT_TRUE(!a.problem.bias && !a.problem.relu);
  EXPECT_EQ(a.kernels, 1);
  a = Ask({"FullyConnected", {{3, 5}, {4, 5}, {4}}, {kFloat64}, {{"num_hidden", "4"}}});  // double has no epilogues
  EXPECT_FALSE(a.problem.bias);
  EXPECT_EQ(a.kernels, 1);
}

Case DenseBackward(int dtype, OpReq req = OpReq::kWrite) {
  return {"_backward_FullyConnected", {{3, 4}, {3, 5}, {4, 5}, {4}}, {dtype}, {{"num_hidden", "4"}}, req};
}

TEST_F(Products, BiasGradientsComeBesideWeightGradients) {
  auto sums = [](const Case& c) {
    EmulatedDevice device;
    FakeGemmLibrary::chosen().clear();
    gpu_library::ForgetGemms();
    RunKernel(c, DeviceType::kGPU);
    int count = 0;
    for (const auto& p : FakeGemmLibrary::chosen()) count += p.sums;
    return count;
  };
  for (int dtype : {kFloat32, kFloat16, kBfloat16}) EXPECT_EQ(sums(DenseBackward(dtype)), 1);
  EXPECT_EQ(sums(DenseBackward(kFloat64)), 0);
  EXPECT_EQ(sums(DenseBackward(kFloat32, OpReq::kAdd)), 0);
  Env::Set("MXNET_ENFORCE_DETERMINISM", "1");
  EXPECT_EQ(sums(DenseBackward(kFloat32)), 0);
  Env::Set("MXNET_ENFORCE_DETERMINISM", "");
}

// What the library refuses is ours: a case's kernels are noted with it refusing, and run with it
// refusing.
TEST_F(Products, WithoutEpilogues) {
  FakeGemmLibrary::refuse() = [](const gpu_library::GemmProblem& p) { return p.bias || p.relu || p.sums; };
  for (int dtype : {kFloat32, kFloat16}) {
    CheckGemm({"FullyConnected", {{3, 5}, {4, 5}, {4}}, {dtype}, {{"num_hidden", "4"}}}, 8);
    CheckGemm({"_fused_dense", {{3, 5}, {4, 5}, {4}, {3, 4}}, {dtype}, {{"num_hidden", "4"}, {"post", "relu"}, {"with_add", "1"}}}, 8);
    CheckGemm(DenseBackward(dtype), 8);
  }
}

TEST(GemmChoice, RefusedGemmsAreClearErrors) {
  FakeGemmLibrary library;
  FakeGemmLibrary::refuse() = [](const gpu_library::GemmProblem&) { return true; };
  try {
    RunKernel({"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}}, DeviceType::kGPU);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[matmul] cuBLASLt has no algorithm for 1 products of 3 x 5 and 5 x 4 of float32"),
              std::string::npos)
        << e.what();
  }
}

TEST(GemmChoice, IsRememberedByProblem) {
  FakeGemmLibrary library;
  const Case c{"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}};
  RunKernel(c, DeviceType::kGPU);
  RunKernel(c, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::chosen().size(), 1u);
  EXPECT_EQ(FakeGemmLibrary::multiplied(), 2);
  EXPECT_EQ(gpu_library::RememberedGemms(), 1u);
  RunKernel({"dot", {{3, 5}, {5, 6}}, {kFloat32}, {}}, DeviceType::kGPU);
  RunKernel({"dot", {{3, 5}, {4, 5}}, {kFloat32}, {{"transpose_b", "1"}}}, DeviceType::kGPU);
  RunKernel({"dot", {{3, 5}, {5, 4}}, {kFloat16}, {}}, DeviceType::kGPU);
  RunKernel({"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}, OpReq::kWrite, -3, 3, true}, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::chosen().size(), 5u);
  EXPECT_EQ(FakeGemmLibrary::chosen()[0].alignment[0] % 32, 0);
  EXPECT_EQ(FakeGemmLibrary::chosen()[4].alignment[0], 4);      // one element behind
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1");  // another arithmetic, another choice
  RunKernel(c, DeviceType::kGPU);
  Env::Set("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "");
  ASSERT_EQ(FakeGemmLibrary::chosen().size(), 6u);
  EXPECT_EQ(FakeGemmLibrary::chosen()[0].arithmetic, Arithmetic::kFloat);
  EXPECT_EQ(FakeGemmLibrary::chosen()[5].arithmetic, Arithmetic::kTensorFloat);
  Env::Set("MXNET_FC_TRUE_FP16", "1");
  RunKernel({"FullyConnected", {{3, 5}, {4, 5}}, {kFloat16}, {{"num_hidden", "4"}, {"no_bias", "1"}}}, DeviceType::kGPU);
  Env::Set("MXNET_FC_TRUE_FP16", "");
  EXPECT_EQ(FakeGemmLibrary::chosen().back().arithmetic, Arithmetic::kHalf);
}

TEST(GemmChoice, IsPreparedOnceForAThread) {
  FakeGemmLibrary library;
  const Case c{"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}};
  for (int i = 0; i < 3; ++i) RunKernel(c, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::prepared(), 1);
  std::thread([&c] { RunKernel(c, DeviceType::kGPU); }).join();
  EXPECT_EQ(FakeGemmLibrary::prepared(), 2);
  EXPECT_EQ(FakeGemmLibrary::chosen().size(), 1u);
  gpu_library::ForgetGemms();
  RunKernel(c, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::prepared(), 3);
  for (int64_t n = 1; n <= 600; ++n) RunKernel({"dot", {{3, 5}, {5, n}}, {kFloat32}, {}}, DeviceType::kGPU);  // more than a thread keeps
  RunKernel(c, DeviceType::kGPU);
  EXPECT_EQ(FakeGemmLibrary::chosen().size(), 601u);
  EXPECT_EQ(FakeGemmLibrary::multiplied(), 606);
}

TEST(Recent, KeepsWhatCameLastToAPlace) {
  gpu_library::Recent<int, 1> one;
  EXPECT_EQ(one.Find("a", 1), nullptr);
  EXPECT_EQ(*one.Put("a", 1, 5), 5);
  ASSERT_NE(one.Find("a", 1), nullptr);
  EXPECT_EQ(one.Find("a", 2), nullptr);
  one.Put("b", 1, 6);
  EXPECT_EQ(one.Find("a", 1), nullptr);
  EXPECT_EQ(*one.Find("b", 1), 6);
}

TEST(GemmChoice, ArithmeticFollowsTheVariables) {
  Env env = Env::Get();
  env.cuda_allow_tensor_core = true;
  env.cuda_tensor_op_math_allow_conversion = env.fc_true_fp16 = false;
  auto all = [&env](Arithmetic f32, Arithmetic f64, Arithmetic f16, Arithmetic bf16) {
    EXPECT_EQ(gpu_library::ArithmeticOf(kFloat32, env), f32);
    EXPECT_EQ(gpu_library::ArithmeticOf(kFloat64, env), f64);
    EXPECT_EQ(gpu_library::ArithmeticOf(kFloat16, env), f16);
    EXPECT_EQ(gpu_library::ArithmeticOf(kBfloat16, env), bf16);
  };
  all(Arithmetic::kFloat, Arithmetic::kDouble, Arithmetic::kFloat, Arithmetic::kFloat);
  env.cuda_tensor_op_math_allow_conversion = true;
  all(Arithmetic::kTensorFloat, Arithmetic::kDouble, Arithmetic::kFloat, Arithmetic::kFloat);
  env.fc_true_fp16 = true;
  all(Arithmetic::kTensorFloat, Arithmetic::kDouble, Arithmetic::kHalf, Arithmetic::kFloat);
  env.cuda_allow_tensor_core = false;
  all(Arithmetic::kFloat, Arithmetic::kDoublePedantic, Arithmetic::kHalfPedantic, Arithmetic::kFloatPedantic);
  env.fc_true_fp16 = false;
  all(Arithmetic::kFloat, Arithmetic::kDoublePedantic, Arithmetic::kFloatPedantic, Arithmetic::kFloatPedantic);
  EXPECT_THROW(gpu_library::ArithmeticOf(kInt32, env), Error);
}

TEST(GemmChoice, ReductionSchemesKeepPrecisionAndOrder) {
  Env env = Env::Get();
  env.enforce_determinism = false;
  EXPECT_EQ(gpu_library::AllowedReductions(kFloat32, Arithmetic::kFloat, env),
            gpu_library::kInPlace | gpu_library::kInComputeType | gpu_library::kInOutputType);
  EXPECT_EQ(gpu_library::AllowedReductions(kFloat16, Arithmetic::kFloat, env), gpu_library::kInComputeType);
  EXPECT_EQ(gpu_library::AllowedReductions(kFloat16, Arithmetic::kHalf, env),
            gpu_library::kInPlace | gpu_library::kInComputeType | gpu_library::kInOutputType);
  env.enforce_determinism = true;
  EXPECT_EQ(gpu_library::AllowedReductions(kFloat32, Arithmetic::kFloat, env), gpu_library::kInComputeType | gpu_library::kInOutputType);
}

TEST(GemmChoice, WithoutALibraryIsAClearError) {
  const ScopedPart<gpu_library::GemmLibrary> gemm(GpuInterface().gemm, nullptr);
  try {
    RunKernel({"dot", {{3, 5}, {5, 4}}, {kFloat32}, {}}, DeviceType::kGPU);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no matrix library"), std::string::npos) << e.what();
  }
}

TEST(BoundedCache, DropsTheLongestUnused) {
  gpu_library::BoundedCache<int> cache(2);
  int v = 0;
  cache.Put("a", 1);
  cache.Put("b", 2);
  cache.Put("a", 9);  // the first stays
  EXPECT_TRUE(cache.Find("a", &v));
  EXPECT_EQ(v, 1);
  cache.Put("c", 3);
  EXPECT_FALSE(cache.Find("b", &v));
  EXPECT_TRUE(cache.Find("a", &v) && cache.Find("c", &v));
  EXPECT_EQ(cache.size(), 2u);
}

}  // namespace
}  // namespace mxnet
