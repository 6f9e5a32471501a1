// The order of a plan's nodes, and which of them run in loops over micro-batches.
#include <algorithm>

#include "executor/plan/plan_steps.h"

namespace mxnet {

Schedule MakeSchedule(const PlanGraph& graph, bool every_result) {
  const IndexedGraph& g = graph.info->g;
  const auto& runs = graph.graph.micro_batches;
  Schedule made;
  made.order = ExecutionOrder(g, graph.graph.outputs.size(), graph.graph.sequence, every_result, &made.num_forward);
  made.loop_of.assign(made.order.size(), -1);
  made.data_loop_of.assign(made.order.size(), -1);
  const auto node = [&](int t) { return g.nodes[made.order[t]].source; };
  for (int t = 0; t < made.num_forward; ++t) {
    const auto first = runs.find(node(t));
    if (first == runs.end()) continue;
    Plan::Loop loop;
    loop.begin = t;
    for (int i = t; i < made.num_forward; ++i) {
      const auto it = runs.find(node(i));
      if (it != runs.end() && it->second.run == first->second.run)
        loop.end = i + 1;
      else if (!IsConstantNode(*node(i)))
        break;
    }
    loop.micro_batches = static_cast<int>(graph.info->types[g.eid(made.order[t], 0)].shape[0] / first->second.examples);
    for (int i = loop.begin; i < loop.end; ++i) {
      made.loop_of[i] = static_cast<int>(made.loops.size());
      if (!IsConstantNode(*node(i))) made.data_loop_of[i] = made.loop_of[i];
    }
    t = loop.end - 1;
    made.loops.push_back(std::move(loop));
  }
  return made;
}

}  // namespace mxnet
