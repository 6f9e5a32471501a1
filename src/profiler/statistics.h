/* Totals by name, and which names hold how much memory over time. Guarded by their owner. */
#ifndef MXNET_PROFILER_STATISTICS_H_
#define MXNET_PROFILER_STATISTICS_H_

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mxnet/profiler.h"
#include "profiler/events.h"

namespace mxnet {
namespace profiler {

class Trace;

struct Stat {
  uint64_t count = 0;
  double total = 0, min = 0, max = 0;  // ms, kB, or as counted
  double bytes = 0, flops = 0;
  void Add(double value) {
    min = count == 0 || value < min ? value : min;
    max = count == 0 || value > max ? value : max;
    total += value;
    ++count;
  }
  double avg() const { return count == 0 ? 0 : total / static_cast<double>(count); }
};
using StatTable = std::map<std::string, Stat>;

class Aggregate {
 public:
  void Add(const Event& event);
  void Clear();

  std::map<std::string, StatTable> times, memory, counters;  // by category, then name

 private:
  std::unordered_map<const void*, Stat*> ops_;  // of times["operator"]
};

/* Follows each allocation to its end. */
class MemoryTimeline {
 public:
  struct Holder {
    uint64_t count = 0, allocated = 0, live = 0, peak = 0;  // bytes
  };
  /* The event's effect on its holder goes to `trace` as a counter. */
  void Add(const Event& event, int64_t tid, Trace* trace, bool keep_list);
  void Clear();
  /* For the statistics: counts begin anew, what is live stays live. */
  void ResetCounts();
  /* The list that was kept, one file `prefix`-cpu_0.csv for each device. Throws Error(kIO). */
  void WriteLists(const std::string& prefix) const;

  std::map<std::string, std::map<std::string, Holder>> holders;  // by device, then name

 private:
  struct Block {
    Holder* holder;
    const std::string* name;
    uint64_t bytes;
    size_t row;  // in rows_, or SIZE_MAX
  };
  struct Row {
    std::string device, name;
    uint64_t asked, taken;
    int64_t begin, end;  // end 0: not freed
  };
  std::unordered_map<uint64_t, Block> live_;
  std::unordered_map<uint64_t, int64_t> early_;  // frees whose allocation has not been seen: by address, when
  std::vector<Row> rows_;
  int64_t origin_ = 0;
};

std::string FormatStatistics(const Aggregate& aggregate, const MemoryTimeline& timeline, bool json, SortBy sort_by, bool ascending);

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_STATISTICS_H_
