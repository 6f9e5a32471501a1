// where: elements of x or y as a condition says; its NumPy form broadcasts.
#include <algorithm>

#include "operator/indexing/index.h"
#include "operator/indexing/select_numbers.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

// ---- equal shapes, or a vector that chooses whole rows

bool WhereShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape all = (*out)[0];
  for (int i : {1, 2})
    MXNET_CHECK_KIND(MergeShape(&all, (*in)[i]), Value)
        << "[" << attrs.op->name << "] x has shape " << (*in)[1] << ", y " << (*in)[2] << "; both and the result must be equal";
  (*in)[1] = (*in)[2] = (*out)[0] = all;
  Shape& condition = (*in)[0];
  if (!all.known() || !condition.ndim_known()) return false;
  if (condition.ndim() == 1 && all.ndim() != 1) {
    MXNET_CHECK_KIND(all.ndim() > 0 && MergeShape(&condition, Shape({all[0]})), Value)
        << "[" << attrs.op->name << "] condition has shape " << condition << ", x " << all
        << "; a vector needs one entry for each row of x";
    return true;
  }
  AssignShape(attrs, "condition", &condition, all);
  return true;
}

bool WhereType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[1]);
  AssignType(attrs, "the result", &(*out)[0], (*in)[2]);
  AssignType(attrs, "x", &(*in)[1], (*out)[0]);
  AssignType(attrs, "y", &(*in)[2], (*out)[0]);
  return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
}

void Where(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob &c = a.in[0], &out = a.out[0];
  const int64_t n = c.Size();
  Select(a.run, c, a.in[1].dptr, a.in[2].dptr, out.dptr, n, n == 0 ? 0 : out.Size() / n * static_cast<int64_t>(DTypeSize(out.dtype)));
}

std::vector<NodeEntry> WhereGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry zero = MakeOp("zeros_like", {ograds[0]});
  return {NodeEntry{}, NodeEntry{MakeNodeLike("where", *node, {node->inputs[0], ograds[0], zero}), 0, 0},
          NodeEntry{MakeNodeLike("where", *node, {node->inputs[0], zero, ograds[0]}), 0, 0}};
}

// ---- with broadcasting

bool BroadcastWhereShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (const Shape& s : *in)
    if (!s.known()) return false;
  const std::string& name = attrs.op->name;
  AssignShape(attrs, "the result", &(*out)[0], BroadcastShape(name, BroadcastShape(name, (*in)[0], (*in)[1]), (*in)[2]));
  return true;
}

// Strides of `part` along the dimensions of `whole`, 0 where it is broadcast.
std::vector<int64_t> BroadcastStrides(const Shape& part, const Shape& whole) {
  std::vector<int64_t> own(part.ndim()), strides(whole.ndim(), 0);
  RowMajorStrides(part, own.data());
  for (int i = 0; i < part.ndim(); ++i)
    if (part[i] != 1) strides[i + whole.ndim() - part.ndim()] = own[i];
  return strides;
}

// The array in the shape of the result: itself, or a copy in the workspace.
TBlob Expanded(KernelArgs& a, const TBlob& b, const Shape& whole) {
  TBlob full = b;
  full.shape = whole;
  if (b.shape.Size() == whole.Size()) return full;
  full.dptr = a.workspace(full.Bytes());
  std::vector<int64_t> dense(whole.ndim());
  RowMajorStrides(whole, dense.data());
  CopyStrided(a.run, b.dptr, BroadcastStrides(b.shape, whole).data(), full.dptr, dense.data(), whole.dims(), whole.ndim(),
              DTypeSize(b.dtype));
  return full;
}

void BroadcastWhere(KernelArgs& a) {
  const TBlob& out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  const int64_t size = static_cast<int64_t>(DTypeSize(out.dtype));
  const TBlob c = Expanded(a, a.in[0], out.shape);
  if (!a.run.ctx.is_gpu()) {
    unsigned singles = 0;
    TBlob sides[2] = {a.in[1], a.in[2]};
    for (int k = 0; k < 2; ++k) {
      if (sides[k].Size() == 1)
        singles |= 1u << k;
      else
        sides[k] = Expanded(a, sides[k], out.shape);
    }
    return SelectNumbers(c, sides[0].dptr, sides[1].dptr, out.dptr, out.Size(), size, singles);
  }
  const TBlob x = Expanded(a, a.in[1], out.shape), y = Expanded(a, a.in[2], out.shape);
  Select(a.run, c, x.dptr, y.dptr, out.dptr, out.Size(), size);
}

// [ograd, condition, x, y] -> gradients of x and y: sums over broadcast dimensions
bool BroadcastWhereBackType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& t : *out) AssignType(attrs, "a gradient", &t, (*in)[0]);
  return (*in)[0] != kDTypeUnknown;
}

void BroadcastWhereBack(KernelArgs& a) {
  const TBlob& g = a.in[0];
  const Shape& whole = g.shape;
  const int64_t bytes = static_cast<int64_t>(g.Bytes());
  for (int o : {0, 1})
    if (a.req[o] != OpReq::kNull) ZeroBytes(a.run, a.out[o].dptr, static_cast<int64_t>(a.out[o].Bytes()));
  if (bytes == 0) return;
  const TBlob c = Expanded(a, a.in[1], whole);
  void* zero = a.workspace(static_cast<size_t>(bytes));
  void* part = a.workspace(static_cast<size_t>(bytes));
  ZeroBytes(a.run, zero, bytes);
  std::vector<int64_t> dense(whole.ndim());
  RowMajorStrides(whole, dense.data());
  for (int o : {0, 1}) {
    if (a.req[o] == OpReq::kNull) continue;
    Select(a.run, c, o == 0 ? g.dptr : zero, o == 0 ? zero : g.dptr, part, whole.Size(), static_cast<int64_t>(DTypeSize(g.dtype)));
    AddStrided(a.run, part, dense.data(), a.out[o].dptr, BroadcastStrides(a.out[o].shape, whole).data(), whole.dims(), whole.ndim(),
               g.dtype);
  }
}

// ---- with numbers in place of x, y, or both

struct WhereScalarParam : public Parameter<WhereScalarParam> {
  double scalar;
  MXNET_DECLARE_PARAM(WhereScalarParam) { MXNET_FIELD(scalar).set_default(0).describe("The number that stands where the array does not."); }
};
struct WhereScalarsParam : public Parameter<WhereScalarsParam> {
  double x, y;
  MXNET_DECLARE_PARAM(WhereScalarsParam) {
    MXNET_FIELD(x).set_default(0).describe("The number where condition is not zero.");
    MXNET_FIELD(y).set_default(0).describe("The number where condition is zero.");
  }
};
MXNET_REGISTER_PARAM(WhereScalarParam);
MXNET_REGISTER_PARAM(WhereScalarsParam);

// The number in the dtype and shape of the result.
void* Filled(KernelArgs& a, double value) {
  TBlob full = a.out[0];
  full.dptr = a.workspace(full.Bytes());
  FillValue(a.run, full, value);
  return full.dptr;
}

template <bool kNumberIsX>
void WhereScalar(KernelArgs& a) {
  const TBlob& out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  const int64_t size = static_cast<int64_t>(DTypeSize(out.dtype));
  const double scalar = a.param<WhereScalarParam>().scalar;
  const TBlob c = Expanded(a, a.in[0], out.shape);
  const void* array = Expanded(a, a.in[1], out.shape).dptr;
  if (!a.run.ctx.is_gpu()) {
    alignas(8) char number[8];
    TBlob one = out;
    one.dptr = number;
    one.shape = Shape{1};
    FillValue(a.run, one, scalar);
    return SelectNumbers(c, kNumberIsX ? number : array, kNumberIsX ? array : number, out.dptr, out.Size(), size, kNumberIsX ? 1 : 2);
  }
  const void* number = Filled(a, scalar);
  Select(a.run, c, kNumberIsX ? number : array, kNumberIsX ? array : number, out.dptr, out.Size(), size);
}

void WhereScalars(KernelArgs& a) {
  const TBlob& out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  const auto& p = a.param<WhereScalarsParam>();
  Select(a.run, a.in[0], Filled(a, p.x), Filled(a, p.y), out.dptr, out.Size(), static_cast<int64_t>(DTypeSize(out.dtype)));
}

bool WhereScalarShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], BroadcastShape(attrs.op->name, (*in)[0], (*in)[1]));
  return true;
}

bool SecondType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[1]);
  AssignType(attrs, "the array", &(*in)[1], (*out)[0]);
  return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
}

template <bool kNumberIsX>
Op& WhereScalarRecord(const char* name, const char* array, const char* text) {
  return Op::Register(name)
      .describe(text)
      .set_param<WhereScalarParam>()
      .set_inputs({"condition", array})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(WhereScalarShape)
      .set_infer_type(SecondType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const NodeEntry& array = node->inputs[1];
        const NodePtr back = MakeNode("_backward_npi_where", {ograds[0], node->inputs[0], array, array});
        return std::vector<NodeEntry>{NodeEntry{}, NodeEntry{back, kNumberIsX ? 1u : 0u, 0}};
      })
      .set_kernel(WhereScalar<kNumberIsX>);
}

[[maybe_unused]] const bool registered = [] {
  WhereScalarRecord<true>("_npi_where_lscalar", "x", "The number where condition is not zero, else x; the two are broadcast together.")
      .set_trait(ViewOf<NumberWhereView>{[](const Attrs& a) { return NumberWhereView{a.get<WhereScalarParam>().scalar}; }});
  WhereScalarRecord<false>("_npi_where_rscalar", "y", "y where condition is not zero, else the number; the two are broadcast together.");
  Op::Register("_npi_where_scalar2")
      .describe("The number x where condition is not zero, else the number y, as float32.")
      .set_param<WhereScalarsParam>()
      .set_inputs({"condition"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ElemwiseShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], kFloat32);
        return (*in)[0] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_kernel(WhereScalars);
  Op::Register("where")
      .describe("x where condition is not zero, else y. A vector as condition chooses whole rows.")
      .alias("_sparse_where")
      .set_precision(Precision::kWidest)  // the condition may have any dtype, the two it chooses from share one
      .set_inputs({"condition", "x", "y"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(WhereShape)
      .set_infer_type(WhereType)
      .set_gradient(WhereGradient)
      .set_kernel(Where);
  Op::Register("_npi_where")
      .describe("x where condition is not zero, else y; the three are broadcast together.")
      .set_inputs({"condition", "x", "y"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BroadcastWhereShape)
      .set_infer_type(WhereType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        NodePtr back = MakeNodeLike("_backward_npi_where", *node, {ograds[0], node->inputs[0], node->inputs[1], node->inputs[2]});
        return std::vector<NodeEntry>{NodeEntry{}, NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}};
      })
      .set_kernel(BroadcastWhere);
  Op::Register("_backward_npi_where")
      .describe("Gradients of _npi_where.")
      .set_inputs({"ograd", "condition", "x", "y"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(2)
      .set_outputs({"x_grad", "y_grad"})
      .set_infer_shape(LikeInputsShape(2))
      .set_infer_type(BroadcastWhereBackType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(4);
        grads[0] = NodeEntry{MakeNodeLike("_npi_where", *node, {node->inputs[1], ograds[0], ograds[1]}), 0, 0};
        return grads;
      })
      .set_kernel(BroadcastWhereBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
