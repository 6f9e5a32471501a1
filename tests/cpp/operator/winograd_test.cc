// Winograd convolutions against sums in float64: every tile size, instruction set and blocking; the
// gradient by the data; plans.
#include "operator/nn/cpu_gemm/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/threads/omp.h"
#include "cpu_levels.h"
#include "mxnet/env.h"
#include "operator/nn/cpu_gemm/packed.h"

namespace mxnet {
namespace nn {
namespace {

struct Case {
  int64_t batch, h, w, c, k, pad_h, pad_w, window_h = 3, window_w = 3;
  /* The numbers of the methods that compute it. */
  std::vector<int> Sizes() const {
    const int64_t window = std::max(window_h, window_w);
    if (window == 3 && window_h != window_w) return {4};
    return window == 3 ? std::vector<int>{2, 4, 6} : std::vector<int>{4, 6};
  }
  std::string str() const {
    std::ostringstream s;
    s << window_h << "x" << window_w << " batch " << batch << " data " << h << "x" << w << "x" << c << " filters " << k << " padding "
      << pad_h << "," << pad_w;
    return s.str();
  }
};

std::vector<float> Random(int64_t n, unsigned seed) {
  std::vector<float> v(n);
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  for (float& x : v) x = d(gen);
  return v;
}

/* A convolution with its operands; weights are (K, C, window) or, weight_last, (K, window, C). */
struct Problem {
  ConvCall call;
  std::vector<float> src, dst, weight, bias;
  std::vector<std::unique_ptr<char[]>> blocks;

  Problem(const Case& s, ConvPass pass, bool weight_last) {
    ConvDims& d = call.dims;
    d.batch = s.batch, d.channels = s.c, d.filters = s.k;
    d.in[1] = s.h, d.in[2] = s.w, d.kernel[1] = s.window_h, d.kernel[2] = s.window_w, d.pad[1] = s.pad_h, d.pad[2] = s.pad_w;
    d.out[1] = s.h + 2 * s.pad_h + 1 - s.window_h, d.out[2] = s.w + 2 * s.pad_w + 1 - s.window_w;
    src = Random(d.batch * d.channels * d.InSize(), 1);
    dst = Random(d.batch * d.filters * d.OutSize(), 2);
    weight = Random(d.filters * d.channels * d.KernelSize(), 3);
    bias = Random(d.filters, 4);
    call.pass = pass;
    call.src = {src.data(), true}, call.dst = {dst.data(), true}, call.weight = {weight.data(), weight_last};
    call.weight_input = 1;
  }
  std::function<void*(size_t)> Workspace() {
    return [this](size_t bytes) -> void* {
      blocks.emplace_back(new char[bytes + 64]);
      std::memset(blocks.back().get(), 0x7f, bytes + 64);  // 3.4e38: shows where it is read before it is written
      return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(blocks.back().get()) + 63) & ~uintptr_t{63});
    };
  }
  int64_t WeightAt(int64_t k, int64_t c, int r, int s) const {
    const ConvDims& d = call.dims;
    return call.weight.channels_last ? ((k * d.kernel[1] + r) * d.kernel[2] + s) * d.channels + c
                                     : ((k * d.channels + c) * d.kernel[1] + r) * d.kernel[2] + s;
  }
  double Weight(int64_t k, int64_t c, int r, int s) const { return weight[WeightAt(k, c, r, s)]; }
  std::vector<double> Expected() const {
    const ConvDims& d = call.dims;
    const bool forward = call.pass == ConvPass::kForward;
    std::vector<double> sums(forward ? dst.size() : call.pass == ConvPass::kBackwardData ? src.size() : weight.size(), 0.0);
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t y = 0; y < d.out[1]; ++y)
        for (int64_t x = 0; x < d.out[2]; ++x)
          for (int r = 0; r < d.kernel[1]; ++r)
            for (int s = 0; s < d.kernel[2]; ++s) {
              const int64_t iy = y + r * d.dilate[1] - d.pad[1], ix = x + s * d.dilate[2] - d.pad[2];
              if (iy < 0 || iy >= d.in[1] || ix < 0 || ix >= d.in[2]) continue;
              const int64_t i = ((n * d.in[1] + iy) * d.in[2] + ix) * d.channels, o = ((n * d.out[1] + y) * d.out[2] + x) * d.filters;
              for (int64_t k = 0; k < d.filters; ++k)
                for (int64_t c = 0; c < d.channels; ++c) {
                  if (forward)
                    sums[o + k] += src[i + c] * Weight(k, c, r, s);
                  else if (call.pass == ConvPass::kBackwardData)
                    sums[i + c] += dst[o + k] * Weight(k, c, r, s);
                  else
                    sums[WeightAt(k, c, r, s)] += static_cast<double>(src[i + c]) * dst[o + k];
                }
            }
    return sums;
  }
  std::vector<float> Run(int m, const WinogradEpilogue& e = {}, int weight_bytes = 4) {
    WinogradDims d;
    WinogradFilter f;
    EXPECT_TRUE(WinogradDimsOf(call, m, &d, &f));
    d.weight_bytes = weight_bytes;
    if (call.pass == ConvPass::kBackwardWeights) {
      std::vector<float> grad(weight.size(), NAN);
      WinogradRunWeights(d, src.data(), dst.data(), {grad.data(), f.k, f.c, f.r, f.s}, Workspace());
      return grad;
    }
    std::vector<float> u(WinogradWeightSize(d)), y(d.batch * d.oh * d.ow * d.k, NAN);
    WinogradTransformWeights(d, f, u.data());
    WinogradRun(d, call.pass == ConvPass::kForward ? src.data() : dst.data(), u.data(), e, y.data(), Workspace());
    return y;
  }
};

const Case kCases[] = {
    {1, 8, 8, 16, 16, 1, 1},         {2, 7, 9, 5, 3, 1, 1},           {1, 1, 13, 8, 9, 1, 1},          {3, 5, 5, 17, 33, 0, 0},
    {1, 6, 6, 32, 16, 2, 2},         {2, 14, 14, 24, 40, 1, 1},       {1, 61, 59, 16, 24, 1, 1},       {1, 4, 3, 300, 20, 1, 1},
    {1, 13, 1, 7, 70, 1, 1},         {2, 3, 11, 64, 52, 0, 2},        {5, 29, 31, 33, 17, 1, 0},       {1, 7, 7, 512, 32, 1, 1},
    {3, 19, 33, 40, 40, 1, 1},       {2, 9, 11, 7, 21, 2, 2, 5, 5},   {1, 27, 27, 64, 40, 2, 2, 5, 5}, {3, 6, 5, 33, 17, 0, 0, 5, 5},
    {1, 4, 7, 130, 9, 3, 1, 5, 5},   {1, 35, 35, 48, 64, 2, 2, 5, 5}, {2, 8, 9, 20, 33, 0, 1, 1, 3},   {2, 9, 8, 33, 20, 1, 0, 3, 1},
    {1, 1, 30, 16, 16, 0, 0, 1, 3},  {1, 17, 17, 40, 48, 0, 3, 1, 7}, {2, 17, 17, 48, 40, 3, 0, 7, 1}, {1, 5, 8, 19, 5, 0, 2, 1, 7},
    {1, 61, 59, 16, 24, 3, 0, 7, 1},
};

/* Largest error over largest result: what docs/winograd.md promises. */
double Bound(int m, const Case& s) {
  if (std::max(s.window_h, s.window_w) == 7) return m == 4 ? 1.2e-5 : 2.5e-5;
  return m == 2 ? 2e-6 : m == 4 ? 6e-6 : 4e-5;
}

void ExpectClose(const std::vector<float>& y, const std::vector<double>& expected, int m, const Case& s, const std::string& what = "",
                 double bound = 0) {
  ASSERT_EQ(y.size(), expected.size()) << s.str() << what;
  double worst = 0, scale = 1e-30;
  for (size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::isnan(y[i]) ? 1e30 : std::fabs(y[i] - expected[i]));
    scale = std::max(scale, std::fabs(expected[i]));
  }
  EXPECT_LE(worst, (bound > 0 ? bound : Bound(m, s)) * scale) << "method " << m << ", " << s.str() << what;
}

TEST(Winograd, Forward) {
  bool weight_last = false;
  for (const Case& s : kCases) {
    Problem p(s, ConvPass::kForward, weight_last = !weight_last);
    const std::vector<double> expected = p.Expected();
    for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
      if (level > DetectedCpuLevel()) continue;
      CpuLevelScope cap(level);
      for (int m : s.Sizes()) ExpectClose(p.Run(m), expected, m, s, " level " + std::to_string(static_cast<int>(level)));
    }
  }
}

TEST(Winograd, BackwardData) {
  for (const Case& s : kCases) {
    Problem p(s, ConvPass::kBackwardData, false);
    const std::vector<double> expected = p.Expected();
    for (int m : s.Sizes()) ExpectClose(p.Run(m), expected, m, s);
  }
}

TEST(Winograd, BackwardWeights) {
  bool weight_last = false;
  for (const Case& s : kCases) {
    Problem p(s, ConvPass::kBackwardWeights, weight_last = !weight_last);
    const std::vector<double> expected = p.Expected();
    for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
      if (level > DetectedCpuLevel()) continue;
      CpuLevelScope cap(level);
      for (int m : s.Sizes()) ExpectClose(p.Run(m), expected, m, s);
    }
  }
}

TEST(Winograd, BiasGradient) {
  for (int64_t rows : {1, 5, 63, 1000, 40000}) {
    const std::vector<float> y = Random(rows * 21, 6);
    std::vector<double> expected(21, 0.0);
    for (int64_t i = 0; i < rows; ++i)
      for (int k = 0; k < 21; ++k) expected[k] += y[i * 21 + k];
    std::vector<float> sums(21, NAN), again(21, NAN), block(2 * 64 * 21);
    const auto workspace = [&](size_t bytes) -> void* { return bytes <= block.size() * sizeof(float) ? block.data() : nullptr; };
    WinogradSumRows(y.data(), rows, 21, sums.data(), workspace);
    for (int k = 0; k < 21; ++k) EXPECT_NEAR(sums[k], expected[k], 1e-6 * rows) << rows;
    const int before = SetThreadOmpLimit(1);
    WinogradSumRows(y.data(), rows, 21, again.data(), workspace);
    SetThreadOmpLimit(before);
    EXPECT_EQ(sums, again);
  }
}

TEST(Winograd, BiasSumRelu) {
  for (int m : {2, 4, 6}) {
    Problem p({2, 9, 10, 20, 37, 1, 1}, ConvPass::kForward, false);
    const std::vector<float> plain = p.Run(m), other = Random(static_cast<int64_t>(plain.size()), 5);
    for (int flags = 1; flags < 8; ++flags) {
      WinogradEpilogue e;
      if (flags & 1) e.bias = p.bias.data();
      if (flags & 2) e.addend = other.data();
      e.relu = flags & 4;
      const std::vector<float> y = p.Run(m, e);
      for (size_t i = 0; i < y.size(); ++i) {
        float v = plain[i];
        if (e.bias) v += p.bias[i % 37];
        if (e.addend) v += other[i];
        if (e.relu && v < 0) v = 0;
        ASSERT_NEAR(y[i], v, 1e-5) << m << " " << flags << " " << i;
      }
    }
  }
}

TEST(Winograd, SameBitsForAnyNumberOfThreads) {
  for (const Case& s : {kCases[5], kCases[6], kCases[10], kCases[11]})
    for (int m : {2, 4, 6, -4}) {
      Problem p(s, m < 0 ? ConvPass::kBackwardWeights : ConvPass::kForward, false);
      m = std::abs(m);
      const std::vector<float> all = p.Run(m);
      const int before = SetThreadOmpLimit(1);
      const std::vector<float> one = p.Run(m);
      SetThreadOmpLimit(before);
      EXPECT_EQ(0, std::memcmp(all.data(), one.data(), all.size() * sizeof(float))) << s.str();
    }
}

// Weights of three bytes keep the bound of those of four; two are for bfloat16, whose numbers err
// by 2e-3.
TEST(Winograd, CompactWeights) {
  for (const Case& s : kCases) {
    Problem p(s, ConvPass::kForward, false);
    const std::vector<double> expected = p.Expected();
    for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
      if (level > DetectedCpuLevel()) continue;
      CpuLevelScope cap(level);
      for (int m : s.Sizes()) {
        const std::vector<float> plain = p.Run(m), compact = p.Run(m, {}, 3), half = p.Run(m, {}, 2);
        ExpectClose(compact, expected, m, s, " in 3 bytes, level " + std::to_string(static_cast<int>(level)));
        ExpectClose(half, expected, m, s, " in 2 bytes, level " + std::to_string(static_cast<int>(level)), 2e-3);
        EXPECT_NE(plain, half) << s.str();  // else nothing was compact
      }
    }
    const std::vector<float> all = p.Run(4, {}, 3);
    const int before = SetThreadOmpLimit(1);
    EXPECT_EQ(all, p.Run(4, {}, 3)) << s.str();
    SetThreadOmpLimit(before);
  }
}

// Weights that differ much between channels: integers of one size would leave nothing of the small
// ones, which make all of the result.
// Which filters share a word depends on the level.
template <typename F>
void AtEachLevel(F&& f) {
  for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
    if (level > DetectedCpuLevel()) continue;
    CpuLevelScope cap(level);
    f();
  }
}

void ExpectUnevenWeightsHold() {
  const Case s{1, 14, 14, 40, 48, 1, 1};
  for (float large : {30.f, 1e5f, 1e20f, 1e-25f, 1e-29f}) {
    Problem p(s, ConvPass::kForward, false);
    for (size_t i = 0; i < p.src.size(); i += s.c) p.src[i] = 0;
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t c = 0; c < s.c; ++c)
        for (int i = 0; i < 9; ++i)
          if (c == 0 || large < 1) p.weight[p.WeightAt(k, c, i / 3, i % 3)] *= large;
    for (int64_t k = 20; k < 23; ++k) std::fill_n(p.weight.begin() + p.WeightAt(k, 0, 0, 0), s.c * 9, 0.f);
    const std::vector<double> expected = p.Expected();
    for (int m : {2, 4, 6}) {
      const std::string what = " with weights times " + std::to_string(large);
      ExpectClose(p.Run(m, {}, 3), expected, m, s, what, m == 6 ? 5e-4 : 1e-4);
      const std::vector<float> half = p.Run(m, {}, 2);
      ExpectClose(half, expected, m, s, what, m == 6 ? 1e-1 : 2.5e-2);
      const std::vector<float> three = p.Run(m, {}, 3);
      for (int64_t i = 0; i < s.h * s.w; ++i)
        for (int64_t k = 20; k < 23; ++k) {
          ASSERT_NEAR(half[i * s.k + k], 0, 1e-30) << what;
          ASSERT_NEAR(three[i * s.k + k], 0, 1e-28) << what;
        }
    }
  }
}

TEST(Winograd, CompactWeightsOfDifferentSize) { AtEachLevel(ExpectUnevenWeightsHold); }

void ExpectStrangeWeightsStay() {
  const Case s{1, 9, 9, 20, 40, 1, 1};
  for (float strange : {NAN, INFINITY, -INFINITY})
    for (int bytes : {3, 2}) {
      Problem p(s, ConvPass::kForward, false);
      const std::vector<double> expected = p.Expected();
      p.weight[p.WeightAt(5, 7, 1, 1)] = strange;
      const std::vector<float> y = p.Run(4, {}, bytes);
      for (size_t i = 0; i < y.size(); ++i) {
        if (i % s.k == 5)
          ASSERT_FALSE(std::isfinite(y[i])) << i;
        else
          ASSERT_NEAR(y[i], expected[i], bytes == 3 ? 1e-3 : 0.3) << i;
      }
    }
}

TEST(Winograd, CompactWeightsThatAreNotFinite) { AtEachLevel(ExpectStrangeWeightsStay); }

TEST(Winograd, LargeKeptWeightsAreCompact) {
  WinogradDims small, large;
  small.c = small.k = 64, large.c = large.k = 512;
  small.points = large.points = 6;
  const int64_t small_size = WinogradWeightSize(small), large_size = WinogradWeightSize(large);
  WinogradKeepCompact(3, &small);
  WinogradKeepCompact(3, &large);
  EXPECT_EQ(small_size, WinogradWeightSize(small));
  EXPECT_LT(WinogradWeightSize(large), 0.76 * large_size);
  WinogradKeepCompact(2, &large);
  EXPECT_LT(WinogradWeightSize(large), 0.51 * large_size);
}

// Windows that are dilated see images that lie in each other.
TEST(Winograd, Dilated) {
  const struct {
    Case s;
    int64_t down, across;
  } cases[] = {{{2, 8, 12, 20, 33, 1, 1}, 2, 3}, {{1, 16, 16, 16, 48, 1, 1}, 4, 4}, {{3, 10, 7, 37, 16, 2, 2, 5, 5}, 5, 1}};
  for (const auto& c : cases)
    for (int m : {2, 4, 6}) {
      Problem p(c.s, ConvPass::kForward, false);
      ConvDims& dims = p.call.dims;
      dims.dilate[1] = c.down, dims.dilate[2] = c.across;
      dims.pad[1] *= c.down, dims.pad[2] *= c.across;  // as large a result as before
      WinogradDims d;
      WinogradFilter f;
      if (!WinogradDimsOf(p.call, m, &d, &f)) {
        EXPECT_TRUE(c.s.window_h == 5 && m == 2);
        continue;
      }
      const std::vector<float> added = Random(static_cast<int64_t>(p.dst.size()), 5);
      WinogradEpilogue e;
      e.bias = p.bias.data(), e.addend = added.data();
      std::vector<double> want = p.Expected();
      double largest = 0, error = 0;
      for (size_t i = 0; i < want.size(); ++i) want[i] += p.bias[i % c.s.k] + added[i], largest = std::max(largest, std::fabs(want[i]));
      const std::vector<float> got = p.Run(m, e);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) error = std::max(error, std::fabs(got[i] - want[i]));
      EXPECT_LE(error, Bound(m, c.s) * largest) << c.down << 'x' << c.across << ", tiles of " << m;
    }
}

TEST(Winograd, DilatedNotTaken) {
  WinogradDims d;
  WinogradFilter f;
  auto taken = [&](int64_t size, int64_t pad, ConvPass pass) {
    Problem p(Case{1, size, size, 16, 16, 1, 1}, pass, false);
    p.call.dims.dilate[1] = p.call.dims.dilate[2] = 2;
    p.call.dims.pad[1] = p.call.dims.pad[2] = pad;
    return WinogradDimsOf(p.call, 4, &d, &f);
  };
  EXPECT_TRUE(taken(8, 2, ConvPass::kForward));
  EXPECT_FALSE(taken(9, 2, ConvPass::kForward));
  EXPECT_FALSE(taken(8, 1, ConvPass::kForward));
  EXPECT_FALSE(taken(8, 2, ConvPass::kBackwardData));
  EXPECT_FALSE(taken(8, 2, ConvPass::kBackwardWeights));
}

TEST(Winograd, NotTaken) {
  const Case s{1, 8, 8, 16, 16, 1, 1};
  WinogradDims d;
  WinogradFilter f;
  auto taken = [&](const std::function<void(ConvCall*)>& change) {
    Problem p(s, ConvPass::kForward, false);
    change(&p.call);
    return WinogradDimsOf(p.call, 4, &d, &f);
  };
  EXPECT_TRUE(taken([](ConvCall*) {}));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.stride[1] = 2; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.dilate[2] = 2; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.groups = 2; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[1] = 5; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[0] = 3; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[1] = c->dims.kernel[2] = 7; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[1] = c->dims.kernel[2] = 1; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->src.channels_last = false; }));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dtype = kFloat64; }));
}

TEST(Winograd, RuleAndMeasurementChoose) {
  Problem large({1, 56, 56, 64, 64, 1, 1}, ConvPass::kForward, false), small({1, 6, 6, 16, 16, 1, 1}, ConvPass::kForward, false);
  EXPECT_EQ(4, static_cast<int>(MethodByRule(large.call, true)));
  EXPECT_EQ(ConvMethod::kPacked, MethodByRule(small.call, true));
  const ConvMethod tiny = MethodByMeasurement(small.call, true), first = MethodByMeasurement(large.call, true);
  EXPECT_TRUE(tiny == ConvMethod::kLibrary || tiny == ConvMethod::kPacked);  // too small for tiles
  EXPECT_NE(ConvMethod::kDepthwise, first);
  EXPECT_EQ(first, MethodByMeasurement(large.call, true));
}

// Weights of 4x4 tiles that come from memory take as long as smaller tiles, unless many pixels read
// them; these hold less.
TEST(Winograd, LargeWeightsOfFewPixelsHaveSmallTiles) {
  const auto chosen = [](int64_t size, int64_t channels) {
    return static_cast<int>(MethodByRule(Problem({1, size, size, channels, channels, 1, 1}, ConvPass::kForward, false).call, true));
  };
  EXPECT_EQ(2, chosen(14, 512));
  EXPECT_EQ(2, chosen(16, 512));
  EXPECT_EQ(4, chosen(28, 512));
  EXPECT_EQ(4, chosen(14, 256));
}

// Nobody waits for trials of narrow groups where the library is known to be faster.
TEST(Winograd, NarrowGroupsByRule) {
  static int library_calls;
  struct Replaced {
    const Hooks before = g_hooks;
    Replaced() {
      g_hooks.convolution = [](KernelArgs&, const ConvCall&) { return ++library_calls, true; };
    }
    ~Replaced() { g_hooks = before; }
  } replaced;
  Problem p({1, 28, 28, 64, 64, 1, 1}, ConvPass::kForward, false);
  for (int64_t width : {8, 16}) {
    p.call.dims.groups = 64 / width;
    for (CpuLevel level : std::set<CpuLevel>{CpuLevel::kV3, DetectedCpuLevel()}) {  // a second trial would know the first
      CpuLevelScope cap(level);
      const bool known = width == 8 && CurrentCpuLevel() >= CpuLevel::kV4;
      library_calls = 0;
      EXPECT_EQ(known ? ConvMethod::kLibrary : ConvMethod::kPacked, MethodByRule(p.call, true)) << width;
      EXPECT_EQ(0, library_calls);
      MethodByMeasurement(p.call, true);
      EXPECT_EQ(known, library_calls == 0) << width;
    }
  }
}

// With whole vectors nobody waits for trials, in training either, and every process chooses alike.
TEST(Winograd, RuleDecidesInTraining) {
  static int library_calls;
  struct Replaced {
    const Hooks before = g_hooks;
    Replaced() {
      library_calls = 0;
      g_hooks.convolution = [](KernelArgs&, const ConvCall&) { return ++library_calls, true; };
    }
    ~Replaced() { g_hooks = before; }
  } replaced;
  for (ConvPass pass : {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights}) {
    Problem p({2, 40, 41, 48, 80, 1, 1}, pass, false);
    for (CpuLevel level : {CpuLevel::kV2, DetectedCpuLevel()}) {
      CpuLevelScope cap(level);
      library_calls = 0;
      const ConvMethod chosen = MethodByMeasurement(p.call, false);
      if (pass != ConvPass::kBackwardWeights) {  // there products of our own take the library's place
        EXPECT_EQ(level >= CpuLevel::kV3, library_calls == 0);
      }
      if (level >= CpuLevel::kV3) {
        EXPECT_EQ(ConvMethod::kWinograd4, chosen);
      }
    }
  }
  EXPECT_EQ(6, static_cast<int>(MethodByRule(Problem({1, 224, 224, 64, 64, 1, 1}, ConvPass::kForward, false).call, false)));
  EXPECT_EQ(4, static_cast<int>(
                   MethodByRule(Problem({1, 224, 224, 64, 64, 1, 1}, ConvPass::kBackwardWeights, false).call, false)));  // 6x6 loses there
  EXPECT_EQ(2, static_cast<int>(MethodByRule(Problem({16, 7, 7, 512, 512, 1, 1}, ConvPass::kBackwardWeights, false).call,
                                             false)));  // its sums come from memory
  const auto pointwise = [](int64_t channels, int64_t filters, int64_t size) {
    return MethodByRule(Problem({1, size, size, channels, filters, 0, 0, 1, 1}, ConvPass::kForward, false).call, false);
  };
  EXPECT_EQ(ConvMethod::kPacked, pointwise(256, 64, 56));
  EXPECT_EQ(ConvMethod::kPacked, pointwise(2048, 512, 10));
  EXPECT_EQ(ConvMethod::kLibrary, pointwise(16, 96, 56));  // packing would take longer than it saves
  EXPECT_EQ(ConvMethod::kLibrary, pointwise(256, 64, 7));
  g_hooks.convolution = nullptr;  // without the library, kernels that can compute it do
  EXPECT_EQ(ConvMethod::kPacked, pointwise(16, 96, 56));
}

// As a plan calls it: transformed weights are kept in the node's state as long as the version
// stays.
TEST(Winograd, WeightsOfAPlan) {
  Env::Set("MXNET_ENFORCE_DETERMINISM", "1");
  const Case s{1, 28, 28, 64, 32, 1, 1};
  Problem p(s, ConvPass::kForward, false);
  std::shared_ptr<OpState> state;
  uint64_t versions[] = {1, 1};
  KernelArgs args;
  args.state = &state;
  args.in_versions = Span<const uint64_t>(versions, 2);
  args.workspace = p.Workspace();
  ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
  EXPECT_TRUE(state);
  const std::vector<float> first = p.dst;
  ExpectClose(first, p.Expected(), 4, s);
  for (float& w : p.weight) w = -w;
  ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
  EXPECT_EQ(first, p.dst);  // the version says: unchanged
  versions[1] = 2;
  ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
  ExpectClose(p.dst, p.Expected(), 4, s);
  for (float& w : p.weight) w *= 2;
  args.is_train = true;  // then nothing is kept
  ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
  ExpectClose(p.dst, p.Expected(), 4, s);
  Env::Set("MXNET_CPU_ALLOW_WINOGRAD", "0");
  EXPECT_EQ(ConvMethod::kPacked, MethodByRule(p.call, true));
  Env::Set("MXNET_CPU_ALLOW_WINOGRAD", "");
  Env::Set("MXNET_ENFORCE_DETERMINISM", "");
}

}  // namespace
}  // namespace nn
}  // namespace mxnet
