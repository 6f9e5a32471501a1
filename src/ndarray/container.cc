// The NDArray container (.params files): writing version 2 and 3, reading everything back to the
// oldest layout.
#include "ndarray/container.h"

#include <cstring>

#include "base/file_kinds.h"
#include "base/new_file.h"
#include "mxnet/ndarray.h"
#include "ndarray/container_reader.h"
#include "ndarray/sparse_copy.h"

namespace mxnet {
namespace {

using namespace container;  // NOLINT

constexpr uint64_t kListMagic = 0x112;

Reader InMemory(const void* bytes, size_t size) { return Reader(StoredBytes(bytes, size, nullptr), false); }

StoredBytes OfFile(const std::string& path) { return StoredBytes(std::make_shared<StoredFile>(LocalPath(path), "load")); }

NDArray ReadDense(Reader* r, const Shape& shape, const KnownArray* known) {
  const int32_t dev_type = r->Read<int32_t>("context");
  const int32_t dev_id = r->Read<int32_t>("context");
  (void)dev_id;  // arrays of other devices are loaded on the CPU: the machine that reads need not have them
  if (dev_type != 1 && dev_type != 2 && dev_type != 3 && dev_type != 5)
    r->Fail("device type " + std::to_string(dev_type) + " does not exist");
  const int32_t dtype = r->Read<int32_t>("type flag");
  const size_t bytes = CheckedBytes(r, shape, dtype);
  const size_t at = r->Skip(bytes, "array values");
  if (r->maps() && bytes > 0) return StoredArray(shape, dtype, r->bytes().Contents(at, bytes));
  if (known) {
    const NDArray there = (*known)({shape, dtype}, r->bytes().data() + at);
    if (!there.is_none()) return there;
  }
  NDArray a(shape, Context::CPU(), dtype);
  if (bytes > 0) r->CopyTo(a.data().dptr<void>(), at, bytes);
  return a;
}

NDArray ReadOne(Reader* r, const KnownArray* known = nullptr) {
  const uint32_t magic = r->Read<uint32_t>("array magic");
  if (magic == kMagicV2 || magic == kMagicV3) {
    const int32_t stype = r->Read<int32_t>("storage type");
    if (stype == 1 || stype == 2) return ReadSparse(r, static_cast<StorageType>(stype));
    if (stype != 0) r->Fail("storage type " + std::to_string(stype) + "; accepted: 0 dense, 1 row_sparse, 2 csr");
    const Shape shape = ReadShape(r, "shape");
    if (shape.ndim() < 0 || (magic == kMagicV2 && shape.ndim() == 0)) return NDArray();
    return ReadDense(r, shape, known);
  }
  if (magic == kMagicV1) {
    const Shape shape = ReadShape(r, "shape");
    return shape.ndim() <= 0 ? NDArray() : ReadDense(r, shape, known);
  }
  // the oldest layout: the word is the number of dimensions
  if (magic > kMaxNdim) r->Fail("array magic " + std::to_string(magic) + " is unknown");
  Shape shape(static_cast<int>(magic));
  for (uint32_t i = 0; i < magic; ++i) shape[i] = r->Read<uint32_t>("shape");
  return magic == 0 ? NDArray() : ReadDense(r, shape, known);
}

void WriteArray(const Sink& sink, const NDArray& a, bool numpy_shapes) {
  if (a.is_sparse()) return WriteSparse(sink, a);
  // Version 2 cannot tell a scalar or an empty array from "no array".
  const bool empty = !a.is_none() && (a.shape().ndim() == 0 || a.shape().Size() == 0);
  const bool numpy_rules = empty || numpy_shapes;
  std::string head;
  Append<uint32_t>(&head, numpy_rules ? kMagicV3 : kMagicV2);
  Append<int32_t>(&head, 0);
  if (a.is_none()) {
    Append<int32_t>(&head, numpy_rules ? -1 : 0);
    return sink(head.data(), head.size());
  }
  AppendShape(&head, a.shape());
  Append<int32_t>(&head, static_cast<int32_t>(Context::CPU().dev_type));
  Append<int32_t>(&head, 0);
  Append<int32_t>(&head, a.dtype());
  sink(head.data(), head.size());
  if (a.shape().Size() == 0) return;
  const NDArray here = a.ctx().is_gpu() ? a.Copy(Context::CPU()) : a;
  const TBlob values = here.data();
  WhileUnchanged(
      here, [&] { sink(values.dptr, values.Bytes()); }, "save");
}

}  // namespace

std::string SaveNDArrayRaw(const NDArray& array, bool numpy_shapes) {
  std::string out;
  WriteArray([&](const void* data, size_t size) { out.append(static_cast<const char*>(data), size); }, array, numpy_shapes);
  return out;
}
MXNET_DLL std::string SaveNDArrayRaw(const NDArray& array) { return SaveNDArrayRaw(array, false); }

MXNET_DLL NDArray LoadNDArrayRaw(const void* buffer, size_t size) {
  Reader r = InMemory(buffer, size);
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
  for (const auto& a : arrays) WriteArray([&](const void* data, size_t size) { file.Write(data, size); }, a, numpy_shapes);
  std::string tail;
  Append<uint64_t>(&tail, names.size());
  for (const auto& n : names) {
    Append<uint64_t>(&tail, n.size());
    tail += n;
  }
  file.Write(tail);
  file.Commit();
}

constexpr char kAccepted[] = "files of mx.nd.save, net.save_parameters and export (.params)";

static void ReadList(Reader r, std::vector<NDArray>* arrays, std::vector<std::string>* names, const KnownArray* known = nullptr) {
  const uint64_t magic = r.Read<uint64_t>("list magic");
  if (magic != kListMagic) {
    const char* const bytes = r.bytes().data();
    if (bytes) RefuseKind(KindOfBytes(bytes, r.size()), " params text ", "load", "what was given", kAccepted);
    r.Fail("list magic is " + std::to_string(magic) + ", expected " + std::to_string(kListMagic));
  }
  r.Read<uint64_t>("reserved word");
  const uint64_t count = r.Read<uint64_t>("array count");
  if (count > r.left() / 4) r.Fail("array count " + std::to_string(count) + " is larger than the data could hold");
  arrays->clear();
  names->clear();
  for (uint64_t i = 0; i < count; ++i) arrays->push_back(ReadOne(&r, known));
  const uint64_t num_names = r.Read<uint64_t>("name count");
  if (num_names != 0 && num_names != count)
    r.Fail("name count is " + std::to_string(num_names) + "; accepted: 0 or " + std::to_string(count));
  for (uint64_t i = 0; i < num_names; ++i) {
    const uint64_t length = r.Read<uint64_t>("name length");
    const size_t at = r.Skip(length, "name");
    names->emplace_back(length, '\0');
    r.CopyTo(&names->back()[0], at, length);
  }
}

MXNET_DLL void LoadNDArrays(const void* buffer, size_t size, std::vector<NDArray>* arrays, std::vector<std::string>* names) {
  ReadList(InMemory(buffer, size), arrays, names);
}

void LoadNDArrays(const void* buffer, size_t size, std::vector<NDArray>* arrays, std::vector<std::string>* names, const KnownArray& known) {
  ReadList(InMemory(buffer, size), arrays, names, &known);
}

void MapNDArrays(const std::string& path, std::vector<NDArray>* arrays, std::vector<std::string>* names) {
  RefuseKind(KindOfFile(path), " params ", "load", path, kAccepted);
  ReadList(Reader(OfFile(path), true), arrays, names);
}

MXNET_DLL void LoadNDArrays(const std::string& path, std::vector<NDArray>* arrays, std::vector<std::string>* names) {
  RefuseKind(KindOfFile(path), " params ", "load", path, kAccepted);
  ReadList(Reader(OfFile(path), false), arrays, names);
}

}  // namespace mxnet
