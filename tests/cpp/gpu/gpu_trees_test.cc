/* Stores of type device that follow trees between GPUs: which copies they make. The GPUs are made
 * of the host, kernels run on the emulator. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "gpu_emulator.h"
#include "kvstore/nccl.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/kvstore.h"
#include "ndarray/run.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

using Values = std::vector<float>;
using Pair = std::pair<int, int>;

std::mutex g_mutex;            // guards what follows
std::map<Pair, int> g_copies;  // from one GPU to another

/* Pairs of GPUs are close; 0 and 2, and 1 and 3, have no link. */
double Link(int a, int b) { return a / 2 == b / 2 ? 1 : a % 2 != b % 2 ? 0.5 : 0; }
const nccl::Library kLinks = {[] { return std::string("there is no library"); }, nullptr, nullptr, Link};

class GpuTrees : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // stays: workers give their streams back when the process ends
    static const StreamHooks kNoDelay = {[](int) {}, [](bool) -> void* { return new char; }, [](void* s) { delete static_cast<char*>(s); },
                                         [](void*) {}};
    GpuInterface().streams.Set(&kNoDelay);
    FakeGpuMemory<size_t{1} << 24>();
    GpuInterface().collectives.Set(&kLinks);
    Env::Set("MXNET_KVSTORE_USETREE", "1");
  }
  void SetUp() override {
    if (!EmulatorAvailable()) GTEST_SKIP() << "there is no C++ compiler";
    device_ = std::make_unique<EmulatedDevice>();
    static const CopyHooks kCopies = {[](void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void*) {
      std::memcpy(dst, src, bytes);
      std::lock_guard<std::mutex> lock(g_mutex);
      if (dst_ctx.is_gpu() && src_ctx.is_gpu() && dst_ctx != src_ctx) ++g_copies[{src_ctx.dev_id, dst_ctx.dev_id}];
    }};
    GpuInterface().copies.Set(&kCopies);  // in the place of the emulator's, until that ends
  }
  void TearDown() override { Engine::Get()->WaitForAll(); }
  static void TearDownTestSuite() {
    Env::Set("MXNET_KVSTORE_USETREE", "0");
    Env::Set("MXNET_KVSTORE_TREE_ARRAY_BOUND", "10000000");
  }
  static Values Read(const NDArray& a) {
    Values v(static_cast<size_t>(a.shape().Size()));
    a.CopyBytesTo(v.data(), v.size() * 4);
    return v;
  }
  static std::map<Pair, int> Copies() {
    Engine::Get()->WaitForAll();
    std::lock_guard<std::mutex> lock(g_mutex);
    return std::move(g_copies);
  }
  /* Sums what four GPUs have and reads all results. */
  static void PushPull() {
    auto kv = KVStore::Create("device");
    std::vector<NDArray> values, outs;
    KVStore::Arrays in, out;
    for (int d = 0; d < 4; ++d) {
      values.emplace_back(Shape{6}, Context::GPU(d), kFloat32);
      outs.emplace_back(Shape{6}, Context::GPU(d), kFloat32);
      const Values v(6, static_cast<float>(1 << d));
      values.back().CopyBytesFrom(v.data(), 24);
    }
    for (int d = 0; d < 4; ++d) in.push_back(&values[d]), out.push_back(&outs[d]);
    kv->Init({7}, {&values[0]});
    Copies();
    kv->Push(KVStore::Keys(4, 7), in);
    pushed = Copies();
    kv->Pull(KVStore::Keys(4, 7), out);
    pulled = Copies();
    for (const NDArray& o : outs) EXPECT_EQ(Read(o), Values(6, 15));
    for (int d = 0; d < 4; ++d) EXPECT_EQ(Read(values[d]), Values(6, static_cast<float>(1 << d)));
  }
  static std::map<Pair, int> pushed, pulled;

 private:
  std::unique_ptr<EmulatedDevice> device_;
};
std::map<Pair, int> GpuTrees::pushed, GpuTrees::pulled;

TEST_F(GpuTrees, SumsTakeTheFastLinks) {
  Env::Set("MXNET_KVSTORE_TREE_ARRAY_BOUND", "10000000");
  PushPull();
  // Each value crosses its own pair's link, then one sum goes between the pairs.
  EXPECT_EQ(pushed, (std::map<Pair, int>{{{1, 0}, 1}, {{2, 3}, 1}, {{3, 0}, 1}}));
  EXPECT_EQ(pulled, (std::map<Pair, int>{{{0, 1}, 1}, {{3, 2}, 1}, {{0, 3}, 1}}));
}

TEST_F(GpuTrees, SlicesOfLargeArraysTakeSeveralTrees) {
  Env::Set("MXNET_KVSTORE_TREE_ARRAY_BOUND", "5");
  PushPull();
  for (const auto& copies : {pushed, pulled}) {
    EXPECT_GE(copies.size(), 8u);  // nearly all links are used, both ways
    int count = 0;
    for (const auto& c : copies) {
      EXPECT_TRUE(Link(c.first.first, c.first.second) > 0 || c.first.first == 0 || c.first.second == 0);  // slices join at the home
      count += c.second;
    }
    EXPECT_EQ(count, 4 * 3 + 3);  // four trees, and three roots that are not the home
  }
}

}  // namespace
}  // namespace mxnet
