/* Reading and writing the bytes of containers, for container.cc and container_sparse.cc. */
#ifndef MXNET_NDARRAY_CONTAINER_READER_H_
#define MXNET_NDARRAY_CONTAINER_READER_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"
#include "ndarray/stored_file.h"

namespace mxnet::container {

constexpr uint32_t kMagicV1 = 0xF993FAC8, kMagicV2 = 0xF993FAC9, kMagicV3 = 0xF993FACA;
constexpr int kMaxNdim = 64;

/*
 * Reads from memory or from a file. INVARIANT: at_ <= size(). Every read is checked against what is
 * left, so a size that an input claims never leads to a larger allocation than the input itself
 * could fill.
 */
class Reader {
 public:
  /* `maps`: dense arrays are read from the bytes when somebody reads them. */
  Reader(StoredBytes bytes, bool maps) : bytes_(std::move(bytes)), maps_(maps) {}
  const StoredBytes& bytes() const { return bytes_; }
  bool maps() const { return maps_; }
  template <typename T>
  T Read(const char* what) {
    T v;
    CopyTo(&v, Skip(sizeof(T), what), sizeof(T));
    return v;
  }
  /* Goes on by `n` bytes; returns where they begin. */
  size_t Skip(size_t n, const char* what) {
    Need(n, what);
    at_ += n;
    return at_ - n;
  }
  /* Bytes from `begin` on that somebody has skipped. Throws Error(kIO) where the file has
   * changed. */
  void CopyTo(void* to, size_t begin, size_t n) { bytes_.CopyTo(to, begin, n); }
  void Need(uint64_t n, const char* what) {
    if (n > left()) Fail(std::string(what) + " needs " + std::to_string(n) + " bytes, " + std::to_string(left()) + " are left");
  }
  [[noreturn]] void Fail(const std::string& why) const { FailAt(at_, why); }
  [[noreturn]] void FailAt(size_t at, const std::string& why) const {
    throw Error(Error::Kind::kIO, "[load] malformed NDArray data at byte " + std::to_string(at) + ": " + why);
  }
  size_t at() const { return at_; }
  size_t size() const { return bytes_.size(); }
  size_t left() const { return size() - at_; }

 private:
  StoredBytes bytes_;
  size_t at_ = 0;
  const bool maps_;
};

inline Shape ReadShape(Reader* r, const char* what) {
  const int32_t ndim = r->Read<int32_t>(what);
  if (ndim < -1 || ndim > kMaxNdim)
    r->Fail(std::string(what) + " claims " + std::to_string(ndim) + " dimensions; accepted: up to " + std::to_string(kMaxNdim));
  if (ndim < 0) return Shape();
  Shape s(ndim);
  for (int i = 0; i < ndim; ++i) {
    s[i] = r->Read<int64_t>(what);
    if (s[i] < 0) r->Fail(std::string(what) + " has dimension " + std::to_string(s[i]));
  }
  return s;
}

inline size_t CheckedBytes(Reader* r, const Shape& shape, int dtype) {
  if (DTypeSize(dtype) == 0) r->Fail("dtype number " + std::to_string(dtype) + " does not exist");
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;  // wherever the 0 stands
  uint64_t bytes = DTypeSize(dtype);
  for (int64_t d : shape) {
    if (bytes > static_cast<uint64_t>(r->left()) / d + 1) r->Fail("shape " + shape.str() + " needs more bytes than are left");
    bytes *= static_cast<uint64_t>(d);
  }
  r->Need(bytes, "array values");
  return bytes;
}

template <typename T>
void Append(std::string* out, T v) {
  out->append(reinterpret_cast<const char*>(&v), sizeof(T));
}
inline void AppendShape(std::string* out, const Shape& shape) {
  Append<int32_t>(out, shape.ndim());
  for (int64_t d : shape) Append<int64_t>(out, d);
}

/* A sparse array, behind its storage type. Throws Error(kIO) where an index leads outside; what is
 * not in order is brought into it, for 1.9.1 leaves rows of csr results unsorted. */
NDArray ReadSparse(Reader* r, StorageType storage);
/* Takes the bytes of a container, one part behind the other. */
using Sink = std::function<void(const void* data, size_t size)>;
/* All of a sparse array. Throws Error(kValue) where its parts do not belong together. */
void WriteSparse(const Sink& sink, const NDArray& array);

}  // namespace mxnet::container
#endif  // MXNET_NDARRAY_CONTAINER_READER_H_
