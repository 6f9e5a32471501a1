#include "io/shared_iter.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/threads/fork_guard.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"

namespace mxnet {

SharedIter::SharedIter(std::unique_ptr<DataIter> iter) : iter_(std::move(iter)), process_(getpid()) {}

std::unique_lock<std::mutex> SharedIter::Lock() {
  if (process_ != getpid()) {  // a child; a lock that is held now is held by a thread that is not here
    static auto* children = new ForkMutex(ForkLevel::kCaller);
    std::lock_guard<ForkMutex> hold(*children);
    if (process_ != getpid()) {
      torn_ = !mutex_.try_lock();
      if (!torn_) mutex_.unlock();
      process_ = getpid();
    }
  }
  MXNET_CHECK(!torn_) << "[MXDataIter] a thread of the parent process was using the iterator during the fork; accepted: one that is made "
                         "in this process";
  return std::unique_lock<std::mutex>(mutex_);
}

/* Without the lock: an operation that is pending may want a batch. */
void SharedIter::WaitForEngine() {
  constexpr uint64_t kFew = 16;  // operations that may wait for something else than the engine
  Engine* const engine = Engine::Get();
  const uint64_t now = engine->Pushed(), batch = batches_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t oldest = pushed_[batch % kAhead].exchange(now, std::memory_order_relaxed);
  if (batch < kAhead) return;
  const uint64_t middle = pushed_[(batch + kAhead / 2) % kAhead].load(std::memory_order_relaxed);
  engine->WaitForPending(std::max(kFew, now - oldest), std::max(kFew, now - middle));
}

bool SharedIter::Next(DataBatch* batch) {
  WaitForEngine();
  const auto hold = Lock();
  if (!iter_->Next()) return false;
  *batch = iter_->Value();
  return true;
}

void SharedIter::BeforeFirst() {
  const auto hold = Lock();
  iter_->BeforeFirst();
}

void SharedIter::Restart() {
  const auto hold = Lock();
  iter_->Restart();
}

bool SharedIter::Advance() {
  WaitForEngine();
  const auto hold = Lock();
  current_.reset();
  if (!iter_->Next()) return false;
  current_ = std::make_shared<const DataBatch>(iter_->Value());
  return true;
}

std::shared_ptr<const DataBatch> SharedIter::Current() {
  const auto hold = Lock();
  MXNET_CHECK_KIND(current_, Value) << "[MXDataIter] there is no batch; accepted: after a Next that found one";
  return current_;
}

void SharedIter::Rewind() {
  const auto hold = Lock();
  current_.reset();
  iter_->BeforeFirst();
}

}  // namespace mxnet
