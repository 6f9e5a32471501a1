// What a plan instance keeps for its runs as CUDA graphs.
#ifndef MXNET_EXECUTOR_PLAN_PLAN_CUDA_GRAPHS_H_
#define MXNET_EXECUTOR_PLAN_PLAN_CUDA_GRAPHS_H_

#include "executor/plan/cuda_graphs.h"
#include "executor/plan/graph_places.h"
#include "executor/plan/plan.h"
#include "executor/plan/plan_workspace.h"

namespace mxnet {

struct PlanCudaGraphs {
  explicit PlanCudaGraphs(const Plan& plan)
      : ctx(plan.ctx), places(plan), graphs(static_cast<int>(plan.nodes.size()), plan.ctx.dev_id, plan.is_train) {}
  ~PlanCudaGraphs() {
    storage::FinishDevice(ctx);
    Storage::Get()->Free(draws);
  }
  PlanCudaGraphs(const PlanCudaGraphs&) = delete;
  PlanCudaGraphs& operator=(const PlanCudaGraphs&) = delete;

  const Context ctx;
  StorageHandle draws;  // seed and counter where the random numbers of the next graph begin
  GraphPlaces places;
  PlanWorkspace workspace{true};
  DeviceGraphs graphs;  // gone before the memory that they know
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_CUDA_GRAPHS_H_
