// Plans and the engine: what a phase reads and writes, and who runs it.
#include <algorithm>

#include "base/float_mode.h"
#include "base/threads/borrowed_team.h"
#include "engine/change.h"
#include "engine/waiting_work.h"
#include "executor/plan/callers.h"
#include "executor/plan/plan_cuda_graphs.h"
#include "executor/plan/plan_instance.h"
#include "imperative/own_thread.h"
#include "ndarray/run.h"

namespace mxnet {
namespace {

void SortUnique(std::vector<Var*>* v) {
  std::sort(v->begin(), v->end());
  v->erase(std::unique(v->begin(), v->end()), v->end());
}

}  // namespace

void PlanInstance::Variables::Add(const Variables& other) {
  num_kept = 0;
  reads.insert(reads.end(), other.reads.begin(), other.reads.end());
  writes.insert(writes.end(), other.writes.begin(), other.writes.end());
  SortUnique(&writes);
  reads.erase(std::remove_if(reads.begin(), reads.end(), [&](Var* v) { return std::binary_search(writes.begin(), writes.end(), v); }),
              reads.end());
  SortUnique(&reads);
}

void PlanInstance::CollectVariables(const PlanCall& call, const Plan::Bulk& bulk, bool continues, Variables* found) const {
  std::vector<Var*> kept, &reads = found->reads, &writes = found->writes;
  reads.clear();
  writes.clear();
  const auto add = [&call](int s, std::vector<Var*>* to) {
    if (!call.arrays[s].is_none()) to->push_back(call.arrays[s].var());
  };
  for (int s : bulk.write_slots) add(s, &writes);
  writes.push_back(arena_->var);
  const bool draws = bulk.random && !call.repeats, own = OwnsRandom(bulk.begin);
  if (draws && !own) writes.push_back(call.random->var);
  if (draws && own) reads.push_back(call.own_random[IsBackward(bulk.begin)].taken.var());
  SortUnique(&writes);
  for (int s : bulk.kept_slots) add(s, &kept);
  if (continues) kept.push_back(arena_->var);
  for (int s : bulk.read_slots) add(s, &reads);
  SortUnique(&reads);
  // An array that is both read and written, as two of the caller's.
  const auto written = [&writes](Var* v) { return std::binary_search(writes.begin(), writes.end(), v); };
  std::copy_if(reads.begin(), reads.end(), std::back_inserter(kept), written);
  reads.erase(std::remove_if(reads.begin(), reads.end(), written), reads.end());
  SortUnique(&kept);
  std::stable_partition(writes.begin(), writes.end(), [&kept](Var* v) { return std::binary_search(kept.begin(), kept.end(), v); });
  found->num_kept = static_cast<int>(kept.size());
}

void PlanInstance::Push(std::function<void(RunContext)> fn, Variables variables, const char* name, bool alone) const {
  variables.reads.insert(variables.reads.end(), variables.writes.begin(), variables.writes.begin() + variables.num_kept);
  const Context where = plan_->ctx.execution();
  if (alone || ((plan_->forward.meets || plan_->backward.meets) && !where.is_gpu()))
    return PushOnOwnThread(std::move(fn), where, std::move(variables.reads), std::move(variables.writes), name);
  Engine::Get()->PushSync(std::move(fn), where, std::move(variables.reads), std::move(variables.writes), FnProperty::kNormal, 0, name);
}

void PlanInstance::PushAsync(std::function<void(RunContext)> before, const std::shared_ptr<PlanCall>& call, int node, Variables variables,
                             const char* name) {
  variables.reads.insert(variables.reads.end(), variables.writes.begin(), variables.writes.begin() + variables.num_kept);
  // The closure keeps what the node computes on until it is done.
  auto start = [self = shared_from_this(), before = std::move(before), call, node](RunContext run, OnComplete done) {
    if (before) before(run);
    self->StartNode(node, run, done);
  };
  const Context where = plan_->ctx.execution();
  if (!where.is_gpu())
    return engine::PushStarting(Engine::Get(), std::move(start), std::move(variables.reads), std::move(variables.writes), 0, name);
  Engine::Get()->PushAsync(std::move(start), where, std::move(variables.reads), std::move(variables.writes), FnProperty::kAsync, 0, name);
}

void PlanInstance::BeginPhase(const PhaseRun& phase, const RunContext& run) {
  if (!phase.backward) BeginForward(phase.call.get());
  Bind(phase.call.get(), run, phase.cuda_graphs ? &CudaGraphs()->places : nullptr);
}

void PlanInstance::RunBulk(const PhaseRun& phase, const Plan::Bulk& bulk, const RunContext& run) {
  profiler::NameScope profiled(profiler::NameScope::kPlanBulk, phase.name(), bulk.end - bulk.begin, &run);
  // another call may have used the instance since the previous bulk only if the phase is new
  if (bulk.begin == PhaseOf(phase.backward).begin) BeginPhase(phase, run);
  if (phase.cuda_graphs) {
    ExecuteCudaGraphs(phase.call.get(), bulk, run);
  } else {
    PlanWorkspace& workspace = PlanWorkspace::OfThread();
    Execute(phase.call.get(), bulk.begin, bulk.end, run, &workspace);
    workspace.End();
  }
  if (bulk.end == PhaseOf(phase.backward).end && phase.free_after()) FreeArena(run);
}

bool PlanInstance::RunHere(const PhaseRun& phase) {
  const Plan::Phase& of = PhaseOf(phase.backward);
  const PlanCall& call = *phase.call;
  RunContext run;
  run.ctx = plan_->ctx.execution();
  if ((of.cost >= kInlineNanoseconds && !call.on_caller) || run.ctx.is_gpu() || of.only_in_bulks || of.meets) return false;
  Engine* engine = Engine::Get();
  Variables v;
  CollectVariables(call, of.whole, phase.backward, &v);
  if (!engine->TryAcquire(v.reads.data(), static_cast<int>(v.reads.size()), v.writes.data(), static_cast<int>(v.writes.size())))
    return false;
  std::exception_ptr error;
  FloatModeScope float_mode;
  try {
    if (call.on_caller) {
      CallerScope share;
      RunBulk(phase, of.whole, run);
    } else {
      const BorrowedTeam team;
      RunBulk(phase, of.whole, run);
    }
  } catch (...) {
    error = std::current_exception();
  }
  engine::ReleaseChanged(engine, v.reads.data(), static_cast<int>(v.reads.size()), v.writes.data(), static_cast<int>(v.writes.size()),
                         v.num_kept, error, phase.name());
  return true;
}

void PlanInstance::Run(const std::shared_ptr<PlanCall>& call, bool backward) {
  const Plan::Phase& of = PhaseOf(backward);
  if (of.begin == of.end) return;
  TakeRandom(call, backward);
  const PhaseRun phase{call, backward, RunsAsCudaGraphs(*call, backward)};
  if (RunHere(phase)) return;
  auto self = shared_from_this();
  Variables variables;
  const size_t bulks = phase.cuda_graphs ? 1 : of.bulks.size();
  for (size_t b = 0; b < bulks; ++b) {
    const Plan::Bulk* bulk = phase.cuda_graphs ? &of.whole : &of.bulks[b];  // belongs to the plan, which `self` keeps
    const bool first = b == 0, last = b + 1 == bulks;
    CollectVariables(*call, *bulk, backward || !first, &variables);
    if (bulk->async) {
      std::function<void(RunContext)> before;
      if (first) before = [self, phase](RunContext run) { self->BeginPhase(phase, run); };
      PushAsync(std::move(before), call, bulk->begin, variables, plan_->nodes[bulk->begin].attrs->op->name.c_str());
      if (last && phase.free_after()) FreeArenaLater();
      continue;
    }
    Push([self, phase, bulk](RunContext run) { self->RunBulk(phase, *bulk, run); }, variables, phase.name(), bulk->alone);
  }
}

void PlanInstance::RunStep(const std::shared_ptr<PlanCall>& call, int step) {
  const Plan::Phase& phase = plan_->forward;
  if (step == 0) TakeRandom(call, false);
  Variables variables;
  CollectVariables(*call, phase.whole, step > 0, &variables);
  auto self = shared_from_this();
  const auto begin = [self, call, step](RunContext run) {
    if (step == 0) self->BeginForward(call.get());
    self->Bind(call.get(), run);
  };
  if (plan_->nodes[step].async) return PushAsync(begin, call, step, std::move(variables), "forward step");
  Push(
      [self, call, step, begin](RunContext run) {
        begin(run);
        self->Execute(call.get(), step, step + 1, run, &PlanWorkspace::OfThread());
      },
      std::move(variables), "forward step", plan_->nodes[step].alone);
}

void PlanInstance::FreeArenaLater() {
  auto self = shared_from_this();
  Engine::Get()->PushSync([self](RunContext run) { self->FreeArena(run); }, plan_->ctx.execution(), {}, {arena_->var}, FnProperty::kNormal,
                          0, "free_arena");
}

}  // namespace mxnet
