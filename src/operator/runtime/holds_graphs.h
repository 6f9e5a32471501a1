/* Operators whose nodes hold graphs (Attrs::subgraphs). */
#ifndef MXNET_OPERATOR_RUNTIME_HOLDS_GRAPHS_H_
#define MXNET_OPERATOR_RUNTIME_HOLDS_GRAPHS_H_

#include <string>
#include <vector>

namespace mxnet {

/* A trait: the node holds so many graphs, given as its first inputs when it is composed; their
 * names in signatures. */
struct HoldsGraphs {
  std::vector<std::string> names;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_HOLDS_GRAPHS_H_
