/* For programs that include this header of dmlc-core, which MXNet 1.9.1 brought along. */
#ifndef DMLC_TIMER_H_
#define DMLC_TIMER_H_

#include <chrono>

#include "dmlc/base.h"

namespace dmlc {

/* Seconds since some moment, for differences. */
inline double GetTime() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace dmlc

#endif
