#include "engine/gpu_work.h"

#include "engine/gpu_streams.h"
#include "engine/var.h"

namespace mxnet {
namespace engine {

std::atomic<bool> any_device_work{false};

namespace {

const std::vector<DeviceWorkPtr>* const kNone = new std::vector<DeviceWorkPtr>;
thread_local const std::vector<DeviceWorkPtr>* tls_deletion = nullptr;

}  // namespace

DeviceWork::DeviceWork(const StreamHooks* h, void* s, void* e, const char* n, const std::string& where)
    : stream(s), order(NextOrder()), name(n), site(where), own_(std::make_shared<EventMark>(h, e, order)) {
  any_device_work.store(true, std::memory_order_relaxed);
}

DeviceWork::DeviceWork(std::shared_ptr<StreamClock> c, void* s, uint64_t o, const char* n, const std::string& where)
    : stream(s), order(o), name(n), site(where), clock_(std::move(c)) {
  any_device_work.store(true, std::memory_order_relaxed);
}

EventMarkPtr DeviceWork::Mark(bool make) {
  if (clock_ == nullptr) return own_;
  bool over = false;
  EventMarkPtr mark = MarkBehind(clock_.get(), order, make, &over);
  if (over) passed.store(true, std::memory_order_release);
  return mark;
}

bool DeviceWork::Passed() {
  if (passed.load(std::memory_order_acquire)) return true;
  try {
    const EventMarkPtr mark = Mark(false);
    if (mark == nullptr) return passed.load(std::memory_order_relaxed);
    if (!mark->hooks->passed(mark->event)) return false;
    if (clock_ != nullptr) NotePassed(clock_.get(), *mark);
  } catch (const std::exception&) {
    return false;  // whoever waits for it hears of the fault
  }
  passed.store(true, std::memory_order_release);
  return true;
}

void DeviceWork::Finish() {
  if (passed.load(std::memory_order_acquire)) return;
  try {
    if (const EventMarkPtr mark = Mark(true)) {
      mark->hooks->finish(mark->event);
      if (clock_ != nullptr) NotePassed(clock_.get(), *mark);
    }
  } catch (...) {
    std::rethrow_exception(DescribeError(std::current_exception(), name, site));
  }
  passed.store(true, std::memory_order_release);
}

void DeviceWork::Precede(void* other) {
  if (const EventMarkPtr mark = Mark(true)) mark->hooks->wait(other, mark->event);
}

void DeviceWork::PrecedeOn(int dev_id, void* other) {
  if (const EventMarkPtr mark = Mark(true)) mark->hooks->wait_on(dev_id, other, mark->event);
}

void AddLater(std::vector<DeviceWorkPtr>* list, const DeviceWorkPtr& work) {
  for (DeviceWorkPtr& have : *list) {
    if (have->stream != work->stream) continue;
    if (have->order < work->order) have = work;
    return;
  }
  list->push_back(work);
}

const std::vector<DeviceWorkPtr>& WorkOfDeletion() { return tls_deletion != nullptr ? *tls_deletion : *kNone; }

DeletionScope::DeletionScope(const std::vector<DeviceWorkPtr>* work) : before_(tls_deletion) { tls_deletion = work; }
DeletionScope::~DeletionScope() { tls_deletion = before_; }

void BeginBehind(Var* var, const std::vector<DeviceWorkPtr>& work) {
  for (const DeviceWorkPtr& w : work) {
    var->lock();
    std::unique_ptr<VarWork> old = var->NoteWork(w, false);
    var->unlock();
  }
}

void UseBehind(Var* var, const DeviceWorkPtr& work) {
  var->lock();
  const DeviceWorkPtr old = var->NoteOutside(work);
  var->unlock();
}

}  // namespace engine

using engine::DeviceWorkPtr;
using engine::VarWork;

std::unique_ptr<VarWork> Var::NoteWork(const DeviceWorkPtr& work, bool write) {
  if (!write) {
    if (work == nullptr) return nullptr;
    if (work_ == nullptr) work_ = new VarWork;
    for (DeviceWorkPtr& have : work_->reads) {
      if (have->stream != work->stream) continue;
      std::unique_ptr<VarWork> old(new VarWork);
      old->write = work;
      if (have->order < work->order) have.swap(old->write);
      return old;
    }
    work_->reads.push_back(work);
    return nullptr;
  }
  std::unique_ptr<VarWork> old(work_);
  work_ = nullptr;
  // This write may have begun before another library gave the memory back.
  const bool keep = old != nullptr && old->outside != nullptr && !old->outside->passed.load(std::memory_order_acquire);
  if (work != nullptr || keep) {
    work_ = new VarWork;
    work_->write = work;
    if (keep) work_->outside = old->outside;
  }
  return old;
}

// One stream of each device orders all that other libraries did: the later end stands for both.
DeviceWorkPtr Var::NoteOutside(DeviceWorkPtr work) {
  if (work_ == nullptr) work_ = new VarWork;
  if (work_->outside == nullptr || work_->outside->order < work->order) work_->outside.swap(work);
  return work;
}

void Var::CollectWork(bool reads_too, std::vector<DeviceWorkPtr>* out) const {
  if (work_ == nullptr) return;
  if (work_->write != nullptr) AddLater(out, work_->write);
  if (work_->outside != nullptr) AddLater(out, work_->outside);
  if (!reads_too) return;
  for (const DeviceWorkPtr& w : work_->reads) AddLater(out, w);
}

bool Var::HasWork(bool reads_too) const {
  const auto under_way = [](const DeviceWorkPtr& w) { return w != nullptr && !w->passed.load(std::memory_order_acquire); };
  bool any = under_way(work_->write) || under_way(work_->outside);
  for (size_t i = 0; reads_too && i < work_->reads.size(); ++i) any = any || under_way(work_->reads[i]);
  return any;
}

std::unique_ptr<VarWork> Var::TakeWork() {
  std::unique_ptr<VarWork> all(work_);
  work_ = nullptr;
  return all;
}

// The event is asked under the variable's lock; that is a look into memory, not a call of the
// system.
bool Var::WorkPassed(bool reads_too) {
  if (work_->write != nullptr && !work_->write->Passed()) return false;
  if (work_->outside != nullptr && !work_->outside->Passed()) return false;
  for (size_t i = 0; reads_too && i < work_->reads.size(); ++i)
    if (!work_->reads[i]->Passed()) return false;
  return true;
}

}  // namespace mxnet
