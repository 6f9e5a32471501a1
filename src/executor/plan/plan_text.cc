// A plan as text.
#include <sstream>

#include "executor/plan/plan.h"

namespace mxnet {

std::string Plan::DebugStr() const {
  std::ostringstream os;
  os << "Plan for " << ctx << (is_train ? ", training" : ", inference") << ": " << stats.num_nodes << " nodes in " << stats.num_bulks
     << " bulks\n";
  auto place = [&](int i) {
    const Blob& b = blobs[i];
    os << b.shape.shape << ':' << DTypeName(b.shape.dtype) << (b.shape.layout == Layout::kChannelsLast ? " channels-last" : "");
    if (b.shape_only)
      os << " nowhere";
    else if (b.constant)
      os << " constant@" << b.offset;
    else if (b.slot < 0)
      os << " @" << b.offset;
    else if (b.slot < num_inputs)
      os << " input" << b.slot;
    else if (b.slot < head_slot(0))
      os << " output" << b.slot - num_inputs;
    else if (b.slot < grad_slot(0))
      os << " head_grad" << b.slot - head_slot(0);
    else
      os << " grad" << b.slot - grad_slot(0);
  };
  for (size_t t = 0; t < nodes.size(); ++t) {
    const Node& n = nodes[t];
    if (static_cast<int>(t) == backward.begin && has_backward) os << "---- backward\n";
    os << t << ' ' << n.attrs->op->name << " \"" << n.name << "\" (";
    for (int i = 0; i < n.num_in; ++i) {
      os << (i ? ", " : "");
      place(n.in + i);
    }
    os << ") -> (";
    for (int o = 0; o < n.num_out; ++o) {
      os << (o ? ", " : "");
      place(n.out + o);
      const OpReq req = reqs[n.req + o];
      if (req == OpReq::kNull) os << " unused";
      if (req == OpReq::kWriteInplace) os << " in place";
      if (req == OpReq::kAdd) os << " added";
    }
    os << ")";
    if (n.loop >= 0 && !n.constant) os << " in " << loops[n.loop].micro_batches << " micro_batches";
    os << '\n';
  }
  os << "Arena " << stats.arena_bytes << " bytes; separate buffers " << stats.unshared_bytes << "; largest live set "
     << stats.lower_bound_bytes << "\n"
     << "Total " << (stats.arena_bytes >> 20) << " MB allocated\n";
  return os.str();
}

}  // namespace mxnet
