#include "operator/matrix/slice_param.h"

#include <string>

#include "operator/record/param_field.h"

namespace mxnet {

std::ostream& operator<<(std::ostream& os, const OptionalInts& v) {
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

std::istream& operator>>(std::istream& is, OptionalInts& v) {
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

namespace mxnet {
MXNET_DEFINE_FIELD(OptionalInts);
}  // namespace mxnet
