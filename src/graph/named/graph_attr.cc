// Attributes of graphs as texts.
#include <limits>

#include "graph/json.h"
#include "graph/named/named_graph.h"

namespace mxnet {
namespace {

struct TypeName {
  const char* name;
  GraphAttr::Type type;
};
constexpr TypeName kTypes[] = {{"int", GraphAttr::kInt},       {"size_t", GraphAttr::kSize},    {"str", GraphAttr::kText},
                               {"list_int", GraphAttr::kInts}, {"list_str", GraphAttr::kTexts}, {"list_shape", GraphAttr::kShapes}};
constexpr int64_t kLargest = int64_t{1} << 53;  // what a number of JSON holds exactly

std::string TypeNames() {
  std::string names;
  for (const TypeName& t : kTypes) names += (names.empty() ? "" : ", ") + std::string(t.name);
  return names;
}

Shape ShapeOf(const JsonValue& value) {
  std::vector<int64_t> dims;
  for (const JsonValue& d : value.Array("a shape")) dims.push_back(d.Int("a size", -1, kLargest));
  return Shape(dims);
}

template <typename T, typename F>
std::string List(const std::vector<T>& values, const F& write) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + write(values[i]);
  return text + "]";
}

std::string Number(int64_t value) { return std::to_string(value); }

// A rank that is not known has no dimensions in this notation.
std::string Dims(const Shape& shape) { return List(std::vector<int64_t>(shape.begin(), shape.end()), Number); }

}  // namespace

GraphAttr GraphAttr::Ints(const std::vector<int>& values) {
  GraphAttr attr;
  attr.type = kInts;
  attr.ints.assign(values.begin(), values.end());
  return attr;
}

GraphAttr GraphAttr::Size(size_t value) {
  GraphAttr attr;
  attr.type = kSize;
  attr.number = static_cast<int64_t>(value);
  return attr;
}

GraphAttr GraphAttr::Text(std::string value) {
  GraphAttr attr;
  attr.type = kText;
  attr.text = std::move(value);
  return attr;
}

GraphAttr GraphAttr::Shapes(ShapeVector values) {
  GraphAttr attr;
  attr.type = kShapes;
  attr.shapes = std::move(values);
  return attr;
}

GraphAttr GraphAttr::FromJson(const std::string& text) {
  const JsonValue json = ParseJson(text);
  MXNET_CHECK_KIND(json.type == JsonValue::kArray && json.items.size() == 2 && json.items[0].type == JsonValue::kString, Value)
      << "[graph] an attribute is " << text << "; accepted: [\"TYPE\", VALUE] with TYPE one of " << TypeNames();
  const JsonValue& value = json.items[1];
  for (const TypeName& t : kTypes) {
    if (json.items[0].text != t.name) continue;
    GraphAttr attr;
    attr.type = t.type;
    switch (t.type) {
      case kInt: attr.number = value.Int("an int", std::numeric_limits<int>::min(), std::numeric_limits<int>::max()); break;
      case kSize: attr.number = value.Int("a size_t", 0, kLargest); break;
      case kText: attr.text = value.String("a str"); break;
      case kInts:
        for (const JsonValue& i : value.Array("a list_int"))
          attr.ints.push_back(i.Int("an int", std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
        break;
      case kTexts:
        for (const JsonValue& i : value.Array("a list_str")) attr.texts.push_back(i.String("a str"));
        break;
      default:
        for (const JsonValue& i : value.Array("a list_shape")) attr.shapes.push_back(ShapeOf(i));
    }
    return attr;
  }
  MXNET_THROW(Value) << "[graph] an attribute is of type " << json.items[0].text << "; accepted: " << TypeNames();
}

std::string GraphAttr::ToJson() const {
  std::string value;
  switch (type) {
    case kInt:
    case kSize: value = Number(number); break;
    case kText: value = QuoteJson(text); break;
    case kInts: value = List(ints, Number); break;
    case kTexts: value = List(texts, QuoteJson); break;
    case kShapes: value = List(shapes, Dims); break;
    case kEntries: break;
  }
  for (const TypeName& t : kTypes)
    if (t.type == type) return "[\"" + std::string(t.name) + "\", " + value + "]";
  MXNET_THROW(Value) << "[graph] the attribute is a list of nodes' results, which has no JSON form; accepted: " << TypeNames();
}

}  // namespace mxnet
