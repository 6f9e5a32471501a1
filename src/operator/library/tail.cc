#include "operator/library/tail.h"

#include <vector>

#include "operator/nn/activation_kernels.h"
#include "operator/pointwise/device_activation.h"
#include "operator/pointwise/device_program.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/loops.h"

namespace mxnet {
namespace library {
namespace {

pointwise::Function PostFunction(nn::PostKind kind) {
  switch (kind) {
    case nn::PostKind::kRelu: return pointwise::ActivationFunction(nn::kActRelu, false);
    case nn::PostKind::kSigmoid: return pointwise::ActivationFunction(nn::kActSigmoid, false);
    case nn::PostKind::kTanh: return pointwise::ActivationFunction(nn::kActTanh, false);
    case nn::PostKind::kSoftRelu: return pointwise::ActivationFunction(nn::kActSoftRelu, false);
    case nn::PostKind::kGelu: return pointwise::ActivationFunction(nn::kActGelu, false);
    case nn::PostKind::kLeaky: return pointwise::ActivationFunction(nn::kActLeaky, false);
    case nn::PostKind::kElu: return pointwise::ActivationFunction(nn::kActElu, false);
    case nn::PostKind::kClip: return pointwise::Forward(pointwise::k_clip);
    case nn::PostKind::kHardSigmoid: return pointwise::Forward(pointwise::k_hard_sigmoid);
    case nn::PostKind::kNone: break;
  }
  return pointwise::Forward(pointwise::k_identity);
}

}  // namespace

void ApplyTail(const RunContext& run, void* out, int dtype, int64_t rows, int64_t channels, int64_t inner, const Tail& tail) {
  if (!tail || rows * channels * inner == 0) return;
  TBlob y;
  y.dptr = out;
  y.shape = Shape{rows, channels, inner};
  y.dtype = dtype;
  y.ctx = run.ctx;
  std::vector<TBlob> in = {y};
  pointwise::DeviceProgram program;
  program.name = "tail";
  program.compute = pointwise::ComputeFor(dtype, false);
  pointwise::DeviceValue value{pointwise::DeviceValue::kInput, 0};
  auto step = [&](pointwise::Function function, const std::vector<pointwise::DeviceValue>& from, int params) {
    pointwise::DeviceStep s;
    s.function = function;
    s.from = from;
    s.params = params;
    program.steps.push_back(s);
    value = {pointwise::DeviceValue::kStep, static_cast<int>(program.steps.size()) - 1};
  };
  auto add = [&](const TBlob& b) {
    in.push_back(b);
    step(pointwise::Forward(pointwise::k_add), {value, {pointwise::DeviceValue::kInput, static_cast<int>(in.size()) - 1}}, -1);
  };
  if (tail.bias) {
    TBlob b = y;
    b.dptr = const_cast<void*>(tail.bias);
    b.shape = Shape{1, channels, 1};
    b.dtype = tail.bias_dtype;
    add(b);
  }
  if (tail.addend) {
    TBlob b = y;
    b.dptr = const_cast<void*>(tail.addend);
    add(b);
  }
  double numbers[3] = {static_cast<double>(tail.post.a), static_cast<double>(tail.post.b), 0};
  if (tail.post) {
    program.numbers = 3;
    step(PostFunction(tail.post.kind), {value}, 0);
  }
  pointwise::RunProgram(program, Span<const TBlob>(in.data(), static_cast<int>(in.size())), numbers, y, OpReq::kWrite, run);
}

void ConvertOnDevice(const RunContext& run, const void* from, int from_dtype, void* to, int to_dtype, int64_t count) {
  TBlob in, out;
  in.dptr = const_cast<void*>(from), in.dtype = from_dtype;
  out.dptr = to, out.dtype = to_dtype;
  in.shape = out.shape = Shape{count};
  in.ctx = out.ctx = run.ctx;
  pointwise::DeviceProgram program;
  program.name = "convert";
  program.compute = pointwise::kF32;
  pointwise::DeviceStep step;
  step.function = pointwise::Forward(pointwise::k_identity);
  step.from = {{pointwise::DeviceValue::kInput, 0}};
  program.steps.push_back(step);
  pointwise::RunProgram(program, Span<const TBlob>(&in, 1), nullptr, out, OpReq::kWrite, run);
}

}  // namespace library
}  // namespace mxnet
