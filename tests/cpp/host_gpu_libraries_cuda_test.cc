/*
 * The libraries of the GPU made of the host (tests/host_gpu), asked by their C functions: cuDNN's
 * descriptors against the real library, which checks them without a device; products, convolutions
 * and attention against plain loops.
 */
#include <cudnn.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/half.h"
#include "host_gpu_functions_cuda.h"

namespace {

using host_gpu_test::OnDevice;
using host_gpu_test::Random;
using host_gpu_test::StandIn;

void* Nvidia() {
  static void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

// ---- cuDNN's descriptors

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

Dims Packed(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}
Dims ChannelsLast(const Dims& dims) {
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

const Dims kOne = {1, 1};
struct Judged {
  const char* name;
  std::function<void(Builder&)> build;
};
D Simple(Builder& b, int pass, const Dims& x, const Dims& w, const Dims& y, const Dims& pad = kOne, const Dims& stride = kOne,
         const Dims& dilation = kOne) {
  return b.Convolve(pass, b.Convolution(pad, stride, dilation), b.Tensor({1, x}), b.Tensor({2, w}), b.Tensor({3, y}));
}
D Behind(Builder& b, const TensorSpec& middle) {  // a convolution into `middle`
  return b.Convolve(0, b.Convolution(kOne, kOne, kOne), b.Tensor({1, {2, 8, 5, 5}}), b.Tensor({2, {4, 8, 3, 3}}), b.Tensor(middle));
}
const TensorSpec kMiddle = {100, {2, 4, 5, 5}, {}, CUDNN_DATA_FLOAT, true};

const std::vector<Judged>& Good() {
  static const std::vector<Judged> cases = {
      {"tensor",
       [](Builder& b) {
         b.Tensor({1, {2, 3, 4, 5}});
       }},
      {"tensor of eight dimensions",
       [](Builder& b) {
         b.Tensor({1, {1, 1, 1, 1, 1, 1, 1, 2}});
       }},
      {"number by value",
       [](Builder& b) {
         b.Tensor({-5, {1, 1, 1, 1}, {}, CUDNN_DATA_FLOAT, false, true});
       }},
      {"stride 0",
       [](Builder& b) {
         b.Tensor({1, {2, 3, 4, 5}, {0, 20, 5, 1}});
       }},
      {"half on 2 bytes",
       [](Builder& b) {
         b.Tensor({1, {2, 3}, {}, CUDNN_DATA_HALF, false, false, 2});
       }},
      {"forward",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 4, 5, 5});
       }},
      {"groups",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 4, 3, 3}, {2, 4, 5, 5});
       }},
      {"data gradient",
       [](Builder& b) {
         Simple(b, 1, {2, 8, 6, 6}, {4, 8, 3, 3}, {2, 4, 3, 3}, {1, 1}, {2, 2});
       }},
      {"weight gradient",
       [](Builder& b) {
         Simple(b, 2, {2, 8, 7, 7}, {4, 8, 3, 3}, {2, 4, 5, 5}, {1, 1}, {1, 1}, {2, 2});
       }},
      {"one dimension",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5}, {4, 8, 3}, {2, 4, 5}, {1}, {1}, {1});
       }},
      {"add with a broadcast operand",
       [](Builder& b) {
         b.Pointwise(CUDNN_POINTWISE_ADD, b.Tensor({1, {2, 4, 5, 5}}), b.Tensor({2, {1, 4, 1, 1}}), b.Tensor({3, {2, 4, 5, 5}}));
       }},
      {"product",
       [](Builder& b) {
         b.Product(b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {1, 1, 5, 6}}), b.Tensor({3, {2, 3, 4, 6}}));
       }},
      {"sum",
       [](Builder& b) {
         b.Reduce(CUDNN_REDUCE_TENSOR_ADD, b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 3, 4, 1}}));
       }},
      {"dimensions exchanged",
       [](Builder& b) {
         b.Reshape(b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 3, 5, 4}, {60, 20, 1, 5}}));
       }},
      {"graph",
       [](Builder& b) {
         b.Graph({Simple(b, 0, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 4, 5, 5})});
       }},
      {"graph of two",
       [](Builder& b) {
         b.Graph({Behind(b, kMiddle), b.Pointwise(CUDNN_POINTWISE_RELU_FWD, b.Tensor(kMiddle), nullptr, b.Tensor({3, {2, 4, 5, 5}}))});
       }},
      {"graph in another order",
       [](Builder& b) {
         b.Graph({b.Pointwise(CUDNN_POINTWISE_RELU_FWD, b.Tensor(kMiddle), nullptr, b.Tensor({3, {2, 4, 5, 5}})), Behind(b, kMiddle)});
       }},
      {"a result that nobody reads", [](Builder& b) { b.Graph({Behind(b, kMiddle)}); }}};
  return cases;
}

const std::vector<Judged>& Wrong() {
  static const std::vector<Judged> cases = {
      {"fewer strides than dimensions",
       [](Builder& b) {
         b.Tensor({1, {2, 3, 4, 5}, {60, 20, 5}});
       }},
      {"negative dimension",
       [](Builder& b) {
         b.Tensor({1, {2, -1, 4, 5}, {60, 20, 5, 1}});
       }},
      {"negative stride",
       [](Builder& b) {
         b.Tensor({1, {2, 3, 4, 5}, {-60, 20, 5, 1}});
       }},
      {"nine dimensions",
       [](Builder& b) {
         b.Tensor({1, {1, 1, 1, 1, 1, 1, 1, 1, 2}});
       }},
      {"alignment 0",
       [](Builder& b) {
         b.Tensor({1, {2, 3}, {}, CUDNN_DATA_FLOAT, false, false, 0});
       }},
      {"float32 on 2 bytes",
       [](Builder& b) {
         b.Tensor({1, {2, 3}, {}, CUDNN_DATA_FLOAT, false, false, 2});
       }},
      {"padding -1",
       [](Builder& b) {
         b.Convolution({-1, 1}, kOne, kOne);
       }},
      {"step 0",
       [](Builder& b) {
         b.Convolution(kOne, {0, 1}, kOne);
       }},
      {"dilation 0",
       [](Builder& b) {
         b.Convolution(kOne, kOne, {0, 1});
       }},
      {"one padding for two dimensions", [](Builder& b) { b.Convolution({1}, kOne, kOne); }},
      {"size of the result",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 4, 4, 5});
       }},
      {"filters",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 5, 5, 5});
       }},
      {"batch",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 8, 3, 3}, {1, 4, 5, 5});
       }},
      {"channels in groups",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {4, 3, 3, 3}, {2, 4, 5, 5});
       }},
      {"filters in groups",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5}, {6, 2, 3, 3}, {2, 6, 5, 5});
       }},
      {"numbers of dimensions",
       [](Builder& b) {
         Simple(b, 0, {2, 8, 5, 5, 5}, {4, 8, 3, 3}, {2, 4, 5, 5});
       }},
      {"size of the gradient",
       [](Builder& b) {
         Simple(b, 1, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 4, 4, 5});
       }},
      {"size of the other gradient",
       [](Builder& b) {
         Simple(b, 2, {2, 8, 5, 5}, {4, 8, 3, 3}, {2, 4, 4, 5});
       }},
      {"add of one operand",
       [](Builder& b) {
         b.Pointwise(CUDNN_POINTWISE_ADD, b.Tensor({1, {2, 4}}), nullptr, b.Tensor({3, {2, 4}}));
       }},
      {"add of different numbers of dimensions",
       [](Builder& b) {
         b.Pointwise(CUDNN_POINTWISE_ADD, b.Tensor({1, {2, 4, 5, 5}}), b.Tensor({2, {4, 5, 5}}), b.Tensor({3, {2, 4, 5, 5}}));
       }},
      {"inner sizes",
       [](Builder& b) {
         b.Product(b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 3, 4, 6}}), b.Tensor({3, {2, 3, 4, 6}}));
       }},
      {"batches",
       [](Builder& b) {
         b.Product(b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 2, 5, 6}}), b.Tensor({3, {2, 3, 4, 6}}));
       }},
      {"sum to a part",
       [](Builder& b) {
         b.Reduce(CUDNN_REDUCE_TENSOR_ADD, b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 3, 4, 2}}));
       }},
      {"another number of elements",
       [](Builder& b) {
         b.Reshape(b.Tensor({1, {2, 3, 4, 5}}), b.Tensor({2, {2, 3, 5, 5}}));
       }},
      {"an operation twice",
       [](Builder& b) {
         const D o = Behind(b, kMiddle);
         b.Graph({o, o});
       }},
      {"a result of two operations",
       [](Builder& b) {
         b.Graph({Behind(b, kMiddle), Behind(b, kMiddle)});
       }},
      {"virtual and not",
       [](Builder& b) {
         b.Graph({Behind(b, kMiddle),
                  b.Pointwise(CUDNN_POINTWISE_RELU_FWD, b.Tensor({100, {2, 4, 5, 5}}), nullptr, b.Tensor({3, {2, 4, 5, 5}}))});
       }},
      {"a ring", [](Builder& b) {
         const D x = b.Tensor({100, {2, 4}, {}, CUDNN_DATA_FLOAT, true}), y = b.Tensor({101, {2, 4}, {}, CUDNN_DATA_FLOAT, true});
         b.Graph({b.Pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y), b.Pointwise(CUDNN_POINTWISE_RELU_FWD, y, nullptr, x)});
       }}};
  return cases;
}

TEST(HostGpuCudnn, RefusesWhatCudnnRefuses) {
  const Backend real(Nvidia()), ours(StandIn());
  for (const auto* cases : {&Good(), &Wrong()})
    for (const Judged& c : *cases) {
      Builder judge(real), judged(ours);
      c.build(judge);
      c.build(judged);
      EXPECT_EQ(judge.refused(), cases == &Wrong()) << c.name << ": cuDNN";
      EXPECT_EQ(judged.refused(), cases == &Wrong()) << c.name << ": the stand-in";
    }
}

TEST(HostGpuCudnn, AttributesAreCheckedAsCudnnDoes) {
  for (void* library : {Nvidia(), StandIn()}) {
    const Backend b(library);
    D d = nullptr, other = nullptr;
    ASSERT_EQ(b.create(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d), CUDNN_STATUS_SUCCESS);
    int64_t values[8] = {2, 3, 4, 5}, count = -1;
    EXPECT_EQ(b.set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, values), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    EXPECT_EQ(b.set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, values), CUDNN_STATUS_BAD_PARAM);
    EXPECT_EQ(b.set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, values), CUDNN_STATUS_BAD_PARAM);
    EXPECT_EQ(b.get(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, &count, values), CUDNN_STATUS_NOT_INITIALIZED);
    Builder builder(b);
    other = builder.Tensor({1, {2, 3, 4, 5}});
    EXPECT_EQ(b.set(other, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, values), CUDNN_STATUS_BAD_PARAM);
    EXPECT_EQ(b.finalize(other), CUDNN_STATUS_BAD_PARAM);
    EXPECT_EQ(b.get(other, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, &count, nullptr), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(count, 4);
    EXPECT_EQ(b.get(other, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2, &count, values), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(b.get(other, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4, &count, values), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    EXPECT_EQ(b.destroy(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    b.destroy(d);
  }
}

// ---- graphs, run

cudnnHandle_t Handle() {
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
cudnnStatus_t Execute(Builder& b, D plan, const std::vector<Pointer>& pointers, void* workspace) {
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
std::vector<Planned> Plans(Builder& b, D graph) {
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

int64_t Size(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

struct Layer {
  Dims x, w, y, pad, stride, dilation;  // two spatial dimensions
};
// Six loops; what is asked for is written to its argument.
void Loops(const Layer& l, const float* x, const float* w, const float* y, std::vector<float>* forward, std::vector<float>* data,
           std::vector<float>* weights) {
  const int64_t groups = l.x[1] / l.w[1], filters = l.w[0] / groups;
  for (int64_t n = 0; n < l.y[0]; ++n)
    for (int64_t k = 0; k < l.y[1]; ++k)
      for (int64_t p = 0; p < l.y[2]; ++p)
        for (int64_t q = 0; q < l.y[3]; ++q)
          for (int64_t c = 0; c < l.w[1]; ++c)
            for (int64_t r = 0; r < l.w[2]; ++r)
              for (int64_t s = 0; s < l.w[3]; ++s) {
                const int64_t i = p * l.stride[0] + r * l.dilation[0] - l.pad[0], j = q * l.stride[1] + s * l.dilation[1] - l.pad[1];
                if (i < 0 || i >= l.x[2] || j < 0 || j >= l.x[3]) continue;
                const int64_t at_x = ((n * l.x[1] + k / filters * l.w[1] + c) * l.x[2] + i) * l.x[3] + j,
                              at_w = ((k * l.w[1] + c) * l.w[2] + r) * l.w[3] + s, at_y = ((n * l.y[1] + k) * l.y[2] + p) * l.y[3] + q;
                if (forward) (*forward)[static_cast<size_t>(at_y)] += x[at_x] * w[at_w];
                if (data) (*data)[static_cast<size_t>(at_x)] += y[at_y] * w[at_w];
                if (weights) (*weights)[static_cast<size_t>(at_w)] += y[at_y] * x[at_x];
              }
}
// From the order of the dimensions into channels last, or back.
std::vector<float> Laid(const std::vector<float>& v, const Dims& dims, bool last, bool back) {
  if (!last) return v;
  std::vector<float> to(v.size());
  const Dims strides = ChannelsLast(dims);
  size_t i = 0;
  for (int64_t a = 0; a < dims[0]; ++a)
    for (int64_t b = 0; b < dims[1]; ++b)
      for (int64_t c = 0; c < dims[2]; ++c)
        for (int64_t d = 0; d < dims[3]; ++d, ++i) {
          const size_t at = static_cast<size_t>(a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]);
          if (back)
            to[i] = v[at];
          else
            to[at] = v[i];
        }
  return to;
}

TEST(HostGpuCudnn, ConvolutionsAsSixLoops) {
  const Backend api(StandIn());
  const Layer layers[] = {{{2, 6, 7, 8}, {4, 6, 3, 3}, {2, 4, 7, 8}, {1, 1}, {1, 1}, {1, 1}},
                          {{2, 6, 7, 8}, {4, 3, 3, 2}, {2, 4, 4, 4}, {1, 0}, {2, 2}, {1, 1}},
                          {{1, 4, 9, 9}, {4, 1, 3, 3}, {1, 4, 5, 9}, {0, 2}, {1, 1}, {2, 2}},
                          {{2, 5, 4, 3}, {3, 5, 1, 1}, {2, 3, 4, 3}, {0, 0}, {1, 1}, {1, 1}}};
  for (const Layer& l : layers)
    for (bool last : {false, true}) {
      const std::vector<float> x = Random(static_cast<size_t>(Size(l.x)), 1), w = Random(static_cast<size_t>(Size(l.w)), 2),
                               dy = Random(static_cast<size_t>(Size(l.y)), 3);
      std::vector<float> y(dy.size()), dx(x.size()), dw(w.size());
      Loops(l, x.data(), w.data(), dy.data(), &y, &dx, &dw);
      auto strides = [last](const Dims& d) { return last ? ChannelsLast(d) : Packed(d); };
      for (int pass = 0; pass < 3; ++pass) {
        Builder b(api);
        const D graph = b.Graph({b.Convolve(pass, b.Convolution(l.pad, l.stride, l.dilation), b.Tensor({1, l.x, strides(l.x)}),
                                            b.Tensor({2, l.w, strides(l.w)}), b.Tensor({3, l.y, strides(l.y)}))},
                                Handle());
        ASSERT_FALSE(b.refused());
        const std::vector<Planned> plans = Plans(b, graph);
        EXPECT_GE(plans.size(), 4u);
        for (const Planned& p : plans) {
          const OnDevice<float> on_x(Laid(x, l.x, last, false)), on_w(Laid(w, l.w, last, false)), on_y(Laid(dy, l.y, last, false));
          const OnDevice<char> workspace(std::vector<char>(static_cast<size_t>(p.workspace) + 1));
          ASSERT_EQ(Execute(b, p.plan, {{1, on_x.get()}, {2, on_w.get()}, {3, on_y.get()}}, workspace.get()), CUDNN_STATUS_SUCCESS);
          EXPECT_EQ(Laid(on_y.Values(), l.y, last, true), pass == 0 ? y : dy);
          EXPECT_EQ(Laid(on_x.Values(), l.x, last, true), pass == 1 ? dx : x);
          EXPECT_EQ(Laid(on_w.Values(), l.w, last, true), pass == 2 ? dw : w);
          if (p.workspace) {
            EXPECT_EQ(Execute(b, p.plan, {{1, on_x.get()}, {2, on_w.get()}, {3, on_y.get()}}, nullptr), CUDNN_STATUS_BAD_PARAM);
          }
        }
      }
    }
}

// Tensor cores see ten bits of float32, engines without them all.
TEST(HostGpuCudnn, NotesSayHowIsComputed) {
  const Backend api(StandIn());
  Builder b(api);
  const D graph = b.Graph({Simple(b, 0, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0})}, Handle());
  bool with = false, without = false;
  for (const Planned& p : Plans(b, graph)) {
    const OnDevice<float> x({1 + 1.f / 4096}), w({1}), y({0});
    const OnDevice<char> workspace(std::vector<char>(static_cast<size_t>(p.workspace) + 1));
    ASSERT_EQ(Execute(b, p.plan, {{1, x.get()}, {2, w.get()}, {3, y.get()}}, workspace.get()), CUDNN_STATUS_SUCCESS);
    const bool tensor = std::find(p.notes.begin(), p.notes.end(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != p.notes.end();
    (tensor ? with : without) = true;
    EXPECT_EQ(y.Values()[0], tensor ? 1 : 1 + 1.f / 4096);
  }
  EXPECT_TRUE(with && without);
}

TEST(HostGpuCudnn, FusedGraphsInHalf) {
  using mxnet::float16;
  const Backend api(StandIn());
  Builder b(api);
  const Layer l = {{2, 6, 5, 5}, {4, 6, 3, 3}, {2, 4, 5, 5}, {1, 1}, {1, 1}, {1, 1}};
  const cudnnDataType_t half = CUDNN_DATA_HALF;
  const TensorSpec sum = {101, l.y, {}, CUDNN_DATA_FLOAT, true}, biased = {102, l.y, {}, CUDNN_DATA_FLOAT, true};
  const D convolution = b.Convolve(0, b.Convolution(l.pad, l.stride, l.dilation), b.Tensor({1, l.x, {}, half}),
                                   b.Tensor({2, l.w, {}, half}), b.Tensor(kMiddle));
  const D add = b.Pointwise(CUDNN_POINTWISE_ADD, b.Tensor(kMiddle), b.Tensor({4, l.y, {}, half}), b.Tensor(sum));
  const D bias = b.Pointwise(CUDNN_POINTWISE_ADD, b.Tensor(sum), b.Tensor({5, {1, 4, 1, 1}, {}, half}), b.Tensor(biased));
  const D relu = b.Pointwise(CUDNN_POINTWISE_RELU_FWD, b.Tensor(biased), nullptr, b.Tensor({3, l.y, {}, half}));
  const D graph = b.Graph({convolution, add, bias, relu}, Handle());
  ASSERT_FALSE(b.refused());
  const std::vector<float> x = Random(static_cast<size_t>(Size(l.x)), 1), w = Random(static_cast<size_t>(Size(l.w)), 2),
                           z = Random(static_cast<size_t>(Size(l.y)), 3), c = Random(4, 4);
  std::vector<float> y(z.size());
  Loops(l, x.data(), w.data(), nullptr, &y, nullptr, nullptr);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(float16(std::max(0.f, y[i] + z[i] + c[i / 25 % 4])));
  auto narrow = [](const std::vector<float>& v) { return std::vector<float16>(v.begin(), v.end()); };
  for (const Planned& p : Plans(b, graph)) {
    const OnDevice<float16> on_x(narrow(x)), on_w(narrow(w)), on_z(narrow(z)), on_c(narrow(c));  // the addend is the result's memory
    const OnDevice<char> workspace(std::vector<char>(static_cast<size_t>(p.workspace) + 1));
    ASSERT_EQ(Execute(b, p.plan, {{1, on_x.get()}, {2, on_w.get()}, {3, on_z.get()}, {4, on_z.get()}, {5, on_c.get()}}, workspace.get()),
              CUDNN_STATUS_SUCCESS);
    const std::vector<float16> got = on_z.Values();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), y);
  }
}

// Random numbers in two graphs: the same by the same seed and offset, others by others, as many
// ones as asked for.
TEST(HostGpuCudnn, RandomNumbersFollowSeedAndOffset) {
  const Backend api(StandIn());
  const Dims d = {2, 3, 40, 50}, one = {1, 1, 1, 1};
  auto draw = [&](int64_t seed, int64_t offset, double probability, float scale) {
    Builder b(api);
    const D stays = b.Tensor({100, d, {}, CUDNN_DATA_FLOAT, true}), factor = b.Tensor({3, one, {}, CUDNN_DATA_FLOAT, false, true});
    const D graph =
        b.Graph({b.Stays(probability, b.Tensor({1, one, {}, CUDNN_DATA_INT64}), b.Tensor({2, one, {}, CUDNN_DATA_INT64}), stays),
                 b.Pointwise(CUDNN_POINTWISE_MUL, stays, factor, b.Tensor({4, d}))},
                Handle());
    EXPECT_FALSE(b.refused());
    const OnDevice<int64_t> on_seed({seed}), on_offset({offset});
    const OnDevice<float> out(std::vector<float>(static_cast<size_t>(Size(d))));
    const std::vector<Planned> plans = Plans(b, graph);
    EXPECT_FALSE(plans.empty());
    for (const Planned& p : plans)
      EXPECT_EQ(Execute(b, p.plan, {{1, on_seed.get()}, {2, on_offset.get()}, {3, &scale}, {4, out.get()}}, nullptr), CUDNN_STATUS_SUCCESS);
    return out.Values();
  };
  const std::vector<float> first = draw(7, int64_t{1} << 40, 0.75, 2);
  EXPECT_EQ(first, draw(7, int64_t{1} << 40, 0.75, 2));
  EXPECT_NE(first, draw(8, int64_t{1} << 40, 0.75, 2));
  EXPECT_NE(first, draw(7, (int64_t{1} << 40) + 1, 0.75, 2));
  EXPECT_NEAR(static_cast<double>(std::count(first.begin(), first.end(), 2.f)) / static_cast<double>(first.size()), 0.75, 0.02);
  EXPECT_EQ(std::count(first.begin(), first.end(), 2.f) + std::count(first.begin(), first.end(), 0.f),
            static_cast<std::ptrdiff_t>(first.size()));
  Builder b(api);
  b.Stays(1.5, b.Tensor({1, one, {}, CUDNN_DATA_INT64}), b.Tensor({2, one, {}, CUDNN_DATA_INT64}), b.Tensor({4, d}));
  EXPECT_TRUE(b.refused());
}

// softmax(0.5 q k^T) v, k given with its last two dimensions exchanged.
TEST(HostGpuCudnn, AttentionAsLoops) {
  const Backend api(StandIn());
  Builder b(api);
  const int64_t n = 2, rows = 3, columns = 5, width = 8;
  const Dims qd = {n, 1, rows, width}, kd = {n, 1, width, columns}, vd = {n, 1, columns, width}, sd = {n, 1, rows, columns},
             rd = {n, 1, rows, 1};
  int64_t next = 100;
  auto inside = [&](const Dims& d) { return b.Tensor({next++, d, {}, CUDNN_DATA_FLOAT, true}); };
  const D q = b.Tensor({1, qd}), k = b.Tensor({2, kd, {columns * width, columns * width, 1, width}}), v = b.Tensor({3, vd}),
          scale = b.Tensor({5, {1, 1, 1, 1}, {}, CUDNN_DATA_FLOAT, false, true});
  const D raw = inside(sd), scaled = inside(sd), largest = inside(rd), centred = inside(sd), e = inside(sd), sum = inside(rd),
          weights = inside(sd);
  const D graph = b.Graph({b.Product(q, k, raw), b.Pointwise(CUDNN_POINTWISE_MUL, raw, scale, scaled),
                           b.Reduce(CUDNN_REDUCE_TENSOR_MAX, scaled, largest), b.Pointwise(CUDNN_POINTWISE_SUB, scaled, largest, centred),
                           b.Pointwise(CUDNN_POINTWISE_EXP, centred, nullptr, e), b.Reduce(CUDNN_REDUCE_TENSOR_ADD, e, sum),
                           b.Pointwise(CUDNN_POINTWISE_DIV, e, sum, weights), b.Product(weights, v, b.Tensor({4, qd}))},
                          Handle());
  ASSERT_FALSE(b.refused());
  const std::vector<float> hq = Random(static_cast<size_t>(n * rows * width), 1), hk = Random(static_cast<size_t>(n * columns * width), 2),
                           hv = Random(static_cast<size_t>(n * columns * width), 3);
  std::vector<double> want(hq.size());
  for (int64_t i = 0; i < n * rows; ++i) {
    const int64_t first = i / rows * columns;
    double total = 0;
    for (int64_t j = 0; j < columns; ++j) {
      double score = 0;
      for (int64_t l = 0; l < width; ++l)
        score += static_cast<double>(hq[static_cast<size_t>(i * width + l)] * hk[static_cast<size_t>((first + j) * width + l)]);
      const double weight = std::exp(score / 2);
      total += weight;
      for (int64_t l = 0; l < width; ++l)
        want[static_cast<size_t>(i * width + l)] += weight * static_cast<double>(hv[static_cast<size_t>((first + j) * width + l)]);
    }
    for (int64_t l = 0; l < width; ++l) want[static_cast<size_t>(i * width + l)] /= total;
  }
  const std::vector<Planned> plans = Plans(b, graph);
  EXPECT_FALSE(plans.empty());
  for (const Planned& p : plans) {
    const OnDevice<float> on_q(hq), on_k(hk), on_v(hv), out(std::vector<float>(hq.size()));
    const OnDevice<char> workspace(std::vector<char>(static_cast<size_t>(p.workspace) + 1));
    float half = 0.5f;
    const std::vector<Pointer> pointers = {{1, on_q.get()}, {2, on_k.get()}, {3, on_v.get()}, {4, out.get()}, {5, &half}};
    ASSERT_EQ(Execute(b, p.plan, pointers, workspace.get()), CUDNN_STATUS_SUCCESS);
    const std::vector<float> got = out.Values();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
    // what a caller may get wrong
    auto without = pointers;
    without.pop_back();
    EXPECT_NE(Execute(b, p.plan, without, workspace.get()), CUDNN_STATUS_SUCCESS);
    auto outside = pointers;
    outside[0].at = const_cast<float*>(hq.data());
    EXPECT_NE(Execute(b, p.plan, outside, workspace.get()), CUDNN_STATUS_SUCCESS);
    auto upon = pointers;
    upon[3].at = on_q.get();
    EXPECT_NE(Execute(b, p.plan, upon, workspace.get()), CUDNN_STATUS_SUCCESS);
    auto odd = pointers;
    odd[0].at = on_q.get() + 1;
    EXPECT_NE(Execute(b, p.plan, odd, workspace.get()), CUDNN_STATUS_SUCCESS);
  }
}

}  // namespace
