#ifndef MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_
#define MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "mxnet/imperative.h"
#include "operator/runtime/custom_function.h"

namespace mxnet {

/* Makes `outputs`, already computed, depend on `inputs` for autograd. Does nothing when no input is
 * tracked. */
inline void RecordCustomFunction(std::shared_ptr<CustomFunction> function, const std::vector<NDArray*>& inputs,
                                 const std::vector<NDArray*>& outputs) {
  Imperative::Record(CustomFunctionAttrs(std::move(function), inputs, outputs.size()), inputs, outputs);
}

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_
