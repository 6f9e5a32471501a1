// _contrib_tree_ensemble: the scores of decision trees.
#include <algorithm>
#include <limits>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

enum class Fold : int { kSum, kMin, kMax };  // as gpu_trees.cuh, like the comparisons
enum Comparison : int { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual };
constexpr int kMixed = -1;
constexpr int kTogether = 16;  // ways that one thread walks down at a time

struct TreeEnsembleParam : public Parameter<TreeEnsembleParam> {
  int64_t depth;
  int comparison, aggregate;
  MXNET_DECLARE_PARAM(TreeEnsembleParam) {
    MXNET_FIELD(depth).set_lower_bound(0).describe("The most steps from a root to a leaf.");
    MXNET_FIELD(comparison)
        .set_default(kMixed)
        .set_range(kMixed, kNotEqual)
        .describe("What all nodes ask: 0 data <= value, 1 <, 2 >=, 3 >, 4 ==, 5 !=. -1: each node says it.");
    MXNET_FIELD(aggregate)
        .set_default(static_cast<int>(Fold::kSum))
        .add_enum("sum", static_cast<int>(Fold::kSum))
        .add_enum("min", static_cast<int>(Fold::kMin))
        .add_enum("max", static_cast<int>(Fold::kMax))
        .describe("How the weights of all trees become one score.");
  }
};
MXNET_REGISTER_PARAM(TreeEnsembleParam);

void CheckRank(const Attrs& attrs, const char* name, const Shape& shape, int rank) {
  MXNET_CHECK_KIND(!shape.ndim_known() || shape.ndim() == rank, Value)
      << "[" << attrs.op->name << "] " << name << " has shape " << shape << "; accepted: " << rank << " dimensions";
}

bool TreesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  static const std::pair<const char*, int> ranks[] = {{"data", 2}, {"nodes", 2}, {"values", 1}, {"roots", 1}, {"weights", 2}};
  bool known = true;
  for (size_t i = 0; i < in->size(); ++i) CheckRank(attrs, ranks[i].first, (*in)[i], ranks[i].second), known = known && (*in)[i].known();
  if (!known) return false;
  const Shape &data = (*in)[0], &nodes = (*in)[1], &weights = (*in)[4];
  MXNET_CHECK_KIND(nodes[1] == 3, Value) << "[" << attrs.op->name << "] nodes has shape " << nodes << "; accepted: (nodes, 3)";
  AssignShape(attrs, "values", &(*in)[2], Shape{nodes[0]});
  MXNET_CHECK_KIND(data[1] > 0 && nodes[0] > 0 && weights[0] > 0, Value)
      << "[" << attrs.op->name << "] there are " << data[1] << " features, " << nodes[0] << " nodes and " << weights[0]
      << " leaves; accepted: at least one of each";
  AssignShape(attrs, "the result", &(*out)[0], Shape{data[0], weights[1]});
  return true;
}

bool TreesType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "nodes", &(*in)[1], kInt32), AssignType(attrs, "roots", &(*in)[3], kInt32);
  for (int i : {2, 4}) AssignType(attrs, "values or weights", &(*in)[static_cast<size_t>(i)], (*in)[0]);
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return (*in)[0] != kDTypeUnknown;
}

template <typename T>
struct Trees {
  const int32_t* nodes;  // (nodes, 3): feature or leaf * 16 + missing goes to yes * 8 + comparison; yes; no
  const T* values;
  const int32_t* roots;
  const T* weights;
  int64_t features, num_nodes, trees, leaves, targets, depth;
};

template <int C, typename T>
bool Compare(int node, T x, T value) {
  switch (C == kMixed ? node & 7 : C) {
    case kLess: return x < value;
    case kGreaterEqual: return x >= value;
    case kGreater: return x > value;
    case kEqual: return x == value;
    case kNotEqual: return x != value;
    default: return x <= value;
  }
}

/* A way from a root to a leaf: of one example in one tree. */
template <typename T>
struct Way {
  const T* x;
  uint32_t at;      // a node
  int32_t example;  // of those that are computed together
};

/* Walks `count` ways to their ends. Which child is next must not be a branch, for nobody can
 * foresee it; lookups of one way wait while those of others run. Whatever the arrays have, it reads
 * within them. kMissing: data may have NaN. */
template <int C, bool kMissing, typename T>
void Walk(const Trees<T>& t, Way<T>* ways, int count) {
  const uint32_t last = static_cast<uint32_t>(t.num_nodes) - 1, last_feature = static_cast<uint32_t>(t.features) - 1;
  for (int64_t level = 0; level < t.depth; ++level) {
    uint32_t moved = 0;
    for (int j = 0; j < count; ++j) {
      Way<T>& way = ways[j];
      const int32_t* node = t.nodes + static_cast<size_t>(way.at) * 3;
      const T v = way.x[std::min(static_cast<uint32_t>(node[0] >> 4), last_feature)];
      int yes = Compare<C>(node[0], v, t.values[way.at]);
      if (kMissing) yes |= static_cast<int>(v != v) & (node[0] >> 3);
      const uint32_t next = std::min(static_cast<uint32_t>(node[2 - yes]), last);
      moved |= next ^ way.at;
      way.at = next;
    }
    if (!moved) return;  // leaves lead to themselves
  }
}

/* What the leaves at which `count` ways have ended add to the scores. The ways of one example are
 * in the order of trees. */
template <typename T, typename F>
void Add(const Trees<T>& t, const Way<T>* ways, int count, T* y, F fold) {
  for (int j = 0; j < count; ++j) {
    const uint32_t leaf = static_cast<uint32_t>(t.nodes[static_cast<size_t>(ways[j].at) * 3] >> 4);
    const T* w = t.weights + std::min<int64_t>(leaf, t.leaves - 1) * t.targets;
    T* scores = y + ways[j].example * t.targets;
    if (t.targets == 1)
      scores[0] = fold(scores[0], w[0]);
    else
      for (int64_t i = 0; i < t.targets; ++i) scores[i] = fold(scores[i], w[i]);
  }
}

template <typename T>
void Add(const Trees<T>& t, Fold fold, bool first, const Way<T>* ways, int count, T* y) {
  if (first) return Add(t, ways, count, y, [](T, T w) { return w; });
  if (fold == Fold::kMin) return Add(t, ways, count, y, [](T s, T w) { return std::min(s, w); });
  if (fold == Fold::kMax) return Add(t, ways, count, y, [](T s, T w) { return std::max(s, w); });
  Add(t, ways, count, y, [](T s, T w) { return s + w; });
}

/* The scores of some examples: of as many in one tree at a time as there are, since its nodes are
 * in the cache then; of few, in several trees. */
template <int C, bool kMissing, typename T>
void ScoresOf(const Trees<T>& t, Fold fold, const T* x, int64_t examples, T* y) {
  Way<T> ways[kTogether];
  const uint32_t last = static_cast<uint32_t>(t.num_nodes) - 1;
  const int64_t trees = std::max<int64_t>(1, kTogether / examples);
  for (int64_t tree = 0; tree < t.trees; tree += trees) {
    const int64_t end = std::min(t.trees, tree + trees);
    for (int64_t begin = 0; begin < examples; begin += kTogether) {
      const int64_t count = std::min<int64_t>(kTogether, examples - begin);
      int n = 0;
      for (int64_t k = tree; k < end; ++k)
        for (int64_t i = begin; i < begin + count; ++i)
          ways[n++] = {x + i * t.features, std::min(static_cast<uint32_t>(t.roots[k]), last), static_cast<int32_t>(i)};
      Walk<C, kMissing>(t, ways, n);
      const int first = tree == 0 ? static_cast<int>(count) : 0;
      if (first) Add(t, fold, true, ways, first, y);
      Add(t, fold, false, ways + first, n - first, y);
    }
  }
}

template <typename T>
bool AnyMissing(const T* x, int64_t size) {
  bool any = false;
  for (int64_t i = 0; i < size; ++i) any |= x[i] != x[i];
  return any;
}

template <int C, typename T>
void Scores(const Trees<T>& t, Fold fold, const T* x, int64_t examples, T* y) {
  if (t.trees == 0) return void(std::fill_n(y, examples * t.targets, T(0)));
  constexpr int64_t kSteps = 8192;        // of some two nanoseconds each
  constexpr int64_t kNumbers = 16 << 10;  // of data and scores: they stay in the cache while trees pass
  const int64_t block = std::clamp<int64_t>(kNumbers / (t.features + t.targets), kTogether, 8 * kTogether);
  ParallelFor(examples, kSteps / (1 + t.trees * std::min<int64_t>(t.depth, kSteps)) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += block) {
      const int64_t count = std::min(block, end - i);
      const T* from = x + i * t.features;
      const auto run = AnyMissing(from, count * t.features) ? ScoresOf<C, true, T> : ScoresOf<C, false, T>;
      run(t, fold, from, count, y + i * t.targets);
    }
  });
}

/* No way is longer than there are nodes, unless it is a circle. */
int64_t StepsAtMost(const KernelArgs& a) { return std::min(a.param<TreeEnsembleParam>().depth, a.in[1].shape[0]); }

template <typename T>
void OnCpu(KernelArgs& a, const TreeEnsembleParam& param) {
  const Trees<T> t = {a.in[1].data<int32_t>(), a.in[2].data<T>(), a.in[3].data<int32_t>(), a.in[4].data<T>(), a.in[0].shape[1],
                      a.in[1].shape[0],        a.in[3].Size(),    a.in[4].shape[0],        a.in[4].shape[1],  StepsAtMost(a)};
  const auto run = param.comparison == kLessEqual ? Scores<kLessEqual, T>
                   : param.comparison == kLess    ? Scores<kLess, T>
                                                  : Scores<kMixed, T>;
  run(t, static_cast<Fold>(param.aggregate), a.in[0].data<T>(), a.in[0].shape[0], a.out[0].data<T>());
}

void TreeEnsemble(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const auto& param = a.param<TreeEnsembleParam>();
  if (!a.run.ctx.is_gpu()) return a.in[0].dtype == kFloat64 ? OnCpu<double>(a, param) : OnCpu<float>(a, param);
  rtc::Arguments args;
  for (int i = 0; i < 5; ++i) args.Add(a.in[static_cast<size_t>(i)].dptr);
  args.Add(a.out[0].dptr).Add(a.in[0].shape[1]).Add(a.in[1].shape[0]).Add(a.in[3].Size());
  args.Add(a.in[4].shape[0]).Add(a.in[4].shape[1]).Add(StepsAtMost(a));
  rtc::LaunchItems(a.run, {"operator/indexing/gpu_trees.cuh", "tree_ensemble", {a.in[0].dtype}, {param.aggregate}}, a.in[0].shape[0],
                   &args);
}

MXNET_REGISTER_OP(_contrib_tree_ensemble)
    .describe(
        "The scores (examples, targets) that decision trees give to data (examples, features).\n\n"
        "A row of nodes has three numbers. The first is the feature that a node asks for, times 16, plus 8 if NaN goes to yes, plus its "
        "comparison with the node's value; the others are the nodes for yes and for no. A leaf leads to itself twice, and has its row of "
        "weights in the place of a feature. roots has the first node of each tree. float32 and float64.")
    .set_param<TreeEnsembleParam>()
    .set_inputs({"data", "nodes", "values", "roots", "weights"})
    .set_dtypes(dtypes::kReals)
    .set_infer_shape(TreesShape)
    .set_infer_type(TreesType)
    .set_zero_gradient()
    .set_kernel(TreeEnsemble);

}  // namespace
}  // namespace mxnet
