#include "io/shared_iter.h"

#include <unistd.h>

#include <utility>

#include "base/threads/fork_guard.h"
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

bool SharedIter::Next(DataBatch* batch) {
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
