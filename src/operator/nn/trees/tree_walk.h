/* Ways from the roots of decision trees to their leaves, many at a time (tree_form.h). */
#ifndef MXNET_OPERATOR_NN_TREES_TREE_WALK_H_
#define MXNET_OPERATOR_NN_TREES_TREE_WALK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "operator/nn/trees/tree_form.h"

namespace mxnet {
namespace trees {

template <typename T>
struct Forest {
  int question;
  const Top<T>* tops;
  const Node<T>* nodes;
  const uint32_t* leaf;  // of nodes; null: their values say it
  const T* weights;      // (leaves, targets)
  int64_t features, trees, targets, depth;
  bool asks_missing;
  int64_t usual_depth;
  uint32_t last_leaf;
};

constexpr int kTogether = 128;  // ways from roots to leaves that one thread walks at a time
constexpr int kFewest = 4;      // examples for which tops are asked

struct Way {
  uint32_t at, number;
};

/* Ways that are walked together, each of one example in one tree: lookups of one wait while those
 * of others run. */
template <typename T>
struct Ways {
  const T* x[kTogether];    // the examples
  uint32_t end[kTogether];  // the nodes at which they have ended
  Way open[kTogether];      // those that go on, side by side
};

template <int Q, bool kMissing, typename T>
uint32_t Second(const Node<T>& n, T x) {
  if (Q == kAny) {
    const int is =
        (x < n.value ? kBelowGoes : 0) | (x == n.value ? kEqualGoes : 0) | (x > n.value ? kAboveGoes : 0) | (x != x ? kMissingGoes : 0);
    return (n.asks & is) != 0;
  }
  uint32_t second = Q == kAbove ? x > n.value : Q == kNotBelow ? x >= n.value : Q == kBelow ? x < n.value : x <= n.value;
  if (kMissing) second |= static_cast<uint32_t>(x != x) & static_cast<uint32_t>(n.asks >> 3);
  return second;
}

/* kSteps steps of the `count` open ways; how many stay open. Which child is next must not be a
 * branch, for nobody can foresee it; nor must be whether a way goes on. kMissing: data may have
 * NaN. */
template <int Q, bool kMissing, int kSteps, typename T>
int Steps(const Forest<T>& f, Ways<T>* ways, int count) {
  int open = 0;
  for (int j = 0; j < count; ++j) {
    const Way way = ways->open[j];
    const T* const x = ways->x[way.number];
    uint32_t at = way.at;
#pragma GCC unroll 4
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
void Walk(const Forest<T>& f, Ways<T>* ways, int count, int64_t left) {
  if (left == 1) {
    Steps<Q, kMissing, 1>(f, ways, count);
    return;
  }
  if (left & 1) count = Steps<Q, kMissing, 3>(f, ways, count), left -= 3;
  for (; left > 0 && count > 0; left -= 2) count = Steps<Q, kMissing, 2>(f, ways, count);
}

/* Opens ways from the roots of trees [begin, end); how many. */
template <typename T>
int FromRoots(int64_t examples, int64_t begin, int64_t end, Ways<T>* ways) {
  uint32_t n = 0;
  for (int64_t k = begin; k < end; ++k)
    for (int64_t i = 0; i < examples; ++i, ++n) {
      ways->open[n] = {static_cast<uint32_t>(k), n};
      ways->end[n] = static_cast<uint32_t>(k);
    }
  return static_cast<int>(n);
}

inline void AskTops(int question, bool missing, const Top<float>* tops, int64_t trees, const float* columns, int64_t features,
                    int64_t groups, uint32_t* at) {
  MXNET_CPU_CALL(TreeTops)(question, missing, tops, trees, columns, features, groups, at);
}
inline void AskTops(int question, bool missing, const Top<double>* tops, int64_t trees, const double* columns, int64_t features,
                    int64_t groups, uint32_t* at) {
  MXNET_CPU_CALL(TreeTopsDouble)(question, missing, tops, trees, columns, features, groups, at);
}

/* From where their tops lead. */
template <bool kMissing, typename T>
int FromTops(const Forest<T>& f, const T* columns, int64_t examples, int64_t begin, int64_t end, Ways<T>* ways) {
  const int64_t groups = (examples + kLanes - 1) / kLanes;
  alignas(64) uint32_t at[kTogether / kFewest * kLanes];
  AskTops(f.question, kMissing, f.tops + begin, end - begin, columns, f.features, groups, at);
  int open = 0;
  uint32_t n = 0;
  for (int64_t k = 0; k < end - begin; ++k)
    for (int64_t i = 0; i < examples; ++i, ++n) {
      const uint32_t node = at[k * groups * kLanes + i];
      ways->end[n] = node;
      ways->open[open] = {node, n};
      open += f.nodes[node].child != node;
    }
  return open;
}

/* (groups, features, kLanes) of data (examples, features); others are 0. */
template <typename T>
void ToColumns(const T* x, int64_t examples, int64_t features, std::vector<T>* to) {
  const int64_t groups = (examples + kLanes - 1) / kLanes;
  to->assign(static_cast<size_t>(groups * features * kLanes), T(0));
  for (int64_t i = 0; i < examples; ++i) {
    T* const column = to->data() + i / kLanes * features * kLanes + i % kLanes;
    for (int64_t j = 0; j < features; ++j) column[j * kLanes] = x[i * features + j];
  }
}

/* Calls add(tree, ends) for trees [begin, end), with the ends of at most kTogether examples: of
 * many in one tree at a time, since its nodes are in the cache then; of few, in several trees. */
template <int Q, bool kMissing, typename T, typename F>
void Ends(const Forest<T>& f, const T* x, int64_t examples, int64_t begin, int64_t end, F&& add) {
  Ways<T> ways;
  const int64_t trees = std::max<int64_t>(1, std::min(end - begin, kTogether / examples));
  for (int64_t k = 0, n = 0; k < trees; ++k)
    for (int64_t i = 0; i < examples; ++i) ways.x[n++] = x + i * f.features;
  // Columns take as long as some trees.
  const bool tops = Q != kAny && examples >= kFewest && f.depth > 1 && (end - begin) * kFewest >= f.features;
  std::vector<T> columns;
  if (tops) ToColumns(x, examples, f.features, &columns);
  for (int64_t tree = begin; tree < end; tree += trees) {
    const int64_t stop = std::min(end, tree + trees);
    const int open = tops ? FromTops<kMissing>(f, columns.data(), examples, tree, stop, &ways) : FromRoots(examples, tree, stop, &ways);
    Walk<Q, kMissing>(f, &ways, open, tops ? f.depth - kTopLevels : f.depth);
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

/* The sums of `count` examples and the weights of the leaves at which they ended in one tree. */
template <typename T, typename F>
void Add(const Forest<T>& f, const uint32_t* ends, int64_t count, T* y, F fold) {
  const int64_t targets = f.targets;
  for (int64_t j = 0; j < count; ++j, y += targets) {
    const uint32_t leaf = f.leaf ? f.leaf[ends[j]] : LeafOf(f.nodes[ends[j]].value);
    // A way that has not come to a leaf, for `depth` is too small or nodes lead back, ends with any
    // value.
    const T* w = f.weights + static_cast<int64_t>(std::min(leaf, f.last_leaf)) * targets;
    if (targets == 1)
      y[0] = fold(y[0], w[0]);
    else
      for (int64_t i = 0; i < targets; ++i) y[i] = fold(y[i], w[i]);
  }
}

}  // namespace trees
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_TREES_TREE_WALK_H_
