// Convolution_v1: the Convolution of the first networks, in two or three dimensions. Its parameters
// become those of Convolution when they are parsed; everything else is shared.
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

struct ConvolutionV1Param : public Parameter<ConvolutionV1Param>, public ConvolutionFields {
  MXNET_DECLARE_PARAM(ConvolutionV1Param) {
    MXNET_FIELD(kernel).describe("Window: (h, w) or (d, h, w).");
    MXNET_CONVOLUTION_FIELDS;
    MXNET_FIELD(layout)
        .add_enum("NCHW", kNCHW)
        .add_enum("NHWC", kNHWC)
        .add_enum("NCDHW", kNCDHW)
        .add_enum("NDHWC", kNDHWC)
        .set_default(std::optional<int>())
        .describe("Order of data's dimensions; NCHW or NCDHW by the kernel when not given.");
  }
};
MXNET_REGISTER_PARAM(ConvolutionV1Param);

namespace {

// Parses into the parameters of Convolution.
Op& SetParam(Op& op) {
  op.set_param<ConvolutionV1Param>();
  const auto parse = op.parse;
  op.parse = [parse](const AttrDict& dict) -> std::shared_ptr<const void> {
    auto p = std::make_shared<ConvolutionParam>();
    static_cast<ConvolutionFields&>(*p) = *std::static_pointer_cast<const ConvolutionV1Param>(parse(dict));
    return p;
  };
  return op;
}

int Inputs(const Attrs& a) { return a.get<ConvolutionParam>().no_bias ? 2 : 3; }

bool ForwardShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const Shape& kernel = attrs.get<ConvolutionParam>().kernel;
  MXNET_CHECK_KIND(kernel.ndim() == 2 || kernel.ndim() == 3, Value)
      << Named(attrs) << "kernel " << kernel << "; windows of 2 or 3 dimensions are accepted";
  return InferCallAs(*Op::Get("Convolution"), attrs, switches, in, out);
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
      .set_dtypes(dtypes::kFloats)
      .set_expensive_to_recompute()
      .set_gradient(BackwardNode("_backward_Convolution_v1", kGradInputs))
      .set_kernel(Run<false>);
  SetParam(Op::Register("_backward_Convolution_v1"))
      .describe("Gradients of Convolution_v1 with respect to data, weight and bias.")
      .set_trait(NamesLayout{NamesChannelsLast})
      .set_inputs({"ograd", "data", "weight", "bias"}, [](const Attrs& a) { return 1 + Inputs(a); })
      .set_dtypes(dtypes::kAll)
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
