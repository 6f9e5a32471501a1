// Which forward nodes the backward pass recomputes instead of keeping their results.
#include "executor/passes.h"
#include "mxnet/env.h"

namespace mxnet {

bool MirrorWanted(const Node& node) {
  auto forced = node.attrs->dict.find("__force_mirroring__");
  if (forced != node.attrs->dict.end() && (forced->second == "True" || forced->second == "1" || forced->second == "true")) return true;
  const Env& env = Env::Get();
  if (!env.backward_do_mirror && env.memory_opt == 0) return false;
  return !node.op()->dear;
}

}  // namespace mxnet
