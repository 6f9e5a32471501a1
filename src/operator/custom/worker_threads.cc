#include "operator/custom/worker_threads.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/logging.h"
#include "base/threads/fork_guard.h"
#include "engine/blocking.h"
#include "mxnet/env.h"

namespace mxnet {
namespace custom {
namespace {

using Job = std::function<void()>;

class Threads final : private ForkGuarded {
 public:
  Threads() { AddForkGuarded(this, ForkLevel::kOperator); }

  bool Submit(Job job) {
    std::unique_lock<std::mutex> hold(mutex_);
    if (closed_) return false;
    jobs_->push_back(std::move(job));
    Wake(&hold);
    return true;
  }

  void Close() {
    std::unique_lock<std::mutex> hold(mutex_);
    closed_ = true;
    idle_->wait(hold, [this] { return jobs_->empty() && busy_ == 0; });
  }

 private:
  /* Around a wait of one of the threads. */
  struct Waiting final : engine::BlockingObserver {
    explicit Waiting(Threads* t) : threads(t) {}
    void BeginWait() override {
      std::unique_lock<std::mutex> hold(threads->mutex_);
      --threads->running_;
      threads->Wake(&hold);
    }
    void EndWait() override {
      std::lock_guard<std::mutex> hold(threads->mutex_);
      ++threads->running_;
    }
    Threads* const threads;
  };

  static int Limit() { return Env::Get().custom_op_num_threads; }

  // Has a thread look for the next job, if one may run.
  void Wake(std::unique_lock<std::mutex>* hold) {
    if (jobs_->empty() || running_ >= Limit()) return;
    if (sleeping_ > 0) {
      hold->unlock();
      wake_->notify_one();
      return;
    }
    const int generation = generation_;
    ++running_;  // of the new thread, until it looks
    try {
      std::thread([this, generation] { Loop(generation); }).detach();
    } catch (const std::exception& e) {
      --running_;
      if (busy_ > 0) return;  // one of those that there are comes to it
      LogWarning(std::string("[Custom] no thread could be started (") + e.what() + "); the operator runs on the thread that starts it");
      Job job = std::move(jobs_->front());
      jobs_->pop_front();
      hold->unlock();
      job();
    }
  }

  // A thread counts among `running_` while it has a job, or has just been made.
  void Loop(int generation) {
    pthread_setname_np(pthread_self(), "mx-custom");
    Waiting waiting(this);
    engine::tls_blocking_observer = &waiting;
    std::unique_lock<std::mutex> hold(mutex_);
    --running_;
    for (;;) {
      while (jobs_->empty() || running_ >= Limit()) {
        if (sleeping_ >= Limit()) return;  // more than are ever needed at once: some waited for others
        ++sleeping_;
        wake_->wait(hold);
        --sleeping_;
      }
      Job job = std::move(jobs_->front());
      jobs_->pop_front();
      ++running_;
      ++busy_;
      Wake(&hold);  // the next one may run as well
      if (hold.owns_lock()) hold.unlock();
      job();
      job = nullptr;
      hold.lock();
      if (generation != generation_) return;  // the process was forked from this thread
      --running_;
      --busy_;
      if (busy_ == 0 && jobs_->empty()) idle_->notify_all();
    }
  }

  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool child) override {
    if (child) {  // the threads and what waits for them are not here; the jobs' results are lost, as the engine says
      wake_ = new std::condition_variable;
      idle_ = new std::condition_variable;
      jobs_ = new std::deque<Job>;  // the old ones are left alone: what they hold belongs to the parent
      running_ = busy_ = sleeping_ = 0;
      ++generation_;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;  // guards all
  std::condition_variable* wake_ = new std::condition_variable;
  std::condition_variable* idle_ = new std::condition_variable;
  std::deque<Job>* jobs_ = new std::deque<Job>;
  int running_ = 0;   // jobs that do not wait for the engine
  int busy_ = 0;      // jobs
  int sleeping_ = 0;  // threads without a job
  int generation_ = 0;
  bool closed_ = false;
};

Threads* Get() {
  static Threads* const threads = new Threads;  // used until the very end of the process
  return threads;
}

}  // namespace

bool Submit(Job job) { return Get()->Submit(std::move(job)); }
void Close() { Get()->Close(); }

}  // namespace custom
}  // namespace mxnet
