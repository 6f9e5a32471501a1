/* Convolutions by cuDNN's graph interface (the backend's C functions). */
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "mxnet/error.h"
#include "operator/library/convolution.h"
#include "operator/library/version.h"

namespace mxnet {
namespace library {
namespace {

void Check(cudnnStatus_t status, const char* what, const ConvProblem& problem) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  cudaGetLastError();
  MXNET_THROW(Generic) << "[" << problem.Text() << "] cuDNN: " << what << " failed: " << cudnnGetErrorString(status) << (*detail ? ": " : "") << detail;
}
void Check(cudaError_t status, const char* what, const ConvProblem& problem) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[" << problem.Text() << "] " << what << " failed: " << cudaGetErrorString(status);
}

// One handle for each stream: a stream belongs to one thread at a time, and so does its handle. Handles stay; there are as many as streams.
struct Handles {
  std::mutex mutex;   // a forked child has no GPU, so nobody waits for it there
  std::map<std::pair<int, void*>, cudnnHandle_t> by_stream;
};
Handles& g_handles = *new Handles();

cudnnHandle_t HandleOf(const RunContext& run, const ConvProblem& problem) {
  CheckLibraryVersions();
  std::lock_guard<std::mutex> lock(g_handles.mutex);
  cudnnHandle_t& handle = g_handles.by_stream[{run.ctx.dev_id, run.stream}];
  if (!handle) {
    cudnnHandle_t made = nullptr;
    Check(cudnnCreate(&made), "starting", problem);   // for the current device, which the engine has set
    handle = made;
  }
  // again each time: a stream that ended may have left its address to another
  Check(cudnnSetStream(handle, static_cast<cudaStream_t>(run.stream)), "setting the stream", problem);
  return handle;
}

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(cudnnBackendDescriptorType_t type, const ConvProblem& problem) : problem_(&problem) { Check(cudnnBackendCreateDescriptor(type, &d_), "creating a descriptor", problem); }
  Descriptor(Descriptor&& other) noexcept : d_(other.d_), problem_(other.problem_) { other.d_ = nullptr; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(d_, other.d_);
    std::swap(problem_, other.problem_);
    return *this;
  }
  ~Descriptor() {
    if (d_) cudnnBackendDestroyDescriptor(d_);
  }
  cudnnBackendDescriptor_t get() const { return d_; }
  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    Check(cudnnBackendSetAttribute(d_, name, type, count, values), "setting an attribute", *problem_);
    return *this;
  }
  Descriptor& Number(cudnnBackendAttributeName_t name, int64_t v) { return Set(name, CUDNN_TYPE_INT64, 1, &v); }
  Descriptor& Link(cudnnBackendAttributeName_t name, const Descriptor& other) { return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.d_); }
  void Finalize() { Check(cudnnBackendFinalize(d_), "finishing a descriptor", *problem_); }
  cudnnStatus_t TryFinalize() { return cudnnBackendFinalize(d_); }

 private:
  cudnnBackendDescriptor_t d_ = nullptr;
  const ConvProblem* problem_ = nullptr;   // for messages while it is built
};

enum Uid : int64_t { kSrc = 1, kWeight, kDst, kBias, kAddend, kFirstVirtual = 100 };

cudnnDataType_t TypeOf(int dtype) {
  switch (dtype) {
    case kFloat32: return CUDNN_DATA_FLOAT;
    case kFloat64: return CUDNN_DATA_DOUBLE;
    case kFloat16: return CUDNN_DATA_HALF;
    case kBfloat16: return CUDNN_DATA_BFLOAT16;
    default: MXNET_THROW(Type) << "[Convolution] dtype " << DTypeName(dtype) << "; accepted: float32, float64, float16, bfloat16"; return CUDNN_DATA_FLOAT;
  }
}

// A tensor (outer, channels, spatial...) in the problem's order.
Descriptor Tensor(const ConvProblem& p, int64_t uid, int64_t outer, int64_t channels, const int64_t* spatial, cudnnDataType_t type, bool is_virtual) {
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
  d.Number(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, p.alignment);
  if (is_virtual) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  d.Finalize();
  return d;
}

// The operation graph with all that it links to.
struct Graph {
  std::vector<Descriptor> parts, operations;
  Descriptor graph;
};

Descriptor Pointwise(const ConvProblem& p, cudnnPointwiseMode_t mode) {
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Descriptor d(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, p);
  d.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  d.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
  d.Finalize();
  return d;
}

// Without a handle the graph can be finished all the same, but not be asked about engines.
std::shared_ptr<Graph> Build(const ConvProblem& p, cudnnHandle_t handle) {
  auto g = std::make_shared<Graph>();
  g->parts.reserve(32);   // links point into it only while it is built, but keep addresses all the same
  const nn::ConvDims& d = p.dims;
  const int nd = p.SpatialDims(), first = 3 - nd;
  const cudnnDataType_t type = TypeOf(p.dtype), compute = p.dtype == kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
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
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
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
    Descriptor& result = keep(Tensor(p, left ? kFirstVirtual + left : kDst, d.batch, d.filters, d.out, left ? CUDNN_DATA_FLOAT : type, left > 0));
    Descriptor& pointwise = keep(Pointwise(p, what));
    Descriptor step(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, p);
    step.Link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise).Link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *dst).Link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result);
    if (other) step.Link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    step.Finalize();
    g->operations.push_back(std::move(step));
    dst = &result;
  };
  if (p.addend) follow(CUDNN_POINTWISE_ADD, &keep(Tensor(p, kAddend, d.batch, d.filters, d.out, type, false)));
  if (p.bias) {
    const int64_t ones[3] = {1, 1, 1};
    follow(CUDNN_POINTWISE_ADD, &keep(Tensor(p, kBias, 1, d.filters, ones, TypeOf(p.bias_dtype), false)));
  }
  if (p.relu) follow(CUDNN_POINTWISE_RELU_FWD, nullptr);

  std::vector<cudnnBackendDescriptor_t> operations;
  for (const Descriptor& o : g->operations) operations.push_back(o.get());
  g->graph = Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, p);
  g->graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(operations.size()), operations.data());
  if (handle) g->graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  g->graph.Finalize();
  return g;
}

// What a config's `plan` points to. The graph is shared by all configs of a problem.
struct Plan {
  std::shared_ptr<Graph> graph;
  Descriptor config, plan;
};

// Engine number, notes and knobs of a config; false when it cannot be asked.
bool Describe(const ConvProblem& p, cudnnBackendDescriptor_t config, EngineConfig* out) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, p);
  cudnnBackendDescriptor_t raw = engine.get();
  int64_t count = 0;
  if (cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw) != CUDNN_STATUS_SUCCESS) return false;
  if (cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &out->engine) != CUDNN_STATUS_SUCCESS) return false;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  if (cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes) != CUDNN_STATUS_SUCCESS) return false;
  for (int64_t i = 0; i < std::min<int64_t>(count, CUDNN_NUMERICAL_NOTE_TYPE_COUNT); ++i) out->notes |= 1u << static_cast<unsigned>(notes[i]);
  std::vector<Descriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, p);
    handles.push_back(choices.back().get());
  }
  count = 0;
  if (cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, &count, handles.data()) != CUDNN_STATUS_SUCCESS) return true;
  for (int64_t i = 0; i < std::min<int64_t>(count, CUDNN_KNOB_TYPE_COUNTS); ++i) {
    cudnnBackendKnobType_t type;
    int64_t value = 0, one = 0;
    if (cudnnBackendGetAttribute(handles[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type) != CUDNN_STATUS_SUCCESS) continue;
    if (cudnnBackendGetAttribute(handles[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one, &value) != CUDNN_STATUS_SUCCESS) continue;
    out->knobs.emplace_back(static_cast<int64_t>(type), value);
  }
  return true;
}

std::vector<EngineConfig> Candidates(const ConvProblem& p, int heuristic_mode, const RunContext& run) {
  std::vector<EngineConfig> found;
  const cudnnHandle_t handle = HandleOf(run, p);
  std::shared_ptr<Graph> graph;
  const bool fused = p.addend || p.bias || p.relu;
  try {
    graph = Build(p, handle);
  } catch (const Error&) {
    if (!fused) throw;
    return found;   // such a graph is not supported
  }
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (mode == CUDNN_HEUR_MODE_B && heuristic_mode == 0) continue;
    if (mode == CUDNN_HEUR_MODE_A && !found.empty()) continue;   // the decision tree stands in for a network that knows nothing
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, p);
    heuristic.Link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph->graph).Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (heuristic.TryFinalize() != CUDNN_STATUS_SUCCESS) continue;
    int64_t count = 0;
    if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr) != CUDNN_STATUS_SUCCESS || count <= 0) continue;
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (int64_t i = 0; i < count; ++i) {
      configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, p);
      raw.push_back(configs.back().get());
    }
    const int64_t room = count;
    if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, &count, raw.data()) != CUDNN_STATUS_SUCCESS) continue;
    for (int64_t i = 0; i < std::min(count, room); ++i) {
      EngineConfig c;
      if (!Describe(p, raw[i], &c)) continue;
      // the fallback list repeats what the heuristics named
      const bool known = std::any_of(found.begin(), found.end(), [&c](const EngineConfig& f) { return f.engine == c.engine && f.knobs == c.knobs; });
      if (known) continue;
      auto plan = std::make_shared<Plan>();
      plan->graph = graph;
      plan->config = std::move(configs[i]);
      c.plan = plan;
      found.push_back(std::move(c));
    }
  }
  return found;
}

bool Prepare(const ConvProblem& p, EngineConfig* config, const RunContext& run) {
  Plan* plan = static_cast<Plan*>(config->plan.get());
  cudnnHandle_t handle = HandleOf(run, p);
  Descriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, p);
  made.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  made.Link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan->config);
  if (made.TryFinalize() != CUDNN_STATUS_SUCCESS) {
    cudaGetLastError();
    return false;
  }
  int64_t bytes = 0, one = 0;
  if (cudnnBackendGetAttribute(made.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &one, &bytes) != CUDNN_STATUS_SUCCESS || bytes < 0) return false;
  plan->plan = std::move(made);
  config->workspace = static_cast<size_t>(bytes);
  return true;
}

cudnnStatus_t Execute(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, cudnnHandle_t handle) {
  const Plan* plan = static_cast<const Plan*>(config.plan.get());
  int64_t uids[5] = {kSrc, kWeight, kDst};
  void* pointers[5] = {o.src, o.weight, o.dst};
  int64_t count = 3;
  if (p.bias) uids[count] = kBias, pointers[count++] = const_cast<void*>(o.bias);
  if (p.addend) uids[count] = kAddend, pointers[count++] = const_cast<void*>(o.addend);
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, p);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, pointers);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, uids);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.Finalize();
  return cudnnBackendExecute(handle, plan->plan.get(), pack.get());
}

void RunEngine(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, const RunContext& run) {
  Check(Execute(p, config, o, workspace, HandleOf(run, p)), "running", p);
}

struct Event {
  cudaEvent_t event = nullptr;
  explicit Event(const ConvProblem& p) { Check(cudaEventCreate(&event), "creating an event", p); }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// The best of three behind one that warms up. A stream that is being captured cannot be waited for: nothing is measured.
float Time(const ConvProblem& p, const EngineConfig& config, const ConvOperands& o, void* workspace, const RunContext& run) {
  const cudnnHandle_t handle = HandleOf(run, p);
  const cudaStream_t stream = static_cast<cudaStream_t>(run.stream);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  Check(cudaStreamIsCapturing(stream, &capture), "asking about the stream", p);
  if (capture != cudaStreamCaptureStatusNone) return -1;
  const Event begin(p), end(p);
  float best = -1;
  for (int i = 0; i < 4; ++i) {
    Check(cudaEventRecord(begin.event, stream), "measuring", p);
    if (Execute(p, config, o, workspace, handle) != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      return -1;
    }
    Check(cudaEventRecord(end.event, stream), "measuring", p);
    Check(cudaEventSynchronize(end.event), "measuring", p);
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "measuring", p);
    if (i > 0 && (best < 0 || milliseconds < best)) best = milliseconds;
  }
  return best;
}

}  // namespace

void CheckConvolutionGraph(const ConvProblem& problem) { Build(problem, nullptr); }

namespace {

const EngineLibrary kCudnn = {Candidates, Prepare, Time, RunEngine};
const bool registered = (SetEngineLibrary(&kCudnn), true);

}  // namespace
}  // namespace library
}  // namespace mxnet
