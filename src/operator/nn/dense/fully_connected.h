/* Parameters of FullyConnected. */
#ifndef MXNET_OPERATOR_NN_DENSE_FULLY_CONNECTED_H_
#define MXNET_OPERATOR_NN_DENSE_FULLY_CONNECTED_H_

#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct FullyConnectedParam : public Parameter<FullyConnectedParam> {
  int num_hidden;
  bool no_bias, flatten;
  MXNET_DECLARE_PARAM(FullyConnectedParam) {
    MXNET_FIELD(num_hidden).set_lower_bound(1).describe("Number of output features.");
    MXNET_FIELD(no_bias).set_default(false).describe("Leave the bias out.");
    MXNET_FIELD(flatten).set_default(true).describe(
        "Treat all dimensions of data behind the first as one; otherwise only the last is transformed.");
  }
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DENSE_FULLY_CONNECTED_H_
