#include "base/cpu_dispatch.h"

#include <algorithm>

namespace mxnet {

#ifdef MXNET_ONE_CPU_LEVEL
namespace {
struct Levels {
  static constexpr CpuLevel v2 = CpuLevel::kV2, v3 = CpuLevel::kV3, v4 = CpuLevel::kV4;
};
}  // namespace

CpuLevel DetectedCpuLevel() { return Levels::MXNET_ONE_CPU_LEVEL; }
#else
// In a build with a sanitizer, v4 is not instrumented (cmake/CpuVariants.cmake).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kV4Usable = false;
#else
constexpr bool kV4Usable = true;
#endif

CpuLevel DetectedCpuLevel() {
  __builtin_cpu_init();
  if (kV4Usable && __builtin_cpu_supports("x86-64-v4")) return CpuLevel::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return CpuLevel::kV3;
  return CpuLevel::kV2;
}
#endif

namespace detail {
std::atomic<int> g_cpu_level{static_cast<int>(DetectedCpuLevel())};
}

CpuLevel CapCpuLevel(CpuLevel cap) {
#ifdef MXNET_ONE_CPU_LEVEL
  const CpuLevel level = DetectedCpuLevel();
#else
  const CpuLevel level = std::min(cap, DetectedCpuLevel());
#endif
  detail::g_cpu_level.store(static_cast<int>(level), std::memory_order_relaxed);
  return level;
}

}  // namespace mxnet
