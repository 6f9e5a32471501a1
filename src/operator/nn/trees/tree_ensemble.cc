// _contrib_tree_ensemble: the scores of decision trees.
#include <algorithm>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/trees/tree_walk.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/kept_forms.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

enum class Fold : int { kSum, kMin, kMax };  // as gpu_trees.cuh, like the comparisons
constexpr int kMixed = -1;

struct TreeEnsembleParam : public Parameter<TreeEnsembleParam> {
  int64_t depth;
  int comparison, aggregate;
  MXNET_DECLARE_PARAM(TreeEnsembleParam) {
    MXNET_FIELD(depth).set_lower_bound(0).describe("The most steps from a root to a leaf.");
    MXNET_FIELD(comparison)
        .set_default(kMixed)
        .set_range(kMixed, trees::kNotEqual)
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
void Add(const trees::Forest<T>& f, Fold fold, bool first, const uint32_t* ends, int64_t count, T* y) {
  if (first) return trees::Add(f, ends, count, y, [](T, T w) { return w; });
  if (fold == Fold::kMin) return trees::Add(f, ends, count, y, [](T s, T w) { return std::min(s, w); });
  if (fold == Fold::kMax) return trees::Add(f, ends, count, y, [](T s, T w) { return std::max(s, w); });
  trees::Add(f, ends, count, y, [](T s, T w) { return s + w; });
}

constexpr int64_t kSteps = 4096;  // that pay for a thread, of some two nanoseconds each

/* Of few examples, where trees are divided among threads. Scores are added in the order of trees
 * here, too: they must not depend on the batch. */
template <int Q, typename T>
void ScoresOfFew(const trees::Forest<T>& f, Fold fold, const T* x, int64_t examples, T* y) {
  std::vector<uint32_t> ends(static_cast<size_t>(f.trees * examples));
  ParallelFor(f.trees, kSteps / (examples * f.usual_depth) + 1, [&](int64_t begin, int64_t end) {
    trees::Ends<Q>(f, x, examples, begin, end,
                   [&](int64_t tree, const uint32_t* found) { std::copy_n(found, examples, &ends[static_cast<size_t>(tree * examples)]); });
  });
  for (int64_t tree = 0; tree < f.trees; ++tree) Add(f, fold, tree == 0, &ends[static_cast<size_t>(tree * examples)], examples, y);
}

template <int Q, typename T>
void Scores(const trees::Forest<T>& f, Fold fold, const T* x, int64_t examples, T* y) {
  if (f.trees == 0) return void(std::fill_n(y, examples * f.targets, T(0)));
  constexpr int64_t kNumbers = 16 << 10;  // of data and scores: they stay in the cache while trees pass
  const int64_t block = std::clamp<int64_t>(kNumbers / (f.features + f.targets), 16, trees::kTogether);
  const int64_t steps = f.trees * f.usual_depth, grain = kSteps / steps + 1;
  if (examples < 4 && examples * steps >= 2 * kSteps && OmpMaxThreads() > examples) return ScoresOfFew<Q>(f, fold, x, examples, y);
  ParallelFor(examples, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += block) {
      const int64_t count = std::min(block, end - i);
      trees::Ends<Q>(f, x + i * f.features, count, 0, f.trees,
                     [&](int64_t tree, const uint32_t* ends) { Add(f, fold, tree == 0, ends, count, y + i * f.targets); });
    }
  });
}

/* No way is longer than there are nodes, unless it is a circle. */
int64_t StepsAtMost(const KernelArgs& a) { return std::min(a.param<TreeEnsembleParam>().depth, a.in[1].shape[0]); }

/* The form in which trees are walked: kept between calls where a plan lets us. */
template <typename T>
const trees::Head* Packed(KernelArgs& a, int64_t room) {
  const trees::Given<T> given = {
      a.in[1].data<int32_t>(), a.in[2].data<T>(), a.in[3].data<int32_t>(), a.in[1].shape[0],
      a.in[3].Size(),          a.in[0].shape[1],  a.in[4].shape[0],        a.param<TreeEnsembleParam>().comparison};
  const size_t bytes = trees::BytesOf<T>(given.trees, room, given.leaves);
  const uint64_t form =
      static_cast<uint64_t>(given.features) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(given.leaves) * 2 + (sizeof(T) == 8);
  const float* made = nn::KeptWeights(a, 1, given.nodes, form & (nn::kOfContentsAlone - 1), static_cast<int64_t>(bytes / sizeof(float)),
                                      [&](float* to) { trees::Packer<T>(given, room, to).Run(); }, {2, 3});
  return reinterpret_cast<const trees::Head*>(made);
}

/* Most leaves of deep trees are not far below where they would be in full ones. */
int64_t UsualDepth(int64_t nodes, int64_t trees, int64_t most) {
  int64_t depth = 2;
  for (int64_t n = std::max<int64_t>(1, trees); n < nodes; n *= 2) ++depth;
  return std::clamp<int64_t>(depth, 1, std::max<int64_t>(1, most));
}

template <typename T>
void OnCpu(KernelArgs& a, const TreeEnsembleParam& param) {
  const int64_t count = a.in[1].shape[0], roots = a.in[3].Size(), leaves = a.in[4].shape[0];
  int64_t room = roots + 2 * std::max<int64_t>(0, count - leaves);  // each leaf has weights of its own, as a rule
  const trees::Head* head = Packed<T>(a, room);
  if (!head->fits) head = Packed<T>(a, room = roots + 2 * count);
  const auto* tops = reinterpret_cast<const trees::Top<T>*>(head + 1);
  const auto* nodes = reinterpret_cast<const trees::Node<T>*>(tops + roots);
  const auto* leaf = leaves > trees::kMostLeaves<T> ? reinterpret_cast<const uint32_t*>(nodes + room) : nullptr;
  const trees::Forest<T> f = {head->question,
                              tops,
                              nodes,
                              leaf,
                              a.in[4].data<T>(),
                              a.in[0].shape[1],
                              roots,
                              a.in[4].shape[1],
                              StepsAtMost(a),
                              head->asks_missing != 0,
                              UsualDepth(count, roots, StepsAtMost(a)),
                              static_cast<uint32_t>(leaves - 1)};
  static void (*const runs[])(const trees::Forest<T>&, Fold, const T*, int64_t, T*) = {
      Scores<trees::kAbove, T>, Scores<trees::kNotBelow, T>, Scores<trees::kBelow, T>, Scores<trees::kNotAbove, T>, Scores<trees::kAny, T>};
  runs[head->question](f, static_cast<Fold>(param.aggregate), a.in[0].data<T>(), a.in[0].shape[0], a.out[0].data<T>());
}

void TreeEnsemble(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const auto& param = a.param<TreeEnsembleParam>();
  if (!a.run.ctx.is_gpu()) return a.in[0].dtype == kFloat64 ? OnCpu<double>(a, param) : OnCpu<float>(a, param);
  rtc::Arguments args;
  for (int i = 0; i < 5; ++i) args.Add(a.in[static_cast<size_t>(i)].dptr);
  args.Add(a.out[0].dptr).Add(a.in[0].shape[1]).Add(a.in[1].shape[0]).Add(a.in[3].Size());
  args.Add(a.in[4].shape[0]).Add(a.in[4].shape[1]).Add(StepsAtMost(a));
  rtc::LaunchItems(a.run, {"operator/nn/trees/gpu_trees.cuh", "tree_ensemble", {a.in[0].dtype}, {param.aggregate}}, a.in[0].shape[0],
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
    .set_trait(KeepsForms{0b1110})
    .set_kernel(TreeEnsemble);

}  // namespace
}  // namespace mxnet
