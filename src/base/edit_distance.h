/* For error messages that suggest the nearest name. */
#ifndef MXNET_BASE_EDIT_DISTANCE_H_
#define MXNET_BASE_EDIT_DISTANCE_H_

#include <cstddef>
#include <string>

namespace mxnet {

/* Levenshtein distance: the least number of characters to insert, remove or replace that makes one
 * text of the other. */
size_t EditDistance(const std::string& a, const std::string& b);

}  // namespace mxnet

#endif  // MXNET_BASE_EDIT_DISTANCE_H_
