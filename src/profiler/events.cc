#include "profiler/events.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/recorder.h"

namespace mxnet {
namespace profiler {

const char* const kMarkerScopes[5] = {"global", "process", "thread", "task", "marker"};

int64_t Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

ThreadLog::~ThreadLog() {
  while (first_ != nullptr) {
    Chunk* next = first_->next.load(std::memory_order_relaxed);
    delete first_;
    first_ = next;
  }
}

void ThreadLog::Grow() {
  Chunk* made = new Chunk;
  last_->next.store(made, std::memory_order_release);  // from here on the reader may free the old one
  last_ = made;
}

void ThreadLog::Read(std::vector<Event>* out) {
  for (;;) {
    const uint32_t count = first_->count.load(std::memory_order_acquire);
    out->insert(out->end(), first_->events + read_, first_->events + count);
    read_ = count;
    if (count < kChunk) return;
    Chunk* next = first_->next.load(std::memory_order_acquire);
    if (next == nullptr) return;
    delete first_;
    first_ = next;
    read_ = 0;
  }
}

namespace {

Recorder* g_recorder = nullptr;  // replaced in a forked child only, which has one thread then

// Trivial, so that it outlives every thread-local object whose destructor may still free memory.
thread_local ThreadState t_state;

/* Tells the reader when the thread is gone. */
struct ThreadEnd {
  ~ThreadEnd() {
    t_state.ended = true;
    if (t_state.log != nullptr) t_state.log->exited.store(true, std::memory_order_release);
    t_state.log = nullptr;
  }
  void Touch() {}
};

}  // namespace

Recorder& Recorder::Get() {
  static Recorder* const first = g_recorder = new Recorder;  // never deleted: threads may record until the very end
  (void)first;
  return *g_recorder;
}

void Recorder::ResetInChild() {
  if (g_recorder == nullptr) return;
  Recorder* old = g_recorder;
  g_recorder = new Recorder;
  g_recorder->parents = old;  // kept reachable; its locks may be held for ever
  t_state = ThreadState();
}

ThreadState* Local() {
  ThreadState* state = &t_state;
  if (__builtin_expect(state->log == nullptr, 0)) {
    if (state->ended) return nullptr;
    static thread_local ThreadEnd end;
    end.Touch();
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    const int64_t tid = syscall(SYS_gettid);
    state->log = new ThreadLog(tid, tid == getpid() ? "main" : name);
    Recorder& recorder = Recorder::Get();
    std::lock_guard<std::mutex> hold(recorder.mutex);
    recorder.logs.push_back(state->log);
  }
  return state;
}

void Record(const Event& event) {
  if (ThreadState* state = Local()) state->log->Append(event);
}

const Label* Intern(const std::string& category, const std::string& name) {
  Recorder& recorder = Recorder::Get();
  std::lock_guard<std::mutex> hold(recorder.mutex);
  auto& slot = recorder.labels[{category, name}];
  if (!slot) slot.reset(new Label{name, category});
  return slot.get();
}

}  // namespace profiler
}  // namespace mxnet
