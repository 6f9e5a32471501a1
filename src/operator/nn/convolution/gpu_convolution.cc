// Convolution, Deconvolution and their gradients on a GPU: passes of the library of engines.
#include "engine/stream_order.h"
#include "operator/gpu_library/convolution.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/reduce/reduce.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace nn {
namespace {

template <typename P>
struct Layer {
  KernelArgs& args;
  const P& p;
  ConvCall call;
  Layer(KernelArgs& a, const P& param, const TBlob& data, const TBlob& out) : args(a), p(param) {
    call.dims = DimsOf(p, data.shape, out.shape);
    call.dtype = data.dtype;
  }
  Ordered Of(const TBlob& b) const { return {b.dptr, ChannelsLastAttr(p.layout) || b.layout == Layout::kChannelsLast}; }
  /* Geometry is that of a convolution from src to dst. */
  void Run(ConvPass pass, const TBlob& src, const TBlob& weight, const TBlob& dst, const gpu_library::Epilogue& epilogue = {}) {
    call.pass = pass;
    call.src = Of(src), call.weight = Of(weight), call.dst = Of(dst);
    gpu_library::Convolve(args, call, p.cudnn_tune.has_value() ? p.cudnn_tune.value() : -1, p.workspace, epilogue);
  }
  /* The sum over all but the channels, of which there are `channels`. */
  void SumOverChannels(const TBlob& og, int64_t channels, int output) {
    TBlob view = og;
    view.layout = Layout::kPlain;
    const bool last = Of(og).channels_last;
    const int64_t batch = og.shape[0], inner = og.Size() / (batch * channels);
    view.shape = last ? Shape{batch * inner, channels} : Shape{batch, channels, inner};
    reduce::Reduce(args, reduce::kSum, view, last ? std::vector<char>{1, 0} : std::vector<char>{1, 0, 1}, reduce::Finish(), false,
                   args.out[output], args.req[output]);
  }
};

// Gradients of the parameters run beside that of the data, where there is a second stream.
struct SideStream {
  engine::SideStream stream;
  KernelArgs args;
  explicit SideStream(const KernelArgs& a) : stream(a.run, Wanted(a, 0) && (Wanted(a, 1) || Wanted(a, 2))), args(a) {
    args.run = stream.run();
  }
};

void Zero(const KernelArgs& a, const TBlob& b) { ZeroBytes(a.run, b.dptr, static_cast<int64_t>(b.Bytes())); }

// Sums without terms are zero.
bool ZeroWithoutElements(KernelArgs& a) {
  if (a.in[0].Size() && a.in[1].Size() && a.in[2].Size()) return false;
  for (int i = 0; i < a.out.size(); ++i)
    if (Wanted(a, i)) Zero(a, a.out[i]);
  return true;
}

gpu_library::Epilogue BiasOf(const KernelArgs& a, int inputs) {
  gpu_library::Epilogue epilogue;
  if (inputs > 2) epilogue.bias = a.in[2].dptr, epilogue.bias_dtype = a.in[2].dtype;
  return epilogue;
}

// `filters`: of the output. What is left of a layer without elements to sum is its epilogue.
template <typename P>
void EpilogueAlone(KernelArgs& a, const P& p, gpu_library::Epilogue epilogue) {
  const TBlob& out = a.out[0];
  const bool last = ChannelsLastAttr(p.layout) || out.layout == Layout::kChannelsLast;
  if (epilogue.addend)
    CopyBytes(a.run, epilogue.addend, out.dptr, static_cast<int64_t>(out.Bytes()));
  else
    Zero(a, out);
  epilogue.addend = nullptr;
  const int64_t channels = p.num_filter, inner = out.Size() / (out.shape[0] * channels);
  gpu_library::ApplyEpilogue(a.run, out.dptr, out.dtype, last ? out.shape[0] * inner : out.shape[0], channels, last ? 1 : inner, epilogue);
}

void Forward(KernelArgs& a, const ConvolutionParam& p, const gpu_library::Epilogue& epilogue) {
  if (!Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.in[0].Size() == 0 || a.in[1].Size() == 0) return EpilogueAlone(a, p, epilogue);
  Layer<ConvolutionParam>(a, p, a.in[0], a.out[0]).Run(ConvPass::kForward, a.in[0], a.in[1], a.out[0], epilogue);
}

void ConvolutionForward(KernelArgs& a) {
  if (a.in[0].dtype == kInt8) return OnHost(a, ConvolutionOfBytes);
  Forward(a, a.param<ConvolutionParam>(), BiasOf(a, a.in.size()));
}

void FusedForward(KernelArgs& a) {
  const auto& p = a.param<FusedParam>();
  gpu_library::Epilogue epilogue = BiasOf(a, p.LayerInputs());
  if (p.add) epilogue.addend = a.in[a.in.size() - 1].dptr;
  epilogue.post = p.post;
  Forward(a, p.layer->get<ConvolutionParam>(), epilogue);
}

void ConvolutionBackward(KernelArgs& a) {  // ograd, data, weight
  if (ZeroWithoutElements(a)) return;
  SideStream beside(a);
  const auto& p = a.param<ConvolutionParam>();
  Layer<ConvolutionParam> layer(a, p, a.in[1], a.in[0]), weights(beside.args, p, a.in[1], a.in[0]);
  if (Wanted(a, 1)) weights.Run(ConvPass::kBackwardWeights, a.in[1], a.out[1], a.in[0]);
  if (Wanted(a, 2)) weights.SumOverChannels(a.in[0], layer.call.dims.filters, 2);
  if (Wanted(a, 0)) layer.Run(ConvPass::kBackwardData, a.out[0], a.in[2], a.in[0]);
  beside.stream.Join();
}

// A deconvolution is the data gradient of a convolution whose src is the output.
void DeconvolutionForward(KernelArgs& a) {
  const auto& p = a.param<DeconvolutionParam>();
  if (!Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.in[0].Size() == 0 || a.in[1].Size() == 0) return EpilogueAlone(a, p, BiasOf(a, a.in.size()));
  Layer<DeconvolutionParam>(a, p, a.in[0], a.out[0]).Run(ConvPass::kBackwardData, a.out[0], a.in[1], a.in[0], BiasOf(a, a.in.size()));
}

void DeconvolutionBackward(KernelArgs& a) {
  if (ZeroWithoutElements(a)) return;
  SideStream beside(a);
  const auto& p = a.param<DeconvolutionParam>();
  Layer<DeconvolutionParam> layer(a, p, a.in[1], a.in[0]), weights(beside.args, p, a.in[1], a.in[0]);
  if (Wanted(a, 1)) weights.Run(ConvPass::kBackwardWeights, a.in[0], a.out[1], a.in[1]);
  if (Wanted(a, 2)) weights.SumOverChannels(a.in[0], layer.call.dims.channels, 2);
  if (Wanted(a, 0)) layer.Run(ConvPass::kForward, a.in[0], a.in[2], a.out[0]);
  beside.stream.Join();
}

MXNET_REGISTER_OP_KERNEL(Convolution, kGPU, ConvolutionForward);
MXNET_REGISTER_OP_KERNEL(_backward_Convolution, kGPU, ConvolutionBackward);
MXNET_REGISTER_OP_KERNEL(Deconvolution, kGPU, DeconvolutionForward);
MXNET_REGISTER_OP_KERNEL(_backward_Deconvolution, kGPU, DeconvolutionBackward);
MXNET_REGISTER_OP_KERNEL(_fused_convolution, kGPU, FusedForward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
