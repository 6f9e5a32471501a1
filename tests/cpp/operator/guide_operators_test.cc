/*
 * The worked example of docs/guide/add_an_operator.md, which is built into this program alone:
 * examples/operators/. An operator of the library has a case in tests/python/op_cases instead, of
 * which these tests are made.
 */
#include <gtest/gtest.h>

#include <cmath>

#include "common/graph_helpers.h"
#include "gpu/gpu_cases.h"

namespace mxnet {
namespace {

class GuideOperators : public DeviceKernels {};

Case RmsNorm(const Shape& data, int dtype) { return {"_example_rms_norm", {data, {data[data.ndim() - 1]}}, {dtype}, {{"eps", "0.01"}}}; }
Case RmsNormBackward(const Shape& data, int dtype) {
  return {"_backward_example_rms_norm", {data, data, {data[data.ndim() - 1]}}, {dtype}, {{"eps", "0.01"}}};
}
double At(const std::vector<char>& bytes, int64_t i) { return ReadElement(bytes.data(), kFloat64, i); }

TEST_F(GuideOperators, ForwardIsTheFormula) {
  const Result r = RunKernel(RmsNorm({3, 2, 7}, kFloat64), DeviceType::kCPU);
  for (int64_t row = 0; row < 6; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < 7; ++i) squares += std::pow(At(r.inputs[0], row * 7 + i), 2);
    for (int64_t i = 0; i < 7; ++i)
      EXPECT_NEAR(At(r.bytes[0], row * 7 + i), At(r.inputs[0], row * 7 + i) / std::sqrt(squares / 7 + 0.01f) * At(r.inputs[1], i), 1e-12);
  }
}

// The sum of results weighted by ograd moves as the gradients say.
TEST_F(GuideOperators, GradientIsTheSlope) {
  const Shape shape{4, 5};
  const Result back = RunKernel(RmsNormBackward(shape, kFloat64), DeviceType::kCPU);
  auto loss = [&](int input, int64_t element, double by) {
    Case c = RmsNorm(shape, kFloat64);
    c.given = {{0, back.inputs[1]}, {1, back.inputs[2]}};
    WriteElement(c.given[input].data(), kFloat64, element, At(c.given[input], element) + by);
    const Result r = RunKernel(c, DeviceType::kCPU);
    double sum = 0;
    for (int64_t i = 0; i < shape.Size(); ++i) sum += At(back.inputs[0], i) * At(r.bytes[0], i);
    return sum;
  };
  for (int input = 0; input < 2; ++input)
    for (int64_t i = 0; i < (input ? 5 : 20); ++i) {
      const double slope = (loss(input, i, 1e-5) - loss(input, i, -1e-5)) / 2e-5;
      EXPECT_NEAR(At(back.bytes[input], i), slope, 1e-6) << "input " << input << ", element " << i;
    }
}

TEST_F(GuideOperators, GpuAsCpu) {
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16})
    for (const Shape& shape : {Shape{5, 300}, Shape{2, 3, 7}, Shape{300, 2}, Shape{1}}) {
      Check(RmsNorm(shape, dtype), 4);
      Check(RmsNormBackward(shape, dtype), 20);
    }
}

TEST_F(GuideOperators, GraphsDifferentiateIt) {
  const Symbol data = Symbol::Variable("data"), gamma = Symbol::Variable("gamma");
  const Symbol y = Make("_example_rms_norm", {data, gamma}, {}, "norm");
  const NodePtr node = y.outputs[0].node;
  const std::vector<NodeEntry> grads = node->attrs->op->gradient(node, {{MakeVariable("ograd"), 0, 0}});
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads[1].node->attrs->op->name, "_backward_example_rms_norm");
  EXPECT_EQ(grads[1].index, 1u);
}

TEST_F(GuideOperators, WrongShapesAreClearErrors) {
  const Op* op = Op::Get("_example_rms_norm");
  ShapeVector in = {Shape{2, 3}, Shape{4}}, out(1);
  const std::string error = ErrorOf([&] { InferCall(*MakeAttrs(op, {}), {}, &in, &out); });
  EXPECT_EQ(error.rfind("[_example_rms_norm]", 0), 0u) << error;
}

}  // namespace
}  // namespace mxnet
