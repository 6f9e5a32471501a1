// What ProgressTransport does as time goes by: heartbeats, the end, and rests between messages.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kvstore/dist/transport_progress.h"
#include "kvstore/dist/transport_progress_parts.h"

namespace mxnet {
namespace kvstore {

using namespace progress;  // NOLINT

void ProgressTransport::Beat(int64_t now) {
  const int64_t pause = now - last_beat_;
  last_beat_ = now;
  const int64_t interval = Nanoseconds(options_.times.heartbeat_interval), timeout = Nanoseconds(options_.times.heartbeat_timeout);
  for (Remote& remote : peers_) {
    if (remote.peer.rank == rank_ || !Listens(remote)) continue;
    if (pause > kOwnPause) remote.heard = std::min(now, remote.heard.load() + pause);
    if (interval > 0 && now - remote.spoken >= interval && remote.flying_packets < kMaxPackets) SendControl(remote.peer.rank, kHeartbeat);
    if (timeout > 0 && now - remote.heard.load() > timeout) Lose(remote.peer.rank);
  }
  if (tick_) tick_();
}

/* Where all wait for all, one that said goodbye waits for that of the others. */
bool ProgressTransport::Listens(const Remote& remote) const {
  return !remote.lost || (options_.waits_for_all && remote.goodbye_came && !remote.answered);
}

void ProgressTransport::Stop(double seconds) {
  if (Forked()) return;
  int64_t none = 0;
  deadline_.compare_exchange_strong(none, Now() + std::max<int64_t>(1, Nanoseconds(seconds)));
  Wake();
  std::unique_lock<std::mutex> lock(inbox_mutex_);
  const auto ended = [this] { return run_ended_; };
  if (options_.waits_for_all)
    stopped_.wait(lock, ended);
  else  // the layer's own end may take longer, and is not waited for
    stopped_.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 1e9) + 1), ended);
}

/* Called after Stop: says goodbye to whom all has left. */
bool ProgressTransport::Ended(int64_t now) {
  const bool late = now > deadline_.load();
  bool all_answered = true, all_ended = true;
  for (Remote& remote : peers_) {
    if (remote.peer.rank == rank_) continue;
    if (Listens(remote) && remote.waiting.empty() && remote.flying_packets == 0 && !remote.goodbye_left) {
      remote.goodbye_left = true;
      SendControl(remote.peer.rank, kGoodbye);
    }
    all_answered &= remote.lost || remote.answered;
    all_ended &= remote.lost;
  }
  bool leaving = false;  // answers to others
  for (const auto& operation : operations_) leaving |= operation.second.packet;
  if (options_.waits_for_all) return all_ended && (!leaving || late);
  return late || (all_answered && !leaving);
}

/* What came while nobody polled any more, but soon, would have come sooner: both sides slept. */
void ProgressTransport::NoteBusy(int64_t now) {
  const int64_t waited = now - busy_since_.load(), patience = patience_.load();
  if (waited < kLongest) patience_ = waited < patience ? std::min(2 * patience, kLongest) : kLongest;
  busy_since_ = now;
}

void ProgressTransport::LosePatience() { patience_ = std::max(patience_.load() / 2, kShortest); }

/* Sleeps longer and longer, while something is on its way for moments only. Yielding instead would
 * leave the processor to others for a whole time slice. */
void ProgressTransport::Rest(int64_t now, bool flying) {
  const int64_t idle = now - busy_since_.load();
  if (idle < patience_.load()) {
    polled_ = true;
    if (now - worked_.load() < kComing) Sleep(flying ? kNap : kLongest / 2);
    return;
  }
  if (std::exchange(polled_, false)) LosePatience();
  Sleep(std::clamp<int64_t>(idle / 8, kNap / 2, flying ? kNap : kLongest));
}

/* Until it is woken, or for that time. Returns whether it was woken. */
bool ProgressTransport::Sleep(int64_t pause) {
  const int64_t now = Now();
  resting_until_ = now + pause;
  if (busy_since_.load() > now) pause = std::min(pause, kNap);  // sent by who did not see that this thread rests
  std::unique_lock<std::mutex> lock(inbox_mutex_);
  const bool woken = wake_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return woken_; });
  resting_until_ = 0;
  return woken;
}

}  // namespace kvstore
}  // namespace mxnet
