/*
 * DLPack 0.x exchange (https://dmlc.github.io/dlpack): tensors of other libraries as NDArrays and the other way round, sharing memory.
 * The structures repeat the published ABI.
 */
#ifndef MXNET_NDARRAY_DLPACK_H_
#define MXNET_NDARRAY_DLPACK_H_

#include <cstdint>

#include "mxnet/ndarray.h"

extern "C" {
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;         // 1 CPU, 2 CUDA, 3 CUDA host
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;   // code: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
typedef struct { void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
typedef struct DLManagedTensor { DLTensor dl_tensor; void* manager_ctx; void (*deleter)(struct DLManagedTensor* self); } DLManagedTensor;
}

namespace mxnet {

/* Waits for pending work. The result keeps the memory alive until its deleter runs. */
DLManagedTensor* ToDLPack(const NDArray& array);
/*
 * Shares the tensor's memory; it must be row-major. `transient`: the struct belongs to the caller and is copied; in both cases its deleter
 * runs once the array is gone. Throws Error(kType/kValue) on what cannot be shared.
 */
NDArray FromDLPack(DLManagedTensor* tensor, bool transient);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_DLPACK_H_
