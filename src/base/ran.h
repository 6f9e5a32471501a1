/*
 * Which implementation a kernel chose, and of which instructions, for people: explain() and the
 * profiler ask (docs/explain.md).
 *
 * Whoever times a kernel opens a RanScope around it. A kernel that has a choice says what it took,
 * where it chooses, on the thread that it was called on or in a loop of ParallelFor:
 *
 *   Ran("packed GEMM");                                // in kernels of MXNET_CPU_CALL
 *   Ran("oneDNN inner product", RanAt::kAvx512Vnni);   // of other instructions
 *
 * What is said twice counts once; a kernel of several parts (the gradients of a convolution) says
 * each of them. While nobody asks, saying costs one load. What says nothing is "plain": loops that
 * have nothing to choose.
 */
#ifndef MXNET_BASE_RAN_H_
#define MXNET_BASE_RAN_H_

#include <cstdint>
#include <string>

#include "mxnet/base.h"

namespace mxnet {

/* Instructions that a kernel is made of. */
enum class RanAt : uint8_t { kNone, kBaseline, kAvx2, kAvx2Vnni, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };
/* "AVX-512 VNNI"; null for kNone. */
MXNET_DLL const char* RanAtName(RanAt at);
/* Those that MXNET_CPU_CALL uses now. */
MXNET_DLL RanAt RanAtCpuLevel();

/* `name` must stay valid for ever: a literal, or what InternRan gave. */
struct RanPart {
  const char* name = nullptr;
  RanAt at = RanAt::kNone;
};

struct RanParts {
  static constexpr int kMost = 4;  // further ones are not kept
  RanPart parts[kMost];
  int count = 0;
  MXNET_DLL void Add(RanPart part);
};

namespace detail {
/* Where this thread's kernels say it; null: nobody asks. */
extern __thread RanParts* g_ran;
}  // namespace detail

inline void Ran(RanPart part) {
  if (__builtin_expect(detail::g_ran != nullptr, 0)) detail::g_ran->Add(part);
}
inline void Ran(const char* name, RanAt at) { Ran(RanPart{name, at}); }
inline void Ran(const char* name) {
  if (__builtin_expect(detail::g_ran != nullptr, 0)) detail::g_ran->Add({name, RanAtCpuLevel()});
}

/* Whether it is worth making a text. */
inline bool RanAsked() { return __builtin_expect(detail::g_ran != nullptr, 0); }
/* The text, kept for ever. */
MXNET_DLL const char* InternRan(const std::string& text);
/* A library's own name of what it made, with the instructions that are part of it: "jit:avx2". */
MXNET_DLL RanPart RanOfLibrary(const char* library, const std::string& own_name, RanAt otherwise);

/* While it lives this thread's kernels say it to `to`, which is emptied; to nobody if that is null.
 */
class RanScope {
 public:
  explicit RanScope(RanParts* to) : outer_(detail::g_ran) { Begin(to); }
  ~RanScope() { detail::g_ran = outer_; }
  RanScope(const RanScope&) = delete;
  RanScope& operator=(const RanScope&) = delete;

 private:
  static void Begin(RanParts* to) {
    if (to) to->count = 0;
    detail::g_ran = to;
  }
  RanParts* const outer_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_RAN_H_
