/* Operators that come while the program runs, in a library that it loads. */
#ifndef MXNET_OPERATOR_RECORD_REGISTRY_H_
#define MXNET_OPERATOR_RECORD_REGISTRY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {

/*
 * Adds finished records, all or none. They may name one another. Throws Error(kValue) when a name
 * is taken or a record is not sound. Other threads may look operators up meanwhile.
 */
void AddOperators(std::vector<std::unique_ptr<Op>> ops);

/* How many names and aliases there are. They are added, never taken away. */
size_t CountOperatorNames();

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_REGISTRY_H_
