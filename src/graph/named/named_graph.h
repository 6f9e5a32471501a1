/*
 * A graph with named attributes, and passes that are asked for by name: what the NNGraph functions
 * of the C interface work on. Plans do not use it; their passes are in executor/passes.
 */
#ifndef MXNET_GRAPH_NAMED_NAMED_GRAPH_H_
#define MXNET_GRAPH_NAMED_NAMED_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

/* A value with a type. `kEntries` and nothing else has no JSON form. */
struct GraphAttr {
  enum Type { kInt, kSize, kText, kInts, kTexts, kShapes, kEntries };
  Type type = kInt;
  int64_t number = 0;              // kInt, kSize
  std::string text;                // kText
  std::vector<int64_t> ints;       // kInts
  std::vector<std::string> texts;  // kTexts
  ShapeVector shapes;              // kShapes
  std::vector<NodeEntry> entries;  // kEntries

  static GraphAttr Ints(const std::vector<int>& values);
  static GraphAttr Size(size_t value);
  static GraphAttr Text(std::string value);
  static GraphAttr Shapes(ShapeVector values);

  /* ["TYPE", VALUE] with TYPE one of int, size_t, str, list_int, list_str, list_shape. FromJson
   * throws Error(kValue) on anything else; ToJson throws it for entries. */
  static GraphAttr FromJson(const std::string& text);
  std::string ToJson() const;
};

struct NamedGraph {
  Symbol symbol;
  std::map<std::string, GraphAttr> attrs;
};

/*
 * Applies the passes in turn. `graph` stays as it is; nodes that no pass changes are shared. Throws
 * Error(kValue) for a name that is none and for an attribute that a pass needs and that is missing
 * or of another type, and whatever the pass finds wrong with the graph.
 */
NamedGraph ApplyPasses(const NamedGraph& graph, const std::vector<std::string>& passes);

/*
 * Which storage each entry of a graph takes, with shapes and dtypes known (by entry id): a greedy
 * choice in execution order, where an operator that may work in place does. Variables have -1.
 */
struct StorageChoice {
  std::vector<int> storage;   // by entry id
  std::vector<int> in_place;  // by entry id: the input of its node whose storage it took over, or -1
  size_t bytes = 0;           // of all storages
};
StorageChoice ChooseStorage(const IndexedGraph& g, const ShapeVector& shapes, const std::vector<int>& dtypes);

}  // namespace mxnet
#endif  // MXNET_GRAPH_NAMED_NAMED_GRAPH_H_
