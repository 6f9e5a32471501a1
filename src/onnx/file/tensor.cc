// Constants of ONNX files: TensorProto in all its forms, external data, sparse tensors.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ndarray/stored_file.h"
#include "onnx/file/reader.h"
#include "onnx/file/wire.h"

namespace mxnet {
namespace onnx {
namespace {

using Reader = WireMessage;

constexpr size_t kMostSparse = size_t{1} << 30;  // bytes of a sparse tensor that is written out

struct Row {
  int64_t type;
  const char* name;
  int dtype;
};
// TensorProto.DataType; those that are stored in bytes are kSmallTypes.
const Row kTypes[] = {{1, "FLOAT", kFloat32},
                      {2, "UINT8", kUint8},
                      {3, "INT8", kInt8},
                      {4, "UINT16", kUint16},
                      {5, "INT16", kInt16},
                      {6, "INT32", kInt32},
                      {7, "INT64", kInt64},
                      {8, "STRING", kStringType},
                      {9, "BOOL", kBool},
                      {10, "FLOAT16", kFloat16},
                      {11, "DOUBLE", kFloat64},
                      {12, "UINT32", kUint32},
                      {13, "UINT64", kUint64},
                      {14, "COMPLEX64", kDTypeUnknown},
                      {15, "COMPLEX128", kDTypeUnknown},
                      {16, "BFLOAT16", kBfloat16}};

const SmallType kSmallTypes[] = {{17, "FLOAT8E4M3FN", kUint8, 8, "e4m3fn"}, {18, "FLOAT8E4M3FNUZ", kUint8, 8, "e4m3fnuz"},
                                 {19, "FLOAT8E5M2", kUint8, 8, "e5m2"},     {20, "FLOAT8E5M2FNUZ", kUint8, 8, "e5m2fnuz"},
                                 {21, "UINT4", kUint8, 4, nullptr},         {22, "INT4", kInt8, 4, nullptr},
                                 {23, "FLOAT4E2M1", kUint8, 4, "e2m1"},     {24, "FLOAT8E8M0", kUint8, 8, "e8m0"},
                                 {25, "UINT2", kUint8, 2, nullptr},         {26, "INT2", kInt8, 2, nullptr}};

const Row* Find(int64_t type) {
  for (const Row& row : kTypes)
    if (row.type == type) return &row;
  return nullptr;
}

/* The message, field by field. */
struct Parts {
  std::string name;
  std::vector<int64_t> dims;
  int64_t type = 0;
  bool external = false, has_raw = false;
  Piece raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> ints;  // int32_data, int64_data, uint64_data
  std::vector<std::string> strings;
  std::map<std::string, std::string> place;  // of external data
  std::map<std::string, std::string> metadata;
};

Parts ReadParts(Reader r) {
  Parts p;
  while (r.next()) switch (r.tag()) {
      case 1: ReadInts(&r, &p.dims); break;
      case 2: p.type = r.get_int32(); break;
      case 3: MXNET_THROW(Value) << "[onnx] tensor " << p.name << " is a segment of a larger one; accepted: whole tensors";
      case 4: ReadFloats(&r, &p.floats); break;
      case 5:
      case 7:
      case 11: ReadInts(&r, &p.ints); break;
      case 6: p.strings.push_back(r.get_string()); break;
      case 8: p.name = r.get_string(); break;
      case 9:
        p.raw = r.get_piece();
        p.has_raw = true;
        break;
      case 10: ReadRepeated<double>(&r, &p.doubles); break;
      case 13: ReadPair(r.get_message(), &p.place); break;
      case 14: p.external = r.get_int32() == 1; break;
      case 16: ReadPair(r.get_message(), &p.metadata); break;
      default: r.skip();
    }
  return p;
}

/* Of numbers that share a byte; 0: of others. */
int BitsOf(int64_t type) {
  const SmallType* small = SmallTypeOf(type);
  return small && small->bits < 8 ? small->bits : 0;
}

Shape ShapeOf(const Parts& p) {
  Shape shape(static_cast<int>(p.dims.size()));
  int64_t size = 8;
  MXNET_CHECK_KIND(p.dims.size() <= 64, IO) << "[onnx] tensor " << p.name << " has " << p.dims.size() << " dimensions; accepted: up to 64";
  for (size_t i = 0; i < p.dims.size(); ++i) {
    shape[static_cast<int>(i)] = p.dims[i];
    MXNET_CHECK_KIND(p.dims[i] >= 0 && (p.dims[i] == 0 || !__builtin_mul_overflow(size, p.dims[i], &size)), IO)
        << "[onnx] tensor " << p.name << " has shape " << Shape(p.dims) << "; accepted: sizes from 0 whose product 64 bits count";
  }
  for (int64_t d : p.dims)
    if (d == 0) return shape;
  return shape;
}

/* Numbers of 4 or 2 bits, the first in the lowest bits of a byte. */
NDArray Unpack(const unsigned char* bytes, const Parts& p, const Shape& shape, int dtype) {
  const int bits = BitsOf(p.type), each = 8 / bits;
  const bool is_signed = dtype == kInt8;
  const int64_t count = shape.Size();
  std::vector<signed char> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int v = bytes[i / each] >> (i % each * bits) & ((1 << bits) - 1);
    values[static_cast<size_t>(i)] = static_cast<signed char>(is_signed && v >> (bits - 1) ? v - (1 << bits) : v);
  }
  return ConstantArray(shape, dtype, values.data());
}

size_t BytesNeeded(const Parts& p, const Shape& shape, int dtype) {
  const size_t count = static_cast<size_t>(shape.Size());
  const int bits = BitsOf(p.type);
  return bits ? (count * static_cast<size_t>(bits) + 7) / 8 : count * DTypeSize(dtype);
}

NDArray FromBytes(const Parts& p, StoredBytes* bytes, Piece piece, const Shape& shape, int dtype) {
  const size_t need = BytesNeeded(p, shape, dtype);
  MXNET_CHECK_KIND(piece.size == need, IO) << "[onnx] tensor " << p.name << " of shape " << shape << " has " << piece.size
                                           << " bytes; accepted: " << need;
  const bool packed = BitsOf(p.type) != 0;
  if (!packed && need <= kSmallConstant) return ConstantArray(shape, dtype, bytes->Few(piece.begin, need));
  std::shared_ptr<StoredContents> contents = packed ? nullptr : bytes->Contents(piece.begin, need);
  if (contents) return StoredArray(shape, dtype, std::move(contents));
  std::vector<unsigned char> copy(need);
  bytes->CopyTo(copy.data(), piece.begin, need);
  return packed ? Unpack(copy.data(), p, shape, dtype) : ConstantArray(shape, dtype, copy.data());
}

uint64_t Number(const Parts& p, const char* key, uint64_t otherwise) {
  const auto it = p.place.find(key);
  if (it == p.place.end()) return otherwise;
  char* end = nullptr;
  const unsigned long long v = std::strtoull(it->second.c_str(), &end, 10);
  MXNET_CHECK_KIND(!it->second.empty() && *end == '\0' && it->second[0] != '-', IO)
      << "[onnx] external data of tensor " << p.name << ": " << key << " is '" << it->second << "'; accepted: a number of bytes";
  return v;
}

/* Files beside the model, and in folders below it. */
void CheckLocation(const Parts& p, const std::string& location) {
  bool leaves =
      location.empty() || location[0] == '/' || location.find('\\') != std::string::npos || location.find('\0') != std::string::npos;
  for (size_t from = 0; from <= location.size();) {
    const size_t end = std::min(location.find('/', from), location.size());
    leaves = leaves || location.compare(from, end - from, "..") == 0;
    from = end + 1;
  }
  MXNET_CHECK_KIND(!leaves, IO) << "[onnx] tensor " << p.name << " lies in the file '" << location
                                << "'; accepted: a path that stays in the folder of the model";
}

/*
 * Does the file lie in the folder that the model was asked for in, or in that of the file which a
 * link of its name leads to? The Hugging Face Hub keeps files in a folder of their own, under names
 * of their contents, and links to them.
 */
bool IsBeside(const std::filesystem::path& file, const Source& source) {
  namespace fs = std::filesystem;
  const auto holds = [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
  };
  std::error_code error;
  const fs::path folder = fs::canonical(source.folder, error);
  if (!error && holds(folder)) return true;
  if (source.path.empty()) return false;
  const fs::path model = fs::canonical(source.path, error);
  return !error && holds(model.parent_path());
}

NDArray External(const Parts& p, const Shape& shape, int dtype, Source* source) {
  const auto it = p.place.find("location");
  MXNET_CHECK_KIND(it != p.place.end(), IO) << "[onnx] tensor " << p.name << " has external data without a location";
  CheckLocation(p, it->second);
  MXNET_CHECK_KIND(!source->folder.empty(), IO)
      << "[onnx] tensor " << p.name << " lies in the file '" << it->second
      << "'; a model in memory has no folder to look in; accepted: its path, or folder= where the file is";
  auto found = source->external.find(it->second);
  if (found == source->external.end()) {
    const std::string path = source->folder + "/" + it->second;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    MXNET_CHECK_KIND(error != std::errc::no_such_file_or_directory, IO)
        << "[onnx] the model keeps tensor " << p.name << " in the file '" << it->second << "', and there is no " << path
        << "; accepted: the model with the files of its weights beside it, as they were written";
    MXNET_CHECK_KIND(error || IsBeside(real, *source), IO)
        << "[onnx] tensor " << p.name << " lies in '" << path << "', which leads out of the folder of the model; accepted: files in it";
    found = source->external.emplace(it->second, StoredBytes(std::make_shared<StoredFile>(path, "onnx"))).first;
  }
  StoredBytes* const bytes = &found->second;
  const uint64_t offset = Number(p, "offset", 0), need = BytesNeeded(p, shape, dtype), length = Number(p, "length", need);
  MXNET_CHECK_KIND(offset <= bytes->size() && length <= bytes->size() - offset, IO)
      << "[onnx] tensor " << p.name << " is bytes " << offset << " to " << offset + length << " of '" << it->second << "', which has "
      << bytes->size();
  return FromBytes(p, bytes, {static_cast<size_t>(offset), static_cast<size_t>(length)}, shape, dtype);
}

template <typename T>
NDArray FromList(const Parts& p, const std::vector<T>& values, int listed, const Shape& shape, int dtype) {
  MXNET_CHECK_KIND(static_cast<int64_t>(values.size()) == shape.Size(), IO)
      << "[onnx] tensor " << p.name << " of shape " << shape << " has " << values.size() << " values; accepted: " << shape.Size();
  std::vector<char> converted(values.size() * DTypeSize(dtype));
  ConvertElements(values.data(), listed, converted.data(), dtype, static_cast<int64_t>(values.size()));
  return ConstantArray(shape, dtype, converted.data());
}

/* int32_data holds halves as their bits, and small integers of 4 bits packed. */
NDArray FromInts(const Parts& p, const Shape& shape, int dtype) {
  if (BitsOf(p.type)) {
    const std::vector<unsigned char> bytes(p.ints.begin(), p.ints.end());
    MXNET_CHECK_KIND(bytes.size() == BytesNeeded(p, shape, dtype), IO)
        << "[onnx] tensor " << p.name << " of shape " << shape << " has " << bytes.size()
        << " bytes; accepted: " << BytesNeeded(p, shape, dtype);
    return Unpack(bytes.data(), p, shape, dtype);
  }
  if (!IsHalf(dtype)) return FromList(p, p.ints, kInt64, shape, dtype);
  MXNET_CHECK_KIND(static_cast<int64_t>(p.ints.size()) == shape.Size(), IO)
      << "[onnx] tensor " << p.name << " of shape " << shape << " has " << p.ints.size() << " values";
  const std::vector<uint16_t> bits(p.ints.begin(), p.ints.end());
  return ConstantArray(shape, dtype, bits.data());
}

/* The names in a list as Python prints it. */
std::vector<std::string> NamesIn(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = list.find('\''); at != std::string::npos; at = list.find('\'', at + 1)) {
    const size_t end = list.find('\'', at + 1);
    if (end == std::string::npos) break;
    names.push_back(list.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

Constant ToConstant(const Parts& p, Source* source) {
  Constant c;
  c.name = p.name;
  c.shape = ShapeOf(p);
  NoteOrigin(p.metadata, &c);
  const int dtype = DTypeOfOnnx(p.type);
  MXNET_CHECK_KIND(dtype != kDTypeUnknown, Value)
      << "[onnx] tensor " << p.name << " has type " << OnnxTypeName(p.type) << "; accepted: floats, integers, bool, strings";
  c.small = SmallTypeOf(p.type);
  if (dtype == kStringType) {
    MXNET_CHECK_KIND(static_cast<int64_t>(p.strings.size()) == c.shape.Size(), IO)
        << "[onnx] tensor " << p.name << " of shape " << c.shape << " has " << p.strings.size() << " strings";
    c.strings = p.strings;
    return c;
  }
  if (p.external)
    c.array = External(p, c.shape, dtype, source);
  else if (p.has_raw)
    c.array = FromBytes(p, &source->bytes, p.raw, c.shape, dtype);
  else if (dtype == kFloat32)
    c.array = FromList(p, p.floats, kFloat32, c.shape, kFloat32);
  else if (dtype == kFloat64)
    c.array = FromList(p, p.doubles, kFloat64, c.shape, kFloat64);
  else
    c.array = FromInts(p, c.shape, dtype);
  return c;
}

std::vector<int64_t> Positions(const Constant& indices) {
  std::vector<int64_t> values(static_cast<size_t>(indices.shape.Size()));
  MXNET_CHECK_KIND(!indices.array.is_none() && indices.array.dtype() == kInt64, IO)
      << "[onnx] sparse tensor " << indices.name << ": indices of another type than INT64";
  if (!values.empty()) indices.array.CopyBytesTo(values.data(), values.size() * 8);
  return values;
}

}  // namespace

const SmallType* SmallTypeOf(int64_t type) {
  for (const SmallType& small : kSmallTypes)
    if (small.type == type) return &small;
  return nullptr;
}

int DTypeOfOnnx(int64_t type) {
  const Row* row = Find(type);
  const SmallType* small = SmallTypeOf(type);
  return row ? row->dtype : small ? small->dtype : static_cast<int>(kDTypeUnknown);
}

const char* OnnxTypeName(int64_t type) {
  const Row* row = Find(type);
  const SmallType* small = SmallTypeOf(type);
  return row ? row->name : small ? small->name : "UNDEFINED";
}

void NoteOrigin(const Notes& notes, Constant* constant) {
  const auto kind = notes.find("pkg.torch.export.graph_signature.InputSpec.kind");
  if (kind != notes.end()) constant->is_parameter = kind->second == "PARAMETER", constant->is_buffer = !constant->is_parameter;
  const auto folded = notes.find("pkg.onnxscript.optimizer.folded_from");
  if (folded != notes.end()) constant->folded_from = NamesIn(folded->second);
}

Constant ReadTensor(WireMessage message, Source* source) { return ToConstant(ReadParts(message), source); }

Constant ReadSparseTensor(WireMessage r, Source* source) {
  Constant values, indices;
  Parts whole;
  while (r.next()) switch (r.tag()) {
      case 1: values = ReadTensor(r.get_message(), source); break;
      case 2: indices = ReadTensor(r.get_message(), source); break;
      case 3: ReadInts(&r, &whole.dims); break;
      default: r.skip();
    }
  MXNET_CHECK_KIND(!values.array.is_none() && values.shape.ndim() == 1, IO)
      << "[onnx] sparse tensor " << values.name << " without a line of values";
  whole.name = values.name;
  const Shape shape = ShapeOf(whole);
  const size_t width = DTypeSize(values.array.dtype()), dense = static_cast<size_t>(shape.Size()) * width;
  MXNET_CHECK_KIND(dense <= kMostSparse, Value) << "[onnx] sparse tensor " << values.name << " of shape " << shape << " takes " << dense
                                                << " bytes when written out; accepted: up to " << kMostSparse;
  const std::vector<int64_t> at = Positions(indices);
  const int64_t count = values.shape[0], rank = shape.ndim();
  const bool linear = indices.shape.ndim() == 1;
  MXNET_CHECK_KIND(static_cast<int64_t>(at.size()) == (linear ? count : count * rank), IO)
      << "[onnx] sparse tensor " << values.name << " has " << count << " values and indices of shape " << indices.shape;
  std::vector<char> from(static_cast<size_t>(count) * width), to(dense, 0);
  if (!from.empty()) values.array.CopyBytesTo(from.data(), from.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = linear ? at[static_cast<size_t>(i)] : 0;
    for (int64_t k = 0; k < rank && !linear; ++k) {
      const int64_t index = at[static_cast<size_t>(i * rank + k)];
      MXNET_CHECK_KIND(index >= 0 && index < shape[static_cast<int>(k)], IO)
          << "[onnx] sparse tensor " << values.name << ": index " << index;
      place = place * shape[static_cast<int>(k)] + index;
    }
    MXNET_CHECK_KIND(place >= 0 && place < shape.Size(), IO) << "[onnx] sparse tensor " << values.name << ": index " << place;
    std::memcpy(&to[static_cast<size_t>(place) * width], &from[static_cast<size_t>(i) * width], width);
  }
  Constant c;
  c.name = values.name;
  c.small = values.small;
  c.shape = shape;
  c.array = NDArray(shape, Context::CPU(), values.array.dtype());
  if (dense > 0) c.array.CopyBytesFrom(to.data(), dense);
  return c;
}

}  // namespace onnx
}  // namespace mxnet
