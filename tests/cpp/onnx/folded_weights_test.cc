// What is computed of a model's weights, while several threads compute it at once.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "ndarray/stored.h"
#include "onnx/builder.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int64_t kElements = 512;

NDArray Filled(float value) {
  NDArray array(Shape{kElements}, Context::CPU(), kFloat32);
  const std::vector<float> values(kElements, value);
  array.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  return array;
}

/* Others know the first by its address, so it must neither go nor make room for another one. */
TEST(FoldedWeights, WhatWasPutFirstStays) {
  FoldedWeights folded;
  const NDArray weight = Filled(1), first = Filled(2), second = Filled(3);
  folded.AddWeight(weight, "w");
  EXPECT_TRUE(folded.Find("relu", {weight}).empty());
  EXPECT_EQ(folded.Put("relu", {weight}, {first}).at(0).chunk(), first.chunk());
  EXPECT_EQ(folded.Put("relu", {weight}, {second}).at(0).chunk(), first.chunk());
  EXPECT_EQ(folded.Find("relu", {weight}).at(0).chunk(), first.chunk());
  EXPECT_EQ(folded.Keeps({weight, first, second}), (std::vector<bool>{true, true, false}));
}

/* What converters find out about a weight by reading all of it, the range of its numbers for
 * example. */
TEST(FoldedWeights, SmallResultsAreKeptToo) {
  FoldedWeights folded;
  const NDArray weight = Filled(1), result = ConstantArray(Shape{2}, kInt64, std::vector<int64_t>{-3, 4}.data());
  folded.AddWeight(weight, "w");
  folded.Put("range", {weight}, {result});
  const std::vector<NDArray> found = folded.Find("range", {weight});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(IntsIn(found[0]), (std::vector<int64_t>{-3, 4}));
}

TEST(FoldedWeights, WhatDependsOnInputsIsNotKept) {
  FoldedWeights folded;
  const NDArray input = Filled(1), result = Filled(2);
  EXPECT_EQ(folded.Put("relu", {input}, {result}).at(0).chunk(), result.chunk());
  EXPECT_TRUE(folded.Find("relu", {input}).empty());
  EXPECT_EQ(folded.Keeps({result}), std::vector<bool>{false});
}

TEST(FoldedWeights, ThreadsComputeTheSameAtOnce) {
  constexpr int kThreads = 4, kCalls = 200;
  FoldedWeights folded;
  const NDArray weight = Filled(1);
  folded.AddWeight(weight, "w");
  std::vector<std::vector<NDArray>> had(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        const std::string call = "call " + std::to_string(i);
        std::vector<NDArray> results = folded.Find(call, {weight});
        if (results.empty()) results = folded.Put(call, {weight}, {NDArray(Shape{kElements}, Context::CPU(), kFloat32)});
        had[static_cast<size_t>(t)].push_back(results.at(0));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kCalls; ++i)
    for (const auto& arrays : had) EXPECT_EQ(arrays[static_cast<size_t>(i)].chunk(), had[0][static_cast<size_t>(i)].chunk());
}

}  // namespace
}  // namespace onnx
}  // namespace mxnet
