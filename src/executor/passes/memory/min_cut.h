// Minimum cut of a directed graph (Dinic, 1970).
#ifndef MXNET_EXECUTOR_PASSES_MEMORY_MIN_CUT_H_
#define MXNET_EXECUTOR_PASSES_MEMORY_MIN_CUT_H_

#include <cstdint>
#include <vector>

namespace mxnet {

class MinCut {
 public:
  static constexpr int64_t kInfinite = int64_t{1} << 60;
  explicit MinCut(int nodes) : first_(nodes, -1) {}
  int AddNode() {
    first_.push_back(-1);
    return static_cast<int>(first_.size()) - 1;
  }
  void AddEdge(int from, int to, int64_t capacity);
  /* By node: is it on the source's side? Of all minimum cuts the one with the smallest such
   * side. */
  std::vector<char> SourceSide(int source, int sink);

 private:
  struct Edge {
    int to, next;
    int64_t left;
  };
  bool Levels(int source, int sink);
  int64_t Augment(int source, int sink);

  std::vector<Edge> edges_;  // i and i ^ 1 are opposite
  std::vector<int> first_, at_, level_, path_;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_MEMORY_MIN_CUT_H_
