// The order in which a plan's nodes run.
#include <algorithm>
#include <limits>
#include <queue>

#include "executor/passes/core/passes.h"
#include "mxnet/op.h"
#include "operator/record/purity.h"

namespace mxnet {

std::vector<char> Computed(const IndexedGraph& g, bool results_only) {
  std::vector<char> computed(g.nodes.size(), 0);
  for (const auto& e : g.outputs) computed[e.node] = 1;
  for (size_t k = g.nodes.size(); k-- > 0;) {  // users have larger numbers
    const auto& node = g.nodes[k];
    if (node.source->is_variable()) continue;
    if (!results_only && (ImpurityOf(*node.source->attrs) & (kDrawsRandom | kWritesInputs))) computed[k] = 1;
    if (!computed[k]) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!node.source->attrs->ReadsOnlyShape(static_cast<int>(i))) computed[node.inputs[i].node] = 1;
    for (uint32_t d : node.control_deps) computed[d] = 1;
  }
  return computed;
}

std::vector<uint32_t> ExecutionOrder(const IndexedGraph& g, size_t num_forward_heads, const std::unordered_map<const Node*, int>& sequence,
                                     bool every, int* num_forward) {
  const size_t n = g.nodes.size();
  std::vector<char> runs = every ? std::vector<char>(n, 1) : Computed(g);
  for (size_t k = 0; k < n; ++k) runs[k] = runs[k] && !g.nodes[k].source->is_variable();
  // Nodes are numbered depth first from the heads in order, so the forward pass is a prefix of the
  // numbers.
  uint32_t last_forward = 0;
  for (size_t i = 0; i < num_forward_heads; ++i) last_forward = std::max(last_forward, g.outputs[i].node);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i <= last_forward && i < n; ++i)
    if (runs[i]) order.push_back(i);
  *num_forward = static_cast<int>(order.size());

  // Backward: smallest key among what is ready. A node without a key (recomputed, zero gradients)
  // takes that of its earliest user.
  constexpr int kLast = std::numeric_limits<int>::max();
  std::vector<int> key(n, kLast);
  std::vector<int> waiting(n, 0);
  std::vector<std::vector<uint32_t>> users(n);
  for (size_t k = n; k-- > last_forward + 1;) {
    if (!runs[k]) continue;
    auto s = sequence.find(g.nodes[k].source);
    if (s != sequence.end()) key[k] = std::min(key[k], s->second);
    auto link = [&](uint32_t from) {
      if (from <= last_forward || !runs[from]) return;
      if (sequence.find(g.nodes[from].source) == sequence.end()) key[from] = std::min(key[from], key[k]);
      users[from].push_back(static_cast<uint32_t>(k));
      ++waiting[k];
    };
    for (const auto& e : g.nodes[k].inputs) link(e.node);
    for (uint32_t d : g.nodes[k].control_deps) link(d);
  }
  using Item = std::pair<int, uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> ready;
  for (size_t k = last_forward + 1; k < n; ++k)
    if (runs[k] && waiting[k] == 0) ready.push({key[k], static_cast<uint32_t>(k)});
  while (!ready.empty()) {
    const uint32_t k = ready.top().second;
    ready.pop();
    order.push_back(k);
    for (uint32_t u : users[k])
      if (--waiting[u] == 0) ready.push({key[u], u});
  }
  return order;
}

}  // namespace mxnet
