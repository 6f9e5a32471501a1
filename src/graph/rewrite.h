// Graph rewrites that users ask for by name.
#ifndef MXNET_GRAPH_REWRITE_H_
#define MXNET_GRAPH_REWRITE_H_

#include "mxnet/graph.h"

namespace mxnet {

/* The graph without the casts that mixed precision put in (amp_cast, amp_multicast). Shares what
 * did not change. */
Symbol RemoveAmpCast(const Symbol& symbol);

/*
 * The part of the graph whose nodes carry the same `__subgraph_name__` as the node of the first
 * output, on variables that stand for what comes in from outside; `inputs` gets the outside values,
 * one for each use, in depth-first order. One value used twice is one variable, named like the
 * value. Without the attribute nothing is cut.
 */
Symbol CutSubgraph(const Symbol& symbol, std::vector<Symbol>* inputs);

/* d(sum of the symbol's outputs)/d(argument), one output per name of `wrt`; zeros where nothing
 * flows. Throws Error(kValue) for other names. */
Symbol GradientSymbol(const Symbol& symbol, const std::vector<std::string>& wrt);

}  // namespace mxnet
#endif  // MXNET_GRAPH_REWRITE_H_
