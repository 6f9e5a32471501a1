/* Stores of include/mxnet/kvstore.h, and RecordIO and engine functions of the C ABI that have no
 * test elsewhere. */
#include "mxnet/kvstore.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "io/recordio.h"
#include "kvstore/compression.h"
#include "kvstore/reduce.h"
#include "mxnet/c_api.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

NDArray Filled(const std::vector<float>& values, int dtype = kFloat32) {
  NDArray a({static_cast<int64_t>(values.size())}, Context::CPU(), kFloat32);
  a.CopyBytesFrom(values.data(), values.size() * 4);
  if (dtype == kFloat32) return a;
  NDArray b(a.shape(), Context::CPU(), dtype);
  CopyFromTo(a, b);
  return b;
}

std::vector<float> Read(const NDArray& a) {
  NDArray f(a.shape(), Context::CPU(), kFloat32);
  CopyFromTo(a, f);
  std::vector<float> values(static_cast<size_t>(a.shape().Size()));
  f.CopyBytesTo(values.data(), values.size() * 4);
  return values;
}

using Values = std::vector<float>;

template <typename F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

class Stores : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<KVStore> kv = KVStore::Create(GetParam());
};

TEST_P(Stores, SumsReplaceWhatIsStored) {
  NDArray one = Filled({1, 1}), two = Filled({2, 3}), five = Filled({5, 7}), out = Filled({0, 0});
  kv->Init({3}, {&one});
  kv->Pull({3}, {&out});
  EXPECT_EQ(Read(out), Values({1, 1}));
  kv->Push({3, 3}, {&two, &five});
  kv->Push({3, 3}, {&two, &five});  // replaces, does not add
  kv->Pull({3}, {&out});
  EXPECT_EQ(Read(out), Values({7, 10}));
  kv->Push({3}, {&two});
  two.CopyBytesFrom(Values({0, 0}).data(), 8);  // the store has its own copy
  kv->Pull({3}, {&out});
  EXPECT_EQ(Read(out), Values({2, 3}));
}

TEST_P(Stores, EqualKeysBelongTogetherInAnyPlace) {
  NDArray z = Filled({0}), a = Filled({1}), b = Filled({10}), c = Filled({100}), d = Filled({1000}), x = Filled({0}), y = Filled({0});
  kv->Init({"p", "q"}, {&z, &z});
  kv->Push({"p", "q", "p", "q"}, {&a, &b, &c, &d});
  kv->Pull({"q", "p"}, {&x, &y});
  EXPECT_EQ(Read(x), Values({1010}));
  EXPECT_EQ(Read(y), Values({101}));
}

TEST_P(Stores, UpdaterGetsTheSumAndChangesWhatIsStored) {
  NDArray w = Filled({1, 2}), g = Filled({10, 20}), x = Filled({0, 0}), y = Filled({0, 0});
  kv->Init({"w"}, {&w});
  std::vector<std::string> keys;
  kv->SetUpdater([&](const KVKey& key, const NDArray& pushed, NDArray* stored) {
    keys.push_back(key.name);
    const Values p = Read(pushed);
    Values s = Read(*stored);
    for (size_t i = 0; i < s.size(); ++i) s[i] -= 0.5f * p[i];
    stored->CopyBytesFrom(s.data(), s.size() * 4);
  });
  kv->PushPull({"w", "w"}, {&g, &g}, {"w", "w"}, {&x, &y});
  EXPECT_EQ(Read(x), Values({-9, -18}));
  EXPECT_EQ(Read(y), Read(x));
  EXPECT_EQ(Read(g), Values({10, 20}));
  EXPECT_EQ(keys, std::vector<std::string>({"w"}));
}

TEST_P(Stores, PushPullIntoTheValuesThemselves) {
  NDArray a = Filled({1, 2}), b = Filled({3, 4}), out = Filled({0, 0});
  kv->Broadcast({1}, {&a}, {1, 1}, {&out, &b});
  EXPECT_EQ(Read(b), Values({1, 2}));
  kv->PushPull({1, 1}, {&a, &b}, {1, 1}, {&a, &b});
  EXPECT_EQ(Read(a), Values({2, 4}));
  EXPECT_EQ(Read(b), Values({2, 4}));
}

TEST_P(Stores, DTypesConvertOnTheWay) {
  for (int dtype : {kFloat64, kFloat16, kBfloat16, kInt32, kInt64, kUint8}) {
    auto store = KVStore::Create(GetParam());
    NDArray w = Filled({1, 1}), a = Filled({2, 3}, dtype), out = Filled({0, 0}, dtype);
    store->Init({0}, {&w});
    store->Push({0, 0}, {&a, &a});
    store->Pull({0}, {&out});
    EXPECT_EQ(Read(out), Values({4, 6})) << DTypeName(dtype);
    store->Push({0}, {&a});
    store->Pull({0}, {&w});
    EXPECT_EQ(Read(w), Values({2, 3})) << DTypeName(dtype);
  }
}

TEST_P(Stores, WrongArgumentsSaySoAndChangeNothing) {
  NDArray w = Filled({1, 2}), small = Filled({1}), half = Filled({1, 1}, kFloat16), out = Filled({0, 0});
  kv->Init({1}, {&w});
  EXPECT_NE(ErrorOf([&] { kv->Init({1}, {&w}); }).find("[kvstore] key 1 was initialised before"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Init({2, 2}, {&w, &w}); }).find("key 2"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Init({"name"}, {&w}); }).find("keys of this store are numbers"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Push({7}, {&w}); }).find("key 7 has no value"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Push({1}, {&small}); }).find("shape (1,)"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Push({1, 1}, {&w}); }).find("2 keys and 1 arrays"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Pull({1}, {&small}); }).find("stored value has (2,)"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->PushPull({1}, {&half}, {1}, {&small}); }).find("pushpull"), std::string::npos);
  NDArray none;
  EXPECT_NE(ErrorOf([&] { kv->Push({1}, {&none}); }).find("none"), std::string::npos);
  kv->Pull({1}, {&out});
  EXPECT_EQ(Read(out), Values({1, 2}));
  // Values of another dtype than the first one's are converted to that.
  kv->Push({1, 1}, {&w, &half});
  kv->Pull({1}, {&out});
  EXPECT_EQ(Read(out), Values({2, 3}));
}

/* Stores of one process keep csr values for pulls. Nothing is pushed to these. */
TEST_P(Stores, ArraysOfColumnsAreKeptAndNotPushed) {
  NDArray w = Filled({1, 2}).Reshape({1, 2}), out = Filled({0, 0}).Reshape({1, 2});
  const TensorType type({1, 2}, kFloat32, StorageType::kCSR);
  NDArray csr = NDArray::Make(type, Context::CPU()), got = NDArray::Make(type, Context::CPU());
  CopyFromTo(w, csr);
  kv->Init({1, 2}, {&csr, &w});
  kv->Pull({1}, {&got});
  CopyFromTo(got, out);
  EXPECT_EQ(Read(out), Values({1, 2}));
  EXPECT_NE(ErrorOf([&] { kv->Push({1}, {&w}); }).find("push to key 1, whose value is csr"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->Push({2, 2}, {&w, &csr}); }).find("push to key 2 got a csr array"), std::string::npos);
  kv->Pull({2}, {&got});
  out = Filled({0, 0}).Reshape({1, 2});
  CopyFromTo(got, out);
  EXPECT_EQ(Read(out), Values({1, 2}));
}

/* A dense key's sum goes to arrays of both storages; the slot of a key's sums serves both. */
TEST_P(Stores, DenseAndRowSparseArraysGoTogether) {
  const TensorType type({2, 2}, kFloat32, StorageType::kRowSparse);
  NDArray w = Filled({0, 0, 1, 2}).Reshape({2, 2}), dense = Filled({0, 0, 0, 0}).Reshape({2, 2}),
          rows = NDArray::Make(type, Context::CPU());
  NDArray got = NDArray::Make(type, Context::CPU());
  CopyFromTo(w, rows);
  kv->Init({1}, {&w});
  for (int i = 0; i < 2; ++i) {
    kv->PushPull({1, 1}, {&w, &w}, {1, 1}, {&got, &dense});
    EXPECT_EQ(Read(dense), Values({0, 0, 2, 4}));
    got.WaitToRead();
    EXPECT_EQ(got.sparse()->stored(), 1);
    kv->PushPull({1, 1, 1}, {&rows, &rows, &rows}, {1}, {&dense});
    EXPECT_EQ(Read(dense), Values({0, 0, 3, 6}));
    if (i == 0) kv->SetUpdater([](const KVKey&, const NDArray& pushed, NDArray* stored) { CopyFromTo(pushed, *stored); });
  }
}

TEST_P(Stores, AreAlone) {
  EXPECT_EQ(kv->type(), GetParam());
  EXPECT_EQ(kv->transport()->rank(), 0);
  EXPECT_EQ(kv->transport()->size(), 1);
  EXPECT_EQ(kv->transport()->NumDeadNodes(0, 1), 0);
  kv->transport()->Barrier();
}

TEST_P(Stores, ManyKeysManyRoundsKeepOrder) {
  const int keys = 20, rounds = 30;
  std::vector<NDArray> weights, grads;
  for (int k = 0; k < keys; ++k) {
    weights.push_back(Filled(Values(1 + 97 * k, static_cast<float>(k))));
    grads.push_back(Filled(Values(1 + 97 * k, 1)));
    kv->Init({k}, {&weights[k]});
  }
  for (int r = 0; r < rounds; ++r) {
    for (int k = 0; k < keys; ++k) kv->PushPull({k, k}, {&grads[k], &weights[k]}, {k}, {&weights[k]}, -k);  // weight += grad
  }
  for (int k = 0; k < keys; ++k)
    for (float v : Read(weights[k])) ASSERT_EQ(v, static_cast<float>(k + rounds));
}

INSTANTIATE_TEST_SUITE_P(All, Stores,
                         ::testing::Values("local", "device", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device"));

TEST(KVStoreTest, TypesThatDoNotExist) {
  EXPECT_EQ(KVStore::Create("LOCAL")->type(), "local");
  for (const char* type : {"foo", "p3", "", "device_sync"}) {  // as in 1.9.1
    testing::internal::CaptureStderr();
    EXPECT_EQ(KVStore::Create(type)->type(), type);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("accepted: local, local_update_cpu, local_allreduce_cpu, device"),
              std::string::npos)
        << type;
  }
  EXPECT_NE(ErrorOf([] { KVStore::Create("dist_none"); }).find("accepted: dist, dist_sync"), std::string::npos);
}

TEST(KVStoreTest, SumsDoNotDependOnThreads) {
  const int64_t n = 100003;
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<NDArray> arrays;
  std::vector<TBlob> blobs;
  Values expected(n, 0.0f);
  for (int k = 0; k < 5; ++k) {
    Values v(n);
    for (int64_t i = 0; i < n; ++i) v[i] = normal(rng);
    for (int64_t i = 0; i < n; ++i) expected[i] += v[i];
    arrays.push_back(Filled(v));
    arrays.back().WaitToRead();
    blobs.push_back(arrays.back().data());
  }
  const int threads = Env::Get().kvstore_reduction_nthreads;
  const int64_t bound = Env::Get().kvstore_bigarray_bound;
  for (int t : {1, 2, 3, 7}) {
    Env::Set("MXNET_KVSTORE_REDUCTION_NTHREADS", std::to_string(t));
    Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", "1000");
    NDArray out = Filled(Values(n, -1.0f));
    SumArrays(blobs, {out.data()});
    EXPECT_EQ(Read(out), expected) << t << " threads";
  }
  Env::Set("MXNET_KVSTORE_REDUCTION_NTHREADS", std::to_string(threads));
  Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", std::to_string(bound));
}

TEST(KVStoreTest, SumsGoToSeveralPlacesAtOnce) {
  // Small and past the caches, with an end that fills no block and starts that are not aligned.
  for (const int64_t n : {int64_t{1}, int64_t{5000}, (int64_t{4} << 20) + 13}) {
    for (int dtype : {kFloat32, kFloat16}) {
      Values va(n + 1), vb(n + 1);
      for (int64_t i = 0; i <= n; ++i) va[i] = static_cast<float>(i % 1000), vb[i] = static_cast<float>(i % 7);
      const NDArray a = Filled(va, dtype), b = Filled(vb, dtype), c = Filled(Values(n + 1, -1.0f), dtype);
      Engine::Get()->WaitForAll();
      const NDArray one = a.Slice(1, n + 1), two = b.Slice(1, n + 1), out = c.Slice(0, n);
      const NDArray d = Filled(Values(n + 1, -1.0f), dtype), e = Filled(Values(n + 1, -1.0f), dtype);
      Engine::Get()->WaitForAll();
      const NDArray alike = d.Slice(1, n + 1), also = e.Slice(1, n + 1);
      SumArrays({one.data(), two.data()}, {alike.data(), also.data()});
      SumArrays({one.data(), two.data()}, {out.data(), one.data()});  // one of the inputs is an output too
      NDArray copied({n}, Context::CPU(), dtype);
      SumArrays({one.data()}, {copied.data()});
      EXPECT_EQ(Read(d)[0], -1);
      for (const NDArray& result : {out, one, copied, alike, also}) {
        const Values v = Read(result);
        for (int64_t i = 0; i < n; ++i) ASSERT_EQ(v[i], static_cast<float>((i + 1) % 1000 + (i + 1) % 7)) << n << " " << i;
      }
    }
  }
}

TEST(KVStoreTest, PushPullWritesWhereItIsToldWhateverOverlaps) {
  for (const char* type : {"local", "device"}) {
    auto kv = KVStore::Create(type);
    NDArray w = Filled({0, 0, 0}), base = Filled({1, 2, 3, 4}), other = Filled({10, 20, 30}), half = Filled({0, 0, 0}, kFloat16);
    NDArray from = base.Slice(0, 3), to = base.Slice(1, 4);  // views of one array that overlap
    kv->Init({1}, {&w});
    kv->PushPull({1, 1}, {&from, &other}, {1, 1, 1}, {&to, &half, &other});
    EXPECT_EQ(Read(base), Values({1, 11, 22, 33}));
    EXPECT_EQ(Read(other), Values({11, 22, 33}));
    EXPECT_EQ(Read(half), Values({11, 22, 33}));
    kv->Pull({1}, {&w});
    EXPECT_EQ(Read(w), Values({11, 22, 33}));
  }
}

using kvstore::Compression;

TEST(GradientCompression, CodesFillWordsFromTheLowestBit) {
  Values g(35, 0.0f), sent(35, 9.0f);
  g[0] = 0.5f, g[1] = -0.5f, g[15] = 1, g[16] = -2, g[34] = 0.75f;
  NDArray in = Filled(g), residual, bits, out = Filled(sent);
  const Compression two{Compression::kTwoBit, 0.5f}, one{Compression::kOneBit, 0.5f};
  EXPECT_EQ(two.Words(35), 3);
  EXPECT_EQ(one.Words(35), 2);
  EXPECT_EQ(one.Words(0), 0);
  Compress(two, in, &residual, &bits, 0);
  bits.WaitToRead();
  const uint32_t* w = bits.data().data<uint32_t>();
  EXPECT_EQ(std::vector<uint32_t>(w, w + 3), std::vector<uint32_t>({1u | 2u << 2 | 1u << 30, 2u, 1u << 4}));
  Decompress(two, bits, out, 0);
  Values expected(35, 0.0f);
  expected[0] = expected[15] = expected[34] = 0.5f, expected[1] = expected[16] = -0.5f;
  EXPECT_EQ(Read(out), expected);
  const Values rest = Read(residual);
  EXPECT_EQ(rest[15], 0.5f);
  EXPECT_EQ(rest[16], -1.5f);
  EXPECT_EQ(rest[34], 0.25f);

  NDArray none, words;
  Compress(one, in, &none, &words, 0);
  words.WaitToRead();
  w = words.data().data<uint32_t>();
  EXPECT_EQ(std::vector<uint32_t>(w, w + 2), std::vector<uint32_t>({1u << 15, 1u << 2}));  // 0.5 is not above 0.5
  Decompress(one, words, out, 0);
  expected.assign(35, -1.0f);
  expected[15] = expected[34] = 1;
  EXPECT_EQ(Read(out), expected);
  EXPECT_EQ(Read(none)[0], 1.5f);
  EXPECT_EQ(Read(none)[34], -0.25f);
}

TEST(GradientCompression, OneBitStoresAddUpSigns) {
  auto kv = KVStore::Create("device");
  kv->SetGradientCompression({{"type", "1bit"}, {"threshold", "0.5"}});
  NDArray w = Filled({0, 0, 0}), g = Filled({0.3f, 0.9f, -3}), out = Filled({0, 0, 0});
  kv->Init({1}, {&w});
  for (const Values& expected : std::vector<Values>{{-2, 2, -2}, {2, 2, -2}, {2, 2, -2}, {-2, 2, -2}}) {
    kv->PushPull({1, 1}, {&g, &g}, {1}, {&out});
    EXPECT_EQ(Read(out), expected);
  }
  kv->SetGradientCompression({{"type", "1bit"}, {"threshold", "-1"}});
  EXPECT_NE(ErrorOf([&] { kv->SetGradientCompression({{"threshold", "1"}}); }).find("without a type"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              kv->SetGradientCompression({{"type", "1bit"}, {"threshold", "x"}});
            }).find("accepted: a number"),
            std::string::npos);
}

TEST(KVStoreTest, GradientCompressionKeepsWhatItLeavesOut) {
  auto kv = KVStore::Create("device");
  kv->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.5"}});
  NDArray w = Filled({0, 0, 0}), g = Filled({0.3f, 0.9f, -0.5f}), out = Filled({0, 0, 0});
  kv->Init({1}, {&w});
  const std::vector<Values> rounds = {{0, 0.5f, -0.5f}, {0.5f, 0.5f, -0.5f}, {0, 0.5f, -0.5f}};
  for (const Values& expected : rounds) {
    kv->Push({1}, {&g});
    kv->Pull({1}, {&out});
    EXPECT_EQ(Read(out), expected);
  }
  // each device has its own remainder
  NDArray h = Filled({0.3f, -0.6f, 2});
  kv->Push({1, 1}, {&g, &h});
  kv->Pull({1}, {&out});
  EXPECT_EQ(Read(out), Values({0.5f, 0, 0}));
  EXPECT_NE(ErrorOf([&] { kv->SetGradientCompression({{"type", "3bit"}}); }).find("accepted: none, 1bit, 2bit"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->SetGradientCompression({{"type", "2bit"}, {"threshold", "-1"}}); }).find("above 0"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { kv->SetGradientCompression({{"size", "2"}}); }).find("accepted: type, threshold"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { KVStore::Create("local")->SetGradientCompression({{"type", "2bit"}}); }).find("device"), std::string::npos);
  NDArray d = Filled({0, 0, 0}, kFloat64);
  EXPECT_NE(ErrorOf([&] { kv->Push({1}, {&d}); }).find("accepted: float32"), std::string::npos);
}

// ---- through C

void CountKey(int key, NDArrayHandle recv, NDArrayHandle local, void* handle) {
  *static_cast<int*>(handle) += key;
  MXNDArrayFree(recv);
  MXNDArrayFree(local);
}

TEST(KVStoreCTest, UpdatersByKindOfKey) {
  KVStoreHandle numbers, names;
  ASSERT_EQ(MXKVStoreCreate("local", &numbers), 0);
  ASSERT_EQ(MXKVStoreCreate("local", &names), 0);
  NDArray w = Filled({1});
  NDArrayHandle value = &w;
  int sum = 0;
  const int five = 5;
  const char* name = "five";
  ASSERT_EQ(MXKVStoreInit(numbers, 1, &five, &value), 0);
  ASSERT_EQ(MXKVStoreSetUpdater(numbers, CountKey, &sum), 0);
  ASSERT_EQ(MXKVStorePush(numbers, 1, &five, &value, 0), 0);
  EXPECT_EQ(sum, 5);
  ASSERT_EQ(MXKVStoreInitEx(names, 1, &name, &value), 0);
  ASSERT_EQ(MXKVStoreSetUpdater(names, CountKey, &sum), 0);
  EXPECT_EQ(MXKVStorePushEx(names, 1, &name, &value, 0), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("takes numbers as keys; got five"), std::string::npos);
  int rank = -1, size = -1, dead = -1, worker = -1;
  ASSERT_EQ(MXKVStoreGetRank(names, &rank) | MXKVStoreGetGroupSize(names, &size) | MXKVStoreGetNumDeadNode(names, 0, &dead, 1) |
                MXKVStoreIsWorkerNode(&worker),
            0);
  EXPECT_EQ(rank + 10 * size + 100 * dead + 1000 * worker, 1010);
  EXPECT_EQ(MXKVStorePull(nullptr, 1, &five, &value, 0), -1);
  EXPECT_EQ(MXKVStoreFree(numbers) | MXKVStoreFree(names), 0);
}

TEST(EnginePushC, RunsInOrderAndFreesItsParameter) {
  static std::atomic<int> freed{0};
  NDArray a = Filled({1});
  NDArrayHandle handle = &a;
  const Context ctx = Context::CPU();
  struct Param {
    NDArray* array;
    float add;
  };
  auto add = [](void*, void* p) {
    auto* param = static_cast<Param*>(p);
    param->array->data().data<float>()[0] += param->add;
  };
  auto free_param = [](void* p) {
    delete static_cast<Param*>(p);
    ++freed;
  };
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(MXEnginePushSyncND(add, new Param{&a, 2}, free_param, &ctx, nullptr, 0, &handle, 1, nullptr, 0, "add_two"), 0);
  auto later = [](void*, void* done, void* p) {
    auto* param = static_cast<Param*>(p);
    param->array->data().data<float>()[0] *= param->add;
    OnComplete complete = *static_cast<OnComplete*>(done);
    complete();
  };
  void* var = a.var();
  ASSERT_EQ(MXEnginePushAsync(later, new Param{&a, 3}, free_param, &ctx, nullptr, 0, &var, 1, nullptr, 0, "triple", false), 0);
  EXPECT_EQ(Read(a), Values({63}));
  Engine::Get()->WaitForAll();
  EXPECT_EQ(freed, 11);
  EXPECT_EQ(MXEnginePushSync(nullptr, nullptr, nullptr, &ctx, nullptr, 0, &var, 1, nullptr, 0, nullptr), -1);
  EXPECT_EQ(MXEnginePushSync(add, nullptr, nullptr, nullptr, nullptr, 0, &var, 1, nullptr, 0, nullptr), -1);
}

// ---- RecordIO

struct TempFile {
  std::string path = ::testing::TempDir() + "recordio_test_" + std::to_string(getpid()) + ".rec";
  ~TempFile() { std::remove(path.c_str()); }
  std::string Bytes() const {
    std::FILE* f = std::fopen(path.c_str(), "rb");
    std::string all(1 << 20, '\0');
    all.resize(std::fread(&all[0], 1, all.size(), f));
    std::fclose(f);
    return all;
  }
  void Write(const std::string& bytes) const {
    std::FILE* f = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), f);
    std::fclose(f);
  }
};

std::string Magic() { return std::string(reinterpret_cast<const char*>(&kRecordMagic), 4); }

TEST(RecordIOTest, RoundTripWithMagicInside) {
  TempFile file;
  const std::string m = Magic();
  const std::vector<std::string> records = {
      "", "a", "abcd", m, m + m, "x" + m, "abcd" + m, m + "tail", "abcd" + m + m + "efg", std::string(100000, 'z'), "12345678" + m};
  std::vector<uint64_t> places;
  {
    RecordWriter writer(file.path);
    for (const auto& r : records) {
      places.push_back(writer.Tell());
      writer.Write(r.data(), r.size());
    }
    writer.Close();
    EXPECT_EQ(writer.Tell(), file.Bytes().size());
  }
  RecordReader reader("file://" + file.path);
  std::string got;
  for (const auto& r : records) {
    ASSERT_TRUE(reader.Read(&got));
    EXPECT_EQ(got, r);
  }
  EXPECT_FALSE(reader.Read(&got));
  for (size_t i = records.size(); i-- > 0;) {
    reader.Seek(places[i]);
    ASSERT_TRUE(reader.Read(&got));
    EXPECT_EQ(got, records[i]);
    EXPECT_EQ(reader.Tell(), i + 1 < records.size() ? places[i + 1] : file.Bytes().size());
  }
}

TEST(RecordIOTest, SmallestFileByteForByte) {
  TempFile file;
  {
    RecordWriter writer(file.path);
    writer.Write("hello", 5);
  }
  EXPECT_EQ(file.Bytes(), Magic() + std::string("\x05\0\0\0hello\0\0\0", 12));
}

TEST(RecordIOTest, EveryTruncationAndEveryChangedByteIsHarmless) {
  TempFile file;
  {
    RecordWriter writer(file.path);
    writer.Write("hello world", 11);
    const std::string split = "abcd" + Magic() + "ef";
    writer.Write(split.data(), split.size());
  }
  const std::string good = file.Bytes();
  for (size_t n = 0; n < good.size(); ++n) {
    file.Write(good.substr(0, n));
    RecordReader reader(file.path);
    std::string got;
    const std::string error = ErrorOf([&] {
      while (reader.Read(&got)) {
      }
    });
    EXPECT_EQ(error.empty(), n == 0 || n == 20) << n << ": " << error;
    if (!error.empty()) {
      EXPECT_NE(error.find(", byte "), std::string::npos) << error;
      EXPECT_TRUE(reader.Tell() == 0 || reader.Tell() == 20);
      EXPECT_FALSE(ErrorOf([&] { reader.Read(&got); }).empty());  // it stands where it did
    }
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      file.Write(bad);
      RecordReader reader(file.path);
      std::string got;
      size_t largest = 0;
      ErrorOf([&] {
        while (reader.Read(&got)) largest = std::max(largest, got.capacity());
      });
      EXPECT_LE(largest, 4 * good.size());
    }
  }
}

TEST(RecordIOTest, WhatIsWrongIsNamed) {
  TempFile file;
  EXPECT_NE(ErrorOf([] { RecordReader r("/no/such/file.rec"); }).find("cannot open /no/such/file.rec"), std::string::npos);
  EXPECT_NE(ErrorOf([] { RecordReader r("/tmp"); }).find("no regular file"), std::string::npos);
  file.Write(Magic() + std::string("\xff\xff\xff\x1f", 4) + "abcd");
  std::string got;
  RecordReader big(file.path);
  EXPECT_NE(ErrorOf([&] { big.Read(&got); }).find("byte 8: a part of 536870911 bytes"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { big.Seek(13); }).find("beyond its end"), std::string::npos);
  file.Write(Magic() + std::string("\0\0\0\x40", 4));  // a middle part first
  EXPECT_NE(ErrorOf([&] { RecordReader(file.path).Read(&got); }).find("continuation flag 2"), std::string::npos);
  file.Write("not a record");
  EXPECT_NE(ErrorOf([&] { RecordReader(file.path).Read(&got); }).find("byte 0: found 0x20746f6e"), std::string::npos);
  RecordIOHandle handle;
  EXPECT_EQ(MXRecordIOReaderCreate("/no/such/file.rec", &handle), -1);
}

TEST(RecordIOTest, ThroughC) {
  TempFile file;
  RecordIOHandle writer, reader;
  ASSERT_EQ(MXRecordIOWriterCreate(file.path.c_str(), &writer), 0);
  ASSERT_EQ(MXRecordIOWriterWriteRecord(writer, "first", 5) | MXRecordIOWriterWriteRecord(writer, nullptr, 0), 0);
  size_t position = 0;
  ASSERT_EQ(MXRecordIOWriterTell(writer, &position), 0);
  EXPECT_EQ(position, 24u);
  ASSERT_EQ(MXRecordIOWriterFree(writer), 0);
  ASSERT_EQ(MXRecordIOReaderCreate(file.path.c_str(), &reader), 0);
  const char* buf = nullptr;
  size_t size = 9;
  ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &buf, &size), 0);
  EXPECT_EQ(std::string(buf, size), "first");
  ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &buf, &size), 0);
  EXPECT_TRUE(buf != nullptr && size == 0);
  ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &buf, &size), 0);
  EXPECT_TRUE(buf == nullptr && size == 0);
  ASSERT_EQ(MXRecordIOReaderSeek(reader, 0) | MXRecordIOReaderReadRecord(reader, &buf, &size) | MXRecordIOReaderTell(reader, &position), 0);
  EXPECT_EQ(std::string(buf, size), "first");
  EXPECT_EQ(position, 16u);
  EXPECT_EQ(MXRecordIOReaderFree(reader), 0);
}

}  // namespace
}  // namespace mxnet
