#include "operator/record/optional_number.h"

#include <cstdlib>
#include <string>

#include "operator/record/param_field.h"

namespace mxnet {

std::istream& operator>>(std::istream& is, OptionalNumber& number) {
  std::string text;
  if (!(is >> text)) return is;
  if (text == "None") {
    number = OptionalNumber();
    return is;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0')
    is.setstate(std::ios::failbit);
  else
    number = OptionalNumber(value);
  return is;
}

std::ostream& operator<<(std::ostream& os, const OptionalNumber& number) {
  if (!number) return os << "None";
  return os << *number;
}

}  // namespace mxnet

namespace dmlc {
DMLC_DECLARE_TYPE_NAME(::mxnet::OptionalNumber, "double or None");
}  // namespace dmlc

namespace mxnet {
MXNET_DEFINE_FIELD(OptionalNumber);
}  // namespace mxnet
