/* Which ThreadState belongs to the calling thread, and what happens to it when the thread or the
 * process's fork ends it. */
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "base/threads/thread_objects.h"
#include "engine/dependency_engine.h"

namespace mxnet {
namespace engine {

__thread StateCache tls_state = {0, nullptr};
__thread int tls_depth = 0;

namespace {

__thread bool tls_exited = false;

struct ThreadStates {
  std::vector<std::pair<uint64_t, ThreadState*>> states;  // by engine id; an engine may be dead
  // The main thread ends with the process, just before exit handlers destroy what libraries keep in
  // function statics (oneDNN its compiled kernels), often before the handler of Engine::Get: what
  // is in flight must be over by then. After a fork, another thread is the main one.
  ThreadStates() {
    CallAtThreadExit([] {
      if (syscall(SYS_gettid) == getpid()) FinishProcessEngine();
    });
  }
  ~ThreadStates() {
    tls_exited = true;
    tls_state = {0, nullptr};
    for (auto& s : states) NotifyThreadExit(s.first, s.second);
  }
};
thread_local ThreadStates tls_states;

}  // namespace

ThreadState* DependencyEngine::StateSlow() {
  if (!tls_exited) {
    for (auto& s : tls_states.states) {
      if (s.first != id_) continue;
      tls_state = {id_, s.second};
      return s.second;
    }
  }
  ThreadState* state = nullptr;
  for (ThreadState* s = states_.load(std::memory_order_acquire); s != nullptr && state == nullptr; s = s->next) {
    bool used = s->in_use.load(std::memory_order_relaxed);
    if (!used && s->in_use.compare_exchange_strong(used, true, std::memory_order_acquire)) state = s;
  }
  if (state == nullptr) {
    state = new ThreadState;
    state->next = states_.load(std::memory_order_relaxed);
    while (!states_.compare_exchange_weak(state->next, state, std::memory_order_acq_rel)) {
    }
  }
  // Destructors that run after ThreadStates keep the state for good: a few bytes for a rare thread.
  if (!tls_exited) tls_states.states.emplace_back(id_, state);
  tls_state = {id_, state};
  return state;
}

void DependencyEngine::ThreadExit(ThreadState* state) {
  state->bulk_size = 0;
  Flush(state);
  if (tls_state.engine_id == id_ && tls_state.state == state) tls_state = {0, nullptr};
  state->in_use.store(false, std::memory_order_release);
}

void DependencyEngine::ChildAfterFork() {
  errors_mu_.unlock();
  errors_.clear();  // the parent reports them
  ThreadState* mine = nullptr;
  for (auto& s : tls_states.states) {
    if (s.first == id_) mine = s.second;
  }
  for (ThreadState* s = states_.load(); s != nullptr; s = s->next) {
    s->started.store(0);
    s->finished.store(0);
    s->lock.Reset();
    // Work of the parent, possibly in the middle of a change by a thread that does not exist here:
    // leaked, not destroyed.
    s->bulk.release();
    s->bulk_open.store(false);
    new (&s->bulk_deletes) std::vector<Op*>();
    if (s != mine) {
      s->bulk_size = 0;
      s->in_use.store(false);
    }
  }
  all_waiters_.store(0);
  callbacks_.store(0);
}

}  // namespace engine
}  // namespace mxnet
