// NumPy's cross product, trace and norm.
#include <algorithm>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/linalg/contract.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/reduce/reduce.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace linalg {
namespace {

// ---- cross

struct CrossParam : public Parameter<CrossParam> {
  int axisa, axisb, axisc;
  MXNET_DECLARE_PARAM(CrossParam) {
    MXNET_FIELD(axisa).set_default(-1).describe("Dimension of a that the vectors lie along.");
    MXNET_FIELD(axisb).set_default(-1).describe("Dimension of b that the vectors lie along.");
    MXNET_FIELD(axisc).set_default(-1).describe("Dimension of the result that they lie along, where it has vectors.");
  }
};
MXNET_REGISTER_PARAM(CrossParam);

// Vectors of an array: all 3 components, the first 2, or only the last one.
struct Vectors {
  int count = 1;
  int64_t step = 0;              // from component to component
  std::vector<int64_t> strides;  // from vector to vector, along each dimension of the broadcast shape
};
struct CrossCall {
  Shape batch, result;
  Vectors a, b, out;
};

Vectors VectorsOf(const Shape& s, int axis, const Shape& batch) {
  std::vector<int64_t> dense(static_cast<size_t>(s.ndim()));
  RowMajorStrides(s, dense.data());
  Vectors v;
  v.strides.assign(static_cast<size_t>(batch.ndim()), 0);
  int at = batch.ndim();
  for (int i = s.ndim() - 1; i >= 0; --i) {
    if (i == axis)
      v.count = static_cast<int>(s[i]), v.step = dense[static_cast<size_t>(i)];
    else if (--at, s[i] != 1)
      v.strides[static_cast<size_t>(at)] = dense[static_cast<size_t>(i)];
  }
  return v;
}

Shape Without(const Shape& s, int axis) {
  std::vector<int64_t> dims;
  for (int i = 0; i < s.ndim(); ++i)
    if (i != axis) dims.push_back(s[i]);
  return Shape(dims);
}

CrossCall CallOf(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<CrossParam>();
  const int ia = CheckedAxis(attrs, p.axisa, a.ndim(), "axisa"), ib = CheckedAxis(attrs, p.axisb, b.ndim(), "axisb");
  MXNET_CHECK_KIND((a[ia] == 2 || a[ia] == 3) && (b[ib] == 2 || b[ib] == 3), Value)
      << "[" << attrs.op->name << "] a has shape " << a << ", b has shape " << b
      << "; accepted: vectors of 2 or 3 components along dimension " << ia << " of a and " << ib << " of b";
  CrossCall c;
  c.batch = BroadcastShape(attrs.op->name, Without(a, ia), Without(b, ib));
  c.a = VectorsOf(a, ia, c.batch), c.b = VectorsOf(b, ib, c.batch);
  if (a[ia] == 2 && b[ib] == 2) {
    c.result = c.batch;
    c.out = VectorsOf(c.result, -1, c.batch);
    return c;
  }
  const int ic = CheckedAxis(attrs, p.axisc, c.batch.ndim() + 1, "axisc");
  std::vector<int64_t> dims(c.batch.begin(), c.batch.end());
  dims.insert(dims.begin() + ic, 3);
  c.result = Shape(dims);
  c.out = VectorsOf(c.result, ic, c.batch);
  return c;
}

template <typename A, typename T>
A Component(const T* at, const Vectors& v, int i) {
  if (v.count == 1) return i == 2 ? static_cast<A>(*at) : A(0);
  return i < v.count ? static_cast<A>(at[i * v.step]) : A(0);
}

// out = a x b for `count` vectors from number `begin` on.
template <typename A, typename T>
void CrossRange(const Shape& batch, const T* a, const Vectors& va, const T* b, const Vectors& vb, T* out, const Vectors& vo, int64_t begin,
                int64_t end) {
  std::vector<int64_t> at(static_cast<size_t>(batch.ndim()), 0);
  auto move = [&](size_t d, int64_t by) {
    at[d] += by;
    a += by * va.strides[d], b += by * vb.strides[d], out += by * vo.strides[d];
  };
  int64_t rest = begin;
  for (size_t d = at.size(); d-- > 0; rest /= batch[static_cast<int>(d)]) move(d, rest % batch[static_cast<int>(d)]);
  for (int64_t n = begin; n < end; ++n) {
    const A x[3] = {Component<A>(a, va, 0), Component<A>(a, va, 1), Component<A>(a, va, 2)};
    const A y[3] = {Component<A>(b, vb, 0), Component<A>(b, vb, 1), Component<A>(b, vb, 2)};
    const T z[3] = {static_cast<T>(x[1] * y[2] - x[2] * y[1]), static_cast<T>(x[2] * y[0] - x[0] * y[2]),
                    static_cast<T>(x[0] * y[1] - x[1] * y[0])};
    if (vo.count == 1)
      *out = z[2];
    else
      for (int i = 0; i < vo.count; ++i) out[i * vo.step] = z[i];
    for (size_t d = at.size(); d-- > 0;) {
      if (at[d] + 1 < batch[static_cast<int>(d)]) {
        move(d, 1);
        break;
      }
      move(d, -at[d]);
    }
  }
}

// One component after the other, by products of whole arrays.
void CrossOnGpu(KernelArgs& args, const Shape& batch, int dtype, void* a, const Vectors& va, void* b, const Vectors& vb, void* out,
                const Vectors& vo) {
  const size_t bytes = DTypeSize(dtype);
  std::vector<int64_t> dense(static_cast<size_t>(batch.ndim()));
  RowMajorStrides(batch, dense.data());
  auto blob = [&](void* data) { return TBlob{data, batch, dtype, args.run.ctx}; };
  auto memory = [&] { return args.workspace(static_cast<size_t>(batch.Size()) * bytes); };
  auto component = [&](void* data, const Vectors& v, int i) -> void* {
    if (v.count == 1 ? i != 2 : i >= v.count) return nullptr;
    void* copy = memory();
    CopyStrided(args.run, static_cast<char*>(data) + (v.count == 1 ? 0 : i * v.step) * static_cast<int64_t>(bytes), v.strides.data(), copy,
                dense.data(), batch.dims(), batch.ndim(), bytes);
    return copy;
  };
  auto combine = [&](int row, const TBlob& x, const TBlob& y, const TBlob& to) {
    const pointwise::Operand operands[2] = {x, y};
    pointwise::Execute(args.run, pointwise::Forward(row), pointwise::ComputeFor(dtype, true), operands, 2, pointwise::kBinaryMasks, nullptr,
                       to, OpReq::kWrite);
  };
  auto product = [&](int i, int j) {
    void *x = component(a, va, i), *y = component(b, vb, j), *to = memory();
    if (x && y)
      combine(pointwise::k_mul, blob(x), blob(y), blob(to));
    else
      ZeroBytes(args.run, to, static_cast<int64_t>(blob(to).Bytes()));
    return to;
  };
  for (int i = vo.count == 1 ? 2 : 0; i < std::max(vo.count, vo.count == 1 ? 3 : 0); ++i) {
    void *x = product((i + 1) % 3, (i + 2) % 3), *y = product((i + 2) % 3, (i + 1) % 3);
    combine(pointwise::k_sub, blob(x), blob(y), blob(x));
    char* to = static_cast<char*>(out) + (vo.count == 1 ? 0 : i * vo.step) * static_cast<int64_t>(bytes);
    CopyStrided(args.run, x, dense.data(), to, vo.strides.data(), batch.dims(), batch.ndim(), bytes);
  }
}

void CrossInto(KernelArgs& args, const Shape& batch, int dtype, void* a, const Vectors& va, void* b, const Vectors& vb, void* out,
               const Vectors& vo) {
  if (batch.Size() == 0) return;
  if (args.run.ctx.is_gpu()) return CrossOnGpu(args, batch, dtype, a, va, b, vb, out, vo);
  VisitDType(dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    using A = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float,
                                 std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>>;
    ParallelFor(batch.Size(), 4096, [&](int64_t begin, int64_t end) {
      CrossRange<A>(batch, static_cast<const T*>(a), va, static_cast<const T*>(b), vb, static_cast<T*>(out), vo, begin, end);
    });
  });
}

bool CrossShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], CallOf(attrs, (*in)[0], (*in)[1]).result);
  return true;
}

void CrossKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const CrossCall c = CallOf(*args.attrs, args.in[0].shape, args.in[1].shape);
  CrossInto(args, c.batch, args.out[0].dtype, args.in[0].dptr, c.a, args.in[1].dptr, c.b, args.out[0].dptr, c.out);
}

// to, in the shape of an input, = vectors for all of the broadcast shape, summed.
void SumVectors(KernelArgs& args, const Shape& batch, void* from, const Vectors& dense, const Vectors& v, const TBlob& to) {
  Labelled in{from, {}, {}}, out{to.dptr, {}, {}};
  std::vector<int64_t> sizes(batch.begin(), batch.end());
  sizes.push_back(v.count);
  for (int i = 0; i <= batch.ndim(); ++i) {
    const size_t at = static_cast<size_t>(i);
    const bool component = i == batch.ndim();
    if (sizes[at] == 1) continue;
    in.labels.push_back(i);
    in.strides.push_back(component ? dense.step : dense.strides[at]);
    if (!component && v.strides[at] == 0) continue;
    out.labels.push_back(i);
    out.strides.push_back(component ? v.step : v.strides[at]);
  }
  Contract(args, sizes, {in}, out, to);
}

// [ograd, a, b] -> b x g and g x a
void CrossBackward(KernelArgs& args) {
  const TBlob &g = args.in[0], &a = args.in[1], &b = args.in[2];
  const CrossCall c = CallOf(*args.attrs, a.shape, b.shape);
  for (int i : {0, 1}) {
    const Vectors& v = i ? c.b : c.a;
    if (args.req[i] == OpReq::kNull || args.out[i].Size() == 0) continue;
    std::vector<int64_t> dims(c.batch.begin(), c.batch.end());
    dims.push_back(v.count);
    const Shape whole(dims);
    const Vectors dense = VectorsOf(whole, c.batch.ndim(), c.batch);
    void* all = args.workspace(std::max<size_t>(static_cast<size_t>(whole.Size()) * DTypeSize(g.dtype), 1));
    i == 0 ? CrossInto(args, c.batch, g.dtype, b.dptr, c.b, g.dptr, c.out, all, dense)
           : CrossInto(args, c.batch, g.dtype, g.dptr, c.out, a.dptr, c.a, all, dense);
    SumVectors(args, c.batch, all, dense, v, args.out[i]);
  }
}

void RegisterCross() {
  Op::Register("_npi_cross")
      .describe(
          "Cross products of vectors of 2 or 3 components; the third one of 2 is 0.\n\n"
          "The vectors lie along axisa of a and axisb of b; the other dimensions are broadcast. The result has vectors of 3 components "
          "along "
          "axisc, or, for 2 and 2, only their third component. All dtypes but bool; both arrays have the same one.")
      .set_param<CrossParam>()
      .set_inputs({"a", "b"})
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(CrossShape)
      .set_gradient(BackwardNode("_backward_npi_cross", kGradInputs))
      .set_kernel(CrossKernel);
  Op::Register("_backward_npi_cross")
      .describe("Gradients of _npi_cross.")
      .set_param<CrossParam>()
      .set_inputs({"ograd", "a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"a_grad", "b_grad"})
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // bilinear
        const auto& in = node->inputs;
        const NodeEntry left{MakeNodeLike("_npi_cross", *node, {ograds[0], in[2]}), 0, 0},
            right{MakeNodeLike("_npi_cross", *node, {in[1], ograds[1]}), 0, 0};
        const NodePtr both = MakeNodeLike("_backward_npi_cross", *node, {in[0], ograds[0], ograds[1]});
        return std::vector<NodeEntry>{MakeOp("elemwise_add", {left, right}), NodeEntry{both, 0, 0}, NodeEntry{both, 1, 0}};
      })
      .set_kernel(CrossBackward);
}

// ---- trace

struct TraceParam : public Parameter<TraceParam> {
  int offset, axis1, axis2;
  MXNET_DECLARE_PARAM(TraceParam) {
    MXNET_FIELD(offset).set_default(0).describe("Which diagonal: above the main one when positive.");
    MXNET_FIELD(axis1).set_default(0).describe("Dimension of the rows of the matrices.");
    MXNET_FIELD(axis2).set_default(1).describe("Dimension of their columns.");
  }
};
MXNET_REGISTER_PARAM(TraceParam);

// The diagonals of `whole` under the labels of its dimensions; axis1's is that of the diagonal.
struct Diagonals {
  int rows = 0, columns = 0;
  Labelled view;
  std::vector<int64_t> sizes;
  std::vector<int> kept;
  Shape result;
};
Diagonals Find(const Attrs& attrs, const TBlob& whole) {
  const auto& p = attrs.get<TraceParam>();
  const Shape& s = whole.shape;
  MXNET_CHECK_KIND(s.ndim() >= 2, Value) << "[" << attrs.op->name << "] data has shape " << s << "; at least 2 dimensions are needed";
  Diagonals d;
  d.rows = CheckedAxis(attrs, p.axis1, s.ndim(), "axis1"), d.columns = CheckedAxis(attrs, p.axis2, s.ndim(), "axis2");
  MXNET_CHECK_KIND(d.rows != d.columns, Value) << "[" << attrs.op->name << "] axis1 and axis2 are both dimension " << d.rows
                                               << "; they must differ";
  std::vector<int64_t> strides(static_cast<size_t>(s.ndim())), dims;
  RowMajorStrides(s, strides.data());
  const int64_t down = p.offset < 0 ? -static_cast<int64_t>(p.offset) : 0, right = p.offset > 0 ? p.offset : 0;
  const int64_t length = std::max<int64_t>(0, std::min(s[d.rows] - down, s[d.columns] - right));
  d.sizes.assign(s.begin(), s.end());
  d.sizes[static_cast<size_t>(d.rows)] = length;
  int64_t offset = 0;
  if (length > 0) offset = down * strides[static_cast<size_t>(d.rows)] + right * strides[static_cast<size_t>(d.columns)];
  for (int i = 0; i < s.ndim(); ++i) {
    if (i != d.rows && i != d.columns) dims.push_back(s[i]), d.kept.push_back(i);
    if (i == d.columns || d.sizes[static_cast<size_t>(i)] == 1) continue;
    d.view.labels.push_back(i);
    d.view.strides.push_back(strides[static_cast<size_t>(i)] + (i == d.rows ? strides[static_cast<size_t>(d.columns)] : 0));
  }
  d.view.data = whole.data<char>() + offset * static_cast<int64_t>(DTypeSize(whole.dtype));
  d.result = Shape(dims);
  return d;
}

bool TraceShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known()) return false;
  TBlob data;
  data.shape = (*in)[0];
  AssignShape(attrs, "the result", &(*out)[0], Find(attrs, data).result);
  return true;
}

void TraceKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Diagonals d = Find(*args.attrs, args.in[0]);
  Contract(args, d.sizes, {d.view}, Label(args.out[0], d.kept), args.out[0]);
}

// [ograd, data] -> the gradient of each matrix, on its diagonal
void TraceBackward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Diagonals d = Find(*args.attrs, args.out[0]);
  Contract(args, d.sizes, {Label(args.in[0], d.kept)}, d.view, args.out[0]);
}

void RegisterTrace() {
  Op::Register("_np_trace")
      .alias("_npi_trace")
      .describe("Sums of the diagonals of matrices. Integers wrap around.")
      .set_param<TraceParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(TraceShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_np_trace", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(TraceKernel);
  Op::Register("_backward_np_trace")
      .describe("Gradient of _np_trace.")
      .set_param<TraceParam>()
      .set_inputs({"ograd", "data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_np_trace", *node, {ograds[0]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(TraceBackward);
}

// ---- norm

void Norm(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  reduce::Finish finish;
  finish.sqrt = true;
  reduce::Reduce(args, reduce::kSumSquare, args.in[0], std::vector<char>(static_cast<size_t>(args.in[0].shape.ndim()), 1), finish, true,
                 args.out[0], OpReq::kWrite);
}

// g x / y, or 0 for zeros
std::vector<NodeEntry> NormGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry y{node, 0, 0}, safe = MakeOp("elemwise_add", {y, MakeOp("_backward_linalg_is_zero", {y})});
  return {MakeOp("broadcast_mul", {node->inputs[0], MakeOp("elemwise_div", {ograds[0], safe})})};
}

// In files of 2.0 it also has an order, axes and `keepdims`. `flag` says which of 2.0's functions
// wrote it.
const char* NormInFiles(bool, AttrDict* params) {
  params->erase("flag");
  const auto is = [&](const char* name, std::initializer_list<const char*> values) {
    const auto found = params->find(name);
    return found == params->end() || std::find(values.begin(), values.end(), found->second) != values.end();
  };
  MXNET_CHECK_KIND(is("ord", {"None", "1", "2", "1.0", "2.0"}), Value)
      << "[_npi_norm] ord=" << params->at("ord") << " in a symbol file; accepted: None, 1, 2";
  if (is("axis", {"None"}) && is("keepdims", {"0", "False"}) && is("ord", {"None", "2", "2.0"})) {
    params->clear();
    return nullptr;
  }
  auto ord = params->find("ord");
  if (ord != params->end()) ord->second = ord->second[0] == '1' ? "1" : "2";
  return "_npx_norm";
}

[[maybe_unused]] const bool registered = [] {
  RegisterCross();
  RegisterTrace();
  Op::Register("_npi_norm")
      .describe(
          "The square root of the sum of the squares of all elements, of shape () and the dtype of the data; of integers, rounded down.")
      .set_trait(ParametersInFiles{{}, {}, nullptr, NormInFiles})
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_precision(Precision::kFull)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "the result", &(*out)[0], Shape(0));
        return (*in)[0].known();
      })
      .set_gradient(NormGradient)
      .set_kernel(Norm);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
