// The parts of cuDNN's graph interface that do not depend on what is computed.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/device/cuda_error.h"
#include "base/dtype.h"
#include "base/threads/collective_launch.h"
#include "mxnet/error.h"
#include "operator/gpu_library/cudnn_graph.h"
#include "operator/gpu_library/hopper_properties.h"
#include "operator/gpu_library/version.h"

namespace mxnet {
namespace gpu_library {

void CheckCudnn(cudnnStatus_t status, const char* what, const Subject& subject) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  cudaGetLastError();
  MXNET_THROW(Generic) << "[" << subject.Text() << "] cuDNN: " << what << " failed: " << cudnnGetErrorString(status)
                       << (*detail ? ": " : "") << detail;
}
void CheckCuda(cudaError_t status, const char* what, const Subject& subject) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[" << subject.Text() << "] " << what << " failed: " << CudaErrorText(status);
}

/* Operands as the library takes them. It may read numbers when they are set and whenever the plan
 * starts, so they lie here. */
struct CudnnPack {
  CudnnPack(const CudnnOperands& o, void* w, const Subject& subject)
      : operands(o), workspace(w), pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, subject) {
    void* addresses[CudnnOperands::kMost];
    for (int i = 0; i < o.count_; ++i) addresses[i] = o.addresses_[i] ? o.addresses_[i] : &operands.values_[i];
    pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, o.count_, addresses);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, o.count_, o.uids_);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.Finalize();
  }
  CudnnPack(const CudnnPack&) = delete;
  CudnnPack& operator=(const CudnnPack&) = delete;
  bool Holds(const CudnnOperands& o, void* w) const {
    if (w != workspace || o.count_ != operands.count_) return false;
    for (int i = 0; i < o.count_; ++i)
      if (o.uids_[i] != operands.uids_[i] || o.addresses_[i] != operands.addresses_[i] ||
          (!o.addresses_[i] && o.values_[i] != operands.values_[i]))
        return false;
    return true;
  }

  CudnnOperands operands;
  void* workspace;
  Descriptor pack;
};

void CudnnOperands::Add(int64_t uid, const void* address) {
  MXNET_CHECK(count_ < kMost && address) << "[cudnn] operand " << count_ << " at " << address << "; accepted: " << kMost
                                         << " that are there";
  uids_[count_] = uid;
  values_[count_] = 0;
  addresses_[count_++] = const_cast<void*>(address);
}

void CudnnOperands::AddNumber(int64_t uid, float value) {
  MXNET_CHECK(count_ < kMost) << "[cudnn] more than " << kMost << " operands";
  uids_[count_] = uid;
  values_[count_] = value;
  addresses_[count_++] = nullptr;
}

namespace {

// One handle for each stream: a stream belongs to one thread at a time, and so does its handle.
// Handles stay; there are as many as streams.
struct Handles {
  std::mutex mutex;  // a forked child has no GPU, so nobody waits for it there
  std::map<std::pair<int, void*>, cudnnHandle_t> by_stream;
};
Handles& g_handles = *new Handles();

// What a config's `plan` points to. The graph is shared by all configs of a problem.
struct Plan {
  std::shared_ptr<CudnnGraph> graph;
  Descriptor config, plan;
  /* As many as layers of one kind often have: a network that runs as a whole finds each with its
   * addresses again. */
  static constexpr size_t kMostPacks = 16;
  std::mutex mutex;                                     // a forked child has no GPU, so nobody waits for it there
  std::vector<std::shared_ptr<const CudnnPack>> packs;  // guarded by mutex
  size_t next = 0;                                      // to go; guarded by mutex

  std::shared_ptr<const CudnnPack> PackFor(const CudnnOperands& operands, void* workspace, const Subject& subject) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (const auto& p : packs)
        if (p->Holds(operands, workspace)) return p;
    }
    auto made = std::make_shared<const CudnnPack>(operands, workspace, subject);
    std::shared_ptr<const CudnnPack> gone;  // destroyed without the lock
    std::lock_guard<std::mutex> lock(mutex);
    if (packs.size() < kMostPacks) {
      packs.push_back(made);
    } else {
      gone = std::exchange(packs[next], made);
      next = (next + 1) % kMostPacks;
    }
    return made;
  }
};

// Engine number, notes and knobs of a config; false when it cannot be asked.
bool Describe(const Subject& subject, cudnnBackendDescriptor_t config, EngineConfig* out) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, subject);
  cudnnBackendDescriptor_t raw = engine.get();
  int64_t count = 0;
  if (cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw) != CUDNN_STATUS_SUCCESS)
    return false;
  if (cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &out->engine) != CUDNN_STATUS_SUCCESS)
    return false;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  if (cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
                               notes) != CUDNN_STATUS_SUCCESS)
    return false;
  for (int64_t i = 0; i < std::min<int64_t>(count, CUDNN_NUMERICAL_NOTE_TYPE_COUNT); ++i)
    out->notes |= 1u << static_cast<unsigned>(notes[i]);
  std::vector<Descriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, subject);
    handles.push_back(choices.back().get());
  }
  count = 0;
  if (cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, &count,
                               handles.data()) != CUDNN_STATUS_SUCCESS)
    return true;
  for (int64_t i = 0; i < std::min<int64_t>(count, CUDNN_KNOB_TYPE_COUNTS); ++i) {
    cudnnBackendKnobType_t type;
    int64_t value = 0, one = 0;
    if (cudnnBackendGetAttribute(handles[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type) !=
        CUDNN_STATUS_SUCCESS)
      continue;
    if (cudnnBackendGetAttribute(handles[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one, &value) != CUDNN_STATUS_SUCCESS)
      continue;
    out->knobs.emplace_back(static_cast<int64_t>(type), value);
  }
  return true;
}

}  // namespace

cudnnHandle_t CudnnHandleOf(const RunContext& run, const Subject& subject) {
  CheckLibraryVersions();
  std::lock_guard<std::mutex> lock(g_handles.mutex);
  cudnnHandle_t& handle = g_handles.by_stream[{run.ctx.dev_id, run.stream}];
  if (!handle) {
    std::lock_guard<ForkMutex> launching(CollectiveLaunchMutex());
    cudnnHandle_t made = nullptr;
    CheckCudnn(cudnnCreate(&made), "starting", subject);  // for the current device, which the engine has set
    handle = made;
  }
  // again each time: a stream that ended may have left its address to another
  CheckCudnn(cudnnSetStream(handle, static_cast<cudaStream_t>(run.stream)), "setting the stream", subject);
  return handle;
}

cudnnDataType_t CudnnType(int dtype, const Subject& subject) {
  switch (dtype) {
    case kFloat32: return CUDNN_DATA_FLOAT;
    case kFloat64: return CUDNN_DATA_DOUBLE;
    case kFloat16: return CUDNN_DATA_HALF;
    case kBfloat16: return CUDNN_DATA_BFLOAT16;
    default:
      MXNET_THROW(Type) << "[" << subject.Text() << "] dtype " << DTypeName(dtype) << "; accepted: float32, float64, float16, bfloat16";
      return CUDNN_DATA_FLOAT;
  }
}

int64_t CudnnAlignment(int alignment, cudnnDataType_t type) {
  const int size = type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_INT64 ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
  return std::max(alignment, size);
}

void CudnnGraph::Finish(cudnnHandle_t handle, const Subject& subject) {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const Descriptor& o : operations) all.push_back(o.get());
  graph = Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, subject);
  graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(all.size()), all.data());
  if (handle) graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph.Finalize();
}

std::vector<EngineConfig> CudnnCandidates(const std::shared_ptr<CudnnGraph>& graph, int heuristic_mode, const Subject& subject,
                                          const Descriptor* device) {
  std::vector<EngineConfig> found;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (mode == CUDNN_HEUR_MODE_B && heuristic_mode == 0) continue;
    if (mode == CUDNN_HEUR_MODE_A && !found.empty()) continue;  // the decision tree stands in for a network that knows nothing
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, subject);
    heuristic.Link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph->graph).Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (device) heuristic.Link(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device);
    if (heuristic.TryFinalize() != CUDNN_STATUS_SUCCESS) continue;
    int64_t count = 0;
    if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr) !=
            CUDNN_STATUS_SUCCESS ||
        count <= 0)
      continue;
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (int64_t i = 0; i < count; ++i) {
      configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, subject);
      raw.push_back(configs.back().get());
    }
    const int64_t room = count;
    if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, &count, raw.data()) !=
        CUDNN_STATUS_SUCCESS)
      continue;
    for (int64_t i = 0; i < std::min(count, room); ++i) {
      EngineConfig c;
      if (!Describe(subject, raw[i], &c)) continue;
      // the fallback list repeats what the heuristics named
      const bool known =
          std::any_of(found.begin(), found.end(), [&c](const EngineConfig& f) { return f.engine == c.engine && f.knobs == c.knobs; });
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

bool CudnnPrepare(EngineConfig* config, cudnnHandle_t handle, const Subject& subject) {
  Plan* plan = static_cast<Plan*>(config->plan.get());
  Descriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, subject);
  made.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  made.Link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan->config);
  if (made.TryFinalize() != CUDNN_STATUS_SUCCESS) {
    cudaGetLastError();
    return false;
  }
  int64_t bytes = 0, one = 0;
  if (cudnnBackendGetAttribute(made.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &one, &bytes) !=
          CUDNN_STATUS_SUCCESS ||
      bytes < 0)
    return false;
  plan->plan = std::move(made);
  config->workspace = static_cast<size_t>(bytes);
  return true;
}

cudnnStatus_t CudnnExecute(const EngineConfig& config, const CudnnOperands& operands, void* workspace, cudnnHandle_t handle,
                           const Subject& subject) {
  Plan* plan = static_cast<Plan*>(config.plan.get());
  const std::shared_ptr<const CudnnPack> pack = plan->PackFor(operands, workspace, subject);
  return cudnnBackendExecute(handle, plan->plan.get(), pack->pack.get());
}

Descriptor CudnnHopper(const Subject& subject) {
  Descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, subject);
  d.Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<int64_t>(std::strlen(kHopperProperties)),
        kHopperProperties);
  d.Finalize();
  return d;
}

}  // namespace gpu_library
}  // namespace mxnet
