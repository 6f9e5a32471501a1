// Along one axis: argmax, argmin, argmax_channel and cumsum.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/half.h"
#include "base/threads/omp.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/numpy_types.h"
#include "operator/record/param.h"
#include "operator/reduce/gpu_reduce.h"
#include "operator/reduce/gpu_scan.h"
#include "operator/reduce/records.h"
#include "operator/reduce/reduce.h"
#include "operator/reduce/scan_kernels.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace reduce {

struct ArgParam : public Parameter<ArgParam> {
  std::optional<int> axis;
  bool keepdims;
  MXNET_DECLARE_PARAM(ArgParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>()).describe("Axis to search; None: the flattened array.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether the axis stays with size 1.");
  }
};
struct CumsumParam : public Parameter<CumsumParam> {
  std::optional<int> axis;
  std::optional<int> dtype;
  MXNET_DECLARE_PARAM(CumsumParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>()).describe("Axis to sum along; None: the flattened array.");
    MXNET_DTYPE_FIELD(dtype).set_default(std::optional<int>()).describe("Of the result; None: that of the input, int64 for bool.");
  }
};
MXNET_REGISTER_PARAM(ArgParam);
MXNET_REGISTER_PARAM(CumsumParam);

namespace {

// Which dimension an axis means. An array without dimensions counts as one of shape (1,), as in
// NumPy.
int Dimension(const std::string& op, int axis, const Shape& s) {
  const int ndim = std::max(s.ndim(), 1);
  if (axis >= 0 && axis < ndim) return axis;
  return NormalizeAxes(op, Shape{axis}, ndim)[0];
}

// The array as outer x length x inner around the axis.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
AxisView ViewOf(const Shape& s, const std::optional<int>& axis, const std::string& op) {
  AxisView v;
  if (!axis.has_value()) {
    v.length = s.Size();
    return v;
  }
  const int d = Dimension(op, axis.value(), s);
  if (s.ndim() == 0) return v;
  v.outer = s.Prod(0, d);
  v.length = s[d];
  v.inner = s.Prod(d + 1, s.ndim());
  return v;
}

// ---- argmax, argmin. The first of equals wins; the first NaN wins over everything.
template <typename T>
bool Better(T x, T best, bool max) {
  return (max ? x > best : x < best) || (x != x && best == best);
}

constexpr int64_t kBlock = 256;  // columns searched side by side

// `load` brings n elements from an element offset as T
template <typename T, typename Load>
void Search(const AxisView& v, bool max, Load load, int64_t begin, int64_t end, int64_t* result) {
  T row[kBlock], best[kBlock];
  int64_t at[kBlock];
  for (int64_t o = begin; o < end; ++o)
    for (int64_t c = 0; c < v.inner; c += kBlock) {
      const int64_t n = std::min(kBlock, v.inner - c);
      load(o * v.length * v.inner + c, n, best);
      std::fill_n(at, n, 0);
      for (int64_t i = 1; i < v.length; ++i) {
        load((o * v.length + i) * v.inner + c, n, row);
        for (int64_t j = 0; j < n; ++j) {  // choices, not branches
          const bool better = Better(row[j], best[j], max);
          best[j] = better ? row[j] : best[j];
          at[j] = better ? i : at[j];
        }
      }
      std::copy(at, at + n, result + o * v.inner + c);
    }
}

/* Rows that fill no vector, as they lie. */
template <typename T, bool kMax>
void SearchShortRows(const T* x, int64_t length, int64_t begin, int64_t end, int64_t* result) {
  for (int64_t o = begin; o < end; ++o) {
    const T* row = x + o * length;
    int64_t at = 0;
    for (int64_t i = 1; i < length; ++i) at = Better(row[i], row[at], kMax) ? i : at;
    result[o] = at;
  }
}

template <typename T>
void SearchAll(const TBlob& x, int compute, const AxisView& v, bool max, int64_t* result) {
  constexpr int64_t kShort = 16;
  const bool native = x.dtype == pointwise::ComputeDType(compute);
  if (native && v.inner == 1 && v.length < kShort)
    return ParallelForThreads(OmpThreads(x.Size()), v.outer, [&](int64_t begin, int64_t end) {
      (max ? SearchShortRows<T, true> : SearchShortRows<T, false>)(x.data<T>(), v.length, begin, end, result);
    });
  const pointwise::ConvertFn convert = pointwise::LoadFn(x.dtype, compute);
  const size_t size = DTypeSize(x.dtype);
  auto load = [&](int64_t first, int64_t n, T* to) { convert(static_cast<const char*>(x.dptr) + first * size, to, n); };
  ParallelForThreads(OmpThreads(x.Size()), v.outer, [&](int64_t begin, int64_t end) {
    if (v.inner > 1) return Search<T>(v, max, load, begin, end, result);
    constexpr int64_t kPart = 4096;  // elements that are still in the cache when the largest of them is searched
    std::vector<T> row(native ? 0 : kPart);
    for (int64_t o = begin; o < end; ++o) {  // along memory: parts of the axis itself
      ExtremeSoFar so_far;
      for (int64_t i = 0; i < v.length; i += kPart) {
        const int64_t n = std::min(kPart, v.length - i);
        if (!native) load(o * v.length + i, n, row.data());
        MXNET_CPU_CALL(FindExtreme)(compute, max, native ? x.data<T>() + o * v.length + i : row.data(), i, n, &so_far);
      }
      result[o] = so_far.at;
    }
  });
}

void ArgKernel(KernelArgs& a, const std::optional<int>& axis, bool max) {
  const TBlob &x = a.in[0], &out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  const AxisView v = ViewOf(x.shape, axis, a.attrs->op->name);
  if (a.run.ctx.is_gpu()) return ArgReduceOnDevice(a.run, a.workspace, x, v.outer, v.length, v.inner, max, out, a.req[0]);
  const bool direct = out.dtype == kInt64 && a.req[0] != OpReq::kAdd;
  int64_t* result = direct ? out.data<int64_t>() : static_cast<int64_t*>(a.workspace(out.Size() * sizeof(int64_t)));
  const int compute = pointwise::ComputeFor(x.dtype, true);
  switch (compute) {
    case pointwise::kF32: SearchAll<float>(x, compute, v, max, result); break;
    case pointwise::kF64: SearchAll<double>(x, compute, v, max, result); break;
    case pointwise::kI32: SearchAll<int32_t>(x, compute, v, max, result); break;
    case pointwise::kU64: SearchAll<uint64_t>(x, compute, v, max, result); break;
    default: SearchAll<int64_t>(x, compute, v, max, result);
  }
  if (direct) return;
  TBlob indices = out;
  indices.dptr = result;
  indices.dtype = kInt64;
  pointwise::ExecuteCast(a.run, indices, out, a.req[0]);
}

bool ArgShape(const Attrs& attrs, const std::optional<int>& axis, bool keepdims, bool legacy, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.known()) return false;
  std::vector<int64_t> dims;
  const int d = axis.has_value() ? Dimension(attrs.op->name, axis.value(), s) : -1;
  int64_t results = 1;
  for (int i = 0; i < s.ndim(); ++i) {
    const bool searched = d < 0 || i == d;
    if (!searched) results *= s[i];
    if (!searched)
      dims.push_back(s[i]);
    else if (keepdims)
      dims.push_back(1);
  }
  if (dims.empty() && legacy) dims.push_back(1);
  const int64_t length = d < 0 || s.ndim() == 0 ? s.Size() : s[d];
  MXNET_CHECK_KIND(length != 0 || results == 0, Value)
      << "[" << attrs.op->name << "] an array of shape " << s << " has nothing to search; the axis must not be empty";
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return true;
}

bool IndexType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

const bool kRegistered = [] {
  const struct {
    const char* name;
    bool max, legacy;
  } entries[] = {{"argmax", true, true}, {"argmin", false, true}, {"_npi_argmax", true, false}, {"_npi_argmin", false, false}};
  for (const auto& e : entries) {
    const bool max = e.max, legacy = e.legacy;
    Op& op = Op::Register(e.name);
    op.describe(std::string("Index of the ") + (max ? "largest" : "smallest") +
                " element along an axis; the first of equals, NaN counting as the extreme." +
                (legacy ? " The index has the dtype of the data." : ""));
    op.set_param<ArgParam>().set_inputs({"data"}).set_dtypes(legacy ? dtypes::kClassicNumbers : dtypes::kAll);
    op.set_supports_add().set_zero_gradient();
    if (legacy) op.set_trait(ParametersInFiles{{}, {{"axis", "-1", 905}}});  // all axes, until 0.9.5
    op.set_infer_shape([legacy](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const ArgParam& p = attrs.get<ArgParam>();
      return ArgShape(attrs, p.axis, p.keepdims, legacy, in, out);
    });
    op.set_infer_type(legacy ? SameType : IndexType);
    op.set_kernel([max](KernelArgs& a) { ArgKernel(a, a.param<ArgParam>().axis, max); });
  }
  return true;
}();

MXNET_REGISTER_OP(argmax_channel)
    .describe("argmax along axis 1; the index has the dtype of the data.")
    .set_inputs({"data"})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_supports_add()
    .set_zero_gradient()
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      MXNET_CHECK_KIND(!(*in)[0].ndim_known() || (*in)[0].ndim() >= 2, Value)
          << "[argmax_channel] data has shape " << (*in)[0] << "; at least 2 dimensions are needed";
      return ArgShape(attrs, std::optional<int>(1), false, true, in, out);
    })
    .set_kernel([](KernelArgs& a) { ArgKernel(a, std::optional<int>(1), true); });

// ---- cumsum
void RunningSum(float* row, int64_t n, bool reverse, double* sum) { MXNET_CPU_CALL(RunningSumFloat)(row, n, reverse, sum); }
template <typename T, typename Sum>
void RunningSum(T* row, int64_t n, bool reverse, Sum* sum) {
  for (int64_t j = 0; j < n; ++j) {
    T& x = row[reverse ? n - 1 - j : j];
    *sum += x;
    x = static_cast<T>(*sum);
  }
}
template <typename T, typename Sum>
void Cumsum(const TBlob& in, const TBlob& out, int compute, const AxisView& v, bool reverse) {
  const pointwise::ConvertFn load = pointwise::LoadFn(in.dtype, compute), store = pointwise::StoreFn(out.dtype, compute);
  const size_t in_size = DTypeSize(in.dtype), out_size = DTypeSize(out.dtype);
  ParallelForThreads(OmpThreads(in.Size()), v.outer, [&](int64_t begin, int64_t end) {
    T row[kBlock];
    Sum sum[kBlock];
    for (int64_t o = begin; o < end; ++o) {
      for (int64_t c = 0; c < v.inner; c += kBlock) {
        const int64_t n = std::min(kBlock, v.inner - c);
        std::fill_n(sum, n, Sum(0));
        if (v.inner == 1) {  // along memory: blocks of the axis itself
          for (int64_t done = 0; done < v.length; done += kBlock) {
            const int64_t m = std::min(kBlock, v.length - done);
            const int64_t first = o * v.length + (reverse ? v.length - done - m : done);
            load(static_cast<const char*>(in.dptr) + first * in_size, row, m);
            RunningSum(row, m, reverse, &sum[0]);
            store(row, static_cast<char*>(out.dptr) + first * out_size, m);
          }
          continue;
        }
        for (int64_t i = 0; i < v.length; ++i) {
          const int64_t first = (o * v.length + (reverse ? v.length - 1 - i : i)) * v.inner + c;
          load(static_cast<const char*>(in.dptr) + first * in_size, row, n);
          for (int64_t j = 0; j < n; ++j) {
            sum[j] += row[j];
            row[j] = static_cast<T>(sum[j]);
          }
          store(row, static_cast<char*>(out.dptr) + first * out_size, n);
        }
      }
    }
  });
}

/* float16: every number and every sum is rounded, as NumPy and 1.9.1 do. */
void CumsumOfHalves(const TBlob& in, const TBlob& out, const AxisView& v, bool reverse) {
  const pointwise::ConvertFn load = pointwise::LoadFn(in.dtype, pointwise::kF32), store = pointwise::StoreFn(kFloat16, pointwise::kF32),
                             load_half = pointwise::LoadFn(kFloat16, pointwise::kF32);
  const size_t size = DTypeSize(in.dtype);
  auto read = [&](int64_t at, int64_t n, float* to) {
    load(static_cast<const char*>(in.dptr) + static_cast<size_t>(at) * size, to, n);
    if (in.dtype == kFloat16) return;
    float16 rounded[kHalfColumns];
    store(to, rounded, n);
    load_half(rounded, to, n);
  };
  auto write = [&](const float* from, int64_t at, int64_t n) { store(from, out.data<float16>() + at, n); };
  if (v.inner > 1) {
    const int64_t blocks = (v.inner + kHalfColumns - 1) / kHalfColumns;
    return ParallelForThreads(OmpThreads(in.Size()), v.outer * blocks, [&](int64_t begin, int64_t end) {
      float x[kHalfColumns], y[kHalfColumns], sums[kHalfColumns];
      for (int64_t k = begin; k < end; ++k) {
        const int64_t c = k % blocks * kHalfColumns, n = std::min(kHalfColumns, v.inner - c);
        std::fill_n(sums, n, 0.0f);
        for (int64_t i = 0; i < v.length; ++i) {
          const int64_t at = (k / blocks * v.length + (reverse ? v.length - 1 - i : i)) * v.inner + c;
          read(at, n, x);
          MXNET_CPU_CALL(RunningSumHalves)(x, y, n, sums);
          write(y, at, n);
        }
      }
    });
  }
  const int threads = OmpThreads(in.Size());  // each takes as many rows at a time as there are for it
  const int64_t rows = std::min(kHalfRows, (v.outer + threads - 1) / threads), groups = (v.outer + rows - 1) / rows;
  ParallelForThreads(threads, groups, [&](int64_t begin, int64_t end) {
    float x[kHalfRows * kHalfColumns] = {}, y[kHalfRows * kHalfColumns];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t m = std::min(rows, v.outer - k * rows);
      float sums[kHalfRows] = {};
      std::fill_n(x + m * kHalfColumns, (kHalfRows - m) * kHalfColumns, 0.0f);
      for (int64_t done = 0; done < v.length; done += kHalfColumns) {
        const int64_t n = std::min(kHalfColumns, v.length - done), column = reverse ? v.length - done - n : done;
        for (int64_t r = 0; r < m; ++r) {
          read((k * rows + r) * v.length + column, n, x + r * kHalfColumns);
          std::fill_n(x + r * kHalfColumns + n, kHalfColumns - n < 3 ? kHalfColumns - n : 3, 0.0f);  // of the last four
        }
        MXNET_CPU_CALL(RunningSumHalvesAlong)(x, y, n, reverse, sums);
        for (int64_t r = 0; r < m; ++r) write(y + r * kHalfColumns, (k * rows + r) * v.length + column, n);
      }
    }
  });
}

Kernel CumsumKernel(bool reverse) {
  return [reverse](KernelArgs& a) {
    if (a.req[0] == OpReq::kNull || a.in[0].Size() == 0) return;
    const AxisView v = ViewOf(a.in[0].shape, a.param<CumsumParam>().axis, a.attrs->op->name);
    if (a.run.ctx.is_gpu()) return ScanOnDevice(a, {v.outer, v.length, v.inner, reverse, false}, a.in[0], a.out[0]);
    const int wider = IsFloating(a.out[0].dtype) ? (a.out[0].dtype == kFloat64 || a.in[0].dtype == kFloat64 ? int{kFloat64} : int{kFloat32})
                                                 : int{kInt64};
    if (a.out[0].dtype == kFloat16)
      CumsumOfHalves(a.in[0], a.out[0], v, reverse);
    else if (wider == kFloat32)
      Cumsum<float, double>(a.in[0], a.out[0], pointwise::kF32, v, reverse);
    else if (wider == kFloat64)
      Cumsum<double, double>(a.in[0], a.out[0], pointwise::kF64, v, reverse);
    else
      Cumsum<int64_t, uint64_t>(a.in[0], a.out[0], pointwise::kI64, v, reverse);
  };
}

MXNET_REGISTER_OP(_np_cumsum)
    .describe("Running sum along an axis, or of the flattened array.")
    .alias("cumsum")
    .alias("_npi_cumsum")
    .set_param<CumsumParam>()
    .set_inputs({"a"})
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const CumsumParam& p = attrs.get<CumsumParam>();
      const Shape& s = (*in)[0];
      if (p.axis.has_value()) {
        if (s.ndim_known()) Dimension(attrs.op->name, p.axis.value(), s);
        if (!s.ndim_known() || s.ndim() > 0) return ElemwiseShape(attrs, in, out);
      }
      if (!s.known()) return false;
      AssignShape(attrs, "output", &(*out)[0], Shape{s.Size()});
      return true;
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      const CumsumParam& p = attrs.get<CumsumParam>();
      const int t = (*in)[0];
      AssignType(attrs, "output", &(*out)[0], p.dtype.has_value() ? p.dtype.value() : t == kBool ? int{kInt64} : t);
      if (t == kDTypeUnknown && !p.dtype.has_value()) (*in)[0] = (*out)[0];
      return (*in)[0] != kDTypeUnknown;
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{{MakeNodeLike("_backward_cumsum", *node, {ograds[0], node->inputs[0]}), 0, 0}};
    })
    .set_kernel(CumsumKernel(false));

// Running sum from the end, in the shape and dtype of the data.
MXNET_REGISTER_OP(_backward_cumsum)
    .describe("Running sum from the end.")
    .set_shape_only_from(1)
    .set_param<CumsumParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], (*in)[1]);
      return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      NodeEntry sum{MakeNodeLike("_np_cumsum", *node, {ograds[0]}), 0, 0};
      return std::vector<NodeEntry>{pointwise::Simple("_backward_cast", {sum, node->inputs[0]}), NodeEntry()};
    })
    .set_kernel([](KernelArgs& a) {
      if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
      TBlob g = a.in[0];
      g.shape = a.out[0].shape;  // a flattened gradient counts like the data
      const AxisView v = ViewOf(g.shape, a.param<CumsumParam>().axis, a.attrs->op->name);
      if (a.run.ctx.is_gpu()) return ScanOnDevice(a, {v.outer, v.length, v.inner, true, false}, g, a.out[0]);
      if (a.out[0].dtype == kFloat64 || g.dtype == kFloat64)
        Cumsum<double, double>(g, a.out[0], pointwise::kF64, v, true);
      else if (a.out[0].dtype == kFloat16)
        CumsumOfHalves(g, a.out[0], v, true);
      else
        Cumsum<float, double>(g, a.out[0], pointwise::kF32, v, true);
    });

}  // namespace
}  // namespace reduce
}  // namespace mxnet
