// transpose and SwapAxis: permutations of axes.
#include <algorithm>

#include "operator/matrix/axes.h"
#include "operator/matrix/gpu_move.h"
#include "operator/param.h"
#include "operator/traits.h"

namespace mxnet {
namespace {

struct TransposeParam : public dmlc::Parameter<TransposeParam> {
  Shape axes;
  DMLC_DECLARE_PARAMETER(TransposeParam) {
    DMLC_DECLARE_FIELD(axes).set_default(Shape()).describe(
        "Dimension i of the result is dimension axes[i] of the input; without it, the order is reversed.");
  }
};

struct SwapAxisParam : public dmlc::Parameter<SwapAxisParam> {
  int dim1, dim2;
  DMLC_DECLARE_PARAMETER(SwapAxisParam) {
    DMLC_DECLARE_FIELD(dim1).set_default(0).describe("One of the two dimensions.");
    DMLC_DECLARE_FIELD(dim2).set_default(0).describe("The other.");
  }
};

MXNET_REGISTER_PARAM(TransposeParam);
MXNET_REGISTER_PARAM(SwapAxisParam);

using Axes = std::vector<int>;

Axes Inverse(const Axes& axes) {
  Axes inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) inverse[axes[i]] = static_cast<int>(i);
  return inverse;
}

Axes TransposeAxes(const Attrs& attrs, int ndim) {
  const Shape& given = attrs.get<TransposeParam>().axes;
  Axes axes(ndim);
  if (given.ndim() <= 0) {
    for (int i = 0; i < ndim; ++i) axes[i] = ndim - 1 - i;
    return axes;
  }
  MXNET_CHECK_KIND(given.ndim() == ndim, Value)
      << "[" << attrs.op->name << "] axes " << given << " for an array of " << ndim << " dimensions; each must be named once";
  std::vector<bool> seen(ndim, false);
  for (int i = 0; i < ndim; ++i) {
    axes[i] = CheckedAxis(attrs, given[i], ndim, "axes");
    MXNET_CHECK_KIND(!seen[axes[i]], Value) << "[" << attrs.op->name << "] axes " << given << " names dimension " << axes[i] << " twice";
    seen[axes[i]] = true;
  }
  return axes;
}

Axes InverseTransposeAxes(const Attrs& attrs, int ndim) { return Inverse(TransposeAxes(attrs, ndim)); }

Axes SwapAxes(const Attrs& attrs, int ndim) {
  const auto& p = attrs.get<SwapAxisParam>();
  Axes axes(ndim);
  for (int i = 0; i < ndim; ++i) axes[i] = i;
  std::swap(axes[CheckedAxis(attrs, p.dim1, ndim, "dim1")], axes[CheckedAxis(attrs, p.dim2, ndim, "dim2")]);
  return axes;
}

template <Axes (*kAxes)(const Attrs&, int)>
bool PermuteShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape& from = (*in)[0];
  Shape& to = (*out)[0];
  if (!from.ndim_known() && !to.ndim_known()) return false;
  const int n = from.ndim_known() ? from.ndim() : to.ndim();
  if (!from.ndim_known()) from = Shape(n);
  const Axes axes = kAxes(attrs, n);
  Shape permuted(n);
  for (int i = 0; i < n; ++i) permuted[i] = from[axes[i]];
  AssignShape(attrs, "the result", &to, permuted);
  for (int i = 0; i < n; ++i) from[axes[i]] = to[i];
  return from.known();
}

template <Axes (*kAxes)(const Attrs&, int)>
void PermuteKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& in = a.in[0];
  Permute(a.run, in.dptr, in.shape, kAxes(*a.attrs, in.shape.ndim()).data(), a.out[0].dptr, DTypeSize(in.dtype));
}

template <Axes (*kAxes)(const Attrs&, int)>
bool MovesNothing(const Attrs& attrs, const Shape& shape, bool) {
  const Axes axes = kAxes(attrs, shape.ndim());
  for (int i = 0; i < shape.ndim(); ++i)
    if (axes[i] != i) return false;
  return true;
}

template <Axes (*kAxes)(const Attrs&, int)>
Op& PermuteRecord(const char* name, const char* text, const char* input, const char* gradient) {
  return Op::Register(name)
      .describe(text)
      .set_inputs({input})
      .set_infer_shape(PermuteShape<kAxes>)
      .set_trait(Role::kTranspose)
      .set_trait(Permutation{kAxes})
      .set_trait(GivesInput{MovesNothing<kAxes>})
      .set_gradient([gradient](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(gradient, *node, {ograds[0]}), 0, 0}};
      })
      .set_kernel(PermuteKernel<kAxes>);
}

[[maybe_unused]] const bool registered = [] {
  PermuteRecord<TransposeAxes>("transpose", "Permutes the dimensions.", "data", "_backward_transpose").set_param<TransposeParam>();
  PermuteRecord<TransposeAxes>("_np_transpose", "Permutes the dimensions.", "a", "_backward_transpose")
      .alias("_npi_transpose")
      .set_param<TransposeParam>();
  PermuteRecord<InverseTransposeAxes>("_backward_transpose", "Undoes a transpose with the same axes.", "data", "transpose")
      .set_param<TransposeParam>();
  PermuteRecord<SwapAxes>("SwapAxis", "Exchanges two dimensions.", "data", "SwapAxis")
      .alias("swapaxes")
      .alias("_npi_swapaxes")
      .set_param<SwapAxisParam>();
  return true;
}();

}  // namespace
}  // namespace mxnet
