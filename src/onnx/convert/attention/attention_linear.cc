// Attention without softmax, step by step, and the convolution that models of this kind begin with.
#include "onnx/convert/attention/attention_linear.h"

#include <cmath>

#include "onnx/convert/attention/attention.h"
#include "onnx/convert/neural/norm.h"
#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

Value LinearSteps::Step(int64_t t) {
  const auto at = [&](const Value& x, const Shape& shape) { return c.Reshape(SliceAxis(c, x, 2, t, t + 1), shape); };
  const Value key = at(k, Shape{batch, groups, keys, 1});
  added = at(v, Shape{batch, groups, 1, values});
  if (decay.kind != Value::kNone) state = Mul(c, state, Unary(c, "exp", at(decay, Shape{batch, groups, decay.shape()[3], 1})));
  if (beta.kind != Value::kNone) {
    const Value found = Sum(c, Mul(c, state, key), {2}, true);
    added = Mul(c, Sub(c, added, found), at(beta, Shape{batch, beta.shape()[1], 1, 1}));
  }
  state = Add(c, state, Mul(c, key, added));
  const Value query = MulNumber(c, at(q, Shape{batch * groups, heads / groups, keys}), scale);
  return c.Reshape(c.Op("batch_dot", {query, c.Reshape(state, Shape{batch * groups, keys, values})}), Shape{batch, 1, heads * values});
}

Value LinearSteps::All(const std::function<void(int64_t)>& after) {
  if (steps < 1 || steps > kMostSteps) c.Refuse("sequences of " + Text(steps) + " steps; accepted are 1 to " + Text(kMostSteps));
  std::vector<Value> outputs;
  for (int64_t t = 0; t < steps; ++t) {
    outputs.push_back(Step(t));
    if (after) after(t);
  }
  return Concat(c, outputs, 1);
}

namespace {

/* Refuses another value of an attribute that may be left out. */
void OnlyValue(const Call& c, const char* name, int64_t value) {
  const int64_t given = c.Attr(name, value);
  if (given != value) c.Refuse("attribute " + std::string(name) + " is " + Text(given) + "; accepted is " + Text(value));
}

}  // namespace

void ConvertLinearAttention(Call& c) {  // query, key, value, past_state, decay, beta
  const int64_t heads = c.Attr("q_num_heads", int64_t{0}), groups = c.Attr("kv_num_heads", int64_t{0});
  const int rule = OneOf(c, "update_rule", c.Attr("update_rule", "gated_delta"), {"linear", "gated", "delta", "gated_delta"});
  c.Ignore("chunk_size");
  OnlyValue(c, "state_window", 0);
  for (int i = 0; i < 3; ++i) CheckRank(c, i, 3, 3);
  const Value& query = c.in(0);
  const bool inverse = groups > heads && heads > 0 && groups % heads == 0;  // queries that several keys share
  if (heads < 1 || groups < 1 || (heads % groups && !inverse))
    c.Refuse("attributes q_num_heads and kv_num_heads are " + Text(heads) + " and " + Text(groups));
  if ((rule == 1 || rule == 3) != c.has(4) || (rule >= 2) != c.has(5)) c.Refuse("decay or beta do not suit attribute update_rule");
  const auto wide = [&](const Value& x, int64_t n) { return c.Cast(SplitHeads(c, x, n), kFloat32); };
  const Value own = wide(query, heads);
  LinearSteps s{c,
                query.shape()[0],
                inverse ? groups : heads,
                groups,
                query.shape()[1],
                0,
                0,
                0,
                inverse ? c.Op("repeat", {own}, {{"repeats", Text(groups / heads)}, {"axis", "1"}}) : own,
                wide(c.in(1), groups),
                wide(c.in(2), groups),
                {},
                {},
                {},
                {}};
  s.keys = s.q.shape()[3], s.values = s.v.shape()[3];
  if (s.k.shape() != Shape{s.batch, groups, s.steps, s.keys} || s.v.shape()[2] != s.steps || s.v.shape()[0] != s.batch)
    c.Refuse("query, key and value have shapes " + Text(query.shape()) + ", " + Text(c.in(1).shape()) + " and " + Text(c.in(2).shape()));
  const double scale = c.Attr("scale", 0.0f);
  s.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(s.keys));
  const Shape shape{s.batch, groups, s.keys, s.values};
  if (c.has(4)) s.decay = wide(c.in(4), groups);
  if (c.has(5)) s.beta = wide(c.in(5), c.in(5).shape()[2]);
  if (c.has(3) && c.in(3).shape() != shape) c.Refuse("past_state has shape " + Text(c.in(3).shape()) + "; expected is " + Text(shape));
  s.state = c.has(3) ? c.Cast(c.in(3), kFloat32) : c.Filled(shape, kFloat32, 0);
  c.Out(0, c.Cast(s.All(), query.dtype()));
  c.Out(1, c.Cast(s.state, c.has(3) ? c.in(3).dtype() : query.dtype()));
}

/* data, weight, bias, past_state -> data, state. com.microsoft's may have its channels last. */
void ConvertCausalConv(Call& c) {
  CheckRank(c, 0, 3, 3);
  CheckRank(c, 1, 3, 3);
  for (const char* name : {"state_window", "state_update_capacity", "state_length", "input_channels", "input_channel_offset"})
    OnlyValue(c, name, 0);
  OnlyValue(c, "ndim", 1), OnlyValue(c, "state_channels_last", -1);
  const bool last = c.Attr("channels_last", int64_t{0}) != 0;
  const int64_t step = c.Attr("dilation", int64_t{1});
  const auto turned = [&](const Value& v) { return last ? c.Transpose(v, {0, 2, 1}) : v; };
  const Value x = turned(c.in(0)), w = c.in(1);
  const int act = OneOf(c, "activation", c.Attr("activation", "none"), {"none", "silu", "swish"});
  CheckSmall(c, "dilation", {step}, 1);
  const int64_t channels = x.shape()[1], size = w.shape()[2], before = (size - 1) * step;
  if (w.shape()[0] != channels || w.shape()[1] != 1 || size < 1 || before > kMostListed)
    c.Refuse("data has shape " + Text(c.in(0).shape()) + ", the weight " + Text(w.shape()) + ", dilation is " + Text(step));
  const Value padded = c.has(3) ? Concat(c, {turned(c.in(3)), x}, 2) : Pad(c, x, {0, 0, before}, {0, 0, 0}, 0);
  Window window;
  window.in = {padded.shape()[2]}, window.kernel = {size}, window.stride = {1}, window.dilate = {step}, window.before = {0},
  window.after = {0};
  Value y = Convolve(c, padded, w, c.has(2) ? c.in(2) : Value(), window, channels);
  if (act) y = Silu(c, y);
  c.Out(0, turned(y));
  if (c.wants(1)) c.Out(1, turned(SliceAxis(c, padded, 2, padded.shape()[2] - before, padded.shape()[2])));
}

void ConvertLinearAttentionGate(Call& c) {  // data, bias, scale, rates -> decay, sigmoid of the rates
  const int dtype = c.in(0).dtype();
  const Value soft = c.Op("Activation", {Add(c, c.Cast(c.in(0), kFloat32), c.in(1))}, {{"act_type", "softrelu"}});
  c.Out(0, c.Cast(Mul(c, soft, c.in(2)), dtype));
  if (c.wants(1)) c.Out(1, c.Cast(Sigmoid(c, c.Cast(c.in(3), kFloat32)), dtype));
}

void ConvertGatedNorm(Call& c) {  // data (..., heads x size), weight (size,), gate
  CheckRank(c, 0, 1, 31);
  const Value& x = c.in(0);
  const int kind = OneOf(c, "activation", c.Attr("activation", "silu"), {"silu", "swish", "sigmoid"});
  const double epsilon = c.Attr("epsilon", 1e-5f);
  const int64_t size = c.in(1).size();
  if (size < 1 || x.shape()[x.ndim() - 1] % size) c.Refuse("data has shape " + Text(x.shape()) + ", scale " + Text(c.in(1).shape()));
  const Value rows = c.Cast(c.Reshape(x, Shape{x.size() / size, size}), kFloat32), gate = c.Cast(c.in(2), kFloat32);
  const Value normed = Mul(c, Mul(c, rows, RootMeanSquare(c, rows, 1, epsilon)), c.Cast(c.in(1), kFloat32));
  const Value factor = kind == 2 ? Sigmoid(c, gate) : Silu(c, gate);
  c.Out(c.Cast(Mul(c, c.Reshape(normed, x.shape()), factor), x.dtype()));
}

void ConvertScaledSilu(Call& c) {
  const float alpha = c.Attr("alpha", 1.0f);
  const Value scaled = c.has(1) ? Mul(c, c.in(0), c.Cast(c.Reshape(c.in(1), Shape(0)), c.in(0).dtype())) : MulNumber(c, c.in(0), alpha);
  c.Out(Silu(c, scaled));
}

void ConvertGatedAdd(Call& c) {
  if (c.has(3)) c.Refuse("input gate_weight is given; accepted is none");
  c.Out(Add(c, c.in(0), Mul(c, c.in(1), c.in(2))));
}

}  // namespace onnx
}  // namespace mxnet
