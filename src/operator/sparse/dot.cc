// dot of csr and dense or row_sparse matrices, and its gradients. Every case is one product, csr or
// its transpose times a matrix with rows in memory; where the csr matrix stands on the right, that
// product is the transpose of the result.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "operator/linalg/dot_param.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_product.h"
#include "operator/sparse/sparse_product.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

using sparse::Matrix;
constexpr StorageType kD = StorageType::kDense, kR = StorageType::kRowSparse, kC = StorageType::kCSR;

/* The storage that 1.9.1 gives the result if nobody asks for another. */
StorageType NaturalStorage(const DotParam& p, StorageType lhs, StorageType rhs) {
  if (lhs == kC && rhs != kC && p.transpose_a && !p.transpose_b) return kR;
  if (lhs == kD && rhs == kC && !p.transpose_a) return kC;
  return kD;
}

bool HasProduct(const DotParam& p, StorageType lhs, StorageType rhs) {
  if (lhs == kC) return rhs == kD || (rhs == kR && !p.transpose_b);
  return lhs == kD && rhs == kC;
}

bool TakesDot(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const auto& p = attrs.get<DotParam>();
  const bool given = p.forward_stype.has_value();
  const StorageType wanted = given ? static_cast<StorageType>(*p.forward_stype) : NaturalStorage(p, in[0], in[1]);
  if (!HasProduct(p, in[0], in[1])) return IsSparse(wanted) && GiveStorage(&(*out)[0], wanted);
  if ((*out)[0] == StorageType::kUndefined) (*out)[0] = wanted;
  return true;
}

bool TakesDotBackward(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const auto& p = attrs.get<DotParam>();
  // The gradient of rhs takes lhs alone; two csr matrices have no product of their own before it.
  const bool two = in[1] == kC && in[2] == kC && !p.transpose_a && !p.transpose_b;
  if (!two && !HasProduct(p, in[1], in[2])) return false;
  GiveStorage(&(*out)[0], kD);
  // Without a wish as in 1.9.1: the rows of rhs that lhs names.
  GiveStorage(&(*out)[1], in[1] == kC && (in[2] == kR || !p.transpose_a) ? kR : kD);
  return true;
}

/* out = op(csr) times op(dense), of matrices. `dense` may be row_sparse unless it is transposed.
 * Product: sparse::Product or sparse::DeviceProduct. */
template <typename Product>
void CSRTimes(KernelArgs& args, const TBlob& csr, bool transpose_csr, const TBlob& dense, bool transpose_dense, int output,
              bool transpose_out = false) {
  const TBlob& out = args.out[output];
  Ran("CSR product");
  const Product product(args, *csr.sparse, transpose_csr);
  if (out.sparse && out.sparse->storage == kR && !transpose_out) {
    Matrix rows = product.Rows(dense, transpose_dense);
    return product.StoreRows(rows, out.sparse);
  }
  sparse::ThroughDense(args, output, [&](const TBlob& to) { product.Store(product.Rows(dense, transpose_dense), to, transpose_out); });
}

/* out = op(dense) times op(csr). */
template <typename Product>
void TimesCSR(KernelArgs& args, const TBlob& dense, bool transpose_dense, const TBlob& csr, bool transpose_csr, int output) {
  const TBlob& out = args.out[output];
  if (!out.sparse || out.sparse->storage != kC) return CSRTimes<Product>(args, csr, !transpose_csr, dense, !transpose_dense, output, true);
  Ran("CSR product");
  const Product product(args, *csr.sparse, !transpose_csr);
  product.StoreColumns(product.Rows(dense, !transpose_dense), out.sparse);
}

template <typename Product>
void Dot(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const auto& p = args.param<DotParam>();
  const TBlob &lhs = args.in[0], &rhs = args.in[1];
  const auto storage = [](const TBlob& b) { return b.sparse ? b.sparse->storage : kD; };
  if (!HasProduct(p, storage(lhs), storage(rhs)) || rhs.shape.ndim() > 2 || lhs.shape.ndim() > 2) return sparse::RunDense(args, 0);
  if (lhs.sparse)
    CSRTimes<Product>(args, lhs, p.transpose_a, rhs, p.transpose_b && rhs.shape.ndim() > 1, 0);
  else
    TimesCSR<Product>(args, lhs, p.transpose_a && lhs.shape.ndim() > 1, rhs, p.transpose_b, 0);
}

template <typename Product>
void DotBackward(KernelArgs& args) {
  const auto& p = args.param<DotParam>();
  const TBlob &lhs = args.in[1], &rhs = args.in[2];
  TBlob ograd = args.in[0];
  const bool matrices = lhs.shape.ndim() == 2 && rhs.shape.ndim() == 2;
  if (ograd.sparse && (ograd.sparse->storage == kC || p.transpose_b || !lhs.sparse)) ograd = sparse::AsDense(args, ograd);
  for (int output = 0; output < 2; ++output) {
    if (args.req[output] == OpReq::kNull) continue;
    const bool of_csr = output == (lhs.sparse && lhs.sparse->storage == kC ? 0 : 1);
    if (of_csr || !matrices) {
      sparse::RunDense(args, output);
    } else if (output == 1) {  // op(lhs) transposed times ograd is the gradient of op(rhs)
      CSRTimes<Product>(args, lhs, !p.transpose_a, ograd, false, output, p.transpose_b);
    } else if (p.transpose_a) {  // op(rhs) times ograd transposed
      CSRTimes<Product>(args, rhs, p.transpose_b, ograd, true, output);
    } else {
      TimesCSR<Product>(args, ograd, false, rhs, !p.transpose_b, output);
    }
  }
}

/* `result`: of the product, or its gradient. */
double FlopsOf(const DotParam& p, const TBlob& lhs, const TBlob& rhs, const TBlob& result) {
  const bool left = lhs.sparse && lhs.sparse->storage == kC;
  return sparse::ProductFlops(left ? lhs : rhs, left ? p.transpose_a : !p.transpose_b, result);
}

double DotFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out) {
  return FlopsOf(attrs.get<DotParam>(), in[0], in[1], out[0]);
}

/* Of one gradient: that of csr is computed dense, and seldom wanted. */
double DotBackwardFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob>) {
  return FlopsOf(attrs.get<DotParam>(), in[1], in[2], in[0]);
}

MXNET_REGISTER_SPARSE(dot, TakesDot)
    .set_from_dense()
    .set_flops(DotFlops)
    .set_kernel(DeviceType::kCPU, Dot<sparse::Product>)
    .set_kernel(DeviceType::kGPU, sparse::ProductsOnDevice<Dot<sparse::DeviceProduct>>);
MXNET_REGISTER_SPARSE(_backward_dot, TakesDotBackward)
    .set_flops(DotBackwardFlops)
    .set_kernel(DeviceType::kCPU, DotBackward<sparse::Product>)
    .set_kernel(DeviceType::kGPU, sparse::ProductsOnDevice<DotBackward<sparse::DeviceProduct>>);

}  // namespace
}  // namespace mxnet
