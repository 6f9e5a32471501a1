// What composition and file loading share.
#ifndef MXNET_GRAPH_COMPOSE_H_
#define MXNET_GRAPH_COMPOSE_H_

#include <string>

#include "mxnet/op.h"

namespace mxnet {

/* `__init__` of a variable made for an input that was not given: moving statistics and slopes start at fixed values. Empty: no wish. */
std::string DefaultInitializer(const Attrs& attrs, const std::string& input);

}  // namespace mxnet
#endif  // MXNET_GRAPH_COMPOSE_H_
