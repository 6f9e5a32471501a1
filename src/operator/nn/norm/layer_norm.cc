// LayerNorm (Ba, Kiros and Hinton, 2016).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/ran.h"
#include "base/threads/determinism.h"
#include "operator/init/fill.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/nn/norm/norm_data.h"
#include "operator/nn/norm/norm_kernels.h"
#include "operator/nn/norm/second_gradient.h"
#include "operator/nn/norm/stored_rows.h"
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
void ForwardOf(KernelArgs& a, const View& v, double eps) {
  constexpr int dtype = DTypeOf<T>::value;
  const T *gamma = As<T>(a, a.in[1]), *beta = As<T>(a, a.in[2]);
  const bool wanted = Wanted(a, 0), mean_wanted = Wanted(a, 1), std_wanted = Wanted(a, 2);
  if (Short(v)) {
    Ran("norm of short rows");
    const T* x = a.in[0].data<T>();
    T *y = wanted ? a.out[0].data<T>() : nullptr, *mean = mean_wanted ? a.out[1].data<T>() : nullptr,
      *deviation = std_wanted ? a.out[2].data<T>() : nullptr;
    return ParallelFor(v.rows(), Grain(v.n), [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(NormShortRows)
      (dtype, x + b * v.n, y ? y + b * v.n : nullptr, e - b, v.n, eps, gamma, beta, mean ? mean + b : nullptr,
       deviation ? deviation + b : nullptr);
    });
  }
  Ran("norm of rows");
  ParallelFor(v.rows(), Grain(v.n), [&](int64_t b, int64_t e) {
    StoredRows<T> in(a.in[0], v.n, v.inner), out(a.out[0], v.n, v.inner);
    for (int64_t r = b; r < e; ++r) {
      const T* row = in.Read(r);
      double mean, inv_std;
      RowMoments(dtype, row, v.n, eps, &mean, &inv_std);
      if (mean_wanted) StoredRows<T>::PutNumber(a.out[1], r, static_cast<T>(mean));
      if (std_wanted) StoredRows<T>::PutNumber(a.out[2], r, static_cast<T>(1.0 / inv_std));
      if (!wanted) continue;
      MXNET_CPU_CALL(NormRow)(dtype, row, out.Room(r), v.n, mean, inv_std, gamma, beta);
      out.Write(r);
    }
  });
}

void Forward(KernelArgs& args) {
  if (args.in[0].Size() == 0) {  // rows without elements have neither mean nor deviation
    for (int i = 1; i < args.out.size(); ++i)
      if (Wanted(args, i)) FillValue(args.run, args.out[i], std::nan(""));
    return;
  }
  const auto& p = args.param<LayerNormParam>();
  const View v(*args.attrs, p, args.in[0].shape);
  if (args.run.ctx.is_gpu()) return RowNormOnDevice(args, OnDevice(v, p.eps));
  const auto run = [&](KernelArgs& a, auto tag) { ForwardOf<decltype(tag)>(a, v, p.eps); };
  return Short(v) ? RunReal(args, run) : RunStored(args, run);
}

// Sums of parts of the rows, a part after the other: the same for any number of threads.
template <typename T>
void BackwardOf(KernelArgs& a, const View& v, double eps) {
  constexpr int dtype = DTypeOf<T>::value;
  const T* gamma = As<T>(a, a.in[2]);
  const bool wanted = Wanted(a, 0), sums = Wanted(a, 1) || Wanted(a, 2), short_rows = Short(v);
  Ran(short_rows ? "norm of short rows" : "norm of rows");
  const int64_t parts = FixedParts(v.rows() / Grain(v.n));
  std::vector<double> partial(sums ? parts * 2 * v.n : 0, 0.0);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    StoredRows<T> gradients(a.in[0], v.n, v.inner), in(a.in[1], v.n, v.inner), out(a.out[0], v.n, v.inner);
    for (int64_t part = first; part < last; ++part) {
      const int64_t begin = v.rows() * part / parts, end = v.rows() * (part + 1) / parts;
      double* gamma_sum = sums ? &partial[2 * part * v.n] : nullptr;
      double* beta_sum = sums ? gamma_sum + v.n : nullptr;
      if (short_rows) {
        MXNET_CPU_CALL(NormShortRowsGradient)
        (dtype, a.in[0].data<T>() + begin * v.n, a.in[1].data<T>() + begin * v.n, gamma,
         wanted ? a.out[0].data<T>() + begin * v.n : nullptr, end - begin, v.n, eps, gamma_sum, beta_sum);
        continue;
      }
      for (int64_t r = begin; r < end; ++r) {
        const T *row = in.Read(r), *g = gradients.Read(r);
        double mean, inv_std;
        RowMoments(dtype, row, v.n, eps, &mean, &inv_std);
        MXNET_CPU_CALL(NormRowGradient)(dtype, g, row, gamma, wanted ? out.Room(r) : nullptr, v.n, mean, inv_std, gamma_sum, beta_sum);
        if (wanted) out.Write(r);
      }
    }
  });
  for (int k = 1; k < 3; ++k) {
    if (!Wanted(a, k)) continue;
    for (int64_t i = 0; i < v.n; ++i) {
      double sum = 0;
      for (int64_t part = 0; part < parts; ++part) sum += partial[(2 * part + k - 1) * v.n + i];
      StoredRows<T>::PutNumber(a.out[k], i, static_cast<T>(sum));
    }
  }
}

void Backward(KernelArgs& args) {  // ograd, data, gamma -> data_grad, gamma_grad, beta_grad; the moments are computed again
  if (args.in[2].Size() == 0) return;
  const auto& p = args.param<LayerNormParam>();
  const View v(*args.attrs, p, args.in[1].shape);
  if (args.run.ctx.is_gpu()) return RowNormBackwardOnDevice(args, OnDevice(v, p.eps));
  const auto run = [&](KernelArgs& a, auto tag) { BackwardOf<decltype(tag)>(a, v, p.eps); };
  return Short(v) ? RunReal(args, run, 1) : RunStored(args, run, 1);
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
