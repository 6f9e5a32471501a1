/* Jobs that those who wait for an operation run themselves (waiting_work.h). */
#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "engine/blocking.h"
#include "engine/dependency_engine.h"
#include "engine/waiting_work.h"
#include "mxnet/interruptible.h"

namespace mxnet {
namespace engine {
namespace {

std::atomic<LentJobs*> lent_jobs{nullptr};
std::atomic<bool> lends{false};

// Not initial-exec (dependency_engine.h says why).
__thread const Op* tls_starting = nullptr;
__thread bool tls_by_program = false;
__thread bool tls_runs_jobs = false;

/* What waits for one operation, as far as it has been looked at. */
class Behind {
 public:
  explicit Behind(const Op* first) : seen_{first} {}

  bool Holds(const Op* wanted) {
    for (int i = 0; i < count_; ++i)
      for (int k = 0; k < seen_[i]->num_entries; ++k)
        if (Look(seen_[i]->entries[k], wanted)) return true;
    return false;
  }

 private:
  static constexpr int kMost = 64;

  /* At those that wait for `entry`. A granted one is no longer in its variable's queue, and the
   * others in it wait for it. Of those behind a read, the reads do not. */
  bool Look(const VarEntry& entry, const Op* wanted) {
    entry.var->lock();
    const VarEntry* first = entry.var->queue();
    for (const VarEntry* e = first; e != nullptr; e = e->next)
      if (e == &entry) first = e->next;
    while (entry.writes == 0 && first != nullptr && first->writes == 0) first = first->next;
    bool found = false;
    for (const VarEntry* e = first; e != nullptr && !found && count_ < kMost; e = e->next) {
      found = e->op == wanted;
      if (std::find(seen_, seen_ + count_, e->op) == seen_ + count_) seen_[count_++] = e->op;
    }
    entry.var->unlock();
    return found;
  }

  const Op* seen_[kMost];
  int count_ = 1;
};

}  // namespace

// Nothing that waits for `first` moves before that has ended, so what has been seen may be read.
bool Precedes(const Op& first, const Op* last) { return Behind(&first).Holds(last); }

void SetLentJobs(LentJobs* jobs) { lent_jobs.store(jobs, std::memory_order_release); }

void RunLentJobs(const std::function<bool(const Op& of)>& wanted, const std::function<bool()>& over) {
  LentJobs* const jobs = lent_jobs.load(std::memory_order_acquire);
  if (jobs == nullptr || tls_blocking_observer != nullptr || tls_runs_jobs) return;
  const PatientWaits patient;  // of the jobs
  tls_runs_jobs = true;
  jobs->Run([&wanted](const void* operation) { return wanted(*static_cast<const Op*>(operation)); }, over);
  tls_runs_jobs = false;
}

bool RunsLentJobs() { return tls_runs_jobs; }

Started StartedHere() { return lends.load(std::memory_order_relaxed) ? Started{tls_starting, tls_by_program} : Started(); }

StartingScope::StartingScope(const Op* op) : before_(std::exchange(tls_starting, op)) {}
StartingScope::~StartingScope() { tls_starting = before_; }

ProgramScope::ProgramScope()
    : before_(std::exchange(tls_by_program, tls_runs_jobs || (!InOperation() && tls_blocking_observer == nullptr))) {}
ProgramScope::~ProgramScope() { tls_by_program = before_; }

}  // namespace engine

void RunCallbacksInWaits() { engine::lends.store(true, std::memory_order_relaxed); }

}  // namespace mxnet
