// FullyConnected on the CPU: matrix products.
#include <algorithm>

#include "mxnet/op.h"
#include "operator/linalg/matmul.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/nn/dense/fully_connected.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {

Hooks g_hooks;

namespace {

constexpr int64_t kThinFrom = 64;  // rows; for fewer the libraries are as fast

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
  auto dense = ActiveHooks().dense;
  if (dense && dense(args, call)) return;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
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

void Backward(KernelArgs& args) {
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

MXNET_REGISTER_OP_KERNEL(FullyConnected, kCPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_FullyConnected, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
