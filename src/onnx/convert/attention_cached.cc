// Attention to caches that have room for more tokens than there are. Plans take the number of
// tokens from arrays when they run, so one plan serves all steps of a decoder.
#include <algorithm>
#include <cmath>

#include "onnx/builder.h"
#include "onnx/convert/attention.h"

namespace mxnet {
namespace onnx {

Value Cache(const Call& c, const Value& x) { return c.builder()->BeforeWidening(x); }

Value AttendCached(const Call& c, const CachedAttention& a) {
  const int64_t size = a.query.shape()[2] / a.heads;
  const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(size));
  std::vector<Value> operands = {c.Cast(a.query, kFloat32), a.key, a.value, a.starts, a.lengths};
  for (const Value& more : {a.mask, a.sink})
    if (more.kind != Value::kNone) operands.push_back(c.Cast(more, kFloat32));
  const Value y = c.Op("_cached_attention", operands,
                       {{"heads", Text(a.heads)},
                        {"groups", Text(a.groups)},
                        {"window", Text(a.window)},
                        {"scale", Text(scale)},
                        {"softcap", Text(a.softcap)},
                        {"causal", Text(a.causal)},
                        {"with_mask", Text(a.mask.kind != Value::kNone)},
                        {"with_sink", Text(a.sink.kind != Value::kNone)}});
  return c.Cast(y, a.query.dtype());
}

namespace {

// Inputs of GroupQueryAttention.
enum GroupInput : int {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLastKeys,  // tokens of each example, less one
  kTotal,     // at least the tokens of every example
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm,
  kQueryLengths  // how many rows of each example count
};

struct GroupSizes {
  int64_t heads, groups, batch, steps, size, value_size;
};

/* What this library has no kernels for. */
void RefuseOtherGroups(const Call& c) {
  for (const char* name : {"sliding_window_cache", "qk_output"})
    if (c.Attr(name, int64_t{0}) != 0)
      c.Refuse(std::string("attribute ") + name + " is " + Text(c.Attr(name, int64_t{0})) + "; accepted is 0");
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (c.Attr(name, "NONE") != "NONE") c.Refuse(std::string("attribute ") + name + " is " + c.Attr(name, "NONE") + "; accepted is NONE");
  c.Ignore("kv_cache_bit_width");
  if (c.has(kKeyScale) || c.has(kValueScale)) c.Refuse("inputs k_scale and v_scale are given; accepted are caches of floats");
}

/* x (batch, steps, heads, size) divided by the root of its mean square. */
Value NormOfHeads(const Call& c, const Value& x, int weight, const char* epsilon) {
  if (!c.has(weight)) return x;
  const double least = c.has_attr(epsilon) ? c.Attr(epsilon, 1e-6f) : c.Attr("qk_norm_epsilon", 1e-6f);
  const Value factor = PowNumber(c, AddNumber(c, Mean(c, Mul(c, x, x), {3}, true), least), -0.5);
  return Mul(c, Mul(c, x, factor), c.in(weight));
}

/* Rows (batch, steps, heads x size), normed and turned by their places. */
Value TurnedRows(const Call& c, const Value& x, int64_t heads, int weight, const char* epsilon, const Value& places) {
  const Shape& s = x.shape();
  Value y = NormOfHeads(c, c.Reshape(x, Shape{s[0], s[1], heads, s[2] / heads}), weight, epsilon);
  if (places.kind != Value::kNone) {
    const int64_t half = c.in(kCos).shape()[1];
    const auto angles = [&](int i) { return c.Reshape(Take(c, c.in(i), places, 0), Shape{s[0], s[1], 1, half}); };
    y = Rotate(c, y, angles(kCos), angles(kSin), 2 * half, c.Attr("rotary_interleaved", int64_t{0}) != 0);
  }
  return c.Reshape(y, s);
}

GroupSizes SizesOf(const Call& c, bool packed) {
  GroupSizes g{};
  g.heads = c.Attr("num_heads", int64_t{0}), g.groups = c.Attr("kv_num_heads", int64_t{0});
  if (g.heads < 1 || g.groups < 1 || g.heads % g.groups || g.heads > INT32_MAX)
    c.Refuse("attributes num_heads and kv_num_heads are " + Text(g.heads) + " and " + Text(g.groups));
  const Shape& s = c.in(kQuery).shape();
  g.batch = s[0], g.steps = s[1], g.size = s[2] / (packed ? g.heads + 2 * g.groups : g.heads);
  g.value_size = packed ? g.size : c.in(kValue).shape()[2] / g.groups;
  const bool fits = packed || (c.in(kKey).shape() == Shape{g.batch, g.steps, g.groups * g.size} &&
                               c.in(kValue).shape() == Shape{g.batch, g.steps, g.groups * g.value_size});
  if (!fits || g.size < 1)
    c.Refuse("queries have shape " + Text(s) +
             (packed ? "" : ", keys " + Text(c.in(kKey).shape()) + ", values " + Text(c.in(kValue).shape())));
  return g;
}

/* Tokens that a present has room for. */
int64_t Room(const Call& c, int64_t past, int64_t steps) {
  if (past >= steps && past > 0 && c.AtMost(kTotal, past)) return past;
  return c.in(kTotal).known() ? std::max({past, steps, c.Int(kTotal)}) : past + steps;
}

}  // namespace

void ConvertGroupQueryAttention(Call& c) {
  RefuseOtherGroups(c);
  CheckRank(c, kQuery, 3, 3);
  const bool packed = !c.has(kKey), rotary = c.Attr("do_rotary", int64_t{0}) != 0;
  const GroupSizes g = SizesOf(c, packed);
  CachedAttention a;
  a.heads = g.heads, a.groups = g.groups;
  a.scale = c.Attr("scale", 0.0f), a.softcap = c.Attr("softcap", 0.0f), a.causal = c.Attr("causal", int64_t{1}) != 0;
  a.window = std::max<int64_t>(0, c.Attr("local_window_size", int64_t{-1}));
  c.Ignore("rotary_interleaved");
  for (const char* name : {"q_norm_epsilon", "k_norm_epsilon", "qk_norm_epsilon"}) c.Ignore(name);
  const bool smooth = c.Attr("smooth_softmax", int64_t{0}) > 0;
  const Value past_key =
      c.has(kPastKey) ? Cache(c, c.in(kPastKey)) : c.Filled(Shape{g.batch, g.groups, 0, g.size}, c.in(kQuery).dtype(), 0);
  const Value past_value =
      c.has(kPastValue) ? Cache(c, c.in(kPastValue)) : c.Filled(Shape{g.batch, g.groups, 0, g.value_size}, c.in(kQuery).dtype(), 0);
  if (past_key.ndim() != 4 || past_value.ndim() != 4 || past_key.shape()[2] != past_value.shape()[2])
    c.Refuse("past keys have shape " + Text(past_key.shape()) + ", past values " + Text(past_value.shape()));
  const int64_t room = Room(c, past_key.shape()[2], g.steps);
  if (c.in(kLastKeys).size() != g.batch) c.Refuse("seqlens_k has shape " + Text(c.in(kLastKeys).shape()));
  a.lengths = AddNumber(c, c.Reshape(c.Cast(c.in(kLastKeys), kInt64), Shape{g.batch}), 1);
  a.starts = c.has(kQueryLengths) ? Sub(c, a.lengths, c.Reshape(c.Cast(c.in(kQueryLengths), kInt64), Shape{g.batch}))
                                  : BinaryNumber(c, "maximum", AddNumber(c, a.lengths, -static_cast<double>(g.steps)), 0);
  Value places;
  if (rotary) {
    if (c.has(kPositions))
      places = c.Reshape(c.Cast(c.in(kPositions), kInt64), Shape{g.batch, g.steps});
    else
      places = Add(c, c.Reshape(a.starts, Shape{g.batch, 1}), c.Reshape(CountUp(c, g.steps), Shape{1, g.steps}));
  }
  const auto rows = [&](int i, int64_t from, int64_t size) { return packed ? SliceAxis(c, c.in(kQuery), 2, from, from + size) : c.in(i); };
  const int64_t keys = g.heads * g.size, values = keys + g.groups * g.size;
  a.query = TurnedRows(c, rows(kQuery, 0, keys), g.heads, kQueryNorm, "q_norm_epsilon", places);
  const Value key = TurnedRows(c, rows(kKey, keys, g.groups * g.size), g.groups, kKeyNorm, "k_norm_epsilon", places),
              value = rows(kValue, values, g.groups * g.size);
  const auto appended = [&](const Value& past, const Value& more) {
    return c.Op("_cache_append", {past, c.Cast(more, past.dtype()), a.starts, a.lengths},
                {{"room", Text(room == past.shape()[2] ? 0 : room)}});
  };
  a.key = appended(past_key, key), a.value = appended(past_value, value);
  if (c.has(kBias)) a.mask = c.in(kBias);
  if (c.has(kSink))
    a.sink = c.Reshape(c.in(kSink), Shape{g.heads});
  else if (smooth)
    a.sink = c.Filled(Shape{g.heads}, kFloat32, 0);
  c.Out(0, AttendCached(c, a));
  c.Out(1, a.key), c.Out(2, a.value);
}

}  // namespace onnx
}  // namespace mxnet
