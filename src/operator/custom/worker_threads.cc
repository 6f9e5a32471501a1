#include "operator/custom/worker_threads.h"

#include <pthread.h>

#include <atomic>
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
#include "engine/sync.h"
#include "engine/waiting_work.h"
#include "mxnet/env.h"

namespace mxnet {
namespace custom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kMoment(250);  // for which a thread lingers
constexpr std::chrono::microseconds kLook(40);     // for which who waits looks for the next job

class Threads final : private ForkGuarded, private engine::LentJobs {
 public:
  Threads() {
    AddForkGuarded(this, ForkLevel::kOperator);
    engine::SetLentJobs(this);
  }

  bool Submit(Job job) {
    std::unique_lock<std::mutex> hold(mutex_);
    if (closed_) return false;
    const bool looked_for = looking_ > 0;
    Queued queued{std::move(job), Clock::time_point()};
    if (queued.job.operation != nullptr && (queued.job.by_program || looked_for)) {
      queued.since = Clock::now();
      ++left_;
    }
    const bool left = queued.since != Clock::time_point();
    jobs_->push_back(std::move(queued));
    waiting_.store(jobs_->size(), std::memory_order_relaxed);
    if (!left || !(lingering_ || looked_for)) Wake(&hold);
    return true;
  }

  bool SubmitLater(std::function<void()> job) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      if (closed_) return false;
      if (lingering_) {
        later_->push_back(std::move(job));
        return true;
      }
    }
    return Submit({std::move(job), nullptr, false});
  }

  void Close() {
    std::unique_lock<std::mutex> hold(mutex_);
    closed_ = true;
    idle_->wait(hold, [this] { return jobs_->empty() && later_->empty() && busy_ == 0; });
  }

 private:
  struct Queued {
    Job job;
    Clock::time_point since;  // left to who waits for a moment from then on; none: not left to anybody
  };

  /* Around a wait of one of the threads, or of another one in a job. */
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

  /* Is the next job left to who waits for it? Not where another one is behind it that is not. */
  bool IsLeft() const {
    return !jobs_->empty() && jobs_->front().since != Clock::time_point() && jobs_->back().since != Clock::time_point() &&
           Clock::now() - jobs_->front().since < kMoment;
  }
  bool HasTurn() const { return !jobs_->empty() && running_ < Limit() && !IsLeft(); }

  Job Take() {
    Job job = std::move(jobs_->front().job);
    jobs_->pop_front();
    waiting_.store(jobs_->size(), std::memory_order_relaxed);
    return job;
  }

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
      const Job job = Take();
      hold->unlock();
      job.run();
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
      while (!HasTurn()) {
        if (sleeping_ >= Limit() && !IsLeft()) return;  // more than are ever needed at once: some waited for others
        const bool lingers = !lingering_ && (!rested || IsLeft());
        const uint64_t left = left_;
        Sleep(&hold, lingers);
        rested = left == left_;
        if (lingers && !later_->empty()) break;
      }
      std::deque<std::function<void()>> now;
      now.swap(*later_);
      if (HasTurn()) now.push_back(std::move(Take().run));
      ++running_;
      ++busy_;
      Wake(&hold);  // the next one may run as well
      if (hold.owns_lock()) hold.unlock();
      for (std::function<void()>& job : now) {
        job();
        job = nullptr;
      }
      hold.lock();
      if (generation != generation_) return;  // the process was forked from this thread
      --running_;
      End();
    }
  }

  void End() {
    --busy_;
    if (busy_ == 0 && jobs_->empty() && later_->empty()) idle_->notify_all();
  }

  // One of the threads without a job looks again after a moment (`lingers`): what comes for later
  // until then, or is left to who waits for it, need not wake it.
  void Sleep(std::unique_lock<std::mutex>* hold, bool lingers) {
    ++sleeping_;
    if (lingers) {
      lingering_ = true;
      wake_->wait_for(*hold, kMoment);
      lingering_ = false;
    } else {
      wake_->wait(*hold);
    }
    --sleeping_;
  }

  /* On a thread of the program, which waits. */
  void Run(const std::function<bool(const void*)>& wanted, const std::function<bool()>& over) override {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    do {
      std::unique_lock<std::mutex> hold(mutex_);
      bool mine = !jobs_->empty() && jobs_->front().job.operation != nullptr && running_ < Limit();
      if (mine) {
        const Clock::time_point since = jobs_->front().since;
        const int generation = generation_;
        Job job = Take();
        ++running_;
        ++busy_;
        hold.unlock();
        mine = !over() && wanted(job.operation);
        if (mine) RunHere(&job);
        hold.lock();
        if (generation != generation_) return;  // the process was forked in the job
        --running_;
        if (!mine) {
          jobs_->push_front({std::move(job), since});
          waiting_.store(jobs_->size(), std::memory_order_relaxed);
        }
        End();
      }
      if (!lingering_) Wake(&hold);
      if (!mine) return;
    } while (LookForJob(over));
  }

  void RunHere(Job* job) {
    Waiting waiting(this);
    engine::tls_blocking_observer = &waiting;
    job->run();
    job->run = nullptr;
    engine::tls_blocking_observer = nullptr;
    std::deque<std::function<void()>> later;
    {
      std::lock_guard<std::mutex> hold(mutex_);
      later.swap(*later_);
    }
    for (const std::function<void()>& l : later) l();
  }

  /* Whether there is a job before it is `over`; what comes later has one of the threads woken. */
  bool LookForJob(const std::function<bool()>& over) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      ++looking_;
    }
    const Clock::time_point end = Clock::now() + kLook;
    while (!over() && waiting_.load(std::memory_order_relaxed) == 0 && Clock::now() < end)
      for (int i = 0; i < 16; ++i) engine::CpuPause();
    std::unique_lock<std::mutex> hold(mutex_);
    --looking_;
    if (jobs_->empty()) return false;
    if (!over()) return true;
    if (!lingering_) Wake(&hold);
    return false;
  }

  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool child) override {
    if (child) {  // the threads and what waits for them are not here; the jobs' results are lost, as the engine says
      wake_ = new std::condition_variable;
      idle_ = new std::condition_variable;
      later_ = new std::deque<std::function<void()>>;
      jobs_ = new std::deque<Queued>;  // the old ones are left alone: what they hold belongs to the parent
      running_ = busy_ = sleeping_ = looking_ = 0;
      waiting_.store(0, std::memory_order_relaxed);
      lingering_ = false;
      ++generation_;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;  // guards all
  std::condition_variable* wake_ = new std::condition_variable;
  std::condition_variable* idle_ = new std::condition_variable;
  std::deque<Queued>* jobs_ = new std::deque<Queued>;
  std::deque<std::function<void()>>* later_ = new std::deque<std::function<void()>>;  // empty unless a thread lingers
  std::atomic<size_t> waiting_{0};                                                    // jobs_->size()
  uint64_t left_ = 0;                                                                 // jobs so far that were left to who waits for them
  int looking_ = 0;                                                                   // threads of the program that will take the next job
  int running_ = 0;                                                                   // jobs that do not wait for the engine
  int busy_ = 0;                                                                      // jobs
  int sleeping_ = 0;                                                                  // threads without a job
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
bool SubmitLater(std::function<void()> job) { return Get()->SubmitLater(std::move(job)); }
void Close() { Get()->Close(); }

}  // namespace custom
}  // namespace mxnet
