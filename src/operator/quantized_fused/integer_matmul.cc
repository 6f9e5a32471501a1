// _integer_matmul: neither factor is known beforehand, as in attention.
#include "operator/quantized_fused/integer_matmul.h"

#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/intgemm.h"
#include "operator/quantized/packed_layer.h"
#include "operator/quantized_fused/integer_result.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

bool (*g_integer_matmul)(KernelArgs& args, const MatMulCall& call) = nullptr;

struct IntegerMatMulParam : public Parameter<IntegerMatMulParam>, public ResultFields {
  float a_scale, b_scale;
  int a_zero, b_zero;
  MXNET_DECLARE_PARAM(IntegerMatMulParam) {
    MXNET_FIELD(a_scale).set_default(1).describe("What 1 in a stands for.");
    MXNET_FIELD(a_zero).set_default(0).describe("The number in a that stands for 0.");
    MXNET_FIELD(b_scale).set_default(1).describe("What 1 in b stands for.");
    MXNET_FIELD(b_zero).set_default(0).describe("The number in b that stands for 0.");
    MXNET_RESULT_FIELDS;
  }
};
MXNET_REGISTER_PARAM(IntegerMatMulParam);

namespace {

using P = IntegerMatMulParam;
constexpr int64_t kMostTogether = 32768;  // products of numbers of 9 bits whose sum surely fits into 32 bits

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!a.known() || !b.known()) return false;
  const int n = a.ndim();
  bool fits = n >= 2 && b.ndim() == n && a[n - 1] == b[n - 2];
  for (int i = 0; fits && i < n - 2; ++i) fits = a[i] == b[i];
  MXNET_CHECK_KIND(fits, Value) << nn::Named(attrs) << "shapes " << a << " and " << b
                                << "; accepted are (..., m, k) and (..., k, n) with the same sizes before them";
  Shape result = a;
  result[n - 1] = b[n - 1];
  AssignShape(attrs, "output", &(*out)[0], result);
  return true;
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "a", (*in)[0]);
  CheckBytes(attrs, "b", (*in)[1]);
  AssignType(attrs, "output", &(*out)[0], attrs.get<P>().out_type);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

/* What a thread works in. */
struct Room {
  int8_t* packed;
  int16_t* wide;
  int32_t *row_sums, *sums;
};

constexpr int64_t kRows = 48;  // at a time

/* Rows [from, to) of one product by packed kernels. */
void Packed(const MatMulCall& call, const SumsFinish& finish, const int32_t* zeros, int64_t index, int64_t from, int64_t to,
            const Room& room) {
  const int64_t n = call.n, k = call.k, pitch = 2 * WidePairs(k), across = WidePanels(n) * kWideColumns;
  const auto size = static_cast<int64_t>(DTypeSize(finish.out_type));
  MXNET_CPU_CALL(PackPairs)(call.b + index * k * n, k, n, room.packed);
  for (int64_t at = from; at < to; at += kRows) {
    const int64_t some = std::min(kRows, to - at), row = index * call.m + at;
    for (int64_t i = 0; i < some; ++i) {
      int16_t* wide = room.wide + i * pitch;
      MXNET_CPU_CALL(WidenLess)(static_cast<const char*>(call.a) + (row + i) * k, call.a_type == kUint8, call.a_zero, k, wide);
      if (k % 2) wide[k] = 0;
      if (call.b_zero) room.row_sums[i] = MXNET_CPU_CALL(SumWide)(wide, k);
    }
    MXNET_CPU_CALL(WideProducts)(room.wide, some, pitch, WidePairs(k), room.packed, n, room.sums, across);
    if (call.b_zero) MXNET_CPU_CALL(TakeZeros)(some, room.row_sums, zeros, n, room.sums, across);
    MXNET_CPU_CALL(FinishSums)(finish, some, room.sums, across, 0, n, nullptr, static_cast<char*>(call.to) + row * n * size, n);
  }
}

/* By packed kernels of our own. REQUIRES: the sums fit into 32 bits. */
void Products(KernelArgs& args, const P& p, const MatMulCall& call) {
  Ran("packed GEMM of bytes");
  const int64_t n = call.n, k = call.k, across = WidePanels(n) * kWideColumns, rows = std::min(kRows, call.m);
  SumsFinish finish;
  SetResult(call.out, p.low, p.high, &finish);
  float* scales = nn::Workspace<float>(args, 2 * across);
  std::fill_n(scales, across, call.scale / StepOf(p)), std::fill_n(scales + across, across, 0.0f);
  finish.scales = scales, finish.bias = scales + across;
  int32_t* zeros = nn::Workspace<int32_t>(args, across);
  std::fill_n(zeros, across, call.b_zero);
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(call.batch * call.m) * static_cast<double>(n * k));
  const int64_t parts = std::min((call.m + 15) / 16, std::max<int64_t>(1, threads / call.batch)), tasks = call.batch * parts;
  const int64_t packed = RoundUp(WidePanels(n) * WidePanelBytes(k), 64), wide = RoundUp(rows * 2 * WidePairs(k), 32),
                sums = RoundUp(rows * (across + 1), 16);
  int8_t* packed_room = nn::Workspace<int8_t>(args, threads * packed);
  int16_t* wide_room = nn::Workspace<int16_t>(args, threads * wide);
  int32_t* sums_room = nn::Workspace<int32_t>(args, threads * sums);
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    for (int64_t id = begin; id < end; ++id) {
      int32_t* own = sums_room + id * sums;
      const Room room{packed_room + id * packed, wide_room + id * wide, own + rows * across, own};
      for (int64_t t = tasks * id / threads; t < tasks * (id + 1) / threads; ++t)
        Packed(call, finish, zeros, t / parts, call.m * (t % parts) / parts, call.m * (t % parts + 1) / parts, room);
    }
  });
}

/* One product whose sums may not fit into 32 bits, and are cut: rows of a with columns of b, as
 * 16-bit integers. */
void OneMatrix(const P& p, const MatMulCall& call, int64_t index) {
  const int64_t m = call.m, n = call.n, k = call.k;
  std::vector<int16_t> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(n * k));
  MXNET_CPU_CALL(WidenBytes)(static_cast<const char*>(call.a) + index * m * k, call.a_type == kUint8, m * k, a.data());
  for (int16_t& v : a) v = static_cast<int16_t>(v - call.a_zero);
  const int8_t* from = call.b + index * k * n;
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) b[j * k + i] = static_cast<int16_t>(from[i * n + j] - call.b_zero);
  std::vector<int32_t> sums(static_cast<size_t>(n));
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::vector<float> values(static_cast<size_t>(n));
  char* to = static_cast<char*>(call.to) + index * m * n * static_cast<int64_t>(DTypeSize(p.out_type));
  for (int64_t i = 0; i < m; ++i) {
    std::fill(all.begin(), all.end(), 0);
    for (int64_t at = 0; at < k; at += kMostTogether) {
      MXNET_CPU_CALL(MultiplyRows)(a.data() + i * k + at, 1, k, b.data() + at, n, k, std::min(kMostTogether, k - at), sums.data(), n);
      for (int64_t j = 0; j < n; ++j) all[j] += sums[j];
    }
    if (p.out_type == kInt32) {
      int32_t* row = reinterpret_cast<int32_t*>(to) + i * n;
      for (int64_t j = 0; j < n; ++j) row[j] = static_cast<int32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, all[j])));
      continue;
    }
    for (int64_t j = 0; j < n; ++j) values[j] = static_cast<float>(all[j]) * (call.scale / StepOf(p));
    StoreSteps(p, values.data(), n, to + i * n * static_cast<int64_t>(DTypeSize(p.out_type)));
  }
}

void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const P& p = args.param<P>();
  const TBlob &a = args.in[0], &b = args.in[1];
  const int d = a.shape.ndim();
  MatMulCall call{};
  call.batch = a.shape.Prod(0, d - 2), call.m = a.shape[d - 2], call.k = a.shape[d - 1], call.n = b.shape[d - 1];
  call.a_type = a.dtype, call.a_zero = p.a_zero, call.b_zero = p.b_zero;
  call.a = a.dptr, call.b = static_cast<const int8_t*>(b.dptr);
  call.scale = p.a_scale * p.b_scale, call.out = {p.out_type, p.out_scale, p.out_zero}, call.to = args.out[0].dptr;
  if (b.dtype == kUint8) {  // 128 less is the other highest bit
    const auto* from = static_cast<const uint8_t*>(b.dptr);
    auto* moved = nn::Workspace<int8_t>(args, b.Size());
    ParallelFor(b.Size(), 65536, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) moved[i] = static_cast<int8_t>(from[i] ^ 0x80);
    });
    call.b = moved, call.b_zero -= 128;
  }
  const bool cuts = p.low > -std::numeric_limits<float>::infinity() || p.high < std::numeric_limits<float>::infinity();
  if (!cuts && g_integer_matmul && Env::Get().onednn_enabled && call.k > 0 && call.k <= kMostTogether && g_integer_matmul(args, call))
    return;
  if (call.k > 0 && call.k <= kMostTogether) return Products(args, p, call);
  Ran("products of 16-bit integers");
  ParallelFor(call.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) OneMatrix(p, call, i);
  });
}

MXNET_REGISTER_OP(_integer_matmul)
    .describe(
        "Products of stacks of matrices of 8-bit integers with zero points.\n\n"
        "a has shape (..., m, k), b (..., k, n), the result (..., m, n). Each sum of (a - a_zero) (b - b_zero) is exact; times a_scale "
        "b_scale it is the result, in float32 or rounded to 8 bits by out_scale and out_zero. With int32 it is the sums alone. int8, "
        "uint8.")
    .set_param<P>()
    .set_inputs({"a", "b"})
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes(dtypes::kBytes)
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[0].shape[in[0].shape.ndim() - 1]);
    })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
