// A plan as text.
#include <sstream>

#include "executor/plan/plan.h"

namespace mxnet {
namespace {

std::string SlotText(const std::pair<Plan::SlotKind, int>& slot) {
  const std::string index = std::to_string(slot.second);
  switch (slot.first) {
    case Plan::SlotKind::kInput: return "input" + index;
    case Plan::SlotKind::kOutput: return "output" + index;
    case Plan::SlotKind::kHeadGradient: return "head_grad" + index;
    case Plan::SlotKind::kGradient: return "grad" + index;
  }
  return "";
}

}  // namespace

std::string Plan::DebugStr() const {
  std::ostringstream os;
  os << "Plan for " << ctx << (is_train ? ", training" : ", inference") << ": " << stats.num_nodes << " nodes in " << stats.num_bulks
     << " bulks\n";
  auto place = [&](int i) {
    const Blob& b = blobs[i];
    os << b.shape.shape << ':' << DTypeName(b.shape.dtype) << (b.shape.layout == Layout::kChannelsLast ? " channels-last" : "");
    switch (b.place) {
      case Place::kNowhere: os << " nowhere"; break;
      case Place::kSlot: os << ' ' << SlotText(KindOf(b.slot())); break;
      case Place::kConstant: os << " constant@" << b.at; break;
      case Place::kSparse: os << " sparse@" << b.at; break;
      case Place::kArena: os << " @" << b.at; break;
    }
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
