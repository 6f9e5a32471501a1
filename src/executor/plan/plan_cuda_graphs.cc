// Running a phase as CUDA graphs.
#include "executor/plan/plan_cuda_graphs.h"

#include "base/device/device_interface.h"
#include "executor/plan/plan_instance.h"
#include "mxnet/env.h"
#include "operator/random/gpu_random.h"

namespace mxnet {

bool PlanInstance::RunsAsCudaGraphs(const PlanCall& call, bool backward) const {
  if (!call.graphs || !plan_->ctx.execution().is_gpu()) return false;
  // While nodes are recorded they run one by one: a graph shows none.
  return Env::Get().enable_cuda_graphs && GpuInterface().graphs.get() && plan_->loops.empty() && !PhaseOf(backward).only_in_bulks &&
         !plan_->has_sparse && !(profiler::Active() & profiler::kSymbolic);
}

PlanCudaGraphs* PlanInstance::CudaGraphs() {
  if (!cuda_graphs_) cuda_graphs_ = std::make_unique<PlanCudaGraphs>(*plan_);
  return cuda_graphs_.get();
}

void PlanInstance::ExecuteCudaGraphs(PlanCall* call, const Plan::Bulk& phase, const RunContext& run) {
  const Plan& p = *plan_;
  const int begin = phase.begin, end = phase.end;
  PlanCudaGraphs& kept = *CudaGraphs();
  PlanWorkspace* const workspace = &kept.workspace;
  // Constants are computed first; in their places they then have nothing to do, and segments need
  // not end there.
  for (int t = begin; t < end; ++t)
    if (p.nodes[t].constant) ExecuteNodes(call, t, t + 1, run, workspace);
  DeviceGraphs::Work work;
  work.context = run;
  const bool draws = PhaseOf(IsBackward(begin)).whole.random;
  if (draws) {
    if (!kept.draws.dptr) kept.draws = Storage::Get()->Alloc(2 * sizeof(uint64_t), run.ctx);
    uint64_t* place = static_cast<uint64_t*>(kept.draws.dptr);
    work.random = call->repeats ? &replay_random_ : &call->random->state;
    work.draws = place;
    work.begin_draws = [run, place](uint64_t seed, uint64_t counter) { BeginDraws(run, place, seed, counter); };
  }
  work.run = [&](int t, const RunContext& watched) {
    const CaptureState& capture = *watched.capture;
    const uint64_t waits = capture.host_waits, replayable = capture.replayable, before = draws ? work.random->Take(0) : 0;
    ExecuteNodes(call, t, t + 1, watched, workspace);
    // Numbers that kernels do not draw by themselves would be the same in every replay.
    const uint64_t drawn = draws ? work.random->Take(0) - before : 0;
    return drawn == capture.replayable - replayable && waits == capture.host_waits;
  };
  work.addresses = [&](int first, int last, DeviceGraphs::Key* key) {
    for (int t = first; t < last; ++t) {
      const Plan::Node& n = p.nodes[t];
      for (int b = n.in; b < n.in + n.num_in; ++b) key->push_back(bound_.blobs[b].dptr);
      for (int b = n.out; b < n.out + n.num_out; ++b) key->push_back(bound_.blobs[b].dptr);
    }
  };
  work.name = [&](int t) { return p.nodes[t].name; };
  kept.places.CopyIn(*call, phase, run);
  kept.graphs.Run(begin, end, work);
  kept.places.CopyOut(*call, phase, run);
  if (kept.graphs.TakeRestless()) kept.places.Settle(run);  // for the next call: it binds the places
}

}  // namespace mxnet
