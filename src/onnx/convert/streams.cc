#include "onnx/convert/streams.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "onnx/convert/neural/norm.h"

namespace mxnet {
namespace onnx {

namespace {

/* (..., streams, width) in float32, whether the node has them so or side by side. */
Value Streams(const Call& c, const Value& x) {
  const int64_t count = c.Attr("num_branches", int64_t{0});
  const int rank = x.ndim();
  if (count < 0 || rank < (count > 0 ? 1 : 2) || (count > 0 && x.shape()[rank - 1] % count))
    c.Refuse("data has shape " + Text(x.shape()) + ", attribute num_branches is " + Text(count) +
             "; accepted: (..., branches, width), or (..., branches * width) with num_branches");
  if (count == 0) return c.Cast(x, kFloat32);
  Sizes dims = DimsOf(x.shape());
  dims.back() /= count;
  dims.insert(dims.end() - 1, count);
  return c.Cast(c.Reshape(x, Shape(dims)), kFloat32);
}

/* Gates of streams, as one that broadcasts over them: a number for each stream, or for each
 * element. */
Value Gates(const Call& c, int input, const Shape& streams) {
  const Value& x = c.in(input);
  Sizes dims = DimsOf(streams);
  if (x.size() != streams.Size()) dims.back() = 1;
  if (x.size() != Shape(dims).Size())
    c.Refuse("input " + Text(input) + " has shape " + Text(x.shape()) + " for streams of shape " + Text(streams));
  return c.Cast(c.Reshape(x, Shape(dims)), kFloat32);
}

/* One scale for each element of all streams, or of each. */
Value Scaled(const Call& c, const Value& x, int input) {
  if (!c.has(input)) return x;
  const int64_t streams = x.shape()[x.ndim() - 2], width = x.shape()[x.ndim() - 1], size = c.in(input).size();
  if (size != width && size != streams * width)
    c.Refuse("input " + Text(input) + " has shape " + Text(c.in(input).shape()) + " for streams of shape " + Text(x.shape()));
  const Value scale = c.Cast(c.in(input), kFloat32);
  return Mul(c, x, size == width ? c.Reshape(scale, Shape{width}) : c.Reshape(scale, Shape{streams, width}));
}

Value NormOfStreams(const Call& c, const Value& x, int scale, double epsilon) {
  return Scaled(c, Mul(c, x, RootMeanSquare(c, x, x.ndim() - 1, epsilon)), scale);
}

/* A row for each place: (places, ...). */
Value Flat(const Call& c, const Value& x, int kept) {
  Sizes dims = {x.shape().Prod(0, x.ndim() - kept)};
  for (int i = x.ndim() - kept; i < x.ndim(); ++i) dims.push_back(x.shape()[i]);
  return c.Reshape(x, Shape(dims));
}

/* The same without the axis of streams. */
Shape WithoutStreams(const Shape& streams) {
  Sizes dims = DimsOf(streams);
  dims.erase(dims.end() - 2);
  return Shape(dims);
}

/* Sums over the streams. */
Value OverStreams(const Call& c, const Value& x) { return Sum(c, x, {x.ndim() - 2}, false); }

/* The output of a block, (..., width), beside each stream. */
Value BlockOutput(const Call& c, int input, const Shape& streams) {
  Sizes dims = DimsOf(streams);
  dims[dims.size() - 2] = 1;
  if (c.in(input).shape() != WithoutStreams(streams))
    c.Refuse("input " + Text(input) + " has shape " + Text(c.in(input).shape()) + " for streams of shape " + Text(streams));
  return c.Cast(c.Reshape(c.in(input), Shape(dims)), kFloat32);
}

}  // namespace

void ConvertBranchwiseNorm(Call& c) {
  const double epsilon = c.Attr("epsilon", 1e-5f);
  const Value y = NormOfStreams(c, Streams(c, c.in(0)), 1, epsilon);
  c.Out(c.Cast(c.Reshape(y, c.in(0).shape()), c.in(0).dtype()));
}

void ConvertStreamsPreMix(Call& c) {
  const double scale = c.Attr("reduction_scale", 1.0f);
  const Value x = Streams(c, c.in(0));
  const Value sum = OverStreams(c, Mul(c, x, Gates(c, 1, x.shape())));
  c.Out(c.Cast(scale == 1 ? sum : MulNumber(c, sum, scale), c.in(0).dtype()));
}

/* streams, the block's output, its gates, and which streams mix: (..., streams, streams). */
void ConvertStreamsPostMix(Call& c) {
  const Value x = Streams(c, c.in(0));
  const Shape& shape = x.shape();
  const int rank = x.ndim();
  Value mixed = x;
  if (c.has(3)) {
    Sizes dims = DimsOf(shape);
    dims.back() = shape[rank - 2];
    if (c.in(3).shape() != Shape(dims)) c.Refuse("stream_mix has shape " + Text(c.in(3).shape()) + "; expected is " + Text(Shape(dims)));
    const Value mix = c.Transpose(Flat(c, c.Cast(c.in(3), kFloat32), 2), {0, 2, 1});
    mixed = c.Reshape(MatMul(c, mix, Flat(c, x, 2)), shape);
  }
  const Value y = Add(c, mixed, Mul(c, Gates(c, 2, shape), BlockOutput(c, 1, shape)));
  c.Out(c.Cast(c.Reshape(y, c.in(0).shape()), c.in(0).dtype()));
}

/* streams, scale, the weights of a gate (down, up) and of the next gate, and the output and gate of
 * the block before -> the block's data, its gate, and streams. */
void ConvertStreamsLowRankMix(Call& c) {
  const double epsilon = c.Attr("epsilon", 1e-5f), alpha = c.Attr("silu_alpha", 1.0f), reduction = c.Attr("reduction_scale", 1.0f);
  const double times = c.Attr("gate_mul", 1.0f), by = c.Attr("gate_div", 1.0f);
  const int dtype = c.in(0).dtype();
  Value x = Streams(c, c.in(0));
  const Shape shape = x.shape();
  const int64_t streams = shape[x.ndim() - 2], all = streams * shape[x.ndim() - 1];
  if (c.has(5) != c.has(6)) c.Refuse("prev_block_output and prev_post_gate are not both given; accepted: both, or neither");
  for (int i : {2, 3, 4}) CheckRank(c, i, 2, 2);
  if (c.in(2).shape()[0] != all || c.in(3).shape() != Shape{c.in(2).shape()[1], all} || c.in(4).shape() != Shape{all, streams})
    c.Refuse("streams have shape " + Text(c.in(0).shape()) + ", weights " + Text(c.in(2).shape()) + ", " + Text(c.in(3).shape()) + " and " +
             Text(c.in(4).shape()));
  if (by == 0) c.Refuse("attribute gate_div is 0; accepted are other numbers");
  if (c.has(5)) x = Add(c, x, Mul(c, Gates(c, 6, shape), BlockOutput(c, 5, shape)));
  const Value normed = NormOfStreams(c, x, 1, epsilon), rows = c.Reshape(normed, Shape{shape.Prod(0, shape.ndim() - 2), all});
  const auto product = [&](const Value& data, int weight) { return MatMul(c, data, c.Cast(c.in(weight), kFloat32)); };
  const Value gate = Sigmoid(c, product(Silu(c, MulNumber(c, product(rows, 2), alpha)), 3));
  c.Out(0, c.Cast(MulNumber(c, OverStreams(c, Mul(c, normed, c.Reshape(gate, shape))), reduction), dtype));
  Sizes dims = DimsOf(shape);
  dims.pop_back();
  if (c.wants(1)) c.Out(1, c.Cast(c.Reshape(MulNumber(c, Sigmoid(c, MulNumber(c, product(rows, 4), 1 / by)), times), Shape(dims)), dtype));
  if (c.wants(2)) c.Out(2, c.Cast(c.Reshape(x, c.in(0).shape()), dtype));
}

/* keys and queries (batch, length, streams, width), values (batch, length, width), their scales,
 * and that of the convolution behind the gate. */
void ConvertEngramGate(Call& c) {
  const double epsilon = c.Attr("epsilon", 1e-5f);
  CheckRank(c, 0, 4, 4);
  const Shape& shape = c.in(0).shape();
  const int dtype = c.in(0).dtype();
  if (c.in(1).shape() != shape) c.Refuse("key has shape " + Text(shape) + ", query " + Text(c.in(1).shape()));
  const auto normed = [&](int i, int scale) { return NormOfStreams(c, c.Cast(c.in(i), kFloat32), scale, epsilon); };
  const double size = std::max(1.0, static_cast<double>(shape[3]));
  const Value dot = MulNumber(c, Sum(c, Mul(c, normed(0, 3), normed(1, 4)), {3}, true), 1 / std::sqrt(size));
  const Value root = Unary(c, "sqrt", BinaryNumber(c, "maximum", Unary(c, "absolute", dot), 1e-6));
  const Value gated = Mul(c, Sigmoid(c, Mul(c, Unary(c, "sign", dot), root)), BlockOutput(c, 2, shape));
  c.Out(0, c.Cast(gated, dtype));
  if (!c.wants(1)) return;
  if (!c.has(5)) c.Refuse("conv_norm_scale is not given; accepted with output 1: a scale");
  c.Out(1, c.Cast(NormOfStreams(c, gated, 5, epsilon), dtype));
}

namespace {

/* Integers of an input in one row. */
Value RowOf(const Call& c, int input, int64_t least) {
  const Value& x = c.in(input);
  if (x.ndim() != 1 || x.size() < least)
    c.Refuse("input " + Text(input) + " has shape " + Text(x.shape()) + "; accepted are at least " + Text(least) + " numbers");
  return x;
}

/* Ids with those that precede them, and which of these belong to another text. */
struct Words {
  const Call& c;
  int64_t batch, length, earlier;
  Value ids;     // (batch, earlier + length)
  Value end;     // a scalar; none: texts do not end
  Value starts;  // (batch, length): 1 where a text begins; or none
  Value cut;     // (batch, length): is what lies further back of another text?

  Value Back(int64_t steps) const { return SliceAxis(c, ids, 1, earlier - steps, earlier - steps + length); }
  void CutBy(const Value& more) { cut = cut.kind == Value::kNone ? more : Binary(c, "logical_or", cut, more); }
  /* Looks at the id that lies so many steps back, and at those behind it before. */
  void StepBack(int64_t steps) {
    if (end.kind != Value::kNone) CutBy(Binary(c, "equal", Back(steps), end));
    if (starts.kind == Value::kNone || steps > length) return;
    const Value later = Pad(c, SliceAxis(c, starts, 1, 0, length - steps + 1), {0, steps - 1}, {0, 0}, 0);
    CutBy(BinaryNumber(c, "not_equal", later, 0));
  }
};

/* 1 where a segment differs from that before it. */
Value StartsOf(const Call& c, const Value& segments, int64_t batch, int64_t length) {
  if (segments.shape() != Shape{batch, length}) c.Refuse("segment_ids have shape " + Text(segments.shape()));
  if (length < 2) return Value();
  const Value differs = Binary(c, "not_equal", SliceAxis(c, segments, 1, 1, length), SliceAxis(c, segments, 1, 0, length - 1));
  return Pad(c, c.Cast(differs, kInt32), {0, 1}, {0, 0}, 0);
}

}  // namespace

/* ids, factors, sizes of the heads' tables, ids of the call before, offsets, the end of a text,
 * segments -> hashes of the last 2, 3, ... ids, and ids for the next call. Sums wrap in their own
 * dtype. */
void ConvertNGramHash(Call& c) {
  CheckRank(c, 0, 2, 2);
  const int64_t most = c.Attr("max_ngram_size", int64_t{0}), heads = c.Attr("n_head_per_ngram", int64_t{0}),
                pad = c.Attr("pad_id", int64_t{0});
  const bool ends = c.Attr("reset_on_eos", int64_t{0}) != 0;
  const Value& ids = c.in(0);
  const int dtype = ids.dtype();
  const int64_t batch = ids.shape()[0], length = ids.shape()[1], earlier = most - 1;
  if (most < 2 || most > 64 || heads < 1 || heads > kMostListed / most)
    c.Refuse("attributes max_ngram_size and n_head_per_ngram are " + Text(most) + " and " + Text(heads) +
             "; accepted are from 2 and from 1 on");
  const Value factors = RowOf(c, 1, most), sizes = RowOf(c, 2, earlier * heads);
  if (sizes.known())
    for (const int64_t size : IntegersOf(sizes))
      if (size < 1) c.Refuse("vocab_sizes has " + Text(size) + "; accepted are numbers from 1 on");
  const Value end = c.has(5) ? c.Reshape(c.in(5), Shape(0)) : Value();
  const Value filling = c.has(5) ? end : c.Cast(c.Reshape(c.IntTensor({pad}), Shape(0)), dtype);
  const Value before = c.has(3) ? c.in(3) : c.BroadcastTo(filling, Shape{batch, earlier});
  if (before.shape() != Shape{batch, earlier}) c.Refuse("past_ids have shape " + Text(before.shape()) + " for " + Text(earlier) + " ids");
  Words words{c, batch, length, earlier, Concat(c, {before, ids}, 1), ends ? end : Value(), {}, {}};
  if (c.has(6)) words.starts = StartsOf(c, c.in(6), batch, length);
  const auto number = [&](const Value& row, int64_t i) { return c.Reshape(SliceAxis(c, row, 0, i, i + 1), Shape(0)); };
  const auto of_heads = [&](const Value& row, int64_t i) {
    return c.Reshape(SliceAxis(c, row, 0, i * heads, (i + 1) * heads), Shape{1, 1, heads});
  };
  Value mixed = Mul(c, ids, number(factors, 0));
  std::vector<Value> hashes;
  for (int64_t i = 1; i < most; ++i) {
    words.StepBack(i);
    const Value word = words.cut.kind == Value::kNone ? words.Back(i) : Where(c, words.cut, filling, words.Back(i));
    mixed = Binary(c, "bitwise_xor", mixed, Mul(c, word, number(factors, i)));
    Value hash = Binary(c, "mod", c.Reshape(mixed, Shape{batch, length, 1}), of_heads(sizes, i - 1));
    if (c.has(4)) hash = Add(c, hash, of_heads(RowOf(c, 4, earlier * heads), i - 1));
    hashes.push_back(hash);
  }
  c.Out(0, Concat(c, hashes, 2));
  if (c.wants(1)) c.Out(1, SliceAxis(c, words.ids, 1, length, length + earlier));
}

}  // namespace onnx
}  // namespace mxnet
