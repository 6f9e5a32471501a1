#include "onnx/convert/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mxnet {
namespace onnx {

namespace {
constexpr double kNever = -std::numeric_limits<double>::infinity();
}

Value SplitHeads(const Call& c, const Value& x, int64_t heads) {
  const Shape& s = x.shape();
  if (x.ndim() != 3 || heads < 1 || s[2] % heads) c.Refuse("data of shape " + Text(s) + " has no " + Text(heads) + " heads");
  return c.Transpose(c.Reshape(x, Shape{s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Value JoinHeads(const Call& c, const Value& x) {
  const Shape& s = x.shape();
  return c.Reshape(c.Transpose(x, {0, 2, 1, 3}), Shape{s[0], s[2], s[1] * s[3]});
}

Value AddBias(const Call& c, const Value& a, const Value& b) {
  if (a.kind == Value::kNone) return b;
  return b.kind == Value::kNone ? a : Add(c, a, b);
}

Value WindowBias(const Call& c, int64_t queries, int64_t keys, int64_t offset, int64_t left, int64_t right, int dtype) {
  if (queries > 0 && keys > (int64_t{1} << 28) / queries) c.Refuse("a mask of " + Text(queries) + " x " + Text(keys) + " elements");
  std::vector<float> bias;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      bias.push_back((right >= 0 && j > i + offset + right) || (left >= 0 && j < i + offset - left) ? static_cast<float>(kNever) : 0.0f);
  return c.Cast(c.Tensor(Shape{queries, keys}, kFloat32, bias.data()), dtype);
}

Value BiasOfMask(const Call& c, const Value& mask, int dtype, double low) {
  return Where(c, mask.dtype() == kBool ? mask : BinaryNumber(c, "not_equal", mask, 0), c.Scalar(0, dtype), c.Scalar(low, dtype));
}

AttentionResult Attend(const Call& c, const Value& q, const Value& k, const Value& v, const Value& bias, const AttentionOptions& options) {
  const int64_t batch = q.shape()[0], heads = q.shape()[1], queries = q.shape()[2], size = q.shape()[3];
  const int64_t groups = k.shape()[1], keys = k.shape()[2], out = v.shape()[3];
  if (groups < 1 || heads % groups || k.shape()[0] != batch || v.shape()[0] != batch || v.shape()[1] != groups || v.shape()[2] != keys ||
      k.shape()[3] != size)
    c.Refuse("queries have shape " + Text(q.shape()) + ", keys " + Text(k.shape()) + ", values " + Text(v.shape()));
  const int dtype = q.dtype();
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(size));
  const int64_t rows = heads / groups * queries;  // heads that share keys are rows of one product
  AttentionResult r;
  const bool both = IsHalf(dtype);  // halves overflow less when both are scaled
  const Value left = c.Reshape(MulNumber(c, q, both ? std::sqrt(scale) : scale), Shape{batch * groups, rows, size});
  const Value right = c.Reshape(both ? MulNumber(c, k, std::sqrt(scale)) : k, Shape{batch * groups, keys, size});
  r.raw = c.Reshape(c.Op("batch_dot", {left, right}, {{"transpose_b", "True"}}), Shape{batch, heads, queries, keys});
  r.capped = options.softcap > 0 ? MulNumber(c, Unary(c, "tanh", MulNumber(c, r.raw, 1 / options.softcap)), options.softcap) : r.raw;
  r.biased = AddBias(c, r.capped, bias);
  const int in = options.softmax_dtype == kDTypeUnknown ? dtype : options.softmax_dtype;
  Value scores = c.Cast(r.biased, in);
  if (options.change_scores) scores = options.change_scores(scores);
  Value weights = c.Op("softmax", {scores}, {{"axis", "-1"}});
  if (options.empty_rows && bias.kind != Value::kNone && keys > 0) {
    const Value empty = BinaryNumber(c, "equal", Reduce(c, "max", c.Cast(bias, kFloat32), {bias.ndim() - 1}, true), kNever);
    weights = Where(c, empty, c.Scalar(0, in), weights);
  }
  if (options.change_weights) weights = options.change_weights(weights);
  r.weights = c.Cast(weights, dtype);
  const Value mixed =
      c.Op("batch_dot", {c.Reshape(r.weights, Shape{batch * groups, rows, keys}), c.Reshape(v, Shape{batch * groups, keys, out})});
  r.y = c.Reshape(mixed, Shape{batch, heads, queries, out});
  return r;
}

Value Rotate(const Call& c, const Value& x, const Value& cos, const Value& sin, int64_t turned, bool interleaved) {
  const Shape& s = x.shape();
  const int64_t half = turned / 2;
  if (turned < 2 || turned % 2 || turned > s[3]) c.Refuse("rotary dimension " + Text(turned) + " of heads of size " + Text(s[3]));
  const Value turning = SliceAxis(c, x, 3, 0, turned);
  Value first, second;
  if (interleaved) {
    const Value pairs = c.Reshape(turning, Shape{s[0], s[1], s[2], half, 2});
    first = c.Reshape(SliceAxis(c, pairs, 4, 0, 1), Shape{s[0], s[1], s[2], half});
    second = c.Reshape(SliceAxis(c, pairs, 4, 1, 2), Shape{s[0], s[1], s[2], half});
  } else {
    first = SliceAxis(c, turning, 3, 0, half), second = SliceAxis(c, turning, 3, half, turned);
  }
  const Value real = Sub(c, Mul(c, first, cos), Mul(c, second, sin)), imaginary = Add(c, Mul(c, first, sin), Mul(c, second, cos));
  Value y;
  if (interleaved) {
    const Shape one{s[0], s[1], s[2], half, 1};
    y = c.Reshape(Concat(c, {c.Reshape(real, one), c.Reshape(imaginary, one)}, 4), turning.shape());
  } else {
    y = Concat(c, {real, imaginary}, 3);
  }
  return turned == s[3] ? y : Concat(c, {y, SliceAxis(c, x, 3, turned, s[3])}, 3);
}

namespace {

/* What a boolean or additive mask, whose last axis may be shorter than keys, adds. */
Value MaskBias(const Call& c, const Value& mask, int64_t keys, int dtype) {
  Value bias = mask.dtype() == kBool ? BiasOfMask(c, mask, dtype, kNever) : c.Cast(mask, dtype);
  if (mask.ndim() < 1) return bias;
  const int last = mask.ndim() - 1;
  const int64_t more = keys - mask.shape()[last];
  if (more <= 0) return bias;
  Sizes after(static_cast<size_t>(mask.ndim()), 0);
  after[static_cast<size_t>(last)] = more;
  return Pad(c, bias, Sizes(after.size(), 0), after, kNever);
}

/* Bias (batch, 1, queries, keys) of caches that are filled to different lengths. */
Value LengthBias(const Call& c, const Value& lengths, int64_t queries, int64_t keys, bool causal, int64_t left, int64_t right, int dtype) {
  const int64_t batch = lengths.size();
  Sizes places;
  for (int64_t j = 0; j < std::max(queries, keys); ++j) places.push_back(j);
  const auto along = [&](int64_t n, const Sizes& shape) { return IntsLike(c, Sizes(places.begin(), places.begin() + n), shape); };
  const Value length = c.Reshape(c.Cast(lengths, kInt64), Shape{batch, 1, 1, 1});
  const Value key = along(keys, {1, 1, 1, keys}),
              own = Add(c, along(queries, {1, 1, queries, 1}), AddNumber(c, length, -static_cast<double>(queries)));
  Value seen = Binary(c, "less", key, length);
  const auto also = [&](const Value& more) { seen = Binary(c, "logical_and", seen, more); };
  if (causal) also(Binary(c, "less_equal", key, own));
  if (left >= 0) also(Binary(c, "greater_equal", key, AddNumber(c, own, -static_cast<double>(left))));
  if (right >= 0) also(Binary(c, "less_equal", key, AddNumber(c, own, static_cast<double>(right))));
  return BiasOfMask(c, seen, dtype, kNever);
}

/* Caches outside of the node, filled to `lengths`: attention that reads no more of them. False: it
 * has no kernel for that. */
bool AttendFilled(Call& c, double scale, double softcap, bool causal, int64_t left, int64_t right) {
  const Value &q = c.in(0), k = Cache(c, c.in(1)), v = Cache(c, c.in(2));
  const bool bounded = right >= 0 && !causal;
  if (!c.has(6) || c.has(4) || c.has(5) || c.wants(1) || c.wants(2) || c.wants(3) || q.dtype() != kFloat32 || bounded ||
      k.dtype() != v.dtype() || k.ndim() != v.ndim() || (k.dtype() != kFloat32 && k.dtype() != kFloat16))
    return false;
  CachedAttention a;
  const Shape &s = q.shape(), &ks = k.shape();
  const bool flat = q.ndim() == 3;
  a.heads = flat ? c.Attr("q_num_heads", int64_t{0}) : s[1], a.groups = k.ndim() == 3 ? c.Attr("kv_num_heads", int64_t{0}) : ks[1];
  const int64_t steps = flat ? s[1] : s[2], keys = k.ndim() == 3 ? ks[1] : ks[2];
  if (a.heads < 1 || a.groups < 1 || c.in(6).shape() != Shape{s[0]}) return false;
  if (c.has(3)) {
    const Value mask = MaskBias(c, c.in(3), keys, kFloat32);
    if (mask.ndim() < 1 || mask.ndim() > 4) return false;
    Sizes dims = DimsOf(mask.shape());
    dims.insert(dims.begin(), static_cast<size_t>(4 - mask.ndim()), 1);
    a.mask = c.Reshape(mask, Shape(dims));
  }
  a.query = flat ? q : JoinHeads(c, q), a.key = k, a.value = v;
  a.lengths = c.Cast(c.in(6), kInt64);
  a.starts = AddNumber(c, a.lengths, -static_cast<double>(steps));
  a.window = left >= 0 ? left + 1 : 0, a.scale = scale, a.softcap = softcap, a.causal = causal;
  const Value y = AttendCached(c, a);
  c.Out(0, flat ? y : SplitHeads(c, y, a.heads));
  return true;
}

void ConvertAttention(Call& c) {
  const int64_t q_heads = c.Attr("q_num_heads", int64_t{0}), kv_heads = c.Attr("kv_num_heads", int64_t{0});
  const bool causal = c.Attr("is_causal", int64_t{0}) != 0, flat = c.in(0).ndim() == 3;
  const int64_t mode = c.Attr("qk_matmul_output_mode", int64_t{0});
  const int64_t left = c.Attr("left_window_size", int64_t{-1}), right = c.Attr("right_window_size", int64_t{-1});
  if (mode < 0 || mode > 3) c.Refuse("attribute qk_matmul_output_mode is " + Text(mode) + "; accepted are 0 to 3");
  if (left < -1 || right < -1) c.Refuse("window sizes are " + Text(left) + " and " + Text(right) + "; accepted are -1 and up");
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f), options.softcap = c.Attr("softcap", 0.0f);
  if (c.Attr("softmax_precision", int64_t{0}) != 0) options.softmax_dtype = c.DTypeAttr("softmax_precision", kFloat32);
  for (int i = 0; i < 3; ++i) CheckRank(c, i, 3, 4);
  if (AttendFilled(c, options.scale, options.softcap, causal, left, right)) return;
  const auto heads = [&](int i, int64_t n) { return c.in(i).ndim() == 3 ? SplitHeads(c, c.in(i), n) : c.in(i); };
  const Value q = heads(0, q_heads);
  Value k = heads(1, kv_heads), v = heads(2, kv_heads);
  const int64_t past = c.has(4) ? c.in(4).shape()[2] : 0;
  if (c.has(4)) k = Concat(c, {c.in(4), k}, 2);
  if (c.has(5)) v = Concat(c, {c.in(5), v}, 2);
  const int dtype = q.dtype();
  const int64_t queries = q.shape()[2], keys = k.shape()[2];
  Value bias;
  if (c.has(3)) bias = MaskBias(c, c.in(3), keys, dtype);
  if (c.has(6)) {
    bias = AddBias(c, bias, LengthBias(c, c.in(6), queries, keys, causal, left, right, dtype));
  } else if (causal || left >= 0 || right >= 0) {
    const int64_t bound = causal ? (right >= 0 ? std::min<int64_t>(0, right) : 0) : right;
    bias = AddBias(c, bias, WindowBias(c, queries, keys, past, left, bound, dtype));
  }
  options.empty_rows = c.has(3) || c.has(6) || left >= 0 || right >= 0;
  const AttentionResult r = Attend(c, q, k, v, bias, options);
  c.Out(0, flat ? JoinHeads(c, r.y) : r.y);
  if (c.wants(1)) c.Out(1, k);
  if (c.wants(2)) c.Out(2, v);
  if (!c.wants(3)) return;
  const Value shown = mode == 0 ? r.raw : mode == 1 ? r.capped : mode == 2 ? r.biased : r.weights;
  c.Out(3, mode == 0 && options.softcap > 0 ? r.capped : shown);
}

void ConvertRotary(Call& c) {
  CheckRank(c, 0, 3, 4);
  const Value& x = c.in(0);
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const bool interleaved = c.Attr("interleaved", int64_t{0}) != 0, flat = x.ndim() == 3;
  int64_t turned = c.Attr("rotary_embedding_dim", int64_t{0});
  if (flat && (heads < 1 || x.shape()[2] % heads))
    c.Refuse("attribute num_heads is " + Text(heads) + " for data of shape " + Text(x.shape()));
  const Value apart = flat ? c.Reshape(x, Shape{x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads}) : c.Transpose(x, {0, 2, 1, 3});
  if (turned == 0) turned = apart.shape()[3];
  const auto angles = [&](int i) {
    const Value rows = c.has(3) ? TakeRows(c, c.in(i), c.in(3)) : c.in(i);
    Sizes shape = DimsOf(rows.shape());
    if (shape.size() < 2 || shape.back() != turned / 2)
      c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()) + " for rotary dimension " + Text(turned));
    shape.insert(shape.end() - 1, 1);
    return c.Reshape(rows, Shape(shape));
  };
  const Value y = Rotate(c, apart, angles(1), angles(2), turned, interleaved);
  c.Out(flat ? c.Reshape(y, x.shape()) : c.Transpose(y, {0, 2, 1, 3}));
}

}  // namespace

const Rules& AttentionRules() {
  static const Rules rules = {
      {"", "Attention", 23, kNewest, ConvertAttention, nullptr},
      {"", "RotaryEmbedding", 23, kNewest, ConvertRotary, nullptr},
      {"", "LinearAttention", 27, kNewest, ConvertLinearAttention, nullptr},
      {"", "CausalConvWithState", 27, kNewest, ConvertCausalConv, nullptr},
      {"ai.onnx.preview", "FlexAttention", 1, kNewest, ConvertFlexAttention, nullptr},
      {"com.microsoft", "MultiHeadAttention", 1, kNewest, ConvertMultiHeadAttention, nullptr},
      {"com.microsoft", "Attention", 1, kNewest, ConvertMicrosoftAttention, nullptr},
      {"com.microsoft", "LinearAttention", 1, kNewest, ConvertLinearAttention, nullptr},
      {"com.microsoft", "CausalConvWithState", 1, kNewest, ConvertCausalConv, nullptr},
      {"com.microsoft", "GatedDeltaNet", 1, kNewest, ConvertGatedDeltaNet, nullptr},
      {"com.microsoft", "VarlenCausalConvWithState", 1, kNewest, ConvertVarlenCausalConv, nullptr},
      {"com.microsoft", "LinearAttentionGate", 1, kNewest, ConvertLinearAttentionGate, nullptr},
      {"com.microsoft", "GatedRMSNorm", 1, kNewest, ConvertGatedNorm, nullptr},
      {"com.microsoft", "ScaledSiLU", 1, kNewest, ConvertScaledSilu, nullptr},
      {"com.microsoft", "GatedAdd", 1, kNewest, ConvertGatedAdd, nullptr},
      {"com.microsoft", "MRotaryEmbedding", 1, kNewest, ConvertSectionedRotary, nullptr},
      {"com.microsoft", "GemmaRotaryEmbedding", 1, kNewest, ConvertGemmaRotary, nullptr},
      {"com.microsoft", "QAttention", 1, kNewest, ConvertQuantizedAttention, nullptr},
      {"com.microsoft", "DecoderMaskedMultiHeadAttention", 1, kNewest, ConvertDecoderMaskedAttention, nullptr},
      {"com.microsoft", "GroupQueryAttention", 1, kNewest, ConvertGroupQueryAttention, nullptr},
      {"com.microsoft", "PackedAttention", 1, kNewest, ConvertPackedAttention, nullptr},
      {"com.microsoft", "PackedMultiHeadAttention", 1, kNewest, ConvertPackedMultiHeadAttention, nullptr},
      {"com.microsoft", "SparseAttention", 1, kNewest, ConvertSparseAttention, nullptr},
      {"com.microsoft", "RemovePadding", 1, kNewest, ConvertRemovePadding, nullptr},
      {"com.microsoft", "RestorePadding", 1, kNewest, ConvertRestorePadding, nullptr},
      {"com.microsoft", "RelativePositionBias", 1, kNewest, ConvertRelativePositionBias, nullptr},
      {"com.microsoft", "GatedRelativePositionBias", 1, kNewest, ConvertGatedRelativePositionBias, nullptr},
      {"com.microsoft", "RotaryEmbedding", 1, kNewest, ConvertMicrosoftRotary, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
