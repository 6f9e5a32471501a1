#include "base/cpu_dispatch.h"

#include <algorithm>

namespace mxnet {

// In a build with a sanitizer, v4 is not instrumented (cmake/CpuVariants.cmake).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kV4Usable = false;
#else
constexpr bool kV4Usable = true;
#endif

CpuLevel DetectedCpuLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (kV4Usable && __builtin_cpu_supports("x86-64-v4")) return CpuLevel::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return CpuLevel::kV3;
#endif
  return CpuLevel::kV2;
}

namespace detail {
std::atomic<int> g_cpu_level{static_cast<int>(DetectedCpuLevel())};
}

CpuLevel CapCpuLevel(CpuLevel cap) {
  const CpuLevel level = std::min(cap, DetectedCpuLevel());
  detail::g_cpu_level.store(static_cast<int>(level), std::memory_order_relaxed);
  return level;
}

}  // namespace mxnet
