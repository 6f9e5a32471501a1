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

#include "base/huge_pages.h"
#include "common/huge_at.h"

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
