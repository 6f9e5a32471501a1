/* Loops in graphs that records make. */
#ifndef MXNET_OPERATOR_CONTROL_MAKE_FOREACH_H_
#define MXNET_OPERATOR_CONTROL_MAKE_FOREACH_H_

#include <functional>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace control {

using Entries = std::vector<NodeEntry>;
/* One step: slices of the data, the states and the constants as its graph reads them. It returns
 * its results, then the next states, all of which it must have read. */
using ForeachStep = std::function<Entries(const Entries& slices, const Entries& states, const Entries& constants)>;

/* A node of _foreach. Its outputs: the results stacked along a new first dimension, then the last
 * states. */
Entries MakeForeach(const Entries& data, const Entries& states, const Entries& constants, const ForeachStep& step);

}  // namespace control
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CONTROL_MAKE_FOREACH_H_
