// NDArrays over the C ABI: creation, views, copies, waiting, properties.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "base/device/device_query.h"
#include "c_api/c_api_common.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/numpy_shapes.h"
#include "ndarray/container.h"
#include "ndarray/dlpack.h"
#include "ndarray/outside.h"

using namespace mxnet;  // NOLINT

namespace {

template <typename T>
Shape ShapeOf(const T* dims, int ndim) {
  Need(ndim, dims, "dimensions");
  Shape s(ndim);
  for (int i = 0; i < ndim; ++i) {
    s[i] = static_cast<int64_t>(dims[i]);
    MXNET_CHECK_KIND(s[i] >= 0, Value) << "[NDArray] dimension " << i << " is " << s[i] << "; accepted: 0 or more";
  }
  return s;
}

NDArrayHandle New(const Shape& shape, int dev_type, int dev_id, int delay_alloc, int dtype) {
  return new NDArray(shape, Context::Make(dev_type, dev_id), dtype, delay_alloc != 0);
}

// Sizes are counted in elements; as bytes they may wrap to the right number.
void CheckCount(const NDArray& a, size_t elements) {
  MXNET_CHECK_KIND(static_cast<int64_t>(elements) == a.shape().Size(), Value)
      << "[copy] got " << elements << " elements for an array of shape " << a.shape() << "; accepted: " << a.shape().Size();
}

}  // namespace

int MXNDArrayCreateNone(NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray();
  API_END();
}

int MXNDArrayCreate(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = New(ShapeOf(shape, ndim), dev_type, dev_id, delay_alloc, kFloat32);
  API_END();
}

int MXNDArrayCreateEx(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, int dtype, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = New(ShapeOf(shape, ndim), dev_type, dev_id, delay_alloc, dtype);
  API_END();
}

int MXNDArrayCreateEx64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = New(ShapeOf(shape, ndim), dev_type, dev_id, delay_alloc, dtype);
  API_END();
}

int MXNDArrayCreate64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype, NDArrayHandle* out) {
  return MXNDArrayCreateEx64(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out);
}

int MXNDArrayFree(NDArrayHandle handle) {
  API_BEGIN();
  delete static_cast<NDArray*>(handle);
  API_END();
}

int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(*AsNDArray(src));
  API_END();
}

int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void* data, size_t size) {
  API_BEGIN();
  NDArray* a = WithMemory(handle);
  Need(static_cast<int64_t>(size), data, "elements");
  CheckCount(*a, size);
  a->CopyBytesFrom(data, size * DTypeSize(a->dtype()));
  API_END();
}

int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void* data, size_t size) {
  API_BEGIN();
  NDArray* a = WithMemory(handle);
  Computed(handle);
  Need(static_cast<int64_t>(size), data, "elements");
  CheckCount(*a, size);
  a->CopyBytesTo(data, size * DTypeSize(a->dtype()));
  API_END();
}

int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src, const int i) {
  API_BEGIN();
  const NDArray* src = Computed(handle_src);
  const NDArray* dst = AsNDArray(handle_dst);
  if (dst->is_sparse()) {
    SetPart(*dst, i, *src);
    return 0;
  }
  MXNET_CHECK_KIND(i == -1, Value) << "[NDArray] copy into index array " << i << "; dense arrays have none (accepted: -1)";
  // As in 1.9.1: arrays of equally many elements, whatever their shapes.
  const bool other = !dst->is_none() && src->shape() != dst->shape() && src->shape().Size() == dst->shape().Size();
  CopyFromTo(other ? src->Reshape(dst->shape()) : *src, *dst);
  dst->WaitToRead();
  API_END();
}

int MXNDArrayWaitToRead(NDArrayHandle handle) {
  API_BEGIN();
  AsNDArray(handle)->WaitToRead();
  API_END();
}

int MXNDArrayWaitToWrite(NDArrayHandle handle) {
  API_BEGIN();
  AsNDArray(handle)->WaitToWrite();
  API_END();
}

int MXNDArrayWaitAll() {
  API_BEGIN();
  Engine::Get()->WaitForAll();
  API_END();
}

int MXNDArraySlice64(NDArrayHandle handle, int64_t begin, int64_t end, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(AsNDArray(handle)->Slice(begin, end));
  API_END();
}

int MXNDArraySlice(NDArrayHandle handle, uint32_t begin, uint32_t end, NDArrayHandle* out) {
  return MXNDArraySlice64(handle, begin, end, out);
}

int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle* out) {
  API_BEGIN(out);
  NDArray part = AsNDArray(handle)->At(idx);
  if (part.shape().ndim() == 0 && !NumpyShapes()) part = part.Reshape(Shape({1}));  // no numbers without np_shape
  *out = new NDArray(part);
  API_END();
}

int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle* out) { return MXNDArrayAt64(handle, idx, out); }

int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t* dims, bool reverse, NDArrayHandle* out) {
  API_BEGIN(out);
  NDArray* a = WithMemory(handle);
  Need(ndim, dims, "dimensions");
  const Shape shape = NDArray::InferReshape(a->shape(), std::vector<int64_t>(dims, dims + ndim), reverse);
  *out = new NDArray(a->Reshape(shape));
  API_END();
}

int MXNDArrayReshape(NDArrayHandle handle, int ndim, int* dims, NDArrayHandle* out) {
  API_BEGIN(out);
  NDArray* a = WithMemory(handle);
  Need(ndim, dims, "dimensions");
  const std::vector<int64_t> codes(dims, dims + ndim);
  const bool plain = std::all_of(codes.begin(), codes.end(), [](int64_t d) { return d > 0; });
  const Shape shape = plain ? Shape(codes) : NDArray::InferReshape(a->shape(), codes, false);
  *out = new NDArray(plain && shape.Size() < a->shape().Size() ? a->Window(0, shape, a->dtype()) : a->Reshape(shape));
  API_END();
}

int MXNDArrayViewAs(NDArrayHandle handle, int ndim, const int64_t* shape, int dtype, NDArrayHandle* out) {
  API_BEGIN(out);
  const NDArray* a = WithMemory(handle);
  Need(ndim, shape, "dimensions");
  *out = new NDArray(a->Window(0, Shape(shape, ndim), dtype));
  API_END();
}

int MXNDArrayGetStorageType(NDArrayHandle handle, int* out) {
  API_BEGIN(out);
  *out = static_cast<int>(AsNDArray(handle)->storage_type());
  API_END();
}

// What stands for "not known" depends on the thread's np_shape.
static int NumDims(const NDArray& a) {
  if (a.is_none()) return NumpyShapes() ? -1 : 0;
  return a.shape().ndim();
}

int MXNDArrayGetShapeEx64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata) {
  API_BEGIN(out_dim, out_pdata);
  const NDArray* a = AsNDArray(handle);
  *out_dim = NumDims(*a);
  *out_pdata = a->shape().dims();
  API_END();
}

int MXNDArrayGetShape64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata) {
  return MXNDArrayGetShapeEx64(handle, out_dim, out_pdata);
}

int MXNDArrayGetShapeEx(NDArrayHandle handle, int* out_dim, const int** out_pdata) {
  API_BEGIN(out_dim, out_pdata);
  const NDArray* a = AsNDArray(handle);
  auto& store = ApiStore::Get().ints;
  store.clear();
  if (!a->is_none())
    for (int64_t d : a->shape()) {
      MXNET_CHECK_KIND(d <= INT32_MAX, Value) << "[NDArray] dimension " << d << " does not fit 32 bits; call MXNDArrayGetShapeEx64";
      store.push_back(static_cast<int>(d));
    }
  *out_dim = NumDims(*a);
  *out_pdata = store.data();
  API_END();
}

int MXNDArrayGetShape(NDArrayHandle handle, uint32_t* out_dim, const uint32_t** out_pdata) {
  int ndim = 0;
  if (MXNDArrayGetShapeEx(handle, out_dim ? &ndim : nullptr, reinterpret_cast<const int**>(out_pdata)) != 0) return -1;
  *out_dim = ndim < 0 ? 0 : ndim;
  return 0;
}

int MXNDArrayGetData(NDArrayHandle handle, void** out_pdata) {
  API_BEGIN(out_pdata);
  const NDArray* a = Computed(handle);
  a->WaitToRead();
  *out_pdata = a->is_none() ? nullptr : a->data().dptr<void>();
  if (*out_pdata) GiveAddress(*a);
  API_END();
}

int MXNDArrayGetDType(NDArrayHandle handle, int* out_dtype) {
  API_BEGIN(out_dtype);
  const NDArray* a = AsNDArray(handle);
  *out_dtype = a->is_none() ? int{kDTypeUnknown} : a->dtype();
  API_END();
}

int MXNDArrayGetContext(NDArrayHandle handle, int* out_dev_type, int* out_dev_id) {
  API_BEGIN(out_dev_type, out_dev_id);
  const NDArray* a = AsNDArray(handle);
  *out_dev_type = a->is_none() ? 0 : static_cast<int>(a->ctx().dev_type);
  *out_dev_id = a->is_none() ? 0 : a->ctx().dev_id;
  API_END();
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(AsNDArray(handle)->Detach());
  API_END();
}

// ---- files and bytes

int MXNDArraySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys) {
  API_BEGIN();
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  for (const NDArray* a : AsNDArrays(args, num_args)) {
    arrays.push_back(*Computed(const_cast<NDArray*>(a)));
    if (keys) names.push_back(Text(keys[names.size()], "an array's name"));
  }
  SaveNDArrays(Text(fname, "the file's name"), arrays, names, NumpyShapes());
  API_END();
}

int MXNDArrayLegacySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys) {
  return MXNDArraySave(fname, num_args, args, keys);
}

namespace {

void HandOut(const std::vector<NDArray>& arrays, const std::vector<std::string>& names, uint32_t* out_size, NDArrayHandle** out_arr,
             uint32_t* out_name_size, const char*** out_names) {
  ApiStore& store = ApiStore::Get();
  store.strings = names;
  store.handles.clear();
  for (const auto& a : arrays) store.handles.push_back(new NDArray(a));
  *out_size = static_cast<uint32_t>(arrays.size());
  *out_arr = store.handles.data();
  *out_name_size = static_cast<uint32_t>(names.size());
  *out_names = store.Point();
}

}  // namespace

int MXNDArrayLoad(const char* fname, uint32_t* out_size, NDArrayHandle** out_arr, uint32_t* out_name_size, const char*** out_names) {
  API_BEGIN(out_size, out_arr, out_name_size, out_names);
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(Text(fname, "the file's name"), &arrays, &names);
  HandOut(arrays, names, out_size, out_arr, out_name_size, out_names);
  API_END();
}

int MXNDArrayLoadFromBuffer(const void* buffer, size_t size, uint32_t* out_size, NDArrayHandle** out_arr, uint32_t* out_name_size,
                            const char*** out_names) {
  API_BEGIN(out_size, out_arr, out_name_size, out_names);
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  Need(static_cast<int64_t>(size), buffer, "bytes");
  LoadNDArrays(buffer, size, &arrays, &names);
  HandOut(arrays, names, out_size, out_arr, out_name_size, out_names);
  API_END();
}

int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t* out_size, const char** out_buf) {
  API_BEGIN(out_size, out_buf);
  ApiStore& store = ApiStore::Get();
  store.text = SaveNDArrayRaw(*Computed(handle), NumpyShapes());
  *out_size = store.text.size();
  *out_buf = store.text.data();
  API_END();
}

int MXNDArrayLoadFromRawBytes(const void* buf, size_t size, NDArrayHandle* out) {
  API_BEGIN(out);
  Need(static_cast<int64_t>(size), buf, "bytes");
  *out = new NDArray(LoadNDArrayRaw(buf, size));
  API_END();
}

// ---- sharing: DLPack and between processes

int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle* out) {
  API_BEGIN(out);
  *out = ToDLPack(*Computed(handle));
  API_END();
}

int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(FromDLPack(static_cast<DLManagedTensor*>(dlpack), transient_handle));
  API_END();
}

int MXNDArrayToDLPackForStream(NDArrayHandle handle, int64_t stream, DLManagedTensorHandle* out) {
  API_BEGIN(out);
  *out = ToDLPack(*Computed(handle), stream);
  API_END();
}

int MXNDArrayToDLPackVersioned(NDArrayHandle handle, int64_t stream, bool is_copied, DLManagedTensorVersionedHandle* out) {
  API_BEGIN(out);
  *out = ToDLPackVersioned(*Computed(handle), stream, is_copied ? kDLPackIsCopied : 0);
  API_END();
}

int MXNDArrayFromDLPackVersioned(DLManagedTensorVersionedHandle dlpack, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(FromDLPackVersioned(static_cast<DLManagedTensorVersioned*>(dlpack)));
  API_END();
}

namespace {

template <typename Function>
Function OfPython(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// On any thread, also where there is no interpreter any more: then nobody misses the object.
void ReleasePythonObject(void* object) {
  const auto initialized = OfPython<int (*)()>("Py_IsInitialized"), finalizing = OfPython<int (*)()>("_Py_IsFinalizing"),
             finalizing_now = OfPython<int (*)()>("Py_IsFinalizing");
  const auto ensure = OfPython<int (*)()>("PyGILState_Ensure");
  const auto release = OfPython<void (*)(int)>("PyGILState_Release");
  const auto decref = OfPython<void (*)(void*)>("Py_DecRef");
  if (!initialized || !ensure || !release || !decref || !initialized() || (finalizing && finalizing()) ||
      (finalizing_now && finalizing_now()))
    return;
  const int state = ensure();
  decref(object);
  release(state);
}

}  // namespace

int MXNDArrayFromCudaArray(void* data, int ndim, const int64_t* shape, int dtype, int64_t stream, void* owner, NDArrayHandle* out) {
  API_BEGIN(out);
  TBlob blob;
  blob.shape = ShapeOf(shape, ndim);
  blob.dtype = dtype;
  blob.dptr = data;
  MXNET_CHECK_KIND(DTypeSize(dtype) > 0, Type) << "[__cuda_array_interface__] got dtype number " << dtype << "; accepted: 0 to "
                                               << kNumDTypes - 1;
  const int device = GpuOfMemory(data);
  MXNET_CHECK_KIND(device >= 0, Value) << "[__cuda_array_interface__] the address " << data
                                       << " is on no GPU that this build can use; accepted: memory of a GPU, and a build with USE_CUDA=ON";
  MXNET_CHECK_KIND(reinterpret_cast<uintptr_t>(data) % DTypeSize(dtype) == 0, Value)
      << "[__cuda_array_interface__] the data lies at an address that is no multiple of the element's " << DTypeSize(dtype)
      << " bytes; copy it first";
  blob.ctx = Context::GPU(device);
  *out = new NDArray(FromDeviceMemory(blob, stream, [owner] {
    if (owner) ReleasePythonObject(owner);
  }));
  API_END();
}

int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle* out) { return MXNDArrayFromDLPackEx(dlpack, false, out); }

int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack) {
  API_BEGIN();
  auto* t = static_cast<DLManagedTensor*>(dlpack);
  if (t && t->deleter) t->deleter(t);
  API_END();
}

void MXNDArrayFreeDLPackCapsule(void* capsule) {
  const auto is_valid = OfPython<int (*)(void*, const char*)>("PyCapsule_IsValid");
  const auto pointer = OfPython<void* (*)(void*, const char*)>("PyCapsule_GetPointer");
  if (!is_valid || !pointer) return;
  // a consumer renames it: the tensor is the consumer's then
  if (is_valid(capsule, "dltensor")) {
    auto* t = static_cast<DLManagedTensor*>(pointer(capsule, "dltensor"));
    if (t && t->deleter) t->deleter(t);
  } else if (is_valid(capsule, "dltensor_versioned")) {
    auto* t = static_cast<DLManagedTensorVersioned*>(pointer(capsule, "dltensor_versioned"));
    if (t && t->deleter) t->deleter(t);
  }
}

int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int* shared_pid, int* shared_id) {
  API_BEGIN(shared_pid, shared_id);
  NDArray* a = WithMemory(handle);
  MXNET_CHECK_KIND(!a->is_sparse(), Value) << "[NDArray] a " << StorageTypeName(a->storage_type())
                                           << " array in shared memory; accepted: dense arrays (SaveRawBytes holds sparse ones)";
  const auto move_to_shared = [a] {
    NDArray shared = a->Copy(Context::CPUShared(0));
    shared.WaitToRead();
    *a = shared;
  };
  if (a->ctx().dev_type != DeviceType::kCPUShared) move_to_shared();
  a->WaitToRead();
  MXNET_CHECK_KIND(a->byte_offset() == 0, Value)
      << "[NDArray] a view that does not start at the beginning of its memory cannot be shared; copy it first";
  // An array that came from another process has lost its name when everybody it was sent to has
  // opened it: send a copy.
  if (!Storage::Get()->Share(a->chunk()->handle)) {
    move_to_shared();
    Storage::Get()->Share(a->chunk()->handle);
  }
  *shared_pid = a->chunk()->handle.shared_pid;
  *shared_id = a->chunk()->handle.shared_id;
  API_END();
}

int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int* shape, int ndim, int dtype, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(NDArray::FromShared(shared_pid, shared_id, ShapeOf(shape, ndim), dtype));
  API_END();
}

int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t* shape, uint32_t ndim, int dtype, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = new NDArray(NDArray::FromShared(shared_pid, shared_id, ShapeOf(shape, static_cast<int>(ndim)), dtype));
  API_END();
}
