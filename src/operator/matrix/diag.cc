// diag: a vector onto a diagonal, or the diagonals out of an array.
#include <algorithm>

#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct DiagParam : public Parameter<DiagParam> {
  int k, axis1, axis2;
  MXNET_DECLARE_PARAM(DiagParam) {
    MXNET_FIELD(k).set_default(0).describe("Which diagonal: above the main one when positive.");
    MXNET_FIELD(axis1).set_default(0).describe("Dimension of the rows of the matrices whose diagonals are taken.");
    MXNET_FIELD(axis2).set_default(1).describe("Dimension of their columns.");
  }
};

struct NumpyDiagParam : public Parameter<NumpyDiagParam> {
  int64_t k;
  MXNET_DECLARE_PARAM(NumpyDiagParam) { MXNET_FIELD(k).set_default(0).describe("Which diagonal: above the main one when positive."); }
};

struct DiagonalParam : public Parameter<DiagonalParam> {
  int offset, axis1, axis2;
  MXNET_DECLARE_PARAM(DiagonalParam) {
    MXNET_FIELD(offset).set_default(0).describe("Which diagonal: above the main one when positive.");
    MXNET_FIELD(axis1).set_default(0).describe("Dimension of the rows of the matrices whose diagonals are taken.");
    MXNET_FIELD(axis2).set_default(1).describe("Dimension of their columns.");
  }
};

MXNET_REGISTER_PARAM(DiagParam);
MXNET_REGISTER_PARAM(NumpyDiagParam);
MXNET_REGISTER_PARAM(DiagonalParam);

// One description of the three records. `flat`: any array is a vector (diagflat); `build`: vectors
// become matrices.
struct Spec {
  int64_t k;
  int axis1, axis2;
  bool build, flat;
};
using SpecFn = Spec (*)(const Attrs&);
Spec DiagSpec(const Attrs& a) {
  const auto& p = a.get<DiagParam>();
  return {p.k, p.axis1, p.axis2, true, false};
}
Spec NumpyDiagSpec(const Attrs& a) { return {a.get<NumpyDiagParam>().k, 0, 1, true, false}; }
Spec DiagFlatSpec(const Attrs& a) { return {a.get<NumpyDiagParam>().k, 0, 1, true, true}; }
Spec DiagonalSpec(const Attrs& a) {
  const auto& p = a.get<DiagonalParam>();
  return {p.offset, p.axis1, p.axis2, false, false};
}

bool Builds(const Spec& s, const Shape& data) { return s.flat || (s.build && data.ndim() == 1); }

// What makes a matrix of a vector: the axes are not looked at, as in 1.x.
Spec Building(Spec s) {
  s.axis1 = 0, s.axis2 = 1;
  return s;
}

// Where the diagonals of `whole` lie, as a box: the kept dimensions, then along the diagonal.
struct Diagonals {
  Shape shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

Diagonals Find(const Attrs& attrs, const Spec& s, const Shape& whole) {
  const int n = whole.ndim();
  MXNET_CHECK_KIND(n >= 2, Value) << "[" << attrs.op->name << "] data has shape " << whole << "; it needs at least 2 dimensions"
                                  << (s.build ? ", or 1" : "");
  const int rows = CheckedAxis(attrs, s.axis1, n, "axis1"), cols = CheckedAxis(attrs, s.axis2, n, "axis2");
  MXNET_CHECK_KIND(rows != cols, Value) << "[" << attrs.op->name << "] axis1 and axis2 are both dimension " << rows << "; they must differ";
  std::vector<int64_t> strides(n), dims;
  RowMajorStrides(whole, strides.data());
  Diagonals d;
  for (int i = 0; i < n; ++i) {
    if (i == rows || i == cols) continue;
    dims.push_back(whole[i]);
    d.strides.push_back(strides[i]);
  }
  const int64_t down = s.k < 0 ? -s.k : 0, right = s.k > 0 ? s.k : 0;
  dims.push_back(std::max<int64_t>(0, std::min(whole[rows] - down, whole[cols] - right)));
  d.strides.push_back(strides[rows] + strides[cols]);
  if (dims.back() > 0) d.offset = down * strides[rows] + right * strides[cols];
  d.shape = Shape(dims);
  return d;
}

template <SpecFn kSpec>
bool DiagShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  const Spec s = kSpec(attrs);
  if (Builds(s, data)) {
    const int64_t n = data.Size() + std::abs(s.k);
    AssignShape(attrs, "the result", &(*out)[0], Shape({n, n}));
  } else {
    AssignShape(attrs, "the result", &(*out)[0], Find(attrs, s, data).shape);
  }
  return true;
}

// part = diagonals of whole, or diagonals of whole = part with zeros elsewhere.
void Move(const RunContext& run, const Diagonals& d, const TBlob& whole, void* part, bool into) {
  const size_t bytes = DTypeSize(whole.dtype);
  if (into) ZeroBytes(run, whole.dptr, static_cast<int64_t>(whole.Bytes()));
  if (d.shape.Size() == 0) return;
  std::vector<int64_t> dense(d.shape.ndim());
  RowMajorStrides(d.shape, dense.data());
  char* at = whole.data<char>() + d.offset * static_cast<int64_t>(bytes);
  if (into)
    CopyStrided(run, part, dense.data(), at, d.strides.data(), d.shape.dims(), d.shape.ndim(), bytes);
  else
    CopyStrided(run, at, d.strides.data(), part, dense.data(), d.shape.dims(), d.shape.ndim(), bytes);
}

template <SpecFn kSpec>
void Diag(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Spec s = kSpec(*a.attrs);
  if (Builds(s, a.in[0].shape))
    Move(a.run, Find(*a.attrs, Building(s), a.out[0].shape), a.out[0], a.in[0].dptr, true);
  else
    Move(a.run, Find(*a.attrs, s, a.in[0].shape), a.in[0], a.out[0].dptr, false);
}

// [ograd, data] -> gradient of data
template <SpecFn kSpec>
void DiagBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Spec s = kSpec(*a.attrs);
  if (Builds(s, a.out[0].shape))
    Move(a.run, Find(*a.attrs, Building(s), a.in[0].shape), a.in[0], a.out[0].dptr, false);
  else
    Move(a.run, Find(*a.attrs, s, a.out[0].shape), a.out[0], a.in[0].dptr, true);
}

template <SpecFn kSpec, typename P>
Op& DiagRecord(const std::string& name, const char* text) {
  const std::string backward = "_backward" + std::string(name[0] == '_' ? "" : "_") + name;
  Op::Register(backward)
      .describe("Gradient of " + name + ".")
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"ograd", "data"})
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(name, *node, {ograds[0]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(DiagBack<kSpec>);
  return Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"data"})
      .set_infer_shape(DiagShape<kSpec>)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(backward, *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Diag<kSpec>);
}

[[maybe_unused]] const bool registered = [] {
  DiagRecord<DiagSpec, DiagParam>("diag", "A matrix with the vector on a diagonal, or the diagonals of matrices.");
  DiagRecord<NumpyDiagSpec, NumpyDiagParam>("_np_diag", "A matrix with the vector on a diagonal, or the diagonals of matrices.")
      .alias("_npi_diag");
  DiagRecord<DiagFlatSpec, NumpyDiagParam>("_np_diagflat", "A matrix with all elements on a diagonal.").alias("_npi_diagflat");
  DiagRecord<DiagonalSpec, DiagonalParam>("_np_diagonal", "The diagonals of matrices.").alias("_npi_diagonal");
  return true;
}();

}  // namespace
}  // namespace mxnet
