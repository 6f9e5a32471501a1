// The attention products on interleaved projections on a GPU: one batch of strided products per
// operator, a matrix per sequence and head.
#include <cmath>

#include "base/dtype.h"
#include "mxnet/op.h"
#include "operator/gpu_library/gemm.h"
#include "operator/matrix/move.h"
#include "operator/nn/attention/interleaved_attention.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace nn {
namespace {

// One part of a projection (see interleaved_attention_cpu.cc): matrix i of `count` begins i * step
// elements behind data, rows `stride` apart.
struct Part {
  char* data;
  int64_t steps, count, size, step, stride;
  Part(const TBlob& b, int64_t heads, int64_t parts, int64_t part)
      : steps(b.shape[0]),
        count(b.shape[1] * heads),
        size(b.shape[2] / (heads * parts)),
        step(parts * size),
        stride(b.shape[1] * b.shape[2]) {
    data = b.data<char>() + static_cast<size_t>(part * size) * DTypeSize(b.dtype);
  }
  double Scale() const { return size ? 1 / std::sqrt(static_cast<double>(size)) : 0; }
};

struct Side {
  const void* data;
  bool transposed;
  int64_t ld, step;
};
Side Of(const Part& p, bool transposed = false) { return {p.data, transposed, p.stride, p.step}; }
Side Scores(const TBlob& b, int64_t rows, int64_t columns, bool transposed = false) {
  return {b.dptr, transposed, columns, rows * columns};
}

void Run(KernelArgs& a, int dtype, int64_t count, int64_t m, int64_t n, int64_t k, double alpha, const Side& left, const Side& right,
         const Side& result) {
  gpu_library::Gemm p;
  p.dtype = dtype, p.batch = count, p.m = m, p.n = n, p.k = k, p.alpha = alpha;
  p.trans_a = left.transposed, p.lda = left.ld, p.step_a = left.step;
  p.trans_b = right.transposed, p.ldb = right.ld, p.step_b = right.step;
  p.ldc = result.ld, p.step_c = result.step;
  gpu_library::Multiply(a.run, a.workspace, p, left.data, right.data, const_cast<void*>(result.data));
}

// What a product does not write is zero: whole parts, or everything where a sum has no terms.
void Clear(KernelArgs& a, int output) { ZeroBytes(a.run, a.out[output].dptr, static_cast<int64_t>(a.out[output].Bytes())); }

// kSelf: one array holds queries, keys and values; otherwise keys and values, and queries stand
// alone.
template <bool kSelf>
void ScoresForward(KernelArgs& a) {
  if (!Wanted(a, 0) || a.out[0].Size() == 0) return;
  const int64_t heads = a.param<InterleavedParam>().heads;
  const Part q(a.in[0], heads, kSelf ? 3 : 1, 0), k(a.in[kSelf ? 0 : 1], heads, kSelf ? 3 : 2, kSelf ? 1 : 0);
  Run(a, a.out[0].dtype, q.count, q.steps, k.steps, q.size, q.Scale(), Of(q), Of(k, true), Scores(a.out[0], q.steps, k.steps));
}

template <bool kSelf>
void ScoresBackward(KernelArgs& a) {
  const int64_t heads = a.param<InterleavedParam>().heads;
  const int keys = kSelf ? 0 : 1, parts = kSelf ? 3 : 2, dtype = a.in[0].dtype;
  const Part q(a.in[1], heads, kSelf ? 3 : 1, 0), k(a.in[1 + keys], heads, parts, kSelf ? 1 : 0);
  if (Wanted(a, keys)) Clear(a, keys);
  if (!kSelf && Wanted(a, 0)) Clear(a, 0);
  if (q.size == 0 || a.in[0].Size() == 0) return;
  if (Wanted(a, 0)) {
    const Part dq(a.out[0], heads, kSelf ? 3 : 1, 0);
    Run(a, dtype, q.count, q.steps, q.size, k.steps, q.Scale(), Scores(a.in[0], q.steps, k.steps), Of(k), Of(dq));
  }
  if (Wanted(a, keys)) {
    const Part dk(a.out[keys], heads, parts, kSelf ? 1 : 0);
    Run(a, dtype, q.count, k.steps, k.size, q.steps, q.Scale(), Scores(a.in[0], q.steps, k.steps, true), Of(q), Of(dk));
  }
}

template <bool kSelf>
void ValuesForward(KernelArgs& a) {
  if (!Wanted(a, 0) || a.out[0].Size() == 0) return;
  const int64_t heads = a.param<InterleavedParam>().heads;
  const int parts = kSelf ? 3 : 2;
  const Part v(a.in[0], heads, parts, parts - 1), out(a.out[0], heads, 1, 0);
  if (v.steps == 0) return Clear(a, 0);
  Run(a, a.out[0].dtype, v.count, out.steps, v.size, v.steps, 1, Scores(a.in[1], out.steps, v.steps), Of(v), Of(out));
}

template <bool kSelf>
void ValuesBackward(KernelArgs& a) {
  const int64_t heads = a.param<InterleavedParam>().heads;
  const int parts = kSelf ? 3 : 2, dtype = a.in[0].dtype;
  const Part up(a.in[0], heads, 1, 0), v(a.in[1], heads, parts, parts - 1);
  if (Wanted(a, 0)) {
    Clear(a, 0);
    const Part dv(a.out[0], heads, parts, parts - 1);
    if (up.steps) Run(a, dtype, v.count, v.steps, v.size, up.steps, 1, Scores(a.in[2], up.steps, v.steps, true), Of(up), Of(dv));
  }
  if (Wanted(a, 1)) Run(a, dtype, v.count, up.steps, v.steps, v.size, 1, Of(up), Of(v, true), Scores(a.out[1], up.steps, v.steps));
}

MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_selfatt_qk, kGPU, ScoresForward<true>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_encdec_qk, kGPU, ScoresForward<false>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_selfatt_valatt, kGPU, ValuesForward<true>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_encdec_valatt, kGPU, ValuesForward<false>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_selfatt_qk, kGPU, ScoresBackward<true>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_encdec_qk, kGPU, ScoresBackward<false>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_selfatt_valatt, kGPU, ValuesBackward<true>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_encdec_valatt, kGPU, ValuesBackward<false>);

}  // namespace
}  // namespace nn
}  // namespace mxnet
