// Arrays that NumPy makes out of nothing, or of a shape: windows, logspace, indices, triangles of
// ones, and the indices of diagonals and triangles.
#include <algorithm>
#include <cmath>

#include "mxnet/op.h"
#include "operator/init/fill.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct WindowParam : public Parameter<WindowParam> {
  std::optional<int64_t> M;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(WindowParam) {
    MXNET_FIELD(M).set_default(std::optional<int64_t>()).describe("Number of points; it must be given. None for 0 or less.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct LogspaceParam : public Parameter<LogspaceParam> {
  double start, stop;
  int64_t num;
  bool endpoint;
  double base;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(LogspaceParam) {
    MXNET_FIELD(start).describe("The first value is base to the power of this.");
    MXNET_FIELD(stop).describe("The last value, or the bound behind it, is base to the power of this.");
    MXNET_FIELD(num).set_lower_bound(0).describe("Number of values.");
    MXNET_FIELD(endpoint).set_default(true).describe("Whether `stop` is the last exponent.");
    MXNET_FIELD(base).set_default(10).describe("The base of the powers.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct IndicesParam : public Parameter<IndicesParam> {
  Shape dimensions;
  int dtype;
  std::string ctx;
  MXNET_DECLARE_PARAM(IndicesParam) {
    MXNET_FIELD(dimensions).describe("Shape of the array whose indices are given.");
    MXNET_DTYPE_FIELD(dtype).set_default(kInt32).describe("Element type of the result.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
  }
};

struct TriParam : public Parameter<TriParam> {
  int64_t N;
  std::optional<int64_t> M;
  int k;
  int dtype;
  std::string ctx;
  MXNET_DECLARE_PARAM(TriParam) {
    MXNET_FIELD(N).set_lower_bound(0).describe("Number of rows.");
    MXNET_FIELD(M).set_default(std::optional<int64_t>()).describe("Number of columns; None takes N.");
    MXNET_FIELD(k).set_default(0).describe("The highest diagonal with ones: above the main one when positive.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
  }
};

struct TrilIndicesParam : public Parameter<TrilIndicesParam> {
  int64_t n, k, m;
  MXNET_DECLARE_PARAM(TrilIndicesParam) {
    MXNET_FIELD(n).set_lower_bound(0).describe("Number of rows of the matrix.");
    MXNET_FIELD(k).set_default(0).describe("The highest diagonal that belongs to the triangle.");
    MXNET_FIELD(m).set_lower_bound(0).describe("Number of columns of the matrix.");
  }
};

MXNET_REGISTER_PARAM(WindowParam);
MXNET_REGISTER_PARAM(LogspaceParam);
MXNET_REGISTER_PARAM(IndicesParam);
MXNET_REGISTER_PARAM(TriParam);
MXNET_REGISTER_PARAM(TrilIndicesParam);

template <typename P>
bool GivenType(const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], attrs.get<P>().dtype);
  return true;
}

template <typename P>
Op& InitRecord(const char* name, const char* text) {
  return Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({})
      .set_infer_type(GivenType<P>)
      .set_zero_gradient();
}

// ---- windows

void WindowRecord(const char* name, const char* text, double a, double b, double c) {
  InitRecord<WindowParam>(name, text)
      .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
        const auto& points = attrs.get<WindowParam>().M;
        MXNET_CHECK_KIND(points.has_value(), Value) << "[" << attrs.op->name << "] M is not given; accepted: the number of points";
        AssignShape(attrs, "the result", &(*out)[0], Shape({std::max<int64_t>(points.value(), 0)}));
        return true;
      })
      .set_kernel([a, b, c](KernelArgs& args) {
        if (args.req[0] != OpReq::kNull && args.out[0].Size() > 0) FillWindow(args.run, args.out[0], a, b, c);
      });
}

// ---- logspace

void Logspace(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<LogspaceParam>();
  const int64_t parts = p.endpoint ? p.num - 1 : p.num;
  FillPowers(a.run, a.out[0], p.start, parts > 0 ? (p.stop - p.start) / static_cast<double>(parts) : 0, p.base);
  if (!p.endpoint || p.num < 2) return;
  TBlob last = a.out[0];  // exactly that power, not of what rounding made of `stop`
  last.dptr = last.data<char>() + (p.num - 1) * static_cast<int64_t>(DTypeSize(last.dtype));
  last.shape = Shape({1});
  FillPowers(a.run, last, p.stop, 0, p.base);
}

// ---- indices

bool IndicesShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const Shape& dims = attrs.get<IndicesParam>().dimensions;
  std::vector<int64_t> to = {dims.ndim()};
  for (int64_t d : dims) {
    MXNET_CHECK_KIND(d >= 0, Value) << "[" << attrs.op->name << "] dimensions " << dims << "; sizes must not be negative";
    to.push_back(d);
  }
  AssignShape(attrs, "the result", &(*out)[0], Shape(to));
  return true;
}

// Row i of `out` (n, ...): the index along dimension i.
void FillRows(const RunContext& run, const TBlob& out, int rows, const std::function<void(const RunContext&, const TBlob&, int)>& fill) {
  if (out.Size() == 0) return;
  TBlob row = out;
  row.shape = Shape({out.Size() / rows});
  for (int i = 0; i < rows; ++i) {
    row.dptr = out.data<char>() + i * static_cast<int64_t>(row.Bytes());
    fill(run, row, i);
  }
}

void Indices(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& dims = a.param<IndicesParam>().dimensions;
  FillRows(a.run, a.out[0], dims.ndim(),
           [&](const RunContext& run, const TBlob& row, int i) { FillCycle(run, row, dims[i], dims.Prod(i + 1, dims.ndim())); });
}

bool DiagIndicesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 2, Value) << "[" << attrs.op->name << "] data has shape " << data << "; it needs at least 2 dimensions";
  for (int64_t d : data)
    MXNET_CHECK_KIND(d == data[0], Value) << "[" << attrs.op->name << "] data has shape " << data << "; all sizes must be equal";
  AssignShape(attrs, "the result", &(*out)[0], Shape({data.ndim(), data[0]}));
  return true;
}

// ---- triangles

bool TriShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const auto& p = attrs.get<TriParam>();
  const int64_t columns = p.M.has_value() ? p.M.value() : p.N;
  MXNET_CHECK_KIND(columns >= 0, Value) << "[" << attrs.op->name << "] M=" << columns << "; must not be negative";
  AssignShape(attrs, "the result", &(*out)[0], Shape({p.N, columns}));
  return true;
}

// How many entries of a row are on or below the diagonal.
int64_t RowLength(const TrilIndicesParam& p, int64_t row) {
  if (p.k < 0 && row < -(p.k + 1)) return 0;
  return p.k >= p.m - row ? p.m : std::max<int64_t>(0, row + p.k + 1);
}

bool TrilIndicesShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const auto& p = attrs.get<TrilIndicesParam>();
  // Rows from `grows` on have one entry more each, those from `full` on all of them.
  const int64_t grows = std::min(p.n, p.k < -p.n ? p.n : std::max<int64_t>(0, -p.k));
  const int64_t full = p.k >= p.m - 1 ? 0 : std::min(p.n, p.k < p.m - 1 - p.n ? p.n : p.m - 1 - p.k);
  int64_t count = 0, whole = 0;
  MXNET_CHECK_KIND(p.n < (int64_t{1} << 31) && !__builtin_mul_overflow(p.n - full, p.m, &whole), Value)
      << "[" << attrs.op->name << "] a matrix of shape (" << p.n << ", " << p.m << ") is too large";
  if (full > grows) {
    const int64_t rows = full - grows, first = RowLength(p, grows), last = RowLength(p, full - 1);
    MXNET_CHECK_KIND(!__builtin_mul_overflow(first + last, rows, &count), Value) << "[" << attrs.op->name << "] too many indices";
    count /= 2;
  }
  MXNET_CHECK_KIND(!__builtin_add_overflow(count, whole, &count), Value) << "[" << attrs.op->name << "] too many indices";
  for (Shape& s : *out) AssignShape(attrs, "the result", &s, Shape({count}));
  return true;
}

void TrilIndices(KernelArgs& a) {
  const auto& p = a.param<TrilIndicesParam>();
  int64_t at = 0;
  for (int64_t row = 0; row < p.n; ++row) {
    const int64_t length = RowLength(p, row);
    for (int o = 0; o < 2 && length > 0; ++o) {
      if (a.req[o] == OpReq::kNull) continue;
      TBlob part = a.out[o];
      part.dptr = part.data<int64_t>() + at;
      part.shape = Shape({length});
      if (o == 0)
        FillValue(a.run, part, static_cast<double>(row));
      else
        FillRange(a.run, part, 0, 1, 1);
    }
    at += length;
  }
}

bool GivesInt64(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& t : *out) AssignType(attrs, "the result", &t, kInt64);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

[[maybe_unused]] const bool registered = [] {
  WindowRecord("_npi_hanning", "The Hann window: 0.5 - 0.5 * cos(x), for x from 0 to 2 pi.", 0.5, 0.5, 0);
  WindowRecord("_npi_hamming", "The Hamming window: 0.54 - 0.46 * cos(x), for x from 0 to 2 pi.", 0.54, 0.46, 0);
  WindowRecord("_npi_blackman", "The Blackman window: 0.42 - 0.5 * cos(x) + 0.08 * cos(2 * x), for x from 0 to 2 pi.", 0.42, 0.5, 0.08);
  InitRecord<LogspaceParam>("_npi_logspace", "Powers of `base`, whose exponents are at equal distances between `start` and `stop`.")
      .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
        AssignShape(attrs, "the result", &(*out)[0], Shape({attrs.get<LogspaceParam>().num}));
        return true;
      })
      .set_kernel(Logspace);
  InitRecord<IndicesParam>("_npi_indices", "The indices of every element of an array of that shape, along a new first dimension.")
      .set_infer_shape(IndicesShape)
      .set_kernel(Indices);
  InitRecord<TriParam>("_npi_tri", "A matrix with ones on and below one diagonal.").set_infer_shape(TriShape).set_kernel([](KernelArgs& a) {
    if (a.req[0] != OpReq::kNull) FillTriangle(a.run, a.out[0], a.param<TriParam>().k);
  });
  Op::Register("_npi_tril_indices")
      .describe("Rows and columns of the elements on and below one diagonal of a matrix, as int64.")
      .set_param<TrilIndicesParam>()
      .set_inputs({})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"rows", "columns"})
      .set_infer_shape(TrilIndicesShape)
      .set_infer_type(GivesInt64)
      .set_zero_gradient()
      .set_kernel(TrilIndices);
  Op::Register("_npi_diag_indices_from")
      .describe("The indices of the main diagonal of an array of equal sizes: int64, a row for each dimension.")
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(0)
      .set_infer_shape(DiagIndicesShape)
      .set_infer_type(GivesInt64)
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) {
        if (a.req[0] == OpReq::kNull) return;
        FillRows(a.run, a.out[0], a.in[0].shape.ndim(), [](const RunContext& run, const TBlob& row, int) { FillRange(run, row, 0, 1, 1); });
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
