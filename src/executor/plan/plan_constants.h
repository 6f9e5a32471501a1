/*
 * A plan instance's constants: one block of memory, of which pieces are given back to the system
 * while nobody reads them.
 *
 * THREADS  used by the one thread that runs the instance.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_
#define MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_

#include <functional>
#include <unordered_map>

#include "executor/plan/plan.h"
#include "mxnet/kernel_args.h"

namespace mxnet {

class PlanConstants final : public PlanWeights {
 public:
  /* `base`: where the plan's constants lie, on the CPU. `compute(node)` runs a constant node. */
  PlanConstants(const Plan& plan, char* base, std::function<void(int node)> compute);

  void Need(const void* weights) override;
  void Done(const void* weights) override;
  /* A constant node has just written its results. */
  void Computed(int node);

  size_t dropped_bytes() const { return dropped_bytes_; }

 private:
  struct Piece {
    size_t bytes = 0;
    int node = -1, readers = 0;
    bool dropped = false;
  };
  const Plan& plan_;
  char* base_;
  std::function<void(int)> compute_;
  std::unordered_map<size_t, Piece> pieces_;  // by offset
  size_t dropped_bytes_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_
