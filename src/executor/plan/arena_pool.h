/* Arenas that nobody uses. */
#ifndef MXNET_EXECUTOR_PLAN_ARENA_POOL_H_
#define MXNET_EXECUTOR_PLAN_ARENA_POOL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "executor/plan/arena.h"

namespace mxnet {

/*
 * Arenas of one CachedOp, or of several whose calls follow each other. Plans for different input
 * shapes use the same ones, so that memory kept between calls is what the largest plan needs, once
 * for each call that is under way: between a recorded call and its backward pass an arena is taken.
 */
class ArenaPool {
 public:
  /* `wanted` if nobody uses it, else the one that was returned last, or a new one. */
  std::shared_ptr<Arena> Take(Context ctx, const Arena* wanted = nullptr) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (!((*it)->ctx == ctx)) continue;
      best = it;
      if (it->get() == wanted) break;
    }
    if (best == idle_.end()) return std::make_shared<Arena>(ctx);
    auto arena = std::move(*best);
    idle_.erase(best);
    return arena;
  }
  void Return(std::shared_ptr<Arena> arena) {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Arena>> idle_;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_ARENA_POOL_H_
