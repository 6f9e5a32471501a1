#include "operator/custom/worker_threads.h"

#include <pthread.h>

#include <chrono>
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

  bool SubmitLater(Job job) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      if (closed_) return false;
      if (lingering_) {
        later_->push_back(std::move(job));
        return true;
      }
    }
    return Submit(std::move(job));
  }

  void Close() {
    std::unique_lock<std::mutex> hold(mutex_);
    closed_ = true;
    idle_->wait(hold, [this] { return jobs_->empty() && later_->empty() && busy_ == 0; });
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
    for (bool rested = true;; rested = false) {
      while (jobs_->empty() || running_ >= Limit()) {
        if (sleeping_ >= Limit()) return;  // more than are ever needed at once: some waited for others
        const bool lingers = !rested && !lingering_;
        Sleep(&hold, lingers);
        rested = true;
        if (lingers && !later_->empty()) break;
      }
      std::deque<Job> now;
      now.swap(*later_);
      if (!jobs_->empty() && running_ < Limit()) {
        now.push_back(std::move(jobs_->front()));
        jobs_->pop_front();
      }
      ++running_;
      ++busy_;
      Wake(&hold);  // the next one may run as well
      if (hold.owns_lock()) hold.unlock();
      for (Job& job : now) {
        job();
        job = nullptr;
      }
      hold.lock();
      if (generation != generation_) return;  // the process was forked from this thread
      --running_;
      --busy_;
      if (busy_ == 0 && jobs_->empty() && later_->empty()) idle_->notify_all();
    }
  }

  // One of the threads without a job looks again after a moment (`lingers`): what comes for later
  // until then need not wake it.
  void Sleep(std::unique_lock<std::mutex>* hold, bool lingers) {
    ++sleeping_;
    if (lingers) {
      lingering_ = true;
      wake_->wait_for(*hold, std::chrono::milliseconds(1));
      lingering_ = false;
    } else {
      wake_->wait(*hold);
    }
    --sleeping_;
  }

  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool child) override {
    if (child) {  // the threads and what waits for them are not here; the jobs' results are lost, as the engine says
      wake_ = new std::condition_variable;
      idle_ = new std::condition_variable;
      later_ = new std::deque<Job>;
      jobs_ = new std::deque<Job>;  // the old ones are left alone: what they hold belongs to the parent
      running_ = busy_ = sleeping_ = 0;
      lingering_ = false;
      ++generation_;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;  // guards all
  std::condition_variable* wake_ = new std::condition_variable;
  std::condition_variable* idle_ = new std::condition_variable;
  std::deque<Job>* jobs_ = new std::deque<Job>;
  std::deque<Job>* later_ = new std::deque<Job>;  // empty unless a thread lingers
  int running_ = 0;                               // jobs that do not wait for the engine
  int busy_ = 0;                                  // jobs
  int sleeping_ = 0;                              // threads without a job
  bool lingering_ = false;
  int generation_ = 0;
  bool closed_ = false;
};

Threads* Get() {
  static Threads* const threads = new Threads;  // used until the very end of the process
  return threads;
}

}  // namespace

bool Submit(Job job) { return Get()->Submit(std::move(job)); }
bool SubmitLater(Job job) { return Get()->SubmitLater(std::move(job)); }
void Close() { Get()->Close(); }

}  // namespace custom
}  // namespace mxnet
