#ifndef MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_
#define MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_

#include <memory>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {

/* The user's side of a recorded function. Backward writes `igrads` from `ograds`; it throws what
 * went wrong. */
class CustomFunction {
 public:
  virtual ~CustomFunction() = default;
  virtual void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& igrads, bool is_train) = 0;
};

/* Makes `outputs`, already computed, depend on `inputs` for autograd. Does nothing when no input is
 * tracked. */
void RecordCustomFunction(std::shared_ptr<CustomFunction> function, const std::vector<NDArray*>& inputs,
                          const std::vector<NDArray*>& outputs);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_CUSTOM_FUNCTION_H_
