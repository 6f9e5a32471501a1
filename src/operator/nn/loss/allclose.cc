// _contrib_allclose: whether two arrays agree within tolerances.
#include <atomic>
#include <cmath>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {

struct AllCloseParam : public Parameter<AllCloseParam> {
  float rtol, atol;
  bool equal_nan;
  MXNET_DECLARE_PARAM(AllCloseParam) {
    MXNET_FIELD(rtol).set_default(1e-5f).describe("Tolerance relative to b.");
    MXNET_FIELD(atol).set_default(1e-8f).describe("Absolute tolerance.");
    MXNET_FIELD(equal_nan).set_default(true).describe("Whether NaN agrees with NaN.");
  }
};
MXNET_REGISTER_PARAM(AllCloseParam);

namespace {

template <typename T>
bool Close(const T* a, const T* b, int64_t begin, int64_t end, const AllCloseParam& p) {
  for (int64_t i = begin; i < end; ++i) {
    if (a[i] == b[i]) continue;
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x != x || y != y) {
      if (!p.equal_nan || x == x || y == y) return false;
    } else if (std::isinf(x) || std::isinf(y) ||
               !(std::abs(x - y) <= static_cast<double>(p.atol) + static_cast<double>(p.rtol) * std::abs(y))) {
      return false;
    }
  }
  return true;
}

template <typename T>
bool AllClose(const T* a, const T* b, int64_t n, const AllCloseParam& p) {
  std::atomic<bool> close{true};
  ParallelFor(n, 1 << 15, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && close.load(std::memory_order_relaxed); i += 4096)
      if (!Close(a, b, i, std::min(end, i + 4096), p)) close.store(false, std::memory_order_relaxed);
  });
  return close.load();
}

void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0)) return;
  const auto& p = args.param<AllCloseParam>();
  const TBlob &a = args.in[0], &b = args.in[1];
  if (args.run.ctx.is_gpu()) {
    const char* const file = "operator/nn/loss/gpu_allclose.cuh";
    rtc::Arguments begin, compare;
    begin.Add(args.out[0].dptr);
    rtc::LaunchItems(args.run, {file, "allclose_begin", {}}, 1, &begin);
    compare.Add(a.dptr).Add(b.dptr).Add(args.out[0].dptr).Add(static_cast<double>(p.rtol)).Add(static_cast<double>(p.atol));
    compare.Add(int64_t{p.equal_nan});
    return rtc::LaunchItems(args.run, {file, "allclose", {a.dtype}}, a.Size(), &compare);
  }
  const int64_t n = a.Size();
  bool close = false;
  switch (a.dtype) {
    case kFloat64: close = AllClose(a.data<double>(), b.data<double>(), n, p); break;
    case kInt64: close = AllClose(a.data<int64_t>(), b.data<int64_t>(), n, p); break;
    case kInt32: close = AllClose(a.data<int32_t>(), b.data<int32_t>(), n, p); break;
    case kInt8: close = AllClose(a.data<int8_t>(), b.data<int8_t>(), n, p); break;
    case kUint8: close = AllClose(a.data<uint8_t>(), b.data<uint8_t>(), n, p); break;
    default: close = AllClose(nn::AsFloat(args, a), nn::AsFloat(args, b), n, p);
  }
  *args.out[0].data<uint8_t>() = close ? 1 : 0;
}

MXNET_REGISTER_OP(_contrib_allclose)
    .describe(
        "Whether |a - b| <= atol + rtol |b| for all elements of two arrays of one shape and dtype: 1 or 0, of dtype uint8 and without "
        "dimensions.\n\n"
        "Infinities agree with themselves alone; NaN agrees with NaN if equal_nan. float16, bfloat16, float32, float64, int8, uint8, "
        "int32, int64.")
    .set_param<AllCloseParam>()
    .set_inputs({"a", "b"})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      AssignShape(attrs, "b", &(*in)[1], (*in)[0]);
      AssignShape(attrs, "a", &(*in)[0], (*in)[1]);
      AssignShape(attrs, "output", &(*out)[0], Shape(0));
      return (*in)[0].known();
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "b", &(*in)[1], (*in)[0]);
      AssignType(attrs, "a", &(*in)[0], (*in)[1]);
      AssignType(attrs, "output", &(*out)[0], kUint8);
      return (*in)[0] != kDTypeUnknown;
    })
    .set_dtypes(dtypes::kClassicNumbers)
    .set_kernel(Forward);

}  // namespace
}  // namespace mxnet
