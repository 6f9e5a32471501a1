// Attention to caches that have room for more tokens than there are. Plans take the number of
// tokens from arrays when they run, so one plan serves all steps of a decoder.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/builder.h"
#include "onnx/convert/attention/attention.h"

namespace mxnet {
namespace onnx {

Value Cache(const Call& c, const Value& x) { return c.builder()->BeforeWidening(x); }

namespace {

/* Is it to be trained, and can it be? Operators on caches have no gradients. */
bool CanLearn(const Call& c, const Value& cache) { return c.ForTraining() && IsFloating(cache.dtype()); }

/* Which of so many keys a query sees, (batch, 1, steps, keys). */
Value SeenKeys(const Call& c, const CachedAttention& a, int64_t steps, int64_t keys) {
  const Value key = c.Reshape(CountUp(c, keys), Shape{1, 1, 1, keys}), step = c.Reshape(CountUp(c, steps), Shape{1, 1, steps, 1});
  const auto by_example = [&](const Value& v) { return c.Reshape(v, Shape{v.size(), 1, 1, 1}); };
  const Value own = Add(c, step, by_example(a.starts));
  Value seen = Binary(c, "less", key, by_example(a.lengths));
  if (a.causal) seen = Binary(c, "logical_and", seen, Binary(c, "less_equal", key, own));
  if (a.window > 0) seen = Binary(c, "logical_and", seen, Binary(c, "greater", key, AddNumber(c, own, -static_cast<double>(a.window))));
  return seen;
}

/* Beside the scores of keys one more, which takes its share. */
Value WithSink(const Call& c, const Value& scores, const Value& sink) {
  const Shape& s = scores.shape();
  const Value each = c.Reshape(c.Cast(sink, scores.dtype()), Shape{1, s[1], 1, 1});
  return Concat(c, {scores, c.BroadcastTo(each, Shape{s[0], s[1], s[2], 1})}, 3);
}

/* The same of plain products and a softmax. */
Value AttendToLearn(const Call& c, const CachedAttention& a, double scale) {
  const Value query = SplitHeads(c, c.Cast(a.query, kFloat32), a.heads);
  const auto apart = [&](const Value& cache) { return c.Cast(cache.ndim() == 3 ? SplitHeads(c, cache, a.groups) : cache, kFloat32); };
  const Value key = apart(a.key), value = apart(a.value);
  const int64_t steps = query.shape()[2], keys = key.shape()[2];
  const Value seen = SeenKeys(c, a, steps, keys);
  Value mask = a.mask.kind == Value::kNone ? a.mask : c.Cast(a.mask, kFloat32);
  if (mask.kind != Value::kNone) {  // what it has no column for is not there
    const int64_t columns = mask.shape()[3];
    mask = columns > keys ? SliceAxis(c, mask, 3, 0, keys) : Pad(c, mask, {0, 0, 0, 0}, {0, 0, 0, keys - columns}, 0);
  }
  AttentionOptions options;
  options.scale = scale, options.softcap = a.softcap;
  const bool sinks = a.sink.kind != Value::kNone;
  if (sinks) options.change_scores = [&](const Value& scores) { return WithSink(c, scores, a.sink); };
  options.change_weights = [&](const Value& w) {  // a query that sees nothing finds zeros
    return Where(c, seen, sinks ? SliceAxis(c, w, 3, 0, keys) : w, c.Scalar(0, kFloat32));
  };
  const Value bias = AddBias(c, BiasOfMask(c, seen, kFloat32, -1e30), mask);
  return c.Cast(JoinHeads(c, Attend(c, query, key, value, bias, options).y), a.query.dtype());
}

}  // namespace

Value Appended(const Call& c, const Value& cache, const Value& rows, const CachedAttention& a, int64_t room, int64_t least) {
  if (!CanLearn(c, cache)) {
    AttrDict attrs;
    if (room > 0) attrs["room"] = Text(room);
    if (least > 0) attrs["least"] = Text(least);
    return c.Op("_cache_append", {cache, rows, a.starts, a.lengths}, attrs);
  }
  // rows of the cache, the new ones, and one of zeros
  const int64_t batch = cache.shape()[0], groups = cache.shape()[1], past = cache.shape()[2], size = cache.shape()[3];
  const int64_t steps = rows.shape()[1], all = past + steps + 1, columns = room > 0 ? room : past;
  const Value table = Join(c, {cache, SplitHeads(c, rows, groups), c.Filled(Shape{batch, groups, 1, size}, cache.dtype(), 0)}, 2);
  const Value place = c.Reshape(CountUp(c, columns), Shape{1, columns});
  const auto by_example = [&](const Value& v) { return c.Reshape(v, Shape{batch, 1}); };
  const Value step = Sub(c, place, by_example(a.starts));
  const Value within =
      Binary(c, "logical_and", BinaryNumber(c, "greater_equal", step, 0), BinaryNumber(c, "less", step, static_cast<double>(steps)));
  const Value is_new = Binary(c, "logical_and", within, Binary(c, "less", place, by_example(a.lengths)));
  const Value old = Where(c, BinaryNumber(c, "less", place, static_cast<double>(past)), place, c.IntTensor({all - 1}));
  const Value at = Where(c, is_new, AddNumber(c, step, static_cast<double>(past)), old);
  Sizes firsts;
  for (int64_t i = 0; i < batch * groups; ++i) firsts.push_back(i * all);
  const Value flat = Add(c, c.Reshape(at, Shape{batch, 1, columns}), IntsLike(c, firsts, {batch, groups, 1}));
  return Take(c, c.Reshape(table, Shape{batch * groups * all, size}), flat, 0);
}

Value AttendCached(const Call& c, const CachedAttention& a) {
  const int64_t size = a.query.shape()[2] / a.heads;
  const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(size));
  if (CanLearn(c, a.key) && CanLearn(c, a.value) && a.sources.kind == Value::kNone) return AttendToLearn(c, a, scale);
  std::vector<Value> operands = {c.Cast(a.query, kFloat32), a.key, a.value, a.starts, a.lengths};
  for (const Value& more : {a.mask, a.sink})
    if (more.kind != Value::kNone) operands.push_back(c.Cast(more, kFloat32));
  if (a.sources.kind != Value::kNone) operands.push_back(a.sources);
  const Value y = c.Op("_cached_attention", operands,
                       {{"heads", Text(a.heads)},
                        {"groups", Text(a.groups)},
                        {"window", Text(a.window)},
                        {"scale", Text(scale)},
                        {"softcap", Text(a.softcap)},
                        {"causal", Text(a.causal)},
                        {"packed", Text(a.key.dtype() == kUint8)},
                        {"with_mask", Text(a.mask.kind != Value::kNone)},
                        {"with_sink", Text(a.sink.kind != Value::kNone)},
                        {"with_sources", Text(a.sources.kind != Value::kNone)}});
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

Sizes CountTo(int64_t count) {
  Sizes places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i);
  return places;
}

/* How a cache has its numbers: as they are, or as whole numbers of 8 or 4 bits times a scale. */
struct CacheForm {
  int64_t bits = 0;  // 0: as they are
  Value scale;       // broadcasts over (batch, steps, groups, 1, size)
};

CacheForm FormOf(const Call& c, const char* attribute, int past, int scale, const GroupSizes& g, int64_t size) {
  CacheForm form;
  const std::string kind = c.Attr(attribute, "NONE");
  const int64_t bits = c.Attr("kv_cache_bit_width", int64_t{0});
  if (kind == "NONE") {
    if (c.has(scale)) c.Refuse("input " + Text(scale) + " has scales for an attribute " + attribute + " of NONE");
    return form;
  }
  const bool by_channel = kind == "PER_CHANNEL";
  if (!by_channel && kind != "PER_TENSOR") c.Refuse(std::string("attribute ") + attribute + " is " + kind);
  const int dtype = c.in(past).dtype();
  form.bits = bits != 0 ? bits : dtype == kUint8 ? 4 : 8;
  if (!(form.bits == 8 && dtype == kInt8) && !(form.bits == 4 && dtype == kUint8))
    c.Refuse("caches of " + Text(form.bits) + " bits are " + DTypeName(dtype) + "; accepted are 8 bits as int8 and 4 bits as uint8");
  if (c.in(scale).size() != (by_channel ? g.groups * size : 1)) c.Refuse("scales of " + kind + " have shape " + Text(c.in(scale).shape()));
  form.scale = c.Cast(c.Reshape(c.in(scale), by_channel ? Shape{1, 1, g.groups, 1, size} : Shape(0)), kFloat32);
  return form;
}

/* Rows (batch, steps, groups x size) as a cache of that form has them. */
Value RowsFor(const Call& c, const Value& rows, const CacheForm& form, int dtype, int64_t groups) {
  if (form.bits == 0) return c.Cast(rows, dtype);
  const Shape& s = rows.shape();
  const Value apart = c.Reshape(c.Cast(rows, kFloat32), Shape{s[0], s[1], groups, 1, s[2] / groups});
  const double most = form.bits == 8 ? 127 : 7;
  const Value whole = c.Reshape(Clip(c, Unary(c, "rint", Div(c, apart, form.scale)), -most - 1, most), s);
  if (form.bits == 8) return c.Cast(whole, kInt8);
  const Value pairs = c.Reshape(AddNumber(c, whole, 8), Shape{s[0], s[1], s[2] / 2, 2});
  const Value bytes = Add(c, SliceAxis(c, pairs, 3, 0, 1), MulNumber(c, SliceAxis(c, pairs, 3, 1, 2), 16));
  return c.Cast(c.Reshape(bytes, Shape{s[0], s[1], s[2] / 2}), kUint8);
}

/* x (batch, steps, heads x size) times the scale of the heads' groups. */
Value Scaled(const Call& c, const Value& x, const CacheForm& form, const GroupSizes& g) {
  if (form.bits == 0) return x;
  const Shape& s = x.shape();
  const Value apart = c.Reshape(c.Cast(x, kFloat32), Shape{s[0], s[1], g.groups, g.heads / g.groups, s[2] / g.heads});
  return c.Cast(c.Reshape(Mul(c, apart, form.scale), s), x.dtype());
}

/* A cache's numbers as floats, without the scale. */
Value Floats(const Call& c, const Value& cache, int dtype) {
  if (cache.dtype() != kUint8) return c.Cast(cache, dtype);
  const Shape& s = cache.shape();
  const Shape one{s[0], s[1], s[2], s[3], 1}, all{s[0], s[1], s[2], 2 * s[3]};
  const Value bytes = c.Cast(cache, dtype), high = Unary(c, "floor", MulNumber(c, bytes, 1.0 / 16));
  const Value low = Sub(c, bytes, MulNumber(c, high, 16));
  return AddNumber(c, c.Reshape(Concat(c, {c.Reshape(low, one), c.Reshape(high, one)}, 4), all), -8);
}

/* For training: what a cache's numbers stand for. */
Value StandsFor(const Call& c, const Value& cache, const CacheForm& form) {
  const Value numbers = Floats(c, cache, kFloat32);
  if (form.bits == 0) return numbers;
  const Shape& s = form.scale.shape();
  return Mul(c, numbers, s.ndim() == 0 ? form.scale : c.Reshape(form.scale, Shape{1, s[2], 1, s[4]}));
}

/* For training: rows as a cache has them, rounded, where gradients pass what was not cut. */
Value RoundedRows(const Call& c, const Value& rows, const CacheForm& form, int64_t groups) {
  if (form.bits == 0) return c.Cast(rows, kFloat32);
  const Shape& s = rows.shape();
  const double most = form.bits == 8 ? 127 : 7;
  const Value steps = Div(c, c.Reshape(c.Cast(rows, kFloat32), Shape{s[0], s[1], groups, 1, s[2] / groups}), form.scale);
  const Value cut = Clip(c, steps, -most - 1, most);
  const Value whole = Add(c, cut, c.Op("BlockGrad", {Sub(c, Unary(c, "rint", cut), cut)}));
  return c.Reshape(Mul(c, whole, form.scale), s);
}

/* Scores or weights (batch, heads, steps, tokens), 0 where a query does not see a key. */
Value GroupScores(const Call& c, const CachedAttention& a, const GroupSizes& g, bool weights) {
  const int64_t total = c.Int(kTotal);
  const int dtype = a.query.dtype();
  const Value seen = SeenKeys(c, a, g.steps, total);
  AttentionOptions options;
  options.scale = a.scale, options.softcap = a.softcap;
  options.empty_rows = true;
  if (a.sink.kind != Value::kNone) {
    options.change_scores = [&](const Value& scores) { return WithSink(c, scores, a.sink); };
    options.change_weights = [&](const Value& w) { return SliceAxis(c, w, 3, 0, total); };
  }
  const Value bias = AddBias(c, BiasOfMask(c, seen, dtype, -std::numeric_limits<double>::infinity()), a.mask);
  const auto part = [&](const Value& cache) { return Floats(c, SliceAxis(c, cache, 2, 0, total), dtype); };
  const AttentionResult r = Attend(c, SplitHeads(c, a.query, g.heads), part(a.key), part(a.value), bias, options);
  return Where(c, seen, weights ? r.weights : AddBias(c, r.capped, a.mask), c.Scalar(0, dtype));
}

// ---- caches of a window

/* How many of `tokens` tokens a cache with `room` rows for a window has: when it is full, it drops
 * all that no window needs. */
Value Resident(const Call& c, const Value& tokens, int64_t room, int64_t window) {
  const double step = static_cast<double>(room - window + 1);
  const Value beyond = BinaryNumber(c, "maximum", AddNumber(c, tokens, step - 1 - static_cast<double>(room)), 0);
  return Sub(c, tokens, Sub(c, beyond, BinaryNumber(c, "mod", beyond, step)));
}

/* A mask (batch, heads, steps, tokens) for `columns` keys of which the first ones are at `first`
 * (batch,). */
Value MaskFrom(const Call& c, const Value& mask, const Value& first, int64_t columns) {
  const Shape s = mask.shape();
  const int64_t batch = first.size(), rows = s[1] * s[2];
  const Value flat = c.Reshape(c.Transpose(mask, {0, 3, 1, 2}), Shape{s[0] * s[3], rows});
  Value at = Add(c, c.Reshape(first, Shape{batch, 1}), IntsLike(c, CountTo(columns), {1, columns}));
  at = BinaryNumber(c, "minimum", at, static_cast<double>(s[3] - 1));
  if (s[0] > 1) {
    Sizes examples;
    for (int64_t b = 0; b < batch; ++b) examples.push_back(b * s[3]);
    at = Add(c, at, IntsLike(c, examples, {batch, 1}));
  }
  return c.Reshape(c.Transpose(Take(c, flat, at, 0), {0, 2, 1}), Shape{batch, s[1], s[2], columns});
}

/* The first `room` rows of a cache (batch, groups, rows, size) behind as many as each example
 * drops, by an operator with gradients. */
Value MovedUp(const Call& c, const Value& cache, const Value& dropped, int64_t room) {
  const Shape& s = cache.shape();
  Value at = Add(c, c.Reshape(dropped, Shape{s[0], 1, 1}), c.Reshape(CountUp(c, room), Shape{1, 1, room}));
  at = BinaryNumber(c, "minimum", at, static_cast<double>(s[2] - 1));
  Sizes firsts;
  for (int64_t i = 0; i < s[0] * s[1]; ++i) firsts.push_back(i * s[2]);
  return Take(c, c.Reshape(cache, Shape{s[0] * s[1] * s[2], s[3]}), Add(c, at, IntsLike(c, firsts, {s[0], s[1], 1})), 0);
}

/* What a step writes, and where. */
struct Rows {
  Value past_key, past_value, key, value;
};

/* Caches that drop what is before the window. Changes where keys and queries are to places in them.
 * Returns what is left of keys and values. */
std::pair<Value, Value> AppendToWindow(const Call& c, const Rows& rows, const GroupSizes& g, CachedAttention* a) {
  const int64_t room = rows.past_key.shape()[2];
  if (a->window < 1 || room < a->window)
    c.Refuse("a cache has room for " + Text(room) + " tokens and attribute local_window_size is " + Text(a->window) +
             "; accepted are windows of at least 1 that the cache has room for");
  const Value before = Resident(c, a->starts, room, a->window), after = Resident(c, a->lengths, room, a->window),
              both = Add(c, before, Sub(c, a->lengths, a->starts)), dropped = Sub(c, both, after), first = Sub(c, a->starts, before);
  const bool learns = CanLearn(c, rows.past_key) && CanLearn(c, rows.past_value);
  const auto drop = [&](const Value& past, const Value& more, const Value& from) {
    return c.Op("_cache_append", {past, more, from, after, dropped}, {{"with_dropped", "True"}});
  };
  std::pair<Value, Value> left;
  if (g.steps == 1 && !learns) {  // what is dropped is before the query's window
    a->starts = Sub(c, after, Sub(c, a->lengths, a->starts)), a->lengths = after;
    a->key = drop(rows.past_key, rows.key, a->starts), a->value = drop(rows.past_value, rows.value, a->starts);
    left = {a->key, a->value};
    if (a->mask.kind != Value::kNone) a->mask = MaskFrom(c, a->mask, Add(c, first, dropped), room);
  } else {
    a->starts = before, a->lengths = both;
    a->key = Appended(c, rows.past_key, rows.key, *a, room + g.steps, 0);
    a->value = Appended(c, rows.past_value, rows.value, *a, room + g.steps, 0);
    if (learns)
      left = {MovedUp(c, a->key, dropped, room), MovedUp(c, a->value, dropped, room)};
    else
      left = {SliceAxis(c, drop(a->key, rows.key, after), 2, 0, room), SliceAxis(c, drop(a->value, rows.value, after), 2, 0, room)};
    if (a->mask.kind != Value::kNone) a->mask = MaskFrom(c, a->mask, first, room + g.steps);
  }
  return left;
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
    const auto angles = [&](int i) { return c.Reshape(TakeRows(c, c.in(i), places), Shape{s[0], s[1], 1, half}); };
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
  if (!c.in(kTotal).known()) return past + steps;
  const int64_t total = c.Int(kTotal);
  if (total > past + steps)
    c.Refuse("total_sequence_length is " + Text(total) + ", with room for " + Text(past) + " tokens in the past keys and " + Text(steps) +
             " new ones; accepted: up to " + Text(past + steps));
  return std::max({past, steps, total});
}

/* Where queries are, and how many tokens there are. */
void PutPlaces(const Call& c, const GroupSizes& g, CachedAttention* a) {
  if (c.in(kLastKeys).size() != g.batch) c.Refuse("seqlens_k has shape " + Text(c.in(kLastKeys).shape()));
  a->lengths = AddNumber(c, c.Reshape(c.Cast(c.in(kLastKeys), kInt64), Shape{g.batch}), 1);
  a->starts = c.has(kQueryLengths) ? Sub(c, a->lengths, c.Reshape(c.Cast(c.in(kQueryLengths), kInt64), Shape{g.batch}))
                                   : BinaryNumber(c, "maximum", AddNumber(c, a->lengths, -static_cast<double>(g.steps)), 0);
}

/* Turned queries, keys and values, rows (batch, steps, heads x size); places none: not turned. */
std::vector<Value> GroupRows(const Call& c, const GroupSizes& g, bool packed, const CachedAttention& a) {
  Value places;
  if (c.Attr("do_rotary", int64_t{0}) != 0)
    places = c.has(kPositions) ? c.Reshape(c.Cast(c.in(kPositions), kInt64), Shape{g.batch, g.steps})
                               : Add(c, c.Reshape(a.starts, Shape{g.batch, 1}), c.Reshape(CountUp(c, g.steps), Shape{1, g.steps}));
  if (places.kind != Value::kNone && c.has(kQueryLengths))  // rows that do not count are behind the last token
    places = Binary(c, "minimum", places, c.Reshape(AddNumber(c, a.lengths, -1), Shape{g.batch, 1}));
  const auto rows = [&](int i, int64_t from, int64_t size) { return packed ? SliceAxis(c, c.in(kQuery), 2, from, from + size) : c.in(i); };
  const int64_t keys = g.heads * g.size, values = keys + g.groups * g.size;
  return {TurnedRows(c, rows(kQuery, 0, keys), g.heads, kQueryNorm, "q_norm_epsilon", places),
          TurnedRows(c, rows(kKey, keys, g.groups * g.size), g.groups, kKeyNorm, "k_norm_epsilon", places),
          rows(kValue, values, g.groups * g.size)};
}

}  // namespace

void ConvertGroupQueryAttention(Call& c) {
  CheckRank(c, kQuery, 3, 3);
  const bool packed = !c.has(kKey), windowed = c.Attr("sliding_window_cache", int64_t{0}) != 0;
  const GroupSizes g = SizesOf(c, packed);
  CachedAttention a;
  a.heads = g.heads, a.groups = g.groups;
  a.scale = c.Attr("scale", 0.0f), a.softcap = c.Attr("softcap", 0.0f), a.causal = c.Attr("causal", int64_t{1}) != 0;
  a.window = std::max<int64_t>(0, c.Attr("local_window_size", int64_t{-1}));
  for (const char* name : {"rotary_interleaved", "q_norm_epsilon", "k_norm_epsilon", "qk_norm_epsilon"}) c.Ignore(name);
  const int64_t scores = c.Attr("qk_output", int64_t{0});
  if (scores < 0 || scores > 2 || (scores != 0 && windowed))
    c.Refuse("attribute qk_output is " + Text(scores) + "; accepted are 0, and without sliding_window_cache 1 and 2");
  const CacheForm key_form = FormOf(c, "k_quant_type", kPastKey, kKeyScale, g, g.size),
                  value_form = FormOf(c, "v_quant_type", kPastValue, kValueScale, g, g.value_size);
  Rows rows;
  const int dtype = c.in(kQuery).dtype();
  rows.past_key = c.has(kPastKey) ? Cache(c, c.in(kPastKey)) : c.Filled(Shape{g.batch, g.groups, 0, g.size}, dtype, 0);
  rows.past_value = c.has(kPastValue) ? Cache(c, c.in(kPastValue)) : c.Filled(Shape{g.batch, g.groups, 0, g.value_size}, dtype, 0);
  if (rows.past_key.ndim() != 4 || rows.past_value.ndim() != 4 || rows.past_key.shape()[2] != rows.past_value.shape()[2])
    c.Refuse("past keys have shape " + Text(rows.past_key.shape()) + ", past values " + Text(rows.past_value.shape()));
  const int64_t past = rows.past_key.shape()[2], room = windowed ? past : Room(c, past, g.steps);
  if (scores != 0 && c.wants(3)) c.Int(kTotal);
  PutPlaces(c, g, &a);
  const std::vector<Value> made = GroupRows(c, g, packed, a);
  const bool in_floats = c.ForTraining() && (key_form.bits != 0 || value_form.bits != 0);  // beside the caches in integers
  a.query = in_floats ? made[0] : Scaled(c, made[0], key_form, g);
  rows.key = RowsFor(c, made[1], key_form, rows.past_key.dtype(), g.groups);
  rows.value = RowsFor(c, made[2], value_form, rows.past_value.dtype(), g.groups);
  if (c.has(kBias)) a.mask = c.in(kBias);
  if (c.has(kSink))
    a.sink = c.Reshape(c.in(kSink), Shape{g.heads});
  else if (c.Attr("smooth_softmax", int64_t{0}) > 0)
    a.sink = c.Filled(Shape{g.heads}, kFloat32, 0);
  const auto append = [&](const Rows& r, CachedAttention* to) {
    if (windowed) return AppendToWindow(c, r, g, to);
    const auto appended = [&](const Value& cache, const Value& more) { return Appended(c, cache, more, *to, room == past ? 0 : room, 1); };
    to->key = appended(r.past_key, r.key), to->value = appended(r.past_value, r.value);
    return std::make_pair(to->key, to->value);
  };
  CachedAttention learned = a;
  const std::pair<Value, Value> left = append(rows, &a);
  if (in_floats) {
    append({StandsFor(c, rows.past_key, key_form), StandsFor(c, rows.past_value, value_form), RoundedRows(c, made[1], key_form, g.groups),
            RoundedRows(c, made[2], value_form, g.groups)},
           &learned);
    a = learned;
  }
  a.scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(g.size));
  const Value y = AttendCached(c, a);
  c.Out(0, in_floats ? y : Scaled(c, y, value_form, g));
  const auto stored = [&](const Value& v) { return in_floats ? c.Op("BlockGrad", {v}) : v; };
  c.Out(1, stored(left.first)), c.Out(2, stored(left.second));
  if (c.wants(3)) {
    if (scores == 0) c.Refuse("output 3 is asked for with an attribute qk_output of 0; accepted are 1 and 2");
    c.Out(3, GroupScores(c, a, g, scores == 2));
  }
}

}  // namespace onnx
}  // namespace mxnet
