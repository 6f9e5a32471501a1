/*
 * Operator parameters that are None or a number, infinities and NaN among them ("inf", "-inf",
 * "nan"). A dmlc::optional<double> field is read with a stream's >>, which refuses those. Included
 * by operator .cc files only, like param.h.
 */
#ifndef MXNET_OPERATOR_OPTIONAL_NUMBER_H_
#define MXNET_OPERATOR_OPTIONAL_NUMBER_H_

#include <cstdlib>
#include <string>

#include "operator/param.h"

namespace mxnet {

struct OptionalNumber : public dmlc::optional<double> {
  using dmlc::optional<double>::optional;
  using dmlc::optional<double>::operator=;
  OptionalNumber() = default;
};

/* Sets failbit on malformed text. */
inline std::istream& operator>>(std::istream& is, OptionalNumber& number) {
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

}  // namespace mxnet

namespace dmlc {
DMLC_DECLARE_TYPE_NAME(::mxnet::OptionalNumber, "double or None");
}  // namespace dmlc

#endif  // MXNET_OPERATOR_OPTIONAL_NUMBER_H_
