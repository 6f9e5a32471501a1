/*
 * For whom a thread works. Operators that the Python code of a custom operator calls are recorded
 * as NAME::exp in a section of theirs, as 1.9.1 does it, and not among the program's. Who leaves
 * work to another thread keeps the label, who runs it sets it. While nothing is recorded each costs
 * one relaxed load.
 */
#ifndef MXNET_PROFILER_CALLED_FOR_H_
#define MXNET_PROFILER_CALLED_FOR_H_

#include <string>

#include "mxnet/profiler.h"

namespace mxnet {
namespace profiler {

struct Label;

const Label* CalledForHere();
/* Of this thread; null: the program. */
inline const Label* CalledFor() { return __builtin_expect(Active() != 0, 0) ? CalledForHere() : nullptr; }

/* This thread works for somebody while it lives. */
class CalledForScope {
 public:
  explicit CalledForScope(const Label* who) {
    if (__builtin_expect(Active() != 0, 0)) Begin(who);
  }
  /* The custom operator `name`, or its gradient. */
  CalledForScope(const std::string& name, bool gradient) {
    if (__builtin_expect(Active() != 0, 0)) Begin(name, gradient);
  }
  ~CalledForScope() {
    if (__builtin_expect(open_, 0)) End();
  }
  CalledForScope(const CalledForScope&) = delete;
  CalledForScope& operator=(const CalledForScope&) = delete;

 private:
  void Begin(const Label* who);
  void Begin(const std::string& name, bool gradient);
  void End();
  bool open_ = false;
  const Label* outer_;  // not set unless open
};

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_CALLED_FOR_H_
