// Running a plan's nodes on the thread that calls.
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_instance.h"
#include "executor/plan/plan_workspace.h"
#include "operator/record/traits_graph.h"
#include "operator/shared/op_scope.h"

namespace mxnet {

void PlanInstance::Execute(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace) {
  for (int t = begin; t < end;) {
    const int index = plan_->nodes[t].loop;
    if (index < 0) {
      const int first = t;
      while (t < end && plan_->nodes[t].loop < 0) ++t;
      ExecuteNodes(call, first, t, run, workspace);
      continue;
    }
    const Plan::Loop& loop = plan_->loops[index];
    if (t == loop.begin) bound_.RunLoop(loop, [&] { ExecuteNodes(call, loop.begin, loop.end, run, workspace); });
    t = loop.end;
  }
}

void PlanInstance::ExecuteNodes(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace) {
  const Plan& p = *plan_;
  workspace_ = workspace;
  int t = begin;
  try {
    for (; t < end; ++t) {
      const Plan::Node& n = p.nodes[t];
      if (n.constant && bound_.UpToDate(t)) continue;
      KernelArgs& a = bound_.args[t];
      a.run = run;
      if (n.attrs->op->uses_random) a.random = RandomOf(call, t);
      workspace->Begin(run);
      if (n.constant && constant_pieces_ && constant_pieces_->RunPostponed(t, a)) {
        bound_.Computed(t);
        continue;
      }
      if (n.constant && constant_pieces_) constant_pieces_->Begin(t);
      profiler::OpScope profiled(&bound_.profiled[t], *n.attrs, a.in, a.out, n.name, run);
      (*n.kernel)(a);
      if (!n.constant) continue;
      if (constant_pieces_) constant_pieces_->Computed(t);
      bound_.Computed(t);
    }
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (node " + p.nodes[t].name + ")");
  }
}

void PlanInstance::StartNode(int node, const RunContext& run, OnComplete done) {
  const Plan::Node& n = plan_->nodes[node];
  KernelArgs& a = bound_.args[node];
  a.run = run;
  try {
    n.async->start(a, bound_.states[node], done);
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
  }
}

}  // namespace mxnet
