/* Memory that libraries share on a GPU: neither side reads what the other one's streams have still
 * to write, and the host waits for neither. */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/fake_streams.h"
#include "engine/gpu_work.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "mxnet/ndarray.h"
#include "ndarray/dlpack.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

FakeStream* Other(int number) {  // streams of the other library: its two default streams, and one of its own
  static FakeStream* const streams[3] = {new FakeStream, new FakeStream, new FakeStream};
  return streams[number];
}
int64_t Handle(FakeStream* stream) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(stream)); }
FakeStream* Resolve(void* stream) {
  const int64_t number = Handle(static_cast<FakeStream*>(stream));
  return number == kLegacyStream || number == kPerThreadStream ? Other(static_cast<int>(number) - 1) : static_cast<FakeStream*>(stream);
}

std::vector<std::pair<int, int64_t>> g_foreign_waits;  // device and stream
std::atomic<bool> g_fails{false};

StreamHooks Hooks() {
  StreamHooks hooks = kFakeStreams;
  hooks.record_on = [](int, void* stream) {
    if (g_fails) throw Error("[engine] recording an event failed: fake refusal");
    return kFakeStreams.record(Resolve(stream));
  };
  hooks.wait_on = [](int dev_id, void* stream, void* event) {
    g_foreign_waits.emplace_back(dev_id, Handle(static_cast<FakeStream*>(stream)));
    kFakeStreams.wait(Resolve(stream), event);
  };
  return hooks;
}
const StreamHooks* const kHooks = new StreamHooks(Hooks());

class DeviceExchange : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // stays: workers give their streams back when the process ends
    GpuInterface().streams.Set(kHooks);
    FakeGpuMemory<size_t{1} << 20>();
  }
  void SetUp() override {
    g_foreign_waits.clear();
    g_fails = false;
    deleted_ = 0;
  }
  /* Puts work on the array's own worker; it runs when `open` is set. */
  static void Push(const NDArray& array, std::function<void(float*)> work, bool write, std::atomic<bool>* open = nullptr) {
    float* data = array.data().dptr<float>();
    std::vector<Var*> reads, writes;
    (write ? writes : reads).push_back(array.var());
    Engine::Get()->PushSync(
        [data, work, open](RunContext run) {
          static_cast<FakeStream*>(run.stream)->Put([data, work, open] {
            while (open != nullptr && !*open) std::this_thread::yield();
            work(data);
          });
        },
        array.ctx(), reads, writes, FnProperty::kNormal, 0, "work");
  }
  DLManagedTensor Floats(float* values) {
    DLManagedTensor tensor = {};
    Fill(&tensor.dl_tensor, values);
    tensor.deleter = [](DLManagedTensor*) { ++deleted_; };
    return tensor;
  }
  void Fill(DLTensor* t, float* values) {
    t->data = values;
    t->device = {2, 1};
    t->ndim = 1;
    t->dtype = {2, 32, 1};
    t->shape = shape_;
  }
  int64_t shape_[1] = {4};
  inline static std::atomic<int> deleted_{0};
};

// The export returns while our writer stands at a gate, and so does a reader: the consumer's stream
// is behind both. That of nobody else is.
TEST_F(DeviceExchange, TheConsumersStreamWaits) {
  for (int64_t stream : {int64_t{kLegacyStream}, int64_t{kPerThreadStream}, Handle(Other(2))}) {
    for (bool versioned : {false, true}) {
      g_foreign_waits.clear();
      NDArray array(Shape{4}, Context::GPU(1), kFloat32);
      std::atomic<bool> open{false};
      std::atomic<int> reads{0};
      Push(
          array, [](float* data) { std::fill(data, data + 4, 7.0f); }, true, &open);
      Push(
          array, [&](float*) { ++reads; }, false);
      const int finishes = FakeStream::finishes, syncs = FakeStream::syncs;
      DLManagedTensor* plain = versioned ? nullptr : ToDLPack(array, stream);
      DLManagedTensorVersioned* tensor = versioned ? ToDLPackVersioned(array, stream, kDLPackIsCopied) : nullptr;
      EXPECT_FALSE(open) << "a host that waits for the device would stand here for good";
      const DLTensor& t = versioned ? tensor->dl_tensor : plain->dl_tensor;
      EXPECT_EQ(t.device.device_type, 2);
      EXPECT_EQ(t.device.device_id, 1);
      EXPECT_EQ(t.strides[0], 1);
      float seen = 0;
      int reads_before = -1;
      FakeStream* consumer = Resolve(reinterpret_cast<void*>(stream));
      consumer->Put([&] {
        seen = static_cast<float*>(t.data)[3];
        reads_before = reads;
        static_cast<float*>(t.data)[3] = 9;
      });
      open = true;
      consumer->Wait(consumer->put());
      EXPECT_EQ(seen, 7);
      EXPECT_EQ(reads_before, 1) << "a consumer may write: our readers come first";
      EXPECT_EQ(FakeStream::finishes, finishes);
      EXPECT_EQ(FakeStream::syncs, syncs);
      ASSERT_FALSE(g_foreign_waits.empty());
      EXPECT_EQ(g_foreign_waits[0], (std::pair<int, int64_t>{1, stream}));
      if (versioned) {
        EXPECT_EQ(tensor->version.major, 1u);
        EXPECT_EQ(tensor->flags, kDLPackIsCopied);
        tensor->deleter(tensor);
      } else {
        plain->deleter(plain);
      }
    }
  }
  Engine::Get()->WaitForAll();
}

// A consumer gives memory back while its stream still reads: who gets it next writes behind that.
TEST_F(DeviceExchange, MemoryIsFreeWhenTheConsumersStreamHasPassed) {
  for (bool versioned : {false, true}) {
    std::atomic<bool> open{false};
    float seen = 0;
    void* place = nullptr;
    {
      NDArray array(Shape{4}, Context::GPU(0), kFloat32);
      Push(
          array, [](float* data) { std::fill(data, data + 4, 7.0f); }, true);
      place = array.data().dptr<void>();
      DLManagedTensor* plain = versioned ? nullptr : ToDLPack(array, kLegacyStream);
      DLManagedTensorVersioned* tensor = versioned ? ToDLPackVersioned(array, kLegacyStream, 0) : nullptr;
      Other(0)->Put([&open, &seen, place] {
        while (!open) std::this_thread::yield();
        seen = static_cast<float*>(place)[1];
      });
      if (versioned)
        tensor->deleter(tensor);
      else
        plain->deleter(plain);
    }
    NDArray next(Shape{4}, Context::GPU(0), kFloat32);
    const int waits = FakeStream::waits;
    Push(
        next, [](float* data) { std::fill(data, data + 4, 8.0f); }, true);
    engine::WorkOf(next.var());  // it is on its stream
    EXPECT_EQ(next.data().dptr<void>(), place) << "another block says nothing";
    EXPECT_GT(FakeStream::waits, waits);
    open = true;
    Other(0)->Wait(Other(0)->put());
    next.WaitToWrite();
    EXPECT_EQ(seen, 7);
    EXPECT_EQ(next.data().dptr<float>()[1], 8);
  }
}

// A consumer writes what it was lent, and gives it back while its stream is at work.
TEST_F(DeviceExchange, WeReadWhatTheConsumersStreamWrites) {
  for (bool written_between : {false, true}) {
    NDArray array(Shape{4}, Context::GPU(0), kFloat32);
    Push(
        array, [](float* data) { std::fill(data, data + 4, 7.0f); }, true);
    DLManagedTensor* tensor = ToDLPack(array, kLegacyStream);
    std::atomic<bool> open{false};
    float seen = 0;
    float* const data = array.data().dptr<float>();
    Other(0)->Put([&open, data] {
      while (!open) std::this_thread::yield();
      data[1] = 8;
    });
    tensor->deleter(tensor);
    const int waits = FakeStream::waits;
    if (written_between)
      Push(
          array, [](float* d) { d[2] = d[1]; }, true);
    Push(
        array, [&seen](float* d) { seen = d[1]; }, false);
    engine::WorkOf(array.var());  // it is on its stream
    EXPECT_GT(FakeStream::waits, waits);
    open = true;
    array.WaitToWrite();
    EXPECT_EQ(seen, 8);
    EXPECT_EQ(data[2], written_between ? 8 : 7);
  }
}

TEST_F(DeviceExchange, OtherWaysOfExport) {
  NDArray array(Shape{4}, Context::GPU(0), kFloat32);
  std::atomic<bool> open{false};
  Push(
      array, [](float* data) { data[0] = 5; }, true, &open);
  // no order: the work is on our streams, where a consumer that waits for the whole device finds
  // it, and nobody waits
  DLManagedTensor* tensor = ToDLPack(array, kNoOrder);
  EXPECT_TRUE(g_foreign_waits.empty());
  EXPECT_FALSE(open);
  tensor->deleter(tensor);
  std::thread opens([&] { open = true; });
  tensor = ToDLPack(array);  // the host waits
  EXPECT_EQ(static_cast<float*>(tensor->dl_tensor.data)[0], 5);
  opens.join();
  EXPECT_TRUE(g_foreign_waits.empty());
  tensor->deleter(tensor);
  // what is over needs no wait
  tensor = ToDLPack(array, kLegacyStream);
  EXPECT_TRUE(g_foreign_waits.empty());
  tensor->deleter(tensor);
  for (int64_t stream : {int64_t{kNoOrder}, int64_t{kLegacyStream}, Handle(Other(2))}) {
    NDArray host(Shape{4}, Context::CPU(), kFloat32);
    EXPECT_THROW(ToDLPack(host, stream), Error);
    EXPECT_THROW(ToDLPackVersioned(host, stream, 0), Error);
  }
  EXPECT_THROW(ToDLPack(array, -2), Error);
  // an error that the array keeps is told, as by every wait
  Engine::Get()->PushSync([](RunContext) { throw Error("bad operator"); }, array.ctx(), {}, {array.var()});
  EXPECT_THROW(ToDLPack(array, kLegacyStream), Error);
  Engine::Get()->WaitForAll();
}

// What producers have on their stream when they hand memory out comes before all that we do with
// it; what they put there later holds nobody up.
TEST_F(DeviceExchange, OurReadersWaitForTheProducersStream) {
  for (int way = 0; way < 6; ++way) {
    float values[4] = {1, 2, 3, 4};
    std::atomic<bool> open{false}, end{false};
    const int64_t stream = way < 3 ? int64_t{kLegacyStream} : way == 3 ? int64_t{kPerThreadStream} : Handle(Other(2));
    FakeStream* producer = Resolve(reinterpret_cast<void*>(stream));
    producer->Put([&] {
      while (!open) std::this_thread::yield();
      values[2] = 30;
    });
    DLManagedTensor plain = Floats(values);
    DLManagedTensorVersioned versioned = {};
    versioned.version = {1, 3};
    versioned.deleter = [](DLManagedTensorVersioned*) { ++deleted_; };
    Fill(&versioned.dl_tensor, values);
    deleted_ = 0;
    {
      TBlob blob;
      blob.dptr = values, blob.shape = Shape{4}, blob.dtype = kFloat32, blob.ctx = Context::GPU(1);
      const int finishes = FakeStream::finishes, syncs = FakeStream::syncs;
      const NDArray array = way < 2    ? FromDLPack(&plain, way == 1)
                            : way == 2 ? FromDLPackVersioned(&versioned)
                                       : FromDeviceMemory(blob, stream, [] { ++deleted_; });
      producer->Put([&] {
        while (!end) std::this_thread::yield();
      });
      EXPECT_EQ(array.ctx(), Context::GPU(1));
      float seen = 0;
      Push(
          array, [&](float* data) { seen = data[2]; }, false);
      EXPECT_EQ(FakeStream::finishes, finishes);
      EXPECT_EQ(FakeStream::syncs, syncs);
      open = true;
      array.WaitToWrite();
      EXPECT_EQ(seen, 30) << "way " << way;
      end = true;
    }
    Engine::Get()->WaitForAll();
    EXPECT_EQ(deleted_, 1);
    producer->Wait(producer->put());
  }
}

TEST_F(DeviceExchange, WhatIsCompleteIsReadAtOnce) {
  float values[4] = {1, 2, 3, 4};
  TBlob blob;
  blob.dptr = values, blob.shape = Shape{4}, blob.dtype = kFloat32, blob.ctx = Context::GPU(0);
  std::atomic<bool> open{false};
  Other(0)->Put([&] {
    while (!open) std::this_thread::yield();
  });
  const NDArray array = FromDeviceMemory(blob, kNoOrder, [] {});
  float seen = 0;
  Push(
      array, [&](float* data) { seen = data[1]; }, false);
  array.WaitToWrite();
  EXPECT_EQ(seen, 2);
  open = true;
  // the host's memory has no stream
  DLManagedTensor host = Floats(values);
  host.dl_tensor.device = {1, 0};
  const int events = FakeStream::events;
  FromDLPack(&host, false).WaitToRead();
  EXPECT_EQ(FakeStream::events, events);
  EXPECT_EQ(deleted_, 1);
  Other(0)->Wait(Other(0)->put());  // it looks at `open`
}

// After an error the tensor is still its owner's.
TEST_F(DeviceExchange, RefusalsLeaveTheTensorAlone) {
  float values[4] = {1, 2, 3, 4};
  DLManagedTensor plain = Floats(values);
  DLManagedTensorVersioned versioned = {};
  versioned.version = {2, 0};
  versioned.deleter = [](DLManagedTensorVersioned*) { ++deleted_; };
  Fill(&versioned.dl_tensor, values);
  EXPECT_THROW(FromDLPackVersioned(&versioned), Error);
  EXPECT_THROW(FromDLPackVersioned(nullptr), Error);
  versioned.version.major = 1;
  g_fails = true;
  EXPECT_THROW(FromDLPackVersioned(&versioned), Error);
  EXPECT_THROW(FromDLPack(&plain, false), Error);
  EXPECT_THROW(FromDLPack(&plain, true), Error);
  g_fails = false;
  TBlob blob;
  blob.dptr = values, blob.shape = Shape{4}, blob.dtype = kFloat32, blob.ctx = Context::GPU(0);
  EXPECT_THROW(FromDeviceMemory(blob, kHostWaits, [] { ++deleted_; }), Error);
  EXPECT_THROW(FromDeviceMemory(blob, -5, [] { ++deleted_; }), Error);
  EXPECT_EQ(deleted_, 0);
}

TEST_F(DeviceExchange, MemoryForReadingOnlyIsCopied) {
  float values[4] = {1, 2, 3, 4};
  DLManagedTensorVersioned tensor = {};
  tensor.version = {1, 0};
  tensor.flags = kDLPackReadOnly;
  tensor.deleter = [](DLManagedTensorVersioned*) { ++deleted_; };
  Fill(&tensor.dl_tensor, values);
  tensor.dl_tensor.device = {1, 0};
  const NDArray array = FromDLPackVersioned(&tensor);
  array.WaitToRead();
  Engine::Get()->WaitForAll();
  EXPECT_EQ(deleted_, 1);
  array.data().dptr<float>()[0] = 50;
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(array.data().dptr<float>()[3], 4);
}

}  // namespace
}  // namespace mxnet
