#include "operator/control/make_foreach.h"

#include <algorithm>
#include <memory>
#include <string>

#include "mxnet/op.h"
#include "operator/runtime/subgraph.h"

namespace mxnet {
namespace control {
namespace {

/* The node's inputs, and at which of the graph's inputs they arrive. */
class Inputs {
 public:
  explicit Inputs(const std::vector<NodePtr>& of_graph) : of_graph_(of_graph) {}
  /* Those of `given` that the graph reads, by the variables in it. */
  std::string Take(const Entries& given, const Entries& variables) {
    std::string places;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto at = std::find(of_graph_.begin(), of_graph_.end(), variables[i].node);
      if (at == of_graph_.end()) continue;
      places += (places.empty() ? "" : ", ") + std::to_string(at - of_graph_.begin());
      taken.push_back(given[i]);
    }
    return "[" + places + "]";
  }
  Entries taken;

 private:
  const std::vector<NodePtr>& of_graph_;
};

Entries Variables(const char* name, size_t count) {
  Entries made;
  for (size_t i = 0; i < count; ++i) made.push_back({MakeVariable(name + std::to_string(i)), 0, 0});
  return made;
}

}  // namespace

Entries MakeForeach(const Entries& data, const Entries& states, const Entries& constants, const ForeachStep& step) {
  const Entries slices = Variables("_slice", data.size()), before = Variables("_state", states.size()),
                same = Variables("_constant", constants.size());
  const Entries results = step(slices, before, same);
  const std::shared_ptr<Symbol> graph = OfSubgraphs().make(results);
  const Subgraph parts = ReadSubgraph(*graph);
  Inputs inputs(parts.inputs);
  AttrDict dict = {{"in_data_locs", inputs.Take(data, slices)}};
  dict["in_state_locs"] = inputs.Take(states, before);
  dict["remain_locs"] = inputs.Take(constants, same);
  dict["num_args"] = std::to_string(inputs.taken.size() + 1);
  dict["num_outputs"] = std::to_string(results.size());
  dict["num_out_data"] = std::to_string(results.size() - states.size());
  auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get("_foreach"), std::move(dict)));
  attrs->subgraphs.push_back(graph);
  auto node = std::make_shared<Node>();
  node->attrs = std::move(attrs);
  node->inputs = inputs.taken;
  Entries outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs.push_back({node, static_cast<uint32_t>(i), 0});
  return outputs;
}

}  // namespace control
}  // namespace mxnet
