/* cuDNN's descriptors for tests of the GPU made of the host: put together, and run. */
#ifndef MXNET_TESTS_CPP_HOST_GPU_CUDNN_CUDA_H_
#define MXNET_TESTS_CPP_HOST_GPU_CUDNN_CUDA_H_

#include <cudnn.h>
#include <gtest/gtest.h>

#include <vector>

#include "host_gpu_functions_cuda.h"

namespace host_gpu_test {

struct Backend {
  explicit Backend(void* library)
      : create(HOST_GPU_SYMBOL(library, cudnnBackendCreateDescriptor)),
        destroy(HOST_GPU_SYMBOL(library, cudnnBackendDestroyDescriptor)),
        set(HOST_GPU_SYMBOL(library, cudnnBackendSetAttribute)),
        get(HOST_GPU_SYMBOL(library, cudnnBackendGetAttribute)),
        finalize(HOST_GPU_SYMBOL(library, cudnnBackendFinalize)) {}
  decltype(&cudnnBackendCreateDescriptor) create;
  decltype(&cudnnBackendDestroyDescriptor) destroy;
  decltype(&cudnnBackendSetAttribute) set;
  decltype(&cudnnBackendGetAttribute) get;
  decltype(&cudnnBackendFinalize) finalize;
};

using D = cudnnBackendDescriptor_t;
using Dims = std::vector<int64_t>;

inline Dims Packed(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}
inline Dims ChannelsLast(const Dims& dims) {
  Dims strides(dims.size(), 1);
  int64_t step = dims[1];
  for (size_t i = dims.size(); i-- > 2;) strides[i] = step, step *= dims[i];
  strides[0] = step;
  return strides;
}

struct TensorSpec {
  int64_t uid;
  Dims dims, strides = {};
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool is_virtual = false, by_value = false;
  int64_t alignment = 16;
};

// Puts descriptors together until the library refuses something.
class Builder {
 public:
  explicit Builder(const Backend& backend) : b_(backend) {}
  ~Builder() {
    for (D d : made_) b_.destroy(d);
  }
  bool refused() const { return refused_; }
  const Backend& backend() const { return b_; }

  struct Setting {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
  };
  template <typename T>
  static Setting Of(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const std::vector<T>& values) {
    return {name, type, static_cast<int64_t>(values.size()),
            std::vector<char>(reinterpret_cast<const char*>(values.data()), reinterpret_cast<const char*>(values.data() + values.size()))};
  }
  static Setting Link(cudnnBackendAttributeName_t name, D d) { return Of<D>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {d}); }

  D Make(cudnnBackendDescriptorType_t type, const std::vector<Setting>& settings) {
    D d = nullptr;
    if (refused_ || Bad(b_.create(type, &d))) return nullptr;
    made_.push_back(d);
    for (const Setting& s : settings)
      if (Bad(b_.set(d, s.name, s.type, s.count, s.bytes.data()))) return nullptr;
    return Bad(b_.finalize(d)) ? nullptr : d;
  }
  D Tensor(const TensorSpec& t) {
    std::vector<Setting> s = {Of<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {t.uid}),
                              Of<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {t.type}),
                              Of<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {t.alignment}),
                              Of(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t.dims),
                              Of(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t.strides.empty() ? Packed(t.dims) : t.strides)};
    if (t.is_virtual) s.push_back(Of<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, {1}));
    if (t.by_value) s.push_back(Of<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, {1}));
    return Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, s);
  }
  D Convolution(const Dims& pad, const Dims& stride, const Dims& dilation, cudnnDataType_t compute = CUDNN_DATA_FLOAT) {
    return Make(
        CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
        {Of<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {compute}),
         Of<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, {CUDNN_CROSS_CORRELATION}),
         Of<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, {static_cast<int64_t>(stride.size())}),
         Of(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dilation),
         Of(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, stride),
         Of(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, pad), Of(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, pad)});
  }
  // pass 0: forward, 1: data gradient, 2: weight gradient
  D Convolve(int pass, D how, D x, D w, D y) {
    static const cudnnBackendDescriptorType_t kTypes[] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                                          CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                                          CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR};
    static const cudnnBackendAttributeName_t kNames[][4] = {
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
    const auto& n = kNames[pass];
    return refused_ ? nullptr : Make(kTypes[pass], {Link(n[0], how), Link(n[1], x), Link(n[2], w), Link(n[3], y)});
  }
  D Pointwise(cudnnPointwiseMode_t mode, D x, D b, D y) {
    const D how = Make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                       {Of<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {mode}),
                        Of<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})});
    std::vector<Setting> s = {Link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how), Link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x),
                              Link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)};
    if (b) s.push_back(Link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b));
    return refused_ ? nullptr : Make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, s);
  }
  D Product(D a, D b, D c) {
    const D how =
        Make(CUDNN_BACKEND_MATMUL_DESCRIPTOR, {Of<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})});
    return refused_ ? nullptr
                    : Make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                           {Link(CUDNN_ATTR_OPERATION_MATMUL_DESC, how), Link(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a),
                            Link(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b), Link(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)});
  }
  D Reduce(cudnnReduceTensorOp_t op, D x, D y) {
    const D how = Make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
                       {Of<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, {op}),
                        Of<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})});
    return refused_ ? nullptr
                    : Make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                           {Link(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how), Link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x),
                            Link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)});
  }
  D Reshape(D x, D y) {
    return refused_ ? nullptr
                    : Make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                           {Link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x), Link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y)});
  }
  D Stays(double probability, D seed, D offset, D y) {
    const D how =
        Make(CUDNN_BACKEND_RNG_DESCRIPTOR,
             {Of<cudnnRngDistribution_t>(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, {CUDNN_RNG_DISTRIBUTION_BERNOULLI}),
              Of<double>(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, {probability})});
    return refused_ ? nullptr
                    : Make(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR,
                           {Link(CUDNN_ATTR_OPERATION_RNG_DESC, how), Link(CUDNN_ATTR_OPERATION_RNG_YDESC, y),
                            Link(CUDNN_ATTR_OPERATION_RNG_SEED, seed), Link(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, offset)});
  }
  D Graph(const std::vector<D>& operations, cudnnHandle_t handle = nullptr) {
    std::vector<Setting> s = {Of(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations)};
    if (handle) s.push_back(Of<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {handle}));
    return refused_ ? nullptr : Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, s);
  }

 private:
  bool Bad(cudnnStatus_t status) { return refused_ |= status != CUDNN_STATUS_SUCCESS; }
  const Backend& b_;
  std::vector<D> made_;
  bool refused_ = false;
};

inline const Dims kOne = {1, 1};
// A convolution, or its gradient of the data or the weights.
inline D Simple(Builder& b, int pass, const Dims& x, const Dims& w, const Dims& y, const Dims& pad = kOne, const Dims& stride = kOne,
                const Dims& dilation = kOne) {
  return b.Convolve(pass, b.Convolution(pad, stride, dilation), b.Tensor({1, x}), b.Tensor({2, w}), b.Tensor({3, y}));
}
inline const TensorSpec kMiddle = {100, {2, 4, 5, 5}, {}, CUDNN_DATA_FLOAT, true};  // between two operations

// ---- graphs, run

inline cudnnHandle_t Handle() {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    EXPECT_EQ(HOST_GPU_SYMBOL(StandIn(), cudnnCreate)(&made), CUDNN_STATUS_SUCCESS);
    return made;
  }();
  return handle;
}

struct Pointer {
  int64_t uid;
  void* at;
};
inline cudnnStatus_t Execute(Builder& b, D plan, const std::vector<Pointer>& pointers, void* workspace) {
  std::vector<int64_t> uids;
  std::vector<void*> all;
  for (const Pointer& p : pointers) uids.push_back(p.uid), all.push_back(p.at);
  const D pack = b.Make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
                        {Builder::Of(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, uids),
                         Builder::Of(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, all),
                         Builder::Of<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace})});
  return HOST_GPU_SYMBOL(StandIn(), cudnnBackendExecute)(Handle(), plan, pack);
}

// Plans of every engine config that mode A names and that takes the graph, each with its workspace.
struct Planned {
  D plan;
  int64_t workspace;
  std::vector<cudnnBackendNumericalNote_t> notes;
};
inline std::vector<Planned> Plans(Builder& b, D graph) {
  const Backend& api = b.backend();
  const D heuristics = b.Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
                              {Builder::Link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph),
                               Builder::Of<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})});
  int64_t count = 0;
  EXPECT_EQ(api.get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), CUDNN_STATUS_SUCCESS);
  std::vector<D> configs(static_cast<size_t>(count));
  for (D& c : configs) EXPECT_EQ(api.create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &c), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(api.get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, configs.data()),
            CUDNN_STATUS_SUCCESS);
  std::vector<Planned> plans;
  for (D c : configs) {
    Planned p;
    p.plan = b.Make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
                    {Builder::Of<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {Handle()}),
                     Builder::Link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, c)});
    int64_t n = 0;
    EXPECT_EQ(api.get(p.plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &p.workspace), CUDNN_STATUS_SUCCESS);
    D engine = nullptr;
    EXPECT_EQ(api.create(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(api.get(c, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine), CUDNN_STATUS_SUCCESS);
    p.notes.resize(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    EXPECT_EQ(
        api.get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &n, p.notes.data()),
        CUDNN_STATUS_SUCCESS);
    p.notes.resize(static_cast<size_t>(n));
    api.destroy(engine);
    plans.push_back(p);
  }
  for (D c : configs) api.destroy(c);
  return plans;
}

inline int64_t Size(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace host_gpu_test
#endif  // MXNET_TESTS_CPP_HOST_GPU_CUDNN_CUDA_H_
