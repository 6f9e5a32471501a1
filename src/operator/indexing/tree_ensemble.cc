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
constexpr int kTogether = 8;  // trees that one thread walks down at a time: lookups of one wait while those of others run

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

/* The nodes at which one example ends in `count` trees. Whatever the arrays have, it reads within
 * them. */
template <int C, typename T>
void Walk(const Trees<T>& t, const T* x, const int32_t* roots, int count, uint32_t* at) {
  const uint32_t nodes = static_cast<uint32_t>(t.num_nodes), features = static_cast<uint32_t>(t.features);
  for (int j = 0; j < count; ++j) at[j] = std::min(static_cast<uint32_t>(roots[j]), nodes - 1);
  for (int64_t level = 0; level < t.depth; ++level) {
    uint32_t moved = 0;
    for (int j = 0; j < count; ++j) {
      const int32_t* node = t.nodes + static_cast<size_t>(at[j]) * 3;
      const uint32_t feature = static_cast<uint32_t>(node[0] >> 4);
      const T v = x[feature < features ? feature : 0];
      bool yes = Compare<C>(node[0], v, t.values[at[j]]);
      if (v != v) yes = yes || (node[0] & 8) != 0;
      const uint32_t next = std::min(static_cast<uint32_t>(yes ? node[1] : node[2]), nodes - 1);
      moved |= next ^ at[j];
      at[j] = next;
    }
    if (!moved) return;  // leaves lead to themselves
  }
}

template <typename T>
void Add(const Trees<T>& t, Fold fold, const uint32_t* at, int count, bool first, T* y) {
  for (int j = 0; j < count; ++j) {
    const uint32_t leaf = static_cast<uint32_t>(t.nodes[static_cast<size_t>(at[j]) * 3] >> 4);
    const T* w = t.weights + std::min<int64_t>(leaf, t.leaves - 1) * t.targets;
    if (first && j == 0)
      std::copy_n(w, t.targets, y);
    else if (fold == Fold::kSum)
      for (int64_t i = 0; i < t.targets; ++i) y[i] += w[i];
    else if (fold == Fold::kMin)
      for (int64_t i = 0; i < t.targets; ++i) y[i] = std::min(y[i], w[i]);
    else
      for (int64_t i = 0; i < t.targets; ++i) y[i] = std::max(y[i], w[i]);
  }
}

template <int C, typename T>
void Scores(const Trees<T>& t, Fold fold, const T* x, int64_t examples, T* y) {
  constexpr int64_t kSteps = 8192;  // of some nanoseconds each
  ParallelFor(examples, kSteps / (1 + t.trees * std::min<int64_t>(t.depth, kSteps)) + 1, [&](int64_t begin, int64_t end) {
    uint32_t at[kTogether];
    for (int64_t i = begin; i < end; ++i) {
      T* scores = y + i * t.targets;
      if (t.trees == 0) std::fill_n(scores, t.targets, T(0));
      for (int64_t tree = 0; tree < t.trees; tree += kTogether) {
        const int count = static_cast<int>(std::min<int64_t>(kTogether, t.trees - tree));
        Walk<C>(t, x + i * t.features, t.roots + tree, count, at);
        Add(t, fold, at, count, tree == 0, scores);
      }
    }
  });
}

/* No way is longer than there are nodes, unless it is a circle. */
int64_t StepsAtMost(const KernelArgs& a) { return std::min(a.param<TreeEnsembleParam>().depth, a.in[1].shape[0]); }

template <typename T>
void OnCpu(KernelArgs& a, const TreeEnsembleParam& param) {
  const Trees<T> t = {a.in[1].data<int32_t>(), a.in[2].data<T>(),   a.in[3].data<int32_t>(), a.in[4].data<T>(),   a.in[0].shape[1],
                      a.in[1].shape[0],        a.in[3].Size(), a.in[4].shape[0],        a.in[4].shape[1],
                      StepsAtMost(a)};
  const auto run = param.comparison == kLessEqual ? Scores<kLessEqual, T> : param.comparison == kLess ? Scores<kLess, T> : Scores<kMixed, T>;
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
  rtc::LaunchItems(a.run, {"operator/indexing/gpu_trees.cuh", "tree_ensemble", {a.in[0].dtype}, {param.aggregate}}, a.in[0].shape[0], &args);
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
