/* Sums over the workers of a job without servers: their bits, their order, and errors. */
#include "kvstore/dist/all_reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "kvstore/reduce.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "reduce_workers.h"

using namespace mxnet;           // NOLINT
using namespace mxnet::kvstore;  // NOLINT

namespace {

NDArray Random(int64_t count, int dtype, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values)
    v = dtype == kBool ? static_cast<float>(random() % 2) : static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 32;
  NDArray array(Shape{count}, Context::CPU(), dtype);
  std::vector<char> bytes(static_cast<size_t>(count) * DTypeSize(dtype));
  ConvertElements(values.data(), kFloat32, bytes.data(), dtype, count);
  array.CopyBytesFrom(bytes.data(), bytes.size());
  return array;
}

std::vector<char> Bytes(const NDArray& array) {
  std::vector<char> bytes(static_cast<size_t>(array.shape().Size()) * DTypeSize(array.dtype()));
  array.CopyBytesTo(bytes.data(), bytes.size());
  return bytes;
}

std::vector<char> Expected(const std::vector<NDArray>& arrays) {
  std::vector<TBlob> in;
  for (const NDArray& array : arrays) in.push_back(array.data());
  NDArray out(arrays[0].shape(), Context::CPU(), arrays[0].dtype());
  SumArrays(in, {out.data()});
  return Bytes(out);
}
}  // namespace

TEST(AllReduce, SumsHaveTheBitsOfTheOrderOfWorkers) {
  for (int n : {1, 2, 3, 5}) {
    Workers workers(n);
    int key = 0;
    for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16, kUint8, kInt8, kInt32, kInt64, kBool})
      for (int64_t count : {int64_t{1}, int64_t{7}, int64_t{1000}, int64_t{50001}, int64_t{400000}}) {
        std::vector<NDArray> arrays;
        for (int i = 0; i < n; ++i) arrays.push_back(Random(count, dtype, static_cast<unsigned>(i)));
        const std::vector<char> expected = Expected(arrays);
        for (int i = 0; i < n; ++i) workers.reduce[static_cast<size_t>(i)]->Sum(0, key, arrays[static_cast<size_t>(i)], 0);
        for (const NDArray& array : arrays) EXPECT_EQ(Bytes(array), expected) << n << " workers, " << DTypeName(dtype) << ", " << count;
        ++key;
      }
  }
}

TEST(AllReduce, ArraysWithoutElements) {
  Workers workers(2);
  for (int i = 0; i < 2; ++i) {
    NDArray array(Shape{0}, Context::CPU());
    workers.reduce[static_cast<size_t>(i)]->Sum(0, 1, array, 0);
    array.WaitToRead();
  }
}

TEST(AllReduce, BroadcastsTheFirstWorkersValue) {
  for (int n : {1, 2, 4})
    for (int64_t count : {int64_t{3}, int64_t{100003}}) {
      Workers workers(n);
      std::vector<NDArray> arrays;
      for (int i = 0; i < n; ++i) arrays.push_back(Random(count, kFloat32, static_cast<unsigned>(i)));
      const std::vector<char> expected = Bytes(arrays[0]);
      for (int i = n - 1; i >= 0; --i) workers.reduce[static_cast<size_t>(i)]->Broadcast(0, "weight", arrays[static_cast<size_t>(i)], 0);
      for (const NDArray& array : arrays) EXPECT_EQ(Bytes(array), expected);
    }
}

/* What comes before the others call is kept for them. */
TEST(AllReduce, BroadcastsToWorkersThatComeLater) {
  for (int64_t count : {int64_t{3}, int64_t{100003}}) {
    Workers workers(3);
    std::vector<NDArray> arrays;
    for (int i = 0; i < 3; ++i) arrays.push_back(Random(count, kFloat32, static_cast<unsigned>(i)));
    const std::vector<char> expected = Bytes(arrays[0]);
    for (int i = 0; i < 3; ++i) {
      workers.reduce[static_cast<size_t>(i)]->Broadcast(0, "weight", arrays[static_cast<size_t>(i)], 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    for (const NDArray& array : arrays) EXPECT_EQ(Bytes(array), expected);
  }
}

/* Keys in any order, stores apart, several calls of a key under way. */
TEST(AllReduce, ManyKeysAtOnce) {
  constexpr int kWorkers = 3, kKeys = 12, kTimes = 4;
  InProcessOptions options;
  options.delay = 2e-4;
  options.progress.part_bytes = 10000;
  options.progress.window_bytes = 30000;
  Workers workers(kWorkers, options);
  const auto count = [](int key) { return key % 3 == 0 ? 20000 + key : 10 + key; };
  std::vector<std::vector<NDArray>> arrays(kWorkers);
  for (int i = 0; i < kWorkers; ++i)
    for (int key = 0; key < kKeys; ++key)
      arrays[static_cast<size_t>(i)].push_back(Random(count(key), kFloat32, static_cast<unsigned>(i * kKeys + key)));
  std::vector<std::vector<char>> expected;
  for (int key = 0; key < kKeys; ++key) {
    std::vector<NDArray> parts, sums;
    for (int i = 0; i < kWorkers; ++i) parts.push_back(arrays[static_cast<size_t>(i)][static_cast<size_t>(key)]);
    for (int time = 0; time < kTimes; ++time) {
      NDArray sum(parts[0].shape(), Context::CPU());
      const std::vector<char> bytes = Expected(parts);
      sum.CopyBytesFrom(bytes.data(), bytes.size());
      parts.assign(kWorkers, sum);
    }
    expected.push_back(Bytes(parts[0]));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i)
    threads.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      std::vector<int> order;
      for (int key = 0; key < kKeys; ++key) order.push_back(key);
      for (int time = 0; time < kTimes; ++time) {
        std::shuffle(order.begin(), order.end(), random);
        for (int key : order)
          workers.reduce[static_cast<size_t>(i)]->Sum(key % 2, key / 2, arrays[static_cast<size_t>(i)][static_cast<size_t>(key)], key);
      }
    });
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < kWorkers; ++i)
    for (int key = 0; key < kKeys; ++key)
      EXPECT_EQ(Bytes(arrays[static_cast<size_t>(i)][static_cast<size_t>(key)]), expected[static_cast<size_t>(key)]) << i << ' ' << key;
}

TEST(AllReduce, DifferentArraysAreAnErrorForAll) {
  for (int64_t other : {11, 100000}) {
    Workers workers(3);
    std::vector<NDArray> arrays;
    for (int i = 0; i < 3; ++i) {
      arrays.push_back(Random(i == 1 ? other : 10, kFloat32, 0));
      workers.reduce[static_cast<size_t>(i)]->Sum(0, 1, arrays.back(), 0);
    }
    for (const NDArray& array : arrays) EXPECT_NE(ErrorOf(array).find("different arrays for one key"), std::string::npos) << ErrorOf(array);
    // What comes later is well.
    for (int i = 0; i < 3; ++i) arrays[static_cast<size_t>(i)] = Random(10, kFloat32, static_cast<unsigned>(i));
    const std::vector<char> expected = Expected(arrays);
    for (int i = 0; i < 3; ++i) workers.reduce[static_cast<size_t>(i)]->Sum(0, 1, arrays[static_cast<size_t>(i)], 0);
    for (const NDArray& array : arrays) EXPECT_EQ(Bytes(array), expected);
  }
}

TEST(AllReduce, ALostWorkerIsNamed) {
  for (int64_t count : {int64_t{10}, int64_t{100000}}) {
    Workers workers(3);
    std::vector<NDArray> arrays;
    for (int i = 0; i < 3; ++i) arrays.push_back(Random(count, kFloat32, 0));
    for (int i : {0, 1}) workers.reduce[static_cast<size_t>(i)]->Sum(0, 1, arrays[static_cast<size_t>(i)], 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    workers.fabric.Cut(2);
    for (int i : {0, 1}) {
      // A short array's owner may be worker 2, or need it.
      const std::string error = ErrorOf(arrays[static_cast<size_t>(i)]);
      EXPECT_NE(error.find("[kvstore] worker 2 (rank 2, process "), std::string::npos) << error;
      EXPECT_NE(error.find("is lost"), std::string::npos) << error;
    }
    // Later calls fail as well.
    NDArray more = Random(100000, kFloat32, 0);
    workers.reduce[0]->Sum(0, 2, more, 0);
    EXPECT_NE(ErrorOf(more).find("worker 2"), std::string::npos);
  }
}

TEST(AllReduce, WhatWasUnderWayCanBeInterrupted) {
  Workers workers(3);
  std::vector<NDArray> first, second;
  for (int i = 0; i < 3; ++i) {
    first.push_back(Random(10, kFloat32, 0));
    second.push_back(Random(10, kFloat32, 0));
  }
  for (int i : {0, 1}) workers.reduce[static_cast<size_t>(i)]->Sum(0, 1, first[static_cast<size_t>(i)], 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto interrupt = workers.reduce[0]->Interrupter();
  for (int i : {0, 1}) workers.reduce[static_cast<size_t>(i)]->Sum(0, 2, second[static_cast<size_t>(i)], 0);
  interrupt("the user wants to go on");
  EXPECT_NE(ErrorOf(first[0]).find("[kvstore] the user wants to go on"), std::string::npos);
  // Until the others have heard of it, also on busy cores: a sum that is whole before counts.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  workers.reduce[2]->Sum(0, 1, first[2], 0);
  workers.reduce[2]->Sum(0, 2, second[2], 0);
  for (int i : {1, 2}) {  // they are told who
    const std::string error = ErrorOf(first[static_cast<size_t>(i)]);
    EXPECT_NE(error.find("[kvstore] worker 0 (rank 0, process "), std::string::npos) << error;
    EXPECT_NE(error.find(": the user wants to go on"), std::string::npos) << error;
  }
  for (const NDArray& later : second) EXPECT_EQ(ErrorOf(later), "");
}

/* Whatever comes late and whoever is lost: each sum is right or names a worker that was lost, and
 * nothing waits for ever. */
TEST(AllReduce, RandomDelaysStallsAndLosses) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const int count = 2 + static_cast<int>(random() % 3), keys = 5, times = 8, lost = seed % 2 ? static_cast<int>(random()) % count : -1;
    InProcessOptions options;
    options.delay = static_cast<double>(random() % 4) * 1e-4;
    options.progress.part_bytes = 1000 + random() % 20000;
    options.progress.window_bytes = 30000;
    Workers workers(count, options);
    const auto given = [&](int worker, int key, int time) {
      return Random(key % 2 ? 9000 + key : 10 + key, kFloat32, seed + static_cast<unsigned>(100 * (worker + 10 * (key + 10 * time))));
    };
    std::vector<std::vector<std::vector<NDArray>>> sums(static_cast<size_t>(count));
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      sums[static_cast<size_t>(i)].resize(keys);
      threads.emplace_back([&, i] {
        std::mt19937 own(seed * 10 + static_cast<unsigned>(i));
        std::vector<int> order{0, 1, 2, 3, 4};
        for (int time = 0; time < times; ++time) {
          std::shuffle(order.begin(), order.end(), own);  // another one on each worker
          for (const int key : order) {
            NDArray array = given(i, key, time);
            workers.reduce[static_cast<size_t>(i)]->Sum(0, key, array, static_cast<int>(own() % 3));
            sums[static_cast<size_t>(i)][static_cast<size_t>(key)].push_back(array);
            std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
          }
        }
      });
    }
    for (int i = 0; i < 6; ++i) {
      const int rank = static_cast<int>(random() % static_cast<unsigned>(count));
      workers.fabric.Stall(rank);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      workers.fabric.Resume(rank);
      if (i == 3 && lost >= 0) workers.fabric.Cut(lost);
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i) {
      for (int key = 0; key < keys; ++key) {
        for (int time = 0; time < times; ++time) {
          const NDArray& sum = sums[static_cast<size_t>(i)][static_cast<size_t>(key)][static_cast<size_t>(time)];
          const std::string error = ErrorOf(sum);
          std::vector<NDArray> all;
          for (int worker = 0; worker < count; ++worker) all.push_back(given(worker, key, time));
          if (error.empty()) {
            EXPECT_EQ(Bytes(sum), Expected(all)) << seed << ' ' << i << ' ' << key << ' ' << time;
          } else {
            EXPECT_NE(lost, -1) << error;
            if (i != lost) {
              EXPECT_NE(error.find("worker " + std::to_string(lost)), std::string::npos) << error;
            }
          }
        }
      }
    }
  }
}
