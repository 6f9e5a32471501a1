/*
 * Statistics of everything that an executor computes, every so many batches:
 *
 *   Monitor monitor(100);
 *   monitor.install(exec);
 *   monitor.tic();  exec->Forward(true);  exec->Backward();  monitor.toc_print();
 */
#ifndef MXNET_CPP_MONITOR_H_
#define MXNET_CPP_MONITOR_H_

#include <cmath>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "mxnet-cpp/executor.h"

namespace mxnet {
namespace cpp {

/* The norm divided by the root of the size: the root of the mean square. */
inline NDArray _default_monitor_func(const NDArray& x) {
  const NDArray norm(front_end::Invoke("norm", {x.GetHandle()}, {}, {})[0]);
  return norm / std::sqrt(static_cast<mx_float>(x.Size()));
}

/* A template, so that programs without a monitor do not pay for compiling regular expressions. */
template <typename Regex>
class BasicMonitor {
 public:
  typedef std::function<NDArray(const NDArray&)> StatFunc;
  typedef std::tuple<int, std::string, NDArray> Stat;  // batch, name, value

  /* Looks at every `interval`-th batch, at arrays whose whole name `pattern` matches. */
  explicit BasicMonitor(int interval, Regex pattern = Regex(".*"), StatFunc stat_func = _default_monitor_func)
      : interval(interval), pattern(pattern), stat_func(stat_func), step(0), activated(false) {
    MXNET_CPP_NEED(interval >= 1) << "[Monitor] got interval " << interval << "; accepted: 1 or more";
  }
  virtual ~BasicMonitor() {}
  /* The executor must live as long as the monitor is used; the monitor, as long as the executor
   * runs. */
  void install(Executor* exe) {
    exe->SetMonitorCallback(&executor_callback, this);
    exes.push_back(exe);
  }
  void tic() {
    if (step % interval == 0) {
      activated = true;
      stats.clear();
    }
  }
  /* What was seen since tic, and the arguments. */
  std::vector<Stat> toc() {
    std::vector<Stat> results;
    if (activated) {
      activated = false;
      for (Executor* exe : exes) {
        for (const auto& argument : exe->arg_dict()) Record(argument.first, argument.second);
        for (const auto& state : exe->aux_dict()) Record(state.first, state.second);
      }
      results.swap(stats);
    }
    ++step;
    return results;
  }
  void toc_print() {
    for (const Stat& stat : toc()) {
      LG << "Batch: " << std::get<0>(stat) << ' ' << std::get<1>(stat) << ' ' << std::get<2>(stat);
    }
  }

 protected:
  void Record(const std::string& name, const NDArray& value) {
    if (std::regex_match(name, pattern)) stats.emplace_back(step, name, stat_func(value));
  }
  static void executor_callback(const char* name, NDArrayHandle handle, void* monitor_ptr) {
    const NDArray value(handle);
    BasicMonitor* monitor = static_cast<BasicMonitor*>(monitor_ptr);
    if (monitor->activated) monitor->Record(name, value);
  }

  int interval;
  Regex pattern;
  StatFunc stat_func;
  std::vector<Executor*> exes;
  int step;
  bool activated;
  std::vector<Stat> stats;
};

typedef BasicMonitor<std::regex> Monitor;

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_MONITOR_H_
