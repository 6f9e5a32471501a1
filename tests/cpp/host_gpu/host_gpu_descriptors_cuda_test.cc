/*
 * cuDNN's descriptors of the GPU made of the host (tests/host_gpu) against the real library, which
 * checks them without a device.
 */
#include <cudnn.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "host_gpu_cudnn_cuda.h"

namespace {

using host_gpu_test::Backend;
using host_gpu_test::Builder;
using host_gpu_test::D;
using host_gpu_test::Dims;
using host_gpu_test::kMiddle;
using host_gpu_test::kOne;
using host_gpu_test::Simple;
using host_gpu_test::StandIn;
using host_gpu_test::TensorSpec;

void* Nvidia() {
  static void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

struct Judged {
  const char* name;
  std::function<void(Builder&)> build;
};
D Behind(Builder& b, const TensorSpec& middle) {  // a convolution into `middle`
  return b.Convolve(0, b.Convolution(kOne, kOne, kOne), b.Tensor({1, {2, 8, 5, 5}}), b.Tensor({2, {4, 8, 3, 3}}), b.Tensor(middle));
}

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

}  // namespace
