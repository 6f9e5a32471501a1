/* What the stand-in's parts of cuDNN's backend share: descriptors with their attributes, and what
 * finalizing makes of them. */
#ifndef MXNET_TESTS_HOST_GPU_CUDNN_DESCRIPTOR_H_
#define MXNET_TESTS_HOST_GPU_CUDNN_DESCRIPTOR_H_

#include <cudnn.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "library_numbers.h"

namespace host_gpu {
namespace cudnn {

/* Notes why, for cudnnGetLastErrorString and, unless it says NOT_SUPPORTED, for Complain. */
cudnnStatus_t Fail(cudnnStatus_t status, const char* function, const std::string& why);

struct Descriptor;
using Content = std::shared_ptr<Descriptor>;

struct Attribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::vector<char> bytes;
  std::vector<Content> links;  // of CUDNN_TYPE_BACKEND_DESCRIPTOR, in place of bytes
};

/* Null for what is no descriptor. */
Content ContentOf(cudnnBackendDescriptor_t handle);

struct Tensor {
  int64_t uid = 0, alignment = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Number number = Number::kFloat;
  std::vector<int64_t> dims, strides;
  bool is_virtual = false, by_value = false;
  int64_t Count() const;
  int64_t Extent() const;  // elements from the first to behind the last
  bool Same(const Tensor& other) const;
  std::string Text() const;
};

struct Operation {
  cudnnBackendDescriptorType_t kind = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  // Inputs in the order of the operation's own: x, w of a convolution, or those two of its
  // gradients that are given; x, b, t of a pointwise operation; seed, offset.
  std::vector<Tensor> inputs;
  Tensor output;
  double alpha = 1, beta = 0;  // convolutions; a pointwise operation's alpha1 and alpha2; random numbers: how many are 1
  // convolutions
  std::vector<int64_t> dilation, stride, before, behind;
  bool flipped = false;
  // pointwise
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  double lower = 0, upper = HUGE_VAL, slope = 0, elu_alpha = 1, softplus_beta = 1, swish_beta = 1;
  int64_t axis = -1;
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
};
bool IsConvolution(const Operation& operation);

struct Graph {
  std::vector<Operation> operations;  // each behind those whose results it reads
  std::map<int64_t, Tensor> tensors;
  bool has_handle = false;
  bool wide = false;  // anything is float64
};

struct EngineInfo;
struct Engine {
  std::shared_ptr<const Graph> graph;
  const EngineInfo* info = nullptr;
};
struct Config {
  Engine engine;
  std::map<int, int64_t> knobs;
};
struct Plan {
  Config config;
  int64_t workspace = 0;
};
struct Pack {
  std::map<int64_t, void*> pointers;
  void* workspace = nullptr;
};

/* What a handle points to is shared by all who linked to it, or were given it by an attribute. */
struct Descriptor {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  std::map<int, Attribute> attributes;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const Operation> operation;
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Engine> engine;
  std::shared_ptr<const Config> config;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Pack> pack;

  bool Has(int name) const { return attributes.count(name) > 0; }
  template <typename T>
  std::vector<T> Values(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    const T* first = reinterpret_cast<const T*>(found->second.bytes.data());
    return std::vector<T>(first, first + found->second.bytes.size() / sizeof(T));
  }
  template <typename T>
  T Value(int name, T otherwise) const {
    const std::vector<T> all = Values<T>(name);
    return all.empty() ? otherwise : all.front();
  }
  double Real(int name, double otherwise) const;  // given as float or as double
  std::vector<Content> Links(int name) const;
  Content Link(int name) const;  // null: none
  template <typename T>
  void Keep(int name, cudnnBackendAttributeType_t of, const std::vector<T>& values) {
    Attribute& a = attributes[name];
    a.type = of;
    a.bytes.assign(reinterpret_cast<const char*>(values.data()), reinterpret_cast<const char*>(values.data() + values.size()));
  }
};

/* Each looks at what was set and makes of it what the descriptor stands for; for the types that its
 * file is about. */
cudnnStatus_t FinalizeTensor(Descriptor* d);
cudnnStatus_t FinalizeOperation(Descriptor* d);
cudnnStatus_t FinalizeGraph(Descriptor* d);
cudnnStatus_t FinalizeHeuristics(Descriptor* d);
cudnnStatus_t FinalizeEngine(Descriptor* d);
cudnnStatus_t FinalizeConfig(Descriptor* d);
cudnnStatus_t FinalizePlan(Descriptor* d);
cudnnStatus_t FinalizePack(Descriptor* d);

/* Computes on the calling thread. `inputs_in_tensor_float`, `inputs_in_half`: what the engine does
 * to the factors of convolutions in float32. */
struct Arithmetic {
  bool inputs_in_tensor_float = false, inputs_in_half = false;
};
void Compute(const Graph& graph, const Pack& pack, const std::map<int64_t, double>& numbers, const Arithmetic& arithmetic);

/* Keeps a finished operation graph for the judge, where one is wanted. */
void Record(const Content& graph);

const char* NameOf(cudnnBackendDescriptorType_t type);

}  // namespace cudnn
}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_CUDNN_DESCRIPTOR_H_
