/* The tape entry of a function whose gradient the user computes (mx.autograd.Function). */
#ifndef MXNET_OPERATOR_RUNTIME_CUSTOM_FUNCTION_H_
#define MXNET_OPERATOR_RUNTIME_CUSTOM_FUNCTION_H_

#include <memory>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {

/* The user's side of a recorded function. Backward writes `igrads` from `ograds`; it throws what
 * went wrong. */
class CustomFunction {
 public:
  virtual ~CustomFunction() = default;
  virtual void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& igrads, bool is_train) = 0;
};

/* Of the node that stands for a call of the function with these arrays. They live as long as it. */
AttrsPtr CustomFunctionAttrs(std::shared_ptr<CustomFunction> function, const std::vector<NDArray*>& inputs, size_t num_outputs);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_CUSTOM_FUNCTION_H_
