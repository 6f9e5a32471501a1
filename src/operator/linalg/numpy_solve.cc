// NumPy's solutions of linear equations and inverses of tensors.
#include <algorithm>
#include <cmath>

#include "operator/linalg/dense.h"
#include "operator/linalg/matmul.h"
#include "operator/linalg/real_inputs.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace linalg {
namespace {

// ---- solve

bool SolveShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  NeedSquare(attrs, "A", a);
  if (!a.known() || !b.known()) return false;
  bool fits = b.ndim() == a.ndim() || b.ndim() == a.ndim() - 1;
  for (int i = 0; fits && i < a.ndim() - 1; ++i) fits = a[i] == b[i];
  MXNET_CHECK_KIND(fits, Value) << "[" << attrs.op->name << "] A has shape " << a << ", B has shape " << b
                                << "; accepted: B of shape (..., n) or (..., n, k) for A of shape (..., n, n)";
  AssignShape(attrs, "the result", &(*out)[0], b);
  return true;
}

void SolveKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull || given.out[0].Size() == 0) return;
  AsReal(given, [](KernelArgs& args) {
    const Matrices a(args.in[0].shape);
    const int64_t k = args.in[1].Size() / std::max<int64_t>(1, a.count * a.rows);
    SolveGeneral(args, false, a.count, a.rows, k, args.in[0].dptr, args.in[1].dptr, args.out[0].dptr);
  });
}

// x as matrices: (..., n) for a of shape (..., n, n) becomes (..., n, 1).
NodeEntry Columns(const NodeEntry& x, const NodeEntry& a) { return MakeOp("_backward_linalg_columns", {x, a}); }

// a^-T g, and that times -x^T.
std::vector<NodeEntry> SolveGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &a = node->inputs[0], &b = node->inputs[1], x = Output(node, 0);
  const NodeEntry turned = MakeOp("SwapAxis", {InTypeOf(a, x)}, {{"dim1", "-1"}, {"dim2", "-2"}});
  const NodeEntry g = MakeOp("_npi_solve", {turned, ograds[0]});
  return {InTypeOf(Product(Columns(g, a), false, Columns(x, a), true, -1), a), InTypeOf(g, b)};
}

bool ColumnsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &x = (*in)[0], &a = (*in)[1];
  if (!x.known() || !a.known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], x.ndim() == a.ndim() ? x : Leading(x, 0, {1}));
  return true;
}

bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

// ---- tensorinv

struct TensorInvParam : public Parameter<TensorInvParam> {
  int ind;
  MXNET_DECLARE_PARAM(TensorInvParam) {
    MXNET_FIELD(ind).set_default(2).describe("How many of the first dimensions are the rows of the matrix that is inverted.");
  }
};
MXNET_REGISTER_PARAM(TensorInvParam);

struct FoldParam : public Parameter<FoldParam> {
  int rows;
  MXNET_DECLARE_PARAM(FoldParam) {
    MXNET_FIELD(rows).describe("How many of the first dimensions become the rows; negative: all but so many.");
  }
};
MXNET_REGISTER_PARAM(FoldParam);

NodeEntry Fold(const NodeEntry& x, int rows) { return MakeOp("_backward_linalg_fold", {x}, {{"rows", std::to_string(rows)}}); }

bool FoldShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& x = (*in)[0];
  if (!x.known()) return false;
  const int rows = attrs.get<FoldParam>().rows, at = rows < 0 ? x.ndim() + rows : rows;
  MXNET_CHECK_KIND(at >= 0 && at <= x.ndim(), Value) << "[" << attrs.op->name << "] rows is " << rows << "; accepted: up to " << x.ndim();
  AssignShape(attrs, "the result", &(*out)[0], Shape({x.Prod(0, at), x.Prod(at, x.ndim())}));
  return true;
}

bool TensorInvShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  const int ind = attrs.get<TensorInvParam>().ind;
  MXNET_CHECK_KIND(ind > 0, Value) << "[" << attrs.op->name << "] ind is " << ind << "; accepted: at least 1";
  if (!a.known()) return false;
  MXNET_CHECK_KIND(ind <= a.ndim() && a.Prod(0, ind) == a.Prod(ind, a.ndim()), Value)
      << "[" << attrs.op->name << "] a has shape " << a << ", ind is " << ind << "; accepted: as many elements in the first " << ind
      << " dimensions as in the others";
  std::vector<int64_t> dims(a.begin() + ind, a.end());
  dims.insert(dims.end(), a.begin(), a.begin() + ind);
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return true;
}

void TensorInvKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull || given.out[0].Size() == 0) return;
  AsReal(given, [](KernelArgs& args) {
    Inverse(args, 1, args.in[0].shape.Prod(0, args.param<TensorInvParam>().ind), args.in[0].dptr, args.out[0].dptr);
  });
}

// -b^T g b^T as matrices
std::vector<NodeEntry> TensorInvGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const int ind = node->attrs->get<TensorInvParam>().ind;
  const NodeEntry b = Fold(Output(node, 0), -ind), g = Fold(ograds[0], -ind);
  return {MakeOp("reshape_like", {Product(Product(b, true, g, false, -1), false, b, true), node->inputs[0]})};
}

// ---- tensorsolve

struct TensorSolveParam : public Parameter<TensorSolveParam> {
  Shape a_axes;
  MXNET_DECLARE_PARAM(TensorSolveParam) {
    MXNET_FIELD(a_axes)
        .set_default(Shape(std::vector<int64_t>{}))
        .describe("Dimensions of a that are moved behind the others before anything else.");
  }
};
MXNET_REGISTER_PARAM(TensorSolveParam);

// The dimensions of a in the order in which it is used.
std::vector<int> AxesOf(const Attrs& attrs, const Shape& a) {
  std::vector<int> moved, order;
  const Shape& axes = attrs.get<TensorSolveParam>().a_axes;
  for (int64_t axis : axes) {
    moved.push_back(CheckedAxis(attrs, axis, a.ndim(), "a_axes"));
    MXNET_CHECK_KIND(std::count(moved.begin(), moved.end(), moved.back()) == 1, Value)
        << "[" << attrs.op->name << "] a_axes is " << axes << "; a dimension cannot occur twice";
  }
  for (int i = 0; i < a.ndim(); ++i)
    if (std::find(moved.begin(), moved.end(), i) == moved.end()) order.push_back(i);
  order.insert(order.end(), moved.begin(), moved.end());
  return order;
}

Shape Arranged(const Shape& a, const std::vector<int>& order, int begin, int end) {
  std::vector<int64_t> dims;
  for (int i = begin; i < end; ++i) dims.push_back(a[order[static_cast<size_t>(i)]]);
  return Shape(dims);
}

bool TensorSolveShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!a.known() || !b.known()) return false;
  const std::vector<int> order = AxesOf(attrs, a);
  const int q = b.ndim();
  MXNET_CHECK_KIND(q <= a.ndim(), Value) << "[" << attrs.op->name << "] a has shape " << a << ", b has shape " << b
                                         << "; a needs at least as many dimensions";
  const Shape rows = Arranged(a, order, 0, q), columns = Arranged(a, order, q, a.ndim());
  MXNET_CHECK_KIND(rows.Size() == columns.Size() && rows.Size() == b.Size(), Value)
      << "[" << attrs.op->name << "] a has shape " << a << ", b has shape " << b
      << "; accepted: as many elements in b, in the first dimensions of a, one for each of b, and in its other ones";
  AssignShape(attrs, "the result", &(*out)[0], columns);
  return true;
}

// a with its dimensions in order.
const void* ArrangedData(KernelArgs& args, const TBlob& a) {
  const std::vector<int> order = AxesOf(*args.attrs, a.shape);
  if (std::is_sorted(order.begin(), order.end())) return a.dptr;
  void* moved = args.workspace(std::max<size_t>(a.Bytes(), 1));
  Permute(args.run, a.dptr, a.shape, order.data(), moved, DTypeSize(a.dtype));
  return moved;
}

void TensorSolveKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull || given.out[0].Size() == 0) return;
  AsReal(given, [](KernelArgs& args) {
    SolveGeneral(args, false, 1, args.in[1].Size(), 1, ArrangedData(args, args.in[0]), args.in[1].dptr, args.out[0].dptr);
  });
}

// [ograd, a, b] -> the gradient of b: the solution with the transposed matrix.
void TensorSolveBackB(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull || given.out[0].Size() == 0) return;
  AsReal(given, [](KernelArgs& args) {
    SolveGeneral(args, true, 1, args.out[0].Size(), 1, ArrangedData(args, args.in[1]), args.in[0].dptr, args.out[0].dptr);
  });
}

// [the gradient of b, x, a] -> that of a: minus the products of all pairs, in the places of a.
void TensorSolveBackA(KernelArgs& args) {
  const TBlob &g = args.in[0], &x = args.in[1], &out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  const std::vector<int> order = AxesOf(*args.attrs, out.shape);
  const bool sorted = std::is_sorted(order.begin(), order.end());
  void* pairs = sorted ? out.dptr : args.workspace(out.Bytes());
  Matmul(args.run, out.dtype, false, false, MatmulSize{1, g.Size(), x.Size(), 1}, g.dptr, x.dptr, pairs, args.workspace);
  TBlob blob = out;
  blob.dptr = pairs;
  const pointwise::Operand operands[2] = {blob, pointwise::Operand(-1.0)};
  pointwise::Execute(args.run, pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(out.dtype, false), operands, 2,
                     pointwise::kBinaryMasks, nullptr, blob, OpReq::kWrite);
  if (sorted) return;
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  Permute(args.run, pairs, Arranged(out.shape, order, 0, out.shape.ndim()), back.data(), out.dptr, DTypeSize(out.dtype));
}

// A tensor like a -> the matrix of the equations.
void TensorSolveMatrix(KernelArgs& args) {
  const TBlob &a = args.in[0], &out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  Permute(args.run, a.dptr, a.shape, AxesOf(*args.attrs, a.shape).data(), out.dptr, DTypeSize(a.dtype));
}

bool MatrixShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known()) return false;
  const int64_t n = std::llround(std::sqrt(static_cast<double>((*in)[0].Size())));
  AssignShape(attrs, "the matrix", &(*out)[0], Shape({n, n}));
  return true;
}

NodeEntry BackB(const Node& like, const NodeEntry& g, const NodeEntry& a, const NodeEntry& b) {
  return NodeEntry{MakeNodeLike("_backward_npi_tensorsolve_b", like, {g, a, b}), 0, 0};
}
NodeEntry BackA(const Node& like, const NodeEntry& g, const NodeEntry& x, const NodeEntry& a) {
  return NodeEntry{MakeNodeLike("_backward_npi_tensorsolve_a", like, {g, x, a}), 0, 0};
}

std::vector<NodeEntry> TensorSolveGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &a = node->inputs[0], &b = node->inputs[1];
  const NodeEntry g = BackB(*node, ograds[0], a, b);
  return {InTypeOf(BackA(*node, g, Output(node, 0), a), a), InTypeOf(g, b)};
}

// r = a^-T g: with u the gradient that reaches r, a^-1 u for g, and -r (a^-1 u)^T for a.
std::vector<NodeEntry> BackBGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &a = node->inputs[1], x{MakeNodeLike("_npi_tensorsolve", *node, {a, ograds[0]}), 0, 0};
  return {x, BackA(*node, Output(node, 0), x, a), NodeEntry{}};
}

// a's gradient is -g x^T: with u from above, -u x for g, and -u^T g for x.
std::vector<NodeEntry> BackAGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &g = node->inputs[0], &x = node->inputs[1];
  const NodeEntry matrix{MakeNodeLike("_backward_npi_tensorsolve_matrix", *node, {ograds[0]}), 0, 0};
  auto product = [&](const char* transposed, const NodeEntry& v, const NodeEntry& like) {
    const NodeEntry vector = MakeOp("Reshape", {v}, {{"shape", "(-1,)"}});
    return MakeOp("reshape_like", {MakeOp("negative", {MakeOp("dot", {matrix, vector}, {{"transpose_a", transposed}})}), like});
  };
  return {product("0", x, g), product("1", g, x), NodeEntry{}};
}

bool LikeInput(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the gradient", &(*out)[0], in->back());
  return std::all_of(in->begin(), in->end(), [](const Shape& s) { return s.known(); });
}

std::function<double(const Attrs&, Span<const TBlob>, Span<const TBlob>)> Cubes(int input) {
  return [input](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
    const double n = static_cast<double>(in[input].Size());
    return n * std::sqrt(n);
  };
}

void RegisterParts() {
  Op::Register("_backward_linalg_columns")
      .describe("Vectors as matrices of one column, for gradients.")
      .set_inputs({"x", "a"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(ColumnsShape)
      .set_infer_type(FirstType)
      .set_inplace({{0, 0}})
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("reshape_like", {ograds[0], node->inputs[0]}), NodeEntry{}};
      })
      .set_kernel(CopyThrough);
  Op::Register("_backward_linalg_fold")
      .describe("A tensor as a matrix, for gradients.")
      .set_param<FoldParam>()
      .set_inputs({"x"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(FoldShape)
      .set_inplace({{0, 0}})
      .set_gradient(ReshapeBack)
      .set_kernel(CopyThrough);
  Op::Register("_backward_npi_tensorsolve_b")
      .describe("Gradient of _npi_tensorsolve in b.")
      .set_param<TensorSolveParam>()
      .set_inputs({"ograd", "a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(2)
      .set_infer_shape(LikeInput)
      .set_infer_type(FirstType)
      .set_gradient(BackBGradient)
      .set_kernel(TensorSolveBackB);
  Op::Register("_backward_npi_tensorsolve_a")
      .describe("Gradient of _npi_tensorsolve in a.")
      .set_param<TensorSolveParam>()
      .set_inputs({"b_grad", "x", "a"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(2)
      .set_infer_shape(LikeInput)
      .set_infer_type(FirstType)
      .set_gradient(BackAGradient)
      .set_kernel(TensorSolveBackA);
  Op::Register("_backward_npi_tensorsolve_matrix")
      .describe("A tensor like a of _npi_tensorsolve as the matrix of the equations, for gradients.")
      .set_param<TensorSolveParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(MatrixShape)
      .set_kernel(TensorSolveMatrix);
}

[[maybe_unused]] const bool registered = [] {
  RegisterParts();
  RealRecord("_npi_solve", {"A", "B"})
      .describe(
          "Solutions X of the linear equations A * X = B.\n\n"
          "A has shape (..., n, n), B (..., n), which are vectors, or (..., n, k); so has X. A singular matrix is an error. float32 and "
          "float64; integers and mixtures are computed in float64.")
      .set_infer_shape(SolveShape)
      .set_flops(Cubes(0))
      .set_gradient(SolveGradient)
      .set_kernel(SolveKernel);
  RealRecord("_npi_tensorinv", {"a"})
      .describe(
          "The inverse of a tensor as a matrix, whose rows are the first ind dimensions and whose columns are the others.\n\n"
          "The result has the others first. A singular matrix is an error. float32 and float64; integers are computed in float64.")
      .set_param<TensorInvParam>()
      .set_infer_shape(TensorInvShape)
      .set_flops(Cubes(0))
      .set_gradient(TensorInvGradient)
      .set_kernel(TensorInvKernel);
  RealRecord("_npi_tensorsolve", {"a", "b"})
      .describe(
          "The tensor x with a * x = b, summed over all dimensions of x: the last ones of a, after a_axes were moved there.\n\n"
          "The first dimensions of a hold as many elements as b. A singular matrix is an error. float32 and float64; integers and mixtures "
          "are computed in float64.")
      .set_param<TensorSolveParam>()
      .set_infer_shape(TensorSolveShape)
      .set_flops(Cubes(0))
      .set_gradient(TensorSolveGradient)
      .set_kernel(TensorSolveKernel);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
