#include "operator/runtime/call_states.h"

#include "mxnet/op.h"
#include "operator/record/async_call.h"
#include "operator/runtime/subgraph.h"

namespace mxnet {
namespace {

/* Has the node such a graph, at any depth? */
bool HoldsWaiting(const Attrs& attrs) {
  for (const auto& graph : attrs.subgraphs) {
    for (const NodePtr& n : ReadSubgraph(*graph).nodes) {
      if (n->is_variable()) continue;
      const RunBy how = n->op()->RunsBy(*n->attrs);
      if (how == RunBy::kAsync || how == RunBy::kMeetingKernel || how == RunBy::kGraphKernel) return true;
    }
  }
  return false;
}

}  // namespace

RunBy Op::RunsByParameters(const Attrs& a) const {
  if (runs_by) return runs_by(a);
  return runs == RunBy::kKernel && HoldsWaiting(a) ? RunBy::kGraphKernel : runs;
}

std::shared_ptr<OpState> CallStates::Of(const Attrs& attrs, Context ctx, Span<const TBlob> in, const std::vector<int64_t>& steps) {
  const AsyncCall& how = *attrs.op->trait<AsyncCall>();
  Kept* kept = nullptr;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    kept = &states_[{attrs.param.get(), steps}];  // stays where it is
  }
  if (!kept->state && how.make_state) {  // not under the lock: it calls the program
    TensorTypes types;
    for (const TBlob& b : in) types.emplace_back(b.shape, b.dtype, StorageType::kDense);
    kept->state = how.make_state(attrs, ctx, types);
    kept->param = attrs.param;
  }
  MXNET_CHECK(kept->state) << "[" << attrs.op->name << "] the operator whose gradient this is has not run";
  return kept->state;
}

std::shared_ptr<CallScope> NewCallScope(const Attrs& attrs, std::shared_ptr<CallStates> calls) {
  const KeepsCallStates* how = attrs.op->trait<KeepsCallStates>();
  MXNET_CHECK(how) << "[" << attrs.op->name << "] its graph holds an operator that waits, which cannot run there";
  std::shared_ptr<CallScope> scope = how->new_scope();
  scope->calls = std::move(calls);
  return scope;
}

RandomState SplitRandom(RandomState* state) {
  constexpr uint64_t kMost = uint64_t{1} << 36;  // counters: more than one call draws in a day
  RandomState own = *state;
  state->Take(kMost);
  return own;
}

}  // namespace mxnet
