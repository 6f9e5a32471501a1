// Inference on a batch whose images fill the caches: runs of nodes that treat every example alone
// go over the batch some examples at a time, so that what one node writes is still in the cache
// when the next one reads it. The plan compiler makes loops of the marks that this pass leaves
// (PassGraph::micro_batches).
#include <unistd.h>

#include <algorithm>

#include "base/omp.h"
#include "executor/passes/core/passes.h"

namespace mxnet {
namespace {

constexpr int64_t kAssumedCache = 32 << 20,
                  kMostCache = 48 << 20;  // bytes, where the system does not tell; of a larger one the rest is taken for other programs'
constexpr int64_t kPart =
    10;  // a node's data and results may fill one of so many parts of the last-level cache: weights, and other machines' cores, want the rest
constexpr int64_t kLeastSize = 4;  // bytes of an element: layers of narrower types have copies and sums in float32
constexpr int64_t kCoarser = 4;    // a run's nodes could do with so many times more examples a turn at most: then a new run begins

int64_t CacheBytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (size > 0) return std::clamp<int64_t>(size, 4 << 20, kMostCache);
#endif
  return kAssumedCache;
}

// The axis that `key` names, counted from the front.
int64_t Axis(const Node& n, const char* key, int ndim) {
  const int64_t axis = static_cast<int64_t>(NumberOf(n, key, 1));
  return axis < 0 ? axis + ndim : axis;
}

// Is an example of the results computed from the same example of the data alone? `examples`: how
// many there are.
bool TreatsExamplesAlone(const GraphInfo& info, uint32_t id, int64_t* examples) {
  const Node& n = *info.g.nodes[id].source;
  const Op& op = *n.op();
  if (op.uses_random || op.array_fn) return false;
  const Shape& result = info.shapes[info.g.eid(id, 0)];
  if (!WritesByExample(result) || result[0] < 2) return false;
  *examples = result[0];
  for (int o = 0; o < n.num_outputs(); ++o) {
    const Shape& s = info.shapes[info.g.eid(id, o)];
    if (op.layout == LayoutRule::kAgnostic ? s != result : WritesByExample(s) && s[0] != result[0]) return false;
    if (!WritesByExample(s) && op.NumVisibleOutputs(*n.attrs) > o) return false;
  }
  bool any = false;
  for (int i = 0; i < n.num_inputs(); ++i) {
    const Shape& s = info.shapes[info.g.eid(info.g.nodes[id].inputs[i])];
    if (op.layout == LayoutRule::kAgnostic && s != result) return false;
    if (!ReadsByExample(n, i, s)) continue;
    if (s[0] != result[0]) return false;
    any = true;
  }
  if (!any) return false;
  switch (op.layout) {
    case LayoutRule::kAgnostic:
    case LayoutRule::kImages: return true;
    case LayoutRule::kChannelsLast:
      return Axis(n, "dim", result.ndim()) > 0 && Axis(n, "axis", result.ndim()) > 0;  // of Concat, of BatchNorm
    case LayoutRule::kPlain: return op.name == "_to_layout";
  }
  return false;
}

}  // namespace

bool WritesByExample(const Shape& s) { return s.ndim() >= 3 && s.Size() > 0; }

bool ReadsByExample(const Node& n, int input, const Shape& shape) {
  if (!WritesByExample(shape)) return false;
  return n.op()->layout != LayoutRule::kImages || (input < 32 && (n.op()->images.in >> input & 1));
}

int MicroBatch(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  int num_forward;
  const std::vector<uint32_t> order = ExecutionOrder(info.g, g->outputs.size(), g->sequence, false, &num_forward);
  const int64_t room = CacheBytes() / kPart, least = (OmpMaxThreads() + 1) / 2;  // fewer examples would leave threads without work
  struct Run {
    int64_t examples = 0, turn = 0, most = 0;  // of the batch, in a turn, what its least demanding node could have in one
    std::vector<const Node*> nodes;
  } run;
  int sliced = 0, runs = 0;
  const auto end = [&] {
    if (run.nodes.size() > 1 && run.turn < run.examples) {
      for (const Node* n : run.nodes) g->micro_batches[n] = {runs, run.turn};
      sliced += static_cast<int>(run.nodes.size());
      ++runs;
    }
    run = Run();
  };
  for (const uint32_t id : order) {
    const Node& n = *info.g.nodes[id].source;
    if (IsConstantNode(n)) continue;
    int64_t examples = 0;
    if (!TreatsExamplesAlone(info, id, &examples)) {
      end();
      continue;
    }
    int64_t bytes = 0;
    const auto add = [&](uint32_t e) {
      bytes += info.shapes[e].Size() / examples * std::max(kLeastSize, static_cast<int64_t>(DTypeSize(info.dtypes[e])));
    };
    for (int i = 0; i < n.num_inputs(); ++i)
      if (const uint32_t e = info.g.eid(info.g.nodes[id].inputs[i]); ReadsByExample(n, i, info.shapes[e])) add(e);
    for (int o = 0; o < n.num_outputs(); ++o) add(info.g.eid(id, o));
    int64_t turn = std::min(examples, std::max({int64_t{1}, least, room / std::max<int64_t>(bytes, 1)}));
    while (examples % turn) --turn;
    if (run.examples != examples || std::max(run.most, turn) > kCoarser * std::min(run.turn, turn)) end();
    if (run.nodes.empty()) run.examples = examples, run.turn = run.most = turn;
    run.turn = std::min(run.turn, turn), run.most = std::max(run.most, turn);
    run.nodes.push_back(&n);
  }
  end();
  return sliced;
}

}  // namespace mxnet
