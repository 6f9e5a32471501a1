/*
 * DLPack exchange (https://dmlc.github.io/dlpack), 0.x and 1.x: tensors of other libraries as
 * NDArrays and the other way round, sharing memory. The structures repeat the published ABI.
 */
#ifndef MXNET_NDARRAY_DLPACK_H_
#define MXNET_NDARRAY_DLPACK_H_

#include <cstdint>
#include <functional>

#include "mxnet/ndarray.h"

extern "C" {
typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;  // 1 CPU, 2 CUDA, 3 CUDA host
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;  // code: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
}

namespace mxnet {

constexpr uint64_t kDLPackReadOnly = 1, kDLPackIsCopied = 2;  // flags

/* Streams as DLPack numbers them: a cudaStream_t, or one of these. */
enum ExchangeStream : int64_t {
  kHostWaits = 0,  // not DLPack's: no stream
  kLegacyStream = 1,
  kPerThreadStream = 2,
  kNoOrder = -1
};

/*
 * What is exported is pushed through the engine first, readers too: a consumer may write. Then the
 * consumer's `stream` waits for what devices still have to do on it (kNoOrder: nobody does), or,
 * with kHostWaits, the host. For arrays that are not on a GPU only kHostWaits is accepted. The
 * tensor keeps the memory alive until its deleter runs. Throws Error(kValue).
 */
DLManagedTensor* ToDLPack(const NDArray& array, int64_t stream = kHostWaits);
DLManagedTensorVersioned* ToDLPackVersioned(const NDArray& array, int64_t stream, uint64_t flags);
/* The consumer's part of that alone, for an array on a GPU. Throws Error(kValue) for others. */
void OrderStreamBehind(const NDArray& array, int64_t stream);
/*
 * Shares the tensor's memory; it must be row-major. `transient`: the struct belongs to the caller
 * and is copied; in both cases its deleter runs once the array is gone. On a GPU its producer has
 * ordered its work before the legacy default stream. Throws Error(kType/kValue) on what cannot be
 * shared.
 */
NDArray FromDLPack(DLManagedTensor* tensor, bool transient);
/* The same for DLPack 1.x; of a tensor that is for reading only, a copy. */
NDArray FromDLPackVersioned(DLManagedTensorVersioned* tensor);
/* Shares row-major memory behind its producer's `stream` (kNoOrder, and not on a GPU: it is
 * complete). `deleter` runs once the array is gone. */
NDArray FromDeviceMemory(const TBlob& blob, int64_t stream, std::function<void()> deleter);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_DLPACK_H_
