#include "executor/plan/plan_binding.h"

namespace mxnet {

PlanBinding::PlanBinding(const Plan& plan, const std::function<void*(size_t bytes)>& workspace)
    : args(plan.nodes.size()),
      states(plan.nodes.size()),
      profiled(plan.nodes.size(), nullptr),
      versions(plan.blobs.size(), 0),
      plan_(plan) {
  if (plan.constant_bytes > 0) {
    computed_.assign(plan.nodes.size(), 0);
    read_.assign(plan.blobs.size(), 0);
  }
  blobs.reserve(plan.blobs.size());
  for (const auto& b : plan.blobs) blobs.push_back(b.shape);
  for (size_t t = 0; t < args.size(); ++t) {
    const Plan::Node& n = plan.nodes[t];
    KernelArgs& a = args[t];
    a.switches = plan.switches;
    a.attrs = n.attrs.get();
    a.in = Span<const TBlob>(blobs.data() + n.in, n.num_in);
    a.out = Span<const TBlob>(blobs.data() + n.out, n.num_out);
    a.req = Span<const OpReq>(plan.reqs.data() + n.req, n.num_out);
    a.in_versions = Span<const uint64_t>(versions.data() + n.in, n.num_in);
    a.is_train = plan.is_train;
    a.state = &states[t];
    a.workspace = workspace;
  }
}

bool PlanBinding::UpToDate(int node) {
  const Plan::Node& n = plan_.nodes[node];
  bool same = computed_[node];
  for (int b = n.in; b < n.in + n.num_in; ++b) same = same && read_[b] == versions[b];
  if (same) return true;
  computed_[node] = 0;
  for (int b = n.in; b < n.in + n.num_in; ++b) read_[b] = versions[b];
  Changed(plan_.constant_readers[node]);
  return false;
}

void PlanBinding::MoveOn(const Plan::Loop& loop, int micro_batches) {
  for (int b : loop.moving) blobs[b].dptr = static_cast<char*>(blobs[b].dptr) + micro_batches * static_cast<int64_t>(blobs[b].Bytes());
  Changed(loop.data);
}

}  // namespace mxnet
