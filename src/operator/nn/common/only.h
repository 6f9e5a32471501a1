/* Calls of a kernel for some of its outputs. */
#ifndef MXNET_OPERATOR_NN_COMMON_ONLY_H_
#define MXNET_OPERATOR_NN_COMMON_ONLY_H_

#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace nn {

/* `args` as if only the outputs of `mask` were wanted: widening writes back every wanted output, so
 * a call must not see those that it does not compute. */
class Only {
 public:
  Only(const KernelArgs& args, unsigned mask) : args_(args), req_(args.req.ptr, args.req.ptr + args.req.size()) {
    for (size_t i = 0; i < req_.size(); ++i)
      if (!(mask >> i & 1u)) req_[i] = OpReq::kNull;
    args_.req = Span<const OpReq>(req_.data(), static_cast<int>(req_.size()));
  }
  KernelArgs& args() { return args_; }

 private:
  KernelArgs args_;
  std::vector<OpReq> req_;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_ONLY_H_
