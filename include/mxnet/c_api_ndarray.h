/* Arrays: making, copies, views, files, exchange with other libraries and processes: a part of the
 * C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_NDARRAY_H_
#define MXNET_C_API_NDARRAY_H_

#include "mxnet/c_api.h"

/* DLPack for a consumer's CUDA stream, as DLPack numbers them (1 and 2: default streams, else a
 * cudaStream_t): the stream waits for what is under way on the array's
   GPU. -1: nobody waits. 0: the host does, as it must for arrays that are not on a GPU. Versioned: a tensor of DLPack 1.x. What is taken has to be ready for the
   legacy default stream; of a tensor for reading only the array is a copy. */

/* A tensor of DLPack before 1.0. Its consumer, or MXNDArrayCallDLPackDeleter, frees it. */
MXNET_C_DLL int MXNDArrayToDLPackForStream(NDArrayHandle handle, int64_t stream, DLManagedTensorHandle* out_dlpack);

/* A tensor of DLPack 1.x, whose consumer frees it; with `is_copied` of a copy of the array. */
MXNET_C_DLL int MXNDArrayToDLPackVersioned(NDArrayHandle handle, int64_t stream, bool is_copied,
                                           DLManagedTensorVersionedHandle* out_dlpack);

/* A new array on the tensor's memory, which it keeps. The tensor is the array's from then on. */
MXNET_C_DLL int MXNDArrayFromDLPackVersioned(DLManagedTensorVersionedHandle dlpack, NDArrayHandle* out_handle);

/* Row-major memory on a GPU of an object with __cuda_array_interface__, ready for `stream` (-1: for
 * all). `owner`: a PyObject* or null, of which the array takes
   one reference and gives it back when it is gone. */
MXNET_C_DLL int MXNDArrayFromCudaArray(void* data, int ndim, const int64_t* shape, int dtype, int64_t stream, void* owner,
                                       NDArrayHandle* out_handle);

/* The destructor of a Python capsule of a DLPack tensor, of either kind: frees what nobody
 * consumed. Native, because it also runs while an exception is on its way and
   while the interpreter ends, when no Python function can be called. `capsule` is a PyObject*; the process must hold the interpreter. */
MXNET_C_DLL void MXNDArrayFreeDLPackCapsule(void* capsule);

/* New arrays; the handle goes back through MXNDArrayFree. Device types: 1 CPU, 2 GPU, 3 page-locked
 * memory, 5 shared memory. Dtypes: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6
 * int64, 7 bool, 12 bfloat16. MXNDArrayCreate makes float32. With `delay_alloc` memory is taken at
 * the first use. MXNDArrayCreateNone makes an array without shape, for outputs. */

/* An array without shape, as an output whose shape an operator finds. */
MXNET_C_DLL int MXNDArrayCreateNone(NDArrayHandle* out);

/* A float32 array of `ndim` dimensions. Its values are not set. */
MXNET_C_DLL int MXNDArrayCreate(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, NDArrayHandle* out);

/* The same with a dtype. */
MXNET_C_DLL int MXNDArrayCreateEx(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                                  NDArrayHandle* out);

/* The same with dimensions beyond 32 bits. */
MXNET_C_DLL int MXNDArrayCreateEx64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                                    NDArrayHandle* out);

/* Sparse arrays. Storage types: 1 row_sparse, 2 csr. Index arrays: of row_sparse the numbers of the
 * stored rows, ascending; of csr 0 the index pointers, 1 the columns. */

/* A sparse array without elements. `num_aux`: its index arrays, 1 or 2, with a dtype for each, as
 * which it is shown, and `aux_ndims` dimensions, 1 each. Sizes above 0 in `aux_shape` make room for
 * so many, of zeros. */
MXNET_C_DLL int MXNDArrayCreateSparseEx(int storage_type, const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                                        int dtype, uint32_t num_aux, int* aux_type, uint32_t* aux_ndims, const uint32_t* aux_shape,
                                        NDArrayHandle* out);

/* The same with dimensions beyond 32 bits. */
MXNET_C_DLL int MXNDArrayCreateSparseEx64(int storage_type, const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                                          int dtype, uint32_t num_aux, int* aux_type, int* aux_ndims, const int64_t* aux_shape,
                                          NDArrayHandle* out);

/* The dtype of index array `i`. */
MXNET_C_DLL int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int* out_type);

/* The same with a wider number. */
MXNET_C_DLL int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int* out_type);

/* A copy of index array `i`, as a dense array. Waits for the array. */
MXNET_C_DLL int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle* out);

/* The same with a wider number. */
MXNET_C_DLL int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle* out);

/* A copy of the stored values, as a dense array. Waits for the array. */
MXNET_C_DLL int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle* out);

/* An error where the parts are not what they have to be. `full_check`: looks at every index, else
 * at shapes and ends. Dense arrays are always right. */
MXNET_C_DLL int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check);

/* One array as bytes, in the format of the files, and back. */

/* A new array from `size` bytes, which are copied. Bytes that are no array are an error. */
MXNET_C_DLL int MXNDArrayLoadFromRawBytes(const void* buf, size_t size, NDArrayHandle* out);

/* The array as bytes, which live until this thread's next call. Waits for the array. */
MXNET_C_DLL int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t* out_size, const char** out_buf);

/* Files of several arrays, with a name for each or with none (`keys` null). Loading makes
 * `out_size` new arrays, which the caller frees; the lists themselves live until the next call on
 * the thread. The same from memory: MXNDArrayLoadFromBuffer. */

/* Writes `num_args` arrays to a file, which is replaced as a whole. Waits for them. */
MXNET_C_DLL int MXNDArraySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys);

/* Reads a file; `out_name_size` is 0 where the arrays have no names. */
MXNET_C_DLL int MXNDArrayLoad(const char* fname, uint32_t* out_size, NDArrayHandle** out_arr, uint32_t* out_name_size,
                              const char*** out_names);

/* Reads the same from `size` bytes of memory, which are copied. */
MXNET_C_DLL int MXNDArrayLoadFromBuffer(const void* ndarray_buffer, size_t size, uint32_t* out_size, NDArrayHandle** out_arr,
                                        uint32_t* out_name_size, const char*** out_names);

/* Copies between the caller's memory and an array, and waits for that. `size` counts elements, and
 * must be that of the array. */

/* Fills the array with `size` elements of its dtype at `data`. */
MXNET_C_DLL int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void* data, size_t size);

/* Copies `size` elements to `data`. Raises errors of what computes the array. */
MXNET_C_DLL int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void* data, size_t size);

/* Copies an array into another one, and waits for that. `i` is -1 for the whole array; of a sparse
 * one for its stored values, else the number of an index array. Such a part gets the shape of what
 * is copied, and the other parts have to fit when the array is used. */
MXNET_C_DLL int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src, const int i);

/* Waits until what is under way has written the array, or has written and read it, or for
 * everything. Raises the errors of these operations. */

/* Waits for what writes the array. */
MXNET_C_DLL int MXNDArrayWaitToRead(NDArrayHandle handle);

/* Waits for what writes or reads the array. */
MXNET_C_DLL int MXNDArrayWaitToWrite(NDArrayHandle handle);

/* Waits for everything that any thread pushed. */
MXNET_C_DLL int MXNDArrayWaitAll(void);

/* Gives an array's handle back. Operations under way keep the memory. */
MXNET_C_DLL int MXNDArrayFree(NDArrayHandle handle);

/* Views, which share the array's memory: rows `begin` to `end` of the first dimension, or one of
 * them without that dimension. Each is a new handle. */

/* Rows `slice_begin` to `slice_end`, without the latter. Rows that are not there are an error. */
MXNET_C_DLL int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end, NDArrayHandle* out);

/* The same with wider numbers. */
MXNET_C_DLL int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end, NDArrayHandle* out);

/* Row `idx`, with one dimension less. */
MXNET_C_DLL int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle* out);

/* The same with a wider number. */
MXNET_C_DLL int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle* out);

/* 0 for dense arrays, 1 for row_sparse and 2 for csr ones, -1 for an array without shape. */
MXNET_C_DLL int MXNDArrayGetStorageType(NDArrayHandle handle, int* out_storage_type);

/* The same elements in another shape, as a new handle. A dimension of 0 keeps the one at its place,
 * -1 follows from the others, -2 to -4 are those of the operator reshape. `reverse` counts from the
 * last dimension. */

/* A view with `ndim` dimensions. Where all are above 0 they may name fewer elements, the first
 * ones. */
MXNET_C_DLL int MXNDArrayReshape(NDArrayHandle handle, int ndim, int* dims, NDArrayHandle* out);

/* The same with wider numbers, and `reverse`. */
MXNET_C_DLL int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t* dims, bool reverse, NDArrayHandle* out);

/* A view of the array's bytes from its beginning on as `ndim` dimensions of `dtype`. An error where
 * it does not have so many, or where the first one is not at a multiple of the dtype's size. */
MXNET_C_DLL int MXNDArrayViewAs(NDArrayHandle handle, int ndim, const int64_t* shape, int dtype, NDArrayHandle* out);

/* Number of dimensions and dimensions. Ex: -1 where unknown; 64: dimensions beyond 32 bits, which
 * the others refuse. */

/* Unsigned dimensions, which live until this thread's next call. 0 where unknown. */
MXNET_C_DLL int MXNDArrayGetShape(NDArrayHandle handle, uint32_t* out_dim, const uint32_t** out_pdata);

/* Signed dimensions. `out_dim` is -1 for an array without shape. */
MXNET_C_DLL int MXNDArrayGetShapeEx(NDArrayHandle handle, int* out_dim, const int** out_pdata);

/* The same with wider dimensions. */
MXNET_C_DLL int MXNDArrayGetShapeEx64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata);

/* The address of the first element, after waiting for what writes the array. The caller may read
 * and write there until the array is used otherwise. */
MXNET_C_DLL int MXNDArrayGetData(NDArrayHandle handle, void** out_pdata);

/* Exchange of arrays without a copy by DLPack. The consumer of a DLManagedTensor calls its deleter;
 * MXNDArrayCallDLPackDeleter does so for one that nobody consumed. `transient_handle`: the caller's
 * struct is copied, and may go. */

/* A tensor on the array's memory, which it keeps until its deleter is called. Waits for the array.
 **/
MXNET_C_DLL int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle* out_dlpack);

/* A new array on the tensor's memory. The tensor is the array's from then on. */
MXNET_C_DLL int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle* out_handle);

/* The same; with `transient_handle` only the struct's contents are taken over. */
MXNET_C_DLL int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle, NDArrayHandle* out_handle);

/* Frees a tensor that nobody consumed. */
MXNET_C_DLL int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);

/* Dtype and device of an array, as numbers. */

/* The number of the array's dtype; -1 where it is unknown. */
MXNET_C_DLL int MXNDArrayGetDType(NDArrayHandle handle, int* out_dtype);

/* The number of the device's type, and of the device. */
MXNET_C_DLL int MXNDArrayGetContext(NDArrayHandle handle, int* out_dev_type, int* out_dev_id);

/* Arrays in memory that processes share: what names the memory of an array, and an array on what
 * another process named. */

/* Names the memory of an array on the device type 5. It stays while an array uses it. */
MXNET_C_DLL int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int* shared_pid, int* shared_id);

/* A new array on memory of that name. The shape must fit in it. */
MXNET_C_DLL int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t* shape, uint32_t ndim, int dtype,
                                             NDArrayHandle* out);

/* MXNDArrayCreateFromSharedMem with dimensions that may be 0. */
MXNET_C_DLL int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int* shape, int ndim, int dtype, NDArrayHandle* out);

/* Another handle for the same array or symbol. */
MXNET_C_DLL int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle* out);

/* Other names of MXNDArrayCreateEx64, MXNDArraySave and MXNDArrayGetShapeEx64, from MXNet 2.0. */

/* MXNDArrayCreateEx64. */
MXNET_C_DLL int MXNDArrayCreate64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype, NDArrayHandle* out);

/* MXNDArraySave. */
MXNET_C_DLL int MXNDArrayLegacySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys);

/* MXNDArrayGetShapeEx64. */
MXNET_C_DLL int MXNDArrayGetShape64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata);

#endif /* MXNET_C_API_NDARRAY_H_ */
