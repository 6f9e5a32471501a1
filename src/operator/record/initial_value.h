/* What variables behind some inputs start with: moving statistics, slopes, filters that
 * interpolate. */
#ifndef MXNET_OPERATOR_RECORD_INITIAL_VALUE_H_
#define MXNET_OPERATOR_RECORD_INITIAL_VALUE_H_

#include <string>

#include "mxnet/node.h"

namespace mxnet {

/* The attribute `__init__` that a variable without one gets when it becomes the input of that name;
 * empty: no wish. */
using InitialValueFn = std::string (*)(const Attrs& attrs, const std::string& input);
/* The trait of records that have such wishes. */
struct InitialValues {
  InitialValueFn of;
};
std::string InitialValue(const Attrs& attrs, const std::string& input);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_INITIAL_VALUE_H_
