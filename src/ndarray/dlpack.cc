#include "ndarray/dlpack.h"

#include <memory>

#include "engine/stream.h"

namespace mxnet {
namespace {

struct Export {
  NDArray array;
  std::vector<int64_t> shape;
  DLManagedTensor tensor;
};

DLDataType ToDLType(int dtype) {
  const uint8_t bits = static_cast<uint8_t>(DTypeSize(dtype) * 8);
  switch (dtype) {
    case kBfloat16: return {4, bits, 1};
    case kBool: return {6, bits, 1};
    case kUint8: case kUint16: case kUint32: case kUint64: return {1, bits, 1};
    case kInt8: case kInt16: case kInt32: case kInt64: return {0, bits, 1};
    default: return {2, bits, 1};
  }
}

int FromDLType(DLDataType t) {
  MXNET_CHECK_KIND(t.lanes == 1, Type) << "[from_dlpack] got vector elements of " << t.lanes << " lanes; accepted: 1";
  for (int d = 0; d < kNumDTypes; ++d) {
    const DLDataType mine = ToDLType(d);
    if (mine.code == t.code && mine.bits == t.bits) return d;
  }
  MXNET_THROW(Type) << "[from_dlpack] got elements of type code " << int{t.code} << " and " << int{t.bits} << " bits; accepted: the library's dtypes";
}

// A producer has ordered its work before the legacy default stream (mxnet.nd.from_dlpack asks for that). Our streams do not wait for it by themselves: the array's
// first operation does, on a worker, so that the caller's thread keeps its device.
NDArray BehindItsProducer(NDArray array) {
  if (array.ctx().is_gpu() && engine::GetStreamHooks() != nullptr)
    Engine::Get()->PushSync([](RunContext) { engine::GetStreamHooks()->synchronize(nullptr); }, array.ctx(), {}, {array.var()}, FnProperty::kNormal, 0, "from_dlpack");
  return array;
}

}  // namespace

DLManagedTensor* ToDLPack(const NDArray& array) {
  MXNET_CHECK_KIND(!array.is_none(), Value) << "[to_dlpack] the array is empty (none)";
  array.WaitToWrite();   // a consumer may write: readers have to be done too
  auto e = std::make_unique<Export>();
  e->array = array.Detach();
  e->shape.assign(array.shape().begin(), array.shape().end());
  const Context ctx = array.ctx();
  DLTensor& t = e->tensor.dl_tensor;
  t.data = array.data().dptr;
  t.device = {ctx.is_gpu() ? 2 : ctx.dev_type == DeviceType::kCPUPinned ? 3 : 1, ctx.is_gpu() ? ctx.dev_id : 0};
  t.ndim = array.shape().ndim();
  t.dtype = ToDLType(array.dtype());
  t.shape = e->shape.data();
  t.strides = nullptr;
  t.byte_offset = 0;
  e->tensor.manager_ctx = e.get();
  e->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); };
  return &e.release()->tensor;
}

NDArray FromDLPack(DLManagedTensor* tensor, bool transient) {
  MXNET_CHECK_KIND(tensor != nullptr, Value) << "[from_dlpack] got a null tensor";
  const DLTensor& t = tensor->dl_tensor;
  TBlob blob;
  MXNET_CHECK_KIND(t.ndim >= 0 && t.ndim <= 64, Value) << "[from_dlpack] got " << t.ndim << " dimensions";
  blob.shape = Shape(t.shape, t.ndim);
  MXNET_CHECK_KIND(blob.shape.known(), Value) << "[from_dlpack] got shape " << blob.shape;
  if (t.strides && blob.shape.Size() > 1) {
    int64_t expected = 1;
    for (int i = t.ndim - 1; i >= 0; --i) {
      MXNET_CHECK_KIND(t.shape[i] == 1 || t.strides[i] == expected, Value) << "[from_dlpack] the tensor is not row-major (stride " << t.strides[i] << " of axis " << i
                                                                          << ", expected " << expected << "); make it contiguous first";
      expected *= t.shape[i];
    }
  }
  blob.dtype = FromDLType(t.dtype);
  switch (t.device.device_type) {
    case 1: blob.ctx = Context::CPU(); break;
    case 2: blob.ctx = Context::GPU(t.device.device_id); break;
    case 3: blob.ctx = Context::CPUPinned(); break;
    default: MXNET_THROW(Value) << "[from_dlpack] got device type " << t.device.device_type << "; accepted: 1 (CPU), 2 (CUDA), 3 (CUDA host)";
  }
  blob.dptr = static_cast<char*>(t.data) + t.byte_offset;
  MXNET_CHECK_KIND(blob.shape.Size() == 0 || reinterpret_cast<uintptr_t>(blob.dptr) % DTypeSize(blob.dtype) == 0, Value)
      << "[from_dlpack] the data lies at an address that is no multiple of the element's " << DTypeSize(blob.dtype) << " bytes; copy it first";
  if (!transient) return BehindItsProducer(NDArray(blob, [tensor] { if (tensor->deleter) tensor->deleter(tensor); }));
  auto copy = std::make_shared<DLManagedTensor>(*tensor);
  return BehindItsProducer(NDArray(blob, [copy] { if (copy->deleter) copy->deleter(copy.get()); }));
}

}  // namespace mxnet
