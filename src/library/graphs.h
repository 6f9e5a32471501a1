/* Graphs as users' libraries are given them. */
#ifndef MXNET_LIBRARY_GRAPHS_H_
#define MXNET_LIBRARY_GRAPHS_H_

#include <string>

#include "library/library.h"

namespace mxnet {
namespace library {

/* Attributes that say what inference found out: lists of shapes and of dtypes by result. */
constexpr const char* kShapeAttr = "__ext_shape__";
constexpr const char* kDTypeAttr = "__ext_dtype__";

/* A copy of the request's graph with these attributes, as far as shapes and dtypes are known. Nodes
 * keep their order. Throws Error(kValue) on a contradiction, unless nothing is to be inferred. */
Symbol Described(const Request& request);
/* The graph as a partitioner's functions see it, which also look at `shape` and `dtype` of first
 * results. */
std::string TextWithFirstResults(const Symbol& described);
/* Without such attributes. */
Symbol Undescribed(const Symbol& symbol);

void SetAttr(const NodePtr& node, const std::string& key, const std::string& value);

}  // namespace library
}  // namespace mxnet
#endif  // MXNET_LIBRARY_GRAPHS_H_
