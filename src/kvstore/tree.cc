#include "kvstore/tree.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>

#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

/* No penalty makes a link slower than that share of itself, and where there is no link a step takes
 * so many times as long as over the slowest one: it is only taken where there is no other way. */
constexpr double kLeastShare = 1e-3, kDetour = 1e6;
/* Less of a difference is rounding: the earlier choice stays. */
constexpr double kTolerance = 1e-9;

/* Links while trees are planned one after the other. */
class UsedLinks {
 public:
  UsedLinks(const Links& links, double penalty) : links_(links), used_(links.devices(), 1.0), penalty_(penalty) {
    for (int a = 0; a < links.devices(); ++a)
      for (int b = 0; b < a; ++b)
        if (links.At(a, b) > 0) slowest_ = std::min(slowest_, links.At(a, b));
    if (slowest_ == std::numeric_limits<double>::max()) slowest_ = 1;
  }
  bool linked(int a, int b) const { return links_.At(a, b) > 0; }
  double Weight(int a, int b) const { return links_.At(a, b) * std::max(used_.At(a, b), kLeastShare); }
  double Time(int a, int b) const { return linked(a, b) ? 1 / Weight(a, b) : kDetour / (slowest_ * std::max(used_.At(a, b), kLeastShare)); }
  void Use(int a, int b) { used_.Set(a, b, used_.At(a, b) * penalty_); }

 private:
  const Links& links_;
  Links used_;  // what is left of each weight
  const double penalty_;
  double slowest_ = std::numeric_limits<double>::max();
};

using Set = uint32_t;  // of devices, as bits
Set Of(int device) { return Set{1} << device; }

/* The best tree of every set that it is asked for. */
class ExactPlanner {
 public:
  ExactPlanner(const UsedLinks& links, int devices)
      : devices_(devices), places_((size_t{1} << devices) * static_cast<size_t>(devices), -1) {
    for (int a = 0; a < devices; ++a)
      for (int b = 0; b < devices; ++b) times_.push_back(links.Time(a, b));
  }

  void Steps(Set set, int root, size_t rounds, std::vector<std::vector<TreeStep>>* out) {
    if (set == Of(root)) return;
    const Choice c = Find(set, root);
    (*out)[rounds - 1].push_back({c.sender, root});
    Steps(set & ~c.other, root, rounds - 1, out);
    Steps(c.other, c.sender, rounds - 1, out);
  }

 private:
  struct Choice {
    double cost;   // time of the longest chain
    double total;  // time of all steps: decides between equal costs, for links may have parts in common
    Set other;     // the sender's half
    int sender;
  };
  static bool Less(double cost, double total, const Choice& best) {
    const double same = kTolerance * best.cost;
    return cost < best.cost - same || (cost <= best.cost + same && total < best.total * (1 - kTolerance));
  }

  const Choice& Find(Set set, int root) {
    const size_t key = static_cast<size_t>(set) * static_cast<size_t>(devices_) + static_cast<size_t>(root);
    if (places_[key] >= 0) return known_[static_cast<size_t>(places_[key])];
    constexpr double kNone = std::numeric_limits<double>::max();
    Choice best = {kNone, kNone, 0, root};
    if (set == Of(root)) best.cost = best.total = 0;
    const int size = __builtin_popcount(set), half = size / 2;
    const Set rest = set & ~Of(root);
    // All halves without the root, in rising order.
    for (Set other = rest & (~rest + 1); other != 0 && size > 1; other = (other - rest) & rest) {
      const int count = __builtin_popcount(other);
      if (count == half || count == size - half) Try(set, root, other, &best);
    }
    places_[key] = static_cast<int32_t>(known_.size());
    known_.push_back(best);
    return known_.back();
  }

  void Try(Set set, int root, Set other, Choice* best) {
    const Choice& mine = Find(set & ~other, root);
    for (Set left = other; left != 0; left &= left - 1) {
      const int sender = __builtin_ctz(left);
      const double link = times_[static_cast<size_t>(root * devices_ + sender)];
      if (!Less(link + mine.cost, link + mine.total, *best)) continue;  // whatever the other half costs
      const Choice& theirs = Find(other, sender);
      const double cost = link + std::max(mine.cost, theirs.cost), total = link + mine.total + theirs.total;
      if (Less(cost, total, *best)) *best = {cost, total, other, sender};
    }
  }

  const int devices_;
  std::vector<double> times_;    // of steps, by two devices
  std::vector<int32_t> places_;  // in known_, of set and root
  std::deque<Choice> known_;
};

/* Halves by Kernighan and Lin's exchanges. */
class Bisection {
 public:
  /* `mine` keeps its first device, the root. */
  Bisection(const UsedLinks& links, std::vector<int> mine, std::vector<int> other)
      : links_(links), mine_(std::move(mine)), other_(std::move(other)) {}

  void Improve() {
    while (Pass()) {
    }
    ReachTheRoot();
  }
  const std::vector<int>& mine() const { return mine_; }
  const std::vector<int>& other() const { return other_; }

 private:
  struct Exchange {
    size_t a, b;
    double gain;
  };

  /* How much less weight is cut when mine_[a] and other_[b] change places. */
  double Gain(size_t a, size_t b) const {
    const int x = mine_[a], y = other_[b];
    double gain = -2 * links_.Weight(x, y);
    for (int d : other_) gain += (d == x ? 0 : links_.Weight(x, d)) - (d == y ? 0 : links_.Weight(y, d));
    for (int d : mine_) gain += (d == y ? 0 : links_.Weight(y, d)) - (d == x ? 0 : links_.Weight(x, d));
    return gain;
  }

  /* Exchanges pair after pair, the best first and each device once; keeps those up to the best sum
   * of gains. Returns whether it gained anything. */
  bool Pass() {
    std::vector<bool> fixed_a(mine_.size(), false), fixed_b(other_.size(), false);
    fixed_a[0] = true;
    std::vector<Exchange> done;
    double total = 0, most = 0;
    size_t keep = 0;
    for (size_t n = std::min(mine_.size() - 1, other_.size()); n > 0; --n) {
      Exchange best = {0, 0, -std::numeric_limits<double>::max()};
      for (size_t a = 0; a < mine_.size(); ++a) {
        for (size_t b = 0; b < other_.size(); ++b) {
          if (fixed_a[a] || fixed_b[b]) continue;
          const double gain = Gain(a, b);
          if (gain > best.gain + kTolerance) best = {a, b, gain};
        }
      }
      std::swap(mine_[best.a], other_[best.b]);
      fixed_a[best.a] = fixed_b[best.b] = true;
      done.push_back(best);
      total += best.gain;
      if (total > most + kTolerance) most = total, keep = done.size();
    }
    while (done.size() > keep) {
      std::swap(mine_[done.back().a], other_[done.back().b]);
      done.pop_back();
    }
    return keep > 0;
  }

  /* Gives the other half a device that has a link to the root, if there is one. */
  void ReachTheRoot() {
    const auto linked = [this](int d) { return links_.linked(mine_[0], d); };
    if (std::any_of(other_.begin(), other_.end(), linked)) return;
    Exchange best = {0, 0, -std::numeric_limits<double>::max()};
    for (size_t a = 1; a < mine_.size(); ++a)
      for (size_t b = 0; b < other_.size(); ++b)
        if (linked(mine_[a]) && Gain(a, b) > best.gain + kTolerance) best = {a, b, Gain(a, b)};
    if (best.a > 0) std::swap(mine_[best.a], other_[best.b]);
  }

  const UsedLinks& links_;
  std::vector<int> mine_, other_;
};

/* `set` begins with its root. */
void HeuristicSteps(const UsedLinks& links, const std::vector<int>& set, size_t rounds, std::vector<std::vector<TreeStep>>* out) {
  if (set.size() == 1) return;
  const auto middle = set.begin() + static_cast<int64_t>((set.size() + 1) / 2);
  Bisection halves(links, {set.begin(), middle}, {middle, set.end()});
  halves.Improve();
  std::vector<int> other = halves.other();
  std::sort(other.begin(), other.end());
  const auto sender = std::min_element(other.begin(), other.end(),
                                       [&](int a, int b) { return links.Time(set[0], a) < links.Time(set[0], b) * (1 - kTolerance); });
  (*out)[rounds - 1].push_back({*sender, set[0]});
  HeuristicSteps(links, halves.mine(), rounds - 1, out);
  std::rotate(other.begin(), sender, sender + 1);  // the sender is the first, the others stay in order
  HeuristicSteps(links, other, rounds - 1, out);
}

}  // namespace

std::vector<ReductionTree> PlanTrees(const Links& links, const TreeOptions& options) {
  const int n = links.devices();
  MXNET_CHECK_KIND(n >= 1, Value) << "[kvstore] a reduction tree of " << n << " devices; accepted: one or more";
  size_t rounds = 0;
  while ((int64_t{1} << rounds) < n) ++rounds;
  UsedLinks used(links, options.penalty);
  std::vector<ReductionTree> trees;
  for (int root = 0; root < n; ++root) {
    ReductionTree tree;
    tree.root = root;
    tree.rounds.resize(rounds);
    if (options.exact && n <= kMostExactDevices) {
      ExactPlanner(used, n).Steps((Set{1} << n) - 1, root, rounds, &tree.rounds);
    } else {
      std::vector<int> all{root};
      for (int d = 0; d < n; ++d)
        if (d != root) all.push_back(d);
      HeuristicSteps(used, all, rounds, &tree.rounds);
    }
    for (const auto& round : tree.rounds)
      for (const TreeStep& s : round) used.Use(s.from, s.to);
    trees.push_back(std::move(tree));
  }
  return trees;
}

double TreeTime(const Links& links, const ReductionTree& tree) {
  const UsedLinks as_they_are(links, 1);
  std::vector<double> ready(static_cast<size_t>(links.devices()), 0.0);
  for (const auto& round : tree.rounds)
    for (const TreeStep& s : round) {
      double& to = ready[static_cast<size_t>(s.to)];
      to = std::max(to, ready[static_cast<size_t>(s.from)]) + as_they_are.Time(s.from, s.to);
    }
  return ready[static_cast<size_t>(tree.root)];
}

std::string TreeText(const ReductionTree& tree, const std::vector<std::string>& names) {
  const auto name = [&names](int d) { return names[static_cast<size_t>(d)]; };
  std::string text = "root " + name(tree.root) + ":";
  for (size_t r = 0; r < tree.rounds.size(); ++r) {
    for (size_t i = 0; i < tree.rounds[r].size(); ++i)
      text += std::string(i ? ", " : r ? "; " : " ") + name(tree.rounds[r][i].from) + " -> " + name(tree.rounds[r][i].to);
  }
  return text;
}

}  // namespace kvstore
}  // namespace mxnet
