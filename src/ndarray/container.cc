// The NDArray container (.params files): writing version 2 and 3, reading everything back to the
// oldest layout.
#include "ndarray/container.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/new_file.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kMagicV1 = 0xF993FAC8, kMagicV2 = 0xF993FAC9, kMagicV3 = 0xF993FACA;
constexpr int kMaxNdim = 64;

/*
 * Reads from memory. INVARIANT: at_ <= size_. Every read is checked against what is left, so a size
 * that a file claims never leads to a larger allocation than the file itself could fill.
 */
class Reader {
 public:
  Reader(const void* data, size_t size) : data_(static_cast<const char*>(data)), size_(size) {}
  template <typename T>
  T Read(const char* what) {
    Need(sizeof(T), what);
    T v;
    std::memcpy(&v, data_ + at_, sizeof(T));
    at_ += sizeof(T);
    return v;
  }
  const char* Bytes(size_t n, const char* what) {
    Need(n, what);
    const char* p = data_ + at_;
    at_ += n;
    return p;
  }
  void Need(uint64_t n, const char* what) {
    if (n > size_ - at_) Fail(std::string(what) + " needs " + std::to_string(n) + " bytes, " + std::to_string(size_ - at_) + " are left");
  }
  [[noreturn]] void Fail(const std::string& why) const {
    throw Error(Error::Kind::kIO, "[load] malformed NDArray data at byte " + std::to_string(at_) + ": " + why);
  }
  size_t left() const { return size_ - at_; }
  /*
   * A few stored rows may stand for a huge dense array: all dense arrays made from sparse ones of
   * one input take at most 4096 times its size (64 MiB for small inputs).
   */
  void TakeDense(uint64_t bytes, const Shape& shape) {
    if (bytes > dense_left_) Fail("sparse array of shape " + shape.str() + " is too large to load as a dense one");
    dense_left_ -= bytes;
  }

 private:
  const char* data_;
  size_t size_, at_ = 0;
  uint64_t dense_left_ = std::max(uint64_t{64} << 20, uint64_t{4096} * size_);
};

Shape ReadShape(Reader* r, const char* what) {
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

size_t CheckedBytes(Reader* r, const Shape& shape, int dtype) {
  if (DTypeSize(dtype) == 0) r->Fail("dtype number " + std::to_string(dtype) + " does not exist");
  uint64_t bytes = DTypeSize(dtype);
  for (int64_t d : shape) {
    if (d == 0) return 0;
    if (bytes > static_cast<uint64_t>(r->left()) / d + 1) r->Fail("shape " + shape.str() + " needs more bytes than are left");
    bytes *= static_cast<uint64_t>(d);
  }
  r->Need(bytes, "array values");
  return bytes;
}

NDArray ReadDense(Reader* r, const Shape& shape) {
  const int32_t dev_type = r->Read<int32_t>("context");
  const int32_t dev_id = r->Read<int32_t>("context");
  (void)dev_id;  // arrays of other devices are loaded on the CPU: the machine that reads need not have them
  if (dev_type != 1 && dev_type != 2 && dev_type != 3 && dev_type != 5)
    r->Fail("device type " + std::to_string(dev_type) + " does not exist");
  const int32_t dtype = r->Read<int32_t>("type flag");
  const size_t bytes = CheckedBytes(r, shape, dtype);
  NDArray a(shape, Context::CPU(), dtype);
  a.SyncCopyFromCPU(r->Bytes(bytes, "array values"), bytes);
  return a;
}

/* Sparse arrays are stored as values plus indices; until sparse operators exist they are loaded as
 * the dense array that they stand for. */
NDArray ReadSparse(Reader* r, int stype) {
  const Shape storage_shape = ReadShape(r, "storage shape");
  const Shape shape = ReadShape(r, "shape");
  if (!storage_shape.ndim_known() || !shape.ndim_known()) r->Fail("a sparse array without shape");
  r->Read<int32_t>("context");
  r->Read<int32_t>("context");
  const int32_t dtype = r->Read<int32_t>("type flag");
  const int num_aux = stype == 1 ? 1 : 2;
  std::vector<int> aux_types(num_aux);
  ShapeVector aux_shapes(num_aux);
  for (int i = 0; i < num_aux; ++i) {
    aux_types[i] = r->Read<int32_t>("auxiliary type flag");
    aux_shapes[i] = ReadShape(r, "auxiliary shape");
    if (!aux_shapes[i].ndim_known()) r->Fail("an auxiliary array without shape");
  }
  const size_t value_bytes = CheckedBytes(r, storage_shape, dtype);
  const char* values = r->Bytes(value_bytes, "array values");
  std::vector<std::vector<int64_t>> aux(num_aux);
  for (int i = 0; i < num_aux; ++i) {
    const size_t bytes = CheckedBytes(r, aux_shapes[i], aux_types[i]);
    const char* p = r->Bytes(bytes, "auxiliary values");
    std::vector<char> aligned(p, p + bytes);
    aux[i].resize(aux_shapes[i].Size());
    ConvertElements(aligned.data(), aux_types[i], aux[i].data(), kInt64, static_cast<int64_t>(aux[i].size()));
  }
  const size_t item = DTypeSize(dtype);
  uint64_t dense_bytes = item;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(dense_bytes, static_cast<uint64_t>(d), &dense_bytes)) dense_bytes = UINT64_MAX;
  r->TakeDense(dense_bytes, shape);
  if (dense_bytes == 0) return NDArray(shape, Context::CPU(), dtype);
  std::vector<char> dense(dense_bytes, 0);
  if (stype == 1) {
    if (shape.ndim() < 1 || storage_shape.ndim() != shape.ndim())
      r->Fail("row_sparse values of shape " + storage_shape.str() + " for an array of shape " + shape.str());
    const size_t row = static_cast<size_t>(shape.Prod(1, shape.ndim())) * item;
    if (static_cast<int64_t>(aux[0].size()) > storage_shape[0] || row * aux[0].size() > value_bytes)
      r->Fail("row_sparse has more indices than rows");
    for (size_t i = 0; i < aux[0].size(); ++i) {
      if (aux[0][i] < 0 || aux[0][i] >= shape[0]) r->Fail("row index " + std::to_string(aux[0][i]) + " is outside shape " + shape.str());
      std::memcpy(dense.data() + row * aux[0][i], values + row * i, row);
    }
  } else {
    if (shape.ndim() != 2 || static_cast<int64_t>(aux[0].size()) != shape[0] + 1)
      r->Fail("csr needs two dimensions and one index pointer per row plus one");
    for (int64_t i = 0; i < shape[0]; ++i) {
      const int64_t begin = aux[0][i], end = aux[0][i + 1];
      if (begin < 0 || end < begin || end > static_cast<int64_t>(aux[1].size()) || static_cast<uint64_t>(end) * item > value_bytes)
        r->Fail("csr index pointers are not in order");
      for (int64_t k = begin; k < end; ++k) {
        if (aux[1][k] < 0 || aux[1][k] >= shape[1])
          r->Fail("column index " + std::to_string(aux[1][k]) + " is outside shape " + shape.str());
        std::memcpy(dense.data() + (i * shape[1] + aux[1][k]) * item, values + k * item, item);
      }
    }
  }
  NDArray a(shape, Context::CPU(), dtype);
  a.SyncCopyFromCPU(dense.data(), dense.size());
  return a;
}

NDArray ReadOne(Reader* r) {
  const uint32_t magic = r->Read<uint32_t>("array magic");
  if (magic == kMagicV2 || magic == kMagicV3) {
    const int32_t stype = r->Read<int32_t>("storage type");
    if (stype == 1 || stype == 2) return ReadSparse(r, stype);
    if (stype != 0) r->Fail("storage type " + std::to_string(stype) + "; accepted: 0 dense, 1 row_sparse, 2 csr");
    const Shape shape = ReadShape(r, "shape");
    if (shape.ndim() < 0 || (magic == kMagicV2 && shape.ndim() == 0)) return NDArray();
    return ReadDense(r, shape);
  }
  if (magic == kMagicV1) {
    const Shape shape = ReadShape(r, "shape");
    return shape.ndim() <= 0 ? NDArray() : ReadDense(r, shape);
  }
  // the oldest layout: the word is the number of dimensions
  if (magic > kMaxNdim) r->Fail("array magic " + std::to_string(magic) + " is unknown");
  Shape shape(static_cast<int>(magic));
  for (uint32_t i = 0; i < magic; ++i) shape[i] = r->Read<uint32_t>("shape");
  return magic == 0 ? NDArray() : ReadDense(r, shape);
}

template <typename T>
void Append(std::string* out, T v) {
  out->append(reinterpret_cast<const char*>(&v), sizeof(T));
}

void AppendArray(std::string* out, const NDArray& a, bool numpy_shapes) {
  // Version 2 cannot tell a scalar or an empty array from "no array".
  const bool empty = !a.is_none() && (a.shape().ndim() == 0 || a.shape().Size() == 0);
  const bool numpy_rules = empty || numpy_shapes;
  Append<uint32_t>(out, numpy_rules ? kMagicV3 : kMagicV2);
  Append<int32_t>(out, 0);
  if (a.is_none()) {
    Append<int32_t>(out, numpy_rules ? -1 : 0);
    return;
  }
  Append<int32_t>(out, a.shape().ndim());
  for (int64_t d : a.shape()) Append<int64_t>(out, d);
  Append<int32_t>(out, static_cast<int32_t>(Context::CPU().dev_type));
  Append<int32_t>(out, 0);
  Append<int32_t>(out, a.dtype());
  const size_t at = out->size(), bytes = static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype());
  out->resize(at + bytes);
  a.SyncCopyToCPU(&(*out)[at], bytes);
}

}  // namespace

std::string SaveNDArrayRaw(const NDArray& array, bool numpy_shapes) {
  std::string out;
  AppendArray(&out, array, numpy_shapes);
  return out;
}
MXNET_DLL std::string SaveNDArrayRaw(const NDArray& array) { return SaveNDArrayRaw(array, false); }

MXNET_DLL NDArray LoadNDArrayRaw(const void* buffer, size_t size) {
  Reader r(buffer, size);
  return ReadOne(&r);
}

MXNET_DLL void SaveNDArrays(const std::string& path, const std::vector<NDArray>& arrays, const std::vector<std::string>& names) {
  SaveNDArrays(path, arrays, names, false);
}

void SaveNDArrays(const std::string& path, const std::vector<NDArray>& arrays, const std::vector<std::string>& names, bool numpy_shapes) {
  MXNET_CHECK_KIND(names.empty() || names.size() == arrays.size(), Value)
      << "[save] got " << arrays.size() << " arrays and " << names.size() << " names";
  NewFile file("save", path);
  std::string head;
  Append<uint64_t>(&head, kListMagic);
  Append<uint64_t>(&head, 0);
  Append<uint64_t>(&head, arrays.size());
  file.Write(head);
  for (const auto& a : arrays) file.Write(SaveNDArrayRaw(a, numpy_shapes));
  std::string tail;
  Append<uint64_t>(&tail, names.size());
  for (const auto& n : names) {
    Append<uint64_t>(&tail, n.size());
    tail += n;
  }
  file.Write(tail);
  file.Commit();
}

MXNET_DLL void LoadNDArrays(const void* buffer, size_t size, std::vector<NDArray>* arrays, std::vector<std::string>* names) {
  Reader r(buffer, size);
  const uint64_t magic = r.Read<uint64_t>("list magic");
  if (magic != kListMagic) r.Fail("list magic is " + std::to_string(magic) + ", expected " + std::to_string(kListMagic));
  r.Read<uint64_t>("reserved word");
  const uint64_t count = r.Read<uint64_t>("array count");
  if (count > r.left() / 4) r.Fail("array count " + std::to_string(count) + " is larger than the data could hold");
  arrays->clear();
  names->clear();
  for (uint64_t i = 0; i < count; ++i) arrays->push_back(ReadOne(&r));
  const uint64_t num_names = r.Read<uint64_t>("name count");
  if (num_names != 0 && num_names != count)
    r.Fail("name count is " + std::to_string(num_names) + "; accepted: 0 or " + std::to_string(count));
  for (uint64_t i = 0; i < num_names; ++i) {
    const uint64_t length = r.Read<uint64_t>("name length");
    r.Need(length, "name");
    names->emplace_back(r.Bytes(length, "name"), length);
  }
}

MXNET_DLL void LoadNDArrays(const std::string& path, std::vector<NDArray>* arrays, std::vector<std::string>* names) {
  std::error_code no_file;
  const uintmax_t size = std::filesystem::file_size(LocalPath(path), no_file);  // a directory has no size either
  if (no_file) throw Error(Error::Kind::kIO, "[load] cannot read " + path + ": " + no_file.message());
  std::ifstream f(LocalPath(path), std::ios::binary);
  std::string data(static_cast<size_t>(size), '\0');
  if (!f.read(&data[0], static_cast<std::streamsize>(size)))
    throw Error(Error::Kind::kIO, "[load] cannot read " + path + ": " + std::strerror(errno));
  LoadNDArrays(data.data(), data.size(), arrays, names);
}

}  // namespace mxnet
