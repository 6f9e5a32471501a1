#include "ndarray/dlpack.h"

#include <memory>

#include "base/device/device_interface.h"
#include "engine/gpu_work.h"
#include "mxnet/engine.h"
#include "ndarray/outside.h"

namespace mxnet {
namespace {

template <typename Tensor>
struct Export {
  NDArray array;
  std::vector<int64_t> shape, strides;
  Tensor tensor = {};
};

DLDataType ToDLType(int dtype) {
  const uint8_t bits = static_cast<uint8_t>(DTypeSize(dtype) * 8);
  switch (dtype) {
    case kBfloat16: return {4, bits, 1};
    case kBool: return {6, bits, 1};
    case kUint8:
    case kUint16:
    case kUint32:
    case kUint64: return {1, bits, 1};
    case kInt8:
    case kInt16:
    case kInt32:
    case kInt64: return {0, bits, 1};
    default: return {2, bits, 1};
  }
}

int FromDLType(DLDataType t) {
  MXNET_CHECK_KIND(t.lanes == 1, Type) << "[from_dlpack] got vector elements of " << t.lanes << " lanes; accepted: 1";
  for (int d = 0; d < kNumDTypes; ++d) {
    const DLDataType mine = ToDLType(d);
    if (mine.code == t.code && mine.bits == t.bits) return d;
  }
  MXNET_THROW(Type) << "[from_dlpack] got elements of type code " << int{t.code} << " and " << int{t.bits}
                    << " bits; accepted: the library's dtypes";
}

const StreamHooks* HooksFor(Context ctx, int64_t stream, const char* who) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  MXNET_CHECK_KIND(stream >= kLegacyStream && ctx.is_gpu(), Value) << "[" << who << "] stream " << stream << " for an array on " << ctx
                                                                   << "; accepted: on a GPU 1, 2 or a stream's address, otherwise none";
  return hooks != nullptr && hooks->record_on != nullptr ? hooks : nullptr;
}

void* Address(int64_t stream) { return reinterpret_cast<void*>(static_cast<intptr_t>(stream)); }

void OrderBehind(const NDArray& array, int64_t stream, const char* who = "to_dlpack") {
  if (stream == kHostWaits) return array.WaitToWrite();
  if (stream == kNoOrder && array.ctx().is_gpu()) {
    engine::WorkOf(array.var());
    return;
  }
  const StreamHooks* hooks = HooksFor(array.ctx(), stream, who);
  if (hooks == nullptr) return array.WaitToWrite();  // no events
  for (const engine::DeviceWorkPtr& w : engine::WorkOf(array.var()))
    if (!w->Passed()) w->PrecedeOn(array.ctx().dev_id, Address(stream));
}

/*
 * Consumers free what they took while their kernels are under way. An event on the legacy default
 * stream is behind those that are on it and on streams that wait for it by themselves; of other
 * streams nobody knows whether they still exist. Our next reader or writer (consumers may write),
 * and the pool when the memory is free, wait for it.
 */
void EndBehindConsumers(const NDArray& array) {
  constexpr int kMostDevices = 64;
  static char names[kMostDevices];  // of the devices' default streams: DLPack's number is the same for all
  const Context ctx = array.ctx();
  const StreamHooks* hooks = GpuInterface().streams.get();
  if (!ctx.is_gpu() || ctx.dev_id >= kMostDevices || hooks == nullptr || hooks->record_on == nullptr) return;
  try {
    void* event = hooks->record_on(ctx.dev_id, Address(kLegacyStream));
    engine::UseBehind(array.var(),
                      std::make_shared<engine::DeviceWork>(hooks, &names[ctx.dev_id], event, "DLPack consumer", std::string()));
  } catch (const std::exception&) {
    // the process is about to end, or the next one who uses the device hears of it
  }
}

template <typename Tensor>
Tensor* MakeExport(const NDArray& array, int64_t stream) {
  MXNET_CHECK_KIND(!array.is_none(), Value) << "[to_dlpack] the array is empty (none)";
  OrderBehind(array, stream);
  auto e = std::make_unique<Export<Tensor>>();
  e->array = array.Detach();
  BeginOutside(array);
  e->shape.assign(array.shape().begin(), array.shape().end());
  const Context ctx = array.ctx();
  DLTensor& t = e->tensor.dl_tensor;
  t.data = array.data().dptr<void>();
  t.device = {ctx.is_gpu() ? 2 : ctx.dev_type == DeviceType::kCPUPinned ? 3 : 1, ctx.is_gpu() ? ctx.dev_id : 0};
  t.ndim = array.shape().ndim();
  t.dtype = ToDLType(array.dtype());
  t.shape = e->shape.data();
  e->strides.resize(e->shape.size());  // DLPack 1.2 wants them of row-major tensors too
  int64_t step = 1;
  for (size_t i = e->shape.size(); i-- > 0; step *= e->shape[i]) e->strides[i] = step;
  t.strides = e->strides.data();
  e->tensor.manager_ctx = e.get();
  e->tensor.deleter = [](Tensor* self) {
    const std::unique_ptr<Export<Tensor>> mine(static_cast<Export<Tensor>*>(self->manager_ctx));
    EndOutside(mine->array);
    EndBehindConsumers(mine->array);
  };
  return &e.release()->tensor;
}

TBlob ToBlob(const DLTensor& t) {
  TBlob blob;
  MXNET_CHECK_KIND(t.ndim >= 0 && t.ndim <= 64, Value) << "[from_dlpack] got " << t.ndim << " dimensions";
  MXNET_CHECK_KIND(t.ndim == 0 || t.shape != nullptr, Value)
      << "[from_dlpack] the tensor has " << t.ndim << " dimensions, and its shape is null";
  int64_t bytes = 16;  // of the widest element
  bool empty = false;
  for (int i = 0; i < t.ndim; ++i) {
    MXNET_CHECK_KIND(t.shape[i] >= 0, Value) << "[from_dlpack] dimension " << i << " is " << t.shape[i] << "; accepted: 0 or more";
    empty = empty || t.shape[i] == 0;
  }
  for (int i = 0; i < t.ndim && !empty; ++i)
    MXNET_CHECK_KIND(!__builtin_mul_overflow(bytes, t.shape[i], &bytes), Value)
        << "[from_dlpack] the tensor has more bytes than 64 bits count";
  MXNET_CHECK_KIND(empty || t.data != nullptr, Value)
      << "[from_dlpack] the tensor's data is null; accepted without data: a tensor with no elements";
  blob.shape = Shape(t.shape, t.ndim);
  MXNET_CHECK_KIND(blob.shape.known(), Value) << "[from_dlpack] got shape " << blob.shape;
  if (t.strides && blob.shape.Size() > 1) {
    int64_t expected = 1;
    for (int i = t.ndim - 1; i >= 0; --i) {
      MXNET_CHECK_KIND(t.shape[i] == 1 || t.strides[i] == expected, Value)
          << "[from_dlpack] the tensor is not row-major (stride " << t.strides[i] << " of axis " << i << ", expected " << expected
          << "); make it contiguous first";
      expected *= t.shape[i];
    }
  }
  blob.dtype = FromDLType(t.dtype);
  switch (t.device.device_type) {
    case 1: blob.ctx = Context::CPU(); break;
    case 2: blob.ctx = Context::GPU(t.device.device_id); break;
    case 3: blob.ctx = Context::CPUPinned(); break;
    default:
      MXNET_THROW(Value) << "[from_dlpack] got device type " << t.device.device_type << "; accepted: 1 (CPU), 2 (CUDA), 3 (CUDA host)";
  }
  blob.dptr = static_cast<char*>(t.data) + t.byte_offset;
  MXNET_CHECK_KIND(blob.shape.Size() == 0 || reinterpret_cast<uintptr_t>(blob.dptr) % DTypeSize(blob.dtype) == 0, Value)
      << "[from_dlpack] the data lies at an address that is no multiple of the element's " << DTypeSize(blob.dtype)
      << " bytes; copy it first";
  return blob;
}

}  // namespace

void OrderStreamBehind(const NDArray& array, int64_t stream) {
  MXNET_CHECK_KIND(!array.is_none() && array.ctx().is_gpu(), Value)
      << "[stream] got " << (array.is_none() ? "an array without memory" : "an array on " + array.ctx().str())
      << "; accepted: arrays on a GPU";
  OrderBehind(array, stream, "stream");
}

DLManagedTensor* ToDLPack(const NDArray& array, int64_t stream) { return MakeExport<DLManagedTensor>(array, stream); }

DLManagedTensorVersioned* ToDLPackVersioned(const NDArray& array, int64_t stream, uint64_t flags) {
  auto* tensor = MakeExport<DLManagedTensorVersioned>(array, stream);
  tensor->version = {1, 0};
  tensor->flags = flags;
  return tensor;
}

NDArray FromDeviceMemory(const TBlob& blob, int64_t stream, std::function<void()> deleter) {
  const bool waits = blob.ctx.is_gpu() && stream != kNoOrder;
  const StreamHooks* hooks = waits ? HooksFor(blob.ctx, stream, "from_dlpack") : nullptr;
  // Recorded here: the per-thread default stream is the caller's, and other streams need not
  // outlive this call.
  std::shared_ptr<void> event;
  if (hooks != nullptr) event.reset(hooks->record_on(blob.ctx.dev_id, Address(stream)), hooks->release);
  // What reads or writes the array comes behind this operation. Nothing fails from here on: the
  // deleter would run, and what the caller gave is still the caller's after an error.
  NDArray array(blob, std::move(deleter));
  if (!waits || GpuInterface().streams.get() == nullptr) return array;
  const auto wait = [hooks, event, stream](RunContext run) {
    if (hooks != nullptr)
      hooks->wait(run.stream, event.get());
    else
      GpuInterface().streams.get()->synchronize(Address(stream));  // no events
  };
  Engine::Get()->PushSync(wait, blob.ctx, {}, {array.var()}, FnProperty::kNormal, 0, "from_dlpack");
  return array;
}

NDArray FromDLPack(DLManagedTensor* tensor, bool transient) {
  MXNET_CHECK_KIND(tensor != nullptr, Value) << "[from_dlpack] got a null tensor";
  const TBlob blob = ToBlob(tensor->dl_tensor);
  if (!transient)
    return FromDeviceMemory(blob, kLegacyStream, [tensor] {
      if (tensor->deleter) tensor->deleter(tensor);
    });
  auto copy = std::make_shared<DLManagedTensor>(*tensor);
  return FromDeviceMemory(blob, kLegacyStream, [copy] {
    if (copy->deleter) copy->deleter(copy.get());
  });
}

NDArray FromDLPackVersioned(DLManagedTensorVersioned* tensor) {
  MXNET_CHECK_KIND(tensor != nullptr, Value) << "[from_dlpack] got a null tensor";
  MXNET_CHECK_KIND(tensor->version.major == 1, Value) << "[from_dlpack] got a tensor of DLPack " << tensor->version.major << "."
                                                      << tensor->version.minor << "; accepted: 1.x, and 0.x without a version";
  const TBlob blob = ToBlob(tensor->dl_tensor);
  NDArray copy;  // our arrays can be written
  if (tensor->flags & kDLPackReadOnly) copy = NDArray(blob.shape, blob.ctx, blob.dtype);
  const NDArray shared = FromDeviceMemory(blob, kLegacyStream, [tensor] {
    if (tensor->deleter) tensor->deleter(tensor);
  });
  if (copy.is_none()) return shared;
  CopyFromTo(shared, copy);
  return copy;
}

}  // namespace mxnet
