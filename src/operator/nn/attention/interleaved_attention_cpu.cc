// The attention products on interleaved projections: one strided matrix product per sequence and
// head. Half types are widened head by head, or multiplied as they are.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/ran.h"
#include "base/round_up.h"
#include "mxnet/op.h"
#include "operator/nn/attention/interleaved_attention.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/half_sums.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

struct Matrix {
  char* data;
  int64_t rows, columns, stride;  // stride: elements between rows
};

// One part of a projection: of sequence n and head h, a matrix (steps, size) with rows `stride`
// apart.
struct Part {
  char* data;
  int64_t bytes, steps, batch, heads, parts, part, size, stride;
  Part(const TBlob& blob, int64_t heads_, int64_t parts_, int64_t part_)
      : data(blob.data<char>()),
        bytes(static_cast<int64_t>(DTypeSize(blob.dtype))),
        steps(blob.shape[0]),
        batch(blob.shape[1]),
        heads(heads_),
        parts(parts_),
        part(part_),
        size(blob.shape[2] / (heads_ * parts_)),
        stride(blob.shape[1] * blob.shape[2]) {}
  Matrix At(int64_t nh) const { return {data + (nh * parts + part) * size * bytes, steps, size, stride}; }  // nh = n * heads + h
  int64_t Count() const { return batch * heads; }
  void Clear() const {
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t nh = 0; nh < Count(); ++nh) std::fill_n(At(nh).data + t * stride * bytes, size * bytes, char(0));
  }
};

// A matrix (rows, columns) for each sequence and head.
struct Square {
  char* data;
  int64_t bytes, rows, columns;
  Square(const TBlob& blob, int64_t rows_, int64_t columns_)
      : data(blob.data<char>()), bytes(static_cast<int64_t>(DTypeSize(blob.dtype))), rows(rows_), columns(columns_) {}
  Matrix At(int64_t nh) const { return {data + nh * rows * columns * bytes, rows, columns, columns}; }
};

// c = scale op(a) op(b), op(x) = x or its transpose.
struct HeadProduct {
  int dtype;
  bool ta, tb;
  double scale;
  bool bfloat;  // by the processor's products of such numbers
  std::vector<float> room;
  std::vector<bfloat16> packed;

  HeadProduct(int dtype_, bool ta_, bool tb_, double scale_)
      : dtype(dtype_), ta(ta_), tb(tb_), scale(scale_), bfloat(dtype_ == kBfloat16 && !ta_ && BfloatGemmsHere()) {}

  template <typename T>
  void Real(const Matrix& a, const Matrix& b, const Matrix& c) const {
    Gemm(ta, tb, c.rows, c.columns, ta ? a.rows : a.columns, static_cast<T>(scale), reinterpret_cast<const T*>(a.data), a.stride,
         reinterpret_cast<const T*>(b.data), b.stride, T(0), reinterpret_cast<T*>(c.data), c.stride);
  }

  float* Room(int64_t size) {
    if (room.size() < static_cast<size_t>(size)) room.resize(static_cast<size_t>(size));
    return room.data();
  }
  Matrix Read(const Matrix& from, float* to) const {
    for (int64_t i = 0; i < from.rows; ++i) ReadFloats(dtype, from.data + i * from.stride * 2, to + i * from.columns, from.columns);
    return {reinterpret_cast<char*>(to), from.rows, from.columns, from.columns};
  }
  void Write(const float* from, const Matrix& to, int64_t first, int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) WriteFloats(from + i * to.columns, dtype, to.data + (first + i) * to.stride * 2, to.columns);
  }

  void Widened(const Matrix& a, const Matrix& b, const Matrix& c) {
    const int64_t size = a.rows * a.columns, both = size + b.rows * b.columns;
    float *const wide = Room(both + c.rows * c.columns), *const sums = wide + both;
    Real<float>(Read(a, wide), Read(b, wide + size), {reinterpret_cast<char*>(sums), c.rows, c.columns, c.columns});
    Write(sums, c, 0, c.rows);
  }

#if defined(__x86_64__)
  // Pairs of numbers are multiplied, so each row of a has an even number of them.
  bool Bfloat(const Matrix& a, const Matrix& b, const Matrix& c) {
    const int64_t depth = a.columns, n = c.columns;
    if (!bfloat || depth % 2 != 0 || depth == 0) return false;
    packed.resize(static_cast<size_t>(RoundUp(n, int64_t{kBfloatLanes}) * depth));
    (tb ? BfloatPackRows : BfloatPackColumns)(n, depth, reinterpret_cast<const bfloat16*>(b.data), b.stride, packed.data());
    float* const sums = Room(std::min(kHalfRows, a.rows) * n);
    const float factor = static_cast<float>(scale);
    for (int64_t first = 0; first < a.rows; first += kHalfRows) {
      const auto* from = reinterpret_cast<const bfloat16*>(a.data) + first * a.stride;
      const int64_t rows = std::min(kHalfRows, a.rows - first);
      HalfSums({from, a.stride, rows, depth}, n, packed.data(), 0, PackedPanels(n, kBfloatLanes), nullptr, sums, n);
      for (int64_t i = 0; factor != 1 && i < rows * n; ++i) sums[i] *= factor;
      Write(sums, c, first, rows);
    }
    return true;
  }
#else  // the kernels are written for x86
  bool Bfloat(const Matrix&, const Matrix&, const Matrix&) { return false; }
#endif

  void Run(const Matrix& a, const Matrix& b, const Matrix& c) {
    if (dtype == kFloat32) return Real<float>(a, b, c);
    if (dtype == kFloat64) return Real<double>(a, b, c);
    if (!Bfloat(a, b, c)) Widened(a, b, c);
  }
};

/* c = scale op(a) op(b) of each sequence and head, of which there are `count`. */
template <typename A, typename B, typename C>
void PerHead(KernelArgs& args, int64_t count, bool ta, bool tb, double scale, const A& a, const B& b, const C& c) {
  const int dtype = args.in[0].dtype;
  if (!IsFloating(dtype)) ThrowReal(args.attrs, dtype);
  if (count == 0) return;
  const Matrix first = a.At(0), result = c.At(0);
  const int64_t work = first.rows * first.columns * result.columns;
  Ran("attention by heads", RanAt::kNone);
  ParallelFor(count, std::max<int64_t>(1, 262144 / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    HeadProduct product(dtype, ta, tb, scale);
    for (int64_t nh = begin; nh < end; ++nh) product.Run(a.At(nh), b.At(nh), c.At(nh));
  });
}

template <typename T>
T InverseRoot(int64_t size) {
  return size ? T(1) / std::sqrt(static_cast<T>(size)) : T(0);
}
double Scale(const KernelArgs& args, const Part& q) {
  return args.in[0].dtype == kFloat64 ? InverseRoot<double>(q.size) : InverseRoot<float>(q.size);
}

// kSelf: one array holds queries, keys and values; otherwise keys and values, and queries stand
// alone.
template <bool kSelf>
void Scores(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const int64_t heads = args.param<InterleavedParam>().heads;
  const Part q(args.in[0], heads, kSelf ? 3 : 1, 0), k(args.in[kSelf ? 0 : 1], heads, kSelf ? 3 : 2, kSelf ? 1 : 0);
  PerHead(args, q.Count(), false, true, Scale(args, q), q, k, Square(args.out[0], q.steps, k.steps));
}

template <bool kSelf>
void ScoresBackward(KernelArgs& args) {
  const int64_t heads = args.param<InterleavedParam>().heads;
  const int keys = kSelf ? 0 : 1, parts = kSelf ? 3 : 2;
  const Part q(args.in[1], heads, kSelf ? 3 : 1, 0), k(args.in[1 + keys], heads, parts, kSelf ? 1 : 0);
  const Square up(args.in[0], q.steps, k.steps);
  if (Wanted(args, 0)) PerHead(args, q.Count(), false, false, Scale(args, q), up, k, Part(args.out[0], heads, kSelf ? 3 : 1, 0));
  if (!Wanted(args, keys)) return;
  PerHead(args, q.Count(), true, false, Scale(args, q), up, q, Part(args.out[keys], heads, parts, kSelf ? 1 : 0));
  Part(args.out[keys], heads, parts, parts - 1).Clear();
}

template <bool kSelf>
void Values(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const int64_t heads = args.param<InterleavedParam>().heads;
  const int parts = kSelf ? 3 : 2;
  const Part v(args.in[0], heads, parts, parts - 1), out(args.out[0], heads, 1, 0);
  PerHead(args, v.Count(), false, false, 1, Square(args.in[1], out.steps, v.steps), v, out);
}

template <bool kSelf>
void ValuesBackward(KernelArgs& args) {
  const int64_t heads = args.param<InterleavedParam>().heads;
  const int parts = kSelf ? 3 : 2;
  const Part up(args.in[0], heads, 1, 0), v(args.in[1], heads, parts, parts - 1);
  if (Wanted(args, 0)) {
    PerHead(args, v.Count(), true, false, 1, Square(args.in[2], up.steps, v.steps), up, Part(args.out[0], heads, parts, parts - 1));
    for (int part = 0; part + 1 < parts; ++part) Part(args.out[0], heads, parts, part).Clear();
  }
  if (Wanted(args, 1)) PerHead(args, v.Count(), false, true, 1, up, v, Square(args.out[1], up.steps, v.steps));
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
