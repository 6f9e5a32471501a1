/* GPUs made of memory of the host and of streams that are late. */
#ifndef MXNET_TESTS_CPP_FAKE_GPUS_H_
#define MXNET_TESTS_CPP_FAKE_GPUS_H_

#include <cstring>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/fake_streams.h"
#include "kvstore/nccl.h"
#include "ndarray/run.h"

namespace mxnet {

/* They stay: workers of the engine give their streams back when the process ends. */
inline void UseFakeGpus(const nccl::Library* collectives) {
  GpuInterface().streams.Set(&kFakeStreams);
  FakeGpuMemory<size_t{1} << 24>();
  static const CopyHooks kCopies = {[](void* dst, Context, const void* src, Context, size_t bytes, void* stream) {
    if (stream == nullptr)
      std::memcpy(dst, src, bytes);
    else
      static_cast<FakeStream*>(stream)->Put([=] { std::memcpy(dst, src, bytes); });
  }};
  GpuInterface().copies.Set(&kCopies);
  GpuInterface().collectives.Set(collectives);
}

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_GPUS_H_
