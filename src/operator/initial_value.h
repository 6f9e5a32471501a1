/* What variables behind some inputs start with: moving statistics, slopes, filters that
 * interpolate. */
#ifndef MXNET_OPERATOR_INITIAL_VALUE_H_
#define MXNET_OPERATOR_INITIAL_VALUE_H_

#include <functional>
#include <string>

#include "mxnet/op.h"

namespace mxnet {

/* The attribute `__init__` that a variable without one gets when it becomes the input of that name;
 * empty: no wish. */
using InitialValueFn = std::function<std::string(const Attrs& attrs, const std::string& input)>;
/* Called by records while the library is loaded. */
void NoteInitialValue(const std::string& op, InitialValueFn fn);
std::string InitialValue(const Attrs& attrs, const std::string& input);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INITIAL_VALUE_H_
