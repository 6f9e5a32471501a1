/* Stacks of matrices where several in a row are one: keys and values of heads that share them. */
#ifndef MXNET_EXECUTOR_PASSES_FUSION_REPEATED_STACKS_H_
#define MXNET_EXECUTOR_PASSES_FUSION_REPEATED_STACKS_H_

#include <cstdint>
#include <optional>

#include "executor/passes/core/pattern.h"

namespace mxnet {

struct RepeatedStack {
  NodeEntry from;  // the matrices, each once,
  Shape shape;     // which are to be seen in this shape: the last dimension before theirs is smaller
  int64_t times;   // that each stands there in a row
};

/* None where the entry was not made by repeating each matrix along the last dimension before
 * theirs. */
std::optional<RepeatedStack> RepeatedStackOf(const NodeEntry& e, const pattern::GraphView& view);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_REPEATED_STACKS_H_
