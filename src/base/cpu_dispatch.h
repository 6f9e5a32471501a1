/*
 * Kernels for several instruction sets. A file `*_variants.cc` is compiled once per level
 * (x86-64-v2: SSE4.2, -v3: AVX2, FMA and F16C, -v4: AVX-512) and defines its functions in namespace
 * mxnet::MXNET_CPU_VARIANT, which is v2, v3 or v4. Off x86 there is only v2, the baseline; with
 * MXNET_ONE_CPU_LEVEL (the preset fast) only that. The caller, an ordinary file, writes in mxnet:
 *
 *   MXNET_CPU_DECLARE(void Scale(const float* in, float* out, int64_t n);)
 *   ... MXNET_CPU_CALL(Scale)(in, out, n);
 *
 * The chosen level costs one load and two predictable branches. In a *_variants.cc everything else
 * belongs in an anonymous namespace; results must agree between levels within the operator's
 * tolerance.
 */
#ifndef MXNET_BASE_CPU_DISPATCH_H_
#define MXNET_BASE_CPU_DISPATCH_H_

#include <atomic>

#include "mxnet/error.h"

namespace mxnet {

enum class CpuLevel : int { kV2 = 2, kV3 = 3, kV4 = 4 };

namespace detail {
extern std::atomic<int> g_cpu_level;
}

/* The level that MXNET_CPU_CALL uses: what CPU and operating system support, unless capped. */
inline CpuLevel CurrentCpuLevel() { return static_cast<CpuLevel>(detail::g_cpu_level.load(std::memory_order_relaxed)); }
/* What CPU and operating system support; at most v3 with a sanitizer. The only level, if any. */
MXNET_DLL CpuLevel DetectedCpuLevel();
/* For tests: uses at most `cap` from now on, or the only level. Returns the level in use. REQUIRES:
 * no kernel running. */
MXNET_DLL CpuLevel CapCpuLevel(CpuLevel cap);

}  // namespace mxnet

#if !defined(__x86_64__) && !defined(MXNET_ONE_CPU_LEVEL)
#define MXNET_ONE_CPU_LEVEL v2
#endif

#ifdef MXNET_ONE_CPU_LEVEL
#define MXNET_CPU_DECLARE(...)    \
  namespace MXNET_ONE_CPU_LEVEL { \
  __VA_ARGS__                     \
  }
#define MXNET_CPU_CALL(function) (::mxnet::MXNET_ONE_CPU_LEVEL::function)
#else
#define MXNET_CPU_DECLARE(...) \
  namespace v2 {               \
  __VA_ARGS__                  \
  }                            \
  namespace v3 {               \
  __VA_ARGS__                  \
  }                            \
  namespace v4 {               \
  __VA_ARGS__                  \
  }
#define MXNET_CPU_CALL(function)                                                  \
  (::mxnet::CurrentCpuLevel() == ::mxnet::CpuLevel::kV3   ? ::mxnet::v3::function \
   : ::mxnet::CurrentCpuLevel() == ::mxnet::CpuLevel::kV4 ? ::mxnet::v4::function \
                                                          : ::mxnet::v2::function)
#endif

#endif  // MXNET_BASE_CPU_DISPATCH_H_
