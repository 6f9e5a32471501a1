#include "engine/device_streams.h"

#include <algorithm>
#include <mutex>

#include "base/fork_guard.h"
#include "engine/stream.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace engine {
namespace {

struct DeviceStreams {
  int dev_id;
  bool high_priority;
  void* main;
  void* aux;
};

struct LiveStream {
  int dev_id;
  void* stream;
  DeviceWorkPtr last;
};

ForkMutex* const g_live_mutex = new ForkMutex(ForkLevel::kOperator);
std::vector<LiveStream>* const g_live = new std::vector<LiveStream>;   // guarded by g_live_mutex

struct ThreadStreams {
  std::vector<DeviceStreams> all;
  int current = -1;
  ~ThreadStreams() {
    const StreamHooks* hooks = GetStreamHooks();
    if (hooks == nullptr) return;
    for (const DeviceStreams& s : all) {
      if (hooks->record != nullptr) {   // a new stream may get the address of this one, whose work has to be over then
        RunContext rctx;
        rctx.stream = s.main;
        rctx.aux_stream = s.aux;
        SyncQuietly(rctx);
        Remove(s.main);
      }
      hooks->destroy(s.main);
      if (s.aux != nullptr) hooks->destroy(s.aux);
    }
  }
  static void Remove(void* stream) {
    DeviceWorkPtr last;   // destroyed without the lock
    std::lock_guard<ForkMutex> lock(*g_live_mutex);
    auto at = std::find_if(g_live->begin(), g_live->end(), [stream](const LiveStream& l) { return l.stream == stream; });
    if (at == g_live->end()) return;
    last = std::move(at->last);
    g_live->erase(at);
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
  if (hooks->record != nullptr) {
    std::lock_guard<ForkMutex> lock(*g_live_mutex);
    g_live->push_back({dev, s.main, nullptr});
  }
  rctx->stream = s.main;
  rctx->aux_stream = s.aux;
}

DeviceWorkPtr EndOnHost(const RunContext& rctx, const char*, const std::string&) {
  const StreamHooks* hooks = GetStreamHooks();
  hooks->synchronize(rctx.stream);
  if (rctx.aux_stream != nullptr) hooks->synchronize(rctx.aux_stream);
  return nullptr;
}

DeviceWorkPtr EndOnStream(const RunContext& rctx, const char* name, const std::string& site) {
  const StreamHooks* hooks = GetStreamHooks();
  if (hooks->record == nullptr || profiler::Active() != 0) return EndOnHost(rctx, name, site);
  // SideStream has joined the second stream to the first.
  DeviceWorkPtr work = std::make_shared<DeviceWork>(hooks, rctx.stream, hooks->record(rctx.stream), name, site);
  DeviceWorkPtr before = work;
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (LiveStream& l : *g_live) {
    if (l.stream != rctx.stream) continue;
    l.last.swap(before);
    break;
  }
  return work;
}

void SyncQuietly(const RunContext& rctx) {
  for (void* stream : {rctx.stream, rctx.aux_stream}) {
    if (stream == nullptr) continue;
    try {
      GetStreamHooks()->synchronize(stream);
    } catch (const std::exception&) {
      // an error is on its way already
    }
  }
}

std::vector<DeviceWorkPtr> LastWork(int dev_id) {
  std::vector<DeviceWorkPtr> all;
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (const LiveStream& l : *g_live)
    if (l.last != nullptr && (dev_id < 0 || l.dev_id == dev_id)) all.push_back(l.last);
  return all;
}

void ForgetStreams() {   // fork's child has one thread, and locks until all of them are free again
  for (LiveStream& l : *g_live) new DeviceWorkPtr(std::move(l.last));   // leaked: giving events back is the parent's
  g_live->clear();
}

}  // namespace engine
}  // namespace mxnet
