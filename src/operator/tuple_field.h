/*
 * Operator parameters that are lists of numbers: Tuple<float> values; prints as "tuple of <float>"
 * in signatures, accepts "(0.1, 0.2)", "[0.1]", "()" and a single number. Included by operator .cc
 * files only, like param.h.
 */
#ifndef MXNET_OPERATOR_TUPLE_FIELD_H_
#define MXNET_OPERATOR_TUPLE_FIELD_H_

#include <string>
#include <type_traits>
#include <vector>

#include "operator/param.h"

namespace mxnet {

template <typename T>
struct Tuple {
  std::vector<T> values;
  Tuple() = default;
  Tuple(std::initializer_list<T> v) : values(v) {}
  int size() const { return static_cast<int>(values.size()); }
  T operator[](int i) const { return values[i]; }
  bool operator==(const Tuple& o) const { return values == o.values; }
};

/* Sets failbit on malformed text. */
template <typename T>
std::istream& operator>>(std::istream& is, Tuple<T>& t) {
  std::vector<T> values;
  const int first = (is >> std::ws).peek();
  const bool list = first == '(' || first == '[';
  const char close = first == '(' ? ')' : ']';
  if (list) is.get();
  while (true) {
    is >> std::ws;
    if (list && is.peek() == close) {
      is.get();
      break;
    }
    // nan and inf have no stream form
    std::string word;
    for (int c = is.peek(); c != EOF && c != ',' && c != ')' && c != ']' && !std::isspace(c); c = is.peek())
      word.push_back(static_cast<char>(is.get()));
    try {
      size_t used = 0;
      if constexpr (std::is_floating_point<T>::value) {
        values.push_back(static_cast<T>(std::stod(word, &used)));
      } else {
        values.push_back(static_cast<T>(std::stoll(word, &used)));
      }
      if (used != word.size()) throw std::invalid_argument(word);
    } catch (const std::exception&) {
      is.setstate(std::ios::failbit);
      return is;
    }
    is >> std::ws;
    if (!list) break;
    if (is.peek() == ',') {
      is.get();
      continue;
    }
    if (is.peek() == close) {
      is.get();
      break;
    }
    is.setstate(std::ios::failbit);
    return is;
  }
  is.clear();  // a peek at the end has set eofbit, which is no error
  t.values = std::move(values);
  return is;
}

template <typename T>
std::ostream& operator<<(std::ostream& os, const Tuple<T>& t) {
  os << '[';
  for (int i = 0; i < t.size(); ++i) os << (i ? "," : "") << t[i];
  return os << ']';
}

}  // namespace mxnet

namespace dmlc {
namespace parameter {
template <typename T>
class FieldEntry<::mxnet::Tuple<T>> : public FieldEntryBase<FieldEntry<::mxnet::Tuple<T>>, ::mxnet::Tuple<T>> {
 public:
  FieldEntry() {
    this->type_ = std::is_same<T, float>::value      ? "tuple of <float>"
                  : std::is_same<T, double>::value   ? "tuple of <double>"
                  : std::is_same<T, uint64_t>::value ? "tuple of <long (non-negative)>"
                                                     : "tuple of <long>";
  }
};
}  // namespace parameter
}  // namespace dmlc

#endif  // MXNET_OPERATOR_TUPLE_FIELD_H_
