/* The trace file: Chrome's trace-event format in JSON, which Perfetto reads too. Guarded by its
 * owner. */
#ifndef MXNET_PROFILER_TRACE_H_
#define MXNET_PROFILER_TRACE_H_

#include <cstdint>
#include <map>
#include <string>

#include "profiler/events.h"

namespace mxnet {
namespace profiler {

class Trace {
 public:
  ~Trace() { Clear(); }
  /* Forgets everything; times count from `origin`. */
  void Clear();
  /* `rates`: of the machine, which operators are held against; zeros where they are not known. */
  void Begin(int64_t origin, const MachineRates& rates);
  int64_t origin() const { return origin_; }

  /* When the text no longer fits in memory it goes to an unnamed file beside `path`. */
  void Add(const Event& event, int64_t tid, const std::string& path);
  /* A counter of one value. */
  void AddCounter(const std::string& category, const std::string& name, const char* key, uint64_t value, int64_t at, int64_t tid);
  void NameThread(int64_t tid, const std::string& name) { threads_[tid] = name; }

  /* Writes the whole trace and puts it in the place of `path`. Throws Error(kIO). */
  void Write(const std::string& path);

 private:
  void Spill(const std::string& path);
  /* How far an operator is from what the machine does at most. */
  void AddShares(const OpText& op, const Event& e);

  int64_t origin_ = 0;
  MachineRates rates_;
  std::string started_;   // date and time
  std::string text_;      // events, each with ",\n" in front
  int spill_ = -1;        // earlier events
  uint64_t spilled_ = 0;  // bytes in it
  std::map<int64_t, std::string> threads_;
};

/* "cpu/0" */
std::string DeviceName(int dev_type, int dev_id);

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_TRACE_H_
