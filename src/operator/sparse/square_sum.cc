// _square_sum: sums of squares over one axis, of matrices of few stored rows above all (the norms
// of what a batch touched).
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits.h"
#include "operator/reduce/records.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/row_sums.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

using reduce::ReduceParam;

std::vector<char> Reduced(const Attrs& attrs, int ndim) {
  const auto& p = attrs.get<ReduceParam>();
  return reduce::ReducedDims(attrs.op->name, p.axis, p.exclude, true, ndim);
}

bool SquareSumShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return false;
  AssignShape(attrs, "output", &(*out)[0], reduce::ReducedShape(s, Reduced(attrs, s.ndim()), attrs.get<ReduceParam>().keepdims, true));
  return s.known() && (*out)[0].known();
}

void SquareSum(KernelArgs& a) {
  reduce::Reduce(a, reduce::kSumSquare, a.in[0], Reduced(*a.attrs, a.in[0].shape.ndim()), reduce::Finish(), false, a.out[0], a.req[0]);
}

/* 2 ograd data, where ograd is repeated along what was summed over. */
void SquareSumBackward(KernelArgs& a) {
  TBlob ograd = a.in[0];
  ograd.shape = reduce::ReducedShape(a.in[1].shape, Reduced(*a.attrs, a.in[1].shape.ndim()), true, false);
  const int compute = pointwise::ComputeFor(a.out[0].dtype, false);
  const pointwise::Operand in[2] = {ograd, a.in[1]};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_mul), compute, in, 2, pointwise::kBinaryMasks, nullptr, a.out[0], a.req[0]);
  const pointwise::Operand twice[2] = {a.out[0], pointwise::Operand(2.0)};
  if (a.req[0] != OpReq::kNull)
    pointwise::Execute(a.run, pointwise::Forward(pointwise::k_mul), compute, twice, 2, pointwise::kBinaryMasks, nullptr, a.out[0],
                       OpReq::kWrite);
}

// ---- sparse

/* The axis of a matrix that is summed over; -1: another set of axes. */
int AxisOf(const Attrs& attrs) {
  const auto& p = attrs.get<ReduceParam>();
  if (p.exclude || !p.axis.has_value() || p.axis->ndim() != 1) return -1;
  const int64_t axis = (*p.axis)[0];
  return axis == 0 || axis == -2 ? 0 : axis == 1 || axis == -1 ? 1 : -1;
}

bool TakesSquareSum(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const int axis = AxisOf(attrs);
  const bool keeps = axis == 1 && attrs.get<ReduceParam>().keepdims;
  return in[0] == StorageType::kRowSparse && axis >= 0 && GiveStorage(&(*out)[0], keeps ? StorageType::kRowSparse : StorageType::kDense);
}

/* On a GPU: of what is stored, then to where it belongs. */
void SquareSumOnDevice(KernelArgs& args) {
  const SparseParts& in = *args.in[0].sparse;
  const TBlob& out = args.out[0];
  const int axis = AxisOf(*args.attrs);
  TBlob sums = out;
  if (out.sparse) {
    sparse::CopyIndex(args, in, out.sparse);
    sums = sparse::ValuesOf(*out.sparse);
  } else {
    ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
    sums.shape = Shape{axis == 0 ? in.shape[1] : in.stored()};
    if (axis == 1) sums.dptr = args.workspace(sums.Bytes() + 1);
  }
  if (in.stored() == 0 || sums.Size() == 0) return;
  reduce::Reduce(args, reduce::kSumSquare, sparse::ValuesOf(in), axis == 0 ? std::vector<char>{1, 0} : std::vector<char>{0, 1},
                 reduce::Finish(), false, sums, OpReq::kWrite);
  if (out.sparse || axis == 0) return;
  const int64_t* const rows = in.index[SparseParts::kRows].data<int64_t>();
  sparse::SpreadRowsOnDevice(args, sums.dptr, rows, in.stored(), static_cast<int64_t>(DTypeSize(out.dtype)), out.dptr);
}

void SquareSumSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  if (in.shape.ndim() != 2) return sparse::RunDense(args, 0);
  if (args.run.ctx.is_gpu()) return SquareSumOnDevice(args);
  const int axis = AxisOf(*args.attrs);
  const TBlob& out = args.out[0];
  const int64_t *const rows = in.index[SparseParts::kRows].data<int64_t>(), stored = in.stored(), columns = in.shape[1];
  if (out.sparse) sparse::CopyIndex(args, in, out.sparse);
  VisitDType(in.values.dtype, "_square_sum", [&](auto zero) {
    using T = decltype(zero);
    const T* const values = in.values.data<T>();
    if (out.sparse) {  // a sum a row, each written once
      T* const to = out.sparse->values.data<T>();
      return ParallelFor(stored, sparse::Grain(columns), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
          double sum = 0;
          for (int64_t c = 0; c < columns; ++c) {
            const double v = static_cast<double>(values[n * columns + c]);
            sum += v * v;
          }
          to[n] = static_cast<T>(sum);
        }
      });
    }
    std::vector<double> sums(static_cast<size_t>(out.Size()), 0.0);
    for (int64_t n = 0; n < stored; ++n)
      for (int64_t c = 0; c < columns; ++c) {
        const double v = static_cast<double>(values[n * columns + c]);
        sums[static_cast<size_t>(axis == 0 ? c : rows[n])] += v * v;
      }
    ConvertElements(sums.data(), kFloat64, out.dptr, out.dtype, static_cast<int64_t>(sums.size()));
  });
}

/* A dense array has gradients of the rows that a row_sparse gradient of sums over axis 1 has. */
bool TakesSquareSumBackward(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if (in[0] == StorageType::kCSR || AxisOf(attrs) < 0) return false;
  const bool rows = in[1] == StorageType::kDense && in[0] == StorageType::kRowSparse && AxisOf(attrs) == 1;
  return (rows || in[1] == StorageType::kRowSparse) && GiveStorage(&(*out)[0], StorageType::kRowSparse);
}

/* Of sums over axis 1 whose gradient is row_sparse: the rows that both have, as in 1.9.1. So an
 * optimizer does not take rows for touched that nothing was computed from. Takes time in proportion
 * to the rows of that which has fewer. */
void CommonRows(const SparseParts& ograd, const SparseParts& data, SparseParts* result) {
  const int64_t *const g = ograd.index[SparseParts::kRows].data<int64_t>(), *const g_last = g + ograd.stored();
  const int64_t *const x = data.index[SparseParts::kRows].data<int64_t>(), *const x_last = x + data.stored();
  std::vector<std::pair<int64_t, int64_t>> places;  // in ograd, in data
  const int64_t *i = g, *k = x;
  while (i != g_last && k != x_last) {
    if (*i == *k)
      places.emplace_back(i++ - g, k++ - x);
    else
      *i < *k ? i = sparse::NextRow(i, g_last, *k) : k = sparse::NextRow(k, x_last, *i);
  }
  result->Resize(static_cast<int64_t>(places.size()));
  int64_t* const index = result->index[SparseParts::kRows].data<int64_t>();
  const int64_t columns = data.shape[1];
  VisitDType(data.values.dtype, "_backward_square_sum", [&](auto zero) {
    using T = decltype(zero);
    const T *const weight = ograd.values.data<T>(), *const from = data.values.data<T>();
    T* const to = result->values.data<T>();
    ParallelFor(static_cast<int64_t>(places.size()), sparse::Grain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const auto [place, row] = places[static_cast<size_t>(n)];
        index[n] = g[place];
        for (int64_t c = 0; c < columns; ++c) to[n * columns + c] = static_cast<T>(2 * weight[place] * from[row * columns + c]);
      }
    });
  });
}

/* The same where data has every row: those of ograd. */
void RowsOfGradient(KernelArgs& args, const SparseParts& ograd, const TBlob& data, SparseParts* result) {
  TBlob in[2] = {sparse::ValuesOf(ograd), data};
  in[1].shape = Shape{ograd.stored(), data.shape[1]};
  in[1].dptr = args.workspace(in[1].Bytes() + 1);
  sparse::CopyIndex(args, ograd, result);
  if (result->values.Size() == 0) return;
  sparse::GatherRows(args, data, ograd.index[SparseParts::kRows].data<int64_t>(), ograd.stored(), in[1].data<char>());
  sparse::RunKernel(args, *sparse::DenseKernel(args), Span<const TBlob>(in, 2), sparse::ValuesOf(*result));
}

void SumsBackward(KernelArgs& args, const SparseParts& ograd, const TBlob& data, SparseParts* result) {
  if (!data.sparse) return RowsOfGradient(args, ograd, data, result);
  if (sparse::IsWhole(*data.sparse)) return RowsOfGradient(args, ograd, sparse::ValuesOf(*data.sparse), result);
  args.run.ctx.is_gpu() ? ComputeOnHost(args) : CommonRows(ograd, *data.sparse, result);
}

/* The dense kernel on the rows of data: with their part of ograd, or (sums over rows) with all. */
void SquareSumBackwardSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  SparseParts* const result = args.out[0].sparse;
  if (args.in[1].shape.ndim() != 2) return sparse::RunDense(args, 0);
  if (args.in[0].sparse && AxisOf(*args.attrs) == 1) return SumsBackward(args, *args.in[0].sparse, args.in[1], result);
  const SparseParts& data = *args.in[1].sparse;
  TBlob in[2] = {sparse::AsDense(args, args.in[0]), sparse::ValuesOf(data)};
  if (AxisOf(*args.attrs) == 1) {
    char* const part = static_cast<char*>(args.workspace(static_cast<size_t>(data.stored()) * DTypeSize(in[0].dtype) + 1));
    TBlob column = in[0];
    column.shape = Shape{data.shape[0], 1};
    sparse::GatherRows(args, column, data.index[SparseParts::kRows].data<int64_t>(), data.stored(), part);
    in[0].dptr = part;
  }
  sparse::CopyIndex(args, data, result);
  if (result->values.Size() == 0) return;
  sparse::RunKernel(args, *sparse::DenseKernel(args), Span<const TBlob>(in, 2), sparse::ValuesOf(*result));
}

MXNET_REGISTER_OP(_backward_square_sum)
    .describe("Gradient of _square_sum.")
    .set_param<ReduceParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      // linear in ograd and in data
      const NodeEntry weighted = MakeOp("elemwise_mul", {ograds[0], node->inputs[1]});
      const NodeEntry sum{MakeNodeLike("sum", *node, {MakeOp("_mul_scalar", {weighted}, {{"scalar", "2"}})}), 0, 0};
      return std::vector<NodeEntry>{MakeOp("reshape_like", {sum, node->inputs[0]}),
                                    NodeEntry{MakeNodeLike("_backward_square_sum", *node, {node->inputs[0], ograds[0]}), 0, 0}};
    })
    .set_kernel(SquareSumBackward);
MXNET_REGISTER_OP(_square_sum)
    .describe("Sum of squares over axes. Of a row_sparse matrix over axis 1 with keepdims it is row_sparse.")
    .set_param<ReduceParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_precision(Precision::kFull)
    .set_infer_shape(SquareSumShape)
    .set_gradient(BackwardNode("_backward_square_sum", kGradInputs))
    .set_trait(Role::kSumOfSquares)
    .set_trait(Reduction{[](const Attrs& attrs, int ndim) {
      return ReductionView{Reduced(attrs, ndim), attrs.get<ReduceParam>().keepdims, false};
    }})
    .set_kernel(SquareSum);
MXNET_REGISTER_SPARSE(_square_sum, TakesSquareSum)
    .set_kernel(DeviceType::kCPU, SquareSumSparse)
    .set_kernel(DeviceType::kGPU, SquareSumSparse);
MXNET_REGISTER_SPARSE(_backward_square_sum, TakesSquareSumBackward)
    .set_kernel(DeviceType::kCPU, SquareSumBackwardSparse)
    .set_kernel(DeviceType::kGPU, SquareSumBackwardSparse);

}  // namespace
}  // namespace mxnet
