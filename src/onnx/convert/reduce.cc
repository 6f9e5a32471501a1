/*
 * Reductions. Axes are an attribute in older opsets and an input in newer ones; none means
 * all, unless noop_with_empty_axes says otherwise.
 */
#include <cmath>
#include <limits>

#include "onnx/convert/operands.h"
#include "onnx/convert/pointwise.h"

namespace mxnet {
namespace onnx {

namespace {

struct Reduction {
  std::vector<int64_t> axes;
  bool keepdims = true;
};

Reduction ReductionOf(const Call& c) {
  Reduction r;
  const int rank = c.in(0).ndim();
  std::vector<int64_t> axes = c.has(1) ? c.Ints(1) : c.Attr("axes", std::vector<int64_t>());
  const bool none = c.Attr("noop_with_empty_axes", static_cast<int64_t>(0)) != 0;
  r.keepdims = c.Attr("keepdims", static_cast<int64_t>(1)) != 0;
  if (axes.empty() && !none)
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  r.axes = c.Axes(std::move(axes), rank);
  return r;
}

AttrDict AttrsOf(const Reduction& r, bool keepdims) { return {{"axis", Text(r.axes)}, {"keepdims", Text(keepdims)}}; }

Shape ReducedShape(const Shape& from, const Reduction& r) {
  std::vector<int64_t> dims;
  for (int i = 0; i < from.ndim(); ++i) {
    bool reduced = false;
    for (int64_t axis : r.axes) reduced |= axis == i;
    if (!reduced)
      dims.push_back(from[i]);
    else if (r.keepdims)
      dims.push_back(1);
  }
  return Shape(dims);
}

Value Reduced(const Call& c, const char* op, const Value& x, const Reduction& r) {
  if (r.axes.empty()) return x;
  AttrDict attrs = AttrsOf(r, r.keepdims);
  // float16 sums in float32 anyway; integers wrap around in their own type
  if (std::string(op) != "_npi_max" && std::string(op) != "_npi_min" && x.dtype() != kBool) attrs["dtype"] = DTypeName(x.dtype());
  return c.Op(op, {x}, attrs);
}

void Sum(Call& c) {
  const Reduction r = ReductionOf(c);
  c.Out(Reduced(c, c.argument, c.in(0), r));
}

void Mean(Call& c) {
  const Reduction r = ReductionOf(c);
  const Value& x = c.in(0);
  // not defined, and NaN in NumPy: an empty bag of PyTorch's EmbeddingBag is 0, as in onnxruntime
  if (x.size() == 0 && !r.axes.empty()) return c.Out(c.Filled(ReducedShape(x.shape(), r), x.dtype(), 0));
  if (IsFloating(x.dtype())) return c.Out(Reduced(c, "_npi_mean", x, r));
  c.Out(c.Cast(Reduced(c, "_npi_mean", c.Cast(x, kFloat64), r), x.dtype()));
}

/* What the largest element of nothing is; the smallest with `low` false. */
double EndOf(int dtype, bool low) {
  switch (dtype) {
    case kBool: return low ? 0 : 1;
    case kInt8: return low ? -128 : 127;
    case kUint8: return low ? 0 : 255;
    case kInt16: return low ? -32768 : 32767;
    case kUint16: return low ? 0 : 65535;
    case kInt32: return low ? -2147483648.0 : 2147483647.0;
    case kUint32: return low ? 0 : 4294967295.0;
    default: break;
  }
  return low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

Value Nothing(const Call& c, const Shape& shape, int dtype, bool low) {
  if (dtype == kInt64) {
    const int64_t end = low ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    return c.BroadcastTo(c.Tensor(Shape(0), dtype, &end), shape);
  }
  if (dtype == kUint64) {
    const uint64_t end = low ? 0 : std::numeric_limits<uint64_t>::max();
    return c.BroadcastTo(c.Tensor(Shape(0), dtype, &end), shape);
  }
  return c.Filled(shape, dtype, EndOf(dtype, low));
}

void Extreme(Call& c) {
  const Reduction r = ReductionOf(c);
  const Value& x = c.in(0);
  if (x.size() == 0 && !r.axes.empty())
    return c.Out(Nothing(c, ReducedShape(x.shape(), r), x.dtype(), std::string(c.argument) == "_npi_max"));
  c.Out(Reduced(c, c.argument, x, r));
}

void L1(Call& c) {
  const Reduction r = ReductionOf(c);
  c.Out(Reduced(c, "_npi_sum", c.Op("_npi_absolute", {c.in(0)}), r));
}

void L2(Call& c) {
  const Reduction r = ReductionOf(c);
  const Value& x = c.in(0);
  if (IsFloating(x.dtype())) return c.Out(Root(c, Reduced(c, "_npi_sum", c.Op("_npi_square", {x}), r)));
  const Value wide = c.Cast(x, kFloat64);
  c.Out(c.Cast(c.Op("_npi_sqrt", {Reduced(c, "_npi_sum", c.Op("_npi_square", {wide}), r)}), x.dtype()));
}

void SumSquare(Call& c) {
  const Reduction r = ReductionOf(c);
  c.Out(Reduced(c, "_npi_sum", c.Op("_npi_square", {c.in(0)}), r));
}

void LogSum(Call& c) {
  const Reduction r = ReductionOf(c);
  const Value& x = c.in(0);
  const Value wide = IsFloating(x.dtype()) ? x : c.Cast(x, kFloat64);
  c.Out(c.Cast(c.Op("_npi_log", {Reduced(c, "_npi_sum", wide, r)}), x.dtype()));
}

void LogSumExp(Call& c) {
  Reduction r = ReductionOf(c);
  const Value& x = c.in(0);
  const Value wide = IsFloating(x.dtype()) ? x : c.Cast(x, kFloat64);
  if (r.axes.empty()) return c.Out(x);
  const Shape shape = ReducedShape(x.shape(), r);
  if (x.size() == 0) return c.Out(c.Filled(shape, x.dtype(), -std::numeric_limits<double>::infinity()));
  // the largest is taken off, so that nothing overflows; where it is infinite 0 is
  const Value largest = c.Op("_npi_max", {wide}, AttrsOf(r, true));
  const Value shift = c.Op("_npi_where_rscalar", {c.Op("_npi_isfinite", {largest}), largest}, {{"scalar", "0"}});
  r.keepdims = true;
  const Value sum = Reduced(c, "_npi_sum", c.Op("_npi_exp", {c.Op("_npi_subtract", {wide, shift})}), r);
  c.Out(c.Cast(c.Reshape(c.Op("_npi_add", {c.Op("_npi_log", {sum}), shift}), shape), x.dtype()));
}

void Arg(Call& c) {
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  const bool keepdims = c.Attr("keepdims", static_cast<int64_t>(1)) != 0;
  const bool last = c.Attr("select_last_index", static_cast<int64_t>(0)) != 0;
  if (x.dim(axis) == 0) c.Refuse("axis " + Text(axis) + " of " + x.shape().str() + " is empty; accepted: at least one entry");
  const Value from = last ? c.Op("_npi_flip", {x}, {{"axis", Text(std::vector<int64_t>{axis})}}) : x;
  const Value index = c.Op(c.argument, {from}, {{"axis", Text(axis)}, {"keepdims", Text(keepdims)}});
  c.Out(last ? WithNumber(c, "_npi_rsubtract_scalar", index, static_cast<double>(x.dim(axis) - 1)) : index);
}

}  // namespace

const Rules& ReduceRules() {
  static const Rules rules = {
      {"", "ReduceSum", 1, kNewest, Sum, "_npi_sum"},     {"", "ReduceProd", 1, kNewest, Sum, "_npi_prod"},
      {"", "ReduceMean", 1, kNewest, Mean, nullptr},      {"", "ReduceMax", 1, kNewest, Extreme, "_npi_max"},
      {"", "ReduceMin", 1, kNewest, Extreme, "_npi_min"}, {"", "ReduceL1", 1, kNewest, L1, nullptr},
      {"", "ReduceL2", 1, kNewest, L2, nullptr},          {"", "ReduceSumSquare", 1, kNewest, SumSquare, nullptr},
      {"", "ReduceLogSum", 1, kNewest, LogSum, nullptr},  {"", "ReduceLogSumExp", 1, kNewest, LogSumExp, nullptr},
      {"", "ArgMax", 1, kNewest, Arg, "_npi_argmax"},     {"", "ArgMin", 1, kNewest, Arg, "_npi_argmin"},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
