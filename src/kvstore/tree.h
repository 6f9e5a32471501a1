/*
 * Plans of reductions over several devices: which device sends its sum to which, and when, so that
 * the fast links between devices do the work. Planning is a pure function of the links.
 *
 * A set of devices with a root is cut into two halves. The root sums up its half. Another device,
 * the sender, sums up the other half at the same time, and sends its sum to the root last. Each
 * half is planned in the same way. So a device receives from one other at a time, and all is summed
 * after ceil(log2(n)) rounds. Values are broadcast along the same steps, backwards.
 *
 *   exact        the tree of least time among all of this kind, by a search that remembers what
 *                each part costs; between equals, one whose steps take least time together. More
 *                than kMostExactDevices devices are planned by heuristic.
 *   heuristic    halves that keep heavy links inside, found by exchanging devices between them in
 *                passes (Kernighan and Lin, "An efficient heuristic procedure for partitioning
 *                graphs", Bell System Technical Journal 49, 1970); the sender has the fastest link
 *                to the root
 *
 * Trees of several roots work at the same time, on slices of one array. So that they use all links,
 * a link's weight is multiplied by `penalty` for each tree that uses it.
 */
#ifndef MXNET_KVSTORE_TREE_H_
#define MXNET_KVSTORE_TREE_H_

#include <string>
#include <vector>

namespace mxnet {
namespace kvstore {

constexpr int kMostExactDevices = 16;

/* How much each two devices can send each other in some unit of time; the same both ways. 0: they
 * have no link of their own and send through others, which trees avoid. */
class Links {
 public:
  explicit Links(int devices, double weight = 0) : devices_(devices), weights_(static_cast<size_t>(devices) * devices, weight) {}
  int devices() const { return devices_; }
  double At(int a, int b) const { return weights_[static_cast<size_t>(a) * devices_ + b]; }
  void Set(int a, int b, double weight) {
    weights_[static_cast<size_t>(a) * devices_ + b] = weights_[static_cast<size_t>(b) * devices_ + a] = weight;
  }

 private:
  int devices_;
  std::vector<double> weights_;
};

/* `to` adds what `from` has summed up to its own. */
struct TreeStep {
  int from, to;
};

struct ReductionTree {
  int root = 0;
  /* One after the other; the steps of one round touch different devices. */
  std::vector<std::vector<TreeStep>> rounds;
};

struct TreeOptions {
  bool exact = false;
  double penalty = 0.7;  // 0..1
};

/* A tree for each device as the root, in the order of devices. Equal arguments give equal trees. */
std::vector<ReductionTree> PlanTrees(const Links& links, const TreeOptions& options);

/*
 * What a tree takes: the sum over the longest chain of steps that wait for each other, a step over
 * a link taking 1 / weight. `links`: as they were when this tree was planned.
 */
double TreeTime(const Links& links, const ReductionTree& tree);

/* "root a: b -> a, d -> c; c -> a", rounds separated by semicolons. */
std::string TreeText(const ReductionTree& tree, const std::vector<std::string>& names);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_TREE_H_
