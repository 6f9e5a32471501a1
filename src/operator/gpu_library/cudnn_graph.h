/* cuDNN's graph interface (the backend's C functions) for the *_cuda.cc files that describe
 * operations with it. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_CUDNN_GRAPH_H_
#define MXNET_OPERATOR_GPU_LIBRARY_CUDNN_GRAPH_H_

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/run_context.h"
#include "operator/gpu_library/engine_config.h"

namespace mxnet {
namespace gpu_library {

/* What messages name: anything with Text(), which must outlive it. */
class Subject {
 public:
  template <typename Problem>
  Subject(const Problem& problem)
      : problem_(&problem), text_([](const void* p) { return static_cast<const Problem*>(p)->Text(); }) {}  // NOLINT: implicit on purpose
  Subject(const Subject&) = default;
  Subject& operator=(const Subject&) = default;
  std::string Text() const { return text_(problem_); }

 private:
  const void* problem_;
  std::string (*text_)(const void*);
};

/* Throw Error(kGeneric) "[problem] ..." unless the status is success. */
void CheckCudnn(cudnnStatus_t status, const char* what, const Subject& subject);
void CheckCuda(cudaError_t status, const char* what, const Subject& subject);

/* One for each stream. Checks the library's version first. */
cudnnHandle_t CudnnHandleOf(const RunContext& run, const Subject& subject);

/* Throws Error(kType) for what cuDNN's graphs here do not compute. */
cudnnDataType_t CudnnType(int dtype, const Subject& subject);
/* For a tensor among others whose addresses have `alignment` bytes: its own type is a multiple of
 * that, and descriptors want a multiple of the type. */
int64_t CudnnAlignment(int alignment, cudnnDataType_t type);

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(cudnnBackendDescriptorType_t type, const Subject& subject) : subject_(std::make_unique<Subject>(subject)) {
    CheckCudnn(cudnnBackendCreateDescriptor(type, &d_), "creating a descriptor", subject);
  }
  Descriptor(Descriptor&& other) noexcept : d_(other.d_), subject_(std::move(other.subject_)) { other.d_ = nullptr; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(d_, other.d_);
    std::swap(subject_, other.subject_);
    return *this;
  }
  ~Descriptor() {
    if (d_) cudnnBackendDestroyDescriptor(d_);
  }
  cudnnBackendDescriptor_t get() const { return d_; }
  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    CheckCudnn(cudnnBackendSetAttribute(d_, name, type, count, values), "setting an attribute", *subject_);
    return *this;
  }
  Descriptor& Number(cudnnBackendAttributeName_t name, int64_t v) { return Set(name, CUDNN_TYPE_INT64, 1, &v); }
  Descriptor& Link(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.d_);
  }
  void Finalize() { CheckCudnn(cudnnBackendFinalize(d_), "finishing a descriptor", *subject_); }
  cudnnStatus_t TryFinalize() { return cudnnBackendFinalize(d_); }

 private:
  cudnnBackendDescriptor_t d_ = nullptr;
  std::unique_ptr<Subject> subject_;  // for messages while it is built: it must not be used for them later
};

/* The operation graph with all that it links to. */
struct CudnnGraph {
  std::vector<Descriptor> parts, operations;
  Descriptor graph;
  /* Part of the graph from now on. The reference holds until the next call; the descriptor's
   * address does always. */
  const Descriptor& Keep(Descriptor made) {
    parts.push_back(std::move(made));
    return parts.back();
  }
  /* Without a handle the graph can be finished all the same, but not be asked about engines of a
   * device. */
  void Finish(cudnnHandle_t handle, const Subject& subject);
};

/*
 * Engine configs in the order of the heuristics (mode 0: decision tree, 1: neural network), those
 * of last resort at the end. `device`: properties of a device that is not here; null: the handle's
 * device.
 */
std::vector<EngineConfig> CudnnCandidates(const std::shared_ptr<CudnnGraph>& graph, int heuristic_mode, const Subject& subject,
                                          const Descriptor* device = nullptr);
/* Makes one ready and fills in `workspace`; false when it does not take the graph after all. */
bool CudnnPrepare(EngineConfig* config, cudnnHandle_t handle, const Subject& subject);
/* What a plan computes with: addresses of the tensors, and tensors that are one number, by their
 * numbers in the graph. */
class CudnnOperands {
 public:
  static constexpr int kMost = 24;
  void Add(int64_t uid, const void* address);
  void AddNumber(int64_t uid, float value);

 private:
  friend struct CudnnPack;
  int count_ = 0;
  int64_t uids_[kMost];
  void* addresses_[kMost];  // null: the number
  float values_[kMost];
};
/* With the same operands as lately it costs one call of the library. */
cudnnStatus_t CudnnExecute(const EngineConfig& config, const CudnnOperands& operands, void* workspace, cudnnHandle_t handle,
                           const Subject& subject);
/* A GPU with 132 multiprocessors of compute capability 9.0, told in numbers: heuristics and the
 * engines' own checks work without one. */
Descriptor CudnnHopper(const Subject& subject);

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_CUDNN_GRAPH_H_
