#include "imperative/pushed_call.h"

#include <mutex>

#include "base/threads/fork_guard.h"

namespace mxnet {
namespace {

constexpr size_t kBatch = 32, kMost = 1024;  // calls that move between a thread and all; that wait for all

ForkMutex* const g_mutex = new ForkMutex(ForkLevel::kEvents);
std::vector<PushedCall*>* const g_free = new std::vector<PushedCall*>;  // guarded by g_mutex

/* Callers take, workers give: a batch at a time goes between them. */
struct Stash {
  std::vector<PushedCall*> calls;
  ~Stash() {
    for (PushedCall* c : calls) delete c;
  }
};
thread_local Stash tls_stash;

void Move(std::vector<PushedCall*>* from, std::vector<PushedCall*>* to) {
  const size_t count = from->size() < kBatch ? from->size() : kBatch;
  to->insert(to->end(), from->end() - static_cast<ptrdiff_t>(count), from->end());
  from->resize(from->size() - count);
}

}  // namespace

PushedCall* PushedCall::Take() {
  std::vector<PushedCall*>& mine = tls_stash.calls;
  if (mine.empty()) {
    std::lock_guard<ForkMutex> lock(*g_mutex);
    Move(g_free, &mine);
  }
  if (mine.empty()) return new PushedCall;
  PushedCall* call = mine.back();
  mine.pop_back();
  return call;
}

void PushedCall::Give(PushedCall* call) {
  call->attrs.reset();
  call->in.clear();
  call->out.clear();
  call->req.clear();
  call->late.clear();
  std::vector<PushedCall*>& mine = tls_stash.calls;
  mine.push_back(call);
  if (mine.size() < 2 * kBatch) return;
  std::vector<PushedCall*> too_many;
  {
    std::lock_guard<ForkMutex> lock(*g_mutex);
    Move(&mine, g_free->size() < kMost ? g_free : &too_many);
  }
  for (PushedCall* c : too_many) delete c;
}

}  // namespace mxnet
