#include "engine/device_streams.h"

#include <vector>

#include "engine/stream.h"
#include "mxnet/env.h"

namespace mxnet {
namespace engine {
namespace {

struct DeviceStreams {
  int dev_id;
  bool high_priority;
  void* main;
  void* aux;
};

struct ThreadStreams {
  std::vector<DeviceStreams> all;
  int current = -1;
  ~ThreadStreams() {
    const StreamHooks* hooks = GetStreamHooks();
    if (hooks == nullptr) return;
    for (const DeviceStreams& s : all) {
      hooks->destroy(s.main);
      if (s.aux != nullptr) hooks->destroy(s.aux);
    }
  }
};

thread_local ThreadStreams tls_streams;

}  // namespace

void FillStreams(RunContext* rctx, bool high_priority) {
  if (!rctx->ctx.is_gpu()) return;
  const StreamHooks* hooks = GetStreamHooks();
  ThreadStreams& mine = tls_streams;
  const int dev = rctx->ctx.dev_id;
  if (mine.current != dev) hooks->set_device(dev);
  mine.current = dev;
  for (const DeviceStreams& s : mine.all) {
    if (s.dev_id != dev || s.high_priority != high_priority) continue;
    rctx->stream = s.main;
    rctx->aux_stream = s.aux;
    return;
  }
  DeviceStreams s = {dev, high_priority, hooks->create(high_priority), nullptr};
  if (Env::Get().gpu_worker_nstreams >= 2) s.aux = hooks->create(high_priority);
  mine.all.push_back(s);
  rctx->stream = s.main;
  rctx->aux_stream = s.aux;
}

void SyncStreams(const RunContext& rctx) {
  const StreamHooks* hooks = GetStreamHooks();
  hooks->synchronize(rctx.stream);
  if (rctx.aux_stream != nullptr) hooks->synchronize(rctx.aux_stream);
}

}  // namespace engine
}  // namespace mxnet
