/* Memory of other libraries on a GPU: nothing reads it before their default stream has passed. */
#include <gtest/gtest.h>

#include <atomic>

#include "engine/stream.h"
#include "mxnet/ndarray.h"
#include "ndarray/dlpack.h"

namespace mxnet {
namespace {

std::atomic<int> g_default_waits{0}, g_deleted{0};
const engine::StreamHooks kStreams = {[](int) {}, [](bool) -> void* { return new int(0); }, [](void* s) { delete static_cast<int*>(s); },
                                      [](void* s) { g_default_waits += s == nullptr; }};

DLManagedTensor Floats(float* values, int64_t* shape, DLDevice device) {
  DLManagedTensor tensor = {};
  tensor.dl_tensor.data = values;
  tensor.dl_tensor.device = device;
  tensor.dl_tensor.ndim = 1;
  tensor.dl_tensor.dtype = {2, 32, 1};
  tensor.dl_tensor.shape = shape;
  return tensor;
}

TEST(DeviceExchange, ReadersWaitForTheProducersDefaultStream) {
  engine::SetStreamHooks(&kStreams);   // stays: workers give their streams back when the process ends
  float values[4] = {1, 2, 3, 4};
  int64_t shape[1] = {4};
  for (bool transient : {false, true}) {
    DLManagedTensor tensor = Floats(values, shape, {2, 1});
    tensor.deleter = [](DLManagedTensor*) { ++g_deleted; };
    const int before = g_default_waits, deleted = g_deleted;
    {
      const NDArray array = FromDLPack(&tensor, transient);
      EXPECT_EQ(array.ctx(), Context::GPU(1));
      std::atomic<int> seen{-1};
      Engine::Get()->PushSync([&](RunContext) { seen = g_default_waits.load(); }, Context::GPU(1), {array.var()}, {}, FnProperty::kNormal, 0, "reader");
      Engine::Get()->WaitForAll();
      EXPECT_EQ(seen, before + 1) << "read before its producer was waited for";
    }
    Engine::Get()->WaitForAll();
    EXPECT_EQ(g_deleted, deleted + 1);
  }
  // the host's memory needs no such wait
  DLManagedTensor host = Floats(values, shape, {1, 0});
  const int before = g_default_waits;
  FromDLPack(&host, false).WaitToRead();
  EXPECT_EQ(g_default_waits, before);
}

}  // namespace
}  // namespace mxnet
