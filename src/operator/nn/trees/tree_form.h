/*
 * Decision trees in the form in which _contrib_tree_ensemble walks them on a CPU.
 *
 * FORM   The two children of a node are neighbours, so the next node is a sum and no lookup. Each
 *        node has its pair of children to itself: what several nodes lead to is there as often, its
 *        own children once. A leaf leads to itself whatever the data are.
 * ORDER  Questions are turned, and their children exchanged, so that NaN never goes to the second
 *        child. Where that leaves one question for all nodes, no data is asked whether it is NaN.
 *        Else they are turned so that data below the node's value never go there.
 * TOPS   The first levels of a tree are there once more as a full tree (tree_tops.h).
 * LEAVES The value of a leaf is NaN, to which every comparison says no. Its lower bits are the
 *        leaf's number, where numbers are small enough. Else those lie behind the nodes.
 */
#ifndef MXNET_OPERATOR_NN_TREES_TREE_FORM_H_
#define MXNET_OPERATOR_NN_TREES_TREE_FORM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "operator/nn/trees/tree_tops.h"

namespace mxnet {
namespace trees {

enum Comparison : int { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual };

/* What the operator is given. */
template <typename T>
struct Given {
  const int32_t* nodes;  // (count, 3): feature or leaf * 16 + missing goes to yes * 8 + comparison; yes; no
  const T* values;
  const int32_t* roots;
  int64_t count, trees, features, leaves;
  int comparison;  // of all nodes; -1: as each says
};

template <typename T>
struct Node {
  T value;
  int32_t asks;    // feature * 16 + Go
  uint32_t child;  // the first of two; a leaf: itself
};

/* The form in one piece of memory: a head, the tops of trees, then nodes of which those of roots
 * are the first. */
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
size_t BytesOf(int64_t trees, int64_t room, int64_t leaves) {
  return sizeof(Head) + static_cast<size_t>(trees) * sizeof(Top<T>) +
         static_cast<size_t>(room) * (sizeof(Node<T>) + (leaves > kMostLeaves<T> ? sizeof(uint32_t) : 0));
}

template <typename T>
class Packer {
 public:
  Packer(const Given<T>& given, int64_t room, void* to)
      : g_(given),
        room_(static_cast<uint32_t>(room)),
        head_(static_cast<Head*>(to)),
        tops_(reinterpret_cast<Top<T>*>(head_ + 1)),
        nodes_(reinterpret_cast<Node<T>*>(tops_ + given.trees)),
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
      if (head_->fits) FillTop(&tops_[tree], 0, static_cast<uint32_t>(tree));
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

  void FillTop(Top<T>* top, int n, uint32_t at) {
    if (n >= kTopNodes) return void(top->below[n - kTopNodes] = at);
    const Node<T>& node = nodes_[at];
    top->value[n] = node.value, top->asks[n] = node.asks;
    const bool leaf = node.child == at;
    FillTop(top, 2 * n + 1, node.child);
    FillTop(top, 2 * n + 2, leaf ? at : node.child + 1);
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
  Top<T>* const tops_;
  Node<T>* const nodes_;
  std::vector<uint32_t> pair_;  // of a given node: where its children are; 0: not known yet
  std::vector<uint32_t> todo_;
  uint32_t next_ = 0;
  bool by_missing_ = true;
};

}  // namespace trees
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_TREES_TREE_FORM_H_
