// FullyConnected and its fused form on a GPU: products of the vendor's library with bias and relu
// in its epilogue.
#include "engine/stream_order.h"
#include "mxnet/env.h"
#include "operator/gpu_library/gemm.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/dense/fully_connected.h"
#include "operator/reduce/reduce.h"

namespace mxnet {
namespace nn {
namespace {

// out(m, n) = data(m, k) * weight(n, k)^T, then the epilogue
void Dense(KernelArgs& a, const gpu_library::Epilogue& epilogue) {
  const TBlob &data = a.in[0], &weight = a.in[1], &out = a.out[0];
  gpu_library::Gemm p;
  p.dtype = out.dtype, p.trans_b = true;
  p.n = weight.shape[0], p.k = weight.shape[1], p.m = out.Size() / p.n;
  gpu_library::Multiply(a.run, a.workspace, p, data.dptr, weight.dptr, out.dptr, epilogue);
}

gpu_library::Epilogue BiasOf(const KernelArgs& a, int inputs) {
  gpu_library::Epilogue epilogue;
  if (inputs > 2) epilogue.bias = a.in[2].dptr, epilogue.bias_dtype = a.in[2].dtype;
  return epilogue;
}

void Forward(KernelArgs& a) {
  if (Wanted(a, 0)) Dense(a, BiasOf(a, a.in.size()));
}

void FusedForward(KernelArgs& a) {
  if (!Wanted(a, 0)) return;
  const auto& p = a.param<FusedParam>();
  gpu_library::Epilogue epilogue = BiasOf(a, p.LayerInputs());
  if (p.add) epilogue.addend = a.in[a.in.size() - 1].dptr;
  epilogue.post = p.post;
  Dense(a, epilogue);
}

void Backward(KernelArgs& a) {
  const TBlob &og = a.in[0], &data = a.in[1], &weight = a.in[2];
  const int64_t n = weight.shape[0], k = weight.shape[1], m = og.Size() / n;
  // gradients of the parameters run beside that of the data, where there is a second stream
  engine::SideStream side(a.run, Wanted(a, 0) && (Wanted(a, 1) || Wanted(a, 2)));
  KernelArgs beside = a;
  beside.run = side.run();
  gpu_library::Gemm p;
  p.dtype = og.dtype;
  auto addend = [&](int output) -> const void* { return a.req[output] == OpReq::kAdd ? a.out[output].dptr : nullptr; };
  bool summed = false;  // the gradient of the bias, beside that of the weight
  if (Wanted(a, 1)) {
    p.trans_a = true, p.m = n, p.n = k, p.k = m;
    const bool both = Wanted(a, 2) && a.req[2] == OpReq::kWrite && a.out[2].dtype == p.dtype && !Env::Get().enforce_determinism;
    if (both) {
      summed = gpu_library::MultiplyAndSum(beside.run, a.workspace, p, og.dptr, data.dptr, a.out[1].dptr, addend(1), a.out[2].dptr);
    } else {
      gpu_library::Epilogue epilogue;
      epilogue.addend = addend(1);
      gpu_library::Multiply(beside.run, a.workspace, p, og.dptr, data.dptr, a.out[1].dptr, epilogue);
    }
  }
  if (Wanted(a, 2) && !summed) {
    TBlob rows = og;
    rows.shape = Shape{m, n};
    reduce::Reduce(beside, reduce::kSum, rows, {1, 0}, reduce::Finish(), false, a.out[2], a.req[2]);
  }
  if (Wanted(a, 0)) {
    p.trans_a = false, p.m = m, p.n = k, p.k = n;
    gpu_library::Epilogue epilogue;
    epilogue.addend = addend(0);
    gpu_library::Multiply(a.run, a.workspace, p, og.dptr, weight.dptr, a.out[0].dptr, epilogue);
  }
  side.Join();
}

MXNET_REGISTER_OP_KERNEL(FullyConnected, kGPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_FullyConnected, kGPU, Backward);
MXNET_REGISTER_OP_KERNEL(_fused_dense, kGPU, FusedForward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
