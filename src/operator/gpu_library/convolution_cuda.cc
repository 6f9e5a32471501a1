/* Convolutions by cuDNN's graph interface (the backend's C functions). */
#include "base/device/device_interface.h"
#include "mxnet/error.h"
#include "operator/gpu_library/convolution.h"
#include "operator/gpu_library/cudnn_graph.h"

namespace mxnet {
namespace gpu_library {
namespace {

enum Uid : int64_t { kSrc = 1, kWeight, kDst, kBias, kAddend, kFirstVirtual = 100 };

// A tensor (outer, channels, spatial...) in the problem's order.
Descriptor Tensor(const ConvProblem& p, int64_t uid, int64_t outer, int64_t channels, const int64_t* spatial, cudnnDataType_t type,
                  bool is_virtual) {
  const int nd = p.SpatialDims();
  int64_t dims[5] = {outer, channels}, strides[5];
  for (int i = 0; i < nd; ++i) dims[2 + i] = spatial[3 - nd + i];
  int64_t step = p.channels_last ? channels : 1;
  for (int i = nd + 1; i >= 2; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  strides[1] = p.channels_last ? 1 : step;
  strides[0] = p.channels_last ? step : step * channels;
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR, p);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, nd + 2, dims);
  d.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, nd + 2, strides);
  d.Number(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
  d.Number(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CudnnAlignment(p.alignment, type));
  if (is_virtual) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  d.Finalize();
  return d;
}

Descriptor Pointwise(const ConvProblem& p, cudnnPointwiseMode_t mode) {
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Descriptor d(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, p);
  d.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  d.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
  d.Finalize();
  return d;
}

// Without a handle the graph can be finished all the same, but not be asked about engines.
std::shared_ptr<CudnnGraph> Build(const ConvProblem& p, cudnnHandle_t handle) {
  auto g = std::make_shared<CudnnGraph>();
  g->parts.reserve(32);  // links point into it only while it is built, but keep addresses all the same
  const nn::ConvDims& d = p.dims;
  const int nd = p.SpatialDims(), first = 3 - nd;
  const cudnnDataType_t type = CudnnType(p.dtype, p), compute = p.dtype == kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  auto keep = [&](Descriptor made) -> Descriptor& {
    g->parts.push_back(std::move(made));
    return g->parts.back();
  };
  const int steps = p.addend + p.bias + p.relu;
  Descriptor& src = keep(Tensor(p, kSrc, d.batch, d.channels, d.in, type, false));
  Descriptor& weight = keep(Tensor(p, kWeight, d.filters, d.channels / d.groups, d.kernel, type, false));
  Descriptor* dst = &keep(Tensor(p, steps ? kFirstVirtual : kDst, d.batch, d.filters, d.out, steps ? CUDNN_DATA_FLOAT : type, steps > 0));

  Descriptor& conv = keep(Descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, p));
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  conv.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  conv.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  conv.Number(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, nd);
  conv.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, nd, d.dilate + first);
  conv.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, nd, d.stride + first);
  conv.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, nd, d.pad + first);
  conv.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, nd, d.pad + first);
  conv.Finalize();

  struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t alpha, beta, conv, src, weight, dst;
  };
  static const Names kNames[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
  const Names& n = kNames[static_cast<int>(p.pass)];
  Descriptor operation(n.operation, p);
  const bool wide = p.dtype == kFloat64;
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  operation.Set(n.alpha, wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT, 1, wide ? static_cast<const void*>(&wide_one) : &one);
  operation.Set(n.beta, wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT, 1, wide ? static_cast<const void*>(&wide_zero) : &zero);
  operation.Link(n.conv, conv).Link(n.src, src).Link(n.weight, weight).Link(n.dst, *dst);
  operation.Finalize();
  g->operations.push_back(std::move(operation));

  // addend, bias, relu: the order that cuDNN's own fused engines have
  int left = steps;
  auto follow = [&](cudnnPointwiseMode_t what, Descriptor* other) {
    --left;
    Descriptor& result =
        keep(Tensor(p, left ? kFirstVirtual + left : kDst, d.batch, d.filters, d.out, left ? CUDNN_DATA_FLOAT : type, left > 0));
    Descriptor& pointwise = keep(Pointwise(p, what));
    Descriptor step(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, p);
    step.Link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .Link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *dst)
        .Link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result);
    if (other) step.Link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    step.Finalize();
    g->operations.push_back(std::move(step));
    dst = &result;
  };
  if (p.addend) follow(CUDNN_POINTWISE_ADD, &keep(Tensor(p, kAddend, d.batch, d.filters, d.out, type, false)));
  if (p.bias) {
    const int64_t ones[3] = {1, 1, 1};
    follow(CUDNN_POINTWISE_ADD, &keep(Tensor(p, kBias, 1, d.filters, ones, CudnnType(p.bias_dtype, p), false)));
  }
  if (p.relu) follow(CUDNN_POINTWISE_RELU_FWD, nullptr);

  g->Finish(handle, p);
  return g;
}

std::vector<EngineConfig> Candidates(const ConvProblem& p, int heuristic_mode, const RunContext& run) {
  std::shared_ptr<CudnnGraph> graph;
  try {
    graph = Build(p, CudnnHandleOf(run, p));
  } catch (const Error&) {
    if (!p.addend && !p.bias && !p.relu) throw;
    return {};  // such a graph is not supported
  }
  return CudnnCandidates(graph, heuristic_mode, p);
}

bool Prepare(const ConvProblem& p, EngineConfig* config, const RunContext& run) { return CudnnPrepare(config, CudnnHandleOf(run, p), p); }

cudnnStatus_t Execute(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, cudnnHandle_t handle) {
  CudnnOperands operands;
  operands.Add(kSrc, o.src), operands.Add(kWeight, o.weight), operands.Add(kDst, o.dst);
  if (p.bias) operands.Add(kBias, o.bias);
  if (p.addend) operands.Add(kAddend, o.addend);
  return CudnnExecute(config, operands, workspace, handle, p);
}

void RunEngine(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, const RunContext& run) {
  CheckCudnn(Execute(p, config, o, workspace, CudnnHandleOf(run, p)), "running", p);
}

struct Event {
  cudaEvent_t event = nullptr;
  explicit Event(const ConvProblem& p) { CheckCuda(cudaEventCreate(&event), "creating an event", p); }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// The best of three behind one that warms up. A stream that is being captured cannot be waited for:
// nothing is measured.
float Time(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, const RunContext& run) {
  const cudnnHandle_t handle = CudnnHandleOf(run, p);
  const cudaStream_t stream = static_cast<cudaStream_t>(run.stream);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  CheckCuda(cudaStreamIsCapturing(stream, &capture), "asking about the stream", p);
  if (capture != cudaStreamCaptureStatusNone) return -1;
  const Event begin(p), end(p);
  float best = -1;
  for (int i = 0; i < 4; ++i) {
    CheckCuda(cudaEventRecord(begin.event, stream), "measuring", p);
    if (Execute(p, config, o, workspace, handle) != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      return -1;
    }
    CheckCuda(cudaEventRecord(end.event, stream), "measuring", p);
    CheckCuda(cudaEventSynchronize(end.event), "measuring", p);
    float milliseconds = 0;
    CheckCuda(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "measuring", p);
    if (i > 0 && (best < 0 || milliseconds < best)) best = milliseconds;
  }
  return best;
}

}  // namespace

void CheckConvolutionGraph(const ConvProblem& problem) { Build(problem, nullptr); }
std::vector<EngineConfig> HopperEngines(const ConvProblem& problem) {
  const std::shared_ptr<CudnnGraph> graph = Build(problem, nullptr);
  const Descriptor device = CudnnHopper(problem);
  return CudnnCandidates(graph, 0, problem, &device);
}

namespace {

const EngineLibrary kCudnn = {Candidates, Prepare, Time, RunEngine};
[[maybe_unused]] const bool registered = GpuInterface().convolution.Register(&kCudnn);

}  // namespace
}  // namespace gpu_library
}  // namespace mxnet
