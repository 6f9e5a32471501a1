// FullyConnected and its fused form on a GPU: products of the vendor's library with bias and relu in its epilogue.
#include "engine/stream_order.h"
#include "mxnet/env.h"
#include "operator/library/product.h"
#include "operator/nn/fully_connected.h"
#include "operator/nn/fused.h"
#include "operator/nn/nn_common.h"
#include "operator/reduce/reduce.h"

namespace mxnet {
namespace nn {
namespace {

// out(m, n) = data(m, k) * weight(n, k)^T, then the tail
void Dense(KernelArgs& a, const library::Tail& tail) {
  const TBlob &data = a.in[0], &weight = a.in[1], &out = a.out[0];
  library::Product p;
  p.dtype = out.dtype, p.trans_b = true;
  p.n = weight.shape[0], p.k = weight.shape[1], p.m = out.Size() / p.n;
  library::Multiply(a.run, a.workspace, p, data.dptr, weight.dptr, out.dptr, tail);
}

library::Tail BiasOf(const KernelArgs& a, int inputs) {
  library::Tail tail;
  if (inputs > 2) tail.bias = a.in[2].dptr, tail.bias_dtype = a.in[2].dtype;
  return tail;
}

void Forward(KernelArgs& a) {
  if (Wanted(a, 0)) Dense(a, BiasOf(a, a.in.size()));
}

void FusedForward(KernelArgs& a) {
  if (!Wanted(a, 0)) return;
  const auto& p = a.param<FusedParam>();
  library::Tail tail = BiasOf(a, p.LayerInputs());
  if (p.add) tail.addend = a.in[a.in.size() - 1].dptr;
  tail.post = p.post;
  Dense(a, tail);
}

void Backward(KernelArgs& a) {
  const TBlob &og = a.in[0], &data = a.in[1], &weight = a.in[2];
  const int64_t n = weight.shape[0], k = weight.shape[1], m = og.Size() / n;
  // gradients of the parameters run beside that of the data, where there is a second stream
  engine::SideStream side(a.run, Wanted(a, 0) && (Wanted(a, 1) || Wanted(a, 2)));
  KernelArgs beside = a;
  beside.run = side.run();
  library::Product p;
  p.dtype = og.dtype;
  auto addend = [&](int output) -> const void* { return a.req[output] == OpReq::kAdd ? a.out[output].dptr : nullptr; };
  bool summed = false;   // the gradient of the bias, beside that of the weight
  if (Wanted(a, 1)) {
    p.trans_a = true, p.m = n, p.n = k, p.k = m;
    const bool both = Wanted(a, 2) && a.req[2] == OpReq::kWrite && a.out[2].dtype == p.dtype && !Env::Get().enforce_determinism;
    if (both) {
      summed = library::MultiplyAndSum(beside.run, a.workspace, p, og.dptr, data.dptr, a.out[1].dptr, addend(1), a.out[2].dptr);
    } else {
      library::Tail tail;
      tail.addend = addend(1);
      library::Multiply(beside.run, a.workspace, p, og.dptr, data.dptr, a.out[1].dptr, tail);
    }
  }
  if (Wanted(a, 2) && !summed) {
    TBlob rows = og;
    rows.shape = Shape{m, n};
    reduce::Reduce(beside, reduce::kSum, rows, {1, 0}, reduce::Finish(), false, a.out[2], a.req[2]);
  }
  if (Wanted(a, 0)) {
    p.trans_a = false, p.m = m, p.n = k, p.k = n;
    library::Tail tail;
    tail.addend = addend(0);
    library::Multiply(a.run, a.workspace, p, og.dptr, weight.dptr, a.out[0].dptr, tail);
  }
  side.Join();
}

MXNET_REGISTER_OP_KERNEL(FullyConnected, kGPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_FullyConnected, kGPU, Backward);
MXNET_REGISTER_OP_KERNEL(_fused_dense, kGPU, FusedForward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
