// Offsets in one arena for blocks with known sizes and lifetimes.
#ifndef MXNET_EXECUTOR_PLAN_PLAN_MEMORY_H_
#define MXNET_EXECUTOR_PLAN_PLAN_MEMORY_H_

#include <cstddef>
#include <string>
#include <vector>

namespace mxnet {

/* A block that must keep its contents during steps [first, last], both included. */
struct MemoryBlock {
  size_t bytes = 0;
  int first = 0, last = 0;
  int colour = 0;  // blocks of different colours never share memory
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // by block
  size_t arena_bytes = 0;
  size_t unshared_bytes = 0;     // sum of all blocks
  size_t lower_bound_bytes = 0;  // largest sum of blocks that live at one step; of several colours the sum of theirs
};

/*
 * Best-fit by greedy placement, tried with up to `match_range` orders of the blocks; the smallest
 * arena wins. 0: nothing is shared. Offsets are multiples of 64. Linear in blocks times placed
 * neighbours; deterministic.
 */
MemoryPlan PlanMemory(const std::vector<MemoryBlock>& blocks, int match_range);

/* True iff no two blocks that live at the same time overlap and all lie inside the arena; otherwise
 * *why says which do not. */
bool VerifyMemoryPlan(const std::vector<MemoryBlock>& blocks, const MemoryPlan& plan, std::string* why);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_MEMORY_H_
