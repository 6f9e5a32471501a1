/* Sums over workers whose arrays lie on GPUs, made of memory of the host and streams that are
 * late: which sums the GPUs make, in which order they are asked for, and errors. */
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "fake_gpus.h"
#include "kvstore/dist/gpu_sums.h"
#include "kvstore/nccl.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "reduce_workers.h"

using namespace mxnet;           // NOLINT
using namespace mxnet::kvstore;  // NOLINT

namespace {

using Values = std::vector<float>;

/* What the members of a group share: their operations meet by number. */
struct FakeGroup {
  struct Meeting {
    std::vector<std::pair<float*, int64_t>> parts;  // of members that are there
    bool done = false;
  };
  std::map<size_t, Meeting> meetings;
};
struct FakeMember {
  FakeGroup* group;
  int size;
  const std::atomic<bool>* lost;
  size_t asked = 0;
  FakeStream stream;
};

std::mutex g_mutex;  // guards what follows
std::condition_variable g_changed;
std::map<std::string, FakeGroup> g_groups;
std::string g_missing, g_fails;
int g_made = 0, g_joined = 0, g_devices = 0;
bool g_shared = false;

/* As kernels do: waits for those of the other members, or until it is given up. */
void Meet(FakeMember* m, size_t number, float* data, int64_t count) {
  std::unique_lock<std::mutex> lock(g_mutex);
  FakeGroup::Meeting& meeting = m->group->meetings[number];
  meeting.parts.emplace_back(data, count);
  if (meeting.parts.size() == static_cast<size_t>(m->size)) {
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (const auto& part : meeting.parts) sum += part.first[i];
      for (const auto& part : meeting.parts) part.first[i] = sum;
    }
    meeting.done = true;
    g_changed.notify_all();
  }
  while (!meeting.done && !*m->lost) g_changed.wait_for(lock, std::chrono::milliseconds(1));
}

const nccl::Joined kJoined = {
    [] { return std::string(); },
    [](int device) {
      std::lock_guard<std::mutex> lock(g_mutex);
      return "GPU " + std::to_string(g_shared ? device : g_devices++);
    },
    [] {
      std::lock_guard<std::mutex> lock(g_mutex);
      return "group " + std::to_string(g_made++);
    },
    [](const std::string& id, int, int, int size, const std::atomic<bool>* lost) -> void* {
      std::lock_guard<std::mutex> lock(g_mutex);
      ++g_joined;
      FakeMember* member = new FakeMember;  // a handful
      member->group = &g_groups[id];
      member->size = size;
      member->lost = lost;
      return member;
    },
    [](void* member, void* data, int64_t count, int) {
      FakeMember* m = static_cast<FakeMember*>(member);
      std::lock_guard<std::mutex> lock(g_mutex);
      if (!g_fails.empty()) throw Error(g_fails);
      m->stream.Put([m, number = m->asked++, data = static_cast<float*>(data), count] { Meet(m, number, data, count); });
    },
    [](void* member) {
      FakeMember* m = static_cast<FakeMember*>(member);
      m->stream.Wait(m->stream.put());
      if (*m->lost) throw Error("given up");
    }};

const nccl::Library kFake = {[] {
                               std::lock_guard<std::mutex> lock(g_mutex);
                               return g_missing;
                             },
                             nullptr, nullptr, nullptr, &kJoined};

class AllReduceGpus : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseFakeGpus(&kFake); }
  void SetUp() override {
    std::lock_guard<std::mutex> lock(g_mutex);
    g_missing.clear();
    g_fails.clear();
    g_groups.clear();
    g_made = g_joined = 0;
    g_shared = false;
  }
};

NDArray On(Context where, const Values& values) {
  NDArray a({static_cast<int64_t>(values.size())}, where, kFloat32);
  a.CopyBytesFrom(values.data(), values.size() * 4);
  return a;
}

void Sum(const Workers& workers, int worker, const KVKey& key, const NDArray& array, int priority = 0) {
  workers.reduce[static_cast<size_t>(worker)]->Sum(0, key, array, priority, true);
}

Values Read(const NDArray& a) {
  Values v(static_cast<size_t>(a.shape().Size()));
  a.CopyBytesTo(v.data(), v.size() * 4);
  return v;
}
/* A new value that the GPU is late with. */
void WriteLate(const NDArray& array, float value) {
  float* data = array.data().dptr<float>();
  const int64_t count = array.shape().Size();
  Engine::Get()->PushSync(
      [=](RunContext run) {
        static_cast<FakeStream*>(run.stream)->Put([=] {
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
          std::fill(data, data + count, value);
        });
      },
      array.ctx(), {}, {array.var()}, FnProperty::kNormal, 0, "late");
}

}  // namespace

TEST_F(AllReduceGpus, WaitsForTheGpusAndAddsUp) {
  for (int n : {1, 2, 3}) {
    Workers workers(n);
    std::vector<NDArray> arrays;
    for (int i = 0; i < n; ++i) arrays.push_back(On(Context::GPU(i % 2), Values(100, -1)));
    for (int time = 0; time < 3; ++time) {
      float expected = 0;
      for (int i = 0; i < n; ++i) {
        WriteLate(arrays[static_cast<size_t>(i)], static_cast<float>(i + 10 * time + 1));
        expected += static_cast<float>(i + 10 * time + 1);
        Sum(workers, i, 7, arrays[static_cast<size_t>(i)]);
      }
      for (const NDArray& array : arrays) EXPECT_EQ(Read(array), Values(100, expected)) << n << ' ' << time;
    }
  }
  EXPECT_EQ(g_made, 3);    // one for each job
  EXPECT_EQ(g_joined, 6);  // 1 + 2 + 3
}

TEST_F(AllReduceGpus, TypesThatTheLibraryLacksGoThroughTheHosts) {
  Workers workers(2);
  std::vector<NDArray> arrays;
  for (int i = 0; i < 2; ++i) {
    arrays.emplace_back(Shape({3}), Context::GPU(0), kInt16);
    const int16_t values[3] = {1, static_cast<int16_t>(i), 300};
    arrays.back().CopyBytesFrom(values, sizeof values);
    Sum(workers, i, "key", arrays.back());
  }
  for (const NDArray& array : arrays) {
    int16_t values[3];
    array.CopyBytesTo(values, sizeof values);
    EXPECT_EQ(std::vector<int16_t>(values, values + 3), (std::vector<int16_t>{2, 1, 600}));
  }
  EXPECT_EQ(g_made, 0);
}

TEST_F(AllReduceGpus, WorkersThatShareAGpuAddUpOnTheHosts) {
  {
    std::lock_guard<std::mutex> lock(g_mutex);
    g_shared = true;
  }
  InProcessOptions options;
  options.delay = 1e-4;
  Workers workers(3, options);
  for (int time = 0; time < 3; ++time)
    for (const size_t count : {size_t{10}, size_t{100000}}) {
      std::vector<NDArray> arrays;
      for (int i = 0; i < 3; ++i) {
        arrays.push_back(On(Context::GPU(0), Values(count, -1)));
        WriteLate(arrays.back(), static_cast<float>(i + time));
      }
      for (int i = 2; i >= 0; --i) Sum(workers, i, static_cast<int>(count), arrays[static_cast<size_t>(i)]);
      for (const NDArray& array : arrays) EXPECT_EQ(Read(array), Values(count, static_cast<float>(3 + 3 * time)));
    }
  EXPECT_EQ(g_joined, 0);
  // Others of the same workers may still add up on their GPUs.
  const NDArray one = On(Context::GPU(0), Values(4, 1)), two = On(Context::GPU(1), Values(4, 2)), three = On(Context::GPU(2), Values(4, 3));
  Sum(workers, 0, 1, one);
  Sum(workers, 1, 1, two);
  Sum(workers, 2, 1, three);
  for (const NDArray& array : {one, two, three}) EXPECT_EQ(Read(array), Values(4, 6));
  EXPECT_EQ(g_joined, 3);
}

/* Each pair of GPUs that keys have on the workers has a group. */
TEST_F(AllReduceGpus, GroupsOfTheGpusThatKeysHave) {
  Workers workers(2);
  std::vector<NDArray> arrays;
  for (int key = 0; key < 6; ++key)
    for (int i = 0; i < 2; ++i) {
      arrays.push_back(On(Context::GPU((key + i * (key / 3)) % 2), Values(5, static_cast<float>(key + i))));
      Sum(workers, i, key, arrays.back());
    }
  for (int key = 0; key < 6; ++key)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(Read(arrays[static_cast<size_t>(2 * key + i)]), Values(5, static_cast<float>(2 * key + 1)));
  EXPECT_EQ(g_made, 4);  // (0, 0), (1, 1), (1, 0), (0, 1)
}

TEST_F(AllReduceGpus, WorkersWithoutAGpuForAKeyAreAnErrorForAll) {
  for (int odd = 0; odd < 3; ++odd)
    for (int64_t count : {int64_t{10}, int64_t{100000}})
      for (int key = 0; key < 3; ++key) {  // each worker owns one of the short arrays
        Workers workers(3);
        std::vector<NDArray> arrays;
        for (int i = 0; i < 3; ++i) {
          arrays.push_back(On(i == odd ? Context::CPU() : Context::GPU(0), Values(static_cast<size_t>(count), 1)));
          Sum(workers, i, key, arrays.back());
        }
        for (const NDArray& array : arrays) {
          const std::string error = ErrorOf(array);
          EXPECT_NE(error.find("different arrays for one key"), std::string::npos) << error;
          EXPECT_NE(error.find(" on a GPU"), std::string::npos) << error;
        }
        // What comes later is well.
        for (int i = 0; i < 3; ++i) {
          arrays[static_cast<size_t>(i)] = On(Context::GPU(0), Values(4, static_cast<float>(i)));
          Sum(workers, i, key, arrays[static_cast<size_t>(i)]);
        }
        for (const NDArray& array : arrays) EXPECT_EQ(Read(array), Values(4, 3));
      }
}

TEST_F(AllReduceGpus, ErrorsOfTheLibraryReachTheArray) {
  Workers workers(2);
  const NDArray one = On(Context::GPU(0), Values(4, 1)), two = On(Context::GPU(0), Values(4, 2));
  {
    std::lock_guard<std::mutex> lock(g_mutex);
    g_fails = "[kvstore] NCCL: a sum failed";
  }
  Sum(workers, 0, 1, one);
  Sum(workers, 1, 1, two);
  EXPECT_NE(ErrorOf(one).find("NCCL: a sum failed"), std::string::npos);
  EXPECT_NE(ErrorOf(two).find("NCCL: a sum failed"), std::string::npos);
}

/* While the others' kernels wait for it. */
TEST_F(AllReduceGpus, ALostWorkerIsNamed) {
  Workers workers(3);
  std::vector<NDArray> arrays;
  for (int i = 0; i < 3; ++i) arrays.push_back(On(Context::GPU(0), Values(10, 1)));
  for (int i : {0, 1}) Sum(workers, i, 1, arrays[static_cast<size_t>(i)]);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  workers.fabric.Cut(2);
  for (int i : {0, 1}) {
    const std::string error = ErrorOf(arrays[static_cast<size_t>(i)]);
    EXPECT_NE(error.find("[kvstore] worker 2 (rank 2, process "), std::string::npos) << error;
  }
  const NDArray more = On(Context::GPU(0), Values(10, 1));
  Sum(workers, 1, 2, more);
  EXPECT_NE(ErrorOf(more).find("worker 2"), std::string::npos);
}

/* Keys in another order on each worker, delays, and in half of the rounds a loss: each sum is right
 * or names the worker that was lost, and nothing waits for ever. */
TEST_F(AllReduceGpus, RandomOrdersDelaysAndLosses) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const int count = 2 + static_cast<int>(random() % 3), keys = 5, times = 8, lost = seed % 2 ? static_cast<int>(random()) % count : -1;
    InProcessOptions options;
    options.delay = static_cast<double>(random() % 4) * 1e-4;
    Workers workers(count, options);
    const auto given = [](int worker, int key, int time) { return static_cast<float>(worker + 7 * key + 100 * time); };
    std::vector<std::vector<std::vector<NDArray>>> sums(static_cast<size_t>(count));
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      sums[static_cast<size_t>(i)].resize(keys);
      threads.emplace_back([&, i] {
        std::mt19937 own(seed * 10 + static_cast<unsigned>(i));
        std::vector<int> order{0, 1, 2, 3, 4};
        for (int time = 0; time < times; ++time) {
          std::shuffle(order.begin(), order.end(), own);
          for (const int key : order) {
            // Key 4 lies on the CPU.
            const NDArray array =
                On(key == 4 ? Context::CPU() : Context::GPU(key % 2), Values(static_cast<size_t>(10 + key), given(i, key, time)));
            Sum(workers, i, key, array, static_cast<int>(own() % 3));
            sums[static_cast<size_t>(i)][static_cast<size_t>(key)].push_back(array);
            std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
          }
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 9000));
    if (lost >= 0) workers.fabric.Cut(lost);
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i)
      for (int key = 0; key < keys; ++key)
        for (int time = 0; time < times; ++time) {
          const NDArray& sum = sums[static_cast<size_t>(i)][static_cast<size_t>(key)][static_cast<size_t>(time)];
          const std::string error = ErrorOf(sum);
          if (!error.empty()) {
            EXPECT_NE(lost, -1) << error;
            if (i != lost) {
              EXPECT_NE(error.find("worker " + std::to_string(lost)), std::string::npos) << error;
            }
            continue;
          }
          float expected = 0;
          for (int worker = 0; worker < count; ++worker) expected += given(worker, key, time);
          EXPECT_EQ(Read(sum), Values(static_cast<size_t>(10 + key), expected)) << seed << ' ' << i << ' ' << key << ' ' << time;
        }
  }
}
