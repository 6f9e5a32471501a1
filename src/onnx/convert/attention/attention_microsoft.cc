// Attention as onnxruntime's optimizer writes it.
#include <algorithm>
#include <functional>
#include <limits>

#include "onnx/convert/attention/attention.h"
#include "onnx/convert/quantized/integers.h"

namespace mxnet {
namespace onnx {

Value KeyBias(const Call& c, const Value& mask, int64_t batch, int64_t keys, int dtype, double low) {
  const Shape& s = mask.shape();
  if (mask.ndim() == 1 && s[0] == 3 * batch + 2)  // and where examples begin, when they follow each other
    return KeyBias(c, SliceAxis(c, mask, 0, 0, batch), batch, keys, dtype, low);
  if (mask.ndim() == 1 && s[0] == batch) {
    Sizes places;
    for (int64_t j = 0; j < keys; ++j) places.push_back(j);
    const Value seen = Binary(c, "less", IntsLike(c, places, {1, 1, 1, keys}), c.Reshape(c.Cast(mask, kInt64), Shape{batch, 1, 1, 1}));
    return BiasOfMask(c, seen, dtype, low);
  }
  if (mask.ndim() == 2 && s[1] == keys) return BiasOfMask(c, c.Reshape(mask, Shape{s[0], 1, 1, keys}), dtype, low);
  if (mask.ndim() == 3 && s[2] == keys) return BiasOfMask(c, c.Reshape(mask, Shape{s[0], 1, s[1], keys}), dtype, low);
  c.Refuse("a mask has shape " + Text(s) + " for " + Text(batch) + " examples and " + Text(keys) + " keys");
}

Value ScoresOut(const Call& c, const AttentionResult& r) {
  return BinaryNumber(c, "maximum", r.biased, static_cast<double>(std::numeric_limits<float>::lowest()));
}

namespace {

double MaskLow(const Call& c) { return c.Attr("mask_filter_value", -10000.0f); }

}  // namespace

namespace {

/* Queries, keys and values, (batch, length, size) or with heads (batch, heads, length, size). Some
 * files have all three side by side in input 0, (batch, length, heads, 3, size), or keys and values
 * in input 1. */
std::vector<Value> Unpacked(const Call& c) {
  const int first = !c.has(1) ? 0 : 1, count = 3 - first;
  if (c.has(1) && c.in(1).ndim() != 5) {
    CheckRank(c, 0, 3, 3);
    for (int i = 1; i < 3; ++i) CheckRank(c, i, 3, 4);
    return {c.in(0), c.in(1), c.in(2)};
  }
  CheckRank(c, first, 5, 5);
  if (first == 1) CheckRank(c, 0, 3, 3);
  const Value& packed = c.in(first);
  const Shape& s = packed.shape();
  if (s[3] != count || c.has(2))
    c.Refuse("input " + Text(first) + " has shape " + Text(s) + "; accepted is " + Text(count) + " in its fourth dimension");
  std::vector<Value> all;
  if (first == 1) all.push_back(c.in(0));
  for (int64_t i = 0; i < count; ++i) all.push_back(c.Reshape(SliceAxis(c, packed, 3, i, i + 1), Shape{s[0], s[1], s[2] * s[4]}));
  return all;
}

}  // namespace

void ConvertMultiHeadAttention(Call& c) {
  const AttentionInputs at{3, 4, 5, 6, 7, 8, 9};
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const double low = MaskLow(c);
  const bool causal = c.Attr("unidirectional", int64_t{0}) != 0;
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f);
  if (c.has(at.past_length) && c.has(6) && c.has(7)) return AttendBuffers(c, at, heads, causal, low);
  if (c.has(at.past_length) || c.has(at.indirection))
    c.Refuse("past_sequence_length or cache_indirection are given; accepted are these with past_key and past_value, and both or the first");
  const std::vector<Value> given = Unpacked(c);
  int64_t from = 0;
  const auto read = [&](size_t i) {
    const Value& x = given[i];
    if (x.ndim() == 4) return x;
    const int64_t size = x.shape()[2];
    from += size;
    return SplitHeads(c, c.has(3) ? Add(c, x, SliceAxis(c, c.in(3), 0, from - size, from)) : x, heads);
  };
  const Value q = read(0);
  Value k = read(1), v = read(2);
  const int64_t past = c.has(6) ? c.in(6).shape()[2] : 0;
  if (c.has(6)) k = Concat(c, {c.in(6), k}, 2);
  if (c.has(7)) v = Concat(c, {c.in(7), v}, 2);
  const int64_t batch = q.shape()[0], keys = k.shape()[2];
  Value bias;
  if (c.has(4)) bias = KeyBias(c, c.in(4), batch, keys, q.dtype(), low);
  if (c.has(5)) bias = AddBias(c, bias, c.in(5));
  if (causal) bias = AddBias(c, bias, WindowBias(c, q.shape()[2], keys, past, -1, 0, q.dtype()));
  const AttentionResult r = Attend(c, q, k, v, bias, options);
  c.Out(0, JoinHeads(c, r.y));
  c.Out(1, k), c.Out(2, v);
  if (c.wants(3)) c.Out(3, ScoresOut(c, r));
}

namespace {

/* Attention of queries, keys and values side by side, (batch, length, sizes). Inputs by number: a
 * mask, a past (2, batch, heads, past, size), a bias; -1: the operator has none. */
void AttendPacked(Call& c, const Value& all, const Sizes& sizes, int64_t heads, int mask, int earlier, int attention_bias) {
  const double low = MaskLow(c);
  const bool causal = c.Attr("unidirectional", int64_t{0}) != 0;
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f);
  if (c.Attr("do_rotary", int64_t{0}) != 0) c.Refuse("attribute do_rotary is not 0; accepted is 0");
  c.Ignore("rotary_embedding_dim");                          // of do_rotary
  if (c.Attr("past_present_share_buffer", int64_t{0}) != 0)  // past would have rows that are none
    c.Refuse("attribute past_present_share_buffer is not 0; accepted is 0, and buffers of MultiHeadAttention");
  const auto part = [&](int64_t from, int64_t size) { return SplitHeads(c, SliceAxis(c, all, 2, from, from + size), heads); };
  const Value q = part(0, sizes[0]);
  Value k = part(sizes[0], sizes[1]), v = part(sizes[0] + sizes[1], sizes[2]);
  int64_t past = 0;
  if (c.has(earlier)) {
    const Shape& s = c.in(earlier).shape();
    if (s.ndim() != 5 || s[0] != 2) c.Refuse("past has shape " + Text(s));
    past = s[3];
    const auto old = Split(c, c.in(earlier), 0, 2);
    k = Concat(c, {c.Reshape(old[0], Shape{s[1], s[2], s[3], s[4]}), k}, 2);
    v = Concat(c, {c.Reshape(old[1], Shape{s[1], s[2], s[3], s[4]}), v}, 2);
  }
  const int64_t batch = q.shape()[0], keys = k.shape()[2];
  Value bias;
  if (c.has(mask)) bias = KeyBias(c, c.in(mask), batch, keys, q.dtype(), low);
  if (attention_bias >= 0 && c.has(attention_bias)) bias = AddBias(c, bias, c.in(attention_bias));
  if (causal) bias = AddBias(c, bias, WindowBias(c, q.shape()[2], keys, past, -1, 0, q.dtype()));
  c.Out(0, JoinHeads(c, Attend(c, q, k, v, bias, options).y));
  if (!c.wants(1)) return;
  const Shape one{1, batch, heads, keys, k.shape()[3]};
  c.Out(1, Concat(c, {c.Reshape(k, one), c.Reshape(v, one)}, 0));
}

}  // namespace

Sizes PackedSizes(const Call& c, const Value& weight) {
  Sizes sizes = c.Attr("qkv_hidden_sizes", Sizes{});
  if (sizes.empty()) sizes.assign(3, weight.shape()[1] / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != weight.shape()[1])
    c.Refuse("attribute qkv_hidden_sizes is " + Text(sizes) + " for a weight of shape " + Text(weight.shape()));
  return sizes;
}

Value PackedProduct(const Call& c, const Value& x, const Value& w, const Value& bias) { return Dense(c, x, c.Transpose(w, {1, 0}), bias); }

void ConvertMicrosoftAttention(Call& c) {  // input, weights, bias, mask_index, past, attention_bias
  CheckRank(c, 0, 3, 3);
  CheckRank(c, 1, 2, 2);
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  AttendPacked(c, PackedProduct(c, c.in(0), c.in(1), OptionalInput(c, 2)), PackedSizes(c, c.in(1)), heads, 3, 4, 5);
}

/* input, weight, bias, their scales, mask, their zero points, past; the bias is floats. */
void ConvertQuantizedAttention(Call& c) {
  CheckRank(c, 0, 3, 3);
  CheckRank(c, 1, 2, 2);
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const Quantity x{c.in(0), c.in(3), OptionalInput(c, 6)}, w{c.in(1), c.in(4), OptionalInput(c, 7)};
  Value all = DenseInFloats(c, x, w, c.in(2));
  if (all.kind == Value::kNone) {
    const auto one = [&](const Value& v) { return v.kind != Value::kNone && v.size() == 1 ? c.Reshape(v, Shape(0)) : v; };
    all = PackedProduct(c, Dequantized(c, x.numbers, one(x.scale), one(x.zero)), Dequantized(c, w.numbers, one(w.scale), one(w.zero)),
                        c.in(2));
  }
  AttendPacked(c, all, PackedSizes(c, c.in(1)), heads, 5, 8, -1);
}

namespace {

/* Turns the heads of input 0, (batch, length, heads * size) or (batch, heads, length, size), by the
 * angles of the tables 2 and 3: `angles(table, length)`, (batch or 1, length, 1, angles). */
void RotateHeads(Call& c, const std::function<Value(int, int64_t)>& angles) {
  const Value& x = c.in(0);
  const bool interleaved = c.Attr("interleaved", int64_t{0}) != 0, flat = x.ndim() == 3;
  const int64_t turned = 2 * c.in(2).shape()[1], length = flat ? x.shape()[1] : x.shape()[2];
  int64_t heads = c.Attr("num_heads", int64_t{0});
  c.Ignore("rotary_embedding_dim"), c.Ignore("scale");
  if (flat && heads == 0) heads = x.shape()[2] / std::max<int64_t>(1, turned);
  if (flat && (heads < 1 || x.shape()[2] % heads))
    c.Refuse("attribute num_heads is " + Text(heads) + " for data of shape " + Text(x.shape()));
  const Value apart = flat ? c.Reshape(x, Shape{x.shape()[0], length, heads, x.shape()[2] / heads}) : c.Transpose(x, {0, 2, 1, 3});
  const Value y = Rotate(c, apart, angles(2, length), angles(3, length), turned, interleaved);
  c.Out(flat ? c.Reshape(y, x.shape()) : c.Transpose(y, {0, 2, 1, 3}));
}

}  // namespace

void ConvertMicrosoftRotary(Call& c) {  // input, position_ids, cos_cache, sin_cache
  CheckRank(c, 0, 3, 4);
  c.Ignore("is_packed_batching");
  RotateHeads(c, [&](int table, int64_t length) {
    Value places = c.in(1);
    if (places.size() == 1)  // where the first element is
      places = Add(c, c.Reshape(CountUp(c, length), Shape{1, length}), c.Reshape(c.Cast(places, kInt64), Shape(0)));
    return c.Reshape(TakeRows(c, c.in(table), places), Shape{places.shape()[0], length, 1, c.in(table).shape()[1]});
  });
}

/* input, positions (3, batch, length) of time, height and width, cos_cache, sin_cache. Each angle
 * of a head is of one of the three. */
void ConvertSectionedRotary(Call& c) {
  CheckRank(c, 0, 3, 4);
  CheckRank(c, 1, 3, 3);
  const bool by_turns = c.Attr("mrope_layout", int64_t{0}) != 0;
  const int64_t half = c.in(2).shape()[1];
  const Sizes sections = c.Attr("mrope_section", Sizes{});
  if (c.Attr("is_packed_batching", int64_t{0}) != 0) c.Refuse("attribute is_packed_batching is not 0; accepted is 0");
  if (sections.size() != 3 || sections[0] + sections[1] + sections[2] != half || c.in(1).shape()[0] != 3)
    c.Refuse("attribute mrope_section is " + Text(sections) + " for " + Text(half) + " angles, positions have shape " +
             Text(c.in(1).shape()));
  const auto source = [&](int64_t i) {
    if (by_turns) return i % 3 != 0 && i < 3 * sections[static_cast<size_t>(i % 3)] ? i % 3 : int64_t{0};
    return i < sections[0] ? int64_t{0} : i < sections[0] + sections[1] ? int64_t{1} : int64_t{2};
  };
  RotateHeads(c, [&](int table, int64_t length) {
    Value sum;
    for (int64_t part = 0; part < 3; ++part) {
      std::vector<double> mask;
      for (int64_t i = 0; i < half; ++i) mask.push_back(source(i) == part ? 1 : 0);
      const Value places = c.Reshape(SliceAxis(c, c.in(1), 0, part, part + 1), Shape{c.in(1).shape()[1], length});
      const Value rows = Mul(c, TakeRows(c, c.in(table), places), FloatsLike(c, mask, {half}, c.in(table).dtype()));
      sum = part == 0 ? rows : Add(c, sum, rows);
    }
    return c.Reshape(sum, Shape{c.in(1).shape()[1], length, 1, half});
  });
}

/* Angles (batch, length, size), then queries and their other halves, keys and theirs, each (batch,
 * heads, length, size): both turned by the angles. */
void ConvertGemmaRotary(Call& c) {
  CheckRank(c, 0, 3, 3);
  const Shape& s = c.in(0).shape();
  for (int i = 1; i < 5; ++i) {
    const Shape& of = c.in(i).shape();
    if (of.ndim() != 4 || of[0] != s[0] || of[2] != s[1] || of[3] != s[2] || of != c.in(i < 3 ? 1 : 3).shape())
      c.Refuse("input " + Text(i) + " has shape " + Text(of) + " for angles of shape " + Text(s));
  }
  const Value angles = c.Reshape(c.in(0), Shape{s[0], 1, s[1], s[2]});
  const Value cos = c.Cast(Unary(c, "cos", angles), c.in(1).dtype()), sin = c.Cast(Unary(c, "sin", angles), c.in(1).dtype());
  for (int i = 0; i < 2; ++i) c.Out(i, Add(c, Mul(c, c.in(2 * i + 1), cos), Mul(c, c.in(2 * i + 2), sin)));
}

}  // namespace onnx
}  // namespace mxnet
