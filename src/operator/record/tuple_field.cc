#include "operator/record/tuple_field.h"

#include <string>
#include <type_traits>
#include <vector>

#include "operator/record/param_field.h"

namespace mxnet {

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

namespace mxnet {

#define MXNET_DEFINE_TUPLE(T)                                             \
  template std::istream& operator>>(std::istream& is, Tuple<T>& t);       \
  template std::ostream& operator<<(std::ostream& os, const Tuple<T>& t); \
  MXNET_DEFINE_FIELD(Tuple<T>)

MXNET_DEFINE_TUPLE(float);
MXNET_DEFINE_TUPLE(double);
MXNET_DEFINE_TUPLE(int64_t);
MXNET_DEFINE_TUPLE(uint64_t);
MXNET_DEFINE_FIELD(std::optional<Tuple<double>>);

}  // namespace mxnet
