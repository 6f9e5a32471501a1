/*
 * What the profiler records of operators that run; see mxnet/profiler.h for its other hooks. While
 * nothing is recorded a scope costs one relaxed load.
 */
#ifndef MXNET_OPERATOR_SHARED_OP_SCOPE_H_
#define MXNET_OPERATOR_SHARED_OP_SCOPE_H_

#include <string>

#include "base/ran.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace profiler {

/* A kernel runs on this thread, or is put on the stream of `run`: then its time is the device's. */
class OpScope {
 public:
  /* Eager. GPU kernels whose stream tells no times are left to NameScope, during which the host
   * waits for them. */
  OpScope(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const RunContext& run) {
    if (__builtin_expect(Active() != 0, 0)) BeginEager(attrs, in, out, run);
  }
  /* A plan's node; `*info` is filled in at the first use. */
  OpScope(const OpInfo** info, const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const std::string& node,
          const RunContext& run) {
    if (__builtin_expect(Active() != 0, 0)) BeginNode(info, attrs, in, out, node, run);
  }
  ~OpScope() {
    if (__builtin_expect(open_.kind != 0, 0)) End();
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

 private:
  void BeginEager(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const RunContext& run);
  void BeginNode(const OpInfo** info, const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const std::string& node,
                 const RunContext& run);
  void End();
  void Listen() {
    outer_ = detail::g_ran;
    ran_.count = 0;
    detail::g_ran = &ran_;
  }
  Open open_;
  RanParts* outer_;  // not set unless open
  RanParts ran_;     // what this kernel says
};

/* Allocations of this thread count for the operator: `MemoryScope memory(NameOf(attrs));`. */
inline OperatorName NameOf(const Attrs& attrs) { return {&attrs.op->name}; }

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_OP_SCOPE_H_
