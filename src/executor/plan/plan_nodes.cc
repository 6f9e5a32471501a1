// What a plan runs: nodes with their blobs and requests.
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_steps.h"
#include "operator/record/call_cost.h"
#include "operator/record/check.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

class NodeMaker {
 public:
  NodeMaker(const PlanTask& task, const PlanGraph& graph, const Schedule& schedule, const EntryPlaces& places)
      : task_(task), graph_(graph), info_(*graph.info), g_(graph.info->g), schedule_(schedule), places_(places) {}

  PlanNodes Run() {
    const int steps = static_cast<int>(schedule_.order.size());
    made_.loops = schedule_.loops;
    made_.slot_blobs.resize(task_.slots.num_slots());
    made_.slot_asked.assign(task_.slots.num_slots(), !task_.request.ctx.is_gpu());
    made_.sparse_types = places_.sparse;
    made_.sparse_blobs.resize(places_.sparse.size());
    made_.head_used.assign(task_.slots.num_outputs, 0);
    made_.constant_readers.resize(steps);
    position_.assign(g_.nodes.size(), -1);
    for (int t = 0; t < steps; ++t) position_[schedule_.order[t]] = t;
    made_.nodes.reserve(steps);
    for (int t = 0; t < steps; ++t) AddNode(t);
    Estimate();
    return std::move(made_);
  }

 private:
  void AddNode(int t) {
    const uint32_t id = schedule_.order[t];
    const auto& source = *g_.nodes[id].source;
    Check(id);
    Plan::Node node;
    node.attrs = source.attrs;
    node.name = source.name;
    node.constant = IsConstantNode(source) && places_.entries[g_.eid(id, 0)].place == Plan::Place::kConstant;
    node.loop = schedule_.loop_of[t];
    node.async = node.attrs->op->trait<AsyncCall>();
    node.alone = node.attrs->op->RunsBy(*node.attrs) == RunBy::kGraphKernel;
    node.kernel = node.attrs->op->KernelFor(task_.request.ctx.dev_type);
    MXNET_CHECK(node.kernel || node.async) << "[" << node.attrs->op->name << "] has no GPU kernel in this build (node " << node.name
                                           << "); accepted: cpu contexts";
    AddInputs(t, &node);
    AddOutputs(t, &node);
    made_.nodes.push_back(std::move(node));
  }

  void AddInputs(int t, Plan::Node* node) {
    const auto& inputs = g_.nodes[schedule_.order[t]].inputs;
    const Attrs& attrs = *node->attrs;
    node->in = static_cast<int>(made_.blobs.size());
    node->num_in = static_cast<int>(inputs.size());
    for (int i = 0; i < node->num_in; ++i) {
      const uint32_t e = g_.eid(inputs[i]);
      const int loop = schedule_.data_loop_of[t];
      AddBlob(inputs[i].node, inputs[i].index, loop >= 0 && ReadsByExample(Source(t), i, info_.types[e].shape) ? loop : -1);
      if (places_.entries[e].place != Plan::Place::kSlot || attrs.ReadsOnlyShape(i)) continue;
      if (!node->constant && !AsksFor(attrs, i, info_.types[e].dtype)) made_.slot_asked[places_.entries[e].at] = 0;
      const auto [kind, output] = task_.slots.KindOf(static_cast<int>(places_.entries[e].at));
      if (kind == PlanSlots::SlotKind::kHeadGradient) made_.head_used[output] = 1;
    }
  }

  void AddOutputs(int t, Plan::Node* node) {
    const uint32_t id = schedule_.order[t];
    // Whether it looks at the requests of its outputs.
    const bool looks = t >= schedule_.num_forward || node->attrs->op->trait<HonoursNullOutputs>();
    node->out = static_cast<int>(made_.blobs.size());
    node->num_out = static_cast<int>(g_.entry_ptr[id + 1] - g_.entry_ptr[id]);
    node->req = static_cast<int>(made_.reqs.size());
    for (int o = 0; o < node->num_out; ++o) {
      const uint32_t e = g_.eid(id, o);
      const EntryPlace& entry = places_.entries[e];
      AddBlob(id, o, WritesByExample(info_.types[e].shape) ? schedule_.data_loop_of[t] : -1);
      OpReq req = entry.in_place ? OpReq::kWriteInplace : OpReq::kWrite;
      if (graph_.added_directly.count({&Source(t), static_cast<uint32_t>(o)})) req = OpReq::kAdd;
      if (looks && entry.place != Plan::Place::kSlot && entry.last_read < 0) req = OpReq::kNull;
      made_.reqs.push_back(req);
    }
  }

  /* loop: in which one it is used a part at a time; -1: as a whole. */
  void AddBlob(uint32_t node, uint32_t index, int loop) {
    const uint32_t e = g_.eid(node, index);
    const EntryPlace& entry = places_.entries[e];
    const int number = static_cast<int>(made_.blobs.size());
    Plan::Blob b;
    b.shape.shape = info_.types[e].shape;
    b.shape.dtype = info_.types[e].dtype;
    b.storage = info_.types[e].storage;
    b.shape.ctx = task_.request.ctx;
    auto layout = graph_.graph.layouts.find({g_.nodes[node].source, index});
    if (layout != graph_.graph.layouts.end()) b.shape.layout = layout->second;
    b.place = entry.place;
    b.at = entry.at;
    switch (entry.place) {
      case Plan::Place::kNowhere: break;
      case Plan::Place::kSlot: made_.slot_blobs[b.at].push_back(number); break;
      case Plan::Place::kConstant:
        made_.constant_blobs.push_back(number);
        made_.constant_readers[position_[node]].push_back(number);
        break;
      case Plan::Place::kArena:
        b.at = places_.memory.offsets[entry.at];
        made_.arena_blobs.push_back(number);
        break;
      case Plan::Place::kSparse: made_.sparse_blobs[b.at].push_back(number); break;
    }
    if (loop >= 0) {
      Plan::Loop& of = made_.loops[loop];
      b.shape.shape[0] /= of.micro_batches;
      of.data.push_back(number);
      if (entry.parts == 1 && entry.place != Plan::Place::kNowhere) {
        of.moving.push_back(number);
        b.micro_batches = of.micro_batches;
      }
    }
    made_.blobs.push_back(std::move(b));
  }

  /* Inference settles nodes of the gradient by what they are the gradient of: here every record is
   * asked once, whoever made the node. */
  void Check(uint32_t id) const {
    const auto& node = g_.nodes[id];
    const uint32_t first = g_.entry_ptr[id], end = g_.entry_ptr[id + 1];
    const TensorTypes out(info_.types.begin() + first, info_.types.begin() + end);
    TensorTypes in;
    in.reserve(node.inputs.size());
    for (const auto& e : node.inputs) in.push_back(info_.types[g_.eid(e)]);
    try {
      CheckCall(*node.source->attrs, task_.request.switches, in, out);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + node.source->name + ")");
    }
  }

  /* Costs of the nodes. */
  void Estimate() {
    std::vector<TBlob> views;
    views.reserve(made_.blobs.size());
    for (const auto& b : made_.blobs) views.push_back(b.shape);
    for (auto& n : made_.nodes) {
      const CallCost cost =
          CostOf(*n.attrs, Span<const TBlob>(views.data() + n.in, n.num_in), Span<const TBlob>(views.data() + n.out, n.num_out));
      n.cost = CallCost::kCallNs + (n.constant ? 0 : cost.NsInCache());
      if (n.loop >= 0 && !n.constant) n.cost *= made_.loops[n.loop].micro_batches;
    }
  }

  const Node& Source(int t) const { return *g_.nodes[schedule_.order[t]].source; }

  const PlanTask& task_;
  const PlanGraph& graph_;
  const GraphInfo& info_;
  const IndexedGraph& g_;
  const Schedule& schedule_;
  const EntryPlaces& places_;
  std::vector<int> position_;  // by id: place in the order
  PlanNodes made_;
};

}  // namespace

PlanNodes MakeNodes(const PlanTask& task, const PlanGraph& graph, const Schedule& schedule, const EntryPlaces& places) {
  return NodeMaker(task, graph, schedule, places).Run();
}

}  // namespace mxnet
