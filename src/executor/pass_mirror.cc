// Which forward nodes the backward pass recomputes instead of keeping their results.
#include <unordered_set>

#include "executor/passes.h"
#include "mxnet/env.h"

namespace mxnet {


bool MirrorWanted(const Node& node) {
  auto forced = node.attrs->dict.find("__force_mirroring__");
  if (forced != node.attrs->dict.end() && (forced->second == "True" || forced->second == "1" || forced->second == "true")) return true;
  const Env& env = Env::Get();
  if (!env.backward_do_mirror && env.memory_opt == 0) return false;
  // What is dear to compute, or keeps little, stays: repeating it would cost more than its memory is worth.
  static const std::unordered_set<std::string> kKept = {
      "Convolution", "Deconvolution", "FullyConnected", "dot", "batch_dot", "BatchNorm", "Concat", "SoftmaxOutput", "RNN", "Pooling", "Embedding",
      "CTCLoss", "LayerNorm", "softmax", "log_softmax", "_npi_matmul", "_npi_tensordot", "_npi_dot"};
  return kKept.count(node.op()->name) == 0;
}

}  // namespace mxnet
