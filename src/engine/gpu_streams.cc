#include "engine/gpu_streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "base/device/device_interface.h"
#include "base/threads/fork_guard.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
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
  std::shared_ptr<StreamClock> clock;
  DeviceWorkPtr last;
};

ForkMutex* const g_live_mutex = new ForkMutex(ForkLevel::kDeviceWork);  // of all clocks, too
std::vector<LiveStream>* const g_live = new std::vector<LiveStream>;    // guarded by g_live_mutex

// A stream records an event by itself when so much has ended on it since the last one. The time
// bounds how much longer than for its own work somebody may wait.
constexpr int kMostUnmarked = 8;
constexpr std::chrono::microseconds kLongestUnmarked{20};

std::atomic<uint64_t> g_order{0};

}  // namespace

/* Guarded by g_live_mutex. Invariants: `marks` in order of `upto`, all larger than `over`; works up
 * to `over` have passed. */
struct StreamClock {
  StreamClock(const StreamHooks* h, int d, void* s) : hooks(h), dev_id(d), stream(s) {}
  const StreamHooks* const hooks;
  const int dev_id;
  void* const stream;
  const std::thread::id owner = std::this_thread::get_id();
  uint64_t last = 0, over = 0;  // orders of works
  std::deque<EventMarkPtr> marks;
  int unmarked = 0;  // works behind the last mark
  std::chrono::steady_clock::time_point marked_at;
  bool closed = false;  // the stream is no more, and all its work is over
  bool captured = false;

  void Record(bool own_thread) {
    void* event = own_thread || hooks->record_on == nullptr ? hooks->record(stream) : hooks->record_on(dev_id, stream);
    marks.push_back(std::make_shared<EventMark>(hooks, event, last));
    unmarked = 0;
    marked_at = std::chrono::steady_clock::now();
  }
  void Over(uint64_t upto) {
    if (upto > over) over = upto;
    while (!marks.empty() && marks.front()->upto <= over) marks.pop_front();
  }
};

namespace {

struct ThreadStreams {
  std::vector<DeviceStreams> all;
  int current = -1;
  ~ThreadStreams() {
    const StreamHooks* hooks = GpuInterface().streams.get();
    if (hooks == nullptr) return;
    for (const DeviceStreams& s : all) {
      if (hooks->record != nullptr) {  // a new stream may get the address of this one, whose work has to be over then
        RunContext rctx;
        rctx.stream = s.main;
        rctx.aux_stream = s.aux;
        SyncQuietly(rctx);
        Remove(s.main);
        if (s.aux != nullptr) Remove(s.aux);
      }
      hooks->destroy(s.main);
      if (s.aux != nullptr) hooks->destroy(s.aux);
    }
  }
  static void Remove(void* stream) {
    LiveStream gone;  // destroyed without the lock
    std::lock_guard<ForkMutex> lock(*g_live_mutex);
    auto at = std::find_if(g_live->begin(), g_live->end(), [stream](const LiveStream& l) { return l.clock->stream == stream; });
    if (at == g_live->end()) return;
    gone = std::move(*at);
    gone.clock->closed = true;
    g_live->erase(at);
  }
};

thread_local ThreadStreams tls_streams;

}  // namespace

void FillStreams(RunContext* rctx, bool high_priority) {
  if (!rctx->ctx.is_gpu()) return;
  const StreamHooks* hooks = GpuInterface().streams.get();
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
    for (void* stream : {s.main, s.aux})
      if (stream != nullptr) g_live->push_back({std::make_shared<StreamClock>(hooks, dev, stream), nullptr});
  }
  rctx->stream = s.main;
  rctx->aux_stream = s.aux;
}

DeviceWorkPtr EndOnHost(const RunContext& rctx, const char*, const std::string&) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  hooks->synchronize(rctx.stream);
  if (rctx.aux_stream != nullptr) hooks->synchronize(rctx.aux_stream);
  return nullptr;
}

DeviceWorkPtr EndOnStream(const RunContext& rctx, const char* name, const std::string& site) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  if (hooks->record == nullptr || (profiler::Active() != 0 && hooks->mark_time == nullptr)) return EndOnHost(rctx, name, site);
  // SideStream has joined the second stream to the first.
  DeviceWorkPtr before;  // destroyed without the lock
  std::unique_lock<ForkMutex> lock(*g_live_mutex);
  for (LiveStream& l : *g_live) {
    StreamClock& clock = *l.clock;
    if (clock.stream != rctx.stream) continue;
    DeviceWorkPtr work = std::make_shared<DeviceWork>(l.clock, rctx.stream, NextOrder(), name, site);
    clock.last = work->order;
    ++clock.unmarked;
    if (!clock.captured && (clock.unmarked >= kMostUnmarked || std::chrono::steady_clock::now() - clock.marked_at >= kLongestUnmarked)) {
      if (!clock.marks.empty() && clock.hooks->passed(clock.marks.front()->event))
        clock.Over(clock.marks.front()->upto);  // so that the list stays short
      clock.Record(true);
    }
    l.last.swap(before);
    l.last = work;
    return work;
  }
  lock.unlock();  // a stream that this thread's engine did not make
  return std::make_shared<DeviceWork>(hooks, rctx.stream, hooks->record(rctx.stream), name, site);
}

uint64_t NextOrder() { return g_order.fetch_add(1, std::memory_order_relaxed) + 1; }

EventMarkPtr MarkBehind(StreamClock* clock, uint64_t order, bool make, bool* over) {
  for (;;) {
    {
      std::lock_guard<ForkMutex> lock(*g_live_mutex);
      if (order <= clock->over || clock->closed) {
        *over = true;
        return nullptr;
      }
      const auto at =
          std::lower_bound(clock->marks.begin(), clock->marks.end(), order, [](const EventMarkPtr& m, uint64_t o) { return m->upto < o; });
      if (at != clock->marks.end()) return *at;
      if (!make) return nullptr;
      if (!clock->captured) {
        clock->Record(false);
        return clock->marks.back();
      }
      MXNET_CHECK(clock->owner != std::this_thread::get_id()) << "[engine] work that is being captured cannot be waited for";
    }
    std::this_thread::sleep_for(kLongestUnmarked);  // rare: a few milliseconds in the life of a plan
  }
}

void NotePassed(StreamClock* clock, const EventMark& mark) {
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  clock->Over(mark.upto);
}

StreamCaptureScope::StreamCaptureScope() {
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (LiveStream& l : *g_live) {
    if (l.clock->owner != std::this_thread::get_id()) continue;
    if (l.clock->unmarked > 0) l.clock->Record(true);
    l.clock->captured = true;
  }
}

StreamCaptureScope::~StreamCaptureScope() {
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (LiveStream& l : *g_live)
    if (l.clock->owner == std::this_thread::get_id()) l.clock->captured = false;
}

bool IsCaptured(void* stream) {
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (const LiveStream& l : *g_live)
    if (l.clock->stream == stream) return l.clock->captured;
  return false;
}

void SyncQuietly(const RunContext& rctx) {
  for (void* stream : {rctx.stream, rctx.aux_stream}) {
    if (stream == nullptr) continue;
    try {
      GpuInterface().streams.get()->synchronize(stream);
    } catch (const std::exception&) {
      // an error is on its way already
    }
  }
}

std::vector<DeviceWorkPtr> LastWork(int dev_id) {
  std::vector<DeviceWorkPtr> all;
  std::lock_guard<ForkMutex> lock(*g_live_mutex);
  for (const LiveStream& l : *g_live)
    if (l.last != nullptr && (dev_id < 0 || l.clock->dev_id == dev_id)) all.push_back(l.last);
  return all;
}

void ForgetStreams() {                                         // fork's child has one thread, and locks until all of them are free again
  for (LiveStream& l : *g_live) new LiveStream(std::move(l));  // leaked: giving events back is the parent's
  g_live->clear();
}

}  // namespace engine
}  // namespace mxnet
