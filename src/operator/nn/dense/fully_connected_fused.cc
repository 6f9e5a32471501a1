// _fused_dense: a dense layer with the addition and the activation behind it, in one pass over its
// result.
#include <algorithm>

#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

bool Run(KernelArgs& args, bool reference) {
  const TBlob& out = args.out[0];
  const auto& p = args.param<FusedParam>();
  const TBlob &weight = args.in[1], &addend = args.in[args.in.size() - 1];
  DenseCall call;
  call.n = weight.shape[0], call.k = weight.shape[1], call.m = out.Size() / call.n;
  call.dtype = out.dtype;
  call.data = args.in[0].dptr, call.weight = weight.dptr, call.bias = p.LayerInputs() > 2 ? args.in[2].dptr : nullptr, call.out = out.dptr;
  call.wide_bias = call.bias && IsHalf(out.dtype) && args.in[2].dtype == kFloat32;
  call.weight_input = 1;
  call.accumulate = p.add;
  call.post = p.post;
  if (NativeDense(args, call, p.add ? addend.dptr : nullptr)) return true;
  if (p.add) BeginWithAddend(addend, out);
  auto dense = ActiveHooks().dense;
  if (dense && dense(args, call)) return true;
  if (!reference) return false;
  float* y = out.data<float>();
  const float* bias = static_cast<const float*>(call.bias);
  const int64_t n = call.n, rows = std::max<int64_t>(1, 65536 / n);
  if (bias)
    ParallelFor(call.m, rows, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i)
        for (int64_t j = 0; j < n; ++j) y[i * n + j] = bias[j] + (p.add ? y[i * n + j] : 0.f);
    });
  Gemm(false, true, call.m, n, call.k, args.in[0].data<float>(), weight.data<float>(), bias || p.add ? 1.f : 0.f, y);
  if (p.post) ParallelFor(out.Size(), 0, [&](int64_t b, int64_t e) { ApplyPost(p.post, y + b, y + b, e - b); });
  return true;
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  RunFused(args, Run);
}

[[maybe_unused]] Op& record = RegisterFused("_fused_dense", "FullyConnected")
                                  .set_trait(AsksForWeights{0b10, true})
                                  .set_expensive_to_recompute()
                                  .set_kernel(DeviceType::kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
