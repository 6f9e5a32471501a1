// LayerNorm (Ba, Kiros and Hinton, 2016).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/ran.h"
#include "base/threads/determinism.h"
#include "operator/init/fill.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/nn/norm/norm_kernels.h"
#include "operator/nn/norm/second_gradient.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

struct LayerNormParam : public Parameter<LayerNormParam> {
  int axis;
  float eps;
  bool output_mean_var;
  MXNET_DECLARE_PARAM(LayerNormParam) {
    MXNET_FIELD(axis).set_default(-1).describe("Dimension that is normalized.");
    MXNET_FIELD(eps).set_default(1e-5f).describe("Added to the variance.");
    MXNET_FIELD(output_mean_var).set_default(false).describe("Also return the mean and the standard deviation sqrt(variance + eps).");
  }
};
MXNET_REGISTER_PARAM(LayerNormParam);

namespace {

// Data as (outer, n, inner). Where the axis is not the last, rows are gathered: (outer * inner)
// rows of n.
struct View {
  int64_t outer, n, inner;
  View(const Attrs& attrs, const LayerNormParam& p, const Shape& s) {
    const int axis = CheckAxis(attrs, p.axis, s.ndim());
    outer = s.Prod(0, axis), n = s[axis], inner = s.Prod(axis + 1, s.ndim());
  }
  int64_t rows() const { return outer * inner; }
};

RowNorm OnDevice(const View& v, double eps) {
  RowNorm r{v.rows(), v.n, v.inner};
  r.eps = eps;
  return r;
}

bool Short(const View& v) { return v.inner == 1 && v.n <= kNormShortRow; }

int64_t Grain(int64_t n) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n)); }

template <typename T>
void Gather(const View& v, const T* x, int64_t row, T* to) {
  const T* from = x + row / v.inner * v.n * v.inner + row % v.inner;
  for (int64_t i = 0; i < v.n; ++i) to[i] = from[i * v.inner];
}
template <typename T>
void Scatter(const View& v, const T* from, int64_t row, T* y) {
  T* to = y + row / v.inner * v.n * v.inner + row % v.inner;
  for (int64_t i = 0; i < v.n; ++i) to[i * v.inner] = from[i];
}

void Forward(KernelArgs& args) {
  if (args.in[0].Size() == 0) {  // rows without elements have neither mean nor deviation
    for (int i = 1; i < args.out.size(); ++i)
      if (Wanted(args, i)) FillValue(args.run, args.out[i], std::nan(""));
    return;
  }
  if (args.run.ctx.is_gpu())
    return RowNormOnDevice(args,
                           OnDevice(View(*args.attrs, args.param<LayerNormParam>(), args.in[0].shape), args.param<LayerNormParam>().eps));
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<LayerNormParam>();
    const View v(*a.attrs, p, a.in[0].shape);
    Ran(Short(v) ? "norm of short rows" : "norm of rows");
    const int dtype = a.in[0].dtype;
    const T *x = a.in[0].data<T>(), *gamma = a.in[1].data<T>(), *beta = a.in[2].data<T>();
    T* y = Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
    T *mean_out = Wanted(a, 1) ? a.out[1].data<T>() : nullptr, *std_out = Wanted(a, 2) ? a.out[2].data<T>() : nullptr;
    ParallelFor(v.rows(), Grain(v.n), [&](int64_t b, int64_t e) {
      if (Short(v))
        return MXNET_CPU_CALL(NormShortRows)(dtype, x + b * v.n, y ? y + b * v.n : nullptr, e - b, v.n, p.eps, gamma, beta,
                                             mean_out ? mean_out + b : nullptr, std_out ? std_out + b : nullptr);
      std::vector<T> in(v.inner > 1 ? v.n : 0), out(v.inner > 1 ? v.n : 0);
      for (int64_t r = b; r < e; ++r) {
        const T* row = x + r * v.n;
        if (v.inner > 1) {
          Gather(v, x, r, in.data());
          row = in.data();
        }
        double mean, inv_std;
        RowMoments(dtype, row, v.n, p.eps, &mean, &inv_std);
        if (mean_out) mean_out[r] = static_cast<T>(mean);
        if (std_out) std_out[r] = static_cast<T>(1.0 / inv_std);
        if (!y) continue;
        MXNET_CPU_CALL(NormRow)(dtype, row, v.inner > 1 ? out.data() : y + r * v.n, v.n, mean, inv_std, gamma, beta);
        if (v.inner > 1) Scatter(v, out.data(), r, y);
      }
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, data, gamma -> data_grad, gamma_grad, beta_grad; the moments are computed again
  if (args.in[2].Size() == 0) return;
  if (args.run.ctx.is_gpu())
    return RowNormBackwardOnDevice(
        args, OnDevice(View(*args.attrs, args.param<LayerNormParam>(), args.in[1].shape), args.param<LayerNormParam>().eps));
  RunReal(
      args,
      [](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        const auto& p = a.param<LayerNormParam>();
        const View v(*a.attrs, p, a.in[1].shape);
        Ran(Short(v) ? "norm of short rows" : "norm of rows");
        const int dtype = a.in[1].dtype;
        const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>(), *gamma = a.in[2].data<T>();
        T* dx = Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
        const bool sums = Wanted(a, 1) || Wanted(a, 2);
        const int64_t parts = FixedParts(v.rows() / Grain(v.n));
        std::vector<double> partial(sums ? parts * 2 * v.n : 0, 0.0);
        ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
          std::vector<T> in(v.inner > 1 ? v.n : 0), g(v.inner > 1 ? v.n : 0), out(v.inner > 1 ? v.n : 0);
          for (int64_t part = first; part < last; ++part) {
            const int64_t begin = v.rows() * part / parts, end = v.rows() * (part + 1) / parts;
            double* gamma_sum = sums ? &partial[2 * part * v.n] : nullptr;
            double* beta_sum = sums ? gamma_sum + v.n : nullptr;
            if (Short(v)) {
              MXNET_CPU_CALL(NormShortRowsGradient)
              (dtype, og + begin * v.n, x + begin * v.n, gamma, dx ? dx + begin * v.n : nullptr, end - begin, v.n, p.eps, gamma_sum,
               beta_sum);
              continue;
            }
            for (int64_t r = begin; r < end; ++r) {
              const T *row = x + r * v.n, *grow = og + r * v.n;
              if (v.inner > 1) {
                Gather(v, x, r, in.data());
                Gather(v, og, r, g.data());
                row = in.data(), grow = g.data();
              }
              double mean, inv_std;
              RowMoments(dtype, row, v.n, p.eps, &mean, &inv_std);
              MXNET_CPU_CALL(NormRowGradient)
              (dtype, grow, row, gamma, dx ? (v.inner > 1 ? out.data() : dx + r * v.n) : nullptr, v.n, mean, inv_std, gamma_sum, beta_sum);
              if (dx && v.inner > 1) Scatter(v, out.data(), r, dx);
            }
          }
        });
        for (int k = 1; k < 3; ++k) {
          if (!Wanted(a, k)) continue;
          for (int64_t i = 0; i < v.n; ++i) {
            double sum = 0;
            for (int64_t part = 0; part < parts; ++part) sum += partial[(2 * part + k - 1) * v.n + i];
            a.out[k].data<T>()[i] = static_cast<T>(sum);
          }
        }
      },
      1);
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = CheckAxis(attrs, attrs.get<LayerNormParam>().axis, data.ndim());
  AssignShape(attrs, "gamma", &(*in)[1], Shape{data[axis]});
  AssignShape(attrs, "beta", &(*in)[2], Shape{data[axis]});
  Shape moments = data;
  moments[axis] = 1;
  AssignShape(attrs, "mean", &(*out)[1], moments);
  AssignShape(attrs, "std", &(*out)[2], moments);
  return data.known();
}

MXNET_REGISTER_OP(LayerNorm)
    .set_expensive_to_recompute()
    .describe(
        "data is normalized along `axis` to mean 0 and variance 1 (biased), then multiplied by gamma and shifted by beta, both of shape "
        "(data.shape[axis],).\n\n"
        "With output_mean_var the mean and sqrt(variance + eps) are returned too, with a dimension of size 1 at the axis. float16, "
        "bfloat16, float32, float64.")
    .alias("_npx_layer_norm")
    .set_trait(Role::kLayerNorm)
    .set_param<LayerNormParam>()
    .set_inputs({"data", "gamma", "beta"})
    .set_outputs({"output", "mean", "std"}, nullptr, [](const Attrs& a) { return a.get<LayerNormParam>().output_mean_var ? 3 : 1; })
    .set_infer_shape(ForwardShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      NodePtr back = MakeNodeLike("_backward_LayerNorm", *node, {ograds[0], node->inputs[0], node->inputs[1]});
      return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}};
    })
    .set_kernel(Forward);

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "gamma_grad", &(*out)[1], (*in)[2]);
  AssignShape(attrs, "beta_grad", &(*out)[2], (*in)[2]);
  return (*out)[0].known() && (*out)[1].known();
}

MXNET_REGISTER_OP(_backward_LayerNorm)
    .describe("Gradients of LayerNorm with respect to data, gamma and beta.")
    .set_param<LayerNormParam>()
    .set_inputs({"ograd", "data", "gamma"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
    .set_infer_shape(BackwardShape)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const auto& p = node->attrs->get<LayerNormParam>();
      const AttrDict over = {{"axis", std::to_string(p.axis)}, {"keepdims", "1"}};
      return NormalizationSecondGradient(NormalizationOf("LayerNorm", node, over, p.eps), ograds);
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn

NodePtr MakeLayerNorm(const NodeEntry& data, const NodeEntry& gamma, const NodeEntry& beta, double eps, const std::string& name) {
  return MakeNode("LayerNorm", {data, gamma, beta}, {{"axis", "-1"}, {"eps", ExactText(eps)}}, name);
}

}  // namespace mxnet
