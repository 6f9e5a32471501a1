// Showing the results of a plan's nodes while they run.
#include <cstring>

#include "base/device/device_interface.h"
#include "executor/plan/monitor_names.h"
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_instance.h"
#include "executor/plan/plan_workspace.h"
#include "ndarray/run.h"
#include "ndarray/sparse_copy.h"
#include "operator/matrix/to_layout.h"

namespace mxnet {
namespace {

/* Between blobs of one size, converting layouts; inside an engine operation. */
void CopyBlob(const TBlob& from, const TBlob& to, const RunContext& run) {
  const size_t bytes = to.Bytes();
  if (bytes == 0) return;
  if (from.ctx.is_gpu() || to.ctx.is_gpu()) {
    MXNET_CHECK(GpuInterface().copies) << "[plan] this build has no GPU support";
    GpuInterface().copies->copy(to.dptr, to.ctx, from.dptr, from.ctx, bytes, run.stream);
  } else {
    ConvertLayout(from, to);
  }
}

/* What is shown of one node. */
struct Shown {
  std::string name;
  int blob;  // -1: zeros
  NDArray array;
};

}  // namespace

void PlanInstance::RunMonitored(const std::shared_ptr<PlanCall>& call, bool backward, const Monitor& monitor) {
  const Plan& p = *plan_;
  const Plan::Phase& phase = PhaseOf(backward);
  if (phase.begin == phase.end) return;
  TakeRandom(call, backward);
  auto self = shared_from_this();
  const std::vector<std::string> names = p.optimized.ListInputNames(Symbol::kAll);  // such plans keep all of them
  for (int t = phase.begin; t < phase.end; ++t) {
    const Plan::Node& n = p.nodes[t];
    Plan::Bulk all_slots = phase.whole;  // one node at a time; what it may touch is a part of this
    all_slots.begin = t;
    all_slots.end = t + 1;
    const bool first = t == phase.begin;
    Variables variables;
    CollectVariables(*call, all_slots, backward || !first, &variables);
    std::vector<Shown> shown;
    size_t inputs_shown = 0;
    for (const ShownValue& v : ShownBy(p, names, t, backward, monitor.numbers_outputs)) {
      if (v.is_input && !monitor.all) continue;
      const TBlob& like = p.blobs[v.blob].shape;
      const TensorType type(like.shape, like.dtype, v.is_zero ? StorageType::kDense : p.blobs[v.blob].storage);
      shown.push_back({v.name, v.is_zero ? -1 : v.blob, NDArray::Make(type, Context::CPU())});
      inputs_shown += v.is_input;
    }
    for (auto& s : shown) variables.writes.push_back(s.array.var());
    const auto copy = [self](const Shown& to, const RunContext& run) {
      if (to.array.is_sparse()) return CopyParts(*self->bound_.blobs[to.blob].sparse, to.array.sparse(), run.stream);
      const TBlob data = to.array.data();
      if (to.blob < 0) {
        std::memset(data.dptr, 0, data.Bytes());
        return;
      }
      const TBlob from = self->bound_.blobs[to.blob];
      if (self->constant_pieces_) self->constant_pieces_->Need(from.dptr);
      CopyBlob(from, data, run);
    };
    const auto before = [self, call, first, backward, copy, shown, inputs_shown](RunContext run) {
      if (first) self->BeginPhase({call, backward, false}, run);
      for (size_t i = 0; i < inputs_shown; ++i)
        if (self->bound_.blobs[shown[i].blob].dptr || self->bound_.blobs[shown[i].blob].sparse) copy(shown[i], run);
    };
    const auto after = [copy, shown, inputs_shown](RunContext run) {
      for (size_t i = inputs_shown; i < shown.size(); ++i) copy(shown[i], run);
    };
    if (n.async) {
      PushAsync(before, call, t, variables, "monitor");
      variables.num_kept = static_cast<int>(variables.writes.size());
      Push(after, variables, "monitor", false);
    } else {
      Push(
          [self, call, t, before, after](RunContext run) {
            before(run);
            self->Execute(call.get(), t, t + 1, run, &PlanWorkspace::OfThread());
            after(run);
          },
          variables, "monitor", n.alone);
    }
    for (auto& s : shown) {
      s.array.WaitToRead();
      monitor.Tell(s.name, *n.attrs->op, s.array);
    }
  }
}

}  // namespace mxnet
