// _dot_square_sum: a csr matrix times the sums of squares of a table's rows, as factorization
// machines subtract. Only the rows that the matrix names are squared, and no list of sums as long
// as the table is made.
#include <algorithm>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/linalg/matmul.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/sparse_form.h"
#include "operator/reduce/reduce.h"
#include "operator/sparse/gpu_product.h"
#include "operator/sparse/row_sums.h"
#include "operator/sparse/sparse_product.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

constexpr StorageType kD = StorageType::kDense, kC = StorageType::kCSR;

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &lhs = (*in)[0], &rhs = (*in)[1];
  if (!lhs.known() || !rhs.known()) return false;
  MXNET_CHECK_KIND(lhs.ndim() == 2 && rhs.ndim() == 2 && lhs[1] == rhs[0], Value)
      << "[" << attrs.op->name << "] got lhs of shape " << lhs << " and rhs of shape " << rhs
      << "; accepted: matrices, where lhs has as many columns as rhs has rows";
  AssignShape(attrs, "output", &(*out)[0], Shape{lhs[0], 1});
  return true;
}

/* Sums of squares of each of these rows, in their own dtype, in the workspace. */
TBlob SumsOfRows(KernelArgs& args, const TBlob& rows) {
  TBlob sums = rows;
  sums.shape = Shape{rows.shape[0]};
  sums.dptr = args.workspace(sums.Bytes() + 1);
  if (sums.Size() > 0) reduce::Reduce(args, reduce::kSumSquare, rows, {0, 1}, reduce::Finish(), false, sums, OpReq::kWrite);
  return sums;
}

void Forward(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& lhs = a.in[0];
  const MatmulSize size{1, lhs.shape[0], 1, lhs.shape[1]};
  Matmul(a.run, lhs.dtype, false, false, size, lhs.dptr, SumsOfRows(a, a.in[1]).dptr, a.out[0].dptr, a.workspace);
}

// ---- sparse

bool TakesProduct(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == kC && in[1] != kC && GiveStorage(&(*out)[0], kD);
}

/* What of the table is in memory, and, unless that is `all` in order, the numbers of these rows. */
struct Table {
  TBlob rows;
  bool all = true;
  const int64_t* stored = nullptr;
  explicit Table(const TBlob& table) : rows(table.sparse ? sparse::ValuesOf(*table.sparse) : table) {
    if (!table.sparse) return;
    all = sparse::IsWhole(*table.sparse);
    stored = table.sparse->index[SparseParts::kRows].data<int64_t>();
  }
};

/* From the sums of all rows that are in memory: where the matrix names about as many. */
template <typename Product>
void FromAllSums(KernelArgs& args, const Table& table) {
  const Product product(args, *args.in[0].sparse, false);
  sparse::Matrix sums = product.Rows(SumsOfRows(args, table.rows), false);
  sums.all = table.all, sums.stored = table.stored;
  product.Store(sums, args.out[0], false);
}

/* In double, in an order that only the number of columns decides. */
template <typename T>
double SumOfSquares(const T* row, int64_t columns) {
  constexpr int kSums = 4;
  double sums[kSums] = {}, rest = 0;
  int64_t c = 0;
  for (; c + kSums <= columns; c += kSums)
    for (int k = 0; k < kSums; ++k) sums[k] += static_cast<double>(row[c + k]) * static_cast<double>(row[c + k]);
  for (; c < columns; ++c) rest += static_cast<double>(row[c]) * static_cast<double>(row[c]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}

/* Each element of the matrix squares its row: where it names few of the rows. */
void FromNamedRows(KernelArgs& args, const Table& table) {
  constexpr int64_t kAhead = 8;  // how many elements ahead rows are asked for
  const SparseParts& csr = *args.in[0].sparse;
  const int64_t *const indptr = csr.index[SparseParts::kIndptr].data<int64_t>(), *const index =
                                                                                     csr.index[SparseParts::kColumns].data<int64_t>();
  const int64_t rows = csr.shape[0], columns = table.rows.shape[1], each = csr.stored() / std::max<int64_t>(1, rows) + 1;
  VisitFloating(csr.values.dtype, "_dot_square_sum", [&](auto zero) {
    using T = decltype(zero);
    const T *const values = csr.values.data<T>(), *const data = static_cast<const T*>(table.rows.dptr);
    T* const out = args.out[0].data<T>();
    ParallelFor(rows, sparse::Grain(each * columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        double sum = 0;
        for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) {
          if (table.all && n + kAhead < indptr[end]) __builtin_prefetch(data + index[n + kAhead] * columns);
          const int64_t at = table.all ? index[n] : sparse::FindRow(*args.in[1].sparse, index[n], false);
          if (at >= 0) sum += static_cast<double>(values[n]) * SumOfSquares(data + at * columns, columns);
        }
        out[r] = static_cast<T>(sum);
      }
    });
  });
}

void ForwardSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const Table table(args.in[1]);
  args.in[0].sparse->stored() < table.rows.shape[0] ? FromNamedRows(args, table) : FromAllSums<sparse::Product>(args, table);
}

void ForwardOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  FromAllSums<sparse::DeviceProduct>(args, Table(args.in[1]));
}

/* Of operators that have forms: the gradient of a row_sparse table has the rows that lhs names. */
std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &lhs = node->inputs[0], &rhs = node->inputs[1];
  const AttrDict rows = {{"axis", "1"}, {"keepdims", "True"}};
  const NodeEntry sums = MakeOp("expand_dims", {MakeOp("_square_sum", {rhs}, {{"axis", "1"}})}, {{"axis", "0"}});
  const NodeEntry of_sums = MakeOp("dot", {lhs, ograds[0]}, {{"transpose_a", "True"}});
  return {MakeOp("dot", {ograds[0], sums}), MakeOp("_backward_square_sum", {of_sums, rhs}, rows)};
}

MXNET_REGISTER_OP(_dot_square_sum)
    .describe(
        "Product of a matrix with the sums of squares of another's rows, dot(lhs, sum(square(rhs), axis=1, keepdims=True)). Of a csr lhs "
        "only the rows that it names are squared; the plan compiler makes it.")
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kFloats)
    .set_infer_shape(InferShape)
    .set_expensive_to_recompute()
    .set_gradient(Gradient)
    .set_kernel(Forward);
MXNET_REGISTER_SPARSE(_dot_square_sum, TakesProduct)
    .set_kernel(DeviceType::kCPU, ForwardSparse)
    .set_kernel(DeviceType::kGPU, sparse::ProductsOnDevice<ForwardOnDevice>);

}  // namespace

NodePtr MakeProductWithSquareSums(const NodeEntry& matrix, const NodeEntry& table, const std::string& name) {
  return MakeNode("_dot_square_sum", {matrix, table}, {}, name);
}

}  // namespace mxnet
