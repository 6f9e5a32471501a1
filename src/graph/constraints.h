/* What graphs are kept from: a hidden attribute of the nodes that a thread makes meanwhile. */
#ifndef MXNET_GRAPH_CONSTRAINTS_H_
#define MXNET_GRAPH_CONSTRAINTS_H_

#include "mxnet/node.h"

namespace mxnet {

enum GraphConstraint : unsigned { kNoMixedPrecision = 1 };
constexpr unsigned kAllGraphConstraints = kNoMixedPrecision;

/* Of this thread; 0 from the start. */
unsigned GraphConstraints();
/* Returns what was there before. Throws Error(kValue) for unknown bits. */
unsigned SetGraphConstraints(unsigned constraints);

/* The parameters of a node that is made now, with the thread's constraints. */
AttrDict Constrained(AttrDict dict);
unsigned ConstraintsOf(const Node& node);

}  // namespace mxnet
#endif  // MXNET_GRAPH_CONSTRAINTS_H_
