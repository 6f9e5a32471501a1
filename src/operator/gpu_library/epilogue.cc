#include "operator/gpu_library/epilogue.h"

#include <vector>

#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/loops/loops.h"
#include "operator/shared/activation_kernels.h"

namespace mxnet {
namespace gpu_library {
namespace {

pointwise::Function EpilogueFunction(nn::EpilogueKind kind) {
  switch (kind) {
    case nn::EpilogueKind::kRelu: return pointwise::ActivationFunction(nn::kActRelu, false);
    case nn::EpilogueKind::kSigmoid: return pointwise::ActivationFunction(nn::kActSigmoid, false);
    case nn::EpilogueKind::kTanh: return pointwise::ActivationFunction(nn::kActTanh, false);
    case nn::EpilogueKind::kSoftRelu: return pointwise::ActivationFunction(nn::kActSoftRelu, false);
    case nn::EpilogueKind::kGelu: return pointwise::ActivationFunction(nn::kActGelu, false);
    case nn::EpilogueKind::kLeaky: return pointwise::ActivationFunction(nn::kActLeaky, false);
    case nn::EpilogueKind::kElu: return pointwise::ActivationFunction(nn::kActElu, false);
    case nn::EpilogueKind::kClip: return pointwise::Forward(pointwise::k_clip);
    case nn::EpilogueKind::kHardSigmoid: return pointwise::Forward(pointwise::k_hard_sigmoid);
    case nn::EpilogueKind::kSilu: return pointwise::Forward(pointwise::k_silu);
    case nn::EpilogueKind::kHardSwish: return pointwise::Forward(pointwise::k_hard_swish);
    case nn::EpilogueKind::kNone: break;
  }
  return pointwise::Forward(pointwise::k_identity);
}

}  // namespace

void ApplyEpilogue(const RunContext& run, void* out, int dtype, int64_t rows, int64_t channels, int64_t inner, const Epilogue& epilogue) {
  if (!epilogue || rows * channels * inner == 0) return;
  TBlob y;
  y.dptr = out;
  y.shape = Shape{rows, channels, inner};
  y.dtype = dtype;
  y.ctx = run.ctx;
  std::vector<TBlob> in = {y};
  pointwise::DeviceProgram program;
  program.name = "epilogue";
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
  if (epilogue.bias) {
    TBlob b = y;
    b.dptr = const_cast<void*>(epilogue.bias);
    b.shape = Shape{1, channels, 1};
    b.dtype = epilogue.bias_dtype;
    add(b);
  }
  if (epilogue.addend) {
    TBlob b = y;
    b.dptr = const_cast<void*>(epilogue.addend);
    add(b);
  }
  double numbers[3] = {static_cast<double>(epilogue.post.a), static_cast<double>(epilogue.post.b), 0};
  if (epilogue.post) {
    program.numbers = 3;
    step(EpilogueFunction(epilogue.post.kind), {value}, 0);
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

}  // namespace gpu_library
}  // namespace mxnet
