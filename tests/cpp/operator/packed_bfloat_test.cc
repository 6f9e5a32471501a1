// Convolutions and dense layers in bfloat16 against sums in float64 of the same rounded operands.
// Where the processor has no instructions for them, that they are refused.
#include "operator/nn/cpu_gemm/packed_bfloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/half.h"
#include "base/threads/omp.h"
#include "operator/nn/common/epilogue.h"

namespace mxnet {
namespace nn {
namespace {

using Halves = std::vector<bfloat16>;

Halves Random(int64_t n, unsigned seed) {
  Halves v(n);
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  for (bfloat16& x : v) x = d(gen);
  return v;
}

struct Case {
  int64_t batch, h, w, c, k, kh, kw, stride, pad_h, pad_w, dilate;
};

/* A convolution as a plan's node calls it, its operands in memory of exactly their size. */
struct Problem {
  ConvCall call;
  Halves src, dst, weight, bias, addend;
  std::vector<float> wide_bias;
  std::vector<std::vector<char>> blocks;
  std::shared_ptr<OpState> state;
  uint64_t versions[2] = {1, 1};

  Problem(const Case& s, bool planes, bool weight_last) {
    ConvDims& d = call.dims;
    d.batch = s.batch, d.channels = s.c, d.filters = s.k;
    d.in[1] = s.h, d.in[2] = s.w, d.kernel[1] = s.kh, d.kernel[2] = s.kw, d.stride[1] = d.stride[2] = s.stride;
    d.pad[1] = s.pad_h, d.pad[2] = s.pad_w, d.dilate[1] = d.dilate[2] = s.dilate;
    for (int i = 1; i < 3; ++i) d.out[i] = (d.in[i] + 2 * d.pad[i] - d.dilate[i] * (d.kernel[i] - 1) - 1) / d.stride[i] + 1;
    src = Random(d.batch * d.channels * d.InSize(), 1);
    dst = Random(d.batch * d.filters * d.OutSize(), 2);
    weight = Random(d.filters * d.channels * d.KernelSize(), 3);
    bias = Random(d.filters, 4), addend = Random(static_cast<int64_t>(dst.size()), 5);
    wide_bias.assign(bias.begin(), bias.end());
    call.dtype = kBfloat16;
    call.src = {src.data(), !planes}, call.dst = {dst.data(), true}, call.weight = {weight.data(), weight_last};
    call.weight_input = 1;
  }
  bool Run(const bfloat16* added) {
    KernelArgs args;
    args.state = &state;
    args.in_versions = Span<const uint64_t>(versions, 2);
    blocks.clear();
    args.workspace = [this](size_t bytes) -> void* {
      blocks.emplace_back(bytes + 64, 0x7f);  // NaN, where it is read before it is written
      return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(blocks.back().data()) + 63) & ~uintptr_t{63});
    };
    return NativeConvolution(args, call, added);
  }
  double Src(int64_t n, int64_t y, int64_t x, int64_t c) const {
    const ConvDims& d = call.dims;
    return static_cast<float>(src[call.src.channels_last ? ((n * d.in[1] + y) * d.in[2] + x) * d.channels + c
                                                         : ((n * d.channels + c) * d.in[1] + y) * d.in[2] + x]);
  }
  std::vector<double> Sums() const {
    const ConvDims& d = call.dims;
    std::vector<double> sums(dst.size(), 0.0);
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t y = 0; y < d.out[1]; ++y)
        for (int64_t x = 0; x < d.out[2]; ++x)
          for (int64_t r = 0; r < d.kernel[1]; ++r)
            for (int64_t s = 0; s < d.kernel[2]; ++s) {
              const int64_t iy = y * d.stride[1] - d.pad[1] + r * d.dilate[1], ix = x * d.stride[2] - d.pad[2] + s * d.dilate[2];
              if (iy < 0 || iy >= d.in[1] || ix < 0 || ix >= d.in[2]) continue;
              double* to = &sums[((n * d.out[1] + y) * d.out[2] + x) * d.filters];
              for (int64_t c = 0; c < d.channels; ++c) {
                const double value = Src(n, iy, ix, c);
                for (int64_t k = 0; k < d.filters; ++k) {
                  const int64_t at = call.weight.channels_last ? ((k * d.kernel[1] + r) * d.kernel[2] + s) * d.channels + c
                                                               : ((k * d.channels + c) * d.kernel[1] + r) * d.kernel[2] + s;
                  to[k] += value * static_cast<double>(static_cast<float>(weight[at]));
                }
              }
            }
    return sums;
  }
  std::string str() const {
    const ConvDims& d = call.dims;
    std::ostringstream s;
    s << "batch " << d.batch << " data " << d.in[1] << "x" << d.in[2] << "x" << d.channels << " filters " << d.filters << " window "
      << d.kernel[1] << "x" << d.kernel[2] << " stride " << d.stride[1] << " pad " << d.pad[1] << " dilate " << d.dilate[1];
    return s.str();
  }
};

double Post(const EpilogueOp& p, double v) {
  switch (p.kind) {
    case EpilogueKind::kRelu: return v < 0 ? 0 : v;
    case EpilogueKind::kClip: return std::min<double>(std::max<double>(v, p.a), p.b);
    case EpilogueKind::kTanh: return std::tanh(v);
    default: return v;
  }
}
const EpilogueOp kEpilogues[] = {{}, {EpilogueKind::kRelu}, {EpilogueKind::kClip, -0.5f, 0.75f}, {EpilogueKind::kTanh}};

// One rounding to 8 digits, and what a sum in float32 loses: Winograd's more than sums in order.
void ExpectNear(double expected, bfloat16 got, double terms, const std::string& what) {
  ASSERT_NEAR(static_cast<float>(got), expected, std::abs(expected) / 256 + 2e-5 * (2 + std::sqrt(terms))) << what;
}

const Case kCases[] = {
    {1, 9, 7, 16, 16, 1, 1, 1, 0, 0, 1},     {2, 5, 6, 7, 33, 1, 1, 1, 0, 0, 1},     {1, 8, 9, 64, 80, 1, 1, 2, 0, 0, 1},
    {1, 12, 11, 3, 40, 7, 7, 2, 3, 3, 1},    {2, 9, 9, 3, 24, 3, 3, 2, 1, 1, 1},     {1, 9, 8, 5, 17, 3, 3, 1, 1, 1, 1},
    {1, 7, 7, 24, 48, 3, 3, 2, 1, 1, 1},     {1, 10, 9, 9, 96, 3, 3, 1, 2, 2, 2},    {3, 13, 14, 32, 32, 3, 3, 1, 1, 1, 1},
    {1, 70, 60, 64, 72, 3, 3, 1, 1, 1, 1},   {1, 17, 17, 24, 24, 1, 7, 1, 0, 3, 1},  {1, 17, 17, 24, 40, 5, 5, 1, 2, 2, 1},
    {1, 6, 6, 20, 20, 3, 3, 1, 0, 0, 1},     {1, 1, 1, 37, 50, 1, 1, 1, 0, 0, 1},    {40, 8, 8, 48, 64, 3, 3, 1, 1, 1, 1},
    {1, 13, 13, 2048, 64, 1, 1, 1, 0, 0, 1}, {1, 9, 10, 1024, 66, 3, 3, 2, 1, 1, 1},  // rows a page apart, which are copied
};

TEST(PackedBfloat, Convolution) {
  if (!BfloatGemmsHere()) GTEST_SKIP() << "no AVX-512 BF16";
  int variant = 0;
  for (const Case& s : kCases)
    for (bool weight_last : {false, true})
      for (bool planes : {false, true}) {
        if (planes && s.c > 5) continue;
        Problem p(s, planes, weight_last);
        const std::vector<double> sums = p.Sums();
        const ConvDims& d = p.call.dims;
        for (const EpilogueOp& post : kEpilogues) {
          const bool bias = ++variant % 2, wide = variant / 2 % 2, add = variant / 4 % 2, inplace = variant / 8 % 2;
          p.call.bias = !bias ? nullptr : wide ? static_cast<void*>(p.wide_bias.data()) : p.bias.data();
          p.call.wide_bias = wide;
          p.call.post = post;
          if (add && inplace) p.dst = p.addend;
          p.call.dst.ptr = p.dst.data();
          ASSERT_TRUE(p.Run(!add ? nullptr : inplace ? p.dst.data() : p.addend.data())) << p.str();
          for (size_t i = 0; i < sums.size(); ++i)
            ExpectNear(Post(post, sums[i] + (bias ? p.wide_bias[i % d.filters] : 0.f) + (add ? static_cast<float>(p.addend[i]) : 0.f)),
                       p.dst[i], static_cast<double>(d.channels * d.KernelSize()),
                       p.str() + " post " + EpilogueText(post) + " at " + std::to_string(i));
        }
      }
}

TEST(PackedBfloat, Dense) {
  if (!BfloatGemmsHere()) GTEST_SKIP() << "no AVX-512 BF16";
  for (int64_t m : {1, 2, 3, 5, 14, 130})
    for (int64_t n : {1, 31, 64, 1000})
      for (int64_t k : {1, 63, 256}) {
        const Halves data = Random(m * k, 1), weight = Random(n * k, 2), bias = Random(n, 3), addend = Random(m * n, 4);
        Halves out(m * n);
        std::shared_ptr<OpState> state;
        uint64_t versions[2] = {1, 1};
        std::vector<std::vector<char>> blocks;
        KernelArgs args;
        args.state = &state;
        args.in_versions = Span<const uint64_t>(versions, 2);
        args.workspace = [&](size_t bytes) -> void* { return blocks.emplace_back(bytes, 0x7f).data(); };
        DenseCall call;
        call.m = m, call.n = n, call.k = k, call.dtype = kBfloat16;
        call.data = data.data(), call.weight = weight.data(), call.bias = bias.data(), call.out = out.data(), call.weight_input = 1;
        call.post = kEpilogues[(m + n) % 4];
        ASSERT_TRUE(NativeDense(args, call, addend.data()));
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = static_cast<float>(bias[j]) + static_cast<float>(addend[i * n + j]);
            for (int64_t t = 0; t < k; ++t)
              sum += static_cast<double>(static_cast<float>(data[i * k + t])) * static_cast<float>(weight[j * k + t]);
            ExpectNear(Post(call.post, sum), out[i * n + j], static_cast<double>(k),
                       std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
          }
      }
}

TEST(PackedBfloat, SameBitsForAnyNumberOfThreads) {
  if (!BfloatGemmsHere()) GTEST_SKIP() << "no AVX-512 BF16";
  for (const Case& s : kCases) {
    Problem p(s, false, true);
    ASSERT_TRUE(p.Run(nullptr));
    const Halves all = p.dst;
    for (int threads : {1, 3}) {
      const int before = SetThreadOmpLimit(threads);
      p.Run(nullptr);
      SetThreadOmpLimit(before);
      EXPECT_EQ(0, std::memcmp(all.data(), p.dst.data(), all.size() * sizeof(bfloat16))) << p.str() << " threads " << threads;
    }
  }
}

// NaN passes relu; what lies outside the data, or behind the last channel of an odd number of them,
// does not reach the sums.
TEST(PackedBfloat, NotFinite) {
  if (!BfloatGemmsHere()) GTEST_SKIP() << "no AVX-512 BF16";
  const int64_t c = 15;
  Problem p({1, 5, 5, c, 16, 3, 3, 1, 1, 1, 1}, false, true);
  p.src[0] = NAN;
  p.src[p.src.size() - c] = INFINITY;
  p.call.post = {EpilogueKind::kRelu};
  ASSERT_TRUE(p.Run(nullptr));
  EXPECT_TRUE(std::isnan(static_cast<float>(p.dst[0])));
  EXPECT_TRUE(std::isfinite(static_cast<float>(p.dst[2 * 16])));
  EXPECT_TRUE(std::isfinite(static_cast<float>(p.dst[2 * 5 * 16 + 2 * 16])));
  EXPECT_FALSE(std::isfinite(static_cast<float>(p.dst[p.dst.size() - 1])));
  Problem q({1, 1, 2, c, 16, 1, 1, 1, 0, 0, 1}, false, true);
  q.src[c] = NAN;  // the element behind the first pixel's last channel
  ASSERT_TRUE(q.Run(nullptr));
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(std::isfinite(static_cast<float>(q.dst[i])));
}

// Packed weights are kept while the version stays.
TEST(PackedBfloat, WeightsOfAPlan) {
  if (!BfloatGemmsHere()) GTEST_SKIP() << "no AVX-512 BF16";
  for (const Case& s : {kCases[6], kCases[8]}) {
    Problem p(s, false, false);
    ASSERT_TRUE(p.Run(nullptr));
    const Halves first = p.dst;
    for (bfloat16& w : p.weight) w = -static_cast<float>(w);
    ASSERT_TRUE(p.Run(nullptr));
    EXPECT_EQ(0, std::memcmp(first.data(), p.dst.data(), first.size() * sizeof(bfloat16)));
    p.versions[1] = 2;
    ASSERT_TRUE(p.Run(nullptr));
    for (size_t i = 0; i < first.size(); ++i) ASSERT_EQ(static_cast<float>(p.dst[i]), -static_cast<float>(first[i])) << i;
  }
}

TEST(PackedBfloat, NotTaken) {
  Problem p(kCases[0], false, true);
  CapCpuLevel(CpuLevel::kV3);
  EXPECT_FALSE(BfloatGemmsHere());
  EXPECT_FALSE(p.Run(nullptr));
  CapCpuLevel(DetectedCpuLevel());
  EXPECT_EQ(BfloatGemmsHere(), p.Run(nullptr));
  p.call.dims.groups = 2;
  EXPECT_FALSE(p.Run(nullptr));
  p.call.dims.groups = 1;
  p.call.pass = ConvPass::kBackwardData;
  EXPECT_FALSE(p.Run(nullptr));
}

}  // namespace
}  // namespace nn
}  // namespace mxnet
