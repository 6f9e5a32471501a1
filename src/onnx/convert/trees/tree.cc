#include "onnx/convert/trees/tree.h"

#include <algorithm>
#include <cmath>

namespace mxnet {
namespace onnx {

Post ReadPost(const Call& c) {
  return static_cast<Post>(
      OneOf(c, "post_transform", c.Attr("post_transform", "NONE"), {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
}

Value Transformed(const Call& c, const Value& scores, Post post) {
  switch (post) {
    case Post::kSoftmax: return c.Op("softmax", {scores}, {{"axis", "-1"}});
    case Post::kLogistic: return Sigmoid(c, scores);
    case Post::kSoftmaxZero: {  // scores of 0 stay 0
      const Value most = Reduce(c, "max", scores, {scores.ndim() - 1}, true);
      const Value zero = BinaryNumber(c, "less_equal", Unary(c, "abs", scores), 1e-7);
      const Value powers = Where(c, zero, Mul(c, scores, Unary(c, "exp", MulNumber(c, most, -1))), Unary(c, "exp", Sub(c, scores, most)));
      const Value sum = Sum(c, powers, {scores.ndim() - 1}, true);
      const Value none = BinaryNumber(c, "equal", sum, 0);
      return Where(c, none, c.Scalar(0.5, scores.dtype()), Div(c, powers, Where(c, none, c.Scalar(1, scores.dtype()), sum)));
    }
    case Post::kProbit: return MulNumber(c, c.Op("erfinv", {AddNumber(c, MulNumber(c, scores, 2), -1)}), std::sqrt(2.0));
    default: return scores;
  }
}

Labels ReadLabels(Call& c, const char* ints) {
  Labels labels;
  labels.ints = c.Attr(ints, std::vector<int64_t>{});
  labels.strings = c.Attr("classlabels_strings", std::vector<std::string>{});
  if (!labels.strings.empty() && c.wants(0)) c.Known(0);
  return labels;
}

void GiveLabels(Call& c, const Labels& labels, const Value& places) {
  if (!c.wants(0)) return;
  if (labels.strings.empty()) {
    bool counting = true;
    for (size_t i = 0; i < labels.ints.size(); ++i) counting = counting && labels.ints[i] == static_cast<int64_t>(i);
    return c.Out(0, counting ? c.Cast(places, kInt64) : Take(c, c.IntTensor(labels.ints), places, 0));
  }
  std::vector<std::string> names;
  for (int64_t i : IntegersOf(places)) names.push_back(labels.strings.at(static_cast<size_t>(std::max<int64_t>(0, i))));
  c.Out(0, StringsValue(places.shape(), names));
}

Value Features(const Call& c, int input) {
  CheckRank(c, input, 1, 32);
  const Value x = c.in(input).dtype() == kFloat64 ? c.in(input) : c.Cast(c.in(input), kFloat32);
  if (x.ndim() == 1) return c.ReshapeTo(x, {1, -1});
  return x.ndim() == 2 ? x : c.Reshape(x, Shape{x.shape()[0], x.shape().Prod(1, x.ndim())});
}

namespace {

Value FloatsOf(const Call& c, const std::vector<float>& numbers, const Shape& shape, int dtype) {
  return c.Cast(c.Tensor(shape, kFloat32, numbers.data()), dtype);
}

Value Linear(const Call& c, const Value& x, const std::vector<float>& coefficients, const std::vector<float>& intercepts, int64_t rows) {
  const int64_t features = x.dim(1);
  if (rows < 1 || static_cast<int64_t>(coefficients.size()) != rows * features ||
      (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != rows))
    c.Refuse("there are " + Text(static_cast<int64_t>(coefficients.size())) + " coefficients and " +
             Text(static_cast<int64_t>(intercepts.size())) + " intercepts for data of shape " + Text(x.shape()));
  const Value bias = intercepts.empty() ? Value() : FloatsOf(c, intercepts, Shape{rows}, x.dtype());
  return Dense(c, x, FloatsOf(c, coefficients, Shape{rows, features}, x.dtype()), bias);
}

void ConvertLinearClassifier(Call& c) {
  const Labels labels = ReadLabels(c, "classlabels_ints");
  const Post post = ReadPost(c);
  c.Ignore("multi_class");
  const Value x = Features(c, 0);
  const std::vector<float> coefficients = c.Attr("coefficients", std::vector<float>{}),
                           intercepts = c.Attr("intercepts", std::vector<float>{});
  const int64_t rows = x.dim(1) ? static_cast<int64_t>(coefficients.size()) / x.dim(1) : 0;
  Value scores = Linear(c, x, coefficients, intercepts, rows);
  const bool both = rows == 1 && labels.size() == 2;
  if (both) scores = Concat(c, {MulNumber(c, scores, -1), scores}, 1);
  const Value shown = Transformed(c, scores, post);
  if (rows > 1 || both) {
    if (labels.size() > 0 && labels.size() != rows && !both)
      c.Refuse("there are " + Text(labels.size()) + " labels for " + Text(rows) + " scores");
    GiveLabels(c, labels, c.Op("_npi_argmax", {scores}, {{"axis", "1"}}));
  } else {
    if (!labels.strings.empty()) c.Refuse("one score with labels that are strings; accepted are two labels");
    const Value yes = c.ReshapeTo(BinaryNumber(c, "greater_equal", shown, post == Post::kNone ? 0 : 0.5), {-1});
    c.Out(0, MulNumber(c, c.Cast(yes, kInt64), labels.ints.empty() ? 1 : static_cast<double>(labels.ints[0])));
  }
  c.Out(1, c.Cast(shown, kFloat32));
}

void ConvertLinearRegressor(Call& c) {
  const int64_t targets = c.Attr("targets", int64_t{1});
  const Post post = ReadPost(c);
  const Value y =
      Linear(c, Features(c, 0), c.Attr("coefficients", std::vector<float>{}), c.Attr("intercepts", std::vector<float>{}), targets);
  c.Out(c.Cast(Transformed(c, y, post), kFloat32));
}

void ConvertScaler(Call& c) {
  const Value x = c.Cast(c.in(0), c.in(0).dtype() == kFloat64 ? kFloat64 : kFloat32);
  const std::vector<float> offset = c.Attr("offset", std::vector<float>{}), scale = c.Attr("scale", std::vector<float>{});
  const auto row = [&](const std::vector<float>& numbers) {
    return FloatsOf(c, numbers, Shape{static_cast<int64_t>(numbers.size())}, x.dtype());
  };
  Value y = x;
  if (!offset.empty()) y = Sub(c, y, row(offset));
  if (!scale.empty()) y = Mul(c, y, row(scale));
  c.Out(c.Cast(y, kFloat32));
}

void ConvertNormalizer(Call& c) {
  const Value& given = c.in(0);
  CheckRank(c, 0, 1, 32);
  const Value x = c.Cast(given, kFloat32);
  const int last = x.ndim() - 1;
  Value norm;
  switch (OneOf(c, "norm", c.Attr("norm", "MAX"), {"MAX", "L1", "L2"})) {
    case 0: norm = Reduce(c, "max", Unary(c, "abs", x), {last}, true); break;
    case 1: norm = Sum(c, Unary(c, "abs", x), {last}, true); break;
    default: norm = Unary(c, "sqrt", Sum(c, Mul(c, x, x), {last}, true));
  }
  c.Out(Div(c, x, Where(c, BinaryNumber(c, "equal", norm, 0), c.Scalar(1, kFloat32), norm)));
}

void ConvertBinarizer(Call& c) { c.Out(c.Cast(BinaryNumber(c, "greater", c.in(0), c.Attr("threshold", 0.0f)), c.in(0).dtype())); }

void TakeColumns(Call& c) {
  const Value& x = c.in(0);
  CheckRank(c, 0, 1, 32);
  const Value y = c.Op("take", {x, c.ReshapeTo(c.in(1), {-1})}, {{"axis", Text(x.ndim() - 1)}, {"mode", "clip"}});
  c.Out(x.ndim() == 1 ? c.ReshapeTo(y, {1, -1}) : y);
}

void ConvertArrayFeatureExtractor(Call& c) {
  if (c.in(0).kind == Value::kStrings) return MoveElements(c, TakeColumns);
  TakeColumns(c);
}

void ConvertImputer(Call& c) {
  const Value& x = c.in(0);
  const std::vector<float> floats = c.Attr("imputed_value_floats", std::vector<float>{});
  const std::vector<int64_t> ints = c.Attr("imputed_value_int64s", std::vector<int64_t>{});
  const double number = c.Attr("replaced_value_float", 0.0f);
  const int64_t whole = c.Attr("replaced_value_int64", int64_t{0});
  const bool floating = IsFloating(x.dtype());
  if (floating ? floats.empty() : ints.empty()) c.Refuse("there are no imputed values of the data's dtype");
  const Value values =
      floating ? FloatsOf(c, floats, Shape{static_cast<int64_t>(floats.size())}, x.dtype()) : c.Cast(c.IntTensor(ints), x.dtype());
  const Value missing = !floating            ? BinaryNumber(c, "equal", x, static_cast<double>(whole))
                        : std::isnan(number) ? Unary(c, "isnan", x)
                                             : BinaryNumber(c, "equal", x, number);
  c.Out(Where(c, missing, values.size() == 1 ? c.Reshape(values, Shape(0)) : values, x));
}

void ConvertFeatureVectorizer(Call& c) {
  std::vector<Value> parts;
  const std::vector<int64_t> sizes = c.Attr("inputdimensions", std::vector<int64_t>{});
  for (int i = 0; i < c.num_inputs(); ++i) {
    Value x = c.Cast(c.in(i), kFloat32);
    if (x.ndim() < 1) c.Refuse("input " + Text(i) + " has shape ()");
    x = x.ndim() == 1 ? c.Reshape(x, Shape{1, x.size()}) : c.Reshape(x, Shape{x.shape()[0], x.shape().Prod(1, x.ndim())});
    if (static_cast<size_t>(i) < sizes.size()) {
      const int64_t size = sizes[static_cast<size_t>(i)], have = x.shape()[1];
      if (size < 0) c.Refuse("attribute inputdimensions is " + Text(sizes));
      x = size <= have ? SliceAxis(c, x, 1, 0, size) : Pad(c, x, {0, 0}, {0, size - have}, 0);
    }
    parts.push_back(x);
  }
  if (parts.empty()) c.Refuse("there are no inputs");
  c.Out(Concat(c, parts, 1));
}

/* Dictionaries of scores are no values here: scores stay one array, in the order of the labels. */
void ConvertZipMap(Call& c) {
  c.Ignore("classlabels_int64s"), c.Ignore("classlabels_strings");
  c.Out(c.in(0));
}

/* A map comes as a row in the order of the vocabulary (GiveRowsToMaps in reader.cc). */
void ConvertDictVectorizer(Call& c) {
  const size_t words =
      c.Attr("string_vocabulary", std::vector<std::string>{}).size() + c.Attr("int64_vocabulary", std::vector<int64_t>{}).size();
  const Value& x = c.in(0);
  if (x.kind != Value::kTensor || x.ndim() != 2 || x.shape()[1] != static_cast<int64_t>(words))
    c.Refuse("its data is no input of the model that is a map of numbers, with the words of its vocabulary");
  c.Out(x);
}

}  // namespace

const Rules& TreeRules() {
  static const Rules rules = {
      {"ai.onnx.ml", "TreeEnsemble", 5, kNewest, ConvertTreeEnsemble, nullptr},
      {"ai.onnx.ml", "TreeEnsembleClassifier", 1, kNewest, ConvertTreeClassifier, nullptr},
      {"ai.onnx.ml", "TreeEnsembleRegressor", 1, kNewest, ConvertTreeRegressor, nullptr},
      {"ai.onnx.ml", "LinearClassifier", 1, kNewest, ConvertLinearClassifier, nullptr},
      {"ai.onnx.ml", "LinearRegressor", 1, kNewest, ConvertLinearRegressor, nullptr},
      {"ai.onnx.ml", "SVMRegressor", 1, kNewest, ConvertSVMRegressor, nullptr},
      {"ai.onnx.ml", "SVMClassifier", 1, kNewest, ConvertSVMClassifier, nullptr},
      {"ai.onnx.ml", "Scaler", 1, kNewest, ConvertScaler, nullptr},
      {"ai.onnx.ml", "Normalizer", 1, kNewest, ConvertNormalizer, nullptr},
      {"ai.onnx.ml", "Binarizer", 1, kNewest, ConvertBinarizer, nullptr},
      {"ai.onnx.ml", "ArrayFeatureExtractor", 1, kNewest, ConvertArrayFeatureExtractor, nullptr},
      {"ai.onnx.ml", "Imputer", 1, kNewest, ConvertImputer, nullptr},
      {"ai.onnx.ml", "FeatureVectorizer", 1, kNewest, ConvertFeatureVectorizer, nullptr},
      {"ai.onnx.ml", "LabelEncoder", 1, kNewest, ConvertLabelEncoder, nullptr},
      {"ai.onnx.ml", "OneHotEncoder", 1, kNewest, ConvertOneHotEncoder, nullptr},
      {"ai.onnx.ml", "CategoryMapper", 1, kNewest, ConvertCategoryMapper, nullptr},
      {"ai.onnx.ml", "DictVectorizer", 1, kNewest, ConvertDictVectorizer, nullptr},
      {"ai.onnx.ml", "ZipMap", 1, kNewest, ConvertZipMap, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
