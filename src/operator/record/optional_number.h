/*
 * Operator parameters that are None or a number, infinities and NaN among them ("inf", "-inf",
 * "nan"). A std::optional<double> field is read with a stream's >>, which refuses those.
 */
#ifndef MXNET_OPERATOR_RECORD_OPTIONAL_NUMBER_H_
#define MXNET_OPERATOR_RECORD_OPTIONAL_NUMBER_H_

#include <iosfwd>
#include <optional>

#include "operator/record/param.h"

namespace mxnet {

struct OptionalNumber : public std::optional<double> {
  using std::optional<double>::optional;
  using std::optional<double>::operator=;
  OptionalNumber() = default;
};

/* Sets failbit on malformed text. */
std::istream& operator>>(std::istream& is, OptionalNumber& number);
std::ostream& operator<<(std::ostream& os, const OptionalNumber& number);

}  // namespace mxnet

#endif  // MXNET_OPERATOR_RECORD_OPTIONAL_NUMBER_H_
