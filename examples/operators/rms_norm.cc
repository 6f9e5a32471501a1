// Root-mean-square normalization (Zhang and Sennrich, NeurIPS 2019): the worked example of
// docs/guide/add_an_operator.md. tests/cpp/operator/guide_operators_test.cc builds and tests it.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/cpu_dispatch.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {

// rms_norm_variants.cc, for several instruction sets. `wide`: the arrays are double, else float.
MXNET_CPU_DECLARE(double SumOfSquares(bool wide, const void* x, int64_t n);
                  void ScaleRow(bool wide, const void* x, const void* gamma, double scale, void* y, int64_t n);)

namespace nn {

struct RmsNormParam : public Parameter<RmsNormParam> {
  float eps;
  MXNET_DECLARE_PARAM(RmsNormParam) { MXNET_FIELD(eps).set_default(1e-5f).describe("Added to the mean of squares."); }
};
MXNET_REGISTER_PARAM(RmsNormParam);

namespace {

// data is rows of `length` elements.
struct Rows {
  int64_t count, length;
  explicit Rows(const Shape& data) : count(data.Prod(0, data.ndim() - 1)), length(data[data.ndim() - 1]) {}
  int64_t grain() const { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, length)); }  // rows that are worth a thread
};

template <typename T>
double ScaleOf(const T* x, int64_t n, double eps) {
  return 1 / std::sqrt(MXNET_CPU_CALL(SumOfSquares)(std::is_same<T, double>::value, x, n) / static_cast<double>(n) + eps);
}

// ---- CPU
template <typename T>
void ForwardOnCpu(KernelArgs& args) {
  const Rows rows(args.in[0].shape);
  const double eps = args.param<RmsNormParam>().eps;
  const T *data = args.in[0].data<T>(), *gamma = args.in[1].data<T>();
  T* output = args.out[0].data<T>();
  ParallelFor(rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = data + r * rows.length;
      const double scale = ScaleOf(x, rows.length, eps);
      MXNET_CPU_CALL(ScaleRow)(std::is_same<T, double>::value, x, gamma, scale, output + r * rows.length, rows.length);
    }
  });
}

// (ograd, data, gamma) -> gradients of data and gamma
template <typename T>
void BackwardOnCpu(KernelArgs& args) {
  const Rows rows(args.in[1].shape);
  const double eps = args.param<RmsNormParam>().eps;
  const T *ograd = args.in[0].data<T>(), *data = args.in[1].data<T>(), *gamma = args.in[2].data<T>();
  double* scales = Workspace<double>(args, rows.count);
  ParallelFor(rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T *x = data + r * rows.length, *g = ograd + r * rows.length;
      const double scale = scales[r] = ScaleOf(x, rows.length, eps);
      if (!Wanted(args, 0)) continue;
      double product = 0;
      for (int64_t i = 0; i < rows.length; ++i) product += static_cast<double>(g[i]) * gamma[i] * x[i];
      product *= scale * scale / static_cast<double>(rows.length);
      T* dx = args.out[0].data<T>() + r * rows.length;
      for (int64_t i = 0; i < rows.length; ++i) dx[i] = static_cast<T>(scale * (static_cast<double>(g[i]) * gamma[i] - product * x[i]));
    }
  });
  if (!Wanted(args, 1)) return;
  T* dgamma = args.out[1].data<T>();
  ParallelFor(rows.length, 64, [&](int64_t begin, int64_t end) {  // rows in order: any number of threads gives one result
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (int64_t r = 0; r < rows.count; ++r) {
        const int64_t at = r * rows.length + i;
        sum += static_cast<double>(ograd[at]) * data[at] * scales[r];
      }
      dgamma[i] = static_cast<T>(sum);
    }
  });
}

// ---- GPU: the kernels of rms_norm.cuh
constexpr const char* kKernels = "../examples/operators/rms_norm.cuh";  // as #include would name it below src

void ForwardOnGpu(KernelArgs& args) {
  const Rows rows(args.in[0].shape);
  rtc::Arguments arguments;
  arguments.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.out[0].dptr).Add(rows.length);
  arguments.Add(static_cast<double>(args.param<RmsNormParam>().eps));
  rtc::LaunchRows(args.run, {kKernels, "rms_norm", {args.in[0].dtype}}, rows.count, &arguments);
}

void BackwardOnGpu(KernelArgs& args) {
  const Rows rows(args.in[1].shape);
  const int dtype = args.in[0].dtype;
  double* scales = Workspace<double>(args, rows.count);
  rtc::Arguments by_row;
  by_row.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Wanted(args, 0) ? args.out[0].dptr : nullptr).Add(scales);
  by_row.Add(rows.length).Add(static_cast<double>(args.param<RmsNormParam>().eps));
  rtc::LaunchRows(args.run, {kKernels, "rms_norm_backward", {dtype}}, rows.count, &by_row);
  if (!Wanted(args, 1)) return;
  rtc::Arguments by_column;
  by_column.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(scales).Add(args.out[1].dptr).Add(rows.count).Add(rows.length);
  rtc::LaunchRows(args.run, {kKernels, "rms_norm_gamma", {dtype}}, rows.length, &by_column);
}

// ---- both
void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.in[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return ForwardOnGpu(args);
  RunReal(args, [](KernelArgs& a, auto number) { ForwardOnCpu<decltype(number)>(a); });
}

void Backward(KernelArgs& args) {
  if (args.run.ctx.is_gpu()) return BackwardOnGpu(args);
  RunReal(args, [](KernelArgs& a, auto number) { BackwardOnCpu<decltype(number)>(a); });
}

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);  // shapes flow in both directions
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() > 0, Value) << Named(attrs) << "data has shape (); at least one dimension is needed";
  AssignShape(attrs, "gamma", &(*in)[1], Shape{data[data.ndim() - 1]});
  return data.known();
}

MXNET_REGISTER_OP(_example_rms_norm)
    .describe(
        "Divides each row (the last dimension) by the root of its mean square and multiplies it by gamma.\n\n"
        "output = data / sqrt(mean(data * data) + eps) * gamma. float16, bfloat16, float32 and float64.")
    .set_param<RmsNormParam>()
    .set_inputs({"data", "gamma"})
    .set_infer_shape(InferShape)
    .set_dtypes(dtypes::kFloats)
    .set_precision(Precision::kFull)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      const NodePtr back = MakeNodeLike("_backward_example_rms_norm", *node, {ograds[0], node->inputs[0], node->inputs[1]});
      return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}};
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_example_rms_norm)
    .describe("Gradients of _example_rms_norm with respect to data and gamma.")
    .set_param<RmsNormParam>()
    .set_inputs({"ograd", "data", "gamma"})
    .set_dtypes(dtypes::kFloats)
    .set_outputs({"data_grad", "gamma_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
