// What depends on which elements are not zero, or on the values of a shape: nonzero, getnnz,
// constraint_check and dynamic_reshape.
#include "operator/indexing/counts.h"

#include <algorithm>

#include "base/threads/omp.h"
#include "operator/indexing/host_values.h"
#include "operator/indexing/index.h"
#include "operator/indexing/select.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/dtypes.h"
#include "operator/runtime/array_call.h"
#include "rtc/loop.h"

namespace mxnet {

MXNET_REGISTER_PARAM(CountParam);

namespace {

constexpr int64_t kBlock = 4096;  // elements whose flags are made at once

// ---- nonzero

// A stretch of elements, and how many of them are not zero.
struct Stretch {
  int64_t begin, end, chosen;
};

// The places of the chosen elements of a stretch, kDims or ndim numbers each. What is not chosen is
// written, too, and written over: one branch less.
template <int kDims>
void WritePlaces(const TBlob& data, const Stretch& stretch, int ndim, int64_t* to) {
  if (stretch.chosen == 0) return;  // and with a dimension of no elements there are no places
  uint8_t flags[kBlock];
  const int dims = kDims > 0 ? kDims : ndim;
  const Shape& s = data.shape;
  const int64_t inner = s.ndim() > 0 ? s[s.ndim() - 1] : 1;
  std::vector<int64_t> place(static_cast<size_t>(dims), 0);
  int64_t row = inner > 0 ? stretch.begin / inner : 0;
  for (int64_t d = dims - 2, rest = row; d >= 0; rest /= s[static_cast<int>(d)], --d)
    place[static_cast<size_t>(d)] = rest % s[static_cast<int>(d)];
  int64_t n = 0;
  for (int64_t first = inner > 0 ? stretch.begin % inner : 0; n < stretch.chosen; first = 0, ++row) {
    const int64_t last = std::min(inner, stretch.end - row * inner);
    for (int64_t c = first; c < last && n < stretch.chosen; c += kBlock) {
      const int64_t m = std::min(kBlock, last - c);
      NonzeroFlags(data, row * inner + c, m, flags);
      for (int64_t i = 0; i < m && n < stretch.chosen; ++i) {
        for (int d = 0; d + 1 < dims; ++d) to[n * dims + d] = place[static_cast<size_t>(d)];
        to[n * dims + dims - 1] = c + i;
        n += flags[i];
      }
    }
    for (int d = dims - 2; d >= 0 && ++place[static_cast<size_t>(d)] == s[d]; --d) place[static_cast<size_t>(d)] = 0;
  }
}

int64_t CountNonzero(const TBlob& data, int64_t begin, int64_t end) {
  uint8_t flags[kBlock];
  int64_t count = 0;
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t m = std::min(kBlock, end - i);
    NonzeroFlags(data, i, m, flags);
    int32_t here = 0;
    for (int64_t j = 0; j < m; ++j) here += flags[j];
    count += here;
  }
  return count;
}

// An array in stretches, one for each thread.
std::vector<Stretch> Stretches(const TBlob& data) {
  const int64_t size = data.Size(), threads = OmpThreads(size);
  std::vector<Stretch> stretches(static_cast<size_t>(threads));
  ParallelForThreads(static_cast<int>(threads), threads, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      Stretch& one = stretches[static_cast<size_t>(t)];
      one.begin = size * t / threads;
      one.end = size * (t + 1) / threads;
      one.chosen = CountNonzero(data, one.begin, one.end);
    }
  });
  return stretches;
}

void WritePlaces(const TBlob& data, const std::vector<Stretch>& stretches, int ndim, int64_t* places) {
  const int64_t threads = static_cast<int64_t>(stretches.size());
  std::vector<int64_t> before(stretches.size() + 1, 0);
  for (size_t t = 0; t < stretches.size(); ++t) before[t + 1] = before[t] + stretches[t].chosen;
  const auto write = ndim == 1 ? WritePlaces<1> : ndim == 2 ? WritePlaces<2> : WritePlaces<0>;
  ParallelForThreads(static_cast<int>(threads), threads, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      write(data, stretches[static_cast<size_t>(t)], ndim, places + before[static_cast<size_t>(t)] * ndim);
  });
}

void Nonzero(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const int ndim = std::max(in[0]->shape().ndim(), 1);  // a number counts as an array of one
  HostValues values(*in[0], HostValues::kHeld);
  const std::vector<Stretch> stretches = Stretches(values.blob());
  int64_t chosen = 0;
  for (const Stretch& one : stretches) chosen += one.chosen;
  const Shape to({chosen, ndim});
  const bool fresh = out[0]->is_none() && !in[0]->ctx().is_gpu();
  if (out[0]->is_none()) out[0]->Init(to, in[0]->ctx(), kInt64);
  MXNET_CHECK_KIND(out[0]->shape() == to && out[0]->dtype() == kInt64, Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << to << " of int64";
  std::vector<int64_t> apart(fresh ? 0 : static_cast<size_t>(to.Size()));
  int64_t* places = fresh ? out[0]->data().data<int64_t>() : apart.data();
  WritePlaces(values.blob(), stretches, ndim, places);
  values.Release();
  if (!fresh) out[0]->CopyBytesFrom(places, apart.size() * sizeof(int64_t));
}

// ---- dynamic_reshape

void DynamicReshape(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &data = *in[0], &shape = *in[1];
  std::vector<int64_t> codes(static_cast<size_t>(shape.shape().Size()));
  ConvertElements(HostValues(shape).at(), shape.dtype(), codes.data(), kInt64, shape.shape().Size());
  const Shape to = ReshapedByCodes(attrs, data.shape(), codes, false);
  if (out[0]->is_none()) *out[0] = NDArray(to, data.ctx(), data.dtype(), true);
  MXNET_CHECK_KIND(out[0]->shape() == to && out[0]->dtype() == data.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << to << " of " << DTypeName(data.dtype());
  RunOnArrays(graph_ops::Copy(), {data.Detach().Reshape(to)}, {OpReq::kWrite}, {*out[0]}, false);
}

// ---- counts

struct ConstraintParam : public Parameter<ConstraintParam> {
  std::string msg;
  MXNET_DECLARE_PARAM(ConstraintParam) { MXNET_FIELD(msg).set_default("Constraint violated.").describe("What the error says."); }
};
MXNET_REGISTER_PARAM(ConstraintParam);

/* For each element of an array how many before it are not zero, and behind the last one their
 * number; on the host. */
std::vector<int64_t> Counts(KernelArgs& a, const TBlob& data) {
  const int64_t n = data.Size();
  std::vector<int64_t> before(static_cast<size_t>(n) + 1, 0);
  if (n == 0) return before;
  if (a.run.ctx.is_gpu()) {
    rtc::ReadBack(a.run, CountChosenOnDevice(a, data), before.data(), before.size() * sizeof(int64_t));
    return before;
  }
  std::vector<uint8_t> flags(static_cast<size_t>(n));
  NonzeroFlags(data, 0, n, flags.data());
  for (size_t i = 0; i < flags.size(); ++i) before[i + 1] = before[i] + flags[i];
  return before;
}

void WriteNumbers(const RunContext& run, const std::vector<int64_t>& numbers, const TBlob& out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    TBlob one = out;
    one.shape = Shape({1});
    one.dptr = out.data<char>() + i * DTypeSize(out.dtype);
    FillValue(run, one, static_cast<double>(numbers[i]));
  }
}

bool CountShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 2, Value) << "[" << attrs.op->name << "] data has shape " << data << "; accepted: a matrix";
  const auto& axis = attrs.get<CountParam>().axis;
  MXNET_CHECK_KIND(!axis.has_value() || axis.value() == 0 || axis.value() == 1, Value)
      << "[" << attrs.op->name << "] axis is " << axis.value() << "; accepted: 0, 1, None";
  if (!data.known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], Shape({axis.has_value() ? data[1 - axis.value()] : 1}));
  return true;
}

void Count(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  const auto& axis = a.param<CountParam>().axis;
  const std::vector<int64_t> before = Counts(a, a.in[0]);
  std::vector<int64_t> numbers(static_cast<size_t>(a.out[0].Size()), 0);
  for (int64_t i = 0; i < s.Size(); ++i)
    numbers[axis.has_value() ? static_cast<size_t>(axis.value() == 1 ? i / s[1] : i % s[1]) : 0] +=
        before[static_cast<size_t>(i) + 1] - before[static_cast<size_t>(i)];
  if (a.run.ctx.is_gpu()) return WriteNumbers(a.run, numbers, a.out[0]);
  std::copy(numbers.begin(), numbers.end(), a.out[0].data<int64_t>());
}

void Constraint(KernelArgs& a) {
  const int64_t n = a.in[0].Size();
  MXNET_CHECK_KIND(Counts(a, a.in[0])[static_cast<size_t>(n)] == n, Value)
      << "[" << a.attrs->op->name << "] " << a.param<ConstraintParam>().msg;
  if (a.req[0] != OpReq::kNull) FillValue(a.run, a.out[0], 1);
}

InferTypeFn GivesType(int dtype) {
  return [dtype](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    AssignType(attrs, "the result", &(*out)[0], dtype);
    return (*in)[0] != kDTypeUnknown;
  };
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npx_nonzero")
      .alias("_npi_nonzero")
      .describe("The indices of the elements that are not zero (NaN is not): int64 of shape (number of them, dimensions).")
      .set_inputs({"x"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        if (!(*in)[0].ndim_known()) return false;
        AssignShape(attrs, "the result", &(*out)[0], Shape({Shape::kUnknownDim, std::max((*in)[0].ndim(), 1)}));
        return (*in)[0].known() && (*out)[0].known();
      })
      .set_infer_type(GivesType(kInt64))
      .set_zero_gradient()
      .set_array_fn(Nonzero);
  Op::Register("_contrib_dynamic_reshape")
      .alias("_npx_dynamic_reshape")
      .describe(
          "The elements of data in the shape that is the contents of another array; the codes 0, -1, -2, -3 and -4 are those of Reshape.")
      .set_inputs({"data", "shape"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(
          [](const Attrs&, ShapeVector* in, ShapeVector* out) { return (*in)[0].known() && (*in)[1].known() && (*out)[0].known(); })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("reshape_like", {ograds[0], node->inputs[0]}), NodeEntry{}};
      })
      .set_array_fn(DynamicReshape);
  Op::Register("_contrib_getnnz")
      .describe("The number of elements of a matrix that are not zero, as int64: in all, by row, or by column.")
      .set_param<CountParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(CountShape)
      .set_infer_type(GivesType(kInt64))
      .set_zero_gradient()
      .set_kernel(Count);
  Op::Register("_npx_constraint_check")
      .describe("True if all elements of a boolean array are; else an error, a ValueError in Python, which says msg.")
      .set_param<ConstraintParam>()
      .set_inputs({"input"})
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "the result", &(*out)[0], Shape(std::vector<int64_t>()));
        return (*in)[0].known();
      })
      .set_infer_type(GivesType(kBool))
      .set_dtypes({kBool})
      .set_zero_gradient()
      .set_kernel(Constraint);
  return true;
}();

}  // namespace
}  // namespace mxnet
