/*
 * The parameter type of begin, end and step of the slice family: integers or None, by dimension.
 * Text: "(1, None, -2)", "[..]", "1", "None", "()".
 */
#ifndef MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_
#define MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_

#include <istream>
#include <ostream>
#include <vector>

#include "operator/param.h"

namespace mxnet {

struct OptionalInts {
  struct Item {
    bool given = false;
    int64_t value = 0;
    bool operator==(const Item& o) const { return given == o.given && value == o.value; }
  };
  std::vector<Item> items;
  int size() const { return static_cast<int>(items.size()); }
  bool given(int i) const { return i < size() && items[i].given; }
  bool operator==(const OptionalInts& o) const { return items == o.items; }
  bool operator!=(const OptionalInts& o) const { return !(*this == o); }
};

inline std::ostream& operator<<(std::ostream& os, const OptionalInts& v) {
  os << '[';
  for (int i = 0; i < v.size(); ++i) {
    if (i) os << ',';
    if (v.items[i].given)
      os << v.items[i].value;
    else
      os << "None";
  }
  return os << ']';
}

inline std::istream& operator>>(std::istream& is, OptionalInts& v) {
  v.items.clear();
  is >> std::ws;
  auto item = [&] {
    OptionalInts::Item it;
    is >> std::ws;
    if (is.peek() == 'N') {
      char none[4];
      is.read(none, 4);
      if (!is || none[0] != 'N' || none[1] != 'o' || none[2] != 'n' || none[3] != 'e') {
        is.setstate(std::ios::failbit);
        return;
      }
    } else {
      if (!(is >> it.value)) return;
      it.given = true;
      if (!is.eof() && is.peek() == 'L') is.get();  // peeking behind the end would be a failure
    }
    v.items.push_back(it);
  };
  const int first = is.peek();
  if (first != '(' && first != '[') {
    item();
    return is;  // one number without brackets
  }
  const char close = first == '(' ? ')' : ']';
  is.get();
  for (;;) {
    is >> std::ws;
    if (is.peek() == close) {
      is.get();
      return is;
    }
    item();
    if (!is) return is;
    is >> std::ws;
    if (is.peek() == ',') {
      is.get();
      continue;
    }
    if (is.peek() == close) {
      is.get();
      return is;
    }
    is.setstate(std::ios::failbit);
    return is;
  }
}

}  // namespace mxnet

namespace dmlc {
namespace parameter {
template <>
class FieldEntry<::mxnet::OptionalInts> : public FieldEntryBase<FieldEntry<::mxnet::OptionalInts>, ::mxnet::OptionalInts> {
 public:
  FieldEntry() { this->type_ = "Shape(tuple)"; }
};
}  // namespace parameter
}  // namespace dmlc

#endif  // MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_
