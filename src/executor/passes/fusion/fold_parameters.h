#ifndef MXNET_EXECUTOR_PASSES_FUSION_FOLD_PARAMETERS_H_
#define MXNET_EXECUTOR_PASSES_FUSION_FOLD_PARAMETERS_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "executor/passes/core/passes.h"

namespace mxnet {

/* FoldScaleShift outside of a plan, where `wanted` says so of the old nodes. */
int FoldScaleShift(PassGraph* g, const GraphInfo& info, const std::function<bool(const Node& layer, const Node& behind)>& wanted);

struct FoldedSymbol {
  Symbol symbol;
  Symbol made;                     // values of variables of `symbol`, from those of the old one
  std::vector<std::string> names;  // these variables
};
/*
 * Inference, for files: what fold_scale_shift does in a plan. BatchNorm and numbers behind a
 * convolution or dense layer in float32 become part of its weight and bias, which are variables
 * again: of the old names, or named after the layer's weight where it had no bias. The layer keeps
 * its name. Dropout goes. Nodes of the names in `kept`, and layers that share a parameter, stay as
 * they are. `shapes`: of variables, as far as they are known.
 */
FoldedSymbol FoldIntoParameters(const Symbol& symbol, const std::map<std::string, Shape>& shapes, const std::set<std::string>& kept);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_FOLD_PARAMETERS_H_
