// transpose and SwapAxis: permutations of axes.
#include <algorithm>

#include "base/ran.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct TransposeParam : public Parameter<TransposeParam> {
  Shape axes;
  MXNET_DECLARE_PARAM(TransposeParam) {
    MXNET_FIELD(axes).set_default(Shape()).describe(
        "Dimension i of the result is dimension axes[i] of the input; without it, the order is reversed.");
  }
};

struct SwapAxisParam : public Parameter<SwapAxisParam> {
  int dim1, dim2;
  MXNET_DECLARE_PARAM(SwapAxisParam) {
    MXNET_FIELD(dim1).set_default(0).describe("One of the two dimensions.");
    MXNET_FIELD(dim2).set_default(0).describe("The other.");
  }
};

struct MoveAxisParam : public Parameter<MoveAxisParam> {
  Shape source, destination;
  MXNET_DECLARE_PARAM(MoveAxisParam) {
    MXNET_FIELD(source).describe("The dimensions to move; each once.");
    MXNET_FIELD(destination).describe("Where each of them goes. The others keep their order.");
  }
};

struct RollAxisParam : public Parameter<RollAxisParam> {
  int axis, start;
  MXNET_DECLARE_PARAM(RollAxisParam) {
    MXNET_FIELD(axis).describe("The dimension to move.");
    MXNET_FIELD(start).set_default(0).describe("The dimension that it is put in front of, from -ndim to ndim.");
  }
};

MXNET_REGISTER_PARAM(MoveAxisParam);
MXNET_REGISTER_PARAM(RollAxisParam);
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

// Each place once, counted from the end where negative.
Axes DistinctAxes(const Attrs& attrs, const Shape& given, int ndim, const char* what) {
  Axes axes;
  for (int64_t a : given) {
    axes.push_back(CheckedAxis(attrs, a, ndim, what));
    MXNET_CHECK_KIND(std::count(axes.begin(), axes.end(), axes.back()) == 1, Value)
        << "[" << attrs.op->name << "] " << what << " " << given << " names dimension " << axes.back() << " twice";
  }
  return axes;
}

Axes MoveAxes(const Attrs& attrs, int ndim) {
  const auto& p = attrs.get<MoveAxisParam>();
  const Axes from = DistinctAxes(attrs, p.source, ndim, "source"), to = DistinctAxes(attrs, p.destination, ndim, "destination");
  MXNET_CHECK_KIND(from.size() == to.size(), Value)
      << "[" << attrs.op->name << "] source " << p.source << " and destination " << p.destination << "; they must name as many dimensions";
  Axes axes(ndim, -1);
  for (size_t i = 0; i < from.size(); ++i) axes[to[i]] = from[i];
  int next = 0;
  for (int& axis : axes) {
    if (axis >= 0) continue;
    while (std::count(from.begin(), from.end(), next)) ++next;
    axis = next++;
  }
  return axes;
}

Axes InverseMoveAxes(const Attrs& attrs, int ndim) { return Inverse(MoveAxes(attrs, ndim)); }

Axes RollAxes(const Attrs& attrs, int ndim) {
  const auto& p = attrs.get<RollAxisParam>();
  const int axis = CheckedAxis(attrs, p.axis, ndim);
  MXNET_CHECK_KIND(p.start >= -ndim && p.start <= ndim, Value)
      << "[" << attrs.op->name << "] start=" << p.start << "; an array of " << ndim << " dimensions accepts " << -ndim << " to " << ndim;
  int start = p.start < 0 ? p.start + ndim : p.start;
  if (start > axis) --start;
  Axes axes;
  for (int i = 0; i < ndim; ++i)
    if (i != axis) axes.push_back(i);
  axes.insert(axes.begin() + start, axis);
  return axes;
}

Axes InverseRollAxes(const Attrs& attrs, int ndim) { return Inverse(RollAxes(attrs, ndim)); }

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
  Ran("permuted copy", RanAt::kNone);
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
      .set_dtypes(dtypes::kAll)
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
  PermuteRecord<TransposeAxes>("transpose", "Permutes the dimensions.", "data", "_backward_transpose")
      .set_trait(Quantized{"_contrib_quantized_transpose"})
      .set_param<TransposeParam>();
  PermuteRecord<TransposeAxes>("_np_transpose", "Permutes the dimensions.", "a", "_backward_transpose")
      .alias("_npi_transpose")
      .set_trait(Quantized{"_npx_quantized_transpose"})
      .set_param<TransposeParam>();
  PermuteRecord<InverseTransposeAxes>("_backward_transpose", "Undoes a transpose with the same axes.", "data", "transpose")
      .set_param<TransposeParam>();
  PermuteRecord<MoveAxes>("_np_moveaxis", "Moves dimensions to other places.", "a", "_backward_np_moveaxis")
      .alias("_npi_moveaxis")
      .set_param<MoveAxisParam>();
  PermuteRecord<InverseMoveAxes>("_backward_np_moveaxis", "Undoes a moveaxis.", "data", "_np_moveaxis").set_param<MoveAxisParam>();
  PermuteRecord<RollAxes>("_npi_rollaxis", "Moves one dimension in front of another.", "data", "_npi_rollaxis_backward")
      .set_param<RollAxisParam>();
  PermuteRecord<InverseRollAxes>("_npi_rollaxis_backward", "Undoes a rollaxis.", "data", "_npi_rollaxis").set_param<RollAxisParam>();
  PermuteRecord<SwapAxes>("SwapAxis", "Exchanges two dimensions.", "data", "SwapAxis")
      .alias("swapaxes")
      .alias("_npi_swapaxes")
      .set_param<SwapAxisParam>();
  for (const char* name : {"_contrib_quantized_transpose", "_npx_quantized_transpose"}) Op::Register(name).set_param<TransposeParam>();
  return true;
}();

}  // namespace
}  // namespace mxnet
