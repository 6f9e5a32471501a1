// Storage numbers for the entries of a graph: a picture of how memory is shared, for programs that
// ask for it by name. Plans choose offsets in one arena instead (executor/plan/plan_memory.h).
#include <algorithm>
#include <map>

#include "graph/named/named_graph.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

class Chooser {
 public:
  Chooser(const IndexedGraph& g, const ShapeVector& shapes, const std::vector<int>& dtypes)
      : g_(g), shapes_(shapes), dtypes_(dtypes), uses_(g.num_entries(), 0) {
    choice_.storage.assign(g.num_entries(), -1);
    choice_.in_place.assign(g.num_entries(), -1);
    for (const auto& node : g.nodes)
      for (const auto& e : node.inputs) ++uses_[g.eid(e)];
    for (const auto& e : g.outputs) ++uses_[g.eid(e)];  // stay until the end
  }

  StorageChoice Run() {
    for (uint32_t id = 0; id < g_.nodes.size(); ++id)
      if (!g_.nodes[id].source->is_variable()) Place(id);
    for (size_t b : bytes_) choice_.bytes += b;
    return choice_;
  }

 private:
  size_t Bytes(uint32_t entry) const { return static_cast<size_t>(shapes_[entry].Size()) * DTypeSize(dtypes_[entry]); }

  void Place(uint32_t id) {
    const IndexedGraph::NodeInfo& info = g_.nodes[id];
    const Node& node = *info.source;
    if (node.op()->inplace)
      for (const auto& pair : node.op()->inplace(*node.attrs)) TakeOver(id, pair.first, pair.second);
    for (uint32_t e = g_.entry_ptr[id]; e < g_.entry_ptr[id + 1]; ++e)
      if (choice_.storage[e] < 0) choice_.storage[e] = Take(Bytes(e));
    for (const auto& e : info.inputs) Drop(g_.eid(e));
    for (uint32_t e = g_.entry_ptr[id]; e < g_.entry_ptr[id + 1]; ++e)
      if (uses_[e] == 0) Free(e);
  }

  void TakeOver(uint32_t id, int input, int output) {
    const auto& inputs = g_.nodes[id].inputs;
    if (input >= static_cast<int>(inputs.size()) || output >= static_cast<int>(g_.entry_ptr[id + 1] - g_.entry_ptr[id])) return;
    const uint32_t from = g_.eid(inputs[input]), to = g_.entry_ptr[id] + output;
    if (choice_.storage[from] < 0 || choice_.storage[to] >= 0 || uses_[from] != 1 || Bytes(from) != Bytes(to)) return;
    choice_.storage[to] = choice_.storage[from];
    choice_.in_place[to] = input;
    uses_[from] = 0;  // nothing to give back: the result has it
  }

  /* The smallest free storage that is large enough, else a new one. */
  int Take(size_t bytes) {
    const auto fits = free_.lower_bound(bytes);
    if (fits != free_.end()) {
      const int storage = fits->second;
      free_.erase(fits);
      return storage;
    }
    bytes_.push_back(bytes);
    return static_cast<int>(bytes_.size()) - 1;
  }

  void Drop(uint32_t entry) {
    if (uses_[entry] > 0 && --uses_[entry] == 0) Free(entry);
  }
  void Free(uint32_t entry) {
    if (choice_.storage[entry] >= 0) free_.emplace(bytes_[choice_.storage[entry]], choice_.storage[entry]);
  }

  const IndexedGraph& g_;
  const ShapeVector& shapes_;
  const std::vector<int>& dtypes_;
  std::vector<int> uses_;  // by entry id: readers to come
  std::vector<size_t> bytes_;
  std::multimap<size_t, int> free_;
  StorageChoice choice_;
};

}  // namespace

StorageChoice ChooseStorage(const IndexedGraph& g, const ShapeVector& shapes, const std::vector<int>& dtypes) {
  return Chooser(g, shapes, dtypes).Run();
}

}  // namespace mxnet
