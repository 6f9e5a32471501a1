// Rows of tables whose numbers are packed as in GGUF files: com.microsoft's GatherPacked.
#include <numeric>
#include <string>
#include <vector>

#include "onnx/builder.h"
#include "onnx/convert/quantized/quantized.h"

namespace mxnet {
namespace onnx {

namespace {

/* What all floats of 16 bits are, by their bits. */
Value AllHalves(const Call& c, int dtype) {
  std::vector<uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), uint16_t{0});
  return c.Cast(c.Tensor(Shape{1 << 16}, dtype, all.data()), kFloat32);
}

/* Rows of bytes in blocks, (rows, blocks, bytes), int32. */
struct Blocks {
  const Call& c;
  Value bytes, halves;

  Value Slice(int64_t begin, int64_t count) const { return SliceAxis(c, bytes, 2, begin, begin + count); }
  /* Two bytes as a float of 16 bits. */
  Value Half(int64_t at) const { return Take(c, halves, Add(c, Slice(at, 1), MulNumber(c, Slice(at + 1, 1), 256)), 0); }
  Value Signed(int64_t begin, int64_t count) const {
    const Value x = Slice(begin, count);
    return Where(c, BinaryNumber(c, "greater", x, 127), AddNumber(c, x, -256), x);
  }
};

Value Bits(const Call& c, const Value& x, int64_t shift, int64_t mask) {
  const auto number = [](int64_t n) { return AttrDict{{"scalar", Text(n)}, {"is_int", "True"}}; };
  const Value moved = shift == 0 ? x : c.Op("_npi_bitwise_right_shift_scalar", {x}, number(shift));
  return c.Op("_npi_bitwise_and_scalar", {moved}, number(mask));
}
Value Low(const Call& c, const Value& x) { return Bits(c, x, 0, 15); }
Value High(const Call& c, const Value& x) { return Bits(c, x, 4, 15); }
Value Floats(const Call& c, const Value& x) { return c.Cast(x, kFloat32); }
Value Repeated(const Call& c, const Value& x, int64_t times) { return c.Op("repeat", {x}, {{"repeats", Text(times)}, {"axis", "2"}}); }

/* 32 numbers of 4 bits, the low ones of all bytes first. */
Value Nibbles(const Blocks& b, int64_t at) {
  const Value x = b.Slice(at, 16);
  return Concat(b.c, {Low(b.c, x), High(b.c, x)}, 2);
}
/* The same with a fifth bit of each in four bytes of their own. */
Value FiveBits(const Blocks& b, int64_t fifth, int64_t at) {
  std::vector<Value> parts;
  for (int64_t byte = 0; byte < 4; ++byte)
    for (int64_t bit = 0; bit < 8; ++bit) parts.push_back(Bits(b.c, b.Slice(fifth + byte, 1), bit, 1));
  return Add(b.c, Nibbles(b, at), MulNumber(b.c, Concat(b.c, parts, 2), 16));
}

Value Q4(const Blocks& b) { return Mul(b.c, Floats(b.c, AddNumber(b.c, Nibbles(b, 2), -8)), b.Half(0)); }
Value Q5(const Blocks& b) { return Mul(b.c, Floats(b.c, AddNumber(b.c, FiveBits(b, 2, 6), -16)), b.Half(0)); }
Value Q8(const Blocks& b) { return Mul(b.c, Floats(b.c, b.Signed(2, 32)), b.Half(0)); }

/* 256 numbers of 5 bits, each 32 of them with a scale and a least number of 6 bits. */
Value Q5OfSix(const Blocks& b) {
  const Call& c = b.c;
  const Value first = b.Slice(4, 4), second = b.Slice(8, 4), third = b.Slice(12, 4), fifths = b.Slice(16, 32);
  const auto joined = [&](const Value& low, const Value& of) { return Add(c, low, MulNumber(c, Bits(c, of, 6, 3), 16)); };
  const Value scales = Concat(c, {Bits(c, first, 0, 63), joined(Low(c, third), first)}, 2);
  const Value leasts = Concat(c, {Bits(c, second, 0, 63), joined(High(c, third), second)}, 2);
  std::vector<Value> parts;
  for (int64_t i = 0; i < 8; ++i) {
    const Value x = b.Slice(48 + i / 2 * 32, 32);
    parts.push_back(Add(c, i % 2 ? High(c, x) : Low(c, x), MulNumber(c, Bits(c, fifths, i, 1), 16)));
  }
  const auto spread = [&](const Value& x, int64_t half) { return Repeated(c, Mul(c, Floats(c, x), b.Half(half)), 32); };
  return Sub(c, Mul(c, Floats(c, Concat(c, parts, 2)), spread(scales, 0)), spread(leasts, 2));
}

/* 256 numbers of 6 bits, each 16 of them with a scale of 8 bits. */
Value Q6(const Blocks& b) {
  const Call& c = b.c;
  std::vector<Value> parts;
  for (int64_t i = 0; i < 2; ++i) {
    const Value first = b.Slice(64 * i, 32), second = b.Slice(64 * i + 32, 32), high = b.Slice(128 + 32 * i, 32);
    const auto joined = [&](const Value& low, int64_t shift) { return Add(c, low, MulNumber(c, Bits(c, high, shift, 3), 16)); };
    parts.insert(parts.end(), {joined(Low(c, first), 0), joined(Low(c, second), 2), joined(High(c, first), 4), joined(High(c, second), 6)});
  }
  const Value numbers = Floats(c, AddNumber(c, Concat(c, parts, 2), -32));
  return Mul(c, numbers, Repeated(c, Mul(c, Floats(c, b.Signed(192, 16)), b.Half(208)), 16));
}

Value Half(const Blocks& b) { return b.Half(0); }

constexpr int64_t kBrain = 30;  // bfloat16

/* By the number that GGUF files have for a type: those of them that onnxruntime takes, but float32
 * and what its tables of vectors stand for. */
struct PackedType {
  int64_t id, numbers, bytes;  // of a block
  Value (*unpack)(const Blocks&);
};
constexpr PackedType kPackedTypes[] = {{1, 1, 2, Half},         {2, 32, 18, Q4},    {6, 32, 22, Q5},     {8, 32, 34, Q8},
                                       {13, 256, 176, Q5OfSix}, {14, 256, 210, Q6}, {kBrain, 1, 2, Half}};

/* Rows of bytes as rows of floats. */
Value Unpacked(const Call& c, const Value& rows, const PackedType& type) {
  const int64_t count = rows.shape()[0], blocks = rows.shape()[1] / type.bytes;
  const Blocks b{c, c.Cast(c.Reshape(rows, Shape{count, blocks, type.bytes}), kInt32),
                 AllHalves(c, type.id == kBrain ? kBfloat16 : kFloat16)};
  return c.Reshape(type.unpack(b), Shape{count, blocks * type.numbers});
}

}  // namespace

/* A table of bytes, and which rows; a row that it lacks is the first one. */
void ConvertGatherPacked(Call& c) {
  CheckRank(c, 0, 2, 2);
  const Value &data = c.in(0), &indices = c.in(1);
  const int64_t id = c.Attr("packed_type", int64_t{-1}), size = c.Attr("K", int64_t{0});
  const int dtype = c.DTypeAttr("output_dtype", kBfloat16);
  const PackedType* type = nullptr;
  for (const PackedType& t : kPackedTypes)
    if (t.id == id) type = &t;
  if (!type) c.Refuse("attribute packed_type is " + Text(id) + "; accepted are 1, 2, 6, 8, 13, 14 and 30");
  const int64_t rows = data.shape()[0];
  if (data.dtype() != kUint8 || rows < 1 || size < 1 || size % type->numbers || data.shape()[1] != size / type->numbers * type->bytes)
    c.Refuse("data is " + std::string(DTypeName(data.dtype())) + " " + Text(data.shape()) + ", K is " + Text(size) + " for blocks of " +
             Text(type->numbers) + " numbers in " + Text(type->bytes) + " bytes of uint8");
  Sizes shape = DimsOf(indices.shape());
  shape.push_back(size);
  if (indices.size() == 0) return c.Out(c.Filled(Shape(shape), dtype, 0));
  const Value flat = c.Cast(c.Reshape(indices, Shape{indices.size()}), kInt64);
  const Value there =
      Binary(c, "logical_and", BinaryNumber(c, "greater_equal", flat, 0), BinaryNumber(c, "less", flat, static_cast<double>(rows)));
  const Value places = Where(c, there, flat, c.Scalar(0, kInt64));
  const bool learns = c.ForTraining() && c.IsWeight(0) && c.builder()->Learns(data);
  const Value taken =
      learns ? Take(c, LearnedInstead(c, Unpacked(c, data, *type), {data}), places, 0) : Unpacked(c, Take(c, data, places, 0), *type);
  c.Out(c.Cast(c.Reshape(taken, Shape(shape)), dtype));
}

}  // namespace onnx
}  // namespace mxnet
