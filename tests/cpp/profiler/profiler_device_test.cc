/* Durations on streams of a device, over a device whose clock the test sets. */
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "engine/gpu_streams.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "profiler/gpu_spans.h"

namespace mxnet {
namespace profiler {
namespace {

/* An event passes when its stream is let so far. */
struct FakeMark {
  int64_t time = 0;  // of the device
  bool passed = false;
};
struct FakeLine {
  std::deque<FakeMark*> waiting;
};
int64_t g_clock = 0;  // the device's
bool g_fault = false;
int g_live = 0, g_waits = 0;

void* MarkTime(void* stream) {
  if (g_fault) throw Error("fault");
  ++g_live;
  FakeMark* mark = new FakeMark;
  static_cast<FakeLine*>(stream)->waiting.push_back(mark);
  return mark;
}
bool Passed(void* event) {
  if (g_fault) throw Error("fault");
  return static_cast<FakeMark*>(event)->passed;
}
void Release(void* event) {
  --g_live;
  delete static_cast<FakeMark*>(event);
}
double Elapsed(void* from, void* to) {
  EXPECT_TRUE(static_cast<FakeMark*>(from)->passed && static_cast<FakeMark*>(to)->passed);
  return static_cast<double>(static_cast<FakeMark*>(to)->time - static_cast<FakeMark*>(from)->time);
}

class DeviceSpans : public testing::Test {
 protected:
  DeviceSpans() {
    ForgetDeviceSpans();
    hooks_.synchronize = [](void*) { ++g_waits; };
    hooks_.record = MarkTime;
    hooks_.mark_time = MarkTime;
    hooks_.passed = Passed;
    hooks_.finish = [](void* event) {
      if (g_fault) throw Error("fault");
      static_cast<FakeMark*>(event)->passed = true;
      static_cast<FakeMark*>(event)->time = g_clock;
    };
    hooks_.release = Release;
    hooks_.elapsed = Elapsed;
    streams_.emplace(GpuInterface().streams, &hooks_);
    run_.ctx = Context::GPU(0);
    run_.stream = &line_;
    g_clock = 1000000;
    g_fault = false;
    g_live = 0;
  }
  ~DeviceSpans() override {
    ForgetDeviceSpans();
    streams_.reset();
  }
  /* The device comes to the next event after so many nanoseconds. */
  void Go(int64_t after) {
    while (line_.waiting.front()->passed) line_.waiting.pop_front();  // the first one was waited for
    g_clock += after;
    line_.waiting.front()->time = g_clock;
    line_.waiting.front()->passed = true;
    line_.waiting.pop_front();
  }
  static Event Named(const char* name) {
    Event e = {};
    e.type = Type::kWork;
    e.what = name;
    return e;
  }

  StreamHooks hooks_ = {};
  std::optional<ScopedPart<StreamHooks>> streams_;
  FakeLine line_;
  RunContext run_;
};

TEST_F(DeviceSpans, DurationsAreTheDevices) {
  const int64_t start = Now();
  DeviceSpan* outer = BeginOnDevice(run_);
  ASSERT_NE(outer, nullptr);
  DeviceSpan* inner = BeginOnDevice(run_);
  EndOnDevice(inner, Named("inner"));
  EndOnDevice(outer, Named("outer"));
  EXPECT_TRUE(TakeDeviceEvents(false).events.empty());  // nothing has passed
  Go(700000000);                                        // later than the host put it there
  Go(5000);
  DeviceEvents got = TakeDeviceEvents(false);
  ASSERT_EQ(got.events.size(), 1u);
  const Event e = got.events[0].first;
  EXPECT_STREQ(static_cast<const char*>(e.what), "inner");
  EXPECT_EQ(e.end - e.begin, 5000);
  EXPECT_GE(e.begin, start + 700000000);
  EXPECT_EQ(e.dev_type, static_cast<int16_t>(DeviceType::kGPU));
  Go(2000);
  got = TakeDeviceEvents(false);
  ASSERT_EQ(got.events.size(), 1u);
  EXPECT_EQ(got.events[0].first.end, e.end + 2000);
  EXPECT_LT(got.events[0].first.begin, e.begin);
  ASSERT_EQ(got.rows.size(), 1u);
  EXPECT_EQ(got.rows[0].first, got.events[0].second);
  EXPECT_EQ(got.rows[0].second.rfind("gpu/0", 0), 0u);
  EXPECT_EQ(g_live, 1);  // the last one, from which times are counted on
}

TEST_F(DeviceSpans, NeverBeforeTheHostRecordedIt) {
  DeviceSpan* first = BeginOnDevice(run_);
  EndOnDevice(first, Named("first"));
  Go(10);
  TakeDeviceEvents(false);
  const int64_t start = Now();
  DeviceSpan* second = BeginOnDevice(run_);
  EndOnDevice(second, Named("second"));
  Go(0);  // a clock that stands still
  Go(3000000000);
  const DeviceEvents got = TakeDeviceEvents(false);
  ASSERT_EQ(got.events.size(), 1u);
  EXPECT_GE(got.events[0].first.begin, start);
  EXPECT_EQ(got.events[0].first.end - got.events[0].first.begin, 3000000000);
}

TEST_F(DeviceSpans, AReaderMayWait) {
  EndOnDevice(BeginOnDevice(run_), Named("a"));
  hooks_.finish = [](void*) {
    // the test's device gets there when it is waited for
  };
  Go(1);
  EXPECT_EQ(TakeDeviceEvents(true).events.size(), 1u);
}

TEST_F(DeviceSpans, DroppedOnesLeaveNothing) {
  DeviceSpan* outer = BeginOnDevice(run_);
  DeviceSpan* inner = BeginOnDevice(run_);
  EndOnDevice(inner, Named("inner"));
  DropOnDevice(outer);
  Go(10);
  Go(20);
  const DeviceEvents got = TakeDeviceEvents(false);
  ASSERT_EQ(got.events.size(), 1u);
  EXPECT_EQ(got.events[0].first.end - got.events[0].first.begin, 20);
  EXPECT_EQ(g_live, 1);
}

TEST_F(DeviceSpans, ManyAreTakenOffMeanwhile) {
  for (int i = 0; i < 5000; ++i) {
    EndOnDevice(BeginOnDevice(run_), Named("many"));
    while (!line_.waiting.empty() && !(line_.waiting.size() == 1 && line_.waiting.front()->passed)) Go(1);
    EXPECT_LT(g_live, 300);
  }
  EXPECT_EQ(TakeDeviceEvents(false).events.size(), 5000u);
}

TEST_F(DeviceSpans, AFaultLosesThem) {
  DeviceSpan* open = BeginOnDevice(run_);
  EndOnDevice(BeginOnDevice(run_), Named("lost"));
  g_fault = true;
  EXPECT_TRUE(TakeDeviceEvents(true).events.empty());
  EXPECT_EQ(g_live, 0);
  EXPECT_EQ(BeginOnDevice(run_), nullptr);
  EndOnDevice(open, Named("lost too"));
  g_fault = false;
  line_.waiting.clear();
  EndOnDevice(BeginOnDevice(run_), Named("new"));
  Go(4);
  EXPECT_EQ(TakeDeviceEvents(false).events.size(), 1u);
}

TEST_F(DeviceSpans, NobodyWaitsForWhatIsMeasured) {
  Config config;
  config.filename = testing::TempDir() + "mxnet_profiler_device_test.json";
  config.continuous_dump = false;
  SetConfig(config);
  SetRunning(true);
  g_waits = 0;
  EXPECT_NE(engine::EndOnStream(run_, "work", ""), nullptr);
  EXPECT_EQ(g_waits, 0);
  hooks_.mark_time = nullptr;  // without times of the device the host's have to hold the work
  EXPECT_EQ(engine::EndOnStream(run_, "work", ""), nullptr);
  EXPECT_EQ(g_waits, 1);
  SetRunning(false);
}

TEST_F(DeviceSpans, NothingIsPutIntoACapture) {
  CaptureState capture;
  capture.capturing = true;
  run_.capture = &capture;
  EXPECT_EQ(BeginOnDevice(run_), nullptr);
  EXPECT_EQ(g_live, 0);
}

}  // namespace
}  // namespace profiler
}  // namespace mxnet
