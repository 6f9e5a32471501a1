/* Streams, events and graphs of the CUDA runtime. A stream is a thread that runs what was put on
 * it, in order; HOST_GPU_LATE=N has it rest up to N microseconds before each piece. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <unordered_map>

#include "device.h"

struct CUgraph_st {
  std::vector<host_gpu::Node> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<host_gpu::Node>> nodes;
};

namespace host_gpu {
namespace {

using Clock = std::chrono::steady_clock;

std::mutex& g_streams_mutex = *new std::mutex;
std::unordered_map<const void*, std::shared_ptr<Stream>>& g_streams = *new std::unordered_map<const void*, std::shared_ptr<Stream>>;
std::map<int, std::shared_ptr<Stream>>& g_default = *new std::map<int, std::shared_ptr<Stream>>;  // by device
std::mutex& g_capture_mutex = *new std::mutex;                                                    // before a stream's

void Loop(const std::shared_ptr<Stream>& s) {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock<std::mutex> lock(s->mutex);
      s->changed.wait(lock, [&] { return !s->queue.empty(); });
      work = std::move(s->queue.front());
      s->queue.pop_front();
    }
    if (!work) return;
    Rest();
    work();
    work = nullptr;
    std::lock_guard<std::mutex> lock(s->mutex);
    ++s->done;
    s->changed.notify_all();
  }
}

}  // namespace

void Rest() {
  static const int most = std::getenv("HOST_GPU_LATE") ? std::atoi(std::getenv("HOST_GPU_LATE")) : 0;
  if (most <= 0) return;
  static thread_local std::minstd_rand random(static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(most)));
}

void Stream::Put(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(mutex);
  queue.push_back(std::move(work));
  ++put;
  changed.notify_all();
}
void Stream::Wait(uint64_t upto) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done >= upto; });
}
bool Stream::Done(uint64_t upto) {
  std::lock_guard<std::mutex> lock(mutex);
  return done >= upto;
}
uint64_t Stream::Last() {
  std::lock_guard<std::mutex> lock(mutex);
  return put;
}

std::shared_ptr<Stream> Find(cudaStream_t handle) {
  std::lock_guard<std::mutex> lock(g_streams_mutex);
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    std::shared_ptr<Stream>& s = g_default[CurrentDevice()];
    if (!s) {
      s = std::make_shared<Stream>();
      s->device = CurrentDevice();
    }
    return s;
  }
  const auto found = g_streams.find(handle);
  if (found != g_streams.end()) return found->second;
  Complain("stream", "a handle that is no living stream");
  return nullptr;
}

bool Capturing(Stream& stream) {
  std::lock_guard<std::mutex> lock(g_capture_mutex);
  return stream.capture != nullptr;
}

void Drain(int device) {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard<std::mutex> lock(g_streams_mutex);
    for (const auto& s : g_streams)
      if (s.second->device == device) all.push_back(s.second);
    if (g_default.count(device)) all.push_back(g_default[device]);
  }
  for (const auto& s : all) s->Wait(s->Last());
}

namespace {

// Starts the stream's thread with its first piece of work.
void PutOn(const std::shared_ptr<Stream>& s, std::function<void()> work) {
  bool start = false;
  {
    std::lock_guard<std::mutex> lock(s->mutex);
    start = !s->started;
    s->started = true;
  }
  if (start) std::thread(Loop, s).detach();
  s->Put(std::move(work));
}

}  // namespace

void Trace(const char* what, const char* kind, const void* where) {
  static const bool on = std::getenv("HOST_GPU_TRACE") != nullptr;
  if (on) std::fprintf(stderr, "[host_gpu] %s %s %p\n", what, kind, where);
}

cudaError_t Submit(cudaStream_t stream, const char* kind, std::function<void()> work) {
  const std::shared_ptr<Stream> s = Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  {
    std::lock_guard<std::mutex> lock(g_capture_mutex);
    if (s->capture) {
      s->capture->nodes.push_back({kind, std::move(work), std::vector<int>(s->behind.begin(), s->behind.end())});
      s->behind = {static_cast<int>(s->capture->nodes.size()) - 1};
      return cudaSuccess;
    }
  }
  if (NullMode()) return cudaSuccess;
  Trace("put", kind, stream);
  PutOn(s, [work = std::move(work), kind, stream] {
    const Touch touch;
    Trace("run", kind, stream);
    work();
  });
  return cudaSuccess;
}

/* What an event stands for since it was last recorded. */
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t upto = 0;
  Clock::time_point when;            // written by the stream before `upto` is done
  std::shared_ptr<Capture> capture;  // recorded in a capture: behind these nodes
  std::set<int> behind;
};

}  // namespace host_gpu

struct CUevent_st {
  std::mutex mutex;
  std::shared_ptr<host_gpu::Mark> mark;
  int device = 0;
  bool timing = true;
};

namespace host_gpu {
namespace {

std::shared_ptr<Mark> MarkOf(cudaEvent_t event) {
  std::lock_guard<std::mutex> lock(event->mutex);
  return event->mark;
}

// In a capture nobody may be waited for; trying breaks it.
cudaError_t Forbidden(const std::shared_ptr<Capture>& capture, const char* function) {
  Complain(function, "waits inside a capture");
  std::lock_guard<std::mutex> lock(g_capture_mutex);
  capture->broken = true;
  return Fail(cudaErrorStreamCaptureUnsupported);
}

}  // namespace
}  // namespace host_gpu

using host_gpu::Fail;
using host_gpu::Find;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  HOST_GPU_ENTER();
  auto made = std::make_shared<host_gpu::Stream>();
  made->device = host_gpu::CurrentDevice();
  std::lock_guard<std::mutex> lock(host_gpu::g_streams_mutex);
  *stream = reinterpret_cast<cudaStream_t>(made.get());
  host_gpu::g_streams[made.get()] = made;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!s || stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_streams_mutex);
    host_gpu::g_streams.erase(stream);
  }
  std::unique_lock<std::mutex> lock(s->mutex);
  if (!s->started) return cudaSuccess;
  lock.unlock();
  s->Put({});  // what is on it still runs
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  std::shared_ptr<host_gpu::Capture> capture;
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
    capture = s->capture;
  }
  if (capture) return host_gpu::Forbidden(capture, "cudaStreamSynchronize");
  s->Wait(s->Last());
  return host_gpu::Usable();
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
  *status = !s->capture          ? cudaStreamCaptureStatusNone
            : s->capture->broken ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  HOST_GPU_ENTER();
  *event = new CUevent_st;
  (*event)->device = host_gpu::CurrentDevice();
  (*event)->timing = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  HOST_GPU_ENTER();
  if (!event) return Fail(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!event || !s) return Fail(cudaErrorInvalidResourceHandle);
  if (event->device != s->device) {
    host_gpu::Complain("cudaEventRecord", "event and stream belong to different devices");
    return Fail(cudaErrorInvalidResourceHandle);
  }
  auto mark = std::make_shared<host_gpu::Mark>();
  mark->stream = s;
  bool captured = false;
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
    if (s->capture) {
      captured = true;
      mark->capture = s->capture;
      mark->behind = s->behind;
    }
  }
  if (!captured && !host_gpu::NullMode()) {
    host_gpu::Trace("record", "on", stream);
    host_gpu::PutOn(s, [mark] { mark->when = host_gpu::Clock::now(); });
    mark->upto = s->Last();
  }
  std::lock_guard<std::mutex> lock(event->mutex);
  event->mark = mark;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  HOST_GPU_ENTER();
  if (!event) return Fail(cudaErrorInvalidResourceHandle);
  const auto mark = host_gpu::MarkOf(event);
  if (!mark) return cudaSuccess;
  if (mark->capture) return host_gpu::Forbidden(mark->capture, "cudaEventQuery");
  return mark->stream->Done(mark->upto) ? host_gpu::Usable() : Fail(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  HOST_GPU_ENTER();
  if (!event) return Fail(cudaErrorInvalidResourceHandle);
  const auto mark = host_gpu::MarkOf(event);
  if (!mark) return cudaSuccess;
  if (mark->capture) return host_gpu::Forbidden(mark->capture, "cudaEventSynchronize");
  host_gpu::Trace("finish", "on", mark->stream.get());
  mark->stream->Wait(mark->upto);
  return host_gpu::Usable();
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  HOST_GPU_ENTER();
  if (!begin || !end) return Fail(cudaErrorInvalidResourceHandle);
  const auto a = host_gpu::MarkOf(begin), b = host_gpu::MarkOf(end);
  const char* wrong = !begin->timing || !end->timing ? "an event made with cudaEventDisableTiming"
                      : !a || !b                     ? "an event that was never recorded"
                      : a->capture || b->capture     ? "an event recorded in a capture"
                      : begin->device != end->device ? "events of two devices"
                                                     : nullptr;
  if (wrong) {
    host_gpu::Complain("cudaEventElapsedTime", wrong);
    return Fail(cudaErrorInvalidResourceHandle);
  }
  if (!a->stream->Done(a->upto) || !b->stream->Done(b->upto)) return Fail(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!event || !s || flags != 0) return Fail(cudaErrorInvalidResourceHandle);
  const auto mark = host_gpu::MarkOf(event);
  if (!mark) return cudaSuccess;
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
    if (mark->capture) {
      if (s->capture && s->capture != mark->capture) {
        host_gpu::Complain("cudaStreamWaitEvent", "an event of one capture in another");
        s->capture->broken = mark->capture->broken = true;
        return Fail(cudaErrorStreamCaptureMerge);
      }
      s->capture = mark->capture;  // the stream joins
      s->behind.insert(mark->behind.begin(), mark->behind.end());
      return cudaSuccess;
    }
    if (s->capture) {
      host_gpu::Complain("cudaStreamWaitEvent", "a capture waits for work outside of it");
      s->capture->broken = true;
      return Fail(cudaErrorStreamCaptureIsolation);
    }
  }
  if (host_gpu::NullMode() || mark->stream == s) return cudaSuccess;
  host_gpu::Trace("wait", "on", stream);
  host_gpu::PutOn(s, [mark] { mark->stream->Wait(mark->upto); });
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  HOST_GPU_ENTER();
  const auto s = Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  if (stream == nullptr || stream == cudaStreamLegacy) return Fail(cudaErrorStreamCaptureUnsupported);
  std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
  if (s->capture) return Fail(cudaErrorIllegalState);
  s->capture = std::make_shared<host_gpu::Capture>();
  s->origin = true;
  s->behind.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  HOST_GPU_ENTER();
  *graph = nullptr;
  const auto s = Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  std::vector<std::shared_ptr<host_gpu::Stream>> all;
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_streams_mutex);
    for (const auto& other : host_gpu::g_streams) all.push_back(other.second);
  }
  std::lock_guard<std::mutex> lock(host_gpu::g_capture_mutex);
  if (!s->capture || !s->origin) return Fail(cudaErrorIllegalState);
  const auto capture = s->capture;
  std::set<int> leaves;
  for (size_t i = 0; i < capture->nodes.size(); ++i) leaves.insert(static_cast<int>(i));
  for (const auto& n : capture->nodes)
    for (int b : n.behind) leaves.erase(b);
  for (int l : leaves)
    if (!s->behind.count(l)) capture->broken = true;
  if (capture->broken) host_gpu::Complain("cudaStreamEndCapture", "the capture is invalid, or a stream that joined was not joined back");
  for (const auto& other : all)
    if (other->capture == capture) {
      other->capture = nullptr;
      other->origin = false;
      other->behind.clear();
    }
  if (capture->broken) return Fail(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{capture->nodes};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaGraphInstantiate");
  if (!graph) return Fail(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{std::make_shared<const std::vector<host_gpu::Node>>(graph->nodes)};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  HOST_GPU_ENTER();
  if (!executable) return Fail(cudaErrorInvalidValue);
  const auto nodes = executable->nodes;
  return host_gpu::Submit(stream, "graph", [nodes] {
    for (const auto& n : *nodes) n.work();
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  HOST_GPU_ENTER();
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  HOST_GPU_ENTER();
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  HOST_GPU_ENTER();
  if (!graph || nodes) return Fail(cudaErrorInvalidValue);
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  HOST_GPU_ENTER();
  std::FILE* out = std::fopen(path, "w");
  if (!graph || !out) return Fail(cudaErrorOperatingSystem);
  std::fprintf(out, "digraph dot {\n");
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    std::fprintf(out, "  n%zu [label=\"%s\"];\n", i, graph->nodes[i].kind);
    for (int b : graph->nodes[i].behind) std::fprintf(out, "  n%d -> n%zu;\n", b, i);
  }
  std::fprintf(out, "}\n");
  std::fclose(out);
  return cudaSuccess;
}

}  // extern "C"
