#include "engine/var.h"

#include <new>

namespace mxnet {

using engine::ErrorRecord;
using engine::OpList;
using engine::VarEntry;

std::atomic<uint64_t> engine::num_raised{0};

void Var::Grant(VarEntry* e) {
  if (e->writes != 0) {
    writer_ = true;
  } else {
    ++readers_;
  }
  if (work_ != nullptr && HasWork(e->writes != 0)) e->op->behind_device.store(true, std::memory_order_relaxed);
  if (error_ != nullptr && (e->error = LiveError()) != nullptr) {
    e->soft = soft_;
    e->op->poisoned.store(true, std::memory_order_relaxed);
  }
}

bool Var::Enter(VarEntry* e) {
  if (head_ == nullptr && !writer_ && (e->writes == 0 || readers_ == 0)) {
    Grant(e);
    return true;
  }
  (head_ == nullptr ? head_ : tail_->next) = e;
  tail_ = e;
  return false;
}

void Var::GrantNext(OpList* ready) {
  do {
    VarEntry* e = head_;
    if (e->writes != 0 && readers_ != 0) return;
    head_ = e->next;
    Grant(e);
    bool write = e->writes != 0;
    // After the last grant the operation may run and `e` may be gone.
    if (e->op->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) ready->Push(e->op);
    if (write) return;
  } while (head_ != nullptr);
}

bool Var::ForgetCleared() {
  if (!error_->cleared.load(std::memory_order_acquire) && !(soft_ && error_->raised.load(std::memory_order_acquire) != 0)) return false;
  error_->Unref();
  error_ = nullptr;
  soft_ = false;
  return true;
}

ErrorRecord* Var::LiveError() {
  if (error_ == nullptr || ForgetCleared()) return nullptr;
  error_->Ref();
  return error_;
}

void Var::SetError(ErrorRecord* outcome, bool soft) {
  if (outcome != nullptr) outcome->holders.fetch_add(1, std::memory_order_relaxed);
  ErrorRecord* old = error_;
  error_ = outcome;
  soft_ = outcome != nullptr && soft;
  if (old == nullptr) return;
  if (old->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) old->cleared.store(true, std::memory_order_release);
  old->Unref();
}

void Var::Reset(bool workspace) {
  if (error_ != nullptr) error_->Unref();  // not an overwrite: WaitForAll still raises it
  error_ = nullptr;
  soft_ = false;
  workspace_ = workspace;
  work_ = nullptr;  // taken already
  live_ = !live_;
  writer_ = false;  // held by the deletion
  bulk_ = nullptr;
  bulk_writes_ = false;
  version_.store(0, std::memory_order_relaxed);
}

void Var::ResetInChild(ErrorRecord* (*lost)()) {
  bool pending = writer_ || head_ != nullptr || (bulk_ != nullptr && bulk_writes_);
  lock_.Reset();
  readers_ = 0;
  writer_ = false;
  bulk_writes_ = false;
  head_ = tail_ = nullptr;
  bulk_ = nullptr;
  if (live_) work_ = nullptr;  // the parent's streams are not here
  // A record that another thread was replacing cannot be told from a good one: leak instead of
  // releasing it.
  if (pending && live_) {
    error_ = lost();
    soft_ = false;
  }
}

}  // namespace mxnet
