// The gradient of draws of the gamma distribution with respect to its shape (np_draws.cc).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

using std::log;
#define MX_DEVICE
#include "operator/random/density_formulas.cuh"
#include "operator/random/gamma_slope_formula.cuh"
#undef MX_DEVICE

void Slopes(KernelArgs& args) {
  const TBlob &shape = args.in[0], &draw = args.in[1], &out = args.out[0];
  const int64_t n = out.Size();
  if (n == 0) return;
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments a;
    a.Add(shape.dptr).Add(draw.dptr).Add(out.dptr);
    return rtc::LaunchItems(args.run, {"operator/random/gamma_slope.cuh", "gamma_slope", {shape.dtype, out.dtype}}, n, &a);
  }
  constexpr int64_t kPiece = 256;
  ParallelForThreads(OmpThreads(n * 64), (n + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end) {
    double a[kPiece], x[kPiece];
    for (int64_t i = begin * kPiece; i < std::min(end * kPiece, n); i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      ConvertElements(shape.data<char>() + i * static_cast<int64_t>(DTypeSize(shape.dtype)), shape.dtype, a, kFloat64, m);
      ConvertElements(draw.data<char>() + i * static_cast<int64_t>(DTypeSize(draw.dtype)), draw.dtype, x, kFloat64, m);
      for (int64_t j = 0; j < m; ++j) x[j] = GammaSlope(a[j], x[j]);
      ConvertElements(x, kFloat64, out.data<char>() + i * static_cast<int64_t>(DTypeSize(out.dtype)), out.dtype, m);
    }
  });
}

MXNET_REGISTER_OP(_backward_npi_gamma)
    .describe(
        "How much a draw of the gamma distribution of scale 1 changes for each unit of its shape, at a fixed chance of smaller draws.")
    .set_inputs({"shape", "draw"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      for (Shape& s : *in) AssignShape(attrs, "output", &(*out)[0], s);
      for (Shape& s : *in) AssignShape(attrs, "input", &s, (*out)[0]);
      return (*out)[0].known();
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], (*in)[1]);
      return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
    })
    .set_kernel([](KernelArgs& args) { Slopes(args); });

}  // namespace
}  // namespace mxnet
