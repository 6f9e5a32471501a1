/* The running profile: reads the threads' events and turns them into trace, statistics and memory
 * timeline. */
#ifndef MXNET_PROFILER_SESSION_H_
#define MXNET_PROFILER_SESSION_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "mxnet/profiler.h"
#include "profiler/statistics.h"
#include "profiler/trace.h"

namespace mxnet {
namespace profiler {

/* Does once what MXNET_PROFILER_AUTOSTART says, so that `active` is decided, and returns it. */
uint32_t AutoStart();

class Session {
 public:
  static Session& Get();

  void SetConfig(const Config& config);
  void SetRunning(bool running);
  bool Running();
  void SetPaused(bool paused);
  void Dump(bool finished);
  std::string Statistics(bool json, SortBy sort_by, bool ascending, bool reset);
  /* The process ends: writes what a profile that nobody finished has recorded since it was last
   * written. */
  void AtExit() noexcept;

 private:
  bool BeginsOperators();

  // All of these REQUIRE mutex_ held.
  void Publish();  // sets `active`
  void Begin(const MachineRates& rates);
  void Drain(bool wait = false);  // `wait`: for devices, so that what was put on their streams is in
  void Write();
  void StartDumper();

  static void Dumper(Session* self);  // body of the thread of continuous_dump

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  Config config_;
  bool running_ = false, paused_ = false;
  bool begun_ = false;      // a profile exists that no dump has finished
  bool unwritten_ = false;  // something was recorded since the last Write
  bool dumper_ = false;     // its thread exists
  Trace trace_;
  Aggregate aggregate_;
  MemoryTimeline memory_;
  std::vector<Event> batch_;
};

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_SESSION_H_
