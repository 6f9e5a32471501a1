#include "profiler/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/logging.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "profiler/gpu_spans.h"
#include "profiler/recorder.h"

namespace mxnet {
namespace profiler {
namespace {

std::atomic<MemoryTotals (*)()> g_memory_totals{nullptr};
std::atomic<MachineRates (*)()> g_machine_rates{nullptr};
Session* g_session = nullptr;          // replaced in a forked child only
Session* g_parents_session = nullptr;  // kept reachable

void InChild() {
  Recorder::ResetInChild();
  ForgetDeviceSpans();
  if (g_session != nullptr) {
    g_parents_session = g_session;  // its lock may be held for ever, its thread is gone
    g_session = new Session;
  }
  if (!(Active() & kUndecided)) active.store(0, std::memory_order_relaxed);
}

__attribute__((destructor)) void AtProcessExit() {
  if (g_session != nullptr) g_session->AtExit();
}

}  // namespace

Session& Session::Get() {
  static const bool first = [] {
    g_session = new Session;  // never deleted: other threads may record until the very end
    pthread_atfork(nullptr, nullptr, &InChild);
    return true;
  }();
  (void)first;
  return *g_session;
}

uint32_t AutoStart() {
  static const bool once = [] {
    Session& session = Session::Get();
    const int mode = Env::Get().profiler_autostart ? Env::Get().profiler_mode : 0;
    active.fetch_and(~static_cast<uint32_t>(kUndecided), std::memory_order_relaxed);
    if (mode != 0) {
      Config config;
      config.profile_symbolic = mode & kSymbolic;
      config.profile_imperative = mode & kImperative;
      config.profile_api = mode & kApi;
      config.profile_memory = mode & kMemory;
      session.SetConfig(config);
      session.SetRunning(true);
    }
    return true;
  }();
  (void)once;
  return Active();
}

void Session::Publish() {
  uint32_t flags = 0;
  if (running_ && !paused_) {
    const bool all = config_.profile_all;
    flags = kUser;
    if (all || config_.profile_symbolic) flags |= kSymbolic;
    if (all || config_.profile_imperative) flags |= kImperative;
    if (all || config_.profile_api) flags |= kApi;
    if (all || config_.profile_memory) flags |= kMemory;
  }
  active.store(flags, std::memory_order_relaxed);
}

void Session::SetConfig(const Config& config) {
  std::lock_guard<std::mutex> hold(mutex_);
  config_ = config;
  // Where they lie is decided now: the program may go to another folder before they are written.
  for (std::string* path : {&config_.filename, &config_.gpu_memory_profile_filename_prefix}) {
    char folder[4096];
    if (!path->empty() && path->front() != '/' && getcwd(folder, sizeof(folder)) != nullptr) *path = std::string(folder) + "/" + *path;
  }
  Publish();
  StartDumper();
  wake_.notify_all();
}

bool Session::BeginsOperators() {
  std::lock_guard<std::mutex> hold(mutex_);
  return !running_ && !begun_ && (config_.profile_all || config_.profile_symbolic || config_.profile_imperative);
}

void Session::SetRunning(bool running) {
  const auto measure = g_machine_rates.load(std::memory_order_acquire);
  const MachineRates rates = running && measure && BeginsOperators() ? measure() : MachineRates();
  std::lock_guard<std::mutex> hold(mutex_);
  if (running == running_) return;
  if (running && !begun_) Begin(rates);
  running_ = running;
  Publish();
  if (running) {
    StartDumper();
  } else {
    Drain();
    wake_.notify_all();
  }
}

bool Session::Running() {
  std::lock_guard<std::mutex> hold(mutex_);
  return running_;
}

void Session::SetPaused(bool paused) {
  std::lock_guard<std::mutex> hold(mutex_);
  paused_ = paused;
  Publish();
}

void Session::Begin(const MachineRates& rates) {
  trace_.Begin(Now(), rates);
  Drain();  // stragglers of an earlier profile began before this one and are dropped
  memory_.Clear();
  begun_ = true;
  unwritten_ = true;
  if (!config_.profile_all && !config_.profile_memory) return;
  const auto ask = g_memory_totals.load(std::memory_order_acquire);
  const MemoryTotals totals = ask ? ask() : MemoryTotals();
  trace_.AddCounter("Device Storage", "Memory: cpu/0", "used", totals.used, trace_.origin(), 0);
  trace_.AddCounter("Device Storage", "Memory held: cpu/0", "held", totals.held, trace_.origin(), 0);
}

void Session::Drain(bool wait) {
  struct From {
    size_t begin;  // in batch_
    int64_t tid;
  };
  std::vector<From> from;
  batch_.clear();
  {
    Recorder& recorder = Recorder::Get();
    std::lock_guard<std::mutex> hold(recorder.mutex);
    auto& logs = recorder.logs;
    for (size_t i = 0; i < logs.size();) {
      const bool exited = logs[i]->exited.load(std::memory_order_acquire);
      const size_t begin = batch_.size();
      from.push_back({begin, logs[i]->tid});
      logs[i]->Read(&batch_);
      if (batch_.size() > begin) trace_.NameThread(logs[i]->tid, logs[i]->name);
      if (exited) {
        delete logs[i];
        logs.erase(logs.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  const DeviceEvents device = TakeDeviceEvents(wait);
  for (const auto& row : device.rows) trace_.NameThread(row.first, row.second);
  // By begin, an enclosing event before what it holds: what a reader expects, and allocations
  // before their frees.
  std::vector<std::pair<const Event*, int64_t>> order;
  order.reserve(batch_.size());
  for (size_t f = 0; f < from.size(); ++f) {
    const size_t end = f + 1 < from.size() ? from[f + 1].begin : batch_.size();
    for (size_t i = from[f].begin; i < end; ++i)
      if (batch_[i].begin >= trace_.origin()) order.emplace_back(&batch_[i], from[f].tid);
  }
  for (const auto& e : device.events)
    if (e.first.begin >= trace_.origin()) order.emplace_back(&e.first, e.second);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first->begin != b.first->begin ? a.first->begin < b.first->begin : a.first->end > b.first->end;
  });
  const bool list = !config_.gpu_memory_profile_filename_prefix.empty();
  for (const auto& o : order) {
    trace_.Add(*o.first, o.second, config_.filename);
    if (config_.aggregate_stats) aggregate_.Add(*o.first);
    if (o.first->type == Type::kAlloc || o.first->type == Type::kFree) memory_.Add(*o.first, o.second, &trace_, list);
  }
  unwritten_ |= !order.empty();
  if (batch_.capacity() > (size_t{1} << 20)) std::vector<Event>().swap(batch_);
}

void Session::Write() {
  trace_.Write(config_.filename);
  if (!config_.gpu_memory_profile_filename_prefix.empty()) memory_.WriteLists(config_.gpu_memory_profile_filename_prefix);
  unwritten_ = false;
}

void Session::Dump(bool finished) {
  std::lock_guard<std::mutex> hold(mutex_);
  MXNET_CHECK(begun_)
      << "[profiler] dump: nothing has been recorded since the last finished dump; accepted: set_config and set_state('run') first";
  Drain(true);
  Write();
  if (!finished) return;
  running_ = begun_ = false;
  Publish();
  trace_.Clear();
  wake_.notify_all();
}

std::string Session::Statistics(bool json, SortBy sort_by, bool ascending, bool reset) {
  std::lock_guard<std::mutex> hold(mutex_);
  if (!config_.aggregate_stats) return "";
  Drain(true);
  std::string text = FormatStatistics(aggregate_, memory_, json, sort_by, ascending);
  if (reset) {
    aggregate_.Clear();
    memory_.ResetCounts();
  }
  return text;
}

void Session::AtExit() noexcept {
  try {
    std::lock_guard<std::mutex> hold(mutex_);
    const bool write = begun_ && config_.continuous_dump;
    running_ = false;
    Publish();
    if (!write) return;
    Drain(true);
    if (unwritten_) Write();
    begun_ = false;
  } catch (const std::exception& e) {
    LogWarning(e.what());
  }
}

// ---- continuous dump

void Session::StartDumper() {
  if (dumper_ || !running_ || !config_.continuous_dump) return;
  dumper_ = true;
  std::thread(&Session::Dumper, this).detach();  // ends by itself; at exit it may be in its sleep
}

void Session::Dumper(Session* self) {
  SetThreadName("mx-profiler");
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double> took{0};
  std::unique_lock<std::mutex> hold(self->mutex_);
  while (self->running_ && self->config_.continuous_dump) {
    // A long trace takes long to write: never more than a twentieth of the time.
    const auto period = std::max(std::chrono::duration<double>(self->config_.dump_period), took * 20);
    if (self->wake_.wait_for(hold, period) == std::cv_status::no_timeout) continue;
    if (!self->running_ || !self->config_.continuous_dump) break;
    const auto start = Clock::now();
    try {
      self->Drain();
      if (self->unwritten_) self->Write();
    } catch (const std::exception& e) {
      LogWarning(std::string(e.what()) + " (continuous_dump is switched off)");
      self->config_.continuous_dump = false;
    }
    took = Clock::now() - start;
  }
  self->dumper_ = false;
}

// ---- the contract's functions

MXNET_DLL bool SetMemoryTotals(MemoryTotals (*ask)()) {
  g_memory_totals.store(ask, std::memory_order_release);
  return true;
}

MXNET_DLL bool SetMachineRates(MachineRates (*measure)()) {
  g_machine_rates.store(measure, std::memory_order_release);
  return true;
}

MXNET_DLL void SetConfig(const Config& config) {
  AutoStart();
  Session::Get().SetConfig(config);
}

MXNET_DLL void SetRunning(bool running) {
  AutoStart();
  Session::Get().SetRunning(running);
}

MXNET_DLL bool Running() {
  AutoStart();
  return Session::Get().Running();
}

MXNET_DLL void SetPaused(bool paused) {
  AutoStart();
  Session::Get().SetPaused(paused);
}

MXNET_DLL void Dump(bool finished) {
  AutoStart();
  Session::Get().Dump(finished);
}

MXNET_DLL std::string AggregateStats(bool json, SortBy sort_by, bool ascending, bool reset) {
  AutoStart();
  return Session::Get().Statistics(json, sort_by, ascending, reset);
}

}  // namespace profiler
}  // namespace mxnet
