// diff and ediff1d: differences of neighbours.
#include <algorithm>
#include <type_traits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/loops/loops.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct DiffParam : public Parameter<DiffParam> {
  int n, axis;
  MXNET_DECLARE_PARAM(DiffParam) {
    MXNET_FIELD(n).set_default(1).set_lower_bound(0).describe("How often differences are taken.");
    MXNET_FIELD(axis).set_default(-1).describe("The dimension whose neighbours are subtracted.");
  }
};

struct Ediff1dParam : public Parameter<Ediff1dParam> {
  bool to_begin_arr_given, to_end_arr_given;
  OptionalNumber to_begin_scalar, to_end_scalar;
  MXNET_DECLARE_PARAM(Ediff1dParam) {
    MXNET_FIELD(to_begin_arr_given).set_default(false).describe("Whether an array is put before the differences: the second input.");
    MXNET_FIELD(to_end_arr_given).set_default(false).describe("Whether an array is put behind the differences: the last input.");
    MXNET_FIELD(to_begin_scalar).set_default(OptionalNumber()).describe("A number before the differences.");
    MXNET_FIELD(to_end_scalar).set_default(OptionalNumber()).describe("A number behind the differences.");
  }
};

MXNET_REGISTER_PARAM(DiffParam);
MXNET_REGISTER_PARAM(Ediff1dParam);

// An array (outer, size, inner).
struct Lines {
  int64_t outer, size, inner;
};

// Numbers as they are subtracted: integers wrap around.
template <typename T>
auto Wide(T v) {
  if constexpr (std::is_integral<T>::value && !std::is_same<T, bool>::value)
    return static_cast<std::make_unsigned_t<T>>(v);
  else if constexpr (sizeof(T) == 2)
    return static_cast<float>(v);
  else
    return v;
}

// y[i] = a[i] - b[i] for i < n: the loop of subtraction where there is one for T.
template <typename T>
void Subtract(const T* a, const T* b, int64_t n, T* __restrict y) {
  constexpr int compute = std::is_same<T, float>::value     ? pointwise::kF32
                          : std::is_same<T, double>::value  ? pointwise::kF64
                          : std::is_same<T, int32_t>::value ? pointwise::kI32
                          : std::is_same<T, int64_t>::value ? pointwise::kI64
                                                            : -1;
  if constexpr (compute >= 0) {
    const void* operands[] = {a, b};
    if (n > 0) pointwise::ForwardLoop(pointwise::k_sub, compute)(operands, y, n, 0);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(Wide(a[i]) - Wide(b[i]));
  }
}

// y[i] = x[i - inner] - x[i], of n numbers x between zeros.
template <typename T>
void DifferencesBack(const T* __restrict x, int64_t n, int64_t inner, int64_t begin, int64_t end, T* __restrict y) {
  for (int64_t i = begin; i < std::min(inner, end); ++i) y[i] = static_cast<T>(Wide(T(0)) - Wide(i < n ? x[i] : T(0)));
  const int64_t middle = std::max(begin, inner);
  Subtract(x + middle - inner, x + middle, std::min(n, end) - middle, y + middle);
  for (int64_t i = std::max({begin, n, inner}); i < end; ++i) y[i] = static_cast<T>(Wide(x[i - inner]) - Wide(T(0)));
}

// to (outer, size - 1, inner) = neighbours of from (outer, size, inner) subtracted; `back`: the
// gradient, to (outer, size, inner) of from (outer, size - 1, inner).
void Step(const RunContext& run, const Lines& s, bool back, int dtype, const void* from, void* to) {
  const int64_t results = s.outer * (back ? s.size : s.size - 1) * s.inner;
  if (results <= 0) return;
  if (run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(from).Add(to).Add(s.size).Add(s.inner);
    return rtc::LaunchItems(run, {"operator/indexing/gpu_differences.cuh", back ? "differences_backward" : "differences", {dtype}}, results,
                            &args);
  }
  VisitDType(dtype, "_npi_diff", [&](auto tag) {
    using T = decltype(tag);
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    const int64_t larger = s.size * s.inner, smaller = larger - s.inner;  // of one of the outer
    ParallelFor(results, 0, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end;) {
        const int64_t each = back ? larger : smaller, o = at / each, first = at % each, last = std::min(each, first + end - at);
        if (back)
          DifferencesBack(x + o * smaller, smaller, s.inner, first, last, y + o * larger);
        else
          Subtract(x + o * larger + s.inner + first, x + o * larger + first, last - first, y + o * smaller + first);
        at += last - first;
      }
    });
  });
}

// ---- diff

Lines LinesOf(const Attrs& attrs, const Shape& s) {
  const int axis = CheckedAxis(attrs, attrs.get<DiffParam>().axis, s.ndim());
  return {s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim())};
}

bool DiffShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<DiffParam>();
  Shape to = (*in)[0];
  if (!to.ndim_known()) return false;
  const int axis = CheckedAxis(attrs, p.axis, to.ndim());
  if (to[axis] >= 0) to[axis] = std::max<int64_t>(0, to[axis] - p.n);
  AssignShape(attrs, "the result", &(*out)[0], to);
  return (*in)[0].known();
}

// n steps from an array to another, over the workspace.
void Steps(KernelArgs& a, Lines s, bool back) {
  const int n = a.param<DiffParam>().n;
  const TBlob &in = a.in[0], &out = a.out[0];
  if (n == 0) return CopyThrough(a);
  if (back) s.size -= n - 1;  // the size of the larger array of the first step
  const size_t room = (back ? out : in).Bytes();
  char* spare[2] = {nullptr, nullptr};
  for (int i = 0; i < std::min(n - 1, 2); ++i) spare[i] = static_cast<char*>(a.workspace(std::max<size_t>(room, 1)));
  const void* from = in.dptr;
  for (int i = 0; i < n; ++i) {
    void* to = i == n - 1 ? out.dptr : spare[i % 2];
    Step(a.run, s, back, in.dtype, from, to);
    s.size += back ? 1 : -1;
    from = to;
  }
}

void Diff(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull && a.out[0].Size() > 0) Steps(a, LinesOf(*a.attrs, a.in[0].shape), false);
}

void DiffBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Lines s = LinesOf(*a.attrs, a.out[0].shape);
  if (s.size <= a.param<DiffParam>().n && a.param<DiffParam>().n > 0)
    return ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  Steps(a, s, true);
}

// ---- ediff1d

int Ediff1dInputs(const Attrs& attrs) {
  const auto& p = attrs.get<Ediff1dParam>();
  return 1 + p.to_begin_arr_given + p.to_end_arr_given;
}

std::vector<std::string> Ediff1dNames(const Attrs& attrs) {
  std::vector<std::string> names;
  for (int i = 1; i <= Ediff1dInputs(attrs); ++i) names.push_back("input" + std::to_string(i));
  return names;
}

// Numbers of elements before, of, and behind the differences. `shapes`: of the inputs.
struct Parts {
  int64_t begin, middle, end;
};
Parts PartsOf(const Attrs& attrs, const Shape* shapes) {
  const auto& p = attrs.get<Ediff1dParam>();
  Parts parts = {p.to_begin_scalar.has_value(), std::max<int64_t>(0, shapes[0].Size() - 1), p.to_end_scalar.has_value()};
  if (p.to_begin_arr_given) parts.begin = shapes[1].Size();
  if (p.to_end_arr_given) parts.end = shapes[Ediff1dInputs(attrs) - 1].Size();
  return parts;
}

bool Ediff1dShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (const Shape& s : *in)
    if (!s.known()) return false;
  const Parts p = PartsOf(attrs, in->data());
  AssignShape(attrs, "the result", &(*out)[0], Shape({p.begin + p.middle + p.end}));
  return true;
}

TBlob Part(const TBlob& whole, int64_t from, int64_t count) {
  TBlob part = whole;
  part.dptr = whole.data<char>() + from * static_cast<int64_t>(DTypeSize(whole.dtype));
  part.shape = Shape({count});
  return part;
}

std::vector<Shape> ShapesOf(const TBlob* blobs, int n) {
  std::vector<Shape> shapes;
  for (int i = 0; i < n; ++i) shapes.push_back(blobs[i].shape);
  return shapes;
}

void Ediff1d(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<Ediff1dParam>();
  const Parts parts = PartsOf(*a.attrs, ShapesOf(&a.in[0], static_cast<int>(a.in.size())).data());
  auto put = [&](bool given, const TBlob& array, const OptionalNumber& number, int64_t from, int64_t count) {
    if (count == 0) return;
    const TBlob part = Part(a.out[0], from, count);
    if (given)
      CopyBytes(a.run, array.dptr, part.dptr, static_cast<int64_t>(part.Bytes()));
    else
      FillValue(a.run, part, number.value());
  };
  put(p.to_begin_arr_given, a.in[p.to_begin_arr_given ? 1 : 0], p.to_begin_scalar, 0, parts.begin);
  put(p.to_end_arr_given, a.in[static_cast<int>(a.in.size()) - 1], p.to_end_scalar, parts.begin + parts.middle, parts.end);
  if (parts.middle > 0)
    Step(a.run, {1, parts.middle + 1, 1}, false, a.in[0].dtype, a.in[0].dptr, Part(a.out[0], parts.begin, parts.middle).dptr);
}

// [ograd, the inputs] -> their gradients
void Ediff1dBack(KernelArgs& a) {
  const auto& p = a.param<Ediff1dParam>();
  const Parts parts = PartsOf(*a.attrs, ShapesOf(&a.in[1], static_cast<int>(a.in.size()) - 1).data());
  auto give = [&](int output, int64_t from, int64_t count) {
    if (a.req[output] != OpReq::kNull && count > 0)
      CopyBytes(a.run, Part(a.in[0], from, count).dptr, a.out[output].dptr, static_cast<int64_t>(a.out[output].Bytes()));
  };
  if (p.to_begin_arr_given) give(1, 0, parts.begin);
  if (p.to_end_arr_given) give(static_cast<int>(a.out.size()) - 1, parts.begin + parts.middle, parts.end);
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  if (parts.middle == 0) return ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  Step(a.run, {1, parts.middle + 1, 1}, true, a.in[0].dtype, Part(a.in[0], parts.begin, parts.middle).dptr, a.out[0].dptr);
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_diff")
      .describe("Differences of neighbours along a dimension, taken n times.")
      .set_param<DiffParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(DiffShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_npi_diff", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Diff);
  Op::Register("_backward_npi_diff")
      .describe("Gradient of _npi_diff.")
      .set_param<DiffParam>()
      .set_inputs({"ograd", "a"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_npi_diff", *node, {ograds[0]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(DiffBack);
  Op::Register("_npi_ediff1d")
      .describe("Differences of neighbours of an array taken as a vector, with arrays or numbers before and behind them.")
      .set_param<Ediff1dParam>()
      .set_inputs({"input1", "input2", "input3"}, Ediff1dInputs)
      .set_list_inputs(Ediff1dNames)
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(Ediff1dShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> inputs = {ograds[0]};
        inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
        const NodePtr back = MakeNodeLike("_npi_backward_ediff1d", *node, std::move(inputs));
        std::vector<NodeEntry> grads;
        for (int i = 0; i < node->num_inputs(); ++i) grads.push_back(NodeEntry{back, static_cast<uint32_t>(i), 0});
        return grads;
      })
      .set_kernel(Ediff1d);
  Op::Register("_npi_backward_ediff1d")
      .describe("Gradients of _npi_ediff1d.")
      .set_param<Ediff1dParam>()
      .set_inputs({"ograd", "input1", "input2", "input3"}, [](const Attrs& a) { return 1 + Ediff1dInputs(a); })
      .set_dtypes(dtypes::kAll)
      .set_outputs({"input1", "input2", "input3"}, Ediff1dInputs)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& p = node->attrs->get<Ediff1dParam>();
        AttrDict dict = node->attrs->dict;  // what is above lies alike, or 0 for a number
        if (p.to_begin_scalar.has_value()) dict["to_begin_scalar"] = "0";
        if (p.to_end_scalar.has_value()) dict["to_end_scalar"] = "0";
        std::vector<NodeEntry> grads(node->inputs.size());
        grads[0] = MakeOp("_npi_ediff1d", ograds, std::move(dict));
        return grads;
      })
      .set_kernel(Ediff1dBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
