/*
 * The arguments of a plan's kernels, with pointers into one user's memory and numbers that tell
 * what has changed between two runs. Whoever runs plans has one: PlanInstance, and the graphs that
 * run inside other graphs' kernels.
 *
 * THREADS  one at a time.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_BINDING_H_
#define MXNET_EXECUTOR_PLAN_PLAN_BINDING_H_

#include <functional>
#include <memory>
#include <vector>

#include "executor/plan/plan.h"
#include "mxnet/profiler.h"

namespace mxnet {

class PlanBinding {
 public:
  /* `workspace` is what kernels get their workspace from. The plan outlives the binding. */
  PlanBinding(const Plan& plan, const std::function<void*(size_t bytes)>& workspace);
  PlanBinding(const PlanBinding&) = delete;
  PlanBinding& operator=(const PlanBinding&) = delete;

  std::vector<TBlob> blobs;
  std::vector<KernelArgs> args;                   // by node
  std::vector<std::shared_ptr<OpState>> states;   // by node
  std::vector<const profiler::OpInfo*> profiled;  // by node: null until the profiler has seen it
  std::vector<uint64_t> versions;                 // by blob, as KernelArgs::in_versions wants them

  /* The blobs may hold something else than in the run before. */
  void Changed(const std::vector<int>& which) {
    ++changes_;
    for (int b : which) versions[b] = changes_;
  }
  void Point(const std::vector<int>& which, void* at) {
    for (int b : which) blobs[b].dptr = at;
  }
  /* The blobs are a sparse array, or none any more. */
  void Point(const std::vector<int>& which, SparseParts* parts) {
    for (int b : which) blobs[b].sparse = parts;
  }
  /* The blobs lie at their offsets from `block`. */
  void PutInto(const std::vector<int>& which, void* block) {
    for (int b : which) blobs[b].dptr = static_cast<char*>(block) + plan_.blobs[b].at;
  }

  /* Does a constant node hold what it would compute? When it does not, its readers learn of it, and
   * it has no result until Computed says so: a node whose kernel throws runs again. */
  bool UpToDate(int node);
  void Computed(int node) { computed_[node] = 1; }

  /* Calls `run_nodes` for each micro-batch of the loop. */
  template <typename F>
  void RunLoop(const Plan::Loop& loop, F&& run_nodes) {
    struct Back {  // also when a kernel throws: pointers are kept from run to run
      PlanBinding* self;
      const Plan::Loop& loop;
      int micro_batches;
      ~Back() { self->MoveOn(loop, -micro_batches); }
    } back{this, loop, 0};
    for (; back.micro_batches < loop.micro_batches; ++back.micro_batches) {
      run_nodes();
      MoveOn(loop, 1);
    }
  }

 private:
  void MoveOn(const Plan::Loop& loop, int micro_batches);

  const Plan& plan_;
  uint64_t changes_ = 0;
  std::vector<char> computed_;  // by node: a constant one that has a result
  std::vector<uint64_t> read_;  // by blob: the version that a constant node last read
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_BINDING_H_
