// Packed and depthwise convolutions and dense layers against sums in float64: windows, borders,
// remainders, epilogues, instruction sets, threads, plans.
#include "operator/nn/cpu_gemm/packed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/threads/omp.h"
#include "cpu_levels.h"
#include "mxnet/env.h"
#include "operator/nn/common/epilogue.h"

namespace mxnet {
namespace nn {
namespace {

std::vector<float> Random(int64_t n, unsigned seed) {
  std::vector<float> v(n);
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  for (float& x : v) x = d(gen);
  return v;
}

struct Case {
  int64_t batch, h, w, c, k, kh, kw, stride_h, stride_w, pad_h, pad_w, dilate;
};

/* A convolution with its operands in memory of exactly their size, so that a sanitizer sees what is
 * read beyond. */
struct Problem {
  ConvCall call;
  std::vector<float> src, dst, weight, bias, addend;
  std::vector<std::vector<char>> blocks;

  Problem(const Case& s, int64_t groups, bool weight_last) {
    ConvDims& d = call.dims;
    d.batch = s.batch, d.channels = s.c, d.filters = s.k, d.groups = groups;
    d.in[1] = s.h, d.in[2] = s.w, d.kernel[1] = s.kh, d.kernel[2] = s.kw, d.stride[1] = s.stride_h, d.stride[2] = s.stride_w;
    d.pad[1] = s.pad_h, d.pad[2] = s.pad_w, d.dilate[1] = d.dilate[2] = s.dilate;
    for (int i = 1; i < 3; ++i) d.out[i] = (d.in[i] + 2 * d.pad[i] - d.dilate[i] * (d.kernel[i] - 1) - 1) / d.stride[i] + 1;
    src = Random(d.batch * d.channels * d.InSize(), 1);
    dst.assign(d.batch * d.filters * d.OutSize(), NAN);
    weight = Random(d.filters * (d.channels / groups) * d.KernelSize(), 3);
    bias = Random(d.filters, 4);
    addend = Random(static_cast<int64_t>(dst.size()), 5);
    call.src = {src.data(), true}, call.dst = {dst.data(), true}, call.weight = {weight.data(), weight_last};
    call.weight_input = 1;
  }
  WorkspaceFn Workspace() {
    return [this](size_t bytes) -> void* {
      blocks.emplace_back(bytes, 0x7f);
      return blocks.back().data();
    };
  }
  std::string str() const {
    const ConvDims& d = call.dims;
    std::ostringstream s;
    s << "batch " << d.batch << " data " << d.in[1] << "x" << d.in[2] << "x" << d.channels << " filters " << d.filters << " window "
      << d.kernel[1] << "x" << d.kernel[2] << " stride " << d.stride[1] << "," << d.stride[2] << " pad " << d.pad[1] << "," << d.pad[2]
      << " dilate " << d.dilate[1] << " groups " << d.groups;
    return s.str();
  }
  std::vector<double> Sums() const {
    const ConvDims& d = call.dims;
    const int64_t cg = d.channels / d.groups, kg = d.filters / d.groups;
    std::vector<double> sums(dst.size(), 0.0);
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t y = 0; y < d.out[1]; ++y)
        for (int64_t x = 0; x < d.out[2]; ++x)
          for (int64_t r = 0; r < d.kernel[1]; ++r)
            for (int64_t s = 0; s < d.kernel[2]; ++s) {
              const int64_t iy = y * d.stride[1] - d.pad[1] + r * d.dilate[1], ix = x * d.stride[2] - d.pad[2] + s * d.dilate[2];
              if (iy < 0 || iy >= d.in[1] || ix < 0 || ix >= d.in[2]) continue;
              const int64_t i = ((n * d.in[1] + iy) * d.in[2] + ix) * d.channels, o = ((n * d.out[1] + y) * d.out[2] + x) * d.filters;
              for (int64_t k = 0; k < d.filters; ++k)
                for (int64_t c = 0; c < cg; ++c) {
                  const int64_t at = call.weight.channels_last ? ((k * d.kernel[1] + r) * d.kernel[2] + s) * cg + c
                                                               : ((k * cg + c) * d.kernel[1] + r) * d.kernel[2] + s;
                  sums[o + k] += static_cast<double>(src[i + k / kg * cg + c]) * weight[at];
                }
            }
    return sums;
  }
  void Run(const float* added) {
    if (call.dims.groups > 1 && call.dims.groups == call.dims.filters) {
      std::vector<float> packed(DepthwiseSize(call));
      PackDepthwise(call, packed.data());
      DepthwiseRun(call, packed.data(), added);
    } else {
      std::vector<float> packed(PackedSize(call));
      PackWeights(call, packed.data());
      PackedRun(call, packed.data(), added, Workspace());
    }
  }
};

const float kInf = std::numeric_limits<float>::infinity();
const EpilogueOp kEpilogues[] = {{}, {EpilogueKind::kRelu}, {EpilogueKind::kClip, 0.f, 0.4f}, {EpilogueKind::kTanh}};

double Post(const EpilogueOp& p, double v) {
  switch (p.kind) {
    case EpilogueKind::kRelu: return v < 0 ? 0 : v;
    case EpilogueKind::kClip: return std::min<double>(std::max<double>(v, p.a), p.b);
    case EpilogueKind::kTanh: return std::tanh(v);
    default: return v;
  }
}

/* Sums of float32 in order: an error of about sqrt(terms) roundings; 1e-6 of the largest possible
 * sum's root is generous. */
void Check(Problem* p, const std::vector<double>& sums) {
  const ConvDims& d = p->call.dims;
  const double terms = static_cast<double>(d.channels / d.groups * d.KernelSize()), bound = 1e-6 * (2 + std::sqrt(terms) * 2);
  int variant = 0;
  for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
    if (level > DetectedCpuLevel()) continue;
    CpuLevelScope cap(level);
    for (const EpilogueOp& post : kEpilogues) {
      const bool bias = ++variant % 2, add = variant / 2 % 2 && (d.groups < d.filters || d.groups == 1 || DepthwiseTakes(p->call, true)),
                 inplace = variant / 4 % 2;
      p->call.bias = bias ? p->bias.data() : nullptr;
      p->call.post = post;
      p->dst.assign(p->dst.size(), NAN);
      if (add && inplace) p->dst = p->addend;
      p->Run(!add ? nullptr : inplace ? p->dst.data() : p->addend.data());
      for (size_t i = 0; i < sums.size(); ++i) {
        const double expected = Post(post, sums[i] + (bias ? p->bias[i % d.filters] : 0.f) + (add ? p->addend[i] : 0.f));
        ASSERT_NEAR(p->dst[i], expected, bound) << p->str() << " at " << i << " level " << static_cast<int>(level) << " post "
                                                << EpilogueText(post) << " bias " << bias << " add " << add;
      }
    }
  }
}

TEST(Packed, Convolution) {
  const Case cases[] = {
      {1, 7, 7, 16, 16, 1, 1, 1, 1, 0, 0, 1},
      {2, 5, 9, 24, 40, 1, 1, 1, 1, 0, 0, 1},
      {1, 1, 1, 33, 7, 1, 1, 1, 1, 0, 0, 1},
      {1, 14, 15, 5, 1, 1, 1, 1, 1, 0, 0, 1},
      {1, 9, 9, 20, 24, 1, 1, 2, 2, 0, 0, 1},
      {2, 8, 7, 17, 33, 1, 1, 2, 3, 1, 1, 1},
      {1, 10, 9, 16, 8, 3, 3, 1, 1, 1, 1, 1},
      {2, 11, 8, 9, 31, 3, 3, 2, 2, 1, 1, 1},
      {1, 12, 13, 3, 17, 3, 3, 2, 2, 1, 1, 1},
      {1, 23, 25, 3, 64, 7, 7, 2, 2, 3, 3, 1},
      {1, 31, 29, 3, 48, 11, 11, 4, 4, 2, 2, 1},
      {1, 9, 10, 12, 19, 1, 7, 1, 1, 0, 3, 1},
      {1, 10, 9, 12, 19, 7, 1, 1, 1, 3, 0, 1},
      {1, 13, 11, 8, 50, 5, 5, 1, 1, 2, 2, 1},
      {1, 13, 11, 10, 16, 3, 3, 1, 1, 2, 2, 2},
      {1, 9, 9, 4, 10, 3, 3, 1, 1, 0, 0, 1},
      {1, 6, 6, 2, 9, 3, 3, 1, 1, 2, 2, 1},
      {1, 19, 21, 16, 100, 3, 3, 3, 1, 0, 1, 1},
      {3, 4, 4, 700, 70, 1, 1, 1, 1, 0, 0, 1},
      {1, 4, 5, 1, 3, 2, 2, 1, 1, 1, 0, 1},
      // rows a page apart, which are copied with AVX-512: more pixels than fit at once, strided
      // ones, windows with borders and lines of windows
      {1, 15, 15, 1024, 64, 1, 1, 1, 1, 0, 0, 1},
      {1, 9, 9, 512, 70, 1, 1, 2, 2, 0, 0, 1},
      {1, 25, 41, 128, 64, 3, 3, 8, 8, 1, 1, 1},
      {1, 25, 43, 128, 64, 3, 3, 8, 8, 0, 0, 1},
  };
  bool weight_last = false;
  for (const Case& s : cases) {
    Problem p(s, 1, weight_last = !weight_last);
    ASSERT_TRUE(PackedTakes(p.call)) << p.str();
    Check(&p, p.Sums());
  }
}

// Groups that share a vector of filters, fill it, or are wider; filters and channels of other
// numbers.
TEST(Packed, Groups) {
  struct Groups {
    int64_t groups, c, k;
  };
  for (const Groups& s :
       {Groups{8, 4, 4}, {3, 4, 4}, {4, 8, 8}, {2, 16, 16}, {3, 20, 24}, {6, 5, 2}, {2, 7, 33}, {16, 1, 2}, {5, 2, 3}, {4, 3, 40}})
    for (const Case& w : {Case{2, 9, 8, 0, 0, 3, 3, 1, 1, 1, 1, 1},
                          {1, 11, 10, 0, 0, 1, 1, 2, 2, 0, 0, 1},
                          {1, 8, 12, 0, 0, 5, 3, 2, 1, 2, 0, 1},
                          {1, 9, 9, 0, 0, 3, 3, 1, 1, 2, 2, 2}}) {
      Case both = w;
      both.c = s.groups * s.c, both.k = s.groups * s.k;
      Problem p(both, s.groups, s.c % 2);
      ASSERT_TRUE(PackedTakes(p.call)) << p.str();
      Check(&p, p.Sums());
    }
}

TEST(Packed, Depthwise) {
  for (int64_t taps : {3, 5, 7}) {
    int taken = 0;
    for (int64_t stride : {1, 2})
      for (int64_t pad = 0; pad <= taps / 2; ++pad)
        for (int64_t c : {16, 24, 37, 64, 130})
          for (int64_t w : {3, 4, 5, 7, 14}) {
            if (w + 2 * pad < taps) continue;
            Problem p({2, w + 1, w, c, c, taps, taps, stride, stride, pad, pad, 1}, c, c % 2 == 0);
            if (!DepthwiseTakes(p.call, false)) continue;
            Check(&p, p.Sums());
            ++taken;
          }
    EXPECT_GT(taken, 30) << taps;
  }
}

// An image whose channels are apart is put in order while its border is added.
TEST(Packed, Planes) {
  const Case cases[] = {{1, 12, 13, 3, 17, 3, 3, 2, 2, 1, 1, 1},   {2, 23, 25, 3, 64, 7, 7, 2, 2, 3, 3, 1},
                        {1, 31, 29, 3, 48, 11, 11, 4, 4, 2, 2, 1}, {2, 9, 10, 4, 10, 3, 3, 1, 1, 0, 0, 1},
                        {1, 6, 7, 2, 9, 3, 3, 1, 1, 2, 2, 1},      {1, 8, 8, 7, 20, 2, 5, 1, 3, 1, 0, 1},
                        {1, 9, 5, 5, 16, 5, 3, 2, 1, 2, 1, 1},     {3, 6, 9, 6, 8, 1, 3, 1, 2, 0, 1, 1}};
  for (const Case& s : cases) {
    Problem p(s, 1, s.c % 2);
    const std::vector<double> sums = p.Sums();
    const ConvDims& d = p.call.dims;
    std::vector<float> planes(p.src.size());
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t i = 0; i < d.InSize(); ++i)
        for (int64_t c = 0; c < d.channels; ++c)
          planes[(n * d.channels + c) * d.InSize() + i] = p.src[(n * d.InSize() + i) * d.channels + c];
    p.call.src = {planes.data(), false};
    ASSERT_TRUE(PackedTakes(p.call)) << p.str();
    Check(&p, sums);
  }
}

// The 1x1 convolution and the depthwise one behind it in one pass, divided by lines and by
// channels.
TEST(Packed, ExpandDepthwise) {
  struct Pair {
    int64_t batch, h, w, c, filters, stride, pad;
  };
  const Pair pairs[] = {{1, 7, 7, 20, 48, 1, 1},  {2, 5, 6, 3, 16, 1, 1},   {1, 14, 14, 33, 80, 2, 1}, {3, 9, 8, 16, 32, 2, 1},
                        {1, 3, 3, 8, 112, 1, 0},  {1, 61, 45, 5, 32, 1, 1}, {2, 64, 33, 7, 48, 2, 1},  {1, 112, 112, 3, 16, 1, 1},
                        {1, 40, 90, 2, 64, 2, 0}, {1, 1, 9, 4, 16, 1, 1},   {1, 4, 300, 2, 32, 1, 1},  {2, 30, 2, 9, 96, 1, 1}};
  int variant = 0;
  for (const Pair& s : pairs) {
    Problem a({s.batch, s.h, s.w, s.c, s.filters, 1, 1, 1, 1, 0, 0, 1}, 1, true),
        b({s.batch, s.h, s.w, s.filters, s.filters, 3, 3, s.stride, s.stride, s.pad, s.pad, 1}, s.filters, true);
    const std::vector<double> expanded = a.Sums();
    for (const EpilogueOp& post : {kEpilogues[0], kEpilogues[1], kEpilogues[2]}) {
      const bool bias = ++variant % 2;
      a.call.bias = bias ? a.bias.data() : nullptr, a.call.post = post;
      b.call.bias = bias ? nullptr : b.bias.data(), b.call.post = kEpilogues[variant % 3];
      for (size_t i = 0; i < expanded.size(); ++i)
        b.src[i] = static_cast<float>(Post(post, expanded[i] + (bias ? a.bias[i % s.filters] : 0.f)));
      const std::vector<double> sums = b.Sums();
      for (CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
        if (level > DetectedCpuLevel()) continue;
        CpuLevelScope cap(level);
        ASSERT_TRUE(ExpandDepthwiseTakes(a.call, b.call)) << b.str();
        std::vector<float> packed(PackedSize(a.call)), packed_depthwise(DepthwiseSize(b.call)), first;
        PackWeights(a.call, packed.data());
        PackDepthwise(b.call, packed_depthwise.data());
        for (int threads : {0, 1, 2, 3}) {
          b.dst.assign(b.dst.size(), NAN);
          const int before = SetThreadOmpLimit(threads);
          ExpandDepthwiseRun(a.call, b.call, packed.data(), packed_depthwise.data(), b.Workspace());
          SetThreadOmpLimit(before);
          if (first.empty()) first = b.dst;
          ASSERT_EQ(0, std::memcmp(first.data(), b.dst.data(), first.size() * sizeof(float))) << b.str() << " threads " << threads;
        }
        for (size_t i = 0; i < sums.size(); ++i)
          ASSERT_NEAR(b.dst[i], Post(b.call.post, sums[i] + (bias ? 0.f : b.bias[i % s.filters])), 1e-5 + 3e-6 * std::sqrt(s.c))
              << b.str() << " at " << i << " level " << static_cast<int>(level);
      }
    }
  }
  Problem a({1, 5, 5, 8, 24, 1, 1, 1, 1, 0, 0, 1}, 1, true), b({1, 5, 5, 24, 24, 3, 3, 1, 1, 1, 1, 1}, 24, true);
  EXPECT_TRUE(ExpandDepthwiseTakes(a.call, b.call) == (CurrentCpuLevel() != CpuLevel::kV4));  // whole vectors
  a.call.post = {EpilogueKind::kTanh};
  EXPECT_FALSE(ExpandDepthwiseTakes(a.call, b.call));
}

TEST(Packed, Dense) {
  for (int64_t m : {1, 6, 13, 100})
    for (int64_t n : {1, 8, 24, 70})
      for (int64_t k : {1, 16, 83, 1024}) {
        const auto x = Random(m * k, 1), w = Random(n * k, 2), b = Random(n, 3), a = Random(m * n, 4);
        std::vector<float> y(m * n, NAN), packed(PackedDenseSize(n, k));
        PackDense(w.data(), n, k, packed.data());
        DenseCall call;
        call.m = m, call.n = n, call.k = k, call.data = x.data(), call.bias = b.data(), call.out = y.data(),
        call.post = {EpilogueKind::kLeaky, 0.25f};
        std::vector<std::vector<char>> blocks;
        PackedDense(call, packed.data(), a.data(), [&](size_t bytes) { return blocks.emplace_back(bytes, 0x7f).data(); });
        for (int64_t i = 0; i < m * n; ++i) {
          double sum = b[i % n] + static_cast<double>(a[i]);
          for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(x[i / n * k + l]) * w[i % n * k + l];
          ASSERT_NEAR(y[i], sum < 0 ? 0.25 * sum : sum, k > 100 ? 7e-5 : 2e-5) << m << ' ' << n << ' ' << k << " at " << i;
        }
      }
}

// Sums of many rows and elements are taken in parts, in the same order: a row's are those of the
// row alone, which has no parts, also where the last filters fill no vector, where the addend is
// the result, and where the data is not finite.
TEST(Packed, DeepSumsInParts) {
  const int64_t m = 45, n = 150, k = 5001;
  auto x = Random(m * k, 1);
  const auto w = Random(n * k, 2), b = Random(n, 3), a = Random(m * n, 4);
  x[3 * k + 4000] = NAN;
  std::vector<float> packed(PackedDenseSize(n, k));
  PackDense(w.data(), n, k, packed.data());
  const auto run = [&](int64_t first, int64_t rows, bool bounded, const float* addend, float* y) {
    DenseCall call;
    call.m = rows, call.n = n, call.k = k, call.data = x.data() + first * k, call.bias = b.data(), call.out = y;
    if (bounded) call.post = {EpilogueKind::kRelu};
    std::vector<std::vector<char>> blocks;
    PackedDense(call, packed.data(), addend, [&](size_t bytes) { return blocks.emplace_back(bytes, 0x7f).data(); });
  };
  for (const bool bounded : {false, true}) {
    std::vector<float> alone(m * n, NAN);
    for (int64_t i = 0; i < m; ++i) run(i, 1, bounded, a.data() + i * n, alone.data() + i * n);
    for (const bool over : {false, true}) {
      std::vector<float> y = over ? a : std::vector<float>(m * n, NAN);
      run(0, m, bounded, over ? y.data() : a.data(), y.data());
      EXPECT_EQ(0, std::memcmp(alone.data(), y.data(), y.size() * sizeof(float))) << bounded << over;
    }
    double sum = b[7] + static_cast<double>(a[5 * n + 7]);
    for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(x[5 * k + l]) * w[7 * k + l];
    EXPECT_NEAR(alone[5 * n + 7], bounded ? std::max(sum, 0.) : sum, 2e-4);
    EXPECT_TRUE(std::isnan(alone[3 * n])) << bounded;
  }
}

TEST(Packed, SameBitsForAnyNumberOfThreads) {
  const Case cases[] = {{1, 40, 40, 32, 48, 1, 1, 1, 1, 0, 0, 1},
                        {1, 7, 7, 160, 960, 1, 1, 1, 1, 0, 0, 1},
                        {1, 40, 41, 3, 40, 3, 3, 2, 2, 1, 1, 1},
                        {1, 30, 30, 64, 64, 3, 3, 1, 1, 1, 1, 1}};
  for (const Case& s : cases)
    for (int64_t groups : {1, 64}) {
      if (groups > 1 && s.c != 64) continue;
      Problem p(s, groups, true);
      p.Run(nullptr);
      const std::vector<float> all = p.dst;
      for (int threads : {1, 3}) {
        const int before = SetThreadOmpLimit(threads);
        p.Run(nullptr);
        SetThreadOmpLimit(before);
        EXPECT_EQ(0, std::memcmp(all.data(), p.dst.data(), all.size() * sizeof(float))) << p.str() << " threads " << threads;
      }
    }
}

// NaN passes relu and clip, zero times what lies outside is zero, an infinite element reaches its
// own window only.
TEST(Packed, NotFinite) {
  Problem p({1, 5, 5, 16, 16, 3, 3, 1, 1, 1, 1, 1}, 1, true), q({1, 5, 5, 16, 16, 3, 3, 1, 1, 1, 1, 1}, 16, true);
  for (Problem* one : {&p, &q}) {
    one->src[0] = NAN;
    one->src[one->src.size() - 1] = kInf;
    one->call.post = {EpilogueKind::kRelu};
    one->Run(nullptr);
    EXPECT_TRUE(std::isnan(one->dst[0]));
    EXPECT_TRUE(std::isfinite(one->dst[2 * 16]));
    EXPECT_TRUE(std::isfinite(one->dst[2 * 5 * 16 + 15]));
  }
}

TEST(Packed, NotTaken) {
  auto taken = [](const std::function<void(ConvCall*)>& change, int64_t groups) {
    Problem p({1, 8, 8, 16, 16, 3, 3, 1, 1, 1, 1, 1}, groups, true);
    change(&p.call);
    return groups > 1 ? DepthwiseTakes(p.call, false) : PackedTakes(p.call);
  };
  for (int64_t groups : {1, 16}) {
    EXPECT_TRUE(taken([](ConvCall*) {}, groups));
    EXPECT_FALSE(taken([](ConvCall* c) { c->dtype = kFloat64; }, groups));
    EXPECT_FALSE(taken([](ConvCall* c) { c->src.channels_last = false; }, groups));  // too many channels to be put in order
    EXPECT_FALSE(taken([](ConvCall* c) { c->dst.channels_last = false; }, groups));
    EXPECT_FALSE(taken([](ConvCall* c) { c->pass = ConvPass::kBackwardData; }, groups));
    EXPECT_EQ(groups == 1, taken([](ConvCall* c) { c->dims.groups = 2; }, groups));
    EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[0] = 3; }, groups));
  }
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.stride[1] = 3; }, 16));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.dilate[1] = 2; }, 16));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[1] = 5; }, 16));
  EXPECT_FALSE(taken([](ConvCall* c) { c->dims.kernel[1] = c->dims.kernel[2] = 9; }, 16));
}

// As a plan calls it: packed weights are kept in the node's state as long as the version stays.
TEST(Packed, WeightsOfAPlan) {
  Env::Set("MXNET_ENFORCE_DETERMINISM", "1");
  for (int64_t groups : {1, 32}) {
    Problem p({1, 9, 9, 32, 32, 3, 3, 2, 2, 1, 1, 1}, groups, false);
    std::shared_ptr<OpState> state;
    uint64_t versions[] = {1, 1};
    KernelArgs args;
    args.state = &state;
    args.in_versions = Span<const uint64_t>(versions, 2);
    args.workspace = p.Workspace();
    const auto expect = [&] {
      const std::vector<double> sums = p.Sums();
      for (size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(p.dst[i], sums[i], 5e-5) << i;
    };
    EXPECT_EQ(groups > 1 ? ConvMethod::kDepthwise : ConvMethod::kPacked, MethodByRule(p.call, true));
    ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
    EXPECT_TRUE(state);
    expect();
    const std::vector<float> first = p.dst;
    for (float& w : p.weight) w = -w;
    ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
    EXPECT_EQ(first, p.dst);  // the version says: unchanged
    versions[1] = 2;
    ASSERT_TRUE(NativeConvolution(args, p.call, nullptr));
    expect();
    args.state = nullptr;  // an eager call
    EXPECT_FALSE(NativeConvolution(args, p.call, nullptr));
  }
  Env::Set("MXNET_ENFORCE_DETERMINISM", "");
}

}  // namespace
}  // namespace nn
}  // namespace mxnet
