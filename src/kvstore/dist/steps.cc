#include "kvstore/dist/steps.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "base/foreign_env.h"
#include "kvstore/dist/job.h"

namespace mxnet {
namespace kvstore {

Steps::Steps(Job* job)
    : job_(job),
      on_(!ForeignText("PS_SNAPSHOT_FOLDER").empty()),
      interval_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::clamp(ForeignNumber("PS_SNAPSHOT_INTERVAL", 600), 0.0, 1e8)))),
      next_(Clock::now() + interval_) {}

void Steps::Add(Var* order, int64_t version) {
  std::lock_guard<std::mutex> hold(mutex_);
  orders_.insert(order);
  step_ = std::max(step_, version);
}

void Steps::Remove(Var* order) {
  std::lock_guard<std::mutex> hold(mutex_);
  orders_.erase(order);
}

void Steps::BeforePush(int64_t version) {
  if (!on_) return;
  std::lock_guard<std::mutex> hold(mutex_);
  if (version > step_) {
    if (pushed_) End(step_);
    step_ = version;
  }
  pushed_ = true;
}

void Steps::End(int64_t step) {
  Head head;
  head.kind = Kind::kStep;
  head.version = step;
  if (job_->self().number == 0 && Clock::now() >= next_) {
    head.flags = kWrite;
    next_ = Clock::now() + interval_;
  }
  const auto tell = [job = job_, head](RunContext, OnComplete done) {
    const int servers = job->servers();
    auto left = std::make_shared<std::atomic<int>>(servers);
    for (int i = 0; i < servers; ++i)  // a worker that is lost is named by the pulls that wait for it
      job->Ask(job->ServerRank(i), head, Message(), INT_MIN, Job::Destination(), [left, done](std::exception_ptr, const Message&) {
        if (left->fetch_sub(1) == 1) done();
      });
  };
  Engine::Get()->PushAsync(tell, Context::CPU(), {}, std::vector<Var*>(orders_.begin(), orders_.end()), FnProperty::kAsync, 0,
                           "kvstore_dist_step");
}

}  // namespace kvstore
}  // namespace mxnet
