#ifndef MXNET_OPERATOR_REDUCE_MOMENTS_H_
#define MXNET_OPERATOR_REDUCE_MOMENTS_H_

#include <functional>
#include <vector>

#include "operator/reduce/reduce.h"

namespace mxnet {
namespace reduce {

/*
 * Mean and sum of squared deviations (finished by `finish`) in two passes, which unlike E[x^2] -
 * E[x]^2 loses no digits. `mean` may be null. Takes workspace about as large as the input.
 */
void Variance(const KernelArgs& call, const TBlob& in, const std::vector<char>& reduced, const Finish& finish, const TBlob* mean,
              OpReq mean_req, const TBlob& out, OpReq req);

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_MOMENTS_H_
