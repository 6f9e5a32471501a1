/* Product of sparse_product.h on a GPU. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_PRODUCT_H_
#define MXNET_OPERATOR_SPARSE_GPU_PRODUCT_H_

#include "operator/record/sparse_form.h"
#include "operator/sparse/sparse_product.h"

namespace mxnet {
namespace sparse {

/*
 * Row r of `out` = the sum of rows index[pointers[r]] to index[pointers[r + 1] - 1] of `from`,
 * times these elements of `values` (null: 1). `places`: of each row of `from` 1 + where it is, or
 * 0, then it is left out; null: in order. `elements`: how many there are.
 */
struct PointedSums {
  int64_t rows, elements;
  const int64_t *pointers, *index;
  const void *values, *from;
  const int64_t* places;
  int64_t columns;
  void* out;
};
void SumByPointers(KernelArgs& args, int dtype, const PointedSums& sums);

/*
 * Elements stay in their own dtype; sums are float, of float64 double. Of a csr matrix that is not
 * transposed, neighbouring threads read neighbouring columns of the right factor's rows, and rows
 * with many elements are shared by up to a warp: one order of sums for a shape. A transposed one
 * adds to its dense result by atomic additions, or, with MXNET_ENFORCE_DETERMINISM and for results
 * that store rows, is sorted by columns first.
 */
class DeviceProduct {
 public:
  DeviceProduct(KernelArgs& args, const SparseParts& csr, bool transposed);

  /* As those of Product. */
  Matrix Rows(const TBlob& dense, bool transposed) const;
  void Store(const Matrix& right, const TBlob& out, bool transpose_out) const;
  /* Wait for the number of rows. */
  void StoreRows(const Matrix& right, SparseParts* out) const;
  void StoreColumns(const Matrix& right, SparseParts* out) const;

 private:
  /* Rows of elements: row r has numbers pointers[r] to pointers[r + 1] - 1 of both others. */
  struct Csr {
    int64_t rows, elements;
    const int64_t *pointers, *index;
    const void* values;
    const int64_t* ids = nullptr;  // which rows these are
  };
  Csr Given() const;
  /* The elements that meet a row which the right factor stores. */
  Csr Met(const Matrix& right) const;
  /* Of op(csr): those that have elements. */
  Csr UsedRows(const Csr& csr) const;
  /* All of the transpose. */
  Csr Transposed() const;
  /* `element`: of the sorted elements, which they were. */
  void TakeElements(const Csr& from, const int64_t* element, Csr* to) const;
  void Gather(const Csr& csr, const Matrix& right, void* out) const;
  void Scatter(const Matrix& right, const TBlob& out) const;
  const int64_t* Places(const Matrix& right) const;

  KernelArgs& args_;
  const SparseParts& csr_;
  bool transposed_;
  int64_t rows_, inner_;  // of op(csr)
  int dtype_;
};

/* A kernel that computes with DeviceProduct. Errors of dtypes that there is no product of are told
 * on the host. */
template <void (*compute)(KernelArgs&)>
void ProductsOnDevice(KernelArgs& args) {
  IsFloating(args.in[0].dtype) ? compute(args) : ComputeOnHost(args);
}

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_PRODUCT_H_
