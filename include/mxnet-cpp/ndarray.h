/*
 * Arrays on a device. An NDArray is a handle: copies of it are the same memory, and Copy makes new
 * memory. Operators are asynchronous; reading values on the host waits for them.
 */
#ifndef MXNET_CPP_NDARRAY_H_
#define MXNET_CPP_NDARRAY_H_

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "mxnet-cpp/base.h"
#include "mxnet-cpp/param.h"

namespace mxnet {
namespace cpp {

enum DeviceType { kCPU = 1, kGPU = 2, kCPUPinned = 3 };

class Context {
 public:
  Context(const DeviceType& type, int id) : type_(type), id_(id) {}
  DeviceType GetDeviceType() const { return type_; }
  int GetDeviceId() const { return id_; }
  static Context gpu(int device_id = 0) { return Context(kGPU, device_id); }
  static Context cpu(int device_id = 0) { return Context(kCPU, device_id); }

 private:
  DeviceType type_;
  int id_;
};

/* Owns a handle. */
struct NDBlob {
  NDBlob() : handle_(nullptr) {}
  explicit NDBlob(NDArrayHandle handle) : handle_(handle) {}
  NDBlob(const NDBlob&) = delete;
  NDBlob& operator=(const NDBlob&) = delete;
  ~NDBlob() {
    if (handle_ != nullptr) MXNDArrayFree(handle_);
  }
  NDArrayHandle handle_;
};

class NDArray {
 public:
  /* No array yet: Load, CopyTo and operators can fill it. */
  NDArray();
  /* Takes the handle over. */
  explicit NDArray(const NDArrayHandle& handle) : blob_(std::make_shared<NDBlob>(handle)) {}
  /* Values are not set. delay_alloc: memory comes with the first use. dtype: a number of
   * file_formats.md, 0 is float32. */
  NDArray(const std::vector<mx_uint>& shape, const Context& context, bool delay_alloc = true, int dtype = 0);
  NDArray(const Shape& shape, const Context& context, bool delay_alloc = true, int dtype = 0);
  /* One axis, on the CPU. */
  NDArray(const mx_float* data, size_t size);
  explicit NDArray(const std::vector<mx_float>& data);
  /* Copies as many values as the shape has elements. Throws Error if a vector has another number of
   * values. */
  NDArray(const mx_float* data, const Shape& shape, const Context& context);
  NDArray(const std::vector<mx_float>& data, const Shape& shape, const Context& context);

  /* Element by element, of equal shapes; % is the remainder with the divisor's sign. */
  NDArray operator+(mx_float scalar) const;
  NDArray operator-(mx_float scalar) const;
  NDArray operator*(mx_float scalar) const;
  NDArray operator/(mx_float scalar) const;
  NDArray operator%(mx_float scalar) const;
  NDArray operator+(const NDArray& other) const;
  NDArray operator-(const NDArray& other) const;
  NDArray operator*(const NDArray& other) const;
  NDArray operator/(const NDArray& other) const;
  NDArray operator%(const NDArray& other) const;
  /* Sets every element. */
  NDArray& operator=(mx_float scalar);
  NDArray& operator+=(mx_float scalar);
  NDArray& operator-=(mx_float scalar);
  NDArray& operator*=(mx_float scalar);
  NDArray& operator/=(mx_float scalar);
  NDArray& operator%=(mx_float scalar);
  NDArray& operator+=(const NDArray& other);
  NDArray& operator-=(const NDArray& other);
  NDArray& operator*=(const NDArray& other);
  NDArray& operator/=(const NDArray& other);
  NDArray& operator%=(const NDArray& other);

  /* (rows, classes) -> (rows): where each row is largest. */
  NDArray ArgmaxChannel();

  /* Copies raw elements of the array's dtype, in row-major order; `size` counts elements and must
   * be the array's. */
  void SyncCopyFromCPU(const mx_float* data, size_t size);
  void SyncCopyToCPU(mx_float* data, size_t size = 0);
  /* Vectors are float32, and are converted where the array is not. */
  void SyncCopyFromCPU(const std::vector<mx_float>& data);
  void SyncCopyToCPU(std::vector<mx_float>* data, size_t size = 0);
  /* New memory on `context`, of the same dtype. */
  NDArray Copy(const Context& context) const;
  /* Into the memory of `other`, which keeps its dtype. Returns *other. */
  NDArray CopyTo(NDArray* other) const;
  /* Rows begin to end (without end). The memory is shared. */
  NDArray Slice(mx_uint begin, mx_uint end) const;
  /* The same memory with another shape. */
  NDArray Reshape(const Shape& new_shape) const;
  void WaitToRead() const;
  void WaitToWrite();
  /* Waits for everything that was asked for in this process, and throws what failed. */
  static void WaitAll() { front_end::Check(MXNDArrayWaitAll()); }
  /* Draws from normal and uniform distributions into *out. */
  static void SampleGaussian(mx_float mu, mx_float sigma, NDArray* out);
  static void SampleUniform(mx_float begin, mx_float end, NDArray* out);

  /* Files of `.params` and `mx.nd.save`. Either result may be null. Nothing goes into the map if
   * the file has no names. */
  static void Load(const std::string& file_name, std::vector<NDArray>* array_list = nullptr,
                   std::map<std::string, NDArray>* array_map = nullptr);
  static std::map<std::string, NDArray> LoadToMap(const std::string& file_name);
  static std::vector<NDArray> LoadToList(const std::string& file_name);
  static void LoadFromBuffer(const void* buffer, size_t size, std::vector<NDArray>* array_list = nullptr,
                             std::map<std::string, NDArray>* array_map = nullptr);
  static std::map<std::string, NDArray> LoadFromBufferToMap(const void* buffer, size_t size);
  static std::vector<NDArray> LoadFromBufferToList(const void* buffer, size_t size);
  static void Save(const std::string& file_name, const std::map<std::string, NDArray>& array_map);
  static void Save(const std::string& file_name, const std::vector<NDArray>& array_list);

  /* Where an element of a matrix, or of an image of 3 axes, lies among all elements. */
  size_t Offset(size_t h = 0, size_t w = 0) const;
  size_t Offset(size_t c, size_t h, size_t w) const;
  /* One element. Waits; throws Error out of range, and where the number of axes is another one. */
  mx_float At(size_t index) const;
  mx_float At(size_t h, size_t w) const;
  mx_float At(size_t c, size_t h, size_t w) const;

  size_t Size() const;
  /* Lengths of the axes; empty for an array that is none yet. */
  std::vector<mx_uint> GetShape() const;
  int GetDType() const;
  Context GetContext() const;
  /* Memory on the CPU, valid as long as the array. It waits for what writes the array. */
  const mx_float* GetData() const;
  /* Null after a move. */
  NDArrayHandle GetHandle() const { return blob_ ? blob_->handle_ : nullptr; }

 private:
  mx_float AtOffset(size_t offset) const;

  std::shared_ptr<NDBlob> blob_;
};

namespace front_end {

/* `op` on arrays now. With outputs given, results go there; else they are new. */
inline std::vector<NDArrayHandle> Invoke(const std::string& op, const std::vector<NDArrayHandle>& inputs,
                                         const std::vector<const char*>& keys, const std::vector<const char*>& values,
                                         std::vector<NDArrayHandle> outputs = {}) {
  OpHandle creator = nullptr;
  Check(NNGetOpHandle(op.c_str(), &creator));
  int count = static_cast<int>(outputs.size());
  NDArrayHandle* out = outputs.empty() ? nullptr : outputs.data();
  Check(MXImperativeInvoke(creator, static_cast<int>(inputs.size()), const_cast<NDArrayHandle*>(inputs.data()), &count, &out,
                           static_cast<int>(keys.size()), const_cast<const char**>(keys.data()), const_cast<const char**>(values.data())));
  return std::vector<NDArrayHandle>(out, out + count);
}

/* An operator of two arrays; with `out`, into that. */
inline NDArray Binary(const char* op, const NDArray& lhs, const NDArray& rhs, NDArray* out = nullptr) {
  std::vector<NDArrayHandle> outputs;
  if (out != nullptr) outputs.push_back(out->GetHandle());
  outputs = Invoke(op, {lhs.GetHandle(), rhs.GetHandle()}, {}, {}, outputs);
  return out != nullptr ? *out : NDArray(outputs[0]);
}

inline NDArray Scalar(const char* op, const NDArray& lhs, mx_float scalar, NDArray* out = nullptr) {
  std::vector<NDArrayHandle> outputs;
  if (out != nullptr) outputs.push_back(out->GetHandle());
  outputs = Invoke(op, {lhs.GetHandle()}, {"scalar"}, {ParamText(scalar).c_str()}, outputs);
  return out != nullptr ? *out : NDArray(outputs[0]);
}

/* Fills *out by an operator of two numbers and no arrays. */
inline void Fill(const char* op, const char* first, mx_float a, const char* second, mx_float b, NDArray* out) {
  Invoke(op, {}, {first, second}, {ParamText(a).c_str(), ParamText(b).c_str()}, {out->GetHandle()});
}

}  // namespace front_end

inline NDArray::NDArray() {
  NDArrayHandle handle = nullptr;
  front_end::Check(MXNDArrayCreateNone(&handle));
  blob_ = std::make_shared<NDBlob>(handle);
}
inline NDArray::NDArray(const std::vector<mx_uint>& shape, const Context& context, bool delay_alloc, int dtype) {
  NDArrayHandle handle = nullptr;
  front_end::Check(MXNDArrayCreateEx(shape.data(), static_cast<mx_uint>(shape.size()), context.GetDeviceType(), context.GetDeviceId(),
                                     delay_alloc, dtype, &handle));
  blob_ = std::make_shared<NDBlob>(handle);
}
inline NDArray::NDArray(const Shape& shape, const Context& context, bool delay_alloc, int dtype)
    : NDArray(std::vector<mx_uint>(shape.begin(), shape.end()), context, delay_alloc, dtype) {}
inline NDArray::NDArray(const mx_float* data, size_t size) : NDArray(data, Shape(static_cast<index_t>(size)), Context::cpu()) {}
inline NDArray::NDArray(const std::vector<mx_float>& data) : NDArray(data.data(), data.size()) {}
inline NDArray::NDArray(const mx_float* data, const Shape& shape, const Context& context) : NDArray(shape, context, false) {
  front_end::Check(MXNDArraySyncCopyFromCPU(GetHandle(), data, shape.Size()));
}
inline NDArray::NDArray(const std::vector<mx_float>& data, const Shape& shape, const Context& context) : NDArray(shape, context, false) {
  front_end::Check(MXNDArraySyncCopyFromCPU(GetHandle(), data.data(), data.size()));
}

#define MXNET_CPP_NDARRAY_OPERATOR(symbol, name)                                                                                  \
  inline NDArray NDArray::operator symbol(mx_float scalar) const { return front_end::Scalar("_" name "_scalar", *this, scalar); } \
  inline NDArray NDArray::operator symbol(const NDArray& other) const { return front_end::Binary("_" name, *this, other); }       \
  inline NDArray& NDArray::operator symbol##=(mx_float scalar) {                                                                  \
    front_end::Scalar("_" name "_scalar", *this, scalar, this);                                                                   \
    return *this;                                                                                                                 \
  }                                                                                                                               \
  inline NDArray& NDArray::operator symbol##=(const NDArray& other) {                                                             \
    front_end::Binary("_" name, *this, other, this);                                                                              \
    return *this;                                                                                                                 \
  }
MXNET_CPP_NDARRAY_OPERATOR(+, "plus")
MXNET_CPP_NDARRAY_OPERATOR(-, "minus")
MXNET_CPP_NDARRAY_OPERATOR(*, "mul")
MXNET_CPP_NDARRAY_OPERATOR(/, "div")
MXNET_CPP_NDARRAY_OPERATOR(%, "mod")
#undef MXNET_CPP_NDARRAY_OPERATOR

inline NDArray operator+(mx_float lhs, const NDArray& rhs) { return rhs + lhs; }
inline NDArray operator*(mx_float lhs, const NDArray& rhs) { return rhs * lhs; }
inline NDArray operator-(mx_float lhs, const NDArray& rhs) { return front_end::Scalar("_rminus_scalar", rhs, lhs); }
inline NDArray operator/(mx_float lhs, const NDArray& rhs) { return front_end::Scalar("_rdiv_scalar", rhs, lhs); }
inline NDArray operator%(mx_float lhs, const NDArray& rhs) { return front_end::Scalar("_rmod_scalar", rhs, lhs); }

inline NDArray& NDArray::operator=(mx_float scalar) {
  front_end::Invoke("_set_value", {}, {"src"}, {front_end::ParamText(scalar).c_str()}, {GetHandle()});
  return *this;
}
inline NDArray NDArray::ArgmaxChannel() { return NDArray(front_end::Invoke("argmax_channel", {GetHandle()}, {}, {})[0]); }

inline void NDArray::SyncCopyFromCPU(const mx_float* data, size_t size) {
  front_end::Check(MXNDArraySyncCopyFromCPU(GetHandle(), data, size));
}
inline void NDArray::SyncCopyFromCPU(const std::vector<mx_float>& data) {
  if (GetDType() == 0) return SyncCopyFromCPU(data.data(), data.size());
  NDArray(data, Shape(GetShape()), Context::cpu()).CopyTo(this);
}
inline void NDArray::SyncCopyToCPU(mx_float* data, size_t size) {
  front_end::Check(MXNDArraySyncCopyToCPU(GetHandle(), data, size > 0 ? size : Size()));
}
inline void NDArray::SyncCopyToCPU(std::vector<mx_float>* data, size_t size) {
  if (GetDType() != 0) {
    NDArray as_float(GetShape(), Context::cpu());
    CopyTo(&as_float).SyncCopyToCPU(data, size);
    return;
  }
  data->resize(size > 0 ? size : Size());
  SyncCopyToCPU(data->data(), data->size());
}
inline NDArray NDArray::Copy(const Context& context) const {
  NDArray copy(GetShape(), context, true, GetDType());
  return CopyTo(&copy);
}
inline NDArray NDArray::CopyTo(NDArray* other) const {
  front_end::Invoke("_copyto", {GetHandle()}, {}, {}, {other->GetHandle()});
  return *other;
}
inline NDArray NDArray::Slice(mx_uint begin, mx_uint end) const {
  NDArrayHandle handle = nullptr;
  front_end::Check(MXNDArraySlice(GetHandle(), begin, end, &handle));
  return NDArray(handle);
}
inline NDArray NDArray::Reshape(const Shape& new_shape) const {
  std::vector<int> axes(new_shape.begin(), new_shape.end());
  NDArrayHandle handle = nullptr;
  front_end::Check(MXNDArrayReshape(GetHandle(), static_cast<int>(axes.size()), axes.data(), &handle));
  return NDArray(handle);
}
inline void NDArray::WaitToRead() const { front_end::Check(MXNDArrayWaitToRead(GetHandle())); }
inline void NDArray::WaitToWrite() { front_end::Check(MXNDArrayWaitToWrite(GetHandle())); }
inline void NDArray::SampleGaussian(mx_float mu, mx_float sigma, NDArray* out) {
  front_end::Fill("_random_normal", "loc", mu, "scale", sigma, out);
}
inline void NDArray::SampleUniform(mx_float begin, mx_float end, NDArray* out) {
  front_end::Fill("_random_uniform", "low", begin, "high", end, out);
}

namespace front_end {

/* Takes over what a call of MXNDArrayLoad* handed out. */
inline void TakeLoaded(mx_uint count, NDArrayHandle* handles, mx_uint name_count, const char** names, std::vector<NDArray>* array_list,
                       std::map<std::string, NDArray>* array_map) {
  std::vector<NDArray> arrays;
  for (mx_uint i = 0; i < count; ++i) arrays.push_back(NDArray(handles[i]));
  if (array_map != nullptr) {
    for (mx_uint i = 0; i < name_count && i < count; ++i) (*array_map)[names[i]] = arrays[i];
  }
  if (array_list != nullptr) array_list->insert(array_list->end(), arrays.begin(), arrays.end());
}

}  // namespace front_end

inline void NDArray::Load(const std::string& file_name, std::vector<NDArray>* array_list, std::map<std::string, NDArray>* array_map) {
  mx_uint count = 0, name_count = 0;
  NDArrayHandle* handles = nullptr;
  const char** names = nullptr;
  front_end::Check(MXNDArrayLoad(file_name.c_str(), &count, &handles, &name_count, &names));
  front_end::TakeLoaded(count, handles, name_count, names, array_list, array_map);
}
inline void NDArray::LoadFromBuffer(const void* buffer, size_t size, std::vector<NDArray>* array_list,
                                    std::map<std::string, NDArray>* array_map) {
  mx_uint count = 0, name_count = 0;
  NDArrayHandle* handles = nullptr;
  const char** names = nullptr;
  front_end::Check(MXNDArrayLoadFromBuffer(buffer, size, &count, &handles, &name_count, &names));
  front_end::TakeLoaded(count, handles, name_count, names, array_list, array_map);
}
inline std::map<std::string, NDArray> NDArray::LoadToMap(const std::string& file_name) {
  std::map<std::string, NDArray> arrays;
  Load(file_name, nullptr, &arrays);
  return arrays;
}
inline std::vector<NDArray> NDArray::LoadToList(const std::string& file_name) {
  std::vector<NDArray> arrays;
  Load(file_name, &arrays, nullptr);
  return arrays;
}
inline std::map<std::string, NDArray> NDArray::LoadFromBufferToMap(const void* buffer, size_t size) {
  std::map<std::string, NDArray> arrays;
  LoadFromBuffer(buffer, size, nullptr, &arrays);
  return arrays;
}
inline std::vector<NDArray> NDArray::LoadFromBufferToList(const void* buffer, size_t size) {
  std::vector<NDArray> arrays;
  LoadFromBuffer(buffer, size, &arrays, nullptr);
  return arrays;
}
inline void NDArray::Save(const std::string& file_name, const std::map<std::string, NDArray>& array_map) {
  std::vector<NDArrayHandle> handles;
  std::vector<const char*> names;
  for (const auto& entry : array_map) {
    names.push_back(entry.first.c_str());
    handles.push_back(entry.second.GetHandle());
  }
  front_end::Check(MXNDArraySave(file_name.c_str(), static_cast<mx_uint>(handles.size()), handles.data(), names.data()));
}
inline void NDArray::Save(const std::string& file_name, const std::vector<NDArray>& array_list) {
  std::vector<NDArrayHandle> handles;
  for (const NDArray& array : array_list) handles.push_back(array.GetHandle());
  front_end::Check(MXNDArraySave(file_name.c_str(), static_cast<mx_uint>(handles.size()), handles.data(), nullptr));
}

inline size_t NDArray::Offset(size_t h, size_t w) const {
  const std::vector<mx_uint> shape = GetShape();
  MXNET_CPP_NEED(shape.size() == 2) << "[NDArray::Offset] got 2 indices for the shape " << Shape(shape);
  return h * shape[1] + w;
}
inline size_t NDArray::Offset(size_t c, size_t h, size_t w) const {
  const std::vector<mx_uint> shape = GetShape();
  MXNET_CPP_NEED(shape.size() == 3) << "[NDArray::Offset] got 3 indices for the shape " << Shape(shape);
  return (c * shape[1] + h) * shape[2] + w;
}
inline mx_float NDArray::AtOffset(size_t offset) const {
  if (GetDType() == 0 && GetContext().GetDeviceType() != kGPU) return GetData()[offset];
  NDArray flat = Reshape(Shape(static_cast<index_t>(Size())));
  std::vector<mx_float> value;
  flat.Slice(static_cast<mx_uint>(offset), static_cast<mx_uint>(offset + 1)).SyncCopyToCPU(&value);
  return value[0];
}
inline mx_float NDArray::At(size_t index) const {
  const std::vector<mx_uint> shape = GetShape();
  MXNET_CPP_NEED(shape.size() == 1 && index < shape[0]) << "[NDArray::At] (" << index << ") is no place in the shape " << Shape(shape);
  return AtOffset(index);
}
inline mx_float NDArray::At(size_t h, size_t w) const {
  const size_t offset = Offset(h, w);
  const std::vector<mx_uint> shape = GetShape();
  MXNET_CPP_NEED(h < shape[0] && w < shape[1]) << "[NDArray::At] (" << h << ", " << w << ") is no place in the shape " << Shape(shape);
  return AtOffset(offset);
}
inline mx_float NDArray::At(size_t c, size_t h, size_t w) const {
  const size_t offset = Offset(c, h, w);
  const std::vector<mx_uint> shape = GetShape();
  MXNET_CPP_NEED(c < shape[0] && h < shape[1] && w < shape[2])
      << "[NDArray::At] (" << c << ", " << h << ", " << w << ") is no place in the shape " << Shape(shape);
  return AtOffset(offset);
}
inline size_t NDArray::Size() const {
  const std::vector<mx_uint> shape = GetShape();
  size_t size = 1;
  for (mx_uint axis : shape) size *= axis;
  return shape.empty() ? 0 : size;
}
inline std::vector<mx_uint> NDArray::GetShape() const {
  int ndim = 0;
  const int64_t* axes = nullptr;
  front_end::Check(MXNDArrayGetShapeEx64(GetHandle(), &ndim, &axes));
  return ndim > 0 ? std::vector<mx_uint>(axes, axes + ndim) : std::vector<mx_uint>();
}
inline int NDArray::GetDType() const {
  int dtype = 0;
  front_end::Check(MXNDArrayGetDType(GetHandle(), &dtype));
  return dtype;
}
inline Context NDArray::GetContext() const {
  int type = 0, id = 0;
  front_end::Check(MXNDArrayGetContext(GetHandle(), &type, &id));
  return Context(static_cast<DeviceType>(type), id);
}
inline const mx_float* NDArray::GetData() const {
  MXNET_CPP_NEED(GetContext().GetDeviceType() != kGPU)
      << "[NDArray::GetData] memory of a GPU cannot be read in place; use Copy(Context::cpu())";
  void* data = nullptr;
  WaitToRead();
  front_end::Check(MXNDArrayGetData(GetHandle(), &data));
  return static_cast<const mx_float*>(data);
}

/* All elements as one list, as float32: [1, 2, 3, ]. */
inline std::ostream& operator<<(std::ostream& out, const NDArray& ndarray) {
  NDArray array = ndarray;
  std::vector<mx_float> values;
  if (array.Size() > 0) array.SyncCopyToCPU(&values);
  out << '[';
  for (mx_float value : values) out << value << ", ";
  return out << ']';
}

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_NDARRAY_H_
