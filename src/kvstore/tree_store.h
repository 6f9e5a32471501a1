/* The store `device` with MXNET_KVSTORE_USETREE: sums and copies go along trees. */
#ifndef MXNET_KVSTORE_TREE_STORE_H_
#define MXNET_KVSTORE_TREE_STORE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kvstore/local.h"
#include "kvstore/tree.h"

namespace mxnet {
namespace kvstore {

/* The links between devices as the GPU's interface tells them; equal where it does not, and between
 * CPU contexts. */
Links LinksBetween(const std::vector<Context>& devices);

class TreeStore : public LocalStore {
 public:
  explicit TreeStore(std::string type) : LocalStore(std::move(type), true) {}

 protected:
  std::vector<NDArray> Sum(const std::vector<Pushed>& pushed, int priority) override;
  void Spread(const std::vector<Entry*>& entries, const Arrays& outs, int priority) override;
  bool AddsInOnePass(const Pushed&, const std::vector<Entry*>&) const override { return false; }

 private:
  /* Trees between some devices, one rooted at each. */
  struct Plan {
    std::vector<Context> devices;
    std::vector<ReductionTree> trees;
  };
  /* What a key keeps for sums along one tree, by place of the device in the plan. */
  struct Sums {
    std::vector<NDArray> partial, received;
  };
  struct Slice {
    int64_t begin, end;
    const ReductionTree* tree;
  };

  const Plan& PlanFor(std::vector<Context> devices);
  /* Several trees share a large array; `root` sums up a small one. */
  static std::vector<Slice> SlicesOf(const Plan& plan, int64_t size, int root);
  int RootOf(const Pushed& pushed, const Plan& plan);
  void SumAlong(const ReductionTree& tree, const std::vector<Context>& devices, std::vector<NDArray> values, Sums* sums, const NDArray& out,
                int priority);
  void SpreadFrom(const NDArray& stored, const Arrays& outs, int priority);

  std::mutex mutex_;  // guards what follows
  std::map<std::vector<Context>, std::unique_ptr<Plan>> plans_;
  std::map<const Entry*, std::vector<Sums>> sums_;  // of entries, by slice
  std::map<const Entry*, Context> roots_;
  std::map<Context, size_t> root_bytes_;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_TREE_STORE_H_
