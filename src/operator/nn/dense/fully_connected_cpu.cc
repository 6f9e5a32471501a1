// FullyConnected on the CPU: matrix products.
#include <algorithm>

#include "mxnet/op.h"
#include "operator/linalg/matmul.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/only.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/nn/dense/fully_connected.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/shared/gemm.h"
#include "operator/shared/half_product.h"

namespace mxnet {
namespace nn {

Hooks g_hooks;

namespace {

constexpr int64_t kThinFrom = 64;  // rows; for fewer the libraries are as fast

/* With weights that are used once, which are not worth packing. */
bool ForwardHalf(KernelArgs& args, const DenseCall& call) {
  if (!IsHalf(call.dtype) || call.k == 0 || KeepsWeights(args, call.weight_input)) return false;
  HalfProduct p;
  p.dtype = call.dtype, p.trans_b = true, p.m = call.m, p.n = call.n, p.k = call.k;
  p.a = call.data, p.b = call.weight, p.bias = call.bias, p.c = call.out;
  return MultiplyHalf(p, args.workspace);
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob &data = args.in[0], &weight = args.in[1], &out = args.out[0];
  const int64_t n = weight.shape[0], k = weight.shape[1], m = out.Size() / n;
  const bool bias = args.in.size() > 2;
  if (m == 0) return;
  DenseCall call;
  call.m = m, call.n = n, call.k = k, call.dtype = data.dtype;
  call.data = data.dptr, call.weight = weight.dptr, call.bias = bias ? args.in[2].dptr : nullptr, call.out = out.dptr;
  call.weight_input = 1;
  const MatmulSize size{1, m, n, k};
  if (m >= kThinFrom && args.req[0] != OpReq::kAdd && ThinProduct(data.dtype, true, size, call.data, call.weight, call.bias, call.out))
    return;
  if (NativeDense(args, call, nullptr)) return;
  if (ForwardHalf(args, call)) return;
  auto dense = ActiveHooks().dense;
  if (dense && dense(args, call)) return;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    if (IsHalf(data.dtype)) {
      DenseCall wide = call;
      wide.dtype = kFloat32, wide.data = a.in[0].dptr, wide.weight = a.in[1].dptr, wide.out = a.out[0].dptr;
      if (bias) wide.bias = a.in[2].dptr;
      if (NativeDense(a, wide, nullptr)) return;
    }
    T* y = a.out[0].data<T>();
    if (bias) {
      const T* b = a.in[2].data<T>();
      ParallelFor(m, std::max<int64_t>(1, 65536 / n), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::copy(b, b + n, y + i * n);
      });
    }
    Gemm(false, true, m, n, k, a.in[0].data<T>(), a.in[1].data<T>(), bias ? T(1) : T(0), y);
  });
}

/* Computes those gradients of half types that the processor's products of such numbers give.
 * Returns a mask of the other outputs. */
unsigned BackwardHalf(KernelArgs& args) {
  const TBlob &og = args.in[0], &x = args.in[1], &w = args.in[2];
  const int64_t n = w.shape[0], k = w.shape[1], m = og.Size() / n;
  unsigned left = 0b111;
  if (m == 0 || k == 0) return left;
  const auto product = [&](int i, bool ta, int64_t rows, int64_t inner, const TBlob& a, const TBlob& b) {
    if (!Wanted(args, i) || a.dtype != b.dtype || a.dtype != args.out[i].dtype) return;
    HalfProduct p;
    p.dtype = a.dtype, p.trans_a = ta, p.m = rows, p.n = k, p.k = inner, p.a = a.dptr, p.b = b.dptr, p.c = args.out[i].dptr;
    p.accumulate = args.req[i] == OpReq::kAdd;
    if (MultiplyHalf(p, args.workspace)) left &= ~(1u << i);
  };
  product(0, false, m, n, og, w);
  product(1, true, n, m, og, x);
  if (!Wanted(args, 2)) return left;
  SumHalfRows(og, m, n, args.req[2] == OpReq::kAdd, args.out[2]);
  return left & 0b011;
}

void BackwardReal(KernelArgs& args) {
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>(), *w = a.in[2].data<T>();
    const int64_t n = a.in[2].shape[0], k = a.in[2].shape[1], m = a.in[0].Size() / n;
    auto beta = [&](int i) { return a.req[i] == OpReq::kAdd ? T(1) : T(0); };
    if (Wanted(a, 0)) Gemm(false, false, m, k, n, og, w, beta(0), a.out[0].data<T>());
    if (Wanted(a, 1)) Gemm(true, false, n, k, m, og, x, beta(1), a.out[1].data<T>());
    if (Wanted(a, 2)) {
      T* db = a.out[2].data<T>();
      const T keep = beta(2);
      // columns in blocks: each thread owns some, so no two write the same sum
      ParallelFor(n, std::max<int64_t>(16, 65536 / std::max<int64_t>(m, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) db[j] = keep == T(0) ? T(0) : db[j];
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = begin; j < end; ++j) db[j] += og[i * n + j];
      });
    }
  });
}

void Backward(KernelArgs& args) {
  if (!IsHalf(args.in[0].dtype)) return BackwardReal(args);
  Only rest(args, BackwardHalf(args));
  const auto wanted = [&](int i) { return Wanted(rest.args(), i); };
  if (wanted(0) || wanted(1) || wanted(2)) BackwardReal(rest.args());
}

MXNET_REGISTER_OP_KERNEL(FullyConnected, kCPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_FullyConnected, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
