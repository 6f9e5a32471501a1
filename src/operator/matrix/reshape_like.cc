// reshape_like, shape_array, size_array: shapes as arguments and as values.
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct ReshapeLikeParam : public Parameter<ReshapeLikeParam> {
  std::optional<int> lhs_begin, lhs_end, rhs_begin, rhs_end;
  MXNET_DECLARE_PARAM(ReshapeLikeParam) {
    MXNET_FIELD(lhs_begin)
        .set_default(std::optional<int>())
        .describe("First dimension of lhs to replace; None is 0, negative counts from the end.");
    MXNET_FIELD(lhs_end)
        .set_default(std::optional<int>())
        .describe("Dimension of lhs behind the last to replace; None is the number of dimensions.");
    MXNET_FIELD(rhs_begin).set_default(std::optional<int>()).describe("First dimension of rhs to take.");
    MXNET_FIELD(rhs_end).set_default(std::optional<int>()).describe("Dimension of rhs behind the last to take.");
  }
};

MXNET_REGISTER_PARAM(ReshapeLikeParam);

int Bound(const Attrs& attrs, const std::optional<int>& given, int ndim, int fallback, const char* what) {
  if (!given.has_value()) return fallback;
  const int value = given.value() < 0 ? given.value() + ndim : given.value();
  MXNET_CHECK_KIND(value >= 0 && value <= ndim, Value) << "[" << attrs.op->name << "] " << what << "=" << given.value() << "; an array of "
                                                       << ndim << " dimensions accepts " << -ndim << " to " << ndim;
  return value;
}

bool ReshapeLikeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ReshapeLikeParam>();
  const Shape &lhs = (*in)[0], &rhs = (*in)[1];
  const bool whole = !p.lhs_begin.has_value() && !p.lhs_end.has_value() && !p.rhs_begin.has_value() && !p.rhs_end.has_value();
  if (!rhs.ndim_known() || (!whole && !lhs.ndim_known())) return false;
  Shape to = rhs;
  if (!whole) {
    const int lb = Bound(attrs, p.lhs_begin, lhs.ndim(), 0, "lhs_begin"), le = Bound(attrs, p.lhs_end, lhs.ndim(), lhs.ndim(), "lhs_end");
    const int rb = Bound(attrs, p.rhs_begin, rhs.ndim(), 0, "rhs_begin"), re = Bound(attrs, p.rhs_end, rhs.ndim(), rhs.ndim(), "rhs_end");
    MXNET_CHECK_KIND(lb <= le && rb <= re, Value)
        << "[" << attrs.op->name << "] lhs_begin=" << lb << ", lhs_end=" << le << ", rhs_begin=" << rb << ", rhs_end=" << re
        << "; each begin must not lie behind its end";
    std::vector<int64_t> dims(lhs.begin(), lhs.begin() + lb);
    dims.insert(dims.end(), rhs.begin() + rb, rhs.begin() + re);
    dims.insert(dims.end(), lhs.begin() + le, lhs.end());
    to = Shape(dims);
  }
  AssignShape(attrs, "the result", &(*out)[0], to);
  if (!lhs.known() || !(*out)[0].known()) return false;
  MXNET_CHECK_KIND(lhs.Size() == (*out)[0].Size(), Value) << "[" << attrs.op->name << "] lhs of shape " << lhs << " has " << lhs.Size()
                                                          << " elements; the wanted shape " << (*out)[0] << " has " << (*out)[0].Size();
  return rhs.known();
}

bool LhsType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "lhs", &(*in)[0], (*out)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

bool Int64Type(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

void SetNumber(KernelArgs& a, int64_t at, int64_t number) {
  TBlob one = a.out[0];
  one.dptr = a.out[0].data<int64_t>() + at;
  one.shape = Shape({1});
  FillRange(a.run, one, static_cast<double>(number), 0, 1);
}

void ShapeArray(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  for (int i = 0; i < s.ndim(); ++i) SetNumber(a, i, s[i]);
}

void SizeArray(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) SetNumber(a, 0, a.in[0].Size());
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("reshape_like")
      .set_shape_only_from(1)
      .describe("lhs in the shape of rhs, or with some of its dimensions replaced by some of those of rhs.")
      .alias("_npx_reshape_like")
      .set_param<ReshapeLikeParam>()
      .set_inputs({"lhs", "rhs"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_trait(Role::kReshape)
      .set_trait(GivesInput{})
      .set_infer_shape(ReshapeLikeShape)
      .set_infer_type(LhsType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("reshape_like", {ograds[0], node->inputs[0]}), NodeEntry{}};
      })
      .set_kernel(CopyThrough);
  Op::Register("shape_array")
      .set_shape_only_from(0)
      .describe("The sizes of the dimensions, as an int64 vector.")
      .alias("_npx_shape_array")
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        if (!(*in)[0].ndim_known()) return false;
        AssignShape(attrs, "the result", &(*out)[0], Shape({(*in)[0].ndim()}));
        return (*in)[0].known();
      })
      .set_infer_type(Int64Type)
      .set_zero_gradient()
      .set_kernel(ShapeArray);
  Op::Register("size_array")
      .set_shape_only_from(0)
      .describe("The number of elements, as an int64 vector of length 1.")
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "the result", &(*out)[0], Shape({1}));
        return (*in)[0].known();
      })
      .set_infer_type(Int64Type)
      .set_zero_gradient()
      .set_kernel(SizeArray);
  return true;
}();

}  // namespace
}  // namespace mxnet
