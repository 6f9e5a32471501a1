/* Calls of the program's functions from within the library, where nobody may catch what they
 * throw. */
#ifndef MXNET_C_API_CALLBACKS_H_
#define MXNET_C_API_CALLBACKS_H_

#include <cxxabi.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "base/logging.h"

namespace mxnet {

/* The callback with its own arguments. void (*)() is what GCC lets every function be cast from
 * without a warning. */
template <typename Fn>
Fn As(int (*callback)()) {
  return reinterpret_cast<Fn>(reinterpret_cast<void (*)()>(callback));
}

/* f(), but for a callback in whose middle an interpreter ends, which has daemons exit: functions
 * that catch errors would not let them. Such a thread sleeps until the process is over. */
template <typename F>
auto UnlessEnding(const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/* f(), which calls a callback that frees something. What that throws is told, since nobody waits
 * for it; the thing counts as freed. */
template <typename F>
void Freeing(const char* whose, const F& f) noexcept {
  try {
    UnlessEnding(f);
  } catch (const std::exception& e) {
    LogWarning(std::string("[") + whose + "] the function that frees a callback's data has thrown: " + e.what());
  } catch (...) {
    LogWarning(std::string("[") + whose + "] the function that frees a callback's data has thrown something");
  }
}

}  // namespace mxnet

#endif  // MXNET_C_API_CALLBACKS_H_
