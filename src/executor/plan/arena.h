/* One block of memory and the variable that orders its users. Shared by the plan instances that
 * share memory. */
#ifndef MXNET_EXECUTOR_PLAN_ARENA_H_
#define MXNET_EXECUTOR_PLAN_ARENA_H_

#include <atomic>

#include "mxnet/engine.h"
#include "mxnet/storage.h"

namespace mxnet {

struct Arena {
  Var* var;
  Context ctx;
  StorageHandle handle;             // touched inside engine operations on `var` only
  std::atomic<size_t> reserved{0};  // when memory is made, at least this much: plans that share an arena make it once, for the largest
  std::atomic<const void*> holds{nullptr};  // the PlanCall whose forward pass was pushed last: whose activations a backward pass would find
  explicit Arena(Context c);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void Reserve(size_t bytes);
  // ---- inside engine operations on `var`
  /* Has at least so many bytes from then on. What was in it may be lost. */
  void Provide(size_t bytes, const RunContext& run);
  void Free(const RunContext& run);
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_ARENA_H_
