/*
 * Operators and a training step on a real GPU against the CPU: one of every family of kernels,
 * sizes that are no multiple of a block. Short, for tools that watch a device (compute-sanitizer,
 * through tools/gpu_check.sh). Without a GPU the same runs on cpu(1), so that the cases stay valid.
 */
#include <gtest/gtest.h>

#include <cmath>

#include "base/device/device_query.h"
#include "common/graph_helpers.h"
#include "mxnet/engine.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"

namespace mxnet {
namespace {

bool HasGpu() { return DeviceCount(DeviceType::kGPU) > 0; }
Context Device() { return HasGpu() ? Context::GPU(0) : Context{DeviceType::kCPU, 1}; }

struct Family {
  const char* op;
  std::vector<Shape> shapes;
  AttrDict attrs;
};

const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"elemwise_add", {{37, 53}, {37, 53}}, {}},
      {"broadcast_mul", {{37, 1, 53}, {1, 19, 53}}, {}},
      {"tanh", {{4099}}, {}},
      {"Cast", {{1021}}, {{"dtype", "float16"}}},
      {"sum", {{37, 1031}}, {{"axis", "1"}}},
      {"mean", {{1031, 37}}, {{"axis", "0"}}},
      {"max", {{70001}}, {}},
      {"argmax", {{37, 131}}, {{"axis", "1"}}},
      {"transpose", {{37, 53, 11}}, {{"axes", "(2, 0, 1)"}}},
      {"Concat", {{5, 7}, {5, 9}}, {{"dim", "1"}, {"num_args", "2"}}},
      {"slice", {{37, 53}}, {{"begin", "(1, 2)"}, {"end", "(36, 51)"}, {"step", "(2, 3)"}}},
      {"sort", {{9, 1500}}, {{"axis", "1"}}},
      {"topk", {{9, 70}}, {{"k", "5"}, {"ret_typ", "value"}}},
      {"cumsum", {{9, 1500}}, {{"axis", "1"}}},
      {"dot", {{33, 65}, {65, 17}}, {}},
      {"batch_dot", {{3, 33, 65}, {3, 65, 17}}, {}},
      {"FullyConnected", {{33, 65}, {17, 65}, {17}}, {{"num_hidden", "17"}}},
      {"Convolution", {{2, 3, 19, 17}, {8, 3, 3, 3}, {8}}, {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "8"}}},
      {"Deconvolution", {{2, 8, 9, 7}, {8, 3, 3, 3}}, {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"num_filter", "3"}}},
      {"Pooling", {{2, 8, 19, 17}}, {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}},
      {"softmax", {{37, 1031}}, {}},
      {"LayerNorm", {{37, 131}, {131}, {131}}, {}},
      {"LeakyReLU", {{4099}}, {{"act_type", "gelu"}}},
  };
  return families;
}

NDArray Apply(const Family& f, const std::vector<NDArray>& inputs) {
  std::vector<const char*> keys, values;
  for (const auto& kv : f.attrs) keys.push_back(kv.first.c_str()), values.push_back(kv.second.c_str());
  const AttrsPtr attrs = Imperative::GetAttrs(Op::Get(f.op), static_cast<int>(keys.size()), keys.data(), values.data());
  std::vector<NDArray> in = inputs, out(attrs->op->NumOutputs(*attrs));
  std::vector<NDArray*> in_ptrs, out_ptrs;
  for (auto& a : in) in_ptrs.push_back(&a);
  for (auto& a : out) out_ptrs.push_back(&a);
  Imperative::Invoke(attrs, in_ptrs, out_ptrs);
  return out[0];
}

std::vector<float> Floats(const NDArray& a) {
  NDArray wide(a.shape(), Context::CPU(), kFloat32);
  CopyFromTo(a.Copy(Context::CPU()), wide);
  return Values(wide);
}

void ExpectClose(const std::vector<float>& got, const std::vector<float>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::fabs(want[i]))) << i;
}

TEST(DeviceRun, OneOfEveryFamily) {
  for (const Family& f : Families()) {
    SCOPED_TRACE(f.op);
    std::vector<NDArray> host, device;
    for (const Shape& s : f.shapes) {
      host.push_back(Random(s, static_cast<int>(host.size()) + 1));
      device.push_back(host.back().Copy(Device()));
    }
    ExpectClose(Floats(Apply(f, device)), Floats(Apply(f, host)), 1e-4);
  }
}

TEST(DeviceRun, DrawsStayInTheirRange) {
  NDArray out(Shape{4099}, Device());
  NDArray* written = &out;
  Imperative::Invoke(Imperative::GetAttrs(Op::Get("_random_uniform"), 0, nullptr, nullptr), {}, {written});
  double sum = 0;
  for (float v : Floats(out)) {
    ASSERT_TRUE(v >= 0 && v < 1) << v;
    sum += v;
  }
  EXPECT_NEAR(sum / 4099, 0.5, 0.05);
}

// A small network with normalisation: four steps of one compiled plan. The first runs, later ones
// are CUDA graphs where those are on.
std::vector<float> Train(const Context& ctx) {
  Symbol s = Make("Convolution", {Symbol::Variable("data")}, {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"no_bias", "True"}}, "conv");
  s = Make("relu", {Make("BatchNorm", {s}, {{"fix_gamma", "False"}}, "norm")}, {}, "relu");
  s = Make("Pooling", {s}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "avg"}}, "pool");
  s = Make("log_softmax", {Make("FullyConnected", {s}, {{"num_hidden", "5"}}, "dense")}, {}, "out");
  auto op = CachedOp::Create(s, {{"static_alloc", "true"}, {"static_shape", "true"}});
  // in the order of the symbol's inputs
  const std::vector<std::pair<std::string, Shape>> inputs = {
      {"data", {3, 3, 11, 9}},   {"conv_weight", {8, 3, 3, 3}}, {"norm_gamma", {8}},       {"norm_beta", {8}},
      {"norm_moving_mean", {8}}, {"norm_moving_var", {8}},      {"dense_weight", {5, 96}}, {"dense_bias", {5}}};
  std::vector<NDArray> arrays, grads;
  std::vector<NDArray*> all, marked, grad_ptrs;
  for (const auto& in : inputs)
    arrays.push_back(
        Random(in.second, static_cast<int>(arrays.size()) + 1, in.first.find("var") == std::string::npos ? -1.f : 0.5f, 1).Copy(ctx));
  for (const auto& in : inputs) grads.push_back(Filled(in.second, 0).Copy(ctx));
  for (size_t i = 0; i < inputs.size(); ++i) {
    all.push_back(&arrays[i]);
    if (inputs[i].first.find("moving") == std::string::npos) marked.push_back(&arrays[i]), grad_ptrs.push_back(&grads[i]);
  }
  Imperative::MarkVariables(marked, std::vector<OpReq>(marked.size(), OpReq::kWrite), grad_ptrs);
  std::vector<float> seen;
  for (int step = 0; step < 4; ++step) {
    const ImperativeState saved = Imperative::State();
    Imperative::State().recording = Imperative::State().training = true;
    NDArray y;
    op->Invoke(all, {&y});
    Imperative::State() = saved;
    Imperative::Backward({&y}, {}, {}, false, false, true);
    for (const NDArray* a : {&y, grad_ptrs[1], grad_ptrs[4]})
      for (float v : Floats(*a)) seen.push_back(v);
  }
  return seen;
}

TEST(DeviceRun, TrainingStepsWithAndWithoutCudaGraphs) {
  const std::vector<float> want = Train(Context::CPU());
  for (const char* graphs : {"0", "1"}) {
    SCOPED_TRACE(graphs);
    EnvScope scope("MXNET_ENABLE_CUDA_GRAPHS", graphs);
    ExpectClose(Train(Device()), want, 1e-3);
  }
  Engine::Get()->WaitForAll();
}

}  // namespace
}  // namespace mxnet
