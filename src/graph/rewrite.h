// Graph rewrites that users ask for by name.
#ifndef MXNET_GRAPH_REWRITE_H_
#define MXNET_GRAPH_REWRITE_H_

#include "mxnet/graph.h"

namespace mxnet {

/* The graph without the casts that mixed precision put in (amp_cast, amp_multicast). Shares what did not change. */
Symbol RemoveAmpCast(const Symbol& symbol);

}  // namespace mxnet
#endif  // MXNET_GRAPH_REWRITE_H_
