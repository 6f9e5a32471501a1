#include "executor/plan/plan_memory.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/round_up.h"

namespace mxnet {
namespace {

constexpr size_t kAlign = 64;

// The orders that are tried, best first by experience. Returns false when there is no k-th.
bool Order(const std::vector<MemoryBlock>& blocks, int k, std::vector<int>* order) {
  order->resize(blocks.size());
  std::iota(order->begin(), order->end(), 0);
  auto span = [&](int i) { return blocks[i].last - blocks[i].first + 1; };
  auto area = [&](int i) { return static_cast<double>(blocks[i].bytes) * span(i); };
  auto sort = [&](auto less) { std::stable_sort(order->begin(), order->end(), less); };
  switch (k) {
    case 0: sort([&](int a, int b) { return blocks[a].bytes > blocks[b].bytes; }); return true;
    case 1: sort([&](int a, int b) { return area(a) > area(b); }); return true;
    case 2: sort([&](int a, int b) { return blocks[a].first < blocks[b].first; }); return true;
    case 3: sort([&](int a, int b) { return span(a) != span(b) ? span(a) > span(b) : blocks[a].bytes > blocks[b].bytes; }); return true;
    case 4: sort([&](int a, int b) { return blocks[a].last > blocks[b].last; }); return true;
    default: return false;
  }
}

size_t Place(const std::vector<MemoryBlock>& blocks, const std::vector<int>& order, size_t give_up_at, std::vector<size_t>* offsets) {
  struct Placed {
    size_t begin, end;
    int first, last;
  };
  std::vector<Placed> placed;  // by begin
  placed.reserve(blocks.size());
  size_t total = 0;
  for (int i : order) {
    const MemoryBlock& b = blocks[i];
    const size_t size = RoundUp(b.bytes, kAlign);
    // the smallest gap between neighbours in time that is large enough
    size_t best = static_cast<size_t>(-1), best_gap = static_cast<size_t>(-1), reached = 0;
    for (const Placed& p : placed) {
      if (p.last < b.first || p.first > b.last) continue;
      if (p.begin > reached && p.begin - reached >= size && p.begin - reached < best_gap) {
        best = reached;
        best_gap = p.begin - reached;
      }
      reached = std::max(reached, p.end);
    }
    if (best == static_cast<size_t>(-1)) best = reached;
    (*offsets)[i] = best;
    total = std::max(total, best + size);
    if (total >= give_up_at) return total;
    if (size == 0) continue;
    Placed mine{best, best + size, b.first, b.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), mine, [](const Placed& a, const Placed& c) { return a.begin < c.begin; }),
                  mine);
  }
  return total;
}

MemoryPlan PlanOneColour(const std::vector<MemoryBlock>& blocks, int match_range) {
  MemoryPlan plan;
  plan.offsets.assign(blocks.size(), 0);
  std::map<int, long long> change;  // bytes that come and go, by step
  for (size_t i = 0; i < blocks.size(); ++i) {
    const size_t size = RoundUp(blocks[i].bytes, kAlign);
    if (match_range <= 0) plan.offsets[i] = plan.unshared_bytes;
    plan.unshared_bytes += size;
    change[blocks[i].first] += static_cast<long long>(size);
    change[blocks[i].last + 1] -= static_cast<long long>(size);
  }
  long long live = 0;
  for (const auto& c : change) {
    live += c.second;
    plan.lower_bound_bytes = std::max(plan.lower_bound_bytes, static_cast<size_t>(live));
  }
  plan.arena_bytes = plan.unshared_bytes;
  if (match_range <= 0) return plan;

  std::vector<int> order;
  std::vector<size_t> offsets(blocks.size());
  size_t best = static_cast<size_t>(-1);
  for (int k = 0; k < match_range && best > plan.lower_bound_bytes && Order(blocks, k, &order); ++k) {
    const size_t total = Place(blocks, order, best, &offsets);
    if (total >= best) continue;
    best = total;
    plan.offsets = offsets;
  }
  plan.arena_bytes = best;
  return plan;
}

}  // namespace

MemoryPlan PlanMemory(const std::vector<MemoryBlock>& all, int match_range) {
  MemoryPlan plan;
  plan.offsets.assign(all.size(), 0);
  std::map<int, std::vector<int>> by_colour;
  for (size_t i = 0; i < all.size(); ++i) by_colour[all[i].colour].push_back(static_cast<int>(i));
  for (const auto& colour : by_colour) {  // an arena each, one behind the other
    std::vector<MemoryBlock> blocks;
    for (int i : colour.second) blocks.push_back(all[i]);
    const MemoryPlan part = PlanOneColour(blocks, match_range);
    for (size_t k = 0; k < blocks.size(); ++k) plan.offsets[colour.second[k]] = plan.arena_bytes + part.offsets[k];
    plan.arena_bytes += part.arena_bytes;
    plan.unshared_bytes += part.unshared_bytes;
    plan.lower_bound_bytes += part.lower_bound_bytes;
  }
  return plan;
}

bool VerifyMemoryPlan(const std::vector<MemoryBlock>& blocks, const MemoryPlan& plan, std::string* why) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (plan.offsets[i] + blocks[i].bytes > plan.arena_bytes) {
      *why = "block " + std::to_string(i) + " ends outside the arena";
      return false;
    }
    for (size_t j = 0; j < i && blocks[i].bytes > 0; ++j) {
      if (blocks[j].bytes == 0) continue;
      const bool together = blocks[i].first <= blocks[j].last && blocks[j].first <= blocks[i].last;
      const bool apart = plan.offsets[i] + blocks[i].bytes <= plan.offsets[j] || plan.offsets[j] + blocks[j].bytes <= plan.offsets[i];
      if (together && !apart) {
        *why = "blocks " + std::to_string(j) + " and " + std::to_string(i) + " overlap";
        return false;
      }
    }
  }
  return true;
}

}  // namespace mxnet
