// Encoders: numbers and strings as other numbers and strings.
#include <cmath>
#include <map>

#include "onnx/convert/trees/tree.h"

namespace mxnet {
namespace onnx {

namespace {

/* Keys or values of an encoder: numbers (of any dtype) or strings. */
struct List {
  bool there = false, strings = false;
  int dtype = kFloat32;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  size_t size() const { return strings ? texts.size() : numbers.size(); }
};

List ReadList(const Call& c, const std::string& first) {  // keys or values
  List list;
  const std::vector<int64_t> ints = c.Attr((first + "_int64s").c_str(), std::vector<int64_t>{});
  const std::vector<float> floats = c.Attr((first + "_floats").c_str(), std::vector<float>{});
  const std::vector<std::string> texts = c.Attr((first + "_strings").c_str(), std::vector<std::string>{});
  const Constant* tensor = c.TensorAttr((first + "_tensor").c_str());
  if (!ints.empty()) list = {true, false, kInt64, std::vector<double>(ints.begin(), ints.end()), {}};
  if (!floats.empty()) list = {true, false, kFloat32, std::vector<double>(floats.begin(), floats.end()), {}};
  if (!texts.empty()) list = {true, true, kStringType, {}, texts};
  if (tensor && !tensor->array.is_none()) list = {true, false, tensor->array.dtype(), NumbersOf(Value(tensor->array)), {}};
  if (tensor && tensor->array.is_none()) list = {true, true, kStringType, {}, tensor->strings};
  return list;
}

/* The place of each element among keys; -1: it is none. */
std::vector<int64_t> Places(Call& c, const List& keys) {
  std::vector<int64_t> places;
  if (keys.strings) {
    std::map<std::string, int64_t> of;
    for (size_t i = 0; i < keys.texts.size(); ++i) of.emplace(keys.texts[i], static_cast<int64_t>(i));
    for (const std::string& text : c.Strings(0)) {
      const auto it = of.find(text);
      places.push_back(it == of.end() ? -1 : it->second);
    }
    return places;
  }
  if (c.in(0).kind == Value::kStrings) c.Refuse("data are strings, keys are numbers");
  std::map<double, int64_t> of;
  int64_t nan = -1;
  for (size_t i = 0; i < keys.numbers.size(); ++i) {
    if (std::isnan(keys.numbers[i]))
      nan = nan < 0 ? static_cast<int64_t>(i) : nan;
    else
      of.emplace(keys.numbers[i], static_cast<int64_t>(i));
  }
  for (double x : c.Floats(0)) {
    const auto it = std::isnan(x) ? of.end() : of.find(x);
    places.push_back(std::isnan(x) ? nan : it == of.end() ? -1 : it->second);
  }
  return places;
}

void GiveMapped(Call& c, const List& values, const std::vector<int64_t>& places, double number, const std::string& text) {
  const Shape shape = c.in(0).shape();
  if (values.strings) {
    std::vector<std::string> made;
    for (int64_t p : places) made.push_back(p < 0 ? text : values.texts[static_cast<size_t>(p)]);
    return c.Out(StringsValue(shape, made));
  }
  std::vector<double> made;
  for (int64_t p : places) made.push_back(p < 0 ? number : values.numbers[static_cast<size_t>(p)]);
  c.Out(FloatsLike(c, made, DimsOf(shape), values.dtype));
}

}  // namespace

void ConvertLabelEncoder(Call& c) {
  std::string text = c.Attr("default_string", "_Unused");
  const int64_t whole = c.Attr("default_int64", int64_t{-1});
  const float real = c.Attr("default_float", -0.0f);
  const Constant* tensor = c.TensorAttr("default_tensor");
  List keys, values;
  if (c.opset < 2) {
    const std::vector<std::string> classes = c.Attr("classes_strings", std::vector<std::string>{});
    List names{true, true, kStringType, {}, classes}, numbers{true, false, kInt64, {}, {}};
    for (size_t i = 0; i < classes.size(); ++i) numbers.numbers.push_back(static_cast<double>(i));
    const bool strings = c.in(0).kind == Value::kStrings;
    keys = strings ? names : numbers, values = strings ? numbers : names;
  } else {
    keys = ReadList(c, "keys"), values = ReadList(c, "values");
  }
  if (!keys.there || !values.there || keys.size() != values.size()) c.Refuse("keys and values are not there, or differ in number");
  double number = values.dtype == kInt64 ? static_cast<double>(whole) : static_cast<double>(real);
  if (tensor && !tensor->array.is_none() && tensor->array.shape().Size() >= 1) number = NumbersOf(Value(tensor->array))[0];
  if (tensor && tensor->array.is_none() && !tensor->strings.empty()) text = tensor->strings[0];
  GiveMapped(c, values, Places(c, keys), number, text);
}

void ConvertCategoryMapper(Call& c) {
  const std::vector<int64_t> ints = c.Attr("cats_int64s", std::vector<int64_t>{});
  const std::vector<std::string> texts = c.Attr("cats_strings", std::vector<std::string>{});
  const std::string text = c.Attr("default_string", "_Unused");
  const int64_t number = c.Attr("default_int64", int64_t{-1});
  if (ints.size() != texts.size()) c.Refuse("attributes cats_int64s and cats_strings differ in number");
  const List numbers{true, false, kInt64, std::vector<double>(ints.begin(), ints.end()), {}}, names{true, true, kStringType, {}, texts};
  const bool strings = c.in(0).kind == Value::kStrings;
  GiveMapped(c, strings ? numbers : names, Places(c, strings ? names : numbers), static_cast<double>(number), text);
}

void ConvertOneHotEncoder(Call& c) {
  const std::vector<int64_t> ints = c.Attr("cats_int64s", std::vector<int64_t>{});
  const std::vector<std::string> texts = c.Attr("cats_strings", std::vector<std::string>{});
  const bool zeros = c.Attr("zeros", int64_t{1}) != 0;
  const Value& x = c.in(0);
  Sizes shape = DimsOf(x.shape());
  if (!texts.empty()) {
    const std::vector<int64_t> places = Places(c, {true, true, kStringType, {}, texts});
    std::vector<double> made(places.size() * texts.size(), 0);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0)
        made[i * texts.size() + static_cast<size_t>(places[i])] = 1;
      else if (!zeros)
        c.Refuse("a string is none of attribute cats_strings");
    }
    shape.push_back(static_cast<int64_t>(texts.size()));
    return c.Out(FloatsLike(c, made, shape, kFloat32));
  }
  if (ints.empty()) c.Refuse("neither cats_int64s nor cats_strings are given");
  shape.push_back(1);
  const Value spread = c.Reshape(c.Cast(x, kInt64), Shape(shape));
  c.Out(c.Cast(Binary(c, "equal", spread, c.IntTensor(ints)), kFloat32));
}

}  // namespace onnx
}  // namespace mxnet
