// Where the entries of a plan lie: slots of the caller's arrays, constants, blocks of the arena.
#include <algorithm>

#include "base/round_up.h"
#include "executor/plan/plan_compiler.h"
#include "mxnet/env.h"

namespace mxnet {

std::vector<int> PlanCompiler::ColourNodes() const {
  const int n = static_cast<int>(order_.size()), colours = std::min(Env::Get().exec_num_temp, n + 1);  // no more paths than nodes
  std::vector<int> colour(n, std::max(colours - 1, 0));
  if (colours <= 1) return colour;
  std::unordered_map<uint32_t, int> at;
  for (int t = 0; t < n; ++t) at[order_[t]] = t;
  std::vector<char> taken(n, 0);
  for (int c = 0; c + 1 < colours; ++c) {
    std::vector<int> length(n, 0), before(n, -1);
    int end = -1;
    for (int t = 0; t < n; ++t) {
      if (taken[t]) continue;
      for (const auto& e : g_->nodes[order_[t]].inputs) {
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

void PlanCompiler::MakeLoops() {
  loop_of_.assign(order_.size(), -1);
  p_.loops.clear();
  const auto turn = [&](int t) { return graph_.micro_batches.find(g_->nodes[order_[t]].source); };
  for (int t = 0; t < num_forward_; ++t) {
    const auto first = turn(t);
    if (first == graph_.micro_batches.end()) continue;
    Plan::Loop loop;
    loop.begin = t;
    for (int i = t; i < num_forward_; ++i) {
      const auto it = turn(i);
      if (it != graph_.micro_batches.end() && it->second.run == first->second.run)
        loop.end = i + 1;
      else if (!IsConstantNode(*g_->nodes[order_[i]].source))
        break;
    }
    loop.micro_batches = static_cast<int>(shapes_[g_->eid(order_[t], 0)][0] / first->second.examples);
    std::fill(loop_of_.begin() + loop.begin, loop_of_.begin() + loop.end, static_cast<int>(p_.loops.size()));
    t = loop.end - 1;
    p_.loops.push_back(std::move(loop));
  }
}

bool PlanCompiler::InParts(int t, int input) const {
  const auto& info = g_->nodes[order_[t]];
  return LoopAt(t) >= 0 && ReadsByExample(*info.source, input, shapes_[g_->eid(info.inputs[input])]);
}

void PlanCompiler::FindUses() {
  const uint32_t n = g_->num_entries();
  uses_.assign(n, -1);
  parts_.assign(n, 1);
  std::vector<int> made_in(n, -1);  // which loop makes an entry a part at a time
  for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
    if (LoopAt(t) < 0) continue;
    for (uint32_t e = g_->entry_ptr[order_[t]]; e < g_->entry_ptr[order_[t] + 1]; ++e) {
      if (!WritesByExample(shapes_[e])) continue;
      made_in[e] = LoopAt(t);
      if (slot_[e] < 0) parts_[e] = p_.loops[LoopAt(t)].micro_batches;  // until it turns out to be wanted elsewhere
    }
  }
  for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
    const auto& info = g_->nodes[order_[t]];
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const uint32_t e = g_->eid(info.inputs[i]);
      const bool inside = LoopAt(t) >= 0 && made_in[e] == LoopAt(t);
      if (!inside) parts_[e] = 1;
      if (info.source->op()->ReadsOnlyShape(*info.source->attrs, static_cast<int>(i))) continue;
      // What comes from before a loop is read in each of its micro_batches.
      uses_[e] = std::max(uses_[e], inside || LoopAt(t) < 0 ? t : p_.loops[LoopAt(t)].end - 1);
    }
  }
}

void PlanCompiler::PlaceEntries() {
  const uint32_t n = g_->num_entries();
  slot_.assign(n, -1);
  block_.assign(n, -1);
  for (uint32_t id : g_->input_nodes) slot_[g_->eid(id, 0)] = variable_slot_.at(g_->nodes[id].source);
  for (const auto& e : g_->outputs) slot_[g_->eid(e)] = result_slot_.at({g_->nodes[e.node].source, e.index});
  FindUses();
  inplace_.assign(n, false);
  constant_.assign(n, false);
  constant_offset_.assign(n, 0);
  const std::vector<int> colour = ColourNodes();
  for (int t = 0; t < static_cast<int>(order_.size()); ++t) PlaceOutputs(t, colour[t]);
  p_.memory = PlanMemory(p_.blocks, Env::Get().nnvm_exec_match_range);
}

void PlanCompiler::PlaceOutputs(int t, int colour) {
  const uint32_t id = order_[t];
  const auto& info = g_->nodes[id];
  const Attrs& attrs = *info.source->attrs;
  const int nout = static_cast<int>(g_->entry_ptr[id + 1] - g_->entry_ptr[id]);
  const bool inplace_wanted = Env::Get().exec_enable_inplace && Env::Get().nnvm_exec_match_range > 0;
  InplacePairs pairs;
  if (attrs.op->inplace) pairs = attrs.op->inplace(attrs);
  std::set<int> reused;
  bool constant = IsConstantNode(*info.source);  // not when a result leaves the plan, or is empty
  for (int o = 0; o < nout; ++o) constant = constant && slot_[g_->eid(id, o)] < 0 && BytesOf(g_->eid(id, o)) > 0;
  for (int o = 0; o < nout; ++o) {
    const uint32_t out = g_->eid(id, o);
    if (slot_[out] >= 0) {
      // a gradient added onto the caller's array: the first input is that array
      for (const auto& e : info.inputs) inplace_[out] = inplace_[out] || (slot_[g_->eid(e)] == slot_[out]);
      continue;
    }
    const size_t bytes = BytesOf(out);
    if (constant) {
      constant_[out] = true;
      constant_offset_[out] = p_.constant_bytes;
      p_.constant_bytes += RoundUp(bytes, 64);
      continue;
    }
    if (inplace_wanted && bytes > 0 && ShareInput(t, o, colour, pairs, &reused)) continue;
    block_[out] = static_cast<int>(p_.blocks.size());
    const bool leaves = LoopAt(t) >= 0 && parts_[out] == 1;  // a loop: written in each of its micro_batches
    p_.blocks.push_back(
        {bytes, leaves ? p_.loops[LoopAt(t)].begin : t, std::max(leaves ? p_.loops[LoopAt(t)].end - 1 : t, uses_[out]), colour});
  }
}

bool PlanCompiler::ShareInput(int t, int o, int colour, const InplacePairs& pairs, std::set<int>* reused) {
  const auto& info = g_->nodes[order_[t]];
  const Op* op = info.source->op();
  const uint32_t out = g_->eid(order_[t], o);
  for (const auto& pair : pairs) {
    if (pair.second != o || pair.first >= static_cast<int>(info.inputs.size()) || op->ReadsOnlyShape(*info.source->attrs, pair.first))
      continue;
    const uint32_t in = g_->eid(info.inputs[pair.first]);
    const int b = block_[in];
    if (b < 0 || p_.blocks[b].last != t || p_.blocks[b].colour != colour || p_.blocks[b].bytes != BytesOf(out) ||
        DTypeSize(dtypes_[in]) != DTypeSize(dtypes_[out]) || reused->count(b))
      continue;
    bool others = false;  // who read the block, too, and must not lose it
    for (size_t i = 0; i < info.inputs.size(); ++i)
      others = others || (block_[g_->eid(info.inputs[i])] == b && !op->ReadsOnlyShape(*info.source->attrs, static_cast<int>(i)) &&
                          std::find(pairs.begin(), pairs.end(), std::make_pair(static_cast<int>(i), o)) == pairs.end());
    if (others) continue;
    block_[out] = b;
    p_.blocks[b].last = std::max(t, uses_[out]);
    reused->insert(b);
    inplace_[out] = true;
    ++p_.stats.num_inplace;
    return true;
  }
  return false;
}

}  // namespace mxnet
