/* Parameters and geometry of Convolution and Deconvolution. */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_CONVOLUTION_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_CONVOLUTION_H_

#include "operator/nn/onednn/hooks.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

enum ConvLayout : int { kNCW, kNCHW, kNCDHW, kNWC, kNHWC, kNDHWC };

struct ConvolutionFields {
  Shape kernel, stride, dilate, pad;
  uint32_t num_filter, num_group;
  uint64_t workspace;
  bool no_bias, cudnn_off;
  std::optional<int> cudnn_tune, layout;
};
/* Declares those between kernel and layout, which have words of their own for each operator. */
#define MXNET_CONVOLUTION_FIELDS                                                                                             \
  MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");             \
  MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");            \
  MXNET_FIELD(pad).set_default(Shape()).describe("Zeros put on both sides; 0 when not given.");                              \
  MXNET_FIELD(num_filter).set_lower_bound(1).describe("Number of output channels.");                                         \
  MXNET_FIELD(num_group).set_default(1).describe("Number of groups that channels and filters are divided into.");            \
  MXNET_FIELD(workspace).set_default(1024).set_lower_bound(0).describe(                                                      \
      "MiB of workspace memory that a GPU's engine may use; no effect on the CPU.");                                         \
  MXNET_FIELD(no_bias).set_default(false).describe("Leave the bias out.");                                                   \
  MXNET_FIELD(cudnn_tune)                                                                                                    \
      .add_enum("off", 0)                                                                                                    \
      .add_enum("limited_workspace", 1)                                                                                      \
      .add_enum("fastest", 2)                                                                                                \
      .set_default(std::optional<int>())                                                                                     \
      .describe("How cuDNN chooses an engine: the first, the fastest within workspace, the fastest; no effect on the CPU."); \
  MXNET_FIELD(cudnn_off).set_default(false).describe("Accepted for compatibility: every convolution on a GPU is cuDNN's.")

struct ConvolutionParam : public Parameter<ConvolutionParam>, public ConvolutionFields {
  MXNET_DECLARE_PARAM(ConvolutionParam) {
    MXNET_FIELD(kernel).describe("Window: (w,), (h, w) or (d, h, w).");
    MXNET_CONVOLUTION_FIELDS;
    MXNET_FIELD(layout)
        .add_enum("NCW", kNCW)
        .add_enum("NCHW", kNCHW)
        .add_enum("NCDHW", kNCDHW)
        .add_enum("NHWC", kNHWC)
        .add_enum("NDHWC", kNDHWC)
        .set_default(std::optional<int>())
        .describe("Order of data's dimensions; NCW, NCHW or NCDHW by the kernel when not given.");
  }
};

struct DeconvolutionParam : public Parameter<DeconvolutionParam> {
  Shape kernel, stride, dilate, pad, adj, target_shape;
  uint32_t num_filter, num_group;
  uint64_t workspace;
  bool no_bias, cudnn_off;
  std::optional<int> cudnn_tune, layout;
  MXNET_DECLARE_PARAM(DeconvolutionParam) {
    MXNET_FIELD(kernel).describe("Window: (w,), (h, w) or (d, h, w).");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window in the output; 1 when not given.");
    MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe(
        "What is cut from both sides of the output; 0 when not given. Ignored with target_shape.");
    MXNET_FIELD(adj).set_default(Shape()).describe("Added to the far side of the output; less than stride. Ignored with target_shape.");
    MXNET_FIELD(target_shape).set_default(Shape()).describe("Spatial shape of the output, from which pad and adj follow.");
    MXNET_FIELD(num_filter).set_lower_bound(1).describe("Number of output channels.");
    MXNET_FIELD(num_group).set_default(1).describe("Number of groups that channels and filters are divided into.");
    MXNET_FIELD(workspace).set_default(512).set_lower_bound(0).describe(
        "MiB of workspace memory that a GPU's engine may use; no effect on the CPU.");
    MXNET_FIELD(no_bias).set_default(true).describe("Leave the bias out.");
    MXNET_FIELD(cudnn_tune)
        .add_enum("off", 0)
        .add_enum("limited_workspace", 1)
        .add_enum("fastest", 2)
        .set_default(std::optional<int>())
        .describe("How cuDNN chooses an engine: the first, the fastest within workspace, the fastest; no effect on the CPU.");
    MXNET_FIELD(cudnn_off).set_default(false).describe("Accepted for compatibility: every convolution on a GPU is cuDNN's.");
    MXNET_FIELD(layout)
        .add_enum("NCW", kNCW)
        .add_enum("NCHW", kNCHW)
        .add_enum("NCDHW", kNCDHW)
        .add_enum("NHWC", kNHWC)
        .add_enum("NDHWC", kNDHWC)
        .set_default(std::optional<int>())
        .describe("Order of data's dimensions; NCW, NCHW or NCDHW by the kernel when not given.");
  }
};

/* The layout attribute puts channels last (logically: shapes are in that order too). */
inline bool ChannelsLastAttr(const std::optional<int>& layout) { return layout.has_value() && layout.value() >= kNWC; }

/*
 * Geometry from logical shapes of data and output. For Deconvolution it is that of the convolution
 * whose data gradient it is: `src` is then the output and `dst` the data.
 */
ConvDims DimsOf(const ConvolutionParam& p, const Shape& data, const Shape& out);
ConvDims DimsOf(const DeconvolutionParam& p, const Shape& data, const Shape& out);

/* Gradients as matrix products of our own; false where they are not expected to be faster than the
 * hook. */
bool GemmConvolution(KernelArgs& args, const ConvCall& call);

/* One pass on float32 or float64 tensors, through the hook or the reference. */
void RunConvolution(KernelArgs& args, const ConvCall& call);

/* Convolution of int8 on the host: sums are exact, and cut to what int8 holds. */
void ConvolutionOfBytes(KernelArgs& args);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_CONVOLUTION_H_
