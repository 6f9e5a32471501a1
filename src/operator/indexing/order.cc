// sort, argsort and topk.
#include "operator/indexing/order.h"

#include <algorithm>

#include "operator/indexing/gpu_order.h"
#include "operator/indexing/index.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace {

enum TopkReturn : int { kValue = 0, kIndices = 1, kMask = 2, kBoth = 3 };

struct SortParam : public Parameter<SortParam> {
  std::optional<int> axis;
  bool is_ascend;
  MXNET_DECLARE_PARAM(SortParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>(-1)).describe("The dimension that is sorted; None takes the array as a vector.");
    MXNET_FIELD(is_ascend).set_default(true).describe("Smallest first.");
  }
};

constexpr dtypes::Set kIndexTypes = dtypes::kIeeeFloats | dtypes::Set{kUint8, kInt32, kInt64};  // of results

struct ArgSortParam : public Parameter<ArgSortParam> {
  std::optional<int> axis;
  bool is_ascend;
  int dtype;
  MXNET_DECLARE_PARAM(ArgSortParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>(-1)).describe("The dimension that is sorted; None takes the array as a vector.");
    MXNET_FIELD(is_ascend).set_default(true).describe("Smallest first.");
    MXNET_DTYPE_FIELD_OF(dtype, kIndexTypes).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct TopkParam : public Parameter<TopkParam> {
  std::optional<int> axis;
  int k, ret_typ;
  bool is_ascend;
  int dtype;
  MXNET_DECLARE_PARAM(TopkParam) {
    MXNET_FIELD(axis)
        .set_default(std::optional<int>(-1))
        .describe("The dimension along which entries compete; None takes the array as a vector.");
    MXNET_FIELD(k).set_default(1).describe("Number of entries; all when less than 1.");
    MXNET_FIELD(ret_typ)
        .set_default(static_cast<int>(kIndices))
        .add_enum("value", static_cast<int>(kValue))
        .add_enum("indices", static_cast<int>(kIndices))
        .add_enum("mask", static_cast<int>(kMask))
        .add_enum("both", static_cast<int>(kBoth))
        .describe("The values, their indices, both, or ones at their places in an array of zeros.");
    MXNET_FIELD(is_ascend).set_default(false).describe("Take the smallest instead of the largest.");
    MXNET_DTYPE_FIELD_OF(dtype, kIndexTypes).set_default(kFloat32).describe("Element type of indices.");
  }
};

MXNET_REGISTER_PARAM(SortParam);
MXNET_REGISTER_PARAM(ArgSortParam);
MXNET_REGISTER_PARAM(TopkParam);

struct Lines {
  int64_t outer, size, inner;
};
Lines LinesOf(const Attrs& attrs, const std::optional<int>& given, const Shape& s) {
  if (!given.has_value()) return {1, s.Size(), 1};
  const int axis = CheckedAxis(attrs, given.value(), s.ndim());
  return {s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim())};
}

int64_t TopkCount(const Attrs& attrs, int64_t size) {
  const int k = attrs.get<TopkParam>().k;
  MXNET_CHECK_KIND(k <= size, Value) << "[" << attrs.op->name << "] k=" << k << "; the dimension has " << size << " entries";
  return k < 1 ? size : k;
}

template <typename P>
bool SortShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  const auto& axis = attrs.get<P>().axis;
  LinesOf(attrs, axis, data);
  AssignShape(attrs, "the result", &(*out)[0], axis.has_value() ? data : Shape({data.Size()}));
  return true;
}

void Sort(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.in[0].Size() == 0) return;
  const auto& p = a.param<SortParam>();
  const Lines l = LinesOf(*a.attrs, p.axis, a.in[0].shape);
  OrderEntries(a, a.in[0], l.outer, l.size, l.inner, l.size, p.is_ascend, a.out[0].dptr, nullptr);
}

int64_t* Positions(KernelArgs& a, int64_t n) {
  return static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(int64_t)));
}

void ArgSort(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.in[0].Size() == 0) return;
  const auto& p = a.param<ArgSortParam>();
  const Lines l = LinesOf(*a.attrs, p.axis, a.in[0].shape);
  const int64_t n = a.in[0].Size();
  int64_t* at = Positions(a, n);
  OrderEntries(a, a.in[0], l.outer, l.size, l.inner, l.size, p.is_ascend, nullptr, at);
  ConvertIndices(a.run, at, a.out[0], n);
}

bool TopkShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<TopkParam>();
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  const int64_t k = TopkCount(attrs, LinesOf(attrs, p.axis, data).size);
  Shape to = data;
  if (p.ret_typ != kMask) {
    if (p.axis.has_value())
      to[CheckedAxis(attrs, p.axis.value(), data.ndim())] = k;
    else
      to = Shape({k});
  }
  for (Shape& s : *out) AssignShape(attrs, "the result", &s, to);
  return true;
}

bool TopkType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<TopkParam>();
  if (p.ret_typ == kIndices) {
    AssignType(attrs, "the indices", &(*out)[0], p.dtype);
  } else {
    AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
    AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  }
  if (p.ret_typ == kBoth) AssignType(attrs, "the indices", &(*out)[1], p.dtype);
  return (*in)[0] != kDTypeUnknown;
}

void Topk(KernelArgs& a) {
  const auto& p = a.param<TopkParam>();
  const TBlob& data = a.in[0];
  if (data.Size() == 0) return;
  const Lines l = LinesOf(*a.attrs, p.axis, data.shape);
  const int64_t k = TopkCount(*a.attrs, l.size), n = l.outer * k * l.inner;
  const bool value = (p.ret_typ == kValue || p.ret_typ == kBoth) && a.req[0] != OpReq::kNull;
  int64_t* at = p.ret_typ == kValue ? nullptr : Positions(a, n);
  OrderEntries(a, data, l.outer, l.size, l.inner, k, p.is_ascend, value ? a.out[0].dptr : nullptr, at);
  if (p.ret_typ == kIndices && a.req[0] != OpReq::kNull) ConvertIndices(a.run, at, a.out[0], n);
  if (p.ret_typ == kBoth && a.req[1] != OpReq::kNull) ConvertIndices(a.run, at, a.out[1], n);
  if (p.ret_typ == kMask && a.req[0] != OpReq::kNull) {
    TBlob ones = a.out[0];
    ones.dptr = a.workspace(static_cast<size_t>(n) * DTypeSize(ones.dtype));
    ones.shape = Shape({n});
    FillValue(a.run, ones, 1);
    ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
    PutLines(a.run, ones.dptr, l.outer, l.size, l.inner, k, at, a.out[0]);
  }
}

// Positions of the ordered values of a.in[1], found again.
template <bool kTopk>
const int64_t* PositionsAgain(KernelArgs& a, Lines* lines, int64_t* k) {
  const TBlob& data = a.in[1];
  if constexpr (kTopk) {
    const auto& p = a.param<TopkParam>();
    *lines = LinesOf(*a.attrs, p.axis, data.shape);
    *k = TopkCount(*a.attrs, lines->size);
  } else {
    *lines = LinesOf(*a.attrs, a.param<SortParam>().axis, data.shape);
    *k = lines->size;
  }
  bool ascending;
  if constexpr (kTopk)
    ascending = a.param<TopkParam>().is_ascend;
  else
    ascending = a.param<SortParam>().is_ascend;
  int64_t* at = Positions(a, lines->outer * *k * lines->inner);
  OrderEntries(a, data, lines->outer, lines->size, lines->inner, *k, ascending, nullptr, at);
  return at;
}

// [ograd of the values, data] -> gradient of data: each value's gradient goes to its place.
template <bool kTopk>
void OrderBackward(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  Lines l;
  int64_t k;
  const int64_t* at = PositionsAgain<kTopk>(a, &l, &k);
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  PutLines(a.run, a.in[0].dptr, l.outer, l.size, l.inner, k, at, a.out[0]);
}

// [gradient of the gradient, data] -> what of it stands at the ordered places.
template <bool kTopk>
void OrderGather(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  Lines l;
  int64_t k;
  const int64_t* at = PositionsAgain<kTopk>(a, &l, &k);
  TakeLines(a.run, a.in[0], l.outer, l.size, l.inner, k, at, a.out[0].dptr);
}

template <bool kTopk>
bool LikeOrdered(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  ShapeVector data = {(*in)[1]};
  return (kTopk ? TopkShape(attrs, &data, out) : SortShape<SortParam>(attrs, &data, out)) && (*in)[0].known();
}

template <bool kTopk, typename P>
void BackwardRecords(const std::string& backward, const std::string& gather) {
  Op::Register(backward)
      .describe("Gradient: that of each ordered value at the value's place.")
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"ograd", "data"})
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([gather](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(gather, *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(OrderBackward<kTopk>);
  Op::Register(gather)
      .describe("Entries at the places where the ordered values of data stand.")
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"values", "data"})
      .set_infer_shape(LikeOrdered<kTopk>)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(backward, *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(OrderGather<kTopk>);
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("sort")
      .describe("Sorts along one dimension; equal entries keep their order, NaN counts as largest.")
      .alias("_npi_sort")
      .set_trait(ParametersInFiles{{{"is_ascend_s", "is_ascend"}}})  // of 2.0
      .set_param<SortParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output0"})  // the reference hides the indices behind it
      .set_infer_shape(SortShape<SortParam>)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_sort", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Sort);
  BackwardRecords<false, SortParam>("_backward_sort", "_backward_backward_sort");
  Op::Register("argsort")
      .describe("The indices that sort along one dimension.")
      .alias("_npi_argsort")
      .set_trait(ParametersInFiles{{{"is_ascend_s", "is_ascend"}}})
      .set_param<ArgSortParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(SortShape<ArgSortParam>)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], attrs.get<ArgSortParam>().dtype);
        return (*in)[0] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_kernel(ArgSort);
  Op::Register("topk")
      .describe("The k largest or smallest entries along one dimension, in order; of equal ones that with the lower index comes first.")
      .alias("_npx_topk")
      .set_param<TopkParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_num_outputs([](const Attrs& a) { return a.get<TopkParam>().ret_typ == kBoth ? 2 : 1; })
      .set_list_outputs([](const Attrs& a) {  // the reference hides the indices behind the values
        const int type = a.get<TopkParam>().ret_typ;
        if (type == kBoth) return std::vector<std::string>{"output0", "output1"};
        return std::vector<std::string>{type == kIndices || type == kMask ? "output" : "output0"};
      })
      .set_infer_shape(TopkShape)
      .set_infer_type(TopkType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const int type = node->attrs->get<TopkParam>().ret_typ;
        if (type == kIndices || type == kMask) return std::vector<NodeEntry>(1);
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_topk", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Topk);
  BackwardRecords<true, TopkParam>("_backward_topk", "_backward_backward_topk");
  return true;
}();

}  // namespace
}  // namespace mxnet
