#include "io/prefetcher.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "mxnet/error.h"

namespace mxnet {

struct Prefetcher::State {
  struct Item {
    bool some = false;  // false: the epoch is over, or Next failed
    DataBatch batch;
    std::exception_ptr error;
  };
  std::unique_ptr<DataIter> source;  // the thread's while `reading`
  size_t depth = 0;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::deque<Item> ready;
  bool reading = false, ended = false, paused = false, stop = false;
  std::thread thread;

  bool MayRead() const { return !paused && !ended && ready.size() < depth; }
};

Prefetcher::Prefetcher(std::string name, std::unique_ptr<DataIter> source, size_t depth)
    : name_(std::move(name)), state_(new State), owner_(getpid()), length_(source->LengthHint()) {
  state_->source = std::move(source);
  state_->depth = depth;
  try {
    state_->thread = std::thread(Work, state_);
  } catch (...) {
    delete state_;
    throw;
  }
}

Prefetcher::~Prefetcher() {
  if (getpid() != owner_) return;  // the locks may be held by a thread that is not here
  {
    std::lock_guard<std::mutex> hold(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
  delete state_;
}

void Prefetcher::Work(State* state) {
  std::unique_lock<std::mutex> hold(state->mutex);
  while (true) {
    state->changed.wait(hold, [&] { return state->stop || state->MayRead(); });
    if (state->stop) return;
    state->reading = true;
    hold.unlock();
    State::Item item;
    try {
      item.some = state->source->Next();
      if (item.some) item.batch = state->source->Value();
    } catch (const std::exception&) {
      item.some = false;
      item.error = std::current_exception();
    }
    hold.lock();
    state->reading = false;
    if (item.some || item.error) {
      state->ready.push_back(std::move(item));
    } else {
      state->ended = true;
    }
    state->changed.notify_all();
  }
}

void Prefetcher::CheckProcess() const {
  MXNET_CHECK(getpid() == owner_) << "[" << name_ << "] the iterator belongs to the process that made it, " << owner_
                                  << "; accepted: one that is made in this process";
}

bool Prefetcher::Next() {
  CheckProcess();
  State::Item item;
  {
    std::unique_lock<std::mutex> hold(state_->mutex);
    state_->changed.wait(hold, [&] { return !state_->ready.empty() || state_->ended; });
    if (state_->ready.empty()) return false;
    item = std::move(state_->ready.front());
    state_->ready.pop_front();
  }
  state_->changed.notify_all();
  if (item.error) std::rethrow_exception(item.error);
  value_ = std::move(item.batch);
  return true;
}

void Prefetcher::Rewind(bool restart) {
  CheckProcess();
  std::unique_lock<std::mutex> hold(state_->mutex);
  state_->paused = true;
  state_->changed.wait(hold, [&] { return !state_->reading; });
  // What was read ahead and not asked for has not been taken from any record's turn.
  const bool all_taken = state_->ready.empty();
  state_->ready.clear();
  state_->ended = false;
  // The thread waits, so the source is ours.
  std::exception_ptr error;
  try {
    if (restart || !all_taken) {
      state_->source->Restart();
    } else {
      state_->source->BeforeFirst();
    }
  } catch (const std::exception&) {
    error = std::current_exception();
  }
  state_->paused = false;
  hold.unlock();
  state_->changed.notify_all();
  if (error) std::rethrow_exception(error);
}

}  // namespace mxnet
