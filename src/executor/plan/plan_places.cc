// Where the entries of a plan lie: slots of the caller's arrays, constants, blocks of the arena.
#include <algorithm>

#include "base/round_up.h"
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_steps.h"
#include "mxnet/env.h"
#include "operator/matrix/axes.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits_graph.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace {

using Place = Plan::Place;

/*
 * Colours of nodes by place in the order: the longest path through the graph is the first, the
 * longest of what is left the second, and so on; all that is left over gets the last of
 * MXNET_EXEC_NUM_TEMP. Paths of different colours share no memory, so they could run side by side.
 */
std::vector<int> ColourNodes(const IndexedGraph& g, const std::vector<uint32_t>& order) {
  const int n = static_cast<int>(order.size()), colours = std::min(Env::Get().exec_num_temp, n + 1);  // no more paths than nodes
  std::vector<int> colour(n, std::max(colours - 1, 0));
  if (colours <= 1) return colour;
  std::unordered_map<uint32_t, int> at;
  for (int t = 0; t < n; ++t) at[order[t]] = t;
  std::vector<char> taken(n, 0);
  for (int c = 0; c + 1 < colours; ++c) {
    std::vector<int> length(n, 0), before(n, -1);
    int end = -1;
    for (int t = 0; t < n; ++t) {
      if (taken[t]) continue;
      for (const auto& e : g.nodes[order[t]].inputs) {
        auto from = at.find(e.node);
        if (from != at.end() && !taken[from->second] && length[from->second] > length[t]) {
          length[t] = length[from->second];
          before[t] = from->second;
        }
      }
      ++length[t];
      if (end < 0 || length[t] > length[end]) end = t;
    }
    if (end < 0) break;
    for (; end >= 0; end = before[end]) {
      taken[end] = 1;
      colour[end] = c;
    }
  }
  return colour;
}

class Placer {
 public:
  Placer(const PlanGraph& graph, const Schedule& schedule)
      : info_(*graph.info), g_(graph.info->g), schedule_(schedule), entries_(made_.entries) {
    entries_.resize(g_.num_entries());
    for (uint32_t id : g_.input_nodes) {
      const int slot = graph.variable_slots.at(g_.nodes[id].source);
      PutInSlot(g_.eid(id, 0), slot);
      stable_slots_.insert(static_cast<size_t>(slot));
    }
    for (const auto& e : g_.outputs) {
      const EntryKey key{g_.nodes[e.node].source, e.index};
      const int slot = graph.result_slots.at(key);
      PutInSlot(g_.eid(e), slot);
      stable_slots_.erase(static_cast<size_t>(slot));
      if (!graph.added_directly.count(key)) written_slots_.insert(static_cast<size_t>(slot));
    }
    for (const uint32_t id : schedule.order)
      for (const int m : g_.nodes[id].source->op()->MutateInputs(*g_.nodes[id].source->attrs))
        if (m < static_cast<int>(g_.nodes[id].inputs.size())) stable_slots_.erase(entries_[g_.eid(g_.nodes[id].inputs[m])].at);
  }

  EntryPlaces Run() {
    FindReads();
    for (const EntryPlace& entry : entries_)
      if (entry.place == Place::kSlot) ReadSlot(entry.at, entry.last_read);
    const std::vector<int> colour = ColourNodes(g_, schedule_.order);
    for (int t = 0; t < static_cast<int>(schedule_.order.size()); ++t) PlaceOutputs(t, colour[t]);
    PlaceConstants();
    for (uint32_t e = 0; e < g_.num_entries(); ++e)
      if (entries_[e].place == Place::kArena) made_.unshared_bytes += BytesOf(e);
    made_.memory = PlanMemory(made_.blocks, Env::Get().nnvm_exec_match_range);
    return std::move(made_);
  }

 private:
  using InplacePairs = std::vector<std::pair<int, int>>;

  void Put(uint32_t e, Place place, size_t at) {
    entries_[e].place = place;
    entries_[e].at = at;
  }
  void PutInSlot(uint32_t e, int slot) { Put(e, Place::kSlot, static_cast<size_t>(slot)); }
  void ReadSlot(size_t slot, int last) {
    const auto read = slot_last_read_.emplace(slot, last).first;
    read->second = std::max(read->second, last);
  }
  /* -1: it has none. */
  int BlockOf(uint32_t e) const { return entries_[e].place == Place::kArena ? static_cast<int>(entries_[e].at) : -1; }
  /* In the arena. */
  size_t BytesOf(uint32_t e) const {
    return static_cast<size_t>(info_.types[e].shape.Size()) * DTypeSize(info_.types[e].dtype) / static_cast<size_t>(entries_[e].parts);
  }
  const Plan::Loop& Loop(int loop) const { return schedule_.loops[loop]; }

  /* When entries are read last, and which of them loops use a part at a time. */
  void FindReads() {
    const int steps = static_cast<int>(schedule_.order.size());
    std::vector<int> made_in;  // by entry: which loop makes it a part at a time
    made_in.assign(entries_.size(), -1);
    for (int t = 0; t < steps; ++t) {
      const int loop = schedule_.data_loop_of[t];
      if (loop < 0) continue;
      const uint32_t id = schedule_.order[t];
      for (uint32_t e = g_.entry_ptr[id]; e < g_.entry_ptr[id + 1]; ++e) {
        if (!WritesByExample(info_.types[e].shape)) continue;
        made_in[e] = loop;
        if (entries_[e].place != Place::kSlot) entries_[e].parts = Loop(loop).micro_batches;  // until it turns out to be wanted elsewhere
      }
    }
    for (int t = 0; t < steps; ++t) {
      const auto& node = g_.nodes[schedule_.order[t]];
      const int loop = schedule_.data_loop_of[t];
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const uint32_t e = g_.eid(node.inputs[i]);
        const bool inside = loop >= 0 && made_in[e] == loop;
        if (!inside) entries_[e].parts = 1;
        if (node.source->attrs->ReadsOnlyShape(static_cast<int>(i))) continue;
        // What comes from before a loop is read in each of its micro_batches.
        entries_[e].last_read = std::max(entries_[e].last_read, inside || loop < 0 ? t : Loop(loop).end - 1);
      }
    }
  }

  /* Of the node at place t of the order. */
  void PlaceOutputs(int t, int colour) {
    const uint32_t id = schedule_.order[t];
    const auto& node = g_.nodes[id];
    const Attrs& attrs = *node.source->attrs;
    const uint32_t begin = g_.entry_ptr[id], end = g_.entry_ptr[id + 1];
    const bool inplace_wanted = Env::Get().exec_enable_inplace && Env::Get().nnvm_exec_match_range > 0;
    InplacePairs pairs;
    if (attrs.op->inplace) pairs = attrs.op->inplace(attrs);
    std::set<int> reused;
    bool constant = IsConstantNode(*node.source);  // not when a result leaves the plan, or is empty
    for (uint32_t out = begin; out < end; ++out)
      constant = constant && entries_[out].place != Place::kSlot && !IsSparse(info_.types[out].storage) && BytesOf(out) > 0;
    for (uint32_t out = begin; out < end; ++out) {
      EntryPlace& entry = entries_[out];
      if (entry.place == Place::kSlot) {
        // a gradient added onto the caller's array: the first input is that array
        for (const auto& e : node.inputs) {
          const EntryPlace& in = entries_[g_.eid(e)];
          entry.in_place = entry.in_place || (in.place == Place::kSlot && in.at == entry.at);
        }
        if (inplace_wanted) ShareSlot(t, static_cast<int>(out - begin), pairs);
        continue;
      }
      if (IsSparse(info_.types[out].storage)) {
        Put(out, Place::kSparse, made_.sparse.size());
        made_.sparse.push_back(info_.types[out]);
        continue;
      }
      // A gradient of a wide csr matrix that nobody wants would be a dense array of its shape. What
      // loops keep for a backward pass grows with their rounds.
      const Op& op = *node.source->op();
      if (entry.last_read < 0 && t >= schedule_.num_forward && op.trait<SparseForm>()) continue;
      if (entry.last_read < 0 && op.trait<HonoursNullOutputs>() && op.trait<HoldsGraphs>()) continue;
      const size_t bytes = BytesOf(out);
      if (constant) {
        constants_.push_back(out);
        Put(out, Place::kConstant, 0);
        continue;
      }
      if (inplace_wanted && bytes > 0 &&
          (LieInInput(t, out, colour) || ShareInput(t, static_cast<int>(out - begin), colour, pairs, &reused)))
        continue;
      Put(out, Place::kArena, made_.blocks.size());
      const int loop = entry.parts == 1 ? schedule_.data_loop_of[t] : -1;  // that it leaves: written in each of its micro_batches
      made_.blocks.push_back(
          {bytes, loop >= 0 ? Loop(loop).begin : t, std::max(loop >= 0 ? Loop(loop).end - 1 : t, entry.last_read), colour});
    }
  }

  /* The small ones lie together: of the large ones most are never computed, and the pages between
   * them would be huge ones. */
  void PlaceConstants() {
    for (const bool small : {true, false}) {
      for (uint32_t e : constants_) {
        if ((BytesOf(e) < kLeastPostponed) != small) continue;
        Put(e, Place::kConstant, made_.constant_bytes);
        made_.constant_bytes += RoundUp(BytesOf(e), 64);
      }
    }
  }

  /* Whether output o may lie where an input of the caller does. */
  void ShareSlot(int t, int o, const InplacePairs& pairs) {
    if (schedule_.data_loop_of[t] >= 0) return;
    const auto& node = g_.nodes[schedule_.order[t]];
    const uint32_t out = g_.eid(schedule_.order[t], o);
    for (const auto& pair : pairs) {
      if (pair.second != o || pair.first >= static_cast<int>(node.inputs.size())) continue;
      const uint32_t in = g_.eid(node.inputs[pair.first]);
      const size_t slot = entries_[in].at;
      const auto reads = std::count_if(node.inputs.begin(), node.inputs.end(), [&](const auto& e) {
        const EntryPlace& read = entries_[g_.eid(e)];
        return read.place == Place::kSlot && read.at == slot;
      });
      if (entries_[in].place == Place::kSlot && !written_slots_.count(slot) && slot_last_read_.at(slot) == t && reads == 1 &&
          info_.types[in].shape == info_.types[out].shape && info_.types[in].dtype == info_.types[out].dtype)
        made_.shared_slots.emplace_back(static_cast<int>(slot), static_cast<int>(entries_[out].at));
    }
  }

  /* The result of a node that only moves its input lies where the input does, which nobody
   * overwrites while one of the two is read. A caller may write into its arrays, also into a result
   * of the forward pass, before the backward one. */
  bool LieInInput(int t, uint32_t out, int colour) {
    const auto& node = g_.nodes[schedule_.order[t]];
    if (schedule_.data_loop_of[t] >= 0 || node.inputs.empty() || !OnlyMoves(*node.source->op())) return false;
    const uint32_t in = g_.eid(node.inputs[0]);
    const EntryPlace &from = entries_[in], &to = entries_[out];
    const TensorType &before = info_.types[in], &after = info_.types[out];
    if (from.parts != 1 || to.parts != 1 || IsSparse(before.storage) || before.dtype != after.dtype || BytesOf(in) != BytesOf(out))
      return false;
    if (from.place == Place::kArena) {
      MemoryBlock& block = made_.blocks[from.at];
      if (block.colour != colour) return false;
      block.last = std::max({block.last, t, to.last_read});
    } else if (from.place == Place::kSlot && (written_slots_.count(from.at) || stable_slots_.count(from.at)) &&
               to.last_read < schedule_.num_forward) {
      ReadSlot(from.at, to.last_read);
    } else {
      return false;
    }
    Put(out, from.place, from.at);
    entries_[out].in_place = true;
    ++made_.num_inplace;
    return true;
  }

  /* Output o in the block of an input that ends there. */
  bool ShareInput(int t, int o, int colour, const InplacePairs& pairs, std::set<int>* reused) {
    const auto& node = g_.nodes[schedule_.order[t]];
    const uint32_t out = g_.eid(schedule_.order[t], o);
    for (const auto& pair : pairs) {
      if (pair.second != o || pair.first >= static_cast<int>(node.inputs.size()) || node.source->attrs->ReadsOnlyShape(pair.first))
        continue;
      const uint32_t in = g_.eid(node.inputs[pair.first]);
      const int b = BlockOf(in);
      if (b < 0 || made_.blocks[b].last != t || made_.blocks[b].colour != colour || made_.blocks[b].bytes != BytesOf(out) ||
          DTypeSize(info_.types[in].dtype) != DTypeSize(info_.types[out].dtype) || reused->count(b))
        continue;
      bool others = false;  // who read the block, too, and must not lose it
      for (size_t i = 0; i < node.inputs.size(); ++i)
        others = others || (BlockOf(g_.eid(node.inputs[i])) == b && !node.source->attrs->ReadsOnlyShape(static_cast<int>(i)) &&
                            std::find(pairs.begin(), pairs.end(), std::make_pair(static_cast<int>(i), o)) == pairs.end());
      if (others) continue;
      Put(out, Place::kArena, static_cast<size_t>(b));
      made_.blocks[b].last = std::max(t, entries_[out].last_read);
      reused->insert(b);
      entries_[out].in_place = true;
      ++made_.num_inplace;
      return true;
    }
    return false;
  }

  const GraphInfo& info_;
  const IndexedGraph& g_;
  const Schedule& schedule_;
  EntryPlaces made_;
  std::vector<EntryPlace>& entries_;
  std::vector<uint32_t> constants_;
  std::set<size_t> written_slots_;                  // of results that hold what their nodes compute
  std::set<size_t> stable_slots_;                   // of variables that no node changes
  std::unordered_map<size_t, int> slot_last_read_;  // place in the order, of all entries that lie there
};

}  // namespace

EntryPlaces PlaceEntries(const PlanGraph& graph, const Schedule& schedule) { return Placer(graph, schedule).Run(); }

}  // namespace mxnet
