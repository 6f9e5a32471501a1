/* Parameters and geometry of Pooling. */
#ifndef MXNET_OPERATOR_NN_POOLING_POOLING_H_
#define MXNET_OPERATOR_NN_POOLING_POOLING_H_

#include "operator/nn/pooling/pooling_kernels.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

enum PoolConvention : int { kValidConvention, kFullConvention, kSameConvention };
enum PoolLayout : int { kPoolNCW, kPoolNCHW, kPoolNCDHW, kPoolNWC, kPoolNHWC, kPoolNDHWC };

struct PoolingParam : public Parameter<PoolingParam> {
  Shape kernel, stride, pad;
  int pool_type, pooling_convention;
  bool global_pool, cudnn_off;
  std::optional<int> p_value, layout;
  std::optional<bool> count_include_pad;
  MXNET_DECLARE_PARAM(PoolingParam) {
    MXNET_FIELD(kernel).set_default(Shape()).describe("Window: (w,), (h, w) or (d, h, w). Not needed with global_pool.");
    MXNET_FIELD(pool_type)
        .add_enum("max", kPoolMax)
        .add_enum("avg", kPoolAvg)
        .add_enum("sum", kPoolSum)
        .add_enum("lp", kPoolLp)
        .set_default(kPoolMax)
        .describe("What is taken of a window.");
    MXNET_FIELD(global_pool).set_default(false).describe("One window over the whole of each channel; kernel, stride and pad are ignored.");
    MXNET_FIELD(cudnn_off).set_default(false).describe("Do not use cuDNN for this layer.");
    MXNET_FIELD(pooling_convention)
        .add_enum("valid", kValidConvention)
        .add_enum("full", kFullConvention)
        .add_enum("same", kSameConvention)
        .set_default(kValidConvention)
        .describe("Output size: valid rounds down, full rounds up, same is ceil(size / stride).");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe("Padding on both sides; 0 when not given. Must be smaller than kernel.");
    MXNET_FIELD(p_value).set_default(std::optional<int>()).describe("Exponent of pool_type lp.");
    MXNET_FIELD(count_include_pad).set_default(std::optional<bool>()).describe("Whether averages count padding; true when not given.");
    MXNET_FIELD(layout)
        .add_enum("NCW", kPoolNCW)
        .add_enum("NCHW", kPoolNCHW)
        .add_enum("NCDHW", kPoolNCDHW)
        .add_enum("NWC", kPoolNWC)
        .add_enum("NHWC", kPoolNHWC)
        .add_enum("NDHWC", kPoolNDHWC)
        .set_default(std::optional<int>())
        .describe("Order of data's dimensions; NCW, NCHW or NCDHW by the rank when not given.");
  }
  bool channels_last() const { return layout.has_value() && layout.value() >= kPoolNWC; }
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_POOLING_POOLING_H_
