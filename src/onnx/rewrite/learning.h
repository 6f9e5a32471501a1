/*
 * Which constants of a graph are weights that training changes, and which stay as they are.
 *
 * A graph for one set of shapes has what does not depend on its inputs as constants: masks, states
 * of zeros, and what was computed of weights. For predictions that is all the same. In training a
 * mask must stay; of a weight that a row of the batch each has a copy of there is one; a weight
 * that is read here as it is and there transposed is one, too. So what was computed of weights is
 * computed in the graph again, unless it is a weight in another order that nothing else reads.
 *
 * Integers have no gradients. Where a model rounds activations to them (QuantizeLinear), floats
 * take their place: a weight is what its integers stand for, and roundings are operators on floats
 * that pass gradients on.
 */
#ifndef MXNET_ONNX_REWRITE_LEARNING_H_
#define MXNET_ONNX_REWRITE_LEARNING_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mxnet/graph.h"
#include "mxnet/node.h"
#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

class FoldedWeights;
class GraphBuilder;

/* For one graph. */
class Learning {
 public:
  /* The attribute of variables that stay as they are. */
  static constexpr const char* kConstant = "__constant__";

  /* `operators`: what was computed of weights becomes operators of the graph. `rounds`: the model
   * rounds activations. */
  Learning(FoldedWeights* folded, bool operators, bool rounds) : folded_(folded), operators_(operators), rounds_(rounds) {}
  /* The results are an operator's on these known operands; without `attrs` something else made them
   * of these. */
  void Add(const std::vector<NDArray>& results, const AttrsPtr& attrs, const std::vector<Value>& operands);
  bool Learns(const NDArray& array) { return OriginOf(array).learns; }
  /* Is the graph to be trained? */
  bool operators() const { return operators_; }
  bool rounds() const { return operators_ && rounds_; }
  /* Floats that integers were made of. */
  struct Rounded {
    Value integers, floats, scale, zero;
    int64_t axis = 0, block = 0;  // of several scales
  };
  void AddRounded(Rounded rounded) { rounded_.push_back(std::move(rounded)); }
  /* What these integers were made of; null: nothing known. */
  const Rounded* RoundedOf(const Value& integers) const;
  /* The weight is these floats, in the place of the integers that they were computed of. */
  void TakeFloats(const NDArray& floats) { floats_.insert(KeyOf(floats)); }
  /* Changes the graph, which is complete, and marks its constants. */
  void Finish(const Symbol& graph, GraphBuilder* builder);

 private:
  using Key = std::pair<const Chunk*, std::string>;
  struct Source {
    NDArray result;  // lives, so that its address is a name
    AttrsPtr attrs;
    std::vector<Value> operands;
    uint32_t output = 0;
  };
  /* What a constant was made of. */
  struct Origin {
    bool learns = false;       // a weight, or computed of one
    bool by_operators = true;  // ..., and operators of floats alone
    bool in_order = true;      // a weight, or one in another order
    bool shared = false;       // of a weight that other variables of the graph are made of, too
  };
  struct Lineage {
    std::string name;          // of a weight
    const Op* last = nullptr;  // the last operator that made the array of it
  };
  static Key KeyOf(const NDArray& array);
  bool ComesFrom(const std::vector<Value>& operands, const Key& key) const;
  const Source* SourceOf(const NDArray& array) const;
  const Origin& OriginOf(const NDArray& array);
  Origin Find(const NDArray& array, const Source* source) const;
  void FindShared(const std::vector<NodePtr>& variables, const std::unordered_map<const Node*, NDArray>& constants);
  const Lineage& LineageOf(const NDArray& array);
  std::vector<NodePtr> Express(const NodePtr& variable, const Source& source, GraphBuilder* builder) const;
  void Name(const NodePtr& variable, const NDArray& array, GraphBuilder* builder);

  FoldedWeights* const folded_;
  const bool operators_, rounds_;
  std::vector<Rounded> rounded_;
  std::set<Key> floats_;      // TakeFloats
  std::set<Key> read_;        // operands
  std::set<Key> themselves_;  // made of themselves: a view of a view that is the whole again
  std::map<Key, Source> sources_;
  std::map<Key, Origin> origins_;
  std::vector<Key> order_;  // of origins_: operands before results
  std::map<Key, Lineage> lineages_;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_LEARNING_H_
