/* What the store of type nccl asks of the library, on GPUs whose streams are threads: which
 * devices, which operations, how many at once, in which place. */
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "fake_gpus.h"
#include "kvstore/nccl.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "mxnet/kvstore.h"
#include "ndarray/run.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

using Values = std::vector<float>;
using Devices = std::vector<int>;

struct Asked {
  Devices devices;
  std::vector<nccl::Call> calls;
};
std::mutex g_mutex;  // guards what follows
std::vector<Asked> g_asked;
std::set<Devices> g_cliques;
std::string g_missing, g_fails;

const char* Name(nccl::Call::Kind kind) {
  return kind == nccl::Call::kReduce ? "reduce" : kind == nccl::Call::kBroadcast ? "broadcast" : "allreduce";
}

void Compute(const nccl::Call& c) {
  const size_t count = static_cast<size_t>(c.count);
  Values result(count, 0.0f);
  for (size_t k = 0; k < c.in.size(); ++k) {
    if (c.kind == nccl::Call::kBroadcast && static_cast<int>(k) != c.root) continue;
    for (size_t i = 0; i < count; ++i) result[i] += static_cast<const float*>(c.in[k])[i];
  }
  for (size_t k = 0; k < c.out.size(); ++k)
    if (c.out[k] != nullptr && (c.kind != nccl::Call::kReduce || static_cast<int>(k) == c.root))
      std::copy(result.begin(), result.end(), static_cast<float*>(c.out[k]));
}

const nccl::Library kFake = {[] {
                               std::lock_guard<std::mutex> lock(g_mutex);
                               return g_missing;
                             },
                             [](const Devices& devices) -> void* {
                               std::lock_guard<std::mutex> lock(g_mutex);
                               return const_cast<Devices*>(&*g_cliques.insert(devices).first);
                             },
                             [](void* clique, const std::vector<nccl::Call>& calls, const RunContext& run) {
                               std::lock_guard<std::mutex> lock(g_mutex);
                               const Devices& devices = *static_cast<const Devices*>(clique);
                               EXPECT_EQ(run.ctx, Context::GPU(devices[0]));
                               if (!g_fails.empty()) throw Error(g_fails);
                               g_asked.push_back({devices, calls});
                               for (const nccl::Call& c : calls) {
                                 EXPECT_EQ(c.in.size(), devices.size());
                                 EXPECT_EQ(c.out.size(), devices.size());
                                 EXPECT_EQ(c.dtype, kFloat32);
                                 static_cast<FakeStream*>(run.stream)->Put([c] { Compute(c); });
                               }
                             }};

const DeviceQuery kFourGpus = {[] { return 4; }, [](int, size_t* free, size_t* total) { *free = *total = size_t{1} << 24; },
                               [](const void*) { return -1; }};

class NcclStore : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    UseFakeGpus(&kFake);
    GpuInterface().query.Set(&kFourGpus);
  }
  void SetUp() override {
    g_missing.clear();
    g_fails.clear();
    g_asked.clear();
  }

  static NDArray On(int device, const Values& values) {
    NDArray a({static_cast<int64_t>(values.size())}, Context::GPU(device), kFloat32);
    a.CopyBytesFrom(values.data(), values.size() * 4);
    return a;
  }
  static Values Read(const NDArray& a) {
    Values v(static_cast<size_t>(a.shape().Size()));
    a.CopyBytesTo(v.data(), v.size() * 4);
    return v;
  }
  /* "reduce 0,1,2 to 1; ..." with a bar between operations of the engine. */
  static std::string AskedFor() {
    Engine::Get()->WaitForAll();
    std::lock_guard<std::mutex> lock(g_mutex);
    std::string text;
    for (const Asked& a : g_asked) {
      std::string calls;
      for (const nccl::Call& c : a.calls) {
        calls += calls.empty() ? "" : "; ";
        calls += Name(c.kind);
        for (int d : a.devices) calls += (d == a.devices[0] ? " " : ",") + std::to_string(d);
        if (c.kind != nccl::Call::kAllReduce) calls += " root " + std::to_string(a.devices[static_cast<size_t>(c.root)]);
      }
      text += (text.empty() ? "" : " | ") + calls;
    }
    g_asked.clear();
    return text;
  }
  std::unique_ptr<KVStore> kv = KVStore::Create("NCCL");
};

std::vector<NDArray*> Pointers(std::vector<NDArray>* arrays) {
  std::vector<NDArray*> p;
  for (NDArray& a : *arrays) p.push_back(&a);
  return p;
}

TEST_F(NcclStore, SumsGoToTheHomeAndFromThere) {
  EXPECT_EQ(kv->type(), "nccl");
  std::vector<NDArray> values{On(3, {1, 2}), On(1, {10, 20}), On(2, {100, 200})}, outs{On(2, {0, 0}), On(3, {0, 0}), On(1, {0, 0})};
  kv->Init({"w"}, {&values[0]});
  EXPECT_EQ(AskedFor(), "");
  kv->Push({"w", "w", "w"}, Pointers(&values));
  kv->Pull({"w", "w", "w"}, Pointers(&outs));
  EXPECT_EQ(AskedFor(), "reduce 1,2,3 root 3 | broadcast 1,2,3 root 3");
  for (const NDArray& o : outs) EXPECT_EQ(Read(o), Values({111, 222}));
  EXPECT_EQ(Read(values[1]), Values({10, 20}));
}

TEST_F(NcclStore, KeysThatComeTogetherTravelTogetherAndEveryDeviceIsHome) {
  std::vector<NDArray> values, outs;
  KVStore::Keys keys, each;
  for (int k = 0; k < 4; ++k) {
    keys.emplace_back(k);
    for (int dev = 0; dev < 2; ++dev)
      each.emplace_back(k), values.push_back(On(dev, Values(5, static_cast<float>(k + 1)))), outs.push_back(On(dev, Values(5, 0)));
  }
  kv->Init(keys, {&values[0], &values[0], &values[0], &values[0]});
  kv->SetUpdater([](const KVKey&, const NDArray& pushed, NDArray* stored) {
    EXPECT_EQ(pushed.ctx(), stored->ctx());
    CopyFromTo(pushed, *stored);
  });
  kv->PushPull(each, Pointers(&values), each, Pointers(&outs));
  EXPECT_EQ(AskedFor(),
            "reduce 0,1 root 0; reduce 0,1 root 1; reduce 0,1 root 0; reduce 0,1 root 1 | "
            "broadcast 0,1 root 0; broadcast 0,1 root 1; broadcast 0,1 root 0; broadcast 0,1 root 1");
  for (size_t i = 0; i < outs.size(); ++i) EXPECT_EQ(Read(outs[i]), Values(5, 2.0f * static_cast<float>(i / 2 + 1)));
}

TEST_F(NcclStore, WithoutAnUpdaterThereAndBackIsOneOperation) {
  std::vector<NDArray> a{On(0, {1}), On(1, {2})}, b{On(1, {3}), On(2, {4})};
  NDArray stored = On(0, {7}), out = On(2, {0});
  kv->Init({"a", "b"}, {&stored, &stored});
  KVStore::Arrays all = Pointers(&a), more = Pointers(&b);
  all.insert(all.end(), more.begin(), more.end());
  kv->PushPull({"a", "a", "b", "b"}, all, {"a", "a", "b", "b"}, all);
  const std::string asked = AskedFor();  // of two cliques, in any order
  EXPECT_TRUE(asked == "allreduce 0,1 | allreduce 1,2" || asked == "allreduce 1,2 | allreduce 0,1") << asked;
  EXPECT_EQ(Read(a[0]), Values({3}));
  EXPECT_EQ(Read(a[1]), Values({3}));
  EXPECT_EQ(Read(b[0]), Values({7}));
  EXPECT_EQ(Read(b[1]), Values({7}));
  kv->Pull({"a"}, {&out});  // what is stored follows
  EXPECT_EQ(Read(out), Values({3}));
  EXPECT_EQ(AskedFor(), "broadcast 0,2 root 0");
}

TEST_F(NcclStore, ResultsThatOverlapOtherValuesTakeTheLongWay) {
  std::vector<NDArray> whole{On(0, {1, 2, 3}), On(1, {10, 20, 30})};
  NDArray stored = On(0, {0, 0});
  kv->Init({"a", "b"}, {&stored, &stored});
  NDArray a0 = whole[0].Slice(0, 2), a1 = whole[1].Slice(0, 2), b0 = whole[0].Slice(1, 3), b1 = whole[1].Slice(1, 3);
  kv->PushPull({"a", "a"}, {&a0, &a1}, {"a", "a"}, {&b0, &b1});
  EXPECT_EQ(AskedFor(), "reduce 0,1 root 0 | broadcast 0,1 root 0");
  EXPECT_EQ(Read(whole[0]), Values({1, 11, 22}));
  EXPECT_EQ(Read(whole[1]), Values({10, 11, 22}));
  // beside each other they may lie
  NDArray s = On(0, {0});
  kv->Init({"c", "d"}, {&s, &s});
  NDArray c0 = whole[0].Slice(0, 1), c1 = whole[1].Slice(0, 1), d0 = whole[0].Slice(1, 2), d1 = whole[1].Slice(1, 2);
  kv->PushPull({"c", "c", "d", "d"}, {&c0, &c1, &d0, &d1}, {"c", "c", "d", "d"}, {&c0, &c1, &d0, &d1});
  EXPECT_EQ(AskedFor(), "allreduce 0,1; allreduce 0,1");
  EXPECT_EQ(Read(whole[0]), Values({11, 22, 22}));
}

TEST_F(NcclStore, WhatOneDeviceHasNeedsNoLibrary) {
  NDArray v = On(1, {5}), out = On(1, {0}), other = On(0, {0});
  kv->Init({1}, {&v});
  kv->PushPull({1}, {&v}, {1}, {&out});
  EXPECT_EQ(AskedFor(), "");
  EXPECT_EQ(Read(out), Values({5}));
  kv->Pull({1, 1}, {&out, &other});
  EXPECT_EQ(AskedFor(), "broadcast 0,1 root 1");
  EXPECT_EQ(Read(other), Values({5}));
}

TEST_F(NcclStore, ManyRoundsKeepOrder) {
  std::vector<NDArray> grads{On(0, Values(50, 1)), On(1, Values(50, 1)), On(2, Values(50, 1))},
      weights{On(0, Values(50, 0)), On(1, Values(50, 0)), On(2, Values(50, 0))};
  kv->Init({0}, {&weights[0]});
  for (int round = 0; round < 40; ++round) {
    std::vector<NDArray> all{grads[0], grads[1], grads[2]};
    kv->PushPull({0, 0, 0}, Pointers(&all), {0, 0, 0}, Pointers(&weights), -round);
    for (size_t d = 0; d < 3; ++d) {
      CopyFromTo(weights[d], grads[d]);  // 1, 3, 9, ... and halved by nobody
      if (round % 3 == 2) grads[d] = On(static_cast<int>(d), Values(50, 1));
    }
  }
  EXPECT_EQ(Read(weights[2]), Values(50, 3));
  EXPECT_EQ(Read(weights[0]), Values(50, 3));
}

TEST_F(NcclStore, FailuresStayWithWhatShouldHaveBeenWritten) {
  std::vector<NDArray> values{On(0, {1}), On(1, {2})};
  kv->Init({0}, {&values[0]});
  g_fails = "[kvstore] NCCL: a sum failed";
  kv->PushPull({0, 0}, Pointers(&values), {0, 0}, Pointers(&values));
  EXPECT_THROW(values[1].WaitToRead(), Error);
  try {
    Engine::Get()->WaitForAll();
  } catch (const Error&) {
    // has been seen
  }
}

/* The library adds up dense arrays. Sums of row_sparse values of several GPUs need kernels, which
 * tests/python/kvstore/test_several_gpus_sparse.py has. */
TEST_F(NcclStore, TheLibraryIsNotAskedForRowSparseValues) {
  const TensorType type({4, 2}, kFloat32, StorageType::kRowSparse);
  NDArray host = NDArray::Make(type, Context::CPU()), taken = NDArray::Make(type, Context::CPU());
  host.sparse()->Resize(1);
  host.sparse()->index[SparseParts::kRows].data<int64_t>()[0] = 2;
  std::fill_n(host.sparse()->values.data<float>(), 2, 3.0f);
  std::vector<NDArray> values{NDArray::Make(type, Context::GPU(0)), On(0, {1, 2}), On(1, {10, 20})};
  std::vector<NDArray> outs{NDArray::Make(type, Context::GPU(0)), On(0, {0, 0}), On(1, {0, 0})};
  CopyFromTo(host, values[0]);
  kv->Init({"rows", "w"}, {&values[0], &values[1]});
  kv->PushPull({"rows", "w", "w"}, Pointers(&values), {"rows", "w", "w"}, Pointers(&outs));
  EXPECT_EQ(AskedFor(), "reduce 0,1 root 0 | broadcast 0,1 root 0");
  EXPECT_EQ(Read(outs[2]), Values({11, 22}));
  CopyFromTo(outs[0], taken);
  taken.WaitToRead();
  ASSERT_EQ(taken.sparse()->stored(), 1);
  EXPECT_EQ(taken.sparse()->index[SparseParts::kRows].data<int64_t>()[0], 2);
  EXPECT_EQ(taken.sparse()->values.data<float>()[1], 3);
}

TEST_F(NcclStore, SaysWhatIsMissing) {
  const auto why = [] {
    try {
      KVStore::Create("nccl");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  g_missing = "libnccl.so.2 cannot be loaded";
  EXPECT_NE(why().find("[kvstore] a store of type 'nccl' needs NVIDIA's NCCL: libnccl.so.2 cannot be loaded; accepted: device"),
            std::string::npos)
      << why();
  const DeviceQuery nowhere = {[] { return 0; }, nullptr, nullptr};
  const ScopedPart<DeviceQuery> no_gpus(GpuInterface().query, &nowhere);
  EXPECT_NE(why().find("there are no usable GPUs (python -m mxnet.doctor says why); accepted: device"), std::string::npos) << why();
  const ScopedPart<nccl::Library> none(GpuInterface().collectives, nullptr);
  EXPECT_NE(why().find("this build has no CUDA; accepted: device"), std::string::npos) << why();
  EXPECT_THROW(kv->SetGradientCompression({{"type", "2bit"}}), Error);
}

}  // namespace
}  // namespace mxnet
