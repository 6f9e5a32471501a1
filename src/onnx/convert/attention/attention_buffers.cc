// Attention to buffers of keys and values that have room for more tokens, of which beams may share
// those before the present one: MultiHeadAttention with past_sequence_length, and
// DecoderMaskedMultiHeadAttention.
#include <algorithm>
#include <cmath>

#include "onnx/convert/attention/attention.h"

namespace mxnet {
namespace onnx {

namespace {

/* x (batch, steps, width), with a part of the bias. */
Value Biased(const Call& c, int x, const AttentionInputs& at, int64_t from) {
  const Value& rows = c.in(x);
  return c.has(at.bias) ? Add(c, rows, SliceAxis(c, c.in(at.bias), 0, from, from + rows.shape()[rows.ndim() - 1])) : rows;
}

/* The row of the batch (batch, room) that each token of a beam is in: before `starts` that of the
 * beam that `indirection` (groups of beams, beams, room) names. */
Value SourcesOf(const Call& c, const Value& indirection, const Value& starts, int64_t room) {
  const int64_t batch = starts.size();
  const Shape& of = indirection.shape();
  if (indirection.ndim() != 3 || of[0] * of[1] != batch || of[2] < room)
    c.Refuse("cache_indirection has shape " + Text(of) + " for " + Text(batch) + " rows with room for " + Text(room) + " tokens");
  Sizes firsts, own, places;
  for (int64_t b = 0; b < batch; ++b) firsts.push_back(b / of[1] * of[1]), own.push_back(b);
  for (int64_t j = 0; j < room; ++j) places.push_back(j);
  const Value named = c.Cast(c.Reshape(SliceAxis(c, indirection, 2, 0, room), Shape{batch, room}), kInt64);
  const Value before = Binary(c, "less", IntsLike(c, places, {1, room}), c.Reshape(starts, Shape{batch, 1}));
  return Where(c, before, Add(c, named, IntsLike(c, firsts, {batch, 1})), IntsLike(c, own, {batch, 1}));
}

/* A buffer (batch, heads, room, size) with the rows of these sources. */
Value RowsOf(const Call& c, const Value& buffer, const Value& sources) {
  const Shape s = buffer.shape();
  Sizes places, heads;
  for (int64_t j = 0; j < s[2]; ++j) places.push_back(j);
  for (int64_t h = 0; h < s[1]; ++h) heads.push_back(h * s[2]);
  const Value row = Add(c, MulNumber(c, sources, static_cast<double>(s[1] * s[2])), IntsLike(c, places, {1, s[2]}));
  const Value at = Add(c, c.Reshape(row, Shape{s[0], 1, s[2]}), IntsLike(c, heads, {1, s[1], 1}));
  return Take(c, c.Reshape(buffer, Shape{s[0] * s[1] * s[2], s[3]}), at, 0);
}

/* What is added to the scores (batch, heads, steps, tokens); none: nothing. */
Value BufferBias(const Call& c, const AttentionInputs& at, int64_t batch, int64_t keys, int dtype, double low) {
  Value bias;
  if (c.has(at.mask)) {
    const Value& mask = c.in(at.mask);
    bias = KeyBias(c, mask, batch, mask.ndim() > 1 ? mask.shape()[mask.ndim() - 1] : keys, dtype, low);
    if (c.has(at.attention_bias)) bias = SliceAxis(c, bias, 3, 0, std::min(bias.shape()[3], c.in(at.attention_bias).shape()[3]));
  }
  if (c.has(at.attention_bias)) bias = AddBias(c, bias, c.in(at.attention_bias));
  return bias;
}

/* Scores of the tokens that there are, whose number must be known then. */
Value BufferScores(const Call& c, const CachedAttention& a, int64_t past) {
  const int64_t steps = a.query.shape()[1], total = past + steps;
  const int dtype = a.query.dtype();
  Value bias = a.mask.kind == Value::kNone ? a.mask : SliceAxis(c, a.mask, 3, 0, std::min(total, a.mask.shape()[3]));
  if (a.causal) bias = AddBias(c, bias, WindowBias(c, steps, total, past, -1, 0, dtype));
  AttentionOptions options;
  options.scale = a.scale;
  const auto part = [&](const Value& buffer) {
    return c.Cast(SliceAxis(c, a.sources.kind == Value::kNone ? buffer : RowsOf(c, buffer, a.sources), 2, 0, total), dtype);
  };
  return ScoresOut(c, Attend(c, SplitHeads(c, a.query, a.heads), part(a.key), part(a.value), bias, options));
}

}  // namespace

void AttendBuffers(Call& c, const AttentionInputs& at, int64_t heads, bool causal, double low) {
  for (int i : {0, 1, 2}) CheckRank(c, i, 3, 3);
  for (int i : {at.past_key, at.past_value}) CheckRank(c, i, 4, 4);
  const Shape s = c.in(0).shape();
  const int64_t batch = s[0], steps = s[1], size = heads > 0 ? s[2] / heads : 0;
  if (heads < 1 || s[2] != heads * size || c.in(1).shape() != s || c.in(2).shape()[1] != steps)
    c.Refuse("queries have shape " + Text(s) + ", keys " + Text(c.in(1).shape()) + ", values " + Text(c.in(2).shape()));
  const Value &past_key = Cache(c, c.in(at.past_key)), &past_value = Cache(c, c.in(at.past_value));
  if (c.in(at.past_length).size() != 1) c.Refuse("past_sequence_length has shape " + Text(c.in(at.past_length).shape()));
  const int64_t past = c.wants(3) ? c.Int(at.past_length) : 0;
  CachedAttention a;
  a.heads = a.groups = heads, a.causal = causal;
  a.scale = c.Attr("scale", 0.0f);
  a.starts = c.BroadcastTo(c.Reshape(c.Cast(c.in(at.past_length), kInt64), Shape{1}), Shape{batch});
  a.lengths = AddNumber(c, a.starts, static_cast<double>(steps));
  a.query = Biased(c, 0, at, 0);
  const auto appended = [&](const Value& buffer, const Value& rows) { return Appended(c, buffer, c.Cast(rows, buffer.dtype()), a); };
  a.key = appended(past_key, Biased(c, 1, at, s[2])), a.value = appended(past_value, Biased(c, 2, at, 2 * s[2]));
  c.Out(1, a.key), c.Out(2, a.value);
  if (c.has(at.indirection) && steps == 1)  // a prompt is before all beams
    a.sources = SourcesOf(c, c.in(at.indirection), a.starts, a.key.shape()[2]);
  a.mask = BufferBias(c, at, batch, a.key.shape()[2], a.query.dtype(), low);
  if (a.mask.kind != Value::kNone && a.mask.ndim() != 4) c.Refuse("a mask has shape " + Text(a.mask.shape()));
  c.Out(0, AttendCached(c, a));
  if (c.wants(3)) c.Out(3, BufferScores(c, a, past));
}

void ConvertDecoderMaskedAttention(Call& c) {
  const AttentionInputs at{10, 3, 4, 5, 6, 7, 9};
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const double low = c.Attr("mask_filter_value", -10000.0f);
  const bool shares = c.Attr("past_present_share_buffer", int64_t{0}) != 0;
  c.Ignore("output_qk");
  c.Ignore("scale");
  CheckRank(c, 0, 3, 3);
  if (c.in(0).shape()[1] != 1) c.Refuse("queries have shape " + Text(c.in(0).shape()) + "; accepted is one step");
  if (!c.has(1) || !c.has(2)) c.Refuse("keys or values are packed with queries; accepted are three inputs");
  if (c.in(1).ndim() != 4) {
    if (!shares || !c.has(at.past_key) || !c.has(at.past_value) || !c.has(at.past_length))
      c.Refuse("attribute past_present_share_buffer is " + Text(int64_t{shares}) +
               "; accepted is 1 with past_key, past_value and past_sequence_length, or keys and values of another sequence, (batch, heads, "
               "length, size)");
    return AttendBuffers(c, at, heads, false, low);
  }
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f);
  const Value q = SplitHeads(c, Biased(c, 0, at, 0), heads);
  const AttentionResult r = Attend(c, q, c.in(1), c.in(2), BufferBias(c, at, q.shape()[0], c.in(1).shape()[2], q.dtype(), low), options);
  c.Out(0, JoinHeads(c, r.y));
  if (c.wants(1) || c.wants(2)) c.Refuse("present keys and values of another sequence are asked for; accepted are outputs 0 and 3");
  if (c.wants(3)) c.Out(3, ScoresOut(c, r));
}

}  // namespace onnx
}  // namespace mxnet
