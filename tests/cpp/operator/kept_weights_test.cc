// Weights kept in nodes' states: made once per version, one copy of what is equal.
#include "operator/nn/common/kept_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/half.h"
#include "base/huge_pages.h"
#include "common/huge_at.h"
#include "mxnet/node.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace nn {
namespace {

/* A node of an inference plan with one parameter. */
struct Node {
  std::shared_ptr<OpState> state;
  uint64_t version = 1;
  std::vector<float> weights;
  int made = 0;

  explicit Node(std::vector<float> w) : weights(std::move(w)) {}
  const float* Kept(uint64_t form = 7) {
    KernelArgs args;
    args.state = &state;
    args.in_versions = Span<const uint64_t>(&version, 1);
    return KeptWeights(args, 0, weights.data(), form, static_cast<int64_t>(weights.size()), [&](float* to) {
      ++made;
      for (size_t i = 0; i < weights.size(); ++i) to[i] = weights[i] * static_cast<float>(form);
    });
  }
};

std::vector<float> Numbers(size_t n, float first) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = first + static_cast<float>(i);
  return v;
}

TEST(KeptWeights, EqualOnesAreOne) {
  for (size_t n : {1, 7, 8, 1000, 40001}) {
    Node a(Numbers(n, 1)), b(Numbers(n, 1)), c(Numbers(n, 1));
    c.weights.back() += 1;
    EXPECT_EQ(a.Kept(), b.Kept()) << n;
    EXPECT_NE(a.Kept(), c.Kept()) << n;
    EXPECT_EQ(c.weights.back() * 7, c.Kept()[n - 1]);
    EXPECT_NE(a.Kept(7), b.Kept(8));
    EXPECT_EQ(a.weights[0] * 8, b.Kept(8)[0]);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(a.Kept()) % 64);
  }
}

TEST(KeptWeights, MadeAgainForANewVersionAlone) {
  Node a(Numbers(500, 1)), b(Numbers(500, 1));
  const float *first = a.Kept(), *other = b.Kept();
  a.weights[3] = -9;
  EXPECT_EQ(first, a.Kept());
  EXPECT_EQ(1, a.made);
  a.version = 2;
  EXPECT_EQ(-63.f, a.Kept()[3]);
  EXPECT_EQ(2, a.made);
  EXPECT_EQ(4.f * 7, other[3]);  // b's copy has not changed
  EXPECT_EQ(other, b.Kept());
  EXPECT_EQ(1, b.made);
}

TEST(KeptWeights, SmallPagesBecomeHugeWhileTheyAreUsed) {
  AssumeSlowPages(1 << 20);
  Node a(Numbers((24 << 20) / sizeof(float), 1));
  const float* const kept = a.Kept();
  AssumeSlowPages(0);
  const char* const middle = reinterpret_cast<const char*>(kept) + (12 << 20);
  EXPECT_LE(HugeAt(middle), 0);
  if (!HugePagesExist()) GTEST_SKIP() << "this system makes no huge pages";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (HugeAt(middle) <= 0 && std::chrono::steady_clock::now() < end) {
    EXPECT_EQ(kept, a.Kept());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(HugeAt(middle), 0);
  for (size_t i = 0; i < a.weights.size(); i += 4093) ASSERT_EQ(a.weights[i] * 7, kept[i]);
  EXPECT_EQ(1, a.made);
}

TEST(KeptWeights, StayUntilTheyHaveAnotherVersion) {
  Node a(Numbers(500, 1));
  const auto stay = [&a] {
    KernelArgs args;
    args.state = &a.state;
    args.in_versions = Span<const uint64_t>(&a.version, 1);
    return WeightsStay(args, 0);
  };
  EXPECT_TRUE(stay());
  a.Kept();
  EXPECT_TRUE(stay());
  a.version = 2;
  EXPECT_FALSE(stay());
  EXPECT_FALSE(stay());
  a.version = 3;
  EXPECT_FALSE(stay());
}

TEST(KeptWeights, SharedAsLongAsSomebodyHoldsThem) {
  auto a = std::make_unique<Node>(Numbers(5000, 3));
  Node b(Numbers(5000, 3));
  a->Kept();
  const float* kept = b.Kept();
  a.reset();
  EXPECT_EQ(3.f * 7, kept[0]);
  Node c(Numbers(5000, 3));
  EXPECT_EQ(kept, c.Kept());
}

/* A call of a dense layer in float16 whose kernel computes in float32. */
struct HalfCall {
  std::vector<float16> weights;
  std::vector<std::vector<float>> rooms;
  std::shared_ptr<OpState> state;
  std::vector<TBlob> in, out;
  std::vector<OpReq> req{OpReq::kWrite};
  std::vector<uint64_t> versions{1, 1};
  AttrsPtr attrs = MakeAttrs(Op::Get("FullyConnected"), {{"num_hidden", "3"}, {"no_bias", "True"}});
  KernelArgs args;

  explicit HalfCall(bool in_plan) {
    for (int i = 0; i < 15; ++i) weights.push_back(float16(static_cast<float>(i) / 4));
    const auto blob = [this](Shape shape) {
      TBlob made;
      made.dptr = weights.data(), made.shape = std::move(shape), made.dtype = kFloat16, made.ctx = Context::CPU();
      return made;
    };
    in = {blob(Shape({2, 5})), blob(Shape({3, 5}))};
    out = {blob(Shape({2, 3}))};
    args.attrs = attrs.get();
    args.in = Span<const TBlob>(in.data(), 2), args.out = Span<const TBlob>(out.data(), 1), args.req = Span<const OpReq>(req.data(), 1);
    if (in_plan) args.state = &state;
    args.in_versions = Span<const uint64_t>(versions.data(), 2);
    args.workspace = [this](size_t bytes) {
      rooms.emplace_back(bytes / sizeof(float) + 16, -1.f);
      return static_cast<void*>(rooms.back().data());
    };
  }
  const float* Kept(int* made) {
    const float* const at = args.in[1].data<float>();
    return KeptWeights(args, 1, at, 7, 15, [&](float* to) { ++*made, std::copy_n(at, 15, to); });
  }
};

TEST(KeptWeights, HalvesAreWidenedForWhoReadsThem) {
  int made = 0;
  const float* kept = nullptr;
  HalfCall call(true);
  for (int i = 0; i < 3; ++i) {
    KernelArgs before = call.args;
    const Widened widened(&call.args);
    EXPECT_EQ(0.25f, call.args.in[0].data<float>()[1]);  // data is there
    EXPECT_EQ(-1.f, call.args.in[1].data<float>()[1]);   // weights are not
    const float* const now = call.Kept(&made);
    EXPECT_EQ(kept ? kept : now, now);  // wherever the copies would have been
    kept = now;
    EXPECT_EQ(i == 0 ? 0.25f : -1.f, call.args.in[1].data<float>()[1]);
    call.args.NeedWeights(call.args.in[1].dptr);
    EXPECT_EQ(3.5f, call.args.in[1].data<float>()[14]);
    call.args = before;
  }
  EXPECT_EQ(1, made);
  EXPECT_EQ(3.5f, kept[14]);

  HalfCall alone(false);
  const Widened widened(&alone.args);
  EXPECT_EQ(3.5f, alone.args.in[1].data<float>()[14]);
}

TEST(KeptWeights, HalvesArePackedByPartsWithoutAWholeCopy) {
  HalfCall call(true);
  const Widened widened(&call.args);
  WeightParts parts;
  parts.count = 3, parts.bytes = 5 * sizeof(float), parts.all = 15 * sizeof(float);
  parts.fill = [](const void* from, int64_t begin, int64_t end, float* form, void*) {
    std::copy_n(static_cast<const float*>(from), (end - begin) * 5, form + begin * 5);
  };
  const auto whole = [](float*) { FAIL() << "parts would do"; };
  const float* const kept = KeptWeights(call.args, 1, call.args.in[1].dptr, 9, 15, whole, {}, [&] { return parts; });
  for (int i = 0; i < 15; ++i) EXPECT_EQ(static_cast<float>(i) / 4, kept[i]);
  EXPECT_EQ(-1.f, call.args.in[1].data<float>()[0]);
}

TEST(KeptWeights, ManyThreads) {
  constexpr int kThreads = 8, kNodes = 200;
  std::vector<std::vector<const float*>> kept(kThreads);
  std::vector<std::unique_ptr<Node>> nodes[kThreads];
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kNodes; ++i) {
        nodes[t].push_back(std::make_unique<Node>(Numbers(300, static_cast<float>(i))));
        kept[t].push_back(nodes[t].back()->Kept());
        Node per_call(Numbers(300, static_cast<float>(1000 * t + i)));  // comes and goes
        EXPECT_EQ(static_cast<float>(1000 * t + i) * 7, per_call.Kept()[0]);
      }
    });
  for (auto& t : threads) t.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(kept[0], kept[t]);
}

}  // namespace
}  // namespace nn
}  // namespace mxnet
