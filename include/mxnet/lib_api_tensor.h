/* Arrays and messages of users' libraries: a part of lib_api.h, which includes it. */
#ifndef MXNET_LIB_API_TENSOR_H_
#define MXNET_LIB_API_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib_api_abi.h"

#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define MX_HAS_DLPACK_HEADER 1
#endif
#endif

namespace mxnet {
namespace ext {

#ifndef MX_HAS_DLPACK_HEADER
/* DLPack's tensor, for programs that have no header of it. */
enum DLDeviceType { kDLCPU = 1, kDLGPU = 2, kDLCPUPinned = 3 };
struct DLContext {
  DLDeviceType device_type;
  int device_id;
};
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLContext ctx;
  int ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
#endif

enum MXReturnValue { MX_FAIL = 0, MX_SUCCESS = 1 };

enum MXDType {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUint8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7,
  kInt16 = 8,
  kUint16 = 9,
  kUint32 = 10,
  kUint64 = 11,
  kBfloat16 = 12,
  kUNSET = 100
};

enum MXStorageType { kDefaultStorage = 0, kRowSparseStorage = 1, kCSRStorage = 2 };

/* A device: "cpu" or "gpu", and its number. */
struct MXContext {
  MXContext() : dev_type("cpu"), dev_id(0) {}
  explicit MXContext(std::string type, int id) : dev_type(std::move(type)), dev_id(id) {}
  explicit MXContext(const char* type, int id) : dev_type(type), dev_id(id) {}
  static MXContext CPU() { return MXContext("cpu", 0); }
  static MXContext CPU(int id) { return MXContext("cpu", id); }
  static MXContext GPU() { return MXContext("gpu", 0); }
  static MXContext GPU(int id) { return MXContext("gpu", id); }
  std::string dev_type;
  int dev_id;
};

/* The parts of a sparse array. */
struct MXSparse {
  void* data = nullptr;
  int64_t data_len = 0;
  int64_t* indices = nullptr;
  int64_t indices_len = 0;
  int64_t* indptr = nullptr;
  int64_t indptr_len = 0;

  /* Of an array of these dimensions: `idx` is where its values are, `idx_ptr` (CSR) where rows
   * begin. */
  void set(void* data_ptr, const int64_t* dims, int ndims, void* idx, int64_t num_idx, void* idx_ptr = nullptr, int64_t num_idx_ptr = 0) {
    data = data_ptr;
    indices = static_cast<int64_t*>(idx);
    indices_len = num_idx;
    indptr = static_cast<int64_t*>(idx_ptr);
    indptr_len = num_idx_ptr;
    data_len = num_idx;
    if (!idx_ptr)  // rows
      for (int i = 1; i < ndims; ++i) data_len *= dims[i];
  }
};

/* An array: row-major memory that the runtime owns. */
struct MXTensor {
  MXTensor() : data_ptr(nullptr), dtype(kUNSET), verID(0), stype(kDefaultStorage), dltensor() {}
  MXTensor(void* data, std::vector<int64_t> dims, MXDType type, size_t version, MXContext where, MXStorageType storage = kDefaultStorage)
      : data_ptr(data), shape(std::move(dims)), dtype(type), verID(version), ctx(std::move(where)), stype(storage), dltensor() {
    setDLTensor();
  }
  MXTensor(const MXTensor& o)
      : data_ptr(o.data_ptr), shape(o.shape), dtype(o.dtype), verID(o.verID), ctx(o.ctx), stype(o.stype), dltensor() {
    setDLTensor();
  }
  MXTensor& operator=(const MXTensor& o) {
    data_ptr = o.data_ptr;
    shape = o.shape;
    dtype = o.dtype;
    verID = o.verID;
    ctx = o.ctx;
    stype = o.stype;
    setDLTensor();
    return *this;
  }

  void setTensor(void* data, MXDType type, const int64_t* dims, int ndims, size_t version, const MXContext& where, MXStorageType storage) {
    data_ptr = data;
    dtype = type;
    verID = version;
    ctx = where;
    stype = storage;
    shape.assign(dims, dims + ndims);
    setDLTensor();
  }
  void setDLTensor() {
    dltensor.data = data_ptr;
    dltensor.ndim = static_cast<int>(shape.size());
    dltensor.shape = shape.data();
    dltensor.strides = nullptr;
    dltensor.byte_offset = 0;
    dltensor.dtype.lanes = 1;
    setDLDevice(&dltensor, ctx, 0);
    setDLType();
  }

  template <typename T>
  T* data() {
    return static_cast<T*>(data_ptr);
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_ptr);
  }
  /* Number of elements. */
  int64_t size() const {
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    return count;
  }
  /* Of the same contents, dtype and place? */
  bool isSame(const MXTensor& o) const {
    return data_ptr == o.data_ptr && dtype == o.dtype && verID == o.verID && ctx.dev_type == o.ctx.dev_type && ctx.dev_id == o.ctx.dev_id &&
           shape == o.shape && stype == o.stype;
  }

  void* data_ptr;
  std::vector<int64_t> shape;
  MXDType dtype;
  size_t verID;  // changes with the contents
  MXContext ctx;
  MXStorageType stype;
  DLTensor dltensor;  // the same, as DLPack has it

 private:
  /* DLPack has called its device `ctx` and `device`. */
  template <typename T>
  static auto setDLDevice(T* t, const MXContext& ctx, int) -> decltype(t->ctx, void()) {
    t->ctx.device_type = static_cast<decltype(t->ctx.device_type)>(ctx.dev_type == "gpu" ? 2 : 1);
    t->ctx.device_id = ctx.dev_id;
  }
  template <typename T>
  static auto setDLDevice(T* t, const MXContext& ctx, long) -> decltype(t->device, void()) {
    t->device.device_type = static_cast<decltype(t->device.device_type)>(ctx.dev_type == "gpu" ? 2 : 1);
    t->device.device_id = ctx.dev_id;
  }
  void setDLType() {
    static const struct {
      uint8_t code, bits;
    } types[] = {{2, 32}, {2, 64}, {2, 16}, {1, 8}, {0, 32}, {0, 8}, {0, 64}, {6, 8}, {0, 16}, {1, 16}, {1, 32}, {1, 64}, {4, 16}};
    const int at = dtype >= kFloat32 && dtype <= kBfloat16 ? dtype : 0;
    dltensor.dtype.code = types[at].code;
    dltensor.dtype.bits = types[at].bits;
  }
};

/* What went wrong on this thread, in MX_ERROR_MSG << ... of functions that then return MX_FAIL. */
class __attribute__((visibility("hidden"))) MXerrorMsgs {
 public:
  static MXerrorMsgs* get() {
    static thread_local MXerrorMsgs messages;
    return &messages;
  }
  std::stringstream& add() {
    messages_.emplace_back(new std::stringstream);
    return *messages_.back();
  }
  std::stringstream& add(const char* file, int line) {
    std::stringstream& message = add();
    message << file << ":" << line << ": ";
    return message;
  }
  int size() const { return static_cast<int>(messages_.size()); }
  const std::string* get(int i) {
    text_ = messages_.at(static_cast<size_t>(i))->str();
    return &text_;
  }
  /* All of them, which are then forgotten. */
  const std::string& take() {
    text_.clear();
    for (const auto& m : messages_) text_ += (text_.empty() ? "" : "\n") + m->str();
    messages_.clear();
    return text_;
  }

 private:
  std::vector<std::unique_ptr<std::stringstream>> messages_;
  std::string text_;
};
#define MX_ERROR_MSG mxnet::ext::MXerrorMsgs::get()->add(__FILE__, __LINE__)

}  // namespace ext
}  // namespace mxnet

#endif  // MXNET_LIB_API_TENSOR_H_
