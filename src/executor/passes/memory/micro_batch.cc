// Inference on a batch whose images fill the caches: runs of nodes that treat every example alone
// go over the batch some examples at a time, so that what one node writes is still in the cache
// when the next one reads it. The plan compiler makes loops of the marks that this pass leaves
// (PassGraph::micro_batches).
#include <algorithm>

#include "base/copy_past.h"
#include "base/threads/omp.h"
#include "executor/passes/core/passes.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/purity.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

// A node's data and results may fill one of so many parts of the last-level cache: weights, and the
// cores of other machines, want the rest.
constexpr int64_t kPart = 10;
constexpr int64_t kLeastSize = 4;  // bytes of an element: layers of narrower types have copies and sums in float32
// A new run begins where a node could have so many times more examples at a time than another.
constexpr int64_t kCoarser = 4;

// Does it work along the batch? Where the record names no axis it does not.
bool WorksAlongBatch(const Node& n, int ndim) {
  const auto* along = n.op()->trait<AlongAxis>();
  if (!along) return false;
  const int axis = along->axis(*n.attrs);
  return (axis < 0 ? axis + ndim : axis) <= 0;
}

// May results that are no examples be computed for each of the micro-batches?
bool OthersStay(const Attrs& attrs) {
  const auto* same = attrs.op->trait<graph_ops::RangesStay>();
  return same && (!same->when || same->when(attrs));
}

// Is an example of the results computed from the same example of the data alone? `examples`: how
// many there are.
bool TreatsExamplesAlone(const GraphInfo& info, uint32_t id, int64_t* examples) {
  const Node& n = *info.g.nodes[id].source;
  const Op& op = *n.op();
  if (ImpurityOf(*n.attrs) & (kDrawsRandom | kShapesFromValues | kRunsProgram)) return false;
  const Shape& result = info.types[info.g.eid(id, 0)].shape;
  if (!WritesByExample(result) || result[0] < 2) return false;
  *examples = result[0];
  for (int o = 0; o < n.num_outputs(); ++o) {
    const Shape& s = info.types[info.g.eid(id, o)].shape;
    if (op.layout == LayoutRule::kAgnostic ? s != result : WritesByExample(s) && s[0] != result[0]) return false;
    if (!WritesByExample(s) && op.NumVisibleOutputs(*n.attrs) > o && !OthersStay(*n.attrs)) return false;
  }
  bool any = false;
  for (int i = 0; i < n.num_inputs(); ++i) {
    const Shape& s = info.types[info.g.eid(info.g.nodes[id].inputs[i])].shape;
    if (op.layout == LayoutRule::kAgnostic && s != result) return false;
    if (op.layout == LayoutRule::kBroadcast && s.ndim() != result.ndim() && s.Size() != 1) return false;
    if (!ReadsByExample(n, i, s)) continue;
    if (s[0] != result[0]) return false;
    any = true;
  }
  if (!any) return false;
  switch (op.layout) {
    case LayoutRule::kAgnostic:
    case LayoutRule::kBroadcast:
    case LayoutRule::kImages: return true;
    case LayoutRule::kChannelsLast: return !WorksAlongBatch(n, result.ndim());
    case LayoutRule::kPlain: return op.trait<LayoutConversion>() != nullptr;
  }
  return false;
}

/* Nodes that follow each other in the order of execution and can share a micro-batch's size. */
struct Run {
  int64_t batch = 0;  // examples
  int64_t size = 0;   // of a micro-batch, in examples
  int64_t most = 0;   // the size that the least demanding node could have
  std::vector<const Node*> nodes;
};

/* The examples that a node may have at a time, so that what it reads and writes stays in the cache;
 * a part of the batch without a remainder. */
int64_t SizeFor(const GraphInfo& info, uint32_t id, int64_t batch) {
  const Node& n = *info.g.nodes[id].source;
  int64_t bytes = 0;  // of an example
  const auto add = [&](uint32_t e) {
    bytes += info.types[e].shape.Size() / batch * std::max(kLeastSize, static_cast<int64_t>(DTypeSize(info.types[e].dtype)));
  };
  for (int i = 0; i < n.num_inputs(); ++i)
    if (const uint32_t e = info.g.eid(info.g.nodes[id].inputs[i]); ReadsByExample(n, i, info.types[e].shape)) add(e);
  for (int o = 0; o < n.num_outputs(); ++o) add(info.g.eid(id, o));
  const int64_t least = (OmpMaxThreads() + 1) / 2;  // fewer examples would leave threads without work
  int64_t size = std::min(batch, std::max({int64_t{1}, least, LastLevelCacheBytes() / kPart / std::max<int64_t>(bytes, 1)}));
  while (batch % size) --size;
  return size;
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
  Run run;
  int marked = 0, runs = 0;
  const auto end = [&] {
    if (run.nodes.size() > 1 && run.size < run.batch) {
      for (const Node* n : run.nodes) g->micro_batches[n] = {runs, run.size};
      marked += static_cast<int>(run.nodes.size());
      ++runs;
    }
    run = Run();
  };
  for (const uint32_t id : order) {
    const Node& n = *info.g.nodes[id].source;
    if (IsConstantNode(n)) continue;
    int64_t batch = 0;
    if (!TreatsExamplesAlone(info, id, &batch)) {
      end();
      continue;
    }
    const int64_t size = SizeFor(info, id, batch);
    if (run.batch != batch || std::max(run.most, size) > kCoarser * std::min(run.size, size)) end();
    if (run.nodes.empty()) run.batch = batch, run.size = run.most = size;
    run.size = std::min(run.size, size), run.most = std::max(run.most, size);
    run.nodes.push_back(&n);
  }
  end();
  return marked;
}

}  // namespace mxnet
