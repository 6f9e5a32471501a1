// What a plan runs: nodes with their blobs and requests, bulks, phases.
#include <algorithm>

#include "executor/plan/plan_compiler.h"
#include "mxnet/env.h"
#include "operator/check.h"
#include "operator/meeting.h"
#include "operator/runtime/call_states.h"
#include "operator/traits_graph.h"

namespace mxnet {

void PlanCompiler::AddBlob(uint32_t node, uint32_t index, int loop) {
  const uint32_t e = g_->eid(node, index);
  Plan::Blob b;
  b.shape.shape = shapes_[e];
  b.shape.dtype = dtypes_[e];
  b.shape.ctx = r_.ctx;
  auto layout = graph_.layouts.find({g_->nodes[node].source, index});
  if (layout != graph_.layouts.end()) b.shape.layout = layout->second;
  if (slot_[e] >= 0)
    b.place = Plan::Place::kSlot, b.at = static_cast<size_t>(slot_[e]);
  else if (constant_[e])
    b.place = Plan::Place::kConstant, b.at = constant_offset_[e];
  else if (block_[e] >= 0)
    b.place = Plan::Place::kArena, b.at = p_.memory.offsets[block_[e]];
  const int at = static_cast<int>(p_.blobs.size());
  if (loop >= 0) {
    Plan::Loop& of = p_.loops[loop];
    b.shape.shape[0] /= of.micro_batches;
    of.data.push_back(at);
    if (parts_[e] == 1 && b.place != Plan::Place::kNowhere) of.moving.push_back(at), b.micro_batches = of.micro_batches;
  }
  switch (b.place) {
    case Plan::Place::kNowhere: break;
    case Plan::Place::kSlot: p_.slot_blobs[b.at].push_back(at); break;
    case Plan::Place::kConstant:
      p_.constant_blobs.push_back(at);
      p_.constant_readers[position_.at(node)].push_back(at);
      break;
    case Plan::Place::kArena: p_.arena_blobs.push_back(at); break;
  }
  p_.blobs.push_back(std::move(b));
}

void PlanCompiler::Check(uint32_t id) const {
  const auto& info = g_->nodes[id];
  const uint32_t first = g_->entry_ptr[id], end = g_->entry_ptr[id + 1];
  ShapeVector in_shapes, out_shapes(shapes_.begin() + first, shapes_.begin() + end);
  std::vector<int> in_types, out_types(dtypes_.begin() + first, dtypes_.begin() + end);
  for (const auto& e : info.inputs) {
    in_shapes.push_back(shapes_[g_->eid(e)]);
    in_types.push_back(dtypes_[g_->eid(e)]);
  }
  try {
    CheckCall(*info.source->attrs, in_shapes, out_shapes, in_types, out_types);
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (node " + info.source->name + ")");
  }
}

void PlanCompiler::MakeNodes() {
  p_.slot_blobs.resize(p_.num_slots());
  p_.head_used.assign(p_.num_outputs, 0);
  p_.constant_readers.resize(order_.size());
  for (size_t t = 0; t < order_.size(); ++t) position_[order_[t]] = static_cast<int>(t);
  for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
    const uint32_t id = order_[t];
    const auto& info = g_->nodes[id];
    Check(id);
    Plan::Node node;
    node.attrs = info.source->attrs;
    node.name = info.source->name;
    node.constant = IsConstantNode(*info.source) && constant_[g_->eid(id, 0)];
    node.loop = loop_of_[t];
    node.elsewhere = node.attrs->op->trait<RunsElsewhere>();
    node.alone = HoldsWaiting(*node.attrs);
    node.kernel = node.attrs->op->KernelFor(r_.ctx.dev_type);
    MXNET_CHECK(node.kernel || node.elsewhere) << "[" << node.attrs->op->name << "] has no GPU kernel in this build (node " << node.name
                                               << "); accepted: cpu contexts";
    node.in = static_cast<int>(p_.blobs.size());
    node.num_in = static_cast<int>(info.inputs.size());
    for (int i = 0; i < node.num_in; ++i) {
      const auto& e = info.inputs[i];
      AddBlob(e.node, e.index, InParts(t, i) ? LoopAt(t) : -1);
      const int slot = slot_[g_->eid(e)] - p_.head_slot(0);
      if (slot >= 0 && slot < p_.num_outputs && !node.attrs->op->ReadsOnlyShape(*node.attrs, i)) p_.head_used[slot] = 1;
    }
    node.out = static_cast<int>(p_.blobs.size());
    node.num_out = static_cast<int>(g_->entry_ptr[id + 1] - g_->entry_ptr[id]);
    node.req = static_cast<int>(p_.reqs.size());
    for (int o = 0; o < node.num_out; ++o) {
      const uint32_t e = g_->eid(id, o);
      AddBlob(id, o, WritesByExample(shapes_[e]) ? LoopAt(t) : -1);
      OpReq req = inplace_[e] ? OpReq::kWriteInplace : OpReq::kWrite;
      if (add_directly_.count({info.source, static_cast<uint32_t>(o)})) req = OpReq::kAdd;
      const bool looks = t >= num_forward_ || node.attrs->op->trait<HonoursNullOutputs>();
      if (looks && slot_[e] < 0 && uses_[e] < 0) req = OpReq::kNull;
      p_.reqs.push_back(req);
    }
    p_.nodes.push_back(std::move(node));
  }
  std::vector<TBlob> views;  // for costs
  for (const auto& b : p_.blobs) views.push_back(b.shape);
  for (auto& n : p_.nodes) {
    double work = 0;
    for (int i = n.in; i < n.out + n.num_out; ++i) work += static_cast<double>(views[i].Size());
    n.cost = n.constant ? 100 : 100 + 0.125 * work;
    if (n.attrs->op->flops)
      n.cost += 0.05 * n.attrs->op->flops(*n.attrs, Span<const TBlob>(views.data() + n.in, n.num_in),
                                          Span<const TBlob>(views.data() + n.out, n.num_out));
    if (n.loop >= 0 && !n.constant) n.cost *= p_.loops[n.loop].micro_batches;
  }
}

Plan::Bulk PlanCompiler::MakeBulk(int begin, int end) const {
  Plan::Bulk bulk;
  bulk.begin = begin;
  bulk.end = end;
  std::set<int> reads, writes, kept;
  for (int t = begin; t < end; ++t) {
    const Plan::Node& n = p_.nodes[t];
    const auto read = [&](int slot) {
      reads.insert(slot);
      if (writes.count(slot) == 0) kept.insert(slot);
    };
    for (int i = 0; i < n.num_in; ++i)
      if (const int slot = p_.blobs[n.in + i].slot(); slot >= 0) read(slot);
    for (int o = 0; o < n.num_out; ++o)
      if (const int slot = p_.blobs[n.out + o].slot(); slot >= 0 && p_.reqs[n.req + o] == OpReq::kAdd) read(slot);
    for (int m : n.attrs->op->MutateInputs(*n.attrs))
      if (const int slot = m < n.num_in ? p_.blobs[n.in + m].slot() : -1; slot >= 0) writes.insert(slot);
    for (int o = 0; o < n.num_out; ++o)
      if (const int slot = p_.blobs[n.out + o].slot(); slot >= 0) writes.insert(slot);
    bulk.random = bulk.random || n.attrs->op->uses_random;
  }
  for (int w : writes) reads.erase(w);
  bulk.read_slots.assign(reads.begin(), reads.end());
  bulk.write_slots.assign(writes.begin(), writes.end());
  for (int s : bulk.write_slots)
    if (kept.count(s)) bulk.kept_slots.push_back(s);
  return bulk;
}

void PlanCompiler::MakePhase(Plan::Phase* phase, int begin, int end, int wanted, bool all, int env_size) {
  phase->begin = begin;
  phase->end = end;
  const int size = std::max(std::min(wanted >= 0 ? wanted : all ? end - begin : env_size, end - begin), 1);
  for (int t = begin; t < end;) {
    int stop = t;
    while (stop < std::min(end, t + size) && !p_.nodes[stop].elsewhere && !p_.nodes[stop].alone) ++stop;
    const bool single = stop == t;
    phase->bulks.push_back(MakeBulk(t, single ? t + 1 : stop));
    phase->bulks.back().elsewhere = p_.nodes[t].elsewhere != nullptr;
    phase->bulks.back().alone = p_.nodes[t].alone;
    phase->elsewhere = phase->elsewhere || single;
    t = phase->bulks.back().end;
  }
  phase->whole = MakeBulk(begin, end);
  for (int t = begin; t < end; ++t) {
    phase->cost += p_.nodes[t].cost;
    phase->meets = phase->meets || WaitsForOthers(*p_.nodes[t].attrs);
    phase->own_random = phase->whole.random && (phase->own_random || p_.nodes[t].alone);
  }
}

void PlanCompiler::MakePhases() {
  const Env& env = Env::Get();
  const int total = static_cast<int>(p_.nodes.size());
  if (p_.is_train || p_.has_backward) {
    MakePhase(&p_.forward, 0, num_forward_, r_.forward_bulk, false, env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_fwd : 1);
  } else {
    MakePhase(&p_.forward, 0, num_forward_, r_.forward_bulk, env.exec_bulk_exec_inference, 1);
  }
  MakePhase(&p_.backward, num_forward_, total, r_.backward_bulk, false,
            env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_bwd : 1);
}

void PlanCompiler::Summarize() {
  p_.stats.arena_bytes = p_.memory.arena_bytes;
  p_.stats.unshared_bytes = 0;
  for (uint32_t e = 0; e < g_->num_entries(); ++e)
    if (block_[e] >= 0) p_.stats.unshared_bytes += BytesOf(e);
  p_.stats.lower_bound_bytes = p_.memory.lower_bound_bytes;
  p_.stats.num_nodes = static_cast<int>(p_.nodes.size());
  p_.stats.num_bulks = static_cast<int>(p_.forward.bulks.size() + p_.backward.bulks.size());
}

}  // namespace mxnet
