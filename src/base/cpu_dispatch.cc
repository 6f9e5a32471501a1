#include "base/cpu_dispatch.h"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cctype>
#include <string>

#include "base/cpu_limit.h"
#include "base/foreign_env.h"

namespace mxnet {

const CpuLimit& LimitOfCpu() {
  static const CpuLimit limit = [] {
    std::string word = ForeignText("ONEDNN_MAX_CPU_ISA");
    if (word.empty()) word = ForeignText("DNNL_MAX_CPU_ISA");
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    struct Row {
      const char* word;
      CpuLimit limit;
    };
    const Row rows[] = {{"SSE41", {CpuLevel::kV2, false, false, false}},
                        {"AVX", {CpuLevel::kV2, false, false, false}},
                        {"AVX2", {CpuLevel::kV3, false, false, false}},
                        {"AVX2_VNNI", {CpuLevel::kV3, true, false, false}},
                        {"AVX2_VNNI_2", {CpuLevel::kV3, true, false, false}},
                        {"AVX512_CORE", {CpuLevel::kV4, false, false, false}},
                        {"AVX512_CORE_VNNI", {CpuLevel::kV4, true, false, false}},
                        {"AVX512_CORE_BF16", {CpuLevel::kV4, true, true, false}},
                        {"AVX512_CORE_FP16", {CpuLevel::kV4, true, true, false}}};
    for (const Row& row : rows)
      if (word == row.word) return row.limit;
    return CpuLimit();
  }();
  return limit;
}

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

bool HasVnni() {
#ifdef __x86_64__
  return DetectedCpuLevel() == CpuLevel::kV4 && LimitOfCpu().vnni && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

bool HasBfloat16() {
#ifdef __x86_64__
  return DetectedCpuLevel() == CpuLevel::kV4 && LimitOfCpu().bfloat16 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

bool HasAmx() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool has = [] {
    if (!HasBfloat16() || !LimitOfCpu().amx) return false;
    if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-int8") || !__builtin_cpu_supports("amx-bf16")) return false;
    constexpr long kAskForState = 0x1023, kTileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
    return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  }();
  return has;
#else
  return false;
#endif
}

namespace {
CpuLevel Within(CpuLevel cap) {
#ifdef MXNET_ONE_CPU_LEVEL
  static_cast<void>(cap);
  return DetectedCpuLevel();
#else
  return std::min({cap, DetectedCpuLevel(), LimitOfCpu().level});
#endif
}
}  // namespace

namespace detail {
std::atomic<int> g_cpu_level{static_cast<int>(Within(LimitOfCpu().level))};
}

CpuLevel CapCpuLevel(CpuLevel cap) {
  const CpuLevel level = Within(cap);
  detail::g_cpu_level.store(static_cast<int>(level), std::memory_order_relaxed);
  return level;
}

}  // namespace mxnet
