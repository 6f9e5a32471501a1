#include "kvstore/dist/job.h"

#include <climits>
#include <cstring>
#include <future>
#include <sstream>

#include "base/foreign_env.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {

struct Job::Request {
  int to = 0;
  Destination into;
  Done done;
  bool sent = false, replied = false;
  std::exception_ptr error;
  Message reply;
};

Job::Job(std::shared_ptr<Transport> transport)
    : transport_(std::move(transport)), all_reduce_(self().role == Role::kWorker ? new AllReduce(transport_) : nullptr), steps_(this) {
  transport_->SetHandler(this);
}

Job::~Job() {
  Interrupter()("the job ends");
  transport_->SetHandler(nullptr);
}

std::shared_ptr<Job> Job::Get() {
  // Leaked: the transport, which calls it, is stopped at the very end.
  static const std::shared_ptr<Job>& job = *[] {
    auto made = new std::shared_ptr<Job>(std::make_shared<Job>(JobTransport()));
    // A server's updater may wait within a message's handling, where no other may be handled.
    if ((*made)->self().role == Role::kWorker) engine::SetWaitingWork(made->get());
    return made;
  }();
  return job;
}

void Job::Work(const std::function<bool()>& over) {
  {
    std::lock_guard<std::mutex> hold(mutex_);
    if (requests_.empty() && !(all_reduce_ && all_reduce_->busy())) return;
  }
  transport_->Work(over);
}

int Job::NewStore() {
  std::lock_guard<std::mutex> hold(mutex_);
  return stores_++;
}

void Job::SetServer(Transport::Handler* server) {
  std::lock_guard<std::mutex> hold(server_mutex_);
  server_ = server;
  if (!server) return;
  served_ = true;
  for (auto& message : early_) server->OnMessage(message.first, std::move(message.second));
  early_.clear();
  for (const int rank : gone_) server->OnLost(transport_->Get(rank));
}

int64_t Job::Ask(int to, Head head, Message payload, int priority, Destination into, Done done) {
  auto request = std::make_shared<Request>();
  request->to = to;
  request->into = std::move(into);
  request->done = std::move(done);
  std::string lost;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    head.request = next_request_++;
    const auto l = lost_.find(to);
    if (l != lost_.end()) {
      lost = l->second;
    } else if (!lost_server_.empty() && transport_->Get(to).role == Role::kServer) {
      lost = lost_server_;  // as OnLost ends those that were asked before
    } else {
      requests_[head.request] = request;
    }
  }
  const int64_t number = head.request;
  if (!lost.empty()) {
    request->done(StoreError(lost), Message());
    return number;
  }
  head.Write(payload.head);
  if (transport_->SendShort(to, payload, priority)) {
    Finish(number, true, false, nullptr, Message());
    return number;
  }
  if (payload.bytes > 0 && !payload.owner) {
    auto copy = std::make_shared<const std::string>(static_cast<const char*>(payload.data), payload.bytes);
    payload.data = copy->data();
    payload.owner = std::move(copy);
  }
  transport_->Send(to, std::move(payload), priority, [weak = weak_from_this(), number] {
    if (const std::shared_ptr<Job> job = weak.lock()) job->Finish(number, true, false, nullptr, Message());
  });
  return number;
}

void Job::Redirect(int64_t request, Destination into) {
  std::lock_guard<std::mutex> hold(mutex_);
  const auto at = requests_.find(request);
  if (at != requests_.end() && !at->second->replied) at->second->into = std::move(into);
}

void Job::Tell(int to, const Head& head, Message payload, int priority, std::function<void()> sent) {
  head.Write(payload.head);
  if (!sent || !transport_->SendShort(to, payload, priority)) return transport_->Send(to, std::move(payload), priority, std::move(sent));
  sent();
}

void Job::Finish(int64_t number, bool sent, bool replied, std::exception_ptr error, Message reply) {
  std::shared_ptr<Request> request;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    const auto at = requests_.find(number);
    if (at == requests_.end()) return;
    Request& r = *at->second;
    r.sent = r.sent || sent;
    if (replied) r.replied = true, r.reply = std::move(reply);
    if (error) r.error = error;
    if (!r.error && !(r.sent && r.replied)) return;
    request = at->second;
    requests_.erase(at);
  }
  const Destination& into = request->into;
  if (!request->error && into.data) {
    if (request->reply.bytes != into.bytes) {
      std::ostringstream text;
      text << transport_->Get(request->to).str() << " sent " << request->reply.bytes << " bytes where " << into.bytes << " were expected";
      request->error = StoreError(text.str());
    } else if (request->reply.data != into.data && into.bytes) {
      std::memcpy(into.data, request->reply.data, into.bytes);
    }
  }
  request->done(request->error, request->reply);
}

std::string Job::AskAndWait(int to, Head head, Message payload, int priority, double timeout, const std::string& what) {
  auto answer = std::make_shared<std::promise<std::string>>();
  Ask(to, head, std::move(payload), priority, Destination(), [answer](std::exception_ptr error, const Message& reply) {
    if (error)
      answer->set_exception(error);
    else
      answer->set_value(TextOf(reply));
  });
  std::future<std::string> result = answer->get_future();
  transport_->Work([&result] { return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  if (timeout > 0 && result.wait_for(std::chrono::duration<double>(timeout)) == std::future_status::timeout)
    MXNET_THROW(Generic) << "[kvstore] " << what << " took longer than " << timeout << " s; " << transport_->Get(to).str()
                         << " has not answered";
  return result.get();
}

void Job::Barrier(int store) {
  Head head;
  head.kind = Kind::kBarrier;
  head.store = store;
  const double timeout = ForeignNumber("PS_BARRIER_TIMEOUT", 1800);
  AskAndWait(transport_->RanksOf(Role::kWorker)[0], head, Message(), INT_MAX, timeout,
             "a barrier (the time-out is PS_BARRIER_TIMEOUT, in seconds; 0 is none)");
}

void Job::OnBarrier(int from, const Head& head) {
  {
    std::lock_guard<std::mutex> hold(mutex_);
    barriers_[head.store][from] = head;
  }
  AnswerBarrier(head.store);
}

void Job::AnswerBarrier(int store) {
  std::map<int, Head> answered;
  std::string missing;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    std::map<int, Head>& waiting = barriers_[store];
    if (waiting.empty()) return;
    for (const int rank : transport_->RanksOf(Role::kWorker))
      if (!waiting.count(rank) && lost_.count(rank)) missing = lost_[rank];
    if (missing.empty() && waiting.size() < transport_->RanksOf(Role::kWorker).size()) return;
    answered.swap(waiting);
  }
  for (const auto& a : answered) {
    if (missing.empty())
      Tell(a.first, a.second.Reply(Kind::kReply), Message(), INT_MAX);
    else
      Tell(a.first, a.second.Reply(Kind::kError), TextMessage(Head(), missing + "; the other workers wait for it at a barrier"), INT_MAX);
  }
}

std::function<void(const std::string& why)> Job::Interrupter() {
  std::vector<int64_t> numbers;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    for (const auto& r : requests_) numbers.push_back(r.first);
  }
  std::function<void(const std::string& why)> sums;
  if (all_reduce_) sums = all_reduce_->Interrupter();
  return [this, numbers, sums](const std::string& why) {
    for (const int64_t number : numbers) Finish(number, false, false, InterruptedError(why), Message());
    if (sums) sums(why);
  };
}

void Job::CheckServers() {
  std::lock_guard<std::mutex> hold(mutex_);
  MXNET_CHECK(lost_server_.empty()) << "[kvstore] " << lost_server_ << "; what it keeps is out of reach";
}

void Job::OnMessage(int from, Message message) {
  const Head head = Head::Read(message.head);
  if (head.kind == Kind::kReply) return Finish(head.request, false, true, nullptr, std::move(message));
  if (head.kind == Kind::kError) return Finish(head.request, false, true, StoreError(TextOf(message)), Message());
  if (head.kind == Kind::kBarrier) return OnBarrier(from, head);
  if (head.kind >= Kind::kOther && all_reduce_) return all_reduce_->OnMessage(from, std::move(message));
  std::lock_guard<std::mutex> hold(server_mutex_);
  if (server_) return server_->OnMessage(from, std::move(message));
  if (!served_ && self().role == Role::kServer) return early_.emplace_back(from, std::move(message)), void();
  if (head.request) Tell(from, head.Reply(Kind::kError), TextMessage(Head(), self().str() + " does not serve"), INT_MAX);
}

std::shared_ptr<void> Job::Place(int from, const int64_t* words, size_t bytes) {
  const Head head = Head::Read(words);
  if (head.kind == Kind::kReply) {
    std::lock_guard<std::mutex> hold(mutex_);
    const auto at = requests_.find(head.request);
    if (at == requests_.end()) return nullptr;
    const Request& r = *at->second;
    const bool free = !r.into.is_source || r.sent;  // else the payload is still read
    return free && r.into.data && r.into.bytes == bytes ? std::shared_ptr<void>(r.into.keep, r.into.data) : nullptr;
  }
  if (head.kind >= Kind::kOther) return all_reduce_ ? all_reduce_->Place(from, words, bytes) : nullptr;
  std::lock_guard<std::mutex> hold(server_mutex_);
  return server_ && head.kind == Kind::kPush ? server_->Place(from, words, bytes) : nullptr;
}

void Job::OnLost(const Peer& peer) {
  std::vector<int64_t> numbers, answered;
  std::vector<int> stores;
  const std::string text = LossText(peer);
  const bool server = peer.role == Role::kServer;  // without it no value is whole: requests to the others are over too
  {
    std::lock_guard<std::mutex> hold(mutex_);
    lost_[peer.rank] = text;
    if (server && lost_server_.empty()) lost_server_ = text;
    for (const auto& r : requests_) {
      if (r.second->to != peer.rank && !(server && transport_->Get(r.second->to).role == Role::kServer)) continue;
      // What was answered was received, though the thread that sent it may not have said so by now.
      (r.second->replied ? answered : numbers).push_back(r.first);
    }
    for (const auto& b : barriers_) stores.push_back(b.first);
  }
  for (const int64_t number : answered) Finish(number, true, false, nullptr, Message());
  for (const int64_t number : numbers) Finish(number, false, false, StoreError(text), Message());
  for (const int store : stores) AnswerBarrier(store);
  if (all_reduce_) all_reduce_->OnLost(peer);
  std::lock_guard<std::mutex> hold(server_mutex_);
  gone_.push_back(peer.rank);
  if (server_) server_->OnLost(peer);
}

}  // namespace kvstore
}  // namespace mxnet
