#include "kvstore/dist/transport_progress.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "base/logging.h"
#include "kvstore/dist/transport_progress_parts.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {

using namespace progress;  // NOLINT

namespace {

std::atomic<int> forks{0};

/* How many forks have made this process since the first call. Costs no system call. */
int Forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

PacketHead HeadOf(const Message& message, int priority, size_t part_bytes) {
  PacketHead head;
  head.priority = priority;
  head.bytes = message.bytes;
  head.part = part_bytes;
  std::copy(message.head, message.head + Message::kWords, head.head);
  return head;
}

}  // namespace

ProgressTransport::ProgressTransport(std::unique_ptr<PacketLayer> layer, std::vector<Peer> members, ProgressOptions options)
    : layer_(std::move(layer)), options_(options), rank_(layer_->rank()), forks_(Forks()) {
  const int64_t now = Now();
  std::map<int, int> workers, servers;
  for (Peer& member : members) {
    (member.role == Role::kWorker ? workers : servers)[member.number] = member.rank;
    Remote& remote = peers_.emplace_back();
    remote.peer = std::move(member);
    remote.heard = now;
    remote.spoken = now;
  }
  for (const auto& worker : workers) workers_.push_back(worker.second);
  for (const auto& server : servers) servers_.push_back(server.second);
}

ProgressTransport::~ProgressTransport() = default;

bool ProgressTransport::Forked() const { return Forks() != forks_; }

void ProgressTransport::CheckProcess() const {
  MXNET_CHECK(!Forked()) << "[kvstore] this process was forked from one of a distributed job; only that one may send messages";
}

Peer ProgressTransport::Get(int rank) const {
  MXNET_CHECK_KIND(rank >= 0 && rank < size(), Value) << "[kvstore] rank " << rank << "; accepted are 0 to " << size() - 1;
  std::unique_lock<std::mutex> lock(state_mutex_, std::defer_lock);
  if (!Forked()) lock.lock();  // a forked process got it as it was
  const Remote& remote = peers_[static_cast<size_t>(rank)];
  Peer peer = remote.peer;
  if (rank != rank_) peer.silent_seconds = static_cast<double>(std::max<int64_t>(0, Now() - remote.heard.load())) / 1e9;
  return peer;
}

void ProgressTransport::SetHandler(Handler* handler) {
  if (Forked()) return;
  if (runner_.load() == std::this_thread::get_id()) {
    handler_ = handler;
    return;
  }
  ++handler_wanted_;
  {
    std::lock_guard<std::mutex> lock(handler_mutex_);
    handler_ = handler;
  }
  --handler_wanted_;
  Wake();
}

void ProgressTransport::Wake() {
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    if (woken_) return;
    woken_ = true;
  }
  wake_.notify_one();
}

void ProgressTransport::Send(int to, Message message, int priority, std::function<void()> sent) {
  CheckProcess();
  MXNET_CHECK_KIND(to >= 0 && to < size(), Value) << "[kvstore] a message to rank " << to << "; accepted are 0 to " << size() - 1;
  if (!sent && SendShort(to, message, priority)) return;
  auto out = std::make_shared<Outgoing>();
  out->to = to;
  out->message = std::move(message);
  out->priority = priority;
  out->sent = std::move(sent);
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    if (!closed_) inbox_.push_back(std::move(out)), inbox_used_ = true;
  }
  if (out != nullptr) {  // stopped: dropped
    if (out->sent) out->sent();
    return;
  }
  if (runner_.load() == std::this_thread::get_id()) return;  // it looks again
  NoteSent(SendHere());
}

bool ProgressTransport::SendShort(int to, const Message& message, int priority) {
  CheckProcess();
  MXNET_CHECK_KIND(to >= 0 && to < size(), Value) << "[kvstore] a message to rank " << to << "; accepted are 0 to " << size() - 1;
  const bool within = runner_.load() == std::this_thread::get_id();  // a handler's call
  {
    std::unique_lock<std::mutex> run(run_mutex_, std::defer_lock);
    if (!within && (!layer_->shared() || !run.try_lock())) return false;
    if (over_ || inbox_used_.load() || !MayLeaveAtOnce(peers_[static_cast<size_t>(to)], message.bytes)) return false;
    SendWhole(to, message, priority);
  }
  if (!within) NoteSent(true);
  return true;
}

bool ProgressTransport::MayLeaveAtOnce(const Remote& remote, size_t bytes) const {
  return remote.peer.rank != rank_ && bytes <= layer_->max_body() && !remote.lost && !remote.goodbye_left && remote.waiting.empty() &&
         remote.flying_packets < kMaxPackets && (remote.flying_bytes == 0 || remote.flying_bytes + bytes <= options_.window_bytes);
}

void ProgressTransport::NoteSent(bool left) {
  const int64_t now = Now();
  if (left) busy_since_ = now;
  if (!left || (resting_until_.load() > now && now - worked_.load() > kComing)) Wake();
}

bool ProgressTransport::SendHere() {
  if (!layer_->shared()) return false;
  const std::unique_lock<std::mutex> run(run_mutex_, std::try_to_lock);
  if (!run || over_) return false;
  TakeInbox(true);
  for (int to = 0; to < size(); ++to) Schedule(to);
  return true;
}

void ProgressTransport::Work(const std::function<bool()>& over) {
  if (!layer_->shared() || Forked() || runner_.load() == std::this_thread::get_id() || over()) return;
  if (working_.exchange(true)) return;
  int64_t last = Now(), happened = last;
  while (!over() && last - happened < patience_.load()) {
    const std::unique_lock<std::mutex> run(run_mutex_, std::try_to_lock);
    const bool here = run.owns_lock();
    if (here && (over_ || deadline_.load() != 0)) break;
    if (here) runner_ = std::this_thread::get_id();
    const bool any = here && Move(true);
    if (here) runner_ = std::thread::id();
    const int64_t now = Now();
    if (any || !here) happened = now;
    if (any) NoteBusy(now);
    last = now;
  }
  const bool ended = over();
  worked_ = ended ? last : 0;  // one that sleeps comes when the progress thread has got what it waits for
  working_ = false;
  if (ended) return;
  LosePatience();
  Wake();  // the progress thread goes on
}

void ProgressTransport::ReportLost(int rank) {
  if (Forked() || rank < 0 || rank >= size() || rank == rank_) return;
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    reported_.push_back(rank);
  }
  Wake();
}

// ---- the progress thread ----

void ProgressTransport::Run() {
  prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);  // short pauses are short
  last_beat_ = Now();
  busy_since_ = last_beat_;
  for (;;) {
    if (working_.load() && Now() - last_beat_ < kBeat && !Sleep(kLongest) && working_.load()) continue;
    std::unique_lock<std::mutex> run(run_mutex_);
    runner_ = std::this_thread::get_id();
    const bool stopped = deadline_.load() != 0;  // read first: Move takes what was sent before Stop
    const bool busy = Move(false);
    const int64_t now = Now();
    if (now - last_beat_ >= kBeat) Beat(now);
    if (stopped && Ended(now)) return Close();
    const bool flying = flying_parts_ > 0;
    runner_ = std::thread::id();
    run.unlock();
    if (busy) NoteBusy(now);
    if (!busy) Rest(now, flying);
  }
}

bool ProgressTransport::Move(bool only_messages) {
  bool any = layer_->Poll(this);
  any |= Deliver();
  any |= TakeInbox(only_messages);  // what handlers answered, too
  for (int to = 0; to < size(); ++to) any |= Schedule(to);
  return any;
}

void ProgressTransport::Close() {
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    closed_ = true;
  }
  over_ = true;
  TakeInbox(false);
  for (Remote& remote : peers_) {
    for (auto& queue : remote.waiting)
      for (auto& out : queue.second) done_.push_back(std::move(out));
    remote.waiting.clear();
  }
  bool in_order = options_.waits_for_all;
  for (Remote& remote : peers_) in_order &= remote.peer.rank == rank_ || remote.goodbye_came;
  for (Remote& remote : peers_) Abandon(remote.peer.rank);
  Deliver();
  if (end_) end_();
  layer_->Close(in_order);
  runner_ = std::thread::id();
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    run_ended_ = true;
  }
  stopped_.notify_all();
}

bool ProgressTransport::TakeInbox(bool only_messages) {
  if (only_messages && !inbox_used_.load()) return false;
  std::vector<std::shared_ptr<Outgoing>> taken;
  std::vector<int> reported;
  {
    std::lock_guard<std::mutex> lock(inbox_mutex_);
    taken.swap(inbox_);
    inbox_used_ = false;
    if (!only_messages) woken_ = false, reported.swap(reported_);
  }
  for (auto& out : taken) {
    Remote& remote = peers_[static_cast<size_t>(out->to)];
    if (remote.lost || remote.goodbye_left)
      Finish(out);
    else
      remote.waiting[out->priority].push_back(std::move(out));
  }
  for (int rank : reported) Lose(rank);
  return !taken.empty() || !reported.empty();
}

bool ProgressTransport::Schedule(int to) {
  Remote& remote = peers_[static_cast<size_t>(to)];
  bool any = false;
  while (!remote.waiting.empty() && remote.flying_packets < kMaxPackets) {
    auto first = remote.waiting.begin();
    const std::shared_ptr<Outgoing> out = first->second.front();
    if (to == rank_) {
      Local(out);
    } else if (!out->head_left && out->message.bytes > layer_->max_body()) {
      SendHead(out);
    } else {
      const size_t next = std::min(options_.part_bytes, out->message.bytes - out->posted);
      if (remote.flying_bytes > 0 && remote.flying_bytes + next > options_.window_bytes) break;
      if (out->head_left)
        SendPart(out);
      else
        SendHead(out);
    }
    any = true;
    if (out->posted < out->message.bytes) continue;
    first->second.pop_front();
    if (first->second.empty()) remote.waiting.erase(first);
    if (out->flying == 0) Finish(out);  // it was copied
  }
  return any;
}

void ProgressTransport::SendHead(const std::shared_ptr<Outgoing>& out) {
  const Message& message = out->message;
  out->head_left = true;
  if (message.bytes <= layer_->max_body()) {
    out->posted = message.bytes;
    return SendWhole(out->to, message, out->priority);
  }
  next_tag_ = next_tag_ % layer_->max_tag() + 1;
  out->tag = next_tag_;
  PacketHead head = HeadOf(message, out->priority, options_.part_bytes);
  head.tag = out->tag;
  SendPacket(out->to, &head, sizeof head);
}

void ProgressTransport::SendWhole(int to, const Message& message, int priority) {
  const PacketHead head = HeadOf(message, priority, options_.part_bytes);
  SendPacket(to, &head, sizeof head, message.data, message.bytes);
}

void ProgressTransport::SendPart(const std::shared_ptr<Outgoing>& out) {
  Remote& remote = peers_[static_cast<size_t>(out->to)];
  const size_t bytes = std::min(options_.part_bytes, out->message.bytes - out->posted);
  Operation operation;
  operation.rank = out->to;
  operation.bytes = bytes;
  operation.outgoing = out;
  remote.flying_bytes += bytes;
  ++remote.flying_packets;
  ++flying_parts_;
  ++out->flying;
  const char* data = static_cast<const char*>(out->message.data) + out->posted;
  out->posted += bytes;
  layer_->SendPart(out->to, out->tag, data, bytes, NewTicket(std::move(operation)));
}

void ProgressTransport::SendControl(int to, int kind) {
  PacketHead head;
  head.kind = kind;
  SendPacket(to, &head, sizeof head);
}

void ProgressTransport::SendPacket(int to, const void* head, size_t head_bytes, const void* body, size_t body_bytes) {
  Remote& remote = peers_[static_cast<size_t>(to)];
  const bool left = layer_->SendPacket(to, head, head_bytes, body, body_bytes, next_ticket_);
  remote.spoken = Now();
  if (left) return;
  Operation operation;
  operation.rank = to;
  operation.bytes = body_bytes;
  operation.packet = true;
  remote.flying_bytes += body_bytes;
  ++remote.flying_packets;
  NewTicket(std::move(operation));
}

int64_t ProgressTransport::NewTicket(Operation operation) {
  operations_[next_ticket_] = std::move(operation);
  return next_ticket_++;
}

void ProgressTransport::Finish(const std::shared_ptr<Outgoing>& out) { done_.push_back(out); }

/* To oneself: a copy, since the payload may change as soon as it is sent. */
void ProgressTransport::Local(const std::shared_ptr<Outgoing>& out) {
  Event event;
  event.from = rank_;
  event.message = out->message;
  if (out->message.bytes > 0) {
    std::shared_ptr<void> memory = PlaceFor(rank_, out->message.head, out->message.bytes);
    std::memcpy(memory.get(), out->message.data, out->message.bytes);
    event.message.data = memory.get();
    event.message.owner = std::move(memory);
  }
  events_.push_back(std::move(event));
  out->head_left = true;
  out->posted = out->message.bytes;
}

// ---- what arrives ----

void ProgressTransport::OnPacket(int from, const void* bytes, size_t size) {
  Remote& remote = peers_[static_cast<size_t>(from)];
  remote.heard = Now();
  int32_t kind = 0;
  if (size < sizeof(PacketHead)) return OnBroken(from, "sent a packet that is too short");
  std::memcpy(&kind, bytes, sizeof kind);
  if (remote.lost && !remote.goodbye_came) {
    if (!remote.told && kind != kYouAreLost) SendControl(from, kYouAreLost);
    remote.told = true;
    return;
  }
  switch (kind) {
    case kMessage: return StartMessage(from, bytes, size);
    case kHeartbeat: return;
    case kGoodbye: remote.goodbye_came = true; return Gather(from);
    case kAnswer: remote.answered = true; return;
    case kYouAreLost: return Lose(from);
    default: return OnBroken(from, "sent a packet of an unknown kind");
  }
}

void ProgressTransport::StartMessage(int from, const void* bytes, size_t size) {
  PacketHead head;
  std::memcpy(&head, bytes, sizeof head);
  const bool whole = head.tag == 0;
  if ((whole && size - sizeof head != head.bytes) || head.part == 0) return OnBroken(from, "sent a packet of a wrong length");
  Remote& remote = peers_[static_cast<size_t>(from)];
  Message message;
  std::copy(head.head, head.head + Message::kWords, message.head);
  message.bytes = head.bytes;
  std::shared_ptr<void> memory;
  if (head.bytes > 0) {
    try {
      memory = PlaceFor(from, head.head, head.bytes);
    } catch (const std::exception& e) {
      LogWarning("[kvstore] no memory for a message of " + std::to_string(head.bytes) + " bytes: " + e.what());
      return Lose(from);
    }
    if (whole) std::memcpy(memory.get(), static_cast<const char*>(bytes) + sizeof head, head.bytes);
    message.data = memory.get();
    message.owner = memory;
  }
  if (whole && remote.incoming.empty() && !remote.goodbye_came) {  // as Gather would
    Event& event = events_.emplace_back();
    event.from = from;
    event.message = std::move(message);
    return;
  }
  auto in = std::make_shared<Incoming>();
  in->priority = head.priority;
  in->tag = head.tag;
  in->part = head.part;
  in->message = std::move(message);
  in->memory = std::move(memory);
  if (whole) in->asked = in->received = head.bytes;
  remote.incoming.push_back(in);
  if (whole)
    Gather(from);
  else
    AskForParts(from, in);
}

std::shared_ptr<void> ProgressTransport::PlaceFor(int from, const int64_t* head, size_t bytes) {
  {
    std::lock_guard<std::mutex> lock(handler_mutex_);
    if (handler_ != nullptr)
      if (std::shared_ptr<void> memory = handler_->Place(from, head, bytes)) return memory;
  }
  return std::shared_ptr<void>(::operator new(bytes), [](void* p) { ::operator delete(p); });
}

/* The layer has a few receptions of a message at a time, more than the sender has parts on their
 * way. */
void ProgressTransport::AskForParts(int from, const std::shared_ptr<Incoming>& in) {
  while (in->asked < in->message.bytes && in->asked - in->received <= options_.window_bytes + in->part) {
    const size_t bytes = std::min(in->part, in->message.bytes - in->asked);
    Operation operation;
    operation.rank = from;
    operation.bytes = bytes;
    operation.incoming = in;
    ++flying_parts_;
    char* data = static_cast<char*>(in->memory.get()) + in->asked;
    in->asked += bytes;
    layer_->ReceivePart(from, in->tag, data, bytes, NewTicket(std::move(operation)));
  }
}

void ProgressTransport::OnDone(int64_t ticket) {
  const auto found = operations_.find(ticket);
  if (found == operations_.end()) return;
  const Operation operation = std::move(found->second);
  operations_.erase(found);
  Remote& remote = peers_[static_cast<size_t>(operation.rank)];
  if (operation.incoming) {
    --flying_parts_;
    remote.heard = Now();
    operation.incoming->received += operation.bytes;
    if (operation.incoming->whole())
      Gather(operation.rank);
    else
      AskForParts(operation.rank, operation.incoming);
    return;
  }
  --remote.flying_packets;
  remote.flying_bytes -= operation.bytes;
  if (operation.packet) return;
  --flying_parts_;
  Outgoing& out = *operation.outgoing;
  if (--out.flying == 0 && out.posted == out.message.bytes) Finish(operation.outgoing);
}

/* Moves messages that are whole, and wait for no other, to the events. */
void ProgressTransport::Gather(int from) {
  Remote& remote = peers_[static_cast<size_t>(from)];
  bool blocked = false;
  int barrier = 0;  // the highest priority of those before that are not whole
  for (auto it = remote.incoming.begin(); it != remote.incoming.end();) {
    Incoming& in = **it;
    if (in.whole() && (!blocked || in.priority > barrier)) {
      Event event;
      event.from = from;
      event.message = std::move(in.message);
      events_.push_back(std::move(event));
      it = remote.incoming.erase(it);
      continue;
    }
    if (!in.whole()) {
      barrier = blocked ? std::max(barrier, in.priority) : in.priority;
      blocked = true;
    }
    ++it;
  }
  if (remote.goodbye_came && remote.incoming.empty()) Goodbye(from);
}

void ProgressTransport::Goodbye(int from) {
  if (peers_[static_cast<size_t>(from)].lost) return;
  Lose(from);
  SendControl(from, kAnswer);
}

void ProgressTransport::OnBroken(int rank, const char* why) {
  Remote& remote = peers_[static_cast<size_t>(rank)];
  if (rank == rank_ || remote.lost) return;
  if (why != nullptr) LogWarning("[kvstore] the connection to " + remote.peer.str() + " broke: " + why);
  Lose(rank);
}

void ProgressTransport::Lose(int rank) {
  Remote& remote = peers_[static_cast<size_t>(rank)];
  if (remote.lost) return;
  remote.lost = true;
  {
    std::lock_guard<std::mutex> lock(state_mutex_);
    remote.peer.lost = true;
    remote.peer.said_goodbye = remote.goodbye_came;
  }
  for (auto& queue : remote.waiting)
    for (auto& out : queue.second)
      if (out->flying == 0) Finish(out);
  remote.waiting.clear();
  Event event;
  event.from = rank;
  event.lost = true;
  events_.push_back(std::move(event));
  if (lose_ && !remote.goodbye_came) lose_(rank);
  layer_->Drop(rank);
  Abandon(rank);
  remote.flying_bytes = 0;
  remote.flying_packets = 0;
  remote.incoming.clear();
}

/* The layer does not tell the end of what is on its way from or to this rank. */
void ProgressTransport::Abandon(int rank) {
  for (auto it = operations_.begin(); it != operations_.end();) {
    if (it->second.rank != rank) {
      ++it;
      continue;
    }
    if (!it->second.packet) --flying_parts_;
    if (it->second.outgoing && --it->second.outgoing->flying == 0) Finish(it->second.outgoing);
    if (!it->second.packet) abandoned_.push_back(std::move(it->second));
    it = operations_.erase(it);
  }
}

bool ProgressTransport::Deliver() {
  bool any = false;
  while (!done_.empty()) {
    any = true;
    std::vector<std::shared_ptr<Outgoing>> done;
    done.swap(done_);
    for (auto& out : done) {
      try {
        if (out->sent) out->sent();
      } catch (const std::exception& e) {
        LogWarning(std::string("[kvstore] after a message was sent: ") + e.what());
      }
      out->sent = nullptr;
      if (!std::any_of(abandoned_.begin(), abandoned_.end(), [&](const Operation& a) { return a.outgoing == out; }))
        out->message.owner.reset();
    }
  }
  while (!events_.empty()) {
    while (handler_wanted_.load() > 0) sched_yield();
    std::lock_guard<std::mutex> lock(handler_mutex_);
    if (handler_ == nullptr) break;
    Event event = std::move(events_.front());
    events_.pop_front();
    any = true;
    try {
      if (event.lost)
        handler_->OnLost(Get(event.from));
      else
        handler_->OnMessage(event.from, std::move(event.message));
    } catch (const std::exception& e) {
      LogWarning(std::string("[kvstore] a message could not be handled: ") + e.what());
    }
  }
  return any;
}

}  // namespace kvstore
}  // namespace mxnet
