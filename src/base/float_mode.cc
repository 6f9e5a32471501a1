#include "base/float_mode.h"

#include <omp.h>

#include "base/threads/library_threads.h"
#include "base/threads/omp.h"

namespace mxnet {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kFlush = 0x8040;  // FTZ (results), DAZ (operands)
uint64_t Control() { return __builtin_ia32_stmxcsr(); }
void SetControl(uint64_t control) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(control)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FZ: results and operands
uint64_t Control() {
  uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
void SetControl(uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
#else
constexpr uint64_t kFlush = 0;
uint64_t Control() { return 0; }
void SetControl(uint64_t) {}
#endif

void Apply(bool flush) {
  const uint64_t now = Control(), wanted = flush ? now | kFlush : now & ~kFlush;
  if (wanted != now) SetControl(wanted);
}

thread_local uint32_t t_team_mode = 0;  // the mode that this thread's OpenMP team has

}  // namespace

namespace detail {

std::atomic<uint32_t> g_float_mode{0};

uint64_t EnterFloatMode(uint32_t mode) {
  const uint64_t control = Control();
  const bool flush = mode % 2 != 0;
  Apply(flush);
  // Threads that join the team later copy the mode of this one when they are made.
  if (t_team_mode != mode && !omp_in_parallel()) {
    t_team_mode = mode;
    const int threads = OmpMaxThreads();
    if (threads > 1 && OpenMPCanStart(threads)) {
#pragma omp parallel num_threads(threads)
      Apply(flush);
    }
  }
  return control;
}

uint64_t FloatControl() { return Control(); }
void SetFloatControl(uint64_t control) {
  if (Control() != control) SetControl(control);
}

void LeaveFloatMode(uint64_t control) {
  const uint64_t now = Control();
  const uint64_t back = (now & ~kFlush) | (control & kFlush);  // exception flags raised meanwhile stay
  if (back != now) SetControl(back);
}

}  // namespace detail

bool SetFlushDenorms(bool flush) {
  uint32_t mode = detail::g_float_mode.load(std::memory_order_relaxed);
  while ((mode % 2 != 0) != flush && !detail::g_float_mode.compare_exchange_weak(mode, mode + 1, std::memory_order_relaxed)) {
  }
  return mode % 2 != 0;
}

}  // namespace mxnet
