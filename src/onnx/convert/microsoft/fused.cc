// What onnxruntime's optimizer writes in the place of several nodes.
#include <algorithm>
#include <cmath>
#include <functional>

#include "onnx/convert/neural/norm.h"
#include "onnx/convert/quantized/quantized.h"

namespace mxnet {
namespace onnx {

namespace {

Value Gelu(const Call& c, const Value& x) { return c.Op("LeakyReLU", {x}, {{"act_type", "gelu"}}); }

Value TanhGelu(const Call& c, const Value& x) {  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  const Value inner = MulNumber(c, Mul(c, x, AddNumber(c, MulNumber(c, Mul(c, x, x), 0.044715), 1)), std::sqrt(2 / std::acos(-1.0)));
  return MulNumber(c, Mul(c, x, AddNumber(c, Unary(c, "tanh", inner), 1)), 0.5);
}

Value MaybeAdd(const Call& c, const Value& x, int i) { return c.has(i) ? Add(c, x, c.in(i)) : x; }

void ConvertBiasGelu(Call& c) { c.Out(Gelu(c, MaybeAdd(c, c.in(0), 1))); }
void ConvertFastGelu(Call& c) { c.Out(TanhGelu(c, MaybeAdd(c, c.in(0), 1))); }
void ConvertQuickGelu(Call& c) {
  const Value& x = c.in(0);
  c.Out(Mul(c, x, Sigmoid(c, MulNumber(c, x, c.Attr("alpha", 1.702f)))));
}

Value Activated(const Call& c, const Value& x) {
  const std::string name = c.Attr("activation", "");
  const std::vector<float> numbers = c.Attr("activation_params", std::vector<float>{});
  const auto number = [&](size_t i, double otherwise) { return i < numbers.size() ? static_cast<double>(numbers[i]) : otherwise; };
  switch (OneOf(c, "activation", name, {"", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid", "Softplus"})) {
    case 0: return x;
    case 1: return c.Op("relu", {x});
    case 2: return Sigmoid(c, x);
    case 3: return Unary(c, "tanh", x);
    case 4: return c.Op("LeakyReLU", {x}, {{"act_type", "leaky"}, {"slope", Text(number(0, 0.01))}});
    case 5: return Clip(c, x, number(0, -3.4028234663852886e38), number(1, 3.4028234663852886e38));
    case 6: return Clip(c, AddNumber(c, MulNumber(c, x, number(0, 0.2)), number(1, 0.5)), 0, 1);
    default: return c.Op("Activation", {x}, {{"act_type", "softrelu"}});
  }
}

void ConvertGemmFastGelu(Call& c) {  // X, W (input, output), bias
  CheckRank(c, 1, 2, 2);
  c.Out(TanhGelu(c, MaybeAdd(c, MatMul(c, c.in(0), c.in(1)), 2)));
}

void ConvertFusedConv(Call& c) {  // X, W, B, Z (added before the activation)
  CheckRank(c, 0, 3, 5);
  CheckRank(c, 1, c.in(0).ndim(), c.in(0).ndim());
  const Value &x = c.in(0), &w = c.in(1);
  const Window window = ReadWindow(c, Spatial(x.shape()), ReadKernel(c, Spatial(w.shape()), static_cast<size_t>(x.ndim() - 2)), false);
  const Value y = Convolve(c, x, w, c.has(2) ? c.in(2) : Value(), window, c.Attr("group", int64_t{1}));
  c.Out(Activated(c, MaybeAdd(c, y, 3)));
}

void ConvertFusedGemm(Call& c) {
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 2, 2);
  const Value a = c.Attr("transA", int64_t{0}) ? c.Transpose(c.in(0), {1, 0}) : c.in(0);
  const Value b = c.Attr("transB", int64_t{0}) ? c.in(1) : c.Transpose(c.in(1), {1, 0});
  const double alpha = c.Attr("alpha", 1.0f), beta = c.Attr("beta", 1.0f);
  const Value weight = alpha == 1 ? b : MulNumber(c, b, alpha);
  const bool bias = c.has(2) && c.in(2).ndim() == 1 && c.in(2).size() == b.shape()[0];
  const auto scaled = [&] { return beta == 1 ? c.in(2) : MulNumber(c, c.in(2), beta); };
  Value y = Dense(c, a, weight, bias ? scaled() : Value());
  if (c.has(2) && !bias) y = Add(c, y, scaled());
  const double leak = c.Attr("activation_alpha", 0.01f);
  c.Ignore("activation_beta"), c.Ignore("activation_gamma");
  if (c.Attr("activation", "") == "LeakyRelu") return c.Out(c.Op("LeakyReLU", {y}, {{"act_type", "leaky"}, {"slope", Text(leak)}}));
  c.Out(Activated(c, y));
}

void ConvertFusedMatMul(Call& c) {
  // rows may be the first dimension, before those of the batch
  const auto read = [&](int i, const char* batch, const char* matrix) {
    const Value& x = c.in(i);
    Sizes order;
    for (int d = 0; d < x.ndim(); ++d) order.push_back(d);
    if (c.Attr(batch, int64_t{0}) != 0 && x.ndim() > 2) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (matrix && c.Attr(matrix, int64_t{0}) != 0 && x.ndim() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
    return c.Transpose(x, order);
  };
  const double alpha = c.Attr("alpha", 1.0f);
  const Value a = read(0, "transBatchA", "transA"), b = read(1, "transBatchB", nullptr);
  const bool across = c.Attr("transB", int64_t{0}) != 0;
  Value y;
  if (b.known() && b.ndim() == 2 && a.ndim() >= 2) {
    y = Dense(c, a, across ? b : c.Transpose(b, {1, 0}));
  } else {
    y = MatMul(c, a, b, across && b.ndim() >= 2);
  }
  c.Out(alpha == 1 ? y : MulNumber(c, y, alpha));
}

/* input, skip, gamma, beta, bias -> output, mean, deviation, sum. `argument`: plain for root mean
 * squares, which have no beta. */
void ConvertSkipNorm(Call& c) {
  const bool plain = c.argument != nullptr;
  const double epsilon = c.Attr("epsilon", 1e-12f);
  Value sum = Add(c, c.in(0), c.in(1));
  sum = MaybeAdd(c, sum, plain ? 3 : 4);
  const int axis = sum.ndim() - 1;
  if (axis < 0) c.Refuse("data has shape ()");
  if (plain) {
    const Value wide = IsHalf(sum.dtype()) ? c.Cast(sum, kFloat32) : sum;
    c.Out(0, Mul(c, c.Cast(Mul(c, wide, RootMeanSquare(c, wide, axis, epsilon)), c.in(2).dtype()), c.in(2)));
  } else {
    c.Out(0, NormRows(c, sum, axis, epsilon, c.in(2), c.has(3) ? c.in(3) : Value()));
  }
  for (int i = 1; i <= 2; ++i)
    if (c.wants(i)) c.Refuse("output " + Text(i) + " is read; accepted are outputs 0 and 3");
  if (c.wants(3)) c.Out(3, sum);
}

/* ids, segments, three tables, gamma, beta, mask, positions -> output, lengths, sum. `rows`: of the
 * table that is an input; `whole`: the input, as floats. */
void EmbedNorm(Call& c, const Value& position, const std::function<Value(int, const Value&)>& rows, const std::function<Value(int)>& whole,
               bool lengths) {
  CheckRank(c, 0, 2, 2);
  const int64_t batch = c.in(0).shape()[0];
  const double epsilon = c.Attr("epsilon", 1e-12f);
  Value sum = Add(c, rows(2, c.in(0)), rows(3, position));
  if (c.has(1) && c.has(4)) sum = Add(c, sum, rows(4, c.in(1)));
  c.Out(0, NormRows(c, sum, 2, epsilon, whole(5), whole(6)));
  if (c.wants(1)) c.Out(1, lengths && c.has(7) ? c.Cast(Sum(c, c.in(7), {1}, false), kInt32) : c.Filled(Shape{batch}, kInt32, 0));
  if (c.wants(2)) c.Out(2, sum);
}

void ConvertEmbedNorm(Call& c) {
  const bool lengths = c.Attr("mask_index_type", int64_t{c.has(7) ? 1 : 0}) == 1;
  const Value position = c.has(8) ? c.in(8) : CountUp(c, c.in(0).shape()[1]);
  EmbedNorm(
      c, position, [&](int i, const Value& ids) { return TakeRows(c, c.in(i), ids); }, [&](int i) { return c.in(i); }, lengths);
}

/* Behind the mask there are scales and zero points of the tables, gamma and beta. */
void ConvertQuantizedEmbedNorm(Call& c) {
  const auto stands_for = [&](int i, const Value& numbers) {
    const auto one = [&](int at) { return c.Reshape(c.in(at), Shape(0)); };
    return Dequantized(c, numbers, one(i + 6), one(i + 11));
  };
  const auto rows = [&](int i, const Value& ids) {  // what is trained are the floats of a table
    return c.ForTraining() ? TakeRows(c, stands_for(i, c.in(i)), ids) : stands_for(i, TakeRows(c, c.in(i), ids));
  };
  EmbedNorm(
      c, CountUp(c, c.in(0).shape()[1]), rows, [&](int i) { return stands_for(i, c.in(i)); }, true);
}

void ConvertBiasSoftmax(Call& c) {
  const Value x = Add(c, c.in(0), c.in(1));
  const int axis = c.Axis(c.Attr("axis", int64_t{1}), x.ndim());
  c.Ignore("is_inner_broadcast");
  const Value flat = c.Reshape(x, Shape{x.shape().Prod(0, axis), x.shape().Prod(axis, x.ndim())});
  c.Out(c.Reshape(c.Op("softmax", {flat}, {{"axis", "-1"}}), x.shape()));
}

void ConvertBiasSplitGelu(Call& c) {
  const Value x = Add(c, c.in(0), c.in(1));
  const auto parts = Split(c, x, x.ndim() - 1, 2);
  c.Out(Mul(c, parts[0], Gelu(c, parts[1])));
}

}  // namespace

const Rules& FusedRules() {
  static const Rules rules = {
      {"ai.onnx.preview.training", "Adagrad", 1, kNewest, ConvertAdagrad, nullptr},
      {"ai.onnx.preview.training", "Adam", 1, kNewest, ConvertAdam, nullptr},
      {"ai.onnx.preview.training", "Momentum", 1, kNewest, ConvertMomentum, nullptr},
      {"com.microsoft", "BiasGelu", 1, kNewest, ConvertBiasGelu, nullptr},
      {"com.microsoft", "Gelu", 1, kNewest, ConvertBiasGelu, nullptr},
      {"com.microsoft", "FastGelu", 1, kNewest, ConvertFastGelu, nullptr},
      {"com.microsoft", "QuickGelu", 1, kNewest, ConvertQuickGelu, nullptr},
      {"com.microsoft", "FusedConv", 1, kNewest, ConvertFusedConv, nullptr},
      {"com.microsoft", "FusedGemm", 1, kNewest, ConvertFusedGemm, nullptr},
      {"com.microsoft", "FusedMatMul", 1, kNewest, ConvertFusedMatMul, nullptr},
      {"com.microsoft", "TransposeMatMul", 1, kNewest, ConvertFusedMatMul, nullptr},
      {"com.microsoft", "SparseToDenseMatMul", 1, kNewest, ConvertFusedMatMul, nullptr},  // the reader writes sparse weights out
      {"com.microsoft", "SkipLayerNormalization", 1, kNewest, ConvertSkipNorm, nullptr},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, kNewest, ConvertSkipNorm, "plain"},
      {"com.microsoft", "EmbedLayerNormalization", 1, kNewest, ConvertEmbedNorm, nullptr},
      {"com.microsoft", "BiasSoftmax", 1, kNewest, ConvertBiasSoftmax, nullptr},
      {"com.microsoft", "BiasSplitGelu", 1, kNewest, ConvertBiasSplitGelu, nullptr},
      {"com.microsoft", "GemmFastGelu", 1, kNewest, ConvertGemmFastGelu, nullptr},
      {"com.microsoft", "GroupNorm", 1, kNewest, ConvertMicrosoftGroupNorm, nullptr},
      {"com.microsoft", "SkipGroupNorm", 1, kNewest, ConvertSkipGroupNorm, nullptr},
      {"com.microsoft", "BiasAdd", 1, kNewest, ConvertBiasAdd, nullptr},
      {"com.microsoft", "QEmbedLayerNormalization", 1, kNewest, ConvertQuantizedEmbedNorm, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
