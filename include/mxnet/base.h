/*
 * Value types that all modules share: Context (where), DType (of what), Shape (how large),
 * TensorType (what is known of a tensor).
 * Nothing here allocates for shapes of up to kInlineDims dimensions and nothing here is
 * thread-aware: plain values.
 */
#ifndef MXNET_BASE_H_
#define MXNET_BASE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/error.h"

#define MXNET_VERSION 11000
#define MXNET_VERSION_STRING "1.10.0"
#define MXNET_MAJOR 1
#define MXNET_MINOR 10
#define MXNET_PATCH 0

namespace mxnet {

/* Numbers are those of the NDArray container format; they are written to files. */
enum DType : int {
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
  kNumDTypes = 13,
  kDTypeUnknown = -1
};
/* Bytes of one element; 0 for kDTypeUnknown and numbers outside the enum. */
MXNET_DLL size_t DTypeSize(int dtype);
/* NumPy's name ("float32", "bfloat16", ...); "unknown" otherwise. */
MXNET_DLL const char* DTypeName(int dtype);
/* REQUIRES: nothing. Throws Error(kType) that lists the accepted names. */
MXNET_DLL int DTypeFromName(const std::string& name);
/* One of the floating types of 16 bits. */
inline bool IsHalf(int dtype) { return dtype == kFloat16 || dtype == kBfloat16; }
inline bool IsFloating(int dtype) { return dtype == kFloat32 || dtype == kFloat64 || IsHalf(dtype); }

enum class DeviceType : int { kCPU = 1, kGPU = 2, kCPUPinned = 3, kCPUShared = 5 };

struct Context {
  /* Names of 1.x, as in Context::Create(Context::kGPU, 1). A negative number is device 0. */
  using DeviceType = ::mxnet::DeviceType;
  static constexpr DeviceType kCPU = DeviceType::kCPU, kGPU = DeviceType::kGPU, kCPUPinned = DeviceType::kCPUPinned,
                              kCPUShared = DeviceType::kCPUShared;
  static Context Create(DeviceType dev_type, int dev_id = -1) { return Make(static_cast<int>(dev_type), dev_id < 0 ? 0 : dev_id); }

  DeviceType dev_type = DeviceType::kCPU;
  int dev_id = 0;

  Context() = default;
  Context(DeviceType type, int id) : dev_type(type), dev_id(id) {}
  static Context CPU(int id = 0) { return {DeviceType::kCPU, id}; }
  static Context GPU(int id = 0) { return {DeviceType::kGPU, id}; }
  static Context CPUPinned(int id = 0) { return {DeviceType::kCPUPinned, id}; }
  static Context CPUShared(int id = 0) { return {DeviceType::kCPUShared, id}; }
  /* Throws Error(kValue) for a device type that the enum does not have. */
  MXNET_DLL static Context Make(int dev_type, int dev_id);
  /* Accepts "cpu(0)", "gpu(1)", "cpu_pinned(0)", "cpu_shared(0)", "cpu"; throws Error(kValue)
   * otherwise. */
  MXNET_DLL static Context FromString(const std::string& s);
  bool is_gpu() const { return dev_type == DeviceType::kGPU; }
  /* Where operators on arrays of this context run: pinned and shared memory belong to the CPU's
   * workers. */
  Context execution() const { return is_gpu() ? *this : CPU(0); }
  /* The type and number of that, in numbers of 1.x. */
  int dev_mask() const { return static_cast<int>(execution().dev_type); }
  int real_dev_id() const { return execution().dev_id; }
  MXNET_DLL std::string str() const;
  bool operator==(const Context& o) const { return dev_type == o.dev_type && dev_id == o.dev_id; }
  bool operator!=(const Context& o) const { return !(*this == o); }
  bool operator<(const Context& o) const { return dev_type != o.dev_type ? dev_type < o.dev_type : dev_id < o.dev_id; }
};

/*
 * Tensor dimensions. ndim() == -1: rank unknown. A dimension of -1 (kUnknownDim): size unknown.
 * During inference the legacy (1.x) convention "0 means unknown" is translated at the C ABI, not
 * here. INVARIANT: the dimensions are in inline_ when heap_ is null (then ndim <= kInlineDims),
 * else in heap_. A moved-from shape has unknown rank.
 */
class MXNET_DLL Shape {
 public:
  static constexpr int kInlineDims = 6;
  static constexpr int64_t kUnknownDim = -1;

  Shape() : inline_{} {}  // rank unknown
  explicit Shape(int ndim, int64_t fill = kUnknownDim) : inline_{} { Resize(ndim, fill); }
  Shape(std::initializer_list<int64_t> dims) : inline_{} { Assign(dims.begin(), static_cast<int>(dims.size())); }
  Shape(const int64_t* dims, int ndim) : inline_{} { Assign(dims, ndim); }
  explicit Shape(const std::vector<int64_t>& dims) : inline_{} { Assign(dims.data(), static_cast<int>(dims.size())); }
  /* The dimensions in a range of another container. */
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  Shape(It first, It last) : inline_{} {
    Resize(static_cast<int>(last - first), 0);
    std::copy(first, last, dims());
  }
  Shape(const Shape& o) { CopyFrom(o); }
  Shape(Shape&& o) noexcept { Steal(&o); }
  Shape& operator=(const Shape& o) {
    if (this != &o) CopyFrom(o);
    return *this;
  }
  Shape& operator=(Shape&& o) noexcept {
    if (this != &o) {
      Release();
      Steal(&o);
    }
    return *this;
  }
  ~Shape() { Release(); }

  int ndim() const { return ndim_; }
  bool ndim_known() const { return ndim_ >= 0; }
  /* Rank and every dimension known. */
  bool known() const {
    if (ndim_ < 0) return false;
    const int64_t* d = dims();
    for (int i = 0; i < ndim_; ++i)
      if (d[i] < 0) return false;
    return true;
  }
  /* Number of elements; 1 for rank 0. Throws Error(kValue) when not known() and when it exceeds
   * int64. */
  int64_t Size() const {
    const int64_t* d = dims();
    int64_t size = 1;
    bool odd = ndim_ < 0;
    for (int i = 0; i < ndim_; ++i) odd |= (d[i] < 0) | __builtin_mul_overflow(size, d[i], &size);
    return __builtin_expect(odd, 0) ? SizeSlow(0, ndim_) : size;
  }
  /* Product of dims [begin, end). REQUIRES: known(), 0 <= begin <= end <= ndim(). Throws
   * Error(kValue) on overflow. */
  int64_t Prod(int begin, int end) const {
    const int64_t* d = dims();
    int64_t size = 1;
    bool odd = false;
    for (int i = begin; i < end; ++i) odd |= __builtin_mul_overflow(size, d[i], &size);
    return __builtin_expect(odd, 0) ? SizeSlow(begin, end) : size;
  }
  int64_t& operator[](int i) { return dims()[i]; }
  int64_t operator[](int i) const { return dims()[i]; }
  int64_t* dims() { return heap_ ? heap_ : inline_; }
  const int64_t* dims() const { return heap_ ? heap_ : inline_; }
  const int64_t* begin() const { return dims(); }
  const int64_t* end() const { return dims() + (ndim_ > 0 ? ndim_ : 0); }
  bool operator==(const Shape& o) const {
    if (ndim_ != o.ndim_) return false;
    const int64_t* a = dims();
    const int64_t* b = o.dims();
    for (int i = 0; i < ndim_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  bool operator!=(const Shape& o) const { return !(*this == o); }
  /* `dims` may point into this shape; it is not read when ndim <= 0. Throws Error(kValue) for ndim
   * < -1. */
  void Assign(const int64_t* dims, int ndim) {
    if (__builtin_expect(heap_ == nullptr && ndim >= 0 && ndim <= kInlineDims, 1)) {
      for (int i = 0; i < ndim; ++i) inline_[i] = dims[i];
      ndim_ = ndim;
    } else {
      AssignSlow(dims, ndim);
    }
  }
  /* Every dimension becomes `fill`. Throws Error(kValue) for ndim < -1. */
  void Resize(int ndim, int64_t fill) {
    if (__builtin_expect(heap_ == nullptr && ndim >= 0 && ndim <= kInlineDims, 1)) {
      for (int i = 0; i < ndim; ++i) inline_[i] = fill;
      ndim_ = ndim;
    } else {
      ResizeSlow(ndim, fill);
    }
  }
  /* "(2,3)", "(2,)", "()"; unknown dims print as -1, unknown rank as "None". */
  std::string str() const;

 private:
  void Release() {
    if (__builtin_expect(heap_ != nullptr, 0)) {
      delete[] heap_;
      heap_ = nullptr;
    }
  }
  void CopyFrom(const Shape& o) {
    if (__builtin_expect(heap_ == nullptr && o.heap_ == nullptr, 1)) {
      ndim_ = o.ndim_;
      std::memcpy(inline_, o.inline_, sizeof(inline_));  // a fixed number of bytes: three vector moves
    } else {
      std::memset(inline_, 0, sizeof(inline_));
      AssignSlow(o.dims(), o.ndim_);
    }
  }
  void Steal(Shape* o) noexcept {
    ndim_ = o->ndim_;
    heap_ = o->heap_;
    std::memcpy(inline_, o->inline_, sizeof(inline_));
    o->ndim_ = -1;
    o->heap_ = nullptr;
  }
  void AssignSlow(const int64_t* dims, int ndim);
  void ResizeSlow(int ndim, int64_t fill);
  int64_t SizeSlow(int begin, int end) const;

  int ndim_ = -1;
  int64_t* heap_ = nullptr;
  int64_t inline_[kInlineDims];  // copied as a whole, so constructors that do not fill it clear it
};
MXNET_DLL std::ostream& operator<<(std::ostream& os, const Shape& s);
MXNET_DLL std::ostream& operator<<(std::ostream& os, const Context& c);
using ShapeVector = std::vector<Shape>;

/*
 * Merges what two sources know about one shape into *into. Returns false (and leaves *into
 * unspecified) on a contradiction. Unknown rank or dimensions yield to known ones.
 */
MXNET_DLL bool MergeShape(Shape* into, const Shape& from);
/* Same for dtypes; kDTypeUnknown yields. */
MXNET_DLL bool MergeDType(int* into, int from);

/* Which elements a tensor stores. Numbers are those of the C interface and of the container
 * format. */
enum class StorageType : int { kUndefined = -1, kDense = 0, kRowSparse = 1, kCSR = 2 };
/* As Python has them: "default", "row_sparse", "csr", "undefined". */
MXNET_DLL const char* StorageTypeName(StorageType storage);
/* Throws Error(kValue) that lists the accepted names. */
MXNET_DLL StorageType StorageTypeFromName(const std::string& name);
inline bool IsSparse(StorageType storage) { return storage == StorageType::kRowSparse || storage == StorageType::kCSR; }

/*
 * What is known of a tensor that may not exist yet. Inference, plans, tapes and requests carry
 * these; a part that is not known is of unknown rank, kDTypeUnknown or kUndefined.
 */
struct TensorType {
  Shape shape;
  int dtype = kDTypeUnknown;
  StorageType storage = StorageType::kUndefined;

  TensorType() = default;
  TensorType(Shape s, int d, StorageType st = StorageType::kUndefined) : shape(std::move(s)), dtype(d), storage(st) {}
  bool known() const { return dtype != kDTypeUnknown && shape.known(); }
  /* In memory, of dense elements. REQUIRES: known(). */
  size_t Bytes() const { return static_cast<size_t>(shape.Size()) * DTypeSize(dtype); }
  bool operator==(const TensorType& o) const { return dtype == o.dtype && storage == o.storage && shape == o.shape; }
  bool operator!=(const TensorType& o) const { return !(*this == o); }
};
using TensorTypes = std::vector<TensorType>;

/*
 * How a tensor's elements lie in memory. kPlain: row-major in the logical order of its shape.
 * kChannelsLast: the logical shape stays N,C,spatial..., memory is N,spatial...,C. Same number of
 * bytes, so planning does not care.
 */
enum class Layout : uint8_t { kPlain = 0, kChannelsLast = 1 };

struct SparseParts;  // ndarray.h
class NDArray;

/*
 * A non-owning tensor: what kernels see. Valid while the owner (NDArray, plan arena) lives.
 * INVARIANT: of a sparse array `dptr` is null, `shape` and `dtype` are the whole array's, and
 * `sparse` has what is stored; only kernels of sparse forms (operator/record/sparse_form.h) get
 * one.
 */
struct TBlob {
  void* dptr = nullptr;
  Shape shape;
  int dtype = kFloat32;
  Context ctx;
  Layout layout = Layout::kPlain;
  SparseParts* sparse = nullptr;  // null: dense

  int64_t Size() const { return shape.Size(); }
  size_t Bytes() const { return static_cast<size_t>(Size()) * DTypeSize(dtype); }
  template <typename T>
  T* data() const {
    return static_cast<T*>(dptr);
  }
};

/* A pointer and a length; C++17 has no std::span. */
template <typename T>
struct Span {
  T* ptr = nullptr;
  int count = 0;
  Span() = default;
  Span(T* p, int n) : ptr(p), count(n) {}
  template <typename V>
  Span(V& v) : ptr(v.data()), count(static_cast<int>(v.size())) {}  // NOLINT: implicit on purpose
  T& operator[](int i) const { return ptr[i]; }
  T* data() const { return ptr; }
  int size() const { return count; }
  bool empty() const { return count == 0; }
  T* begin() const { return ptr; }
  T* end() const { return ptr + count; }
};

}  // namespace mxnet

/* An installed package has more names for programs of 1.x, which the library's own sources do
 * without (compat/include). */
#if defined(__has_include)
#if __has_include(<mxnet/names_1x.h>)
#include <mxnet/names_1x.h>
#endif
#endif
#endif  // MXNET_BASE_H_
