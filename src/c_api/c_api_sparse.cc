// Sparse arrays over the C ABI: making them, their parts, checks.
#include <vector>

#include "c_api/c_api_common.h"
#include "mxnet/ndarray.h"

using namespace mxnet;  // NOLINT

namespace {

/* The parts' shapes as a caller gives them, one behind the other. */
template <typename T, typename N>
std::vector<Shape> ShapesOf(uint32_t num, const N* ndims, const T* dims) {
  std::vector<Shape> shapes;
  Need(num, ndims, "numbers of dimensions");
  for (uint32_t i = 0; i < num; ++i) {
    const int64_t ndim = static_cast<int64_t>(ndims[i]);
    MXNET_CHECK_KIND(ndim == 1, Value) << "[NDArray] index array " << i << " of " << ndim << " dimensions; accepted: 1";
    Need(ndim, dims, "dimensions");
    shapes.push_back(Shape{static_cast<int64_t>(dims[i])});
    MXNET_CHECK_KIND(shapes[i][0] >= 0, Value) << "[NDArray] index array " << i << " of " << shapes[i][0] << " numbers; accepted: 0 or more";
  }
  return shapes;
}

template <typename T>
Shape WholeShape(const T* dims, int64_t ndim) {
  Need(ndim, dims, "dimensions");
  Shape shape(static_cast<int>(ndim));
  for (int i = 0; i < ndim; ++i) {
    shape[i] = static_cast<int64_t>(dims[i]);
    MXNET_CHECK_KIND(shape[i] >= 0, Value) << "[NDArray] dimension " << i << " is " << shape[i] << "; accepted: 0 or more";
  }
  return shape;
}

/* Room for as many rows or elements as the index arrays are to have, of zeros. */
void MakeRoom(SparseParts* parts, const std::vector<Shape>& shapes) {
  const int64_t count = shapes.back()[0];
  if (parts->storage == StorageType::kCSR && shapes[0][0] != 0)
    MXNET_CHECK_KIND(shapes[0][0] == parts->shape[0] + 1, Value)
        << "[NDArray] indptr of " << shapes[0][0] << " numbers for an array of shape " << parts->shape
        << "; accepted: " << parts->shape[0] + 1 << ", or 0";
  if (count == 0) return;
  MXNET_CHECK_KIND(parts->storage == StorageType::kCSR || count <= parts->shape[0], Value)
      << "[NDArray] " << count << " indices for a row_sparse array of shape " << parts->shape << "; accepted: 0 to " << parts->shape[0];
  MXNET_CHECK_KIND(!parts->ctx.is_gpu(), Value)
      << "[NDArray] an array on " << parts->ctx << " made with " << count << " indices; accepted: 0, and MXNDArraySyncCopyFromNDArray";
  parts->Resize(count);
  const auto clear = [](SparsePart* part) { std::memset(part->memory.dptr, 0, part->Bytes()); };
  clear(&parts->values);
  for (int i = 0; i < parts->num_index(); ++i) clear(&parts->index[i]);
  parts->state = SparseParts::kUnknown;  // the indices are still to come
}

NDArrayHandle NewSparse(int storage_type, const Shape& shape, int dev_type, int dev_id, bool delay_alloc, int dtype, const int* aux_type,
                        const std::vector<Shape>& aux_shapes) {
  const auto storage = static_cast<StorageType>(storage_type);
  MXNET_CHECK_KIND(IsSparse(storage), Value) << "[NDArray] storage type number " << storage_type << "; accepted: 1 row_sparse, 2 csr";
  auto array = std::make_unique<NDArray>(NDArray::Make(TensorType(shape, dtype, storage), Context::Make(dev_type, dev_id), delay_alloc));
  SparseParts* const parts = array->sparse();
  MXNET_CHECK_KIND(static_cast<int>(aux_shapes.size()) == parts->num_index(), Value)
      << "[NDArray] " << aux_shapes.size() << " index arrays for a " << StorageTypeName(storage) << " array; accepted: " << parts->num_index();
  Need(parts->num_index(), aux_type, "dtypes of index arrays");
  for (int i = 0; i < parts->num_index(); ++i) {
    MXNET_CHECK_KIND(DTypeSize(aux_type[i]) > 0 && !IsFloating(aux_type[i]) && aux_type[i] != kBool, Type)
        << "[NDArray] index array " << i << " of dtype number " << aux_type[i] << "; accepted: integers";
    parts->shown_as[i] = aux_type[i];
  }
  if (aux_shapes.back()[0] != 0) array->chunk()->Allocate();
  MakeRoom(parts, aux_shapes);
  return array.release();
}

const NDArray& Sparse(NDArrayHandle handle, const char* what) {
  const NDArray* a = WithMemory(handle);
  MXNET_CHECK_KIND(a->is_sparse(), Value) << "[NDArray] " << what << " of a dense array; accepted: row_sparse and csr arrays";
  return *a;
}

int IndexPart(const NDArray& a, int64_t i) {
  const int most = a.sparse()->num_index() - 1;
  MXNET_CHECK_KIND(i >= 0 && i <= most, Index) << "[NDArray] index array " << i << " of a " << StorageTypeName(a.storage_type())
                                               << " array; accepted: 0 to " << most;
  return static_cast<int>(i);
}

}  // namespace

int MXNDArrayCreateSparseEx(int storage_type, const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                            uint32_t num_aux, int* aux_type, uint32_t* aux_ndims, const uint32_t* aux_shape, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = NewSparse(storage_type, WholeShape(shape, ndim), dev_type, dev_id, delay_alloc != 0, dtype, aux_type,
                   ShapesOf(num_aux, aux_ndims, aux_shape));
  API_END();
}

int MXNDArrayCreateSparseEx64(int storage_type, const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                              uint32_t num_aux, int* aux_type, int* aux_ndims, const int64_t* aux_shape, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = NewSparse(storage_type, WholeShape(shape, ndim), dev_type, dev_id, delay_alloc != 0, dtype, aux_type,
                   ShapesOf(num_aux, aux_ndims, aux_shape));
  API_END();
}

int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int* out_type) {
  API_BEGIN(out_type);
  const NDArray& a = Sparse(handle, "an index array's dtype");
  *out_type = a.sparse()->shown_as[IndexPart(a, i)];
  API_END();
}

int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int* out_type) { return MXNDArrayGetAuxType64(handle, i, out_type); }

int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle* out) {
  API_BEGIN(out);
  const NDArray& a = Sparse(handle, "an index array");
  *out = new NDArray(CopyOfPart(a, IndexPart(a, i)));
  API_END();
}

int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle* out) { return MXNDArrayGetAuxNDArray64(handle, i, out); }

int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(CopyOfPart(Sparse(handle, "the stored values"), -1));
  API_END();
}

int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check) {
  API_BEGIN();
  CheckSparse(*WithMemory(handle), full_check);
  API_END();
}
