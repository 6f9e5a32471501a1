/*
 * Decision trees as _contrib_tree_ensemble walks them on a CPU.
 *
 * FORM   The two children of a node are neighbours, so the next node is a sum and no lookup. Each
 *        node has its pair of children to itself: what several nodes lead to is there as often, its
 *        own children once. A leaf leads to itself whatever the data are.
 * ORDER  Questions are turned, and their children exchanged, so that NaN never goes to the second
 *        child. Where that leaves one question for all nodes, no data is asked whether it is NaN.
 *        Else they are turned so that data below the node's value never go there.
 * LEAVES The value of a leaf is NaN, to which every comparison says no. Its lower bits are the
 *        leaf's number, where numbers are small enough. Else those lie behind the nodes.
 */
#ifndef MXNET_OPERATOR_INDEXING_TREE_WALK_H_
#define MXNET_OPERATOR_INDEXING_TREE_WALK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace mxnet {
namespace trees {

enum Comparison : int { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual };
/* For which data the second child is next: all nodes alike, or each as it says. */
enum Question : int { kAbove, kNotBelow, kBelow, kNotAbove, kAny };

/* What the operator is given. */
template <typename T>
struct Given {
  const int32_t* nodes;  // (count, 3): feature or leaf * 16 + missing goes to yes * 8 + comparison; yes; no
  const T* values;
  const int32_t* roots;
  int64_t count, trees, features, leaves;
  int comparison;  // of all nodes; -1: as each says
};

enum Go : int { kBelowGoes = 1, kEqualGoes = 2, kAboveGoes = 4, kMissingGoes = 8 };  // to the second child

template <typename T>
struct Node {
  T value;
  int32_t asks;    // feature * 16 + Go
  uint32_t child;  // the first of two; a leaf: itself
};

/* The form in one piece of memory: a head, then nodes of which those of roots are the first. */
struct Head {
  int32_t question;
  int32_t fits;          // 0: there are more nodes than room
  int32_t asks_missing;  // NaN goes to the second child of some nodes
  int32_t unused[13];
};

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
/* So many leaves have numbers that fit beside the bits that make NaN. */
template <typename T>
constexpr int64_t kMostLeaves = int64_t{1} << (sizeof(T) == 8 ? 31 : 22);

template <typename T>
T OfLeaf(uint32_t leaf) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  BitsOf<T> bits;
  std::memcpy(&bits, &nan, sizeof(T));
  bits |= leaf;
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/* REQUIRES: a value of OfLeaf. */
template <typename T>
uint32_t LeafOf(T value) {
  BitsOf<T> bits;
  std::memcpy(&bits, &value, sizeof(T));
  return static_cast<uint32_t>(bits & static_cast<BitsOf<T>>(kMostLeaves<T> - 1));
}

template <typename T>
size_t BytesOf(int64_t room, int64_t leaves) {
  return sizeof(Head) + static_cast<size_t>(room) * (sizeof(Node<T>) + (leaves > kMostLeaves<T> ? sizeof(uint32_t) : 0));
}

template <typename T>
class Packer {
 public:
  Packer(const Given<T>& given, int64_t room, void* to)
      : g_(given), room_(static_cast<uint32_t>(room)), head_(static_cast<Head*>(to)), nodes_(reinterpret_cast<Node<T>*>(head_ + 1)),
        pair_(static_cast<size_t>(given.count), 0) {}

  void Run() {
    *head_ = {Turned(), 1, 0, {}};
    next_ = static_cast<uint32_t>(g_.trees);
    for (int64_t tree = 0; tree < g_.trees && head_->fits; ++tree) {
      todo_.clear();
      Put(Within(g_.roots[tree], g_.count), static_cast<uint32_t>(tree));
      for (size_t i = 0; i < todo_.size() && head_->fits; ++i) {
        const uint32_t from = todo_[i], to = pair_[from];
        const bool turned = Turns(Asks(from));
        Put(Child(from, turned ? 2 : 1), to);
        Put(Child(from, turned ? 1 : 2), to + 1);
      }
    }
  }

 private:
  static uint32_t Within(int32_t place, int64_t count) { return std::min(static_cast<uint32_t>(place), static_cast<uint32_t>(count - 1)); }
  const int32_t* Of(uint32_t node) const { return g_.nodes + static_cast<size_t>(node) * 3; }
  uint32_t Child(uint32_t node, int which) const { return Within(Of(node)[which], g_.count); }

  bool IsLeaf(uint32_t node) const { return Child(node, 1) == node && Child(node, 2) == node; }

  /* Which data go to the child for no. */
  int Asks(uint32_t node) const {
    static const int no[] = {kAboveGoes, kEqualGoes | kAboveGoes, kBelowGoes, kBelowGoes | kEqualGoes, kBelowGoes | kAboveGoes, kEqualGoes};
    const int word = Of(node)[0], own = (word & 7) > kNotEqual ? kLessEqual : word & 7;
    const int mode = g_.comparison == kLessEqual || g_.comparison == kLess ? g_.comparison : own;
    const bool nan = std::isnan(g_.values[node]);
    const int go = !nan ? no[mode] : mode == kNotEqual ? 0 : kBelowGoes | kEqualGoes | kAboveGoes;
    return go | ((word & 8) || mode == kNotEqual ? 0 : kMissingGoes);
  }
  bool Turns(int asks) const { return asks & (by_missing_ ? kMissingGoes : kBelowGoes); }

  /* Decides how questions are turned, and what they are then. */
  int Turned() {
    for (const bool by_missing : {true, false}) {
      by_missing_ = by_missing;
      int all = -1;  // Go of all nodes; 0: of each its own
      for (uint32_t i = 0; i < g_.count && all != 0; ++i) {
        if (IsLeaf(i)) continue;
        const int own = Asks(i), go = (Turns(own) ? own ^ 15 : own) & 7;
        all = all == -1 || all == go ? go : 0;
      }
      switch (all) {
        case -1:
        case kAboveGoes: return kAbove;
        case kAboveGoes | kEqualGoes: return kNotBelow;
        case kBelowGoes: return kBelow;
        case kBelowGoes | kEqualGoes: return kNotAbove;
        default:;
      }
    }
    return kAny;
  }

  void Put(uint32_t node, uint32_t at) {
    const int32_t* given = Of(node);
    if (IsLeaf(node)) {
      const uint32_t leaf = Within(given[0] >> 4, g_.leaves);
      const bool fits = g_.leaves <= kMostLeaves<T>;
      nodes_[at] = {OfLeaf<T>(fits ? leaf : 0), 0, at};
      if (!fits) reinterpret_cast<uint32_t*>(nodes_ + room_)[at] = leaf;
      return;
    }
    if (pair_[node] == 0) {
      if (room_ - next_ < 2) return void(head_->fits = 0);
      pair_[node] = next_, next_ += 2;
      todo_.push_back(node);
    }
    const int own = Asks(node), go = Turns(own) ? own ^ 15 : own;
    head_->asks_missing |= go & kMissingGoes;
    const T value = std::isnan(g_.values[node]) ? T(0) : g_.values[node];
    nodes_[at] = {value, static_cast<int32_t>(Within(given[0] >> 4, g_.features)) * 16 + go, pair_[node]};
  }

  const Given<T>& g_;
  const uint32_t room_;
  Head* const head_;
  Node<T>* const nodes_;
  std::vector<uint32_t> pair_;  // of a given node: where its children are; 0: not known yet
  std::vector<uint32_t> todo_;
  uint32_t next_ = 0;
  bool by_missing_ = true;
};

template <typename T>
struct Forest {
  const Node<T>* nodes;
  const uint32_t* leaf;  // of nodes; null: their values say it
  const T* weights;  // (leaves, targets)
  int64_t features, trees, targets, depth;
  bool asks_missing;
  int64_t usual_depth;
};

constexpr int kTogether = 128;  // ways from roots to leaves that one thread walks at a time

struct Way {
  uint32_t at, number;
};

/* Ways that are walked together, each of one example in one tree: lookups of one wait while those of
 * others run. */
template <typename T>
struct Ways {
  const T* x[kTogether];    // the examples
  uint32_t end[kTogether];  // the nodes at which they have ended
  Way open[kTogether];      // those that go on, side by side
};

template <int Q, bool kMissing, typename T>
uint32_t Second(const Node<T>& n, T x) {
  if (Q == kAny) {
    const int is = (x < n.value ? kBelowGoes : 0) | (x == n.value ? kEqualGoes : 0) | (x > n.value ? kAboveGoes : 0) | (x != x ? kMissingGoes : 0);
    return (n.asks & is) != 0;
  }
  uint32_t second = Q == kAbove ? x > n.value : Q == kNotBelow ? x >= n.value : Q == kBelow ? x < n.value : x <= n.value;
  if (kMissing) second |= static_cast<uint32_t>(x != x) & static_cast<uint32_t>(n.asks >> 3);
  return second;
}

/* kSteps steps of the `count` open ways; how many stay open. Which child is next must not be a branch,
 * for nobody can foresee it; nor must be whether a way goes on. kMissing: data may have NaN. */
template <int Q, bool kMissing, int kSteps, typename T>
int Steps(const Forest<T>& f, Ways<T>* ways, int count) {
  int open = 0;
  for (int j = 0; j < count; ++j) {
    const Way way = ways->open[j];
    const T* const x = ways->x[way.number];
    uint32_t at = way.at;
    for (int s = 0; s < kSteps; ++s) {
      const Node<T>& n = f.nodes[at];
      at = n.child + Second<Q, kMissing>(n, x[n.asks >> 4]);
    }
    ways->end[way.number] = at;
    ways->open[open] = {at, way.number};
    open += f.nodes[at].child != at;
  }
  return open;
}

template <int Q, bool kMissing, typename T>
void Walk(const Forest<T>& f, Ways<T>* ways, int count) {
  int64_t left = f.depth;
  if (left == 1) {
    Steps<Q, kMissing, 1>(f, ways, count);
    return;
  }
  if (left & 1) count = Steps<Q, kMissing, 3>(f, ways, count), left -= 3;
  for (; left > 0 && count > 0; left -= 2) count = Steps<Q, kMissing, 2>(f, ways, count);
}

/* Calls add(tree, ends) for trees [begin, end), with the ends of at most kTogether examples: of many
 * in one tree at a time, since its nodes are in the cache then; of few, in several trees. */
template <int Q, bool kMissing, typename T, typename F>
void Ends(const Forest<T>& f, const T* x, int64_t examples, int64_t begin, int64_t end, F&& add) {
  Ways<T> ways;
  const int64_t trees = std::min(end - begin, kTogether / examples);
  for (int64_t k = 0, n = 0; k < std::max<int64_t>(1, trees); ++k)
    for (int64_t i = 0; i < examples; ++i) ways.x[n++] = x + i * f.features;
  for (int64_t tree = begin; tree < end; tree += std::max<int64_t>(1, trees)) {
    const int64_t stop = std::min(end, tree + std::max<int64_t>(1, trees));
    uint32_t n = 0;
    for (int64_t k = tree; k < stop; ++k)
      for (int64_t i = 0; i < examples; ++i, ++n) ways.open[n] = {static_cast<uint32_t>(k), n}, ways.end[n] = static_cast<uint32_t>(k);
    Walk<Q, kMissing>(f, &ways, static_cast<int>(n));
    for (int64_t k = tree; k < stop; ++k) add(k, ways.end + (k - tree) * examples);
  }
}

template <typename T>
bool AnyMissing(const T* x, int64_t size) {
  int any = 0;  // an integer, so that the loop takes several numbers at a time
  for (int64_t i = 0; i < size; ++i) any |= x[i] != x[i];
  return any != 0;
}

template <int Q, typename T, typename F>
void Ends(const Forest<T>& f, const T* x, int64_t examples, int64_t begin, int64_t end, F&& add) {
  if (Q == kAny || !f.asks_missing || !AnyMissing(x, examples * f.features))
    Ends<Q, false>(f, x, examples, begin, end, add);
  else
    Ends<Q, true>(f, x, examples, begin, end, add);
}

/* The sums of `count` examples and the weights of the leaves at which they have ended in one tree. */
template <typename T, typename F>
void Add(const Forest<T>& f, const uint32_t* ends, int64_t count, T* y, F fold) {
  const int64_t targets = f.targets;
  for (int64_t j = 0; j < count; ++j, y += targets) {
    const uint32_t leaf = f.leaf ? f.leaf[ends[j]] : LeafOf(f.nodes[ends[j]].value);
    const T* w = f.weights + static_cast<int64_t>(leaf) * targets;
    if (targets == 1)
      y[0] = fold(y[0], w[0]);
    else
      for (int64_t i = 0; i < targets; ++i) y[i] = fold(y[i], w[i]);
  }
}

}  // namespace trees
}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_TREE_WALK_H_
