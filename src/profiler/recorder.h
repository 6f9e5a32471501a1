/* What the recording threads share. Touched when a thread, a name or an operator with new shapes is
 * seen for the first time. */
#ifndef MXNET_PROFILER_RECORDER_H_
#define MXNET_PROFILER_RECORDER_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/events.h"

namespace mxnet {
namespace profiler {

struct Recorder {
  std::mutex mutex;  // guards everything below
  std::vector<ThreadLog*> logs;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Label>> labels;
  std::unordered_multimap<uint64_t, const OpInfo*> ops;
  Recorder* parents = nullptr;

  static Recorder& Get();
  /* A fresh one. Labels and operators of the old one stay valid: plans hold on to them. */
  static void ResetInChild();
};

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_RECORDER_H_
