#include "profiler/gpu_spans.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>

#include "base/device/device_interface.h"
#include "base/threads/fork_guard.h"
#include "profiler/trace.h"

namespace mxnet {
namespace profiler {

namespace {
struct Lane;
}

class DeviceSpan {
 public:
  Lane* lane = nullptr;  // null: lost, with a fault of the device
  int64_t begin = 0;     // when the device has come to it
  Event event = {};      // when it has been ended
};

namespace {

constexpr int64_t kFirstRow = int64_t{1} << 23;  // threads have numbers up to 2^22
constexpr size_t kManyMarks = 256;
constexpr int64_t kCompareClocksEach = 50 * 1000 * 1000;  // nanoseconds after which clocks are compared again
constexpr int64_t kBetweenClocks = 20 * 1000,
                  kClocksAgree =
                      1000;  // clocks that were compared N nanoseconds ago differ by N / 1000 at most, and by what a comparison misses

struct TimeMark {
  void* event;
  int64_t recorded;  // Now()
  bool at_once;      // the device had nothing to do that is known here
  int64_t compared;  // of its lane before
  bool end;
  DeviceSpan* span;  // null: dropped
};

/* One stream. */
struct Lane {
  void* stream;
  int dev_id;
  int64_t row;
  std::string name;
  std::deque<TimeMark> marks;  // on the stream, in order
  void* last = nullptr;        // the event before them; held
  int64_t time = 0;            // of `last`
  int open = 0;                // spans that begin up to `last` and end behind it
  int64_t compared = 0;        // when the device's clock was last laid beside the host's, in order of recording
};

ForkMutex* const g_mutex = new ForkMutex(ForkLevel::kDeviceWork);  // guards all below, spans too
std::vector<Lane*>* const g_lanes = new std::vector<Lane*>;        // kept: streams live as long as their workers
DeviceEvents* const g_over = new DeviceEvents;

Lane* LaneOf(const RunContext& run) {
  for (Lane* lane : *g_lanes)
    if (lane->stream == run.stream && lane->dev_id == run.ctx.dev_id) return lane;
  Lane* lane = new Lane;
  lane->stream = run.stream;
  lane->dev_id = run.ctx.dev_id;
  lane->row = kFirstRow + static_cast<int64_t>(g_lanes->size());
  const ThreadState* state = Local();
  lane->name = DeviceName(static_cast<int>(DeviceType::kGPU), lane->dev_id) + (state ? " " + state->log->name : "");
  g_lanes->push_back(lane);
  return lane;
}

/* The device has failed: no event of the stream tells anything. */
void Lose(Lane* lane) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  std::set<DeviceSpan*> open, ended;
  for (const TimeMark& m : lane->marks) {
    hooks->release(m.event);
    if (m.span) (m.end ? ended : open).insert(m.span);
  }
  for (DeviceSpan* s : ended) {
    open.erase(s);
    delete s;
  }
  for (DeviceSpan* s : open) s->lane = nullptr;
  lane->open = 0;
  if (lane->last) hooks->release(lane->last);
  lane->last = nullptr;
  lane->marks.clear();
}

/* Takes what has passed off the lane. */
void Resolve(Lane* lane) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  try {
    while (!lane->marks.empty() && hooks->passed(lane->marks.front().event)) {
      const TimeMark m = lane->marks.front();
      int64_t time = m.recorded;
      if (lane->last) {
        const int64_t counted = lane->time + static_cast<int64_t>(hooks->elapsed(lane->last, m.event));
        // A device that is thought to have nothing to do may have waited for another stream.
        const bool corrects = m.at_once && std::abs(counted - time) <= kBetweenClocks + (time - m.compared) / kClocksAgree;
        if (lane->open > 0)
          time = counted;  // clocks are laid beside each other between spans: those last as long as the device says
        else if (!corrects)
          time = std::max(time, counted);
      }
      lane->time = std::max(time, lane->time);
      if (lane->last) hooks->release(lane->last);
      lane->last = m.event;
      lane->marks.pop_front();
      if (!m.span) continue;
      if (!m.end) {
        m.span->begin = lane->time;
        ++lane->open;
        continue;
      }
      if (!m.span->lane) {  // its begin is lost
        delete m.span;
        continue;
      }
      if (lane->open > 0) --lane->open;  // 0: the lane was lost meanwhile
      Event& e = m.span->event;
      e.dev_type = static_cast<int16_t>(DeviceType::kGPU);
      e.dev_id = lane->dev_id;
      e.begin = m.span->begin;
      e.end = lane->time;
      if (std::find(g_over->rows.begin(), g_over->rows.end(), std::make_pair(lane->row, lane->name)) == g_over->rows.end())
        g_over->rows.emplace_back(lane->row, lane->name);
      g_over->events.emplace_back(e, lane->row);
      delete m.span;
    }
  } catch (const std::exception&) {  // whoever waits for the work hears of it
    Lose(lane);
  }
}

/* Puts an event on the lane's stream. */
void PutMark(Lane* lane, DeviceSpan* span, bool end) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  if (lane->marks.size() >= kManyMarks) Resolve(lane);
  const bool first = lane->last == nullptr && lane->marks.empty();
  int64_t now = Now();
  bool at_once = first;
  if (!first && now - lane->compared >= kCompareClocksEach)
    at_once = hooks->passed(lane->marks.empty() ? lane->last : lane->marks.back().event);
  void* event = hooks->mark_time(lane->stream);
  if (first) {  // what is on the stream from before is not known
    hooks->finish(event);
    now = Now();
  }
  lane->marks.push_back({event, now, at_once, lane->compared, end, span});
  if (at_once) lane->compared = now;
}

}  // namespace

bool HasDeviceTimes(const RunContext& run) {
  const StreamHooks* hooks = run.ctx.is_gpu() && run.stream ? GpuInterface().streams.get() : nullptr;
  return hooks && hooks->mark_time && hooks->elapsed;
}

DeviceSpan* BeginOnDevice(const RunContext& run) {
  if (run.capturing()) return nullptr;
  std::lock_guard<ForkMutex> lock(*g_mutex);
  DeviceSpan* span = new DeviceSpan;
  span->lane = LaneOf(run);
  try {
    PutMark(span->lane, span, false);
    return span;
  } catch (const std::exception&) {
    delete span;
    return nullptr;
  }
}

void EndOnDevice(DeviceSpan* span, const Event& event) {
  std::lock_guard<ForkMutex> lock(*g_mutex);
  if (span->lane) {
    span->event = event;
    try {
      PutMark(span->lane, span, true);
      return;
    } catch (const std::exception&) {
      Lose(span->lane);
    }
  }
  delete span;
}

void DropOnDevice(DeviceSpan* span) {
  std::lock_guard<ForkMutex> lock(*g_mutex);
  if (span->lane) {
    bool begun = true;
    for (TimeMark& m : span->lane->marks) {
      if (m.span != span) continue;
      m.span = nullptr;
      begun = false;
    }
    if (begun && span->lane->open > 0) --span->lane->open;
  }
  delete span;
}

DeviceEvents TakeDeviceEvents(bool wait) {
  std::lock_guard<ForkMutex> lock(*g_mutex);
  for (Lane* lane : *g_lanes) {
    if (lane->marks.empty()) continue;
    try {
      if (wait) GpuInterface().streams.get()->finish(lane->marks.back().event);
    } catch (const std::exception&) {
      Lose(lane);
    }
    Resolve(lane);
  }
  return std::exchange(*g_over, DeviceEvents());
}

void ForgetDeviceSpans() {
  std::lock_guard<ForkMutex> lock(*g_mutex);
  g_lanes->clear();  // leaked: giving events back is the parent's
  *g_over = DeviceEvents();
}

}  // namespace profiler
}  // namespace mxnet
