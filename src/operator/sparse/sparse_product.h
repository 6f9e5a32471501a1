/* op(csr) times a matrix, for dot and what is made of it. */
#ifndef MXNET_OPERATOR_SPARSE_SPARSE_PRODUCT_H_
#define MXNET_OPERATOR_SPARSE_SPARSE_PRODUCT_H_

#include <algorithm>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/* The right factor: `rows` of them in memory, each of `columns` elements of the type that is
 * computed in. `stored`: the numbers of these rows, ascending, unless there are `all`. */
struct Matrix {
  const void* data = nullptr;
  int64_t rows = 0, columns = 1;
  bool all = true;
  const int64_t* stored = nullptr;
};

/* Operations that take as long as products of so many elements with rows of so many columns:
 * reaching such a row takes as long as nine columns of it. */
inline double ProductFlops(int64_t elements, int64_t columns) {
  return 2 * static_cast<double>(elements) * static_cast<double>(columns + 9);
}
/* The same for a csr matrix all of whose elements are stored; `result`: of the product, or of its
 * transpose, whose rows (columns) are those of csr, or with `turned` its columns. */
inline double ProductFlops(const TBlob& csr, bool turned, const TBlob& result) {
  const int64_t kept = csr.shape.ndim() == 2 ? csr.shape[turned ? 1 : 0] : 1;
  return ProductFlops(csr.Size(), result.Size() / std::max<int64_t>(1, kept));
}

/*
 * One csr matrix, or its transpose, as left factor. float16 and bfloat16 are computed in float.
 * Temporary memory is the call's workspace.
 */
class Product {
 public:
  Product(KernelArgs& args, const SparseParts& csr, bool transposed);

  /* A vector, a matrix, its transpose, or (not transposed) a row_sparse matrix. */
  Matrix Rows(const TBlob& dense, bool transposed) const;
  /* out, or its transpose, = product. */
  void Store(const Matrix& right, const TBlob& out, bool transpose_out) const;
  /* The rows of the product that an element of the csr matrix takes part in. */
  void StoreRows(const Matrix& right, SparseParts* out) const;
  /* csr `out` = the transpose of these rows: it has these columns in every row. */
  void StoreColumns(const Matrix& right, SparseParts* out) const;

 private:
  template <typename T>
  struct Csr;
  template <typename T>
  struct Kept;
  template <typename T>
  Csr<T> Elements(const Matrix& right) const;
  template <typename T>
  Kept<T> KeptRows(const Matrix& right) const;
  /* Of a matrix that is the transpose of `turned`: the rows that meet an element of csr. */
  template <typename T>
  void UsedRows(const T* turned, Matrix* m) const;

  KernelArgs& args_;
  const SparseParts& csr_;
  bool transposed_;
  int64_t rows_, inner_;  // of op(csr)
};

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_SPARSE_PRODUCT_H_
