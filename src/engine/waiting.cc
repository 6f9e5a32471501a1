/* Waiting, the errors that waits raise, and the counters. */
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/threads/borrowed_team.h"
#include "engine/blocking.h"
#include "engine/dependency_engine.h"
#include "engine/gpu_streams.h"
#include "engine/interrupted.h"
#include "engine/waiting_work.h"
#include "mxnet/interruptible.h"

namespace mxnet {
namespace {
thread_local int tls_interruptible = 0;
}  // namespace

InterruptibleWaits::InterruptibleWaits() { ++tls_interruptible; }
InterruptibleWaits::~InterruptibleWaits() { --tls_interruptible; }
bool InterruptibleWaits::on() { return tls_interruptible != 0; }

namespace engine {

PatientWaits::PatientWaits() : before_(std::exchange(tls_interruptible, 0)) {}
PatientWaits::~PatientWaits() { tls_interruptible = before_; }

__thread BlockingObserver* tls_blocking_observer = nullptr;

namespace {
std::atomic<WaitingWork*> waiting_work{nullptr};
}  // namespace

void DependencyEngine::DiscardWait(PendingWait* abandoned) {
  if (abandoned->error.record != nullptr) abandoned->error.record->Unref();
  delete abandoned;
}

void SetWaitingWork(WaitingWork* work) { waiting_work.store(work, std::memory_order_release); }

void WorkWhileWaiting(const std::function<bool()>& over) {
  if (WaitingWork* work = waiting_work.load(std::memory_order_acquire)) work->Work(over);
}

void PushStarting(Engine* engine, Engine::AsyncFn fn, std::vector<Var*> reads, std::vector<Var*> writes, int priority, const char* name) {
  static_cast<DependencyEngine*>(engine)->PushStarting(std::move(fn), std::move(reads), std::move(writes), priority, name);
}

void WaitBeforeFork(Engine* engine) { static_cast<DependencyEngine*>(engine)->WaitForPushed(); }

void DependencyEngine::CheckMayWait(const char* what) const {
  MXNET_CHECK(!InOperation()) << "[engine] " << what << " was called inside an operation, where it could never return; "
                              << "accepted: waiting on threads of the program, outside operations";
}

namespace {

/* What a wait for the variable raises, null for nothing; the reference goes. Soft poison is over
 * when another wait was first. */
std::exception_ptr ToRaise(const FoundError& found) {
  if (found.record == nullptr) return nullptr;
  const bool first = found.record->Claim();
  const std::exception_ptr error = first || !found.soft ? found.record->error : nullptr;
  found.record->Unref();
  return error;
}

}  // namespace

void DependencyEngine::WaitForVar(Var* var, bool for_write) {
  std::exception_ptr error;
  const std::vector<DeviceWorkPtr> under_way = Settle(var, for_write, &error);
  if (__builtin_expect(!under_way.empty(), 0)) FinishWork(under_way, error == nullptr, true);
  if (__builtin_expect(error != nullptr, 0)) std::rethrow_exception(error);
}

std::vector<DeviceWorkPtr> WorkOf(Var* var) {
  std::exception_ptr error;
  std::vector<DeviceWorkPtr> under_way = static_cast<DependencyEngine*>(Engine::Get())->Settle(var, true, &error);
  if (error != nullptr) std::rethrow_exception(error);
  return under_way;
}

std::vector<DeviceWorkPtr> DependencyEngine::Settle(Var* var, bool for_write, std::exception_ptr* raise) {
  CheckMayWait("WaitForVar");
  GiveBackKeptTeam();
  ThreadState* state = State();
  if (state->bulk_open.load(std::memory_order_relaxed)) Flush(state);
  FoundError error;
  for (;;) {
    var->lock();
    ThreadState* open = var->bulk();
    if (open == nullptr) break;
    var->unlock();
    Flush(open);
  }
  const bool done = for_write ? var->idle() : var->settled();
  std::vector<DeviceWorkPtr> under_way;
  if (done) {
    error.record = var->LiveError();
    error.soft = var->soft();
    if (__builtin_expect(var->work_ != nullptr, 0)) var->CollectWork(for_write, &under_way);
  }
  var->unlock();
  if (!done) {
    auto wait = std::make_unique<PendingWait>();
    Op* op = NewOp(Op::kWait, Context(), FnProperty::kNoSkip, 0, "WaitForVar");
    op->Reserve(1);
    op->Add(var, for_write);
    op->wait = wait.get();
    Submit(op);
    const auto over = [&wait] { return wait->signalled(); };
    RunLentJobs([op](const Op& of) { return Precedes(of, op); }, over);
    BlockingScope blocking;
    WorkWhileWaiting(over);
    if (!wait->Wait(InterruptibleWaits::on() ? kInterruptibleMs : -1)) {
      wait.release();  // now of the thread that signals
      throw WaitInterrupted();
    }
    error = wait->error;
    under_way = std::move(wait->work);
  }
  if (__builtin_expect(error.record != nullptr, 0)) *raise = ToRaise(error);
  return under_way;
}

/* Waits for all of it. The first fault is raised, or kept for a later wait; one that the program
 * has seen only `again`. */
void DependencyEngine::FinishWork(const std::vector<DeviceWorkPtr>& work, bool raise, bool again) {
  std::exception_ptr fault;
  for (const DeviceWorkPtr& w : work) {
    try {
      w->Finish();
    } catch (...) {
      if (!raise || (w->raised.exchange(true) && !again)) continue;
      if (fault == nullptr) fault = std::current_exception();
    }
  }
  if (fault != nullptr) std::rethrow_exception(fault);
}

bool DependencyEngine::AtMost(uint64_t pending) const {
  // Counters only grow and an operation is counted as started before it can finish. So if the sum
  // of `finished`, read first, equals the sum of `started`, nothing was pending in between.
  const uint64_t finished = Finished();
  return Started() - finished <= pending;
}

void DependencyEngine::CountFinished() {
  State()->finished.fetch_add(1, std::memory_order_seq_cst);
  if (__builtin_expect(all_waiters_.load(std::memory_order_seq_cst) != 0, 0) && AtMost(wake_at_.load(std::memory_order_seq_cst))) {
    all_word_.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(&all_word_, 1 << 30);
  }
}

uint64_t DependencyEngine::Started() const {
  uint64_t sum = 0;
  for (ThreadState* s = states_.load(std::memory_order_acquire); s != nullptr; s = s->next)
    sum += s->started.load(std::memory_order_acquire);
  return sum;
}

uint64_t DependencyEngine::Finished() const {
  uint64_t sum = 0;
  for (ThreadState* s = states_.load(std::memory_order_acquire); s != nullptr; s = s->next)
    sum += s->finished.load(std::memory_order_seq_cst);
  return sum;
}

bool DependencyEngine::SleepUntil(const std::function<bool()>& over, int timeout_ms) {
  BlockingScope blocking;
  WorkWhileWaiting(over);
  all_waiters_.fetch_add(1, std::memory_order_seq_cst);
  bool done = false, woken = false;
  while (!done && !woken) {
    const uint32_t seen = all_word_.load(std::memory_order_seq_cst);
    done = over();
    if (!done) woken = FutexWait(&all_word_, seen, timeout_ms);
  }
  all_waiters_.fetch_sub(1, std::memory_order_seq_cst);
  return done;
}

void DependencyEngine::Drain() {
  FlushAll();
  for (int i = SpinBudget() / 64; i > 0; --i) {
    if (AtMost(0)) return;
    for (int j = 0; j < 64; ++j) CpuPause();
  }
  const bool interruptible = InterruptibleWaits::on();
  while (!SleepUntil([this] { return AtMost(0); }, interruptible ? kInterruptibleMs : -1)) {
    if (interruptible) throw WaitInterrupted();
  }
}

void DependencyEngine::DrainAtExit() {
  if (abandoned_.load()) return;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kMore(500);
  FlushAll();
  const uint64_t before = Started();
  Clock::time_point since = Clock::time_point::max();
  const auto over = [&] {
    if (AtMost(0)) return true;
    if (Finished() < before) return false;
    const Clock::time_point now = Clock::now();
    since = std::min(since, now);
    return now - since >= kMore;
  };
  while (!SleepUntil(over, 50)) {
  }
  if (!AtMost(0)) AbandonPending();
}

void DependencyEngine::WaitForAll() {
  CheckMayWait("WaitForAll");
  // Who is observed runs a part of an operation, which would wait for itself.
  MXNET_CHECK(tls_blocking_observer == nullptr)
      << "[engine] waitall was called inside a custom operator, which is one of the operations that "
         "it waits for; accepted: waiting for one array (wait_to_read, asnumpy)";
  FlushAll();
  RunLentJobs([](const Op&) { return true; }, [this] { return AtMost(0); });
  Drain();
  ErrorRecord* first = nullptr;
  {
    std::lock_guard<std::mutex> hold(errors_mu_);
    size_t taken = 0;
    for (; taken < errors_.size() && first == nullptr; ++taken) {
      if (errors_[taken]->Unread() && errors_[taken]->Claim()) {
        first = errors_[taken];
      } else {
        errors_[taken]->Unref();
      }
    }
    errors_.erase(errors_.begin(), errors_.begin() + taken);
  }
  const std::vector<DeviceWorkPtr> under_way = LastWork();
  FinishWork(under_way, first == nullptr);
  if (first != nullptr) std::rethrow_exception(ToRaise({first, false}));
}

void DependencyEngine::WaitForPending(uint64_t most, uint64_t few) {
  if (InOperation() || tls_blocking_observer != nullptr || AtMost(most)) return;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kStuck(1);
  constexpr int kRoundMs = 100;  // another that has waited may have taken the mark away
  uint64_t ended = Finished();
  Clock::time_point since = Clock::now();
  do {
    uint64_t mark = wake_at_.load(std::memory_order_seq_cst);
    while (mark < few && !wake_at_.compare_exchange_weak(mark, few, std::memory_order_seq_cst)) {
    }
    if (SleepUntil([this, few] { return AtMost(few); }, kRoundMs)) break;
    if (const uint64_t now = Finished(); now != ended) {
      ended = now;
      since = Clock::now();
    }
  } while (Clock::now() - since < kStuck);
  wake_at_.store(0, std::memory_order_seq_cst);  // whoever waits for all is not to be woken before
}

void DependencyEngine::WaitForPushed() {
  if (InOperation() || tls_blocking_observer != nullptr || abandoned_.load()) return;
  // Rounds, not the clock: a process that was stopped meanwhile has computed nothing either.
  constexpr int kRoundMs = 20, kStuckRounds = 500;
  FlushAll();
  const uint64_t before = Started();
  uint64_t ended = Finished();
  const auto over = [&] { return AtMost(0) || Finished() >= before; };
  for (int round = 0; round < kStuckRounds && !SleepUntil(over, kRoundMs); ++round) {
    const uint64_t now = Finished();
    if (now != ended) round = 0;
    ended = now;
  }
}

void DependencyEngine::Throw(Var* var) {
  FoundError found;
  var->lock();
  found.record = var->LiveError();
  found.soft = var->soft();
  var->unlock();
  if (const std::exception_ptr error = ToRaise(found)) std::rethrow_exception(error);
}

std::vector<std::string> DependencyEngine::Unread() {
  std::vector<std::string> messages;
  std::lock_guard<std::mutex> hold(errors_mu_);
  for (ErrorRecord* record : errors_) {
    if (!record->Unread()) continue;
    try {
      std::rethrow_exception(record->error);
    } catch (const Interrupted&) {  // the user knows
    } catch (const std::exception& e) {
      messages.push_back(e.what());
    }
  }
  return messages;
}

/* The result carries one reference and one holder for the operation that failed. */
ErrorRecord* DependencyEngine::NewError(const std::exception_ptr& e, const char* name, const std::string& site) {
  return Keep(new ErrorRecord(DescribeError(e, name, site)));
}

/*
 * The failure of an operation that is skipped because of `input`'s; one reference and one holder,
 * as above. What it was to change keeps its contents and would be readable at once if the program
 * had been told of `input` when it pushed the operation: then the skipped change is told as well.
 */
ErrorRecord* DependencyEngine::Inherit(ErrorRecord* input, uint64_t seen_raised, bool changes) {
  if (changes && input->RaisedBefore(seen_raised)) return Keep(new ErrorRecord(input->error));
  input->Ref();
  input->holders.fetch_add(1, std::memory_order_relaxed);
  return input;
}

ErrorRecord* DependencyEngine::Keep(ErrorRecord* record) {
  constexpr size_t kMostKept = 1024;
  record->holders.store(1, std::memory_order_relaxed);
  std::lock_guard<std::mutex> hold(errors_mu_);
  auto gone = std::remove_if(errors_.begin(), errors_.end(), [](ErrorRecord* r) {
    if (r->Unread()) return false;
    r->Unref();
    return true;
  });
  errors_.erase(gone, errors_.end());
  if (errors_.size() < kMostKept) {
    record->Ref();
    errors_.push_back(record);
  }
  return record;
}

// What is in flight ends here too: later, Python or the exit handlers of other libraries take away
// what it uses.
void DependencyEngine::NotifyShutdown() {
  bulking_off_.store(true, std::memory_order_relaxed);
  DrainAtExit();
  try {
    FinishWork(LastWork(), true);
  } catch (...) {
    NewError(std::current_exception(), nullptr, "")->Unref();  // stays among those that are unread
  }
}

EngineStats DependencyEngine::stats() const {
  EngineStats sum;
  for (ThreadState* s = states_.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    sum.pushed += s->pushed.load(std::memory_order_relaxed);
    sum.inlined += s->inlined.load(std::memory_order_relaxed);
    sum.bulked += s->bulked.load(std::memory_order_relaxed);
    sum.bulks += s->bulks.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace engine
}  // namespace mxnet
