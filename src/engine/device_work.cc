#include "engine/device_work.h"

#include "engine/var.h"

namespace mxnet {
namespace engine {

std::atomic<bool> any_device_work{false};

namespace {

std::atomic<uint64_t> g_order{0};
const std::vector<DeviceWorkPtr>* const kNone = new std::vector<DeviceWorkPtr>;
thread_local const std::vector<DeviceWorkPtr>* tls_deletion = nullptr;

}  // namespace

DeviceWork::DeviceWork(const StreamHooks* h, void* s, void* e, const char* n, const std::string& where)
    : hooks(h), stream(s), event(e), order(g_order.fetch_add(1, std::memory_order_relaxed)), name(n), site(where) {
  any_device_work.store(true, std::memory_order_relaxed);
}

bool DeviceWork::Passed() {
  if (passed.load(std::memory_order_acquire)) return true;
  try {
    if (!hooks->passed(event)) return false;
  } catch (const std::exception&) {
    return false;   // whoever waits for it hears of the fault
  }
  passed.store(true, std::memory_order_release);
  return true;
}

void DeviceWork::Finish() {
  if (passed.load(std::memory_order_acquire)) return;
  try {
    hooks->finish(event);
  } catch (...) {
    std::rethrow_exception(DescribeError(std::current_exception(), name, site));
  }
  passed.store(true, std::memory_order_release);
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
  if (work != nullptr) {
    work_ = new VarWork;
    work_->write = work;
  }
  return old;
}

void Var::CollectWork(bool reads_too, std::vector<DeviceWorkPtr>* out) const {
  if (work_ == nullptr) return;
  if (work_->write != nullptr) AddLater(out, work_->write);
  if (!reads_too) return;
  for (const DeviceWorkPtr& w : work_->reads) AddLater(out, w);
}

bool Var::HasWork(bool reads_too) const {
  const auto under_way = [](const DeviceWorkPtr& w) { return w != nullptr && !w->passed.load(std::memory_order_acquire); };
  bool any = under_way(work_->write);
  for (size_t i = 0; reads_too && i < work_->reads.size(); ++i) any = any || under_way(work_->reads[i]);
  return any;
}

std::unique_ptr<VarWork> Var::TakeWork() {
  std::unique_ptr<VarWork> all(work_);
  work_ = nullptr;
  return all;
}

// The event is asked under the variable's lock; that is a look into memory, not a call of the system.
bool Var::WorkPassed(bool reads_too) {
  if (work_->write != nullptr && !work_->write->Passed()) return false;
  for (size_t i = 0; reads_too && i < work_->reads.size(); ++i)
    if (!work_->reads[i]->Passed()) return false;
  return true;
}

}  // namespace mxnet
