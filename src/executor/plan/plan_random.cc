// Which random numbers the nodes of a phase draw.
#include "executor/plan/plan_instance.h"
#include "operator/runtime/call_states.h"

namespace mxnet {

void PlanInstance::BeginForward(PlanCall* call) {
  if (call->repeats)
    replay_random_ = call->repeats->random_start;
  else if (call->random)
    call->random_start = plan_->forward.own_random ? call->own_random[0].state : call->random->state;
}

void PlanInstance::TakeRandom(const std::shared_ptr<PlanCall>& call, bool backward) {
  const Plan::Phase& phase = PhaseOf(backward);
  if (!phase.whole.random || call->repeats) return;
  if (!call->random) call->random = Imperative::Random(plan_->ctx);
  if (!phase.own_random) return;
  // Waits for nothing but the device's numbers: operators that run may be waiting for those, too.
  call->own_random[backward].taken = NDArray(Shape{1}, Context::CPU(), kUint8, true);
  Engine::Get()->PushSync([call, backward](RunContext) { call->own_random[backward].state = SplitRandom(&call->random->state); },
                          plan_->ctx.execution(), {call->random->var}, {call->random->var, call->own_random[backward].taken.var()},
                          FnProperty::kNormal, 0, "split_random");
}

RandomState* PlanInstance::RandomOf(PlanCall* call, int node) {
  if (call->repeats) return &replay_random_;
  return OwnsRandom(node) ? &call->own_random[IsBackward(node)].state : &call->random->state;
}

}  // namespace mxnet
