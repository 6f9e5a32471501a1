/* Sparse arrays from C: making them, their parts, and what is refused. */
#include "c_check.h"
#include "mxnet/c_api.h"

enum { kRowSparse = 1, kCSR = 2, kFloat32 = 0, kInt32 = 4, kInt64 = 6 };

static NDArrayHandle Dense(const int64_t* shape, int ndim, int dtype, const void* values, size_t size) {
  NDArrayHandle a;
  OK(MXNDArrayCreateEx64(shape, ndim, 1, 0, 0, dtype, &a));
  if (size > 0) OK(MXNDArraySyncCopyFromCPU(a, values, size));
  return a;
}

static NDArrayHandle Sparse(int storage, const int64_t* shape, int ndim, int index_dtype, const int64_t* sizes) {
  int types[2] = {index_dtype, index_dtype}, ndims[2] = {1, 1};
  NDArrayHandle a;
  OK(MXNDArrayCreateSparseEx64(storage, shape, ndim, 1, 0, 0, kFloat32, storage == kCSR ? 2 : 1, types, ndims, sizes, &a));
  return a;
}

static void SetPart(NDArrayHandle a, int part, int dtype, const void* values, int64_t count) {
  NDArrayHandle from = Dense(&count, 1, dtype, values, (size_t)count);
  OK(MXNDArraySyncCopyFromNDArray(a, from, part));
  OK(MXNDArrayFree(from));
}

static void CSR(void) {
  const int64_t shape[] = {2, 3}, none[] = {0, 0};
  const float values[] = {5, 6, 7};
  const int64_t indptr[] = {0, 1, 3};
  const int32_t columns[] = {1, 0, 2}, outside[] = {1, 0, 9};
  NDArrayHandle a = Sparse(kCSR, shape, 2, kInt32, none), part, dense;
  int storage, type, dims, device, id;
  const int64_t* found;
  int32_t read[3];
  float all[6];
  OK(MXNDArrayGetStorageType(a, &storage));
  CHECK(storage == kCSR);
  OK(MXNDArrayGetShapeEx64(a, &dims, &found));
  CHECK(dims == 2 && found[0] == 2 && found[1] == 3);
  OK(MXNDArrayGetContext(a, &device, &id));
  CHECK(device == 1 && id == 0);
  SetPart(a, -1, kFloat32, values, 3);
  SetPart(a, 0, kInt64, indptr, 3);
  SetPart(a, 1, kInt32, columns, 3);
  OK(MXNDArraySyncCheckFormat(a, true));
  OK(MXNDArrayGetAuxType(a, 1, &type));
  CHECK(type == kInt32);
  OK(MXNDArrayGetAuxNDArray(a, 1, &part));
  OK(MXNDArraySyncCopyToCPU(part, read, 3));
  CHECK(read[0] == 1 && read[1] == 0 && read[2] == 2);
  OK(MXNDArrayFree(part));
  OK(MXNDArrayGetDataNDArray(a, &part));
  OK(MXNDArraySyncCopyToCPU(part, all, 3));
  CHECK(all[2] == 7);
  OK(MXNDArrayFree(part));
  dense = Dense(shape, 2, kFloat32, NULL, 0);
  OK(MXNDArraySyncCopyFromNDArray(dense, a, -1)); /* all of it, into a dense one */
  OK(MXNDArraySyncCopyToCPU(dense, all, 6));
  CHECK(all[0] == 0 && all[1] == 5 && all[3] == 6 && all[5] == 7);
  SetPart(a, 1, kInt32, outside, 3);
  OK(MXNDArraySyncCheckFormat(a, false));
  FAILS(MXNDArraySyncCheckFormat(a, true), "indices[2] is 9");
  FAILS(MXNDArraySyncCopyFromNDArray(dense, a, -1), "indices[2] is 9"); /* never a read outside */
  OK(MXNDArrayFree(dense));
  OK(MXNDArrayFree(a));
}

static void RowSparse(void) {
  const int64_t shape[] = {4, 2}, none[] = {0}, rows_shape[] = {1, 2};
  const uint32_t narrow_shape[] = {4, 2}, narrow_none[] = {0};
  uint32_t narrow_dims[] = {1};
  const float rows[] = {1, 2};
  const int64_t ids[] = {3};
  int types[] = {kInt64}, type;
  NDArrayHandle a = Sparse(kRowSparse, shape, 2, kInt64, none), same, from, part;
  const char* bytes;
  size_t size;
  int64_t id;
  from = Dense(rows_shape, 2, kFloat32, rows, 2);
  OK(MXNDArraySyncCopyFromNDArray(a, from, -1));
  OK(MXNDArrayFree(from));
  FAILS(MXNDArraySyncCheckFormat(a, false), "0 indices and 1 rows");
  SetPart(a, 0, kInt64, ids, 1);
  OK(MXNDArraySyncCheckFormat(a, true));
  OK(MXNDArrayGetAuxType64(a, 0, &type));
  CHECK(type == kInt64);
  OK(MXNDArraySaveRawBytes(a, &size, &bytes));
  OK(MXNDArrayLoadFromRawBytes(bytes, size, &same));
  OK(MXNDArrayGetAuxNDArray64(same, 0, &part));
  OK(MXNDArraySyncCopyToCPU(part, &id, 1));
  CHECK(id == 3);
  OK(MXNDArrayFree(part));
  OK(MXNDArrayFree(same));
  OK(MXNDArrayFree(a));
  OK(MXNDArrayCreateSparseEx(kRowSparse, narrow_shape, 2, 1, 0, 1, kFloat32, 1, types, narrow_dims, narrow_none, &a));
  OK(MXNDArraySyncCheckFormat(a, true));
  OK(MXNDArrayFree(a));
}

static void Refused(void) {
  const int64_t shape[] = {2, 3}, cube[] = {2, 3, 4}, none[] = {0, 0}, odd[] = {7, 2}, huge[] = {INT64_MAX, INT64_MAX};
  int types[2] = {kInt64, kInt64}, floats[2] = {kFloat32, kFloat32}, ndims[2] = {1, 1}, two[2] = {2, 2}, type;
  float values[6];
  void* address;
  int pid, number;
  NDArrayHandle a, out, dense = Dense(shape, 2, kFloat32, NULL, 0);
  FAILS(MXNDArrayCreateSparseEx64(0, shape, 2, 1, 0, 0, kFloat32, 1, types, ndims, none, &a), "storage type number 0");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, shape, 2, 1, 0, 0, kFloat32, 1, types, ndims, none, &a), "1 index arrays");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, cube, 3, 1, 0, 0, kFloat32, 2, types, ndims, none, &a), "two dimensions");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, shape, 2, 1, 0, 0, kFloat32, 2, floats, ndims, none, &a), "accepted: integers");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, shape, 2, 1, 0, 0, kFloat32, 2, types, two, none, &a), "2 dimensions");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, shape, 2, 1, 0, 0, kFloat32, 2, types, ndims, odd, &a), "indptr of 7 numbers");
  FAILS(MXNDArrayCreateSparseEx64(kRowSparse, huge, 2, 1, 0, 0, kFloat32, 1, types, ndims, none, &a), "accepted: up to that many");
  FAILS(MXNDArrayCreateSparseEx64(kCSR, shape, 2, 1, 0, 0, kFloat32, 2, NULL, ndims, none, &a), "is NULL");
  a = Sparse(kCSR, shape, 2, kInt64, none);
  FAILS(MXNDArrayGetAuxType(a, 2, &type), "accepted: 0 to 1");
  FAILS(MXNDArrayGetAuxNDArray64(a, -1, &out), "accepted: 0 to 1");
  FAILS(MXNDArrayGetAuxType(dense, 0, &type), "dense array");
  FAILS(MXNDArrayGetDataNDArray(dense, &out), "dense array");
  FAILS(MXNDArraySyncCopyFromNDArray(a, dense, 5), "part 5");
  FAILS(MXNDArraySyncCopyFromNDArray(a, dense, 0), "dimensions");
  FAILS(MXNDArraySyncCopyFromNDArray(dense, dense, 0), "dense arrays have none");
  FAILS(MXNDArraySyncCopyToCPU(a, values, 6), "csr array");
  FAILS(MXNDArraySyncCopyFromCPU(a, values, 6), "csr array");
  FAILS(MXNDArrayGetData(a, &address), "csr array");
  FAILS(MXNDArraySlice(a, 0, 1, &out), "no views");
  FAILS(MXNDArrayAt(a, 0, &out), "no views");
  FAILS(MXNDArrayToDLPack(a, &address), "csr array");
  FAILS(MXNDArrayGetSharedMemHandle(a, &pid, &number), "csr array");
  OK(MXNDArrayFree(a));
  OK(MXNDArrayFree(dense));
}

int main(void) {
  CSR();
  RowSparse();
  Refused();
  return failures;
}
