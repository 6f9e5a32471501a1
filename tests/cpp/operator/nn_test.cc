// Neural network operators through their records: both kernel paths against each other, gradients
// against finite differences.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <type_traits>

#include "base/half.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace {

struct Tensor {
  Shape shape;
  int dtype = kFloat32;
  std::vector<char> bytes;
  Layout layout = Layout::kPlain;
  Tensor() = default;
  Tensor(const Shape& s, int t) : shape(s), dtype(t), bytes(s.Size() * DTypeSize(t)) {}
  static Tensor Random(const Shape& s, unsigned seed, int dtype = kFloat32, double low = -1, double high = 1) {
    Tensor t(s, dtype);
    std::mt19937 gen(seed);
    std::uniform_real_distribution<double> d(low, high);
    for (int64_t i = 0; i < s.Size(); ++i) t.Set(i, d(gen));
    return t;
  }
  double Get(int64_t i) const {
    switch (dtype) {
      case kFloat32: return reinterpret_cast<const float*>(bytes.data())[i];
      case kFloat64: return reinterpret_cast<const double*>(bytes.data())[i];
      case kFloat16: return reinterpret_cast<const float16*>(bytes.data())[i];
      default: return reinterpret_cast<const bfloat16*>(bytes.data())[i];
    }
  }
  void Set(int64_t i, double v) {
    switch (dtype) {
      case kFloat32: reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(v); break;
      case kFloat64: reinterpret_cast<double*>(bytes.data())[i] = v; break;
      case kFloat16: reinterpret_cast<float16*>(bytes.data())[i] = float16(v); break;
      default: reinterpret_cast<bfloat16*>(bytes.data())[i] = bfloat16(v); break;
    }
  }
  TBlob Blob() const {
    TBlob b;
    b.dptr = const_cast<char*>(bytes.data());
    b.shape = shape, b.dtype = dtype, b.layout = layout;
    return b;
  }
  // The same logical tensor, stored channels last.
  Tensor ChannelsLast() const {
    Tensor t = *this;
    t.layout = Layout::kChannelsLast;
    const int64_t n = shape[0], c = shape[1], s = shape.Prod(2, shape.ndim());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < c; ++j)
        for (int64_t k = 0; k < s; ++k) t.Set((i * s + k) * c + j, Get((i * c + j) * s + k));
    return t;
  }
  Tensor Plain() const {
    Tensor t = *this;
    t.layout = Layout::kPlain;
    const int64_t n = shape[0], c = shape[1], s = shape.Prod(2, shape.ndim());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < c; ++j)
        for (int64_t k = 0; k < s; ++k) t.Set((i * c + j) * s + k, Get((i * s + k) * c + j));
    return t;
  }
};

std::vector<Tensor> Invoke(const std::string& name, AttrDict dict, std::vector<Tensor>& in, bool train = false,
                           const std::vector<Layout>& out_layouts = {}, std::shared_ptr<OpState>* state = nullptr,
                           const std::vector<uint64_t>& versions = {}) {
  const Op* op = Op::Get(name);
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  EXPECT_EQ(op->NumInputs(*attrs), static_cast<int>(in.size())) << name;
  const int outputs = op->NumOutputs(*attrs);
  ShapeVector in_shapes, out_shapes(outputs);
  std::vector<int> in_types, out_types(outputs, kDTypeUnknown);
  for (const Tensor& t : in) in_shapes.push_back(t.shape), in_types.push_back(t.dtype);
  EXPECT_TRUE(InferCall(*attrs, {}, &in_shapes, &out_shapes)) << name;
  EXPECT_TRUE(InferCall(*attrs, {}, &in_types, &out_types)) << name;
  std::vector<Tensor> out;
  std::vector<TBlob> in_blobs, out_blobs;
  for (int i = 0; i < outputs; ++i) {
    out.emplace_back(out_shapes[i], out_types[i]);
    std::fill(out.back().bytes.begin(), out.back().bytes.end(), static_cast<char>(0x7b));  // must be overwritten
    if (i < static_cast<int>(out_layouts.size())) out.back().layout = out_layouts[i];
  }
  for (const Tensor& t : in) in_blobs.push_back(t.Blob());
  for (const Tensor& t : out) out_blobs.push_back(t.Blob());
  std::vector<OpReq> req(outputs, OpReq::kWrite);
  std::vector<std::unique_ptr<char[]>> blocks;
  RandomState random;
  KernelArgs args;
  args.attrs = attrs.get();
  args.in = Span<const TBlob>(in_blobs.data(), static_cast<int>(in_blobs.size()));
  args.out = Span<const TBlob>(out_blobs.data(), outputs);
  args.req = Span<const OpReq>(req.data(), outputs);
  args.is_train = train;
  args.random = op->uses_random ? &random : nullptr;
  args.state = state;
  args.in_versions = Span<const uint64_t>(versions.data(), static_cast<int>(versions.size()));
  args.workspace = [&](size_t bytes) -> void* {
    blocks.emplace_back(new char[bytes + 64]);
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(blocks.back().get()) + 63) & ~uintptr_t{63});
  };
  (*op->KernelFor(DeviceType::kCPU))(args);
  return out;
}

struct WithoutOnednn {
  WithoutOnednn() { Env::Set("MXNET_ONEDNN_ENABLED", "0"); }
  ~WithoutOnednn() { Env::Set("MXNET_ONEDNN_ENABLED", ""); }
};

void ExpectNear(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.shape.str(), b.shape.str()) << what;
  double worst = 0, scale = 1;
  for (int64_t i = 0; i < a.shape.Size(); ++i) {
    worst = std::max(worst, std::fabs(a.Get(i) - b.Get(i)));
    scale = std::max(scale, std::fabs(b.Get(i)));
    if (std::isnan(a.Get(i)) != std::isnan(b.Get(i))) worst = 1e30;
  }
  EXPECT_LE(worst, tolerance * scale) << what;
}

// d sum(ograd * f(x)) / dx by central differences in float64, against the backward operator.
void CheckGradient(const std::string& name, const AttrDict& dict, std::vector<Tensor> in, const std::string& backward, bool with_output,
                   int check = -1) {
  for (Tensor& t : in) ASSERT_EQ(t.dtype, kFloat64);
  std::vector<Tensor> y = Invoke(name, dict, in, true);
  Tensor og = Tensor::Random(y[0].shape, 99, kFloat64);
  std::vector<Tensor> back_in = {og};
  back_in.insert(back_in.end(), in.begin(), in.end());
  if (with_output) back_in.insert(back_in.end(), y.begin(), y.end());
  std::vector<Tensor> grads = Invoke(backward, dict, back_in, true);
  auto loss = [&] {
    Tensor out = Invoke(name, dict, in, true)[0];
    double sum = 0;
    for (int64_t i = 0; i < out.shape.Size(); ++i) sum += out.Get(i) * og.Get(i);
    return sum;
  };
  for (size_t k = 0; k < grads.size(); ++k) {
    if (check >= 0 && static_cast<int>(k) != check) continue;
    for (int64_t i = 0; i < in[k].shape.Size(); i += 1 + in[k].shape.Size() / 40) {
      const double x = in[k].Get(i), eps = 1e-5;
      in[k].Set(i, x + eps);
      const double up = loss();
      in[k].Set(i, x - eps);
      const double down = loss();
      in[k].Set(i, x);
      ASSERT_NEAR(grads[k].Get(i), (up - down) / (2 * eps), 1e-5 * std::max(1.0, std::fabs(grads[k].Get(i))))
          << name << " input " << k << " element " << i;
    }
  }
}

TEST(Nn, FullyConnectedPathsAgree) {
  for (int dtype : {kFloat32, kFloat16, kBfloat16}) {
    std::vector<Tensor> in = {Tensor::Random({5, 3, 4}, 1, dtype), Tensor::Random({7, 12}, 2, dtype), Tensor::Random({7}, 3, dtype)};
    std::vector<Tensor> exact = {Tensor(in[0].shape, kFloat64), Tensor(in[1].shape, kFloat64), Tensor(in[2].shape, kFloat64)};
    for (int k = 0; k < 3; ++k)
      for (int64_t i = 0; i < in[k].shape.Size(); ++i) exact[k].Set(i, in[k].Get(i));
    AttrDict dict = {{"num_hidden", "7"}};
    Tensor y = Invoke("FullyConnected", dict, in)[0], want = Invoke("FullyConnected", dict, exact)[0];
    ExpectNear(y, want, dtype == kFloat32 ? 1e-6 : 1e-2, "onednn");
    WithoutOnednn off;
    ExpectNear(Invoke("FullyConnected", dict, in)[0], want, dtype == kFloat32 ? 1e-6 : 1e-2, "reference");
  }
}

TEST(Nn, FullyConnectedGradient) {
  CheckGradient("FullyConnected", {{"num_hidden", "3"}},
                {Tensor::Random({4, 2, 3}, 1, kFloat64), Tensor::Random({3, 6}, 2, kFloat64), Tensor::Random({3}, 3, kFloat64)},
                "_backward_FullyConnected", false);
  CheckGradient("FullyConnected", {{"num_hidden", "3"}, {"flatten", "False"}, {"no_bias", "True"}},
                {Tensor::Random({4, 2, 3}, 1, kFloat64), Tensor::Random({3, 3}, 2, kFloat64)}, "_backward_FullyConnected", false);
}

// Packed weights follow the version: the same version reuses them, a new one repacks.
TEST(Nn, PackedWeightsFollowVersions) {
  for (const std::string op : {"FullyConnected", "Convolution"}) {
    AttrDict dict = op == "FullyConnected" ? AttrDict{{"num_hidden", "64"}} : AttrDict{{"num_filter", "64"}, {"kernel", "(3,3)"}};
    const bool fc = op == "FullyConnected";
    std::vector<Tensor> in = {fc ? Tensor::Random({8, 128}, 1) : Tensor::Random({1, 32, 8, 8}, 1),
                              fc ? Tensor::Random({64, 128}, 2) : Tensor::Random({64, 32, 3, 3}, 2), Tensor::Random({64}, 3)};
    std::shared_ptr<OpState> state;
    std::vector<uint64_t> versions = {0, 1, 0};
    Tensor first = Invoke(op, dict, in, false, {}, &state, versions)[0];
    ExpectNear(first, Invoke(op, dict, in)[0], 1e-5, op);
    for (int64_t i = 0; i < in[1].shape.Size(); ++i) in[1].Set(i, 0.5 * in[1].Get(i));
    versions[1] = 2;
    ExpectNear(Invoke(op, dict, in, false, {}, &state, versions)[0], Invoke(op, dict, in)[0], 1e-5, op);
  }
}

struct ConvCase {
  Shape data;
  AttrDict dict;
  Shape weight;
};

// By the definition, in float64.
Tensor NaiveConvolution2D(const Tensor& x, const Tensor& w, const Tensor& b, int64_t s, int64_t p, int64_t d, int64_t groups) {
  const int64_t oh = (x.shape[2] + 2 * p - d * (w.shape[2] - 1) - 1) / s + 1, ow = (x.shape[3] + 2 * p - d * (w.shape[3] - 1) - 1) / s + 1;
  Tensor y({x.shape[0], w.shape[0], oh, ow}, kFloat64);
  const int64_t cg = w.shape[1], kg = w.shape[0] / groups;
  for (int64_t n = 0; n < x.shape[0]; ++n)
    for (int64_t k = 0; k < w.shape[0]; ++k)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j) {
          double sum = b.Get(k);
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t u = 0; u < w.shape[2]; ++u)
              for (int64_t v = 0; v < w.shape[3]; ++v) {
                const int64_t ih = i * s - p + u * d, iw = j * s - p + v * d;
                if (ih < 0 || iw < 0 || ih >= x.shape[2] || iw >= x.shape[3]) continue;
                sum += x.Get(((n * x.shape[1] + k / kg * cg + c) * x.shape[2] + ih) * x.shape[3] + iw) *
                       w.Get(((k * cg + c) * w.shape[2] + u) * w.shape[3] + v);
              }
          y.Set(((n * w.shape[0] + k) * oh + i) * ow + j, sum);
        }
  return y;
}

TEST(Nn, Convolution2DAgainstDefinition) {
  struct {
    int64_t s, p, d, g, c, k, kernel;
  } cases[] = {{1, 0, 1, 1, 3, 8, 3}, {2, 1, 1, 1, 16, 16, 3}, {1, 2, 2, 1, 4, 6, 3},
               {1, 0, 1, 1, 8, 5, 1}, {2, 3, 1, 2, 6, 4, 5},   {1, 1, 1, 8, 8, 8, 3}};
  for (auto& c : cases) {
    std::vector<Tensor> in = {Tensor::Random({2, c.c, 9, 11}, 1), Tensor::Random({c.k, c.c / c.g, c.kernel, c.kernel}, 2),
                              Tensor::Random({c.k}, 3)};
    auto two = [](int64_t v) { return "(" + std::to_string(v) + "," + std::to_string(v) + ")"; };
    AttrDict dict = {{"kernel", two(c.kernel)},
                     {"stride", two(c.s)},
                     {"pad", two(c.p)},
                     {"dilate", two(c.d)},
                     {"num_filter", std::to_string(c.k)},
                     {"num_group", std::to_string(c.g)}};
    Tensor want = NaiveConvolution2D(in[0], in[1], in[2], c.s, c.p, c.d, c.g);
    for (bool onednn : {true, false}) {
      std::unique_ptr<WithoutOnednn> off(onednn ? nullptr : new WithoutOnednn());
      ExpectNear(Invoke("Convolution", dict, in)[0], want, 1e-5, onednn ? "onednn" : "reference");
      std::vector<Tensor> last = {in[0].ChannelsLast(), in[1], in[2]};
      ExpectNear(Invoke("Convolution", dict, last, false, {Layout::kChannelsLast})[0].Plain(), want, 1e-5, "channels last");
      ExpectNear(Invoke("Convolution", dict, in, false, {Layout::kChannelsLast})[0].Plain(), want, 1e-5, "plain to channels last");
      // backward: all layouts and paths against the plain reference
      Tensor og = Tensor::Random(want.shape, 9);
      std::vector<Tensor> back = {og, in[0], in[1], in[2]}, back_last = {og.ChannelsLast(), in[0].ChannelsLast(), in[1], in[2]};
      std::vector<Tensor> a = Invoke("_backward_Convolution", dict, back, true),
                          b = Invoke("_backward_Convolution", dict, back_last, true, {Layout::kChannelsLast});
      WithoutOnednn reference;
      std::vector<Tensor> r = Invoke("_backward_Convolution", dict, back, true);
      for (int i = 0; i < 3; ++i) ExpectNear(a[i], r[i], 1e-5, "backward " + std::to_string(i));
      ExpectNear(b[0].Plain(), r[0], 1e-5, "backward, channels last");
      for (int i = 1; i < 3; ++i) ExpectNear(b[i], r[i], 1e-5, "backward, channels last " + std::to_string(i));
    }
  }
}

TEST(Nn, ConvolutionGradient) {
  CheckGradient("Convolution",
                {{"kernel", "(3,2)"}, {"stride", "(2,1)"}, {"pad", "(1,1)"}, {"dilate", "(1,2)"}, {"num_filter", "4"}, {"num_group", "2"}},
                {Tensor::Random({2, 4, 5, 6}, 1, kFloat64), Tensor::Random({4, 2, 3, 2}, 2, kFloat64), Tensor::Random({4}, 3, kFloat64)},
                "_backward_Convolution", false);
  CheckGradient("Convolution", {{"kernel", "(3,)"}, {"num_filter", "2"}},
                {Tensor::Random({2, 3, 6}, 1, kFloat64), Tensor::Random({2, 3, 3}, 2, kFloat64), Tensor::Random({2}, 3, kFloat64)},
                "_backward_Convolution", false);
  CheckGradient(
      "Convolution", {{"kernel", "(2,3,3)"}, {"num_filter", "2"}, {"pad", "(0,1,0)"}},
      {Tensor::Random({1, 2, 3, 4, 5}, 1, kFloat64), Tensor::Random({2, 2, 2, 3, 3}, 2, kFloat64), Tensor::Random({2}, 3, kFloat64)},
      "_backward_Convolution", false);
  CheckGradient("Convolution", {{"kernel", "(3,3)"}, {"num_filter", "2"}, {"layout", "NHWC"}, {"num_group", "2"}},
                {Tensor::Random({2, 4, 5, 4}, 1, kFloat64), Tensor::Random({2, 3, 3, 2}, 2, kFloat64), Tensor::Random({2}, 3, kFloat64)},
                "_backward_Convolution", false);
}

TEST(Nn, DeconvolutionGradientAndPaths) {
  AttrDict dict = {{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"},    {"adj", "(1,0)"},
                   {"num_filter", "4"}, {"num_group", "2"},  {"no_bias", "False"}};
  CheckGradient("Deconvolution", dict,
                {Tensor::Random({2, 6, 3, 4}, 1, kFloat64), Tensor::Random({6, 2, 3, 3}, 2, kFloat64), Tensor::Random({4}, 3, kFloat64)},
                "_backward_Deconvolution", false);
  std::vector<Tensor> in = {Tensor::Random({2, 6, 3, 4}, 1), Tensor::Random({6, 2, 3, 3}, 2), Tensor::Random({4}, 3)};
  Tensor a = Invoke("Deconvolution", dict, in)[0];
  EXPECT_EQ(a.shape.str(), "(2,4,6,7)");
  WithoutOnednn off;
  ExpectNear(a, Invoke("Deconvolution", dict, in)[0], 1e-5, "onednn against reference");
}

TEST(Nn, PoolingGradientAndLayouts) {
  for (const std::string type : {"max", "avg", "sum", "lp"})
    for (const std::string convention : {"valid", "full"}) {
      AttrDict dict = {{"kernel", "(3,2)"}, {"stride", "(2,2)"}, {"pad", "(1,0)"}, {"pool_type", type}, {"pooling_convention", convention},
                       {"p_value", "3"}};
      CheckGradient("Pooling", dict, {Tensor::Random({2, 3, 6, 5}, 1, kFloat64, 0.1, 1)}, "_backward_Pooling", true);
      std::vector<Tensor> in = {Tensor::Random({2, 70, 6, 5}, 1)}, last = {in[0].ChannelsLast()};
      Tensor y = Invoke("Pooling", dict, in)[0];
      ExpectNear(Invoke("Pooling", dict, last, false, {Layout::kChannelsLast})[0].Plain(), y, 1e-6, "channels last");
      Tensor og = Tensor::Random(y.shape, 5);
      std::vector<Tensor> back = {og, in[0], y}, back_last = {og.ChannelsLast(), last[0], y.ChannelsLast()};
      ExpectNear(Invoke("_backward_Pooling", dict, back_last, true, {Layout::kChannelsLast})[0].Plain(),
                 Invoke("_backward_Pooling", dict, back, true)[0], 1e-5, "backward");
    }
}

TEST(Widening, IntegersAreNoFloatsBesideHalves) {
  const AttrsPtr attrs = MakeAttrs(Op::Get("relu"), {});
  Tensor whole(Shape{2}, kInt32), half(Shape{2}, kFloat16);
  std::vector<std::vector<char>> memory;
  const TBlob in[] = {{whole.bytes.data(), whole.shape, kInt32, Context::CPU()}, {half.bytes.data(), half.shape, kFloat16, Context::CPU()}};
  KernelArgs args;
  args.attrs = attrs.get();
  args.in = Span<const TBlob>(in, 2);
  args.workspace = [&memory](size_t bytes) {
    memory.emplace_back(bytes);
    return static_cast<void*>(memory.back().data());
  };
  int seen = 0;
  nn::RunReal(
      args, [&seen](KernelArgs& a, auto tag) { seen = std::is_same<decltype(tag), float>::value && a.in[1].dtype == kFloat32; }, 1);
  EXPECT_EQ(seen, 1);
  try {
    nn::RunReal(args, [](KernelArgs&, auto) { FAIL() << "integers were taken for floats"; });
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[relu] dtype int32"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace mxnet
