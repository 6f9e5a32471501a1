// Normalisation, softmax, dropout.
#include "onnx/convert/neural/norm.h"

#include <algorithm>
#include <numeric>

#include "onnx/convert/pointwise.h"

namespace mxnet {
namespace onnx {

Value WithScale(const Call& c, const Value& x, const Value& scale, const Value& bias) {
  Value y = x;
  if (scale.kind != Value::kNone) y = Mul(c, y, scale);
  if (bias.kind != Value::kNone) y = Add(c, y, bias);
  return y;
}

Value NormRows(const Call& c, const Value& x, int axis, double epsilon, const Value& scale, const Value& bias) {
  int64_t size = 1;
  for (int i = axis; i < x.ndim(); ++i) size *= x.dim(i);
  const auto fits = [&](const Value& v) {
    return v.kind == Value::kNone || (v.size() == size && v.dtype() == x.dtype() && v.ndim() <= x.ndim() - axis);
  };
  const bool inside = fits(scale) && fits(bias);
  const bool last = axis == x.ndim() - 1;
  const Value rows = last ? x : c.ReshapeTo(x, {-1, size});
  const auto flat = [&](const Value& v, double otherwise) {
    return inside && v.kind != Value::kNone ? c.Reshape(v, Shape{size}) : c.Filled(Shape{size}, x.dtype(), otherwise);
  };
  Value y = c.Op("LayerNorm", {rows, flat(scale, 1), flat(bias, 0)}, {{"axis", "-1"}, {"eps", Text(epsilon)}});
  if (!last) y = c.Reshape(y, x.shape());
  return inside ? y : WithScale(c, y, scale, bias);
}

Value RootMeanSquare(const Call& c, const Value& x, int axis, double epsilon) {
  Sizes axes;
  for (int i = axis; i < x.ndim(); ++i) axes.push_back(i);
  return c.Op("rsqrt", {AddNumber(c, Mean(c, Mul(c, x, x), axes, true), epsilon)});
}

namespace {

Sizes From(int axis, int rank) {
  Sizes axes;
  for (int i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

/* float16 and bfloat16 in float32, as stash_type says. */
Value Stashed(const Call& c, const Value& x) {
  const int64_t type = c.Attr("stash_type", int64_t{1});
  if (type != 1 && type != 10 && type != 11 && type != 16)
    c.Refuse("attribute stash_type is " + Text(type) + "; accepted are 1, 10, 11 and 16");
  if (type == 11) return c.Cast(x, kFloat64);
  return IsHalf(x.dtype()) && type == 1 ? c.Cast(x, kFloat32) : x;
}

Sizes ChannelShape(const Shape& x) {
  Sizes shape(static_cast<size_t>(x.ndim()), 1);
  if (x.ndim() > 1) shape[1] = x[1];
  return shape;
}

/* In a block that is trained the layer is that of Gluon: statistics of the batch while gradients
 * are recorded, which move the averages, and the averages when it predicts. */
bool IsBlocksBatchNorm(const Call& c) { return c.ForTraining() && c.in(3).known() && c.in(4).known(); }

Value BatchNorm(const Call& c, double epsilon, double momentum, bool training) {
  const Value& x = c.in(0);
  const int kept = IsHalf(x.dtype()) ? kFloat32 : x.dtype();
  std::vector<Value> operands = {x.ndim() == 1 ? c.Reshape(x, Shape{x.size(), 1}) : x};
  for (int i = 1; i <= 4; ++i) operands.push_back(c.Cast(c.in(i), kept));
  AttrDict attrs = {{"eps", Text(epsilon)}, {"fix_gamma", "False"}, {"use_global_stats", training ? "False" : "True"}};
  if (training) attrs["momentum"] = Text(momentum);
  const Value y = c.Op("BatchNorm", operands, attrs);
  return x.ndim() == 1 ? c.Reshape(y, x.shape()) : y;  // a look at all of a shape would bind a Recipe to it
}

void TrainBatchNorm(Call& c, double epsilon, double momentum) {
  const Value x = IsHalf(c.in(0).dtype()) ? c.Cast(c.in(0), kFloat32) : c.in(0);
  Sizes axes = {0};
  for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
  const Value mean = Mean(c, x, axes, true), centred = Sub(c, x, mean);
  const Value variance = Mean(c, Mul(c, centred, centred), axes, true);
  const Shape channels(ChannelShape(x.shape()));
  const auto broad = [&](int i) { return c.Reshape(c.Cast(c.in(i), x.dtype()), channels); };
  if (IsBlocksBatchNorm(c)) {
    c.Out(0, BatchNorm(c, epsilon, momentum, true));
  } else {
    const Value y = WithScale(c, Mul(c, centred, c.Op("rsqrt", {AddNumber(c, variance, epsilon)})), broad(1), broad(2));
    c.Out(0, c.Cast(y, c.in(0).dtype()));
  }
  for (int i = 1; i <= 2; ++i) {
    if (!c.wants(i)) continue;
    const Value& old = c.in(i + 2);
    const Value now = c.Cast(c.Reshape(i == 1 ? mean : variance, old.shape()), old.dtype());
    c.Out(i, Add(c, MulNumber(c, old, momentum), MulNumber(c, now, 1 - momentum)));
  }
  // Before opset 14 also what the gradient would use, which onnxruntime scales so.
  if (c.wants(3)) c.Out(3, c.Cast(c.Reshape(mean, c.in(3).shape()), c.in(3).dtype()));
  if (c.wants(4)) c.Out(4, c.Cast(c.Reshape(c.Op("rsqrt", {AddNumber(c, variance, epsilon)}), c.in(4).shape()), c.in(4).dtype()));
}

void ConvertBatchNorm(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const double epsilon = c.Attr("epsilon", 1e-5f), momentum = c.Attr("momentum", 0.9f);
  c.Ignore("consumed_inputs");
  c.Ignore("is_test");
  if (c.Attr("spatial", int64_t{1}) != 1) c.Refuse("attribute spatial is 0; accepted is 1");
  bool training = c.opset >= 14 && c.Attr("training_mode", int64_t{0}) != 0;
  for (int i = 1; i < c.num_outputs(); ++i) training = training || (c.opset < 14 && c.wants(i));  // which said so
  for (int i = 1; i <= 4; ++i)
    if (c.in(i).ndim() != 1 || c.in(i).size() != (x.ndim() > 1 ? x.dim(1) : 1))
      c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()) + " for data of shape " + Text(x.shape()));
  if (training) return TrainBatchNorm(c, epsilon, momentum);
  for (int i = 1; i < c.num_outputs(); ++i)
    if (c.wants(i)) c.Refuse("output " + Text(i) + " is read, which only training gives");
  c.Out(BatchNorm(c, epsilon, momentum, false));
}

void ConvertLayerNorm(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", int64_t{-1}), x.ndim());
  const double epsilon = c.Attr("epsilon", 1e-5f);
  const Value stashed = Stashed(c, x);
  if (c.wants(1) || c.wants(2)) {
    const Sizes axes = From(axis, x.ndim());
    const Value mean = Mean(c, stashed, axes, true), centred = Sub(c, stashed, mean);
    if (c.wants(1)) c.Out(1, mean);
    if (c.wants(2)) c.Out(2, c.Op("rsqrt", {AddNumber(c, Mean(c, Mul(c, centred, centred), axes, true), epsilon)}));
  }
  // The operator computes halves in float32.
  c.Out(0, NormRows(c, x, axis, epsilon, c.has(1) ? c.in(1) : Value(), c.has(2) ? c.in(2) : Value()));
}

void ConvertRMSNorm(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", int64_t{-1}), x.ndim());
  const double epsilon = c.Attr("epsilon", 1e-5f);
  const Value stashed = Stashed(c, x), factor = RootMeanSquare(c, stashed, axis, epsilon);
  if (c.wants(1)) c.Out(1, factor);  // SimplifiedLayerNormalization
  const Value y = c.Cast(Mul(c, stashed, factor), c.in(1).dtype());
  c.Out(0, Mul(c, y, c.in(1)));
}

void ConvertGroupNorm(Call& c) {
  CheckRank(c, 0, 2, 32);
  const Value& x = c.in(0);
  const int64_t groups = c.Attr("num_groups", int64_t{0}), channels = x.shape()[1];
  const double epsilon = c.Attr("epsilon", 1e-5f);
  if (groups < 1 || channels % groups) c.Refuse("attribute num_groups is " + Text(groups) + " for " + Text(channels) + " channels");
  if (c.opset >= 21) Stashed(c, x);
  const int64_t wanted = c.opset >= 21 ? channels : groups;
  for (int i = 1; i <= 2; ++i)
    if (c.in(i).size() != wanted)
      c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()) + "; accepted is (" + Text(wanted) + ",)");
  const auto full = [&](int i) {  // of each channel
    const Value& v = c.in(i);
    return v.size() == channels ? v : c.Op("repeat", {v}, {{"repeats", Text(channels / groups)}, {"axis", "0"}});
  };
  const Value data = x.ndim() > 2 ? x : c.Reshape(x, Shape{x.shape()[0], channels, 1});
  c.Out(c.Reshape(c.Op("GroupNorm", {data, full(1), full(2)}, {{"num_groups", Text(groups)}, {"eps", Text(epsilon)}}), x.shape()));
}

void ConvertInstanceNorm(Call& c) {
  CheckRank(c, 0, 3, 32);
  c.Ignore("consumed_inputs");
  c.Out(c.Op("InstanceNorm", {c.in(0), c.in(1), c.in(2)}, {{"eps", Text(double(c.Attr("epsilon", 1e-5f)))}}));
}

void ConvertMeanVariance(Call& c) {
  const Value& x = c.in(0);
  const Sizes axes = c.Axes(c.Attr("axes", Sizes{0, 2, 3}), x.ndim());
  const Value centred = Sub(c, x, Mean(c, x, axes, true));
  c.Out(Div(c, centred, AddNumber(c, Unary(c, "sqrt", Mean(c, Mul(c, centred, centred), axes, true)), 1e-9)));
}

void ConvertLpNorm(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", int64_t{-1}), x.ndim());
  const int64_t p = c.Attr("p", int64_t{2});
  if (p != 1 && p != 2) c.Refuse("attribute p is " + Text(p) + "; accepted are 1 and 2");
  const Value norm = p == 1 ? Sum(c, Unary(c, "abs", x), {axis}, true) : Root(c, Sum(c, Mul(c, x, x), {axis}, true));
  const Value zero = BinaryNumber(c, "equal", norm, 0);
  c.Out(Div(c, x, Where(c, zero, c.Scalar(1, x.dtype()), norm)));
}

/* Before opset 13 everything from the axis on was one row. */
void ConvertSoftmax(Call& c) {
  const Value& x = c.in(0);
  const bool rows = c.opset < 13;
  const int64_t given = c.Attr("axis", rows ? int64_t{1} : int64_t{-1});
  if (x.ndim() == 0) return c.Out(c.Reshape(c.Op(c.argument, {c.Reshape(x, Shape{1})}), x.shape()));
  if (rows && given == x.ndim()) {  // each element is a row
    return c.Out(c.Reshape(c.Op(c.argument, {c.Reshape(x, Shape{x.size(), 1})}), x.shape()));
  }
  const int axis = c.Axis(given, x.ndim());
  if (!rows || axis == x.ndim() - 1) return c.Out(c.Op(c.argument, {x}, {{"axis", Text(axis)}}));
  const Value flat = c.Reshape(x, Shape{x.shape().Prod(0, axis), x.shape().Prod(axis, x.ndim())});
  c.Out(c.Reshape(c.Op(c.argument, {flat}, {{"axis", "-1"}}), x.shape()));
}

void ConvertHardmax(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const bool rows = c.opset < 13;
  const int axis = c.Axis(c.Attr("axis", rows ? int64_t{1} : int64_t{-1}), x.ndim());
  Sizes order;
  for (int i = 0; i < x.ndim(); ++i) order.push_back(i);
  if (!rows) std::swap(order[static_cast<size_t>(axis)], order.back());
  const Value last = c.Transpose(x, order);
  const int64_t size = rows ? x.shape().Prod(axis, x.ndim()) : x.shape()[axis];
  if (x.size() == 0) return c.Out(x);
  const Value flat = c.Reshape(last, Shape{x.size() / size, size});
  const Value most = c.Op("_npi_argmax", {flat}, {{"axis", "1"}});
  c.Out(c.Transpose(c.Reshape(c.Cast(c.Op("one_hot", {most}, {{"depth", Text(size)}}), x.dtype()), last.shape()), order));
}

void ConvertDropout(Call& c) {
  const Value& x = c.in(0);
  double ratio = 0.5;
  bool training = false;
  c.Ignore("seed");  // of a generator that is not ours
  c.Ignore("is_test");
  c.Ignore("consumed_inputs");
  if (c.opset >= 12) {
    training = c.has(2) && c.Int(2) != 0;
    if (training && c.has(1)) ratio = c.Float(1);
  } else {
    ratio = c.Attr("ratio", 0.5f);
  }
  const int mask = c.opset >= 10 ? kBool : x.dtype();
  if (!training || ratio == 0) {
    c.Out(0, x);
    if (c.wants(1)) c.Out(1, c.Filled(x.shape(), mask, 1));
    return;
  }
  if (!(ratio >= 0 && ratio < 1)) c.Refuse("ratio is " + Text(ratio) + "; accepted are 0 to less than 1");
  const Value kept = c.Op("Dropout", {Add(c, MulNumber(c, x, 0), c.Scalar(1, x.dtype()))}, {{"p", Text(ratio)}, {"mode", "always"}});
  c.Out(0, Mul(c, x, kept));
  if (c.wants(1)) c.Out(1, c.Cast(BinaryNumber(c, "not_equal", kept, 0), mask));
}

/* Losses of log-probabilities (batch, classes, ...) and classes (batch, ...). */
Value NegativeLogLikelihood(const Call& c, const Value& logs, const Value& target, const Value& weight, const std::string& reduction) {
  const int kind = OneOf(c, "reduction", reduction, {"none", "sum", "mean"});
  const bool ignores = c.has_attr("ignore_index");
  const int64_t ignored = c.Attr("ignore_index", int64_t{0});
  if (logs.ndim() < 2 || target.ndim() != logs.ndim() - 1)
    c.Refuse("scores have shape " + Text(logs.shape()) + ", targets " + Text(target.shape()));
  const Value kept = ignores ? c.Cast(BinaryNumber(c, "not_equal", target, static_cast<double>(ignored)), logs.dtype()) : Value();
  Value loss = MulNumber(c, c.Op("pick", {logs, target}, {{"axis", "1"}, {"mode", "clip"}}), -1);
  Value weights;
  if (weight.kind != Value::kNone) weights = Take(c, weight, target, 0);
  if (ignores) weights = weights.kind == Value::kNone ? kept : Mul(c, weights, kept);
  if (ignores) loss = Where(c, BinaryNumber(c, "not_equal", kept, 0), loss, c.Scalar(0, loss.dtype()));
  if (weights.kind != Value::kNone) loss = Mul(c, loss, weights);
  if (kind == 0) return loss;
  const Sizes all = From(0, loss.ndim());
  const Value sum = Sum(c, loss, all, false);
  if (kind == 1) return sum;
  return weights.kind == Value::kNone ? Mean(c, loss, all, false) : Div(c, sum, Sum(c, weights, all, false));
}

void ConvertNegativeLogLikelihood(Call& c) {
  c.Out(NegativeLogLikelihood(c, c.in(0), c.in(1), c.has(2) ? c.in(2) : Value(), c.Attr("reduction", "mean")));
}

void ConvertSoftmaxCrossEntropy(Call& c) {
  CheckRank(c, 0, 2, 32);
  const Value logs = c.Op("log_softmax", {c.in(0)}, {{"axis", "1"}});
  c.Out(0, NegativeLogLikelihood(c, logs, c.in(1), c.has(2) ? c.in(2) : Value(), c.Attr("reduction", "mean")));
  if (c.wants(1)) c.Out(1, logs);
}

}  // namespace

const Rules& NormRules() {
  static const Rules rules = {
      {"", "BatchNormalization", 6, kNewest, ConvertBatchNorm, nullptr},
      {"", "LayerNormalization", 1, kNewest, ConvertLayerNorm, nullptr},
      {"com.microsoft", "LayerNormalization", 1, kNewest, ConvertLayerNorm, nullptr},
      {"", "RMSNormalization", 23, kNewest, ConvertRMSNorm, nullptr},
      {"", "SimplifiedLayerNormalization", 1, kNewest, ConvertRMSNorm, nullptr},
      {"com.microsoft", "SimplifiedLayerNormalization", 1, kNewest, ConvertRMSNorm, nullptr},
      {"", "GroupNormalization", 18, kNewest, ConvertGroupNorm, nullptr},
      {"", "InstanceNormalization", 1, kNewest, ConvertInstanceNorm, nullptr},
      {"", "MeanVarianceNormalization", 9, kNewest, ConvertMeanVariance, nullptr},
      {"", "LpNormalization", 1, kNewest, ConvertLpNorm, nullptr},
      {"", "Softmax", 1, kNewest, ConvertSoftmax, "softmax"},
      {"", "LogSoftmax", 1, kNewest, ConvertSoftmax, "log_softmax"},
      {"", "Hardmax", 1, kNewest, ConvertHardmax, nullptr},
      {"", "Dropout", 7, kNewest, ConvertDropout, nullptr},
      {"", "NegativeLogLikelihoodLoss", 12, kNewest, ConvertNegativeLogLikelihood, nullptr},
      {"", "SoftmaxCrossEntropyLoss", 12, kNewest, ConvertSoftmaxCrossEntropy, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
