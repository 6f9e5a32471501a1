#include "executor/passes/memory/min_cut.h"

#include <algorithm>

namespace mxnet {

void MinCut::AddEdge(int from, int to, int64_t capacity) {
  edges_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<int>(edges_.size()) - 1;
  edges_.push_back({from, first_[to], 0});
  first_[to] = static_cast<int>(edges_.size()) - 1;
}

bool MinCut::Levels(int source, int sink) {
  level_.assign(first_.size(), -1);
  std::vector<int> queue{source};
  level_[source] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e = first_[queue[i]]; e >= 0; e = edges_[e].next)
      if (edges_[e].left > 0 && level_[edges_[e].to] < 0) {
        level_[edges_[e].to] = level_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] >= 0;
}

// One path along the levels, without recursion: paths are as long as networks are deep.
int64_t MinCut::Augment(int source, int sink) {
  path_.clear();
  int node = source;
  while (node != sink) {
    int& e = at_[node];
    while (e >= 0 && !(edges_[e].left > 0 && level_[edges_[e].to] == level_[node] + 1)) e = edges_[e].next;
    if (e >= 0) {
      path_.push_back(e);
      node = edges_[e].to;
      continue;
    }
    if (path_.empty()) return 0;
    level_[node] = -1;  // a dead end
    node = edges_[path_.back() ^ 1].to;
    path_.pop_back();
  }
  int64_t flow = kInfinite;
  for (int e : path_) flow = std::min(flow, edges_[e].left);
  for (int e : path_) {
    edges_[e].left -= flow;
    edges_[e ^ 1].left += flow;
  }
  return flow;
}

std::vector<char> MinCut::SourceSide(int source, int sink) {
  while (Levels(source, sink)) {
    at_ = first_;
    while (Augment(source, sink) > 0) {
    }
  }
  std::vector<char> side(first_.size());
  for (size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0;
  return side;
}

}  // namespace mxnet
