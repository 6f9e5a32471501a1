// Weights of few bits in blocks with a scale each: layers whose weight stays packed, and tables.
#include <algorithm>

#include "onnx/builder.h"
#include "onnx/convert/quantized/quantized.h"

namespace mxnet {
namespace onnx {

Value BlockLayer(const Call& c, const BlockForm& f) {
  const bool with_zero = f.zero.kind != Value::kNone, with_bias = f.bias.kind != Value::kNone;
  const Value scale = c.Cast(f.scale, kFloat32);
  std::vector<Value> operands = {c.Cast(f.data, kFloat32), f.numbers, scale};
  if (with_zero) operands.push_back(Mul(c, scale, c.Cast(f.zero, kFloat32)));
  if (with_bias) operands.push_back(c.Cast(f.bias, kFloat32));
  const AttrDict attrs = {{"num_hidden", Text(f.scale.shape()[0])},
                          {"bits", Text(f.bits)},
                          {"no_bias", Text(!with_bias)},
                          {"with_shift", Text(with_zero)},
                          {"in_integers", Text(f.in_integers)}};
  return c.Cast(c.Op("_block_dense", operands, attrs), f.data.dtype());
}

Value UnpackedNumbers(const Call& c, const Value& packed, int64_t bits, int64_t rows, int64_t count) {
  if (bits == 8) return c.Reshape(packed, Shape{rows, count});
  const int64_t each = 8 / bits, bytes = packed.size() / rows;
  if (rows * bytes != packed.size() || bytes * each < count) c.Refuse("packed numbers have shape " + Text(packed.shape()));
  const Value wide = c.Cast(c.Reshape(packed, Shape{rows, bytes, 1}), kInt32);
  std::vector<Value> parts;
  for (int64_t i = 0; i < each; ++i)
    parts.push_back(
        c.Op("_npi_bitwise_and_scalar",
             {i == 0 ? wide : c.Op("_npi_bitwise_right_shift_scalar", {wide}, {{"scalar", Text(i * bits)}, {"is_int", "True"}})},
             {{"scalar", Text((int64_t{1} << bits) - 1)}, {"is_int", "True"}}));
  return SliceAxis(c, c.Reshape(Concat(c, parts, 2), Shape{rows, bytes * each}), 1, 0, count);
}

/* Number i of those in bytes, the low ones first. */
static uint8_t NumberAt(const std::vector<uint8_t>& packed, int64_t i, int64_t bits) {
  const int64_t each = 8 / bits;
  return static_cast<uint8_t>(packed[static_cast<size_t>(i / each)] >> (i % each * bits) & ((1 << bits) - 1));
}

std::vector<float> FloatsOfBlocks(const NDArray& packed, int64_t bits, int64_t block, const Shape& shape, const Value& scale,
                                  const Value& zero, const std::vector<int64_t>& groups) {
  const int64_t rows = shape[0], k = shape[1], blocks = (k + block - 1) / block, row = blocks * block;
  const std::vector<uint8_t> bytes = BytesOf(packed);
  const std::vector<double> scales = NumbersOf(scale);
  const std::vector<double> zeros =
      zero.kind == Value::kNone ? std::vector<double>(scales.size(), static_cast<double>(int64_t{1} << (bits - 1))) : NumbersOf(zero);
  std::vector<float> floats(static_cast<size_t>(rows * k));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < k; ++j) {
      const auto at = static_cast<size_t>(i * blocks + (groups.empty() ? j / block : groups[static_cast<size_t>(j)]));
      floats[static_cast<size_t>(i * k + j)] = static_cast<float>((NumberAt(bytes, i * row + j, bits) - zeros[at]) * scales[at]);
    }
  return floats;
}

namespace {

/* Columns of a weight in the order of their groups: blocks that have a group each. */
struct GroupOrder {
  std::vector<int64_t> columns;  // of each place; as many as there are columns: none
  std::vector<int64_t> groups;   // of each block
  bool same = true;              // as they lie
};

GroupOrder OrderOf(const Call& c, int64_t k, int64_t block, int64_t groups) {
  std::vector<int64_t> of = c.Ints(4);
  const int64_t count = static_cast<int64_t>(of.size());
  if (count != k && count != groups * block)
    c.Refuse("g_idx has " + Text(count) + " numbers; accepted: " + Text(k) + " or " + Text(groups * block));
  of.resize(static_cast<size_t>(k));
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(groups));
  for (int64_t i = 0; i < k; ++i) {
    const int64_t group = of[static_cast<size_t>(i)];
    if (group < 0 || group >= groups)
      c.Refuse("g_idx has " + Text(group) + " at position " + Text(i) + "; accepted: 0 to " + Text(groups - 1));
    members[static_cast<size_t>(group)].push_back(i);
  }
  GroupOrder order;
  for (int64_t g = 0; g < groups; ++g) {
    auto& mine = members[static_cast<size_t>(g)];
    while (static_cast<int64_t>(mine.size()) % block != 0) mine.push_back(k);
    order.columns.insert(order.columns.end(), mine.begin(), mine.end());
    order.groups.insert(order.groups.end(), mine.size() / static_cast<size_t>(block), g);
  }
  order.same = static_cast<int64_t>(order.groups.size()) == groups;
  for (int64_t g = 0; g < groups; ++g) order.same = order.same && order.groups[static_cast<size_t>(g)] == g;
  for (size_t i = 0; i < order.columns.size(); ++i)
    order.same = order.same && order.columns[i] == std::min<int64_t>(static_cast<int64_t>(i), k);
  return order;
}

/* A packed weight (n, blocks, bytes) with its columns in that order. */
Value Reordered(const Call& c, const Value& packed, const GroupOrder& order, int64_t bits) {
  FoldedWeights* const folded = c.builder()->folded();
  const NDArray &weight = c.Known(1), &groups = c.Known(4);
  const std::string what = "columns by groups of " + Text(packed.shape()) + " in " + Text(bits);
  const Shape shape{packed.shape()[0], static_cast<int64_t>(order.groups.size()), packed.shape()[2]};
  if (const auto found = folded->Find(what, {weight, groups}); !found.empty()) return Value(found[0]);
  const std::vector<uint8_t> before = BytesOf(weight);
  std::vector<uint8_t> after(static_cast<size_t>(shape.Size()), 0);
  const int64_t n = shape[0], each = 8 / bits, row = packed.size() / n, places = static_cast<int64_t>(order.columns.size()), k = row * each;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t p = 0; p < places; ++p) {
      const int64_t from = order.columns[static_cast<size_t>(p)];
      if (from >= k) continue;
      const uint8_t number = NumberAt(before, i * k + from, bits);
      after[static_cast<size_t>((i * places + p) / each)] |= static_cast<uint8_t>(number << (p % each * bits));
    }
  return Value(folded->Put(what, {weight, groups}, {c.Tensor(shape, kUint8, after.data()).array})[0]);
}

/* Zeros behind the last number of each row. */
Value Longer(const Call& c, const Value& x, int64_t more) {
  if (more == 0) return x;
  Sizes before(static_cast<size_t>(x.ndim()), 0), after = before;
  after.back() = more;
  return Pad(c, x, before, after, 0);
}

}  // namespace

/* For training: a weight (n, k) in floats, as parameters; none: the file does not have it whole. */
static Value LearnedBlocks(const Call& c, int64_t n, int64_t k, int64_t bits, int64_t block) {
  const auto known = [&](int i) { return !c.has(i) || c.in(i).known(); };
  if (!c.ForTraining() || !c.IsWeight(1) || !c.builder()->Learns(c.in(1)) || !known(2) || !known(3) || !known(4)) return Value();
  Value zero = OptionalInput(c, 3);
  if (c.has(3) && !IsFloating(zero.dtype())) zero = UnpackedNumbers(c, zero, bits, n, (k + block - 1) / block);
  if (c.has(3) && zero.size() != c.in(2).size()) c.Refuse("zero points have shape " + Text(c.in(3).shape()));
  const std::vector<int64_t> groups = c.has(4) ? c.Ints(4) : std::vector<int64_t>();
  const std::vector<float> floats = FloatsOfBlocks(c.in(1).array, bits, block, Shape{n, k}, c.in(2), zero, groups);
  return LearnedInstead(c, c.Cast(c.Tensor(Shape{n, k}, kFloat32, floats.data()), c.in(0).dtype()), {c.in(1)});
}

/* A, B (N, blocks, bytes), scales (N * blocks), zeros, g_idx: the block whose scale and zero point
 * each column has, bias */
void ConvertMatMulNBits(Call& c) {
  const Value& a = c.in(0);
  const int64_t k = c.Attr("K", int64_t{0}), n = c.Attr("N", int64_t{0}), bits = c.Attr("bits", int64_t{4}),
                block = c.Attr("block_size", int64_t{0});
  BlockForm f;
  f.bits = bits;
  f.in_integers = c.Attr("accuracy_level", int64_t{0}) == 4 && (bits != 2 || block >= 32);  // as onnxruntime takes the level
  if (bits != 2 && bits != 4 && bits != 8) c.Refuse("attribute bits is " + Text(bits) + "; accepted are 2, 4 and 8");
  if (const int64_t order = c.Attr("weight_prepacked", int64_t{0}); order != 0)
    c.Refuse("attribute weight_prepacked is " + Text(order) + ": the weight is in the order of a GPU's kernel; accepted is 0");
  CheckSmall(c, "K, N, block_size", {k, n, block}, 1);
  const int64_t blocks = (k + block - 1) / block, bytes = block * bits / 8;
  if (a.ndim() < 1 || a.shape()[a.ndim() - 1] != k || c.in(2).size() != n * blocks || c.in(1).size() * (8 / bits) < n * blocks * block)
    c.Refuse("data has shape " + Text(a.shape()) + ", the weight " + Text(c.in(1).shape()) + ", scales " + Text(c.in(2).shape()));
  if (bytes * 8 != block * bits || c.in(1).size() != n * blocks * bytes) c.Refuse("the weight has shape " + Text(c.in(1).shape()));
  const GroupOrder order = c.has(4) ? OrderOf(c, k, block, blocks) : GroupOrder();
  const Value learned = LearnedBlocks(c, n, k, bits, block);
  if (learned.kind != Value::kNone) return c.Out(Dense(c, a, learned, OptionalInput(c, 5)));
  f.numbers = c.Reshape(c.in(1), Shape{n, blocks, bytes}), f.scale = c.Reshape(c.in(2), Shape{n, blocks});
  if (c.has(3)) f.zero = c.Reshape(IsFloating(c.in(3).dtype()) ? c.in(3) : UnpackedNumbers(c, c.in(3), bits, n, blocks), f.scale.shape());
  if (order.same) {
    f.data = Longer(c, a, blocks * block - k);  // numbers behind the end of a row count nothing
  } else {
    const bool gaps = std::find(order.columns.begin(), order.columns.end(), k) != order.columns.end();
    f.data = Take(c, Longer(c, a, gaps), c.IntTensor(order.columns), a.ndim() - 1);
    f.numbers = Reordered(c, f.numbers, order, bits);
    const Value groups = c.IntTensor(order.groups);
    f.scale = Take(c, f.scale, groups, 1);
    if (c.has(3)) f.zero = Take(c, f.zero, groups, 1);
  }
  f.bias = OptionalInput(c, 5);
  c.Out(BlockLayer(c, f));
}

/* A weight (k, n) of bytes, or (n, k) where it is `turned`, in the order of MatMulNBits: (n, k),
 * and numbers of few bits share a byte. In one step, for all that is kept of it is the result. */
static Value PackedBlocks(const Call& c, const Value& w, bool turned, int64_t bits, int64_t block) {
  FoldedWeights* const folded = c.builder()->folded();
  const std::string what = "blocks of " + Text(block) + " in " + Text(bits) + (turned ? " turned" : "");
  if (const auto found = folded->Find(what, {w.array}); !found.empty()) return Value(found[0]);
  const int64_t k = w.shape()[turned ? 1 : 0], n = w.shape()[turned ? 0 : 1];
  const std::vector<uint8_t> numbers = BytesOf(w.array);
  const int add = w.dtype() == kInt8 ? 1 << (bits - 1) : 0;
  const int64_t each = 8 / bits;
  std::vector<uint8_t> packed(static_cast<size_t>(n * k / each), 0);
  const auto put = [&](int64_t i, int64_t r, uint8_t number) {
    packed[static_cast<size_t>((i * k + r) / each)] |= static_cast<uint8_t>(static_cast<uint8_t>(number + add) << (r % each * bits));
  };
  const int64_t columns = 32;  // at a time, so that lines of the weight are read once
  for (int64_t begin = 0; begin < n; begin += columns)
    for (int64_t r = 0; r < k && !turned; ++r)
      for (int64_t i = begin; i < std::min(begin + columns, n); ++i) put(i, r, numbers[static_cast<size_t>(r * n + i)]);
  for (int64_t i = 0; i < n && turned; ++i)
    for (int64_t r = 0; r < k; ++r) put(i, r, numbers[static_cast<size_t>(i * k + r)]);
  return Value(folded->Put(what, {w.array}, {c.Tensor(Shape{n, k / block, block / each}, kUint8, packed.data()).array})[0]);
}

/* data, weight (k, n), scales (k / block, n), zero points or none, bias or none; with `turned` the
 * next three are (n, k) and (n, k / block). */
void ConvertBlockDense(Call& c) {
  const Value &a = c.in(0), &w = c.in(1);
  const bool turned = c.Attr("turned", int64_t{0}) != 0;
  if (a.ndim() < 1 || !IsFloating(a.dtype()) || a.shape()[a.ndim() - 1] != w.shape()[turned ? 1 : 0])
    c.Refuse("data is " + std::string(DTypeName(a.dtype())) + " " + Text(a.shape()) + ", the weight has shape " + Text(w.shape()));
  const auto of_rows = [&](int i) { return turned ? c.in(i) : c.Transpose(c.in(i), {1, 0}); };
  BlockForm f;
  f.data = a, f.scale = of_rows(2), f.bits = c.Attr("bits", int64_t{0});
  f.numbers = PackedBlocks(c, w, turned, f.bits, c.Attr("block_size", int64_t{0}));
  const double middle = w.dtype() == kInt8 ? static_cast<double>(int64_t{1} << (f.bits - 1)) : 0;
  if (c.has(3))
    f.zero = AddNumber(c, c.Cast(of_rows(3), kFloat32), middle);
  else if (w.dtype() == kUint8)
    f.zero = c.Filled(f.scale.shape(), kFloat32, 0);
  f.in_integers = c.Attr("rounds", int64_t{0}) != 0;
  if (c.has(4)) f.bias = c.Reshape(c.in(4), Shape{c.in(4).size()});
  c.Out(BlockLayer(c, f));
}

namespace {

/* Entries of an axis; the dimensions of the indices take its place. */
Value Taken(const Call& c, const Value& x, const Value& indices, int axis) {
  std::vector<int64_t> dims(x.shape().begin(), x.shape().begin() + axis);
  dims.insert(dims.end(), indices.shape().begin(), indices.shape().end());
  dims.insert(dims.end(), x.shape().begin() + axis + 1, x.shape().end());
  if (Shape(dims).Size() == 0) return c.Filled(Shape(dims), x.dtype(), 0);
  return c.Op("take", {x, indices}, {{"axis", Text(axis)}, {"mode", "from_end"}});
}

/* The last dimension unpacked, `count` numbers long. */
Value UnpackedLast(const Call& c, const Value& packed, int64_t bits, int64_t count) {
  Shape shape = packed.shape();
  shape[packed.ndim() - 1] = count;
  if (shape.Size() == 0) return c.Filled(shape, kUint8, 0);
  return c.Reshape(UnpackedNumbers(c, packed, bits, shape.Prod(0, packed.ndim() - 1), count), shape);
}

/* For training: the table in floats, as a parameter; none: it is no weight. */
Value LearnedTable(const Call& c, int along, int64_t block, int64_t bits, bool packed) {
  const Value& data = c.in(0);
  if (!c.ForTraining() || !c.IsWeight(0) || !c.builder()->Learns(data) || !c.in(2).known() || (c.has(3) && !c.in(3).known()))
    return Value();
  const Value x = packed ? UnpackedLast(c, data, bits, data.shape()[along] * (8 / bits)) : data;
  Value zero = OptionalInput(c, 3);
  if (c.has(3) && packed) zero = UnpackedLast(c, zero, bits, c.in(2).shape()[along]);
  if (!c.has(3) && !c.small(0) && data.dtype() == kUint8)
    zero = c.Filled(Shape(x.ndim(), 1), kUint8, static_cast<double>(int64_t{1} << (bits - 1)));
  return LearnedInstead(
      c, Dequantized(c, x, SpreadAlong(c, c.in(2), x, along, block), c.has(3) ? SpreadAlong(c, zero, x, along, block) : zero), {data});
}

}  // namespace

/* Rows are taken first, so that the table stays as small as it is in the file. */
void ConvertGatherBlockQuantized(Call& c) {  // data, indices, scales, zero points
  const Value &data = c.in(0), &indices = c.in(1), &scales = c.in(2);
  CheckRank(c, 0, 1, 32);
  const int rank = data.ndim();
  const int axis = c.Axis(c.Attr("gather_axis", int64_t{0}), rank), along = c.Axis(c.Attr("quantize_axis", int64_t{1}), rank);
  const int64_t block = c.Attr("block_size", int64_t{128}), bits = c.Attr("bits", int64_t{4});
  const bool packed = !c.small(0) && bits != 8;
  CheckSmall(c, "block_size", {block}, 1);
  if (indices.dtype() != kInt32 && indices.dtype() != kInt64) c.Refuse("indices are not int32 or int64");
  if (axis == along) c.Refuse("gather_axis and quantize_axis are both " + Text(axis) + "; accepted are two axes");
  if (bits != 2 && bits != 4 && bits != 8) c.Refuse("attribute bits is " + Text(bits) + "; accepted are 2, 4 and 8");
  if (packed && (data.dtype() != kUint8 || along != rank - 1))
    c.Refuse("quantize_axis is " + Text(along) + " and data is " + std::string(DTypeName(data.dtype())) + " " + Text(data.shape()) +
             "; accepted of packed numbers: the last axis, of uint8");
  if (scales.ndim() != rank) c.Refuse("data has shape " + Text(data.shape()) + ", scales " + Text(scales.shape()));
  const Value learned = LearnedTable(c, along, block, bits, packed);
  if (learned.kind != Value::kNone) return c.Out(Taken(c, learned, indices, axis));
  const int at = along < axis ? along : along + indices.ndim() - 1;
  Value x = Taken(c, data, indices, axis), zero;
  if (packed) x = UnpackedLast(c, x, bits, data.shape()[along] * (8 / bits));
  if (c.has(3)) {
    zero = Taken(c, c.in(3), indices, axis);
    if (packed) zero = UnpackedLast(c, zero, bits, scales.shape()[along]);
  } else if (!c.small(0) && data.dtype() == kUint8) {
    zero = c.Filled(Shape(x.ndim(), 1), kUint8, static_cast<double>(int64_t{1} << (bits - 1)));
  }
  const Value scale = SpreadAlong(c, Taken(c, scales, indices, axis), x, at, block);
  c.Out(Dequantized(c, x, scale, c.has(3) ? SpreadAlong(c, zero, x, at, block) : zero));
}

}  // namespace onnx
}  // namespace mxnet
