/*
 * cuDNN of the GPU made of the host (tests/host_gpu), asked by its C functions: convolutions, fused
 * graphs, random numbers and attention against plain loops.
 */
#include <cudnn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/half.h"
#include "host_gpu_cudnn_cuda.h"

namespace {

using host_gpu_test::Backend;
using host_gpu_test::Builder;
using host_gpu_test::ChannelsLast;
using host_gpu_test::D;
using host_gpu_test::Dims;
using host_gpu_test::Execute;
using host_gpu_test::Handle;
using host_gpu_test::kMiddle;
using host_gpu_test::OnDevice;
using host_gpu_test::Packed;
using host_gpu_test::Planned;
using host_gpu_test::Plans;
using host_gpu_test::Pointer;
using host_gpu_test::Random;
using host_gpu_test::Simple;
using host_gpu_test::Size;
using host_gpu_test::StandIn;
using host_gpu_test::TensorSpec;

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
