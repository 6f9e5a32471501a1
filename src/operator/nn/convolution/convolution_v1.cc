// Convolution_v1: the Convolution of the first networks, in two or three dimensions. Its parameters
// become those of Convolution when they are parsed; everything else is shared.
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/traits.h"

namespace mxnet {
namespace nn {

struct ConvolutionV1Param : public dmlc::Parameter<ConvolutionV1Param> {
  Shape kernel, stride, dilate, pad;
  uint32_t num_filter, num_group;
  uint64_t workspace;
  bool no_bias, cudnn_off;
  dmlc::optional<int> cudnn_tune, layout;
  DMLC_DECLARE_PARAMETER(ConvolutionV1Param) {
    DMLC_DECLARE_FIELD(kernel).describe("Window: (h, w) or (d, h, w).");
    DMLC_DECLARE_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");
    DMLC_DECLARE_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");
    DMLC_DECLARE_FIELD(pad).set_default(Shape()).describe("Zeros put on both sides; 0 when not given.");
    DMLC_DECLARE_FIELD(num_filter).set_lower_bound(1).describe("Number of output channels.");
    DMLC_DECLARE_FIELD(num_group).set_default(1).describe("Number of groups that channels and filters are divided into.");
    DMLC_DECLARE_FIELD(workspace).set_default(1024).set_lower_bound(0).describe(
        "MiB of workspace memory that a GPU's engine may use; no effect on the CPU.");
    DMLC_DECLARE_FIELD(no_bias).set_default(false).describe("Leave the bias out.");
    DMLC_DECLARE_FIELD(cudnn_tune)
        .add_enum("off", 0)
        .add_enum("limited_workspace", 1)
        .add_enum("fastest", 2)
        .set_default(dmlc::optional<int>())
        .describe("How cuDNN chooses an engine; no effect on the CPU.");
    DMLC_DECLARE_FIELD(cudnn_off).set_default(false).describe("Accepted for compatibility: every convolution on a GPU is cuDNN's.");
    DMLC_DECLARE_FIELD(layout)
        .add_enum("NCHW", kNCHW)
        .add_enum("NHWC", kNHWC)
        .add_enum("NCDHW", kNCDHW)
        .add_enum("NDHWC", kNDHWC)
        .set_default(dmlc::optional<int>())
        .describe("Order of data's dimensions; NCHW or NCDHW by the kernel when not given.");
  }
};
MXNET_REGISTER_PARAM(ConvolutionV1Param);

namespace {

// Parameters of Convolution.
std::shared_ptr<const void> Newer(const ConvolutionV1Param& old) {
  auto p = std::make_shared<ConvolutionParam>();
  p->kernel = old.kernel, p->stride = old.stride, p->dilate = old.dilate, p->pad = old.pad;
  p->num_filter = old.num_filter, p->num_group = old.num_group, p->workspace = old.workspace;
  p->no_bias = old.no_bias, p->cudnn_off = old.cudnn_off, p->cudnn_tune = old.cudnn_tune, p->layout = old.layout;
  return p;
}

Op& SetParam(Op& op) {
  op.set_param<ConvolutionV1Param>();
  const auto parse = op.parse;
  op.parse = [parse](const AttrDict& dict) { return Newer(*std::static_pointer_cast<const ConvolutionV1Param>(parse(dict))); };
  return op;
}

int Inputs(const Attrs& a) { return a.get<ConvolutionParam>().no_bias ? 2 : 3; }

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& kernel = attrs.get<ConvolutionParam>().kernel;
  MXNET_CHECK_KIND(kernel.ndim() == 2 || kernel.ndim() == 3, Value)
      << Named(attrs) << "kernel " << kernel << "; windows of 2 or 3 dimensions are accepted";
  return Op::Get("Convolution")->infer_shape(attrs, in, out);
}

template <bool kBack>
void Run(KernelArgs& args) {
  static const Op* const op = Op::Get(kBack ? "_backward_Convolution" : "Convolution");
  const Kernel* kernel = op->KernelFor(args.run.ctx.dev_type);
  MXNET_CHECK_KIND(kernel != nullptr, Value) << Named(*args.attrs) << "there is no kernel for this device";
  (*kernel)(args);
}

bool NamesChannelsLast(const Attrs& a) { return ChannelsLastAttr(a.get<ConvolutionParam>().layout); }

[[maybe_unused]] const bool registered = [] {
  SetParam(Op::Register("Convolution_v1"))
      .describe(
          "Convolution in two or three dimensions, as the first networks call it.\n\n"
          "The same as Convolution, which new programs should use. data has shape (batch, channels, spatial...), weight (num_filter, "
          "channels /\n"
          "num_group, kernel...), bias (num_filter,). float16, bfloat16, float32 and float64.")
      .set_trait(NamesLayout{NamesChannelsLast})
      .set_inputs({"data", "weight", "bias"}, Inputs)
      .set_infer_shape(ForwardShape)
      .set_dtypes({kFloat32, kFloat64, kFloat16, kBfloat16})
      .set_expensive_to_recompute()
      .set_gradient(BackwardNode("_backward_Convolution_v1", kGradInputs))
      .set_kernel(Run<false>);
  SetParam(Op::Register("_backward_Convolution_v1"))
      .describe("Gradients of Convolution_v1 with respect to data, weight and bias.")
      .set_trait(NamesLayout{NamesChannelsLast})
      .set_inputs({"ograd", "data", "weight", "bias"}, [](const Attrs& a) { return 1 + Inputs(a); })
      .set_shape_only_from(3)
      .set_outputs({"data_grad", "weight_grad", "bias_grad"}, Inputs)
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type(SameType)
      .set_gradient([](const NodePtr& n, const std::vector<NodeEntry>& og) { return BilinearSecondGradient("Convolution_v1", n, og); })
      .set_kernel(Run<true>);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
