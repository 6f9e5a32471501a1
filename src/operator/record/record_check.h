// What records say of one another and of themselves, checked.
#ifndef MXNET_OPERATOR_RECORD_RECORD_CHECK_H_
#define MXNET_OPERATOR_RECORD_RECORD_CHECK_H_

#include <functional>
#include <string>

#include "mxnet/op.h"

namespace mxnet {

/*
 * Throws Error(kValue) that names the operator, what its record says and what is accepted: a rule
 * of recomputation, or a fusion with relu, by an operator that does not exist or takes something
 * else; a condition on a parameter or a value that the operator does not have; a recipe that no
 * loop follows. `find` gives the record of a name, null when there is none. The registry asks this
 * of all records once, before it gives the first of them to anybody.
 */
MXNET_DLL void CheckRecord(const Op& op, const std::function<const Op*(const std::string&)>& find);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_RECORD_CHECK_H_
