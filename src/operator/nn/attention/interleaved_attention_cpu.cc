// The attention products on interleaved projections: one strided matrix product per sequence and
// head.
#include <algorithm>
#include <cmath>

#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/attention/interleaved_attention.h"
#include "operator/nn/common/nn_common.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

// One part of a projection: of sequence n and head h, a matrix (steps, size) with rows `stride`
// apart.
template <typename T>
struct Part {
  T* data;
  int64_t steps, batch, heads, parts, part, size, stride;
  Part(const TBlob& blob, int64_t heads_, int64_t parts_, int64_t part_)
      : data(blob.data<T>()),
        steps(blob.shape[0]),
        batch(blob.shape[1]),
        heads(heads_),
        parts(parts_),
        part(part_),
        size(blob.shape[2] / (heads_ * parts_)),
        stride(blob.shape[1] * blob.shape[2]) {}
  T* At(int64_t nh) const { return data + (nh * parts + part) * size; }  // nh = n * heads + h
  int64_t Count() const { return batch * heads; }
  void Clear() const {
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t nh = 0; nh < Count(); ++nh) std::fill(At(nh) + t * stride, At(nh) + t * stride + size, T(0));
  }
};

template <typename F>
void PerHead(int64_t count, int64_t work, F&& f) {
  Ran("attention by heads", RanAt::kNone);
  ParallelFor(count, std::max<int64_t>(1, 262144 / std::max<int64_t>(1, work)), [&](int64_t b, int64_t e) {
    for (int64_t nh = b; nh < e; ++nh) f(nh);
  });
}

template <typename T>
T Scale(const Part<T>& q) {
  return q.size ? T(1) / std::sqrt(static_cast<T>(q.size)) : T(0);
}

// kSelf: one array holds queries, keys and values; otherwise keys and values, and queries stand
// alone.
template <bool kSelf>
void Scores(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const int64_t heads = args.param<InterleavedParam>().heads;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Part<T> q(a.in[0], heads, kSelf ? 3 : 1, 0), k(a.in[kSelf ? 0 : 1], heads, kSelf ? 3 : 2, kSelf ? 1 : 0);
    T* out = a.out[0].data<T>();
    PerHead(q.Count(), q.steps * k.steps * q.size, [&](int64_t nh) {
      Gemm(false, true, q.steps, k.steps, q.size, Scale(q), q.At(nh), q.stride, k.At(nh), k.stride, T(0), out + nh * q.steps * k.steps,
           k.steps);
    });
  });
}

template <bool kSelf>
void ScoresBackward(KernelArgs& args) {
  const int64_t heads = args.param<InterleavedParam>().heads;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int keys = kSelf ? 0 : 1, parts = kSelf ? 3 : 2;
    const Part<T> q(a.in[1], heads, kSelf ? 3 : 1, 0), k(a.in[1 + keys], heads, parts, kSelf ? 1 : 0);
    const T* up = a.in[0].data<T>();
    const bool want_q = Wanted(a, 0), want_k = Wanted(a, keys);
    auto each = [&](auto&& f) { PerHead(q.Count(), q.steps * k.steps * q.size, [&](int64_t nh) { f(nh, up + nh * q.steps * k.steps); }); };
    if (want_q) {
      const Part<T> dq(a.out[0], heads, kSelf ? 3 : 1, 0);
      each([&](int64_t nh, const T* g) {
        Gemm(false, false, q.steps, q.size, k.steps, Scale(q), g, k.steps, k.At(nh), k.stride, T(0), dq.At(nh), dq.stride);
      });
    }
    if (want_k) {
      const Part<T> dk(a.out[keys], heads, parts, kSelf ? 1 : 0);
      each([&](int64_t nh, const T* g) {
        Gemm(true, false, k.steps, k.size, q.steps, Scale(q), g, k.steps, q.At(nh), q.stride, T(0), dk.At(nh), dk.stride);
      });
      Part<T>(a.out[keys], heads, parts, parts - 1).Clear();
    }
  });
}

template <bool kSelf>
void Values(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const int64_t heads = args.param<InterleavedParam>().heads;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int parts = kSelf ? 3 : 2;
    const Part<T> v(a.in[0], heads, parts, parts - 1), out(a.out[0], heads, 1, 0);
    const T* attention = a.in[1].data<T>();
    PerHead(v.Count(), out.steps * v.steps * v.size, [&](int64_t nh) {
      Gemm(false, false, out.steps, v.size, v.steps, T(1), attention + nh * out.steps * v.steps, v.steps, v.At(nh), v.stride, T(0),
           out.At(nh), out.stride);
    });
  });
}

template <bool kSelf>
void ValuesBackward(KernelArgs& args) {
  const int64_t heads = args.param<InterleavedParam>().heads;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int parts = kSelf ? 3 : 2;
    const Part<T> up(a.in[0], heads, 1, 0), v(a.in[1], heads, parts, parts - 1);
    const T* attention = a.in[2].data<T>();
    const int64_t work = up.steps * v.steps * v.size, size = up.steps * v.steps;
    if (Wanted(a, 0)) {
      const Part<T> dv(a.out[0], heads, parts, parts - 1);
      PerHead(v.Count(), work, [&](int64_t nh) {
        Gemm(true, false, v.steps, v.size, up.steps, T(1), attention + nh * size, v.steps, up.At(nh), up.stride, T(0), dv.At(nh),
             dv.stride);
      });
      for (int part = 0; part + 1 < parts; ++part) Part<T>(a.out[0], heads, parts, part).Clear();
    }
    if (Wanted(a, 1)) {
      T* grad = a.out[1].data<T>();
      PerHead(v.Count(), work, [&](int64_t nh) {
        Gemm(false, true, up.steps, v.steps, v.size, T(1), up.At(nh), up.stride, v.At(nh), v.stride, T(0), grad + nh * size, v.steps);
      });
    }
  });
}

MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_selfatt_qk, kCPU, Scores<true>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_encdec_qk, kCPU, Scores<false>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_selfatt_valatt, kCPU, Values<true>);
MXNET_REGISTER_OP_KERNEL(_contrib_interleaved_matmul_encdec_valatt, kCPU, Values<false>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_selfatt_qk, kCPU, ScoresBackward<true>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_encdec_qk, kCPU, ScoresBackward<false>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_selfatt_valatt, kCPU, ValuesBackward<true>);
MXNET_REGISTER_OP_KERNEL(_backward_interleaved_matmul_encdec_valatt, kCPU, ValuesBackward<false>);

}  // namespace
}  // namespace nn
}  // namespace mxnet
