#include "in_process.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

using Clock = std::chrono::steady_clock;

/* A packet or a part on its way. */
struct Flight {
  int from = 0, to = 0;
  int tag = 0;  // 0: a packet
  std::vector<char> bytes;
  const void* data = nullptr;  // of a part, until it has left
  size_t size = 0;
  int64_t ticket = 0;
  Clock::time_point leaves, arrives;
};

struct Reception {
  void* data;
  size_t bytes;
  int64_t ticket;
};

}  // namespace

class InProcessConnections {
 public:
  struct Rank {
    std::vector<Clock::time_point> free_at;                     // of the connection to each rank
    std::vector<std::deque<Flight>> leaving;                    // to each rank
    std::vector<std::deque<Flight>> arriving;                   // from each rank
    std::map<std::pair<int, int>, std::deque<Flight>> arrived;  // parts that nobody asked for yet, by rank and tag
    std::map<std::pair<int, int>, std::deque<Reception>> asked;
    std::vector<int> broken;
    bool cut = false, stalled = false;
    std::function<void()> wake;
  };

  InProcessConnections(int n, const InProcessOptions& options) : options_(options), ranks_(static_cast<size_t>(n)) {
    for (Rank& rank : ranks_) {
      rank.free_at.resize(ranks_.size());
      rank.leaving.resize(ranks_.size());
      rank.arriving.resize(ranks_.size());
    }
  }

  Rank& at(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  void Leave(Flight flight) {
    std::unique_lock<std::mutex> lock(mutex);
    Rank& from = at(flight.from);
    if (from.cut) return;
    sent += flight.size;
    const auto now = Clock::now();
    Clock::time_point& free_at = from.free_at[static_cast<size_t>(flight.to)];
    flight.leaves = std::max(now, free_at);
    if (options_.bandwidth > 0) flight.leaves += Duration(static_cast<double>(flight.size) / options_.bandwidth);
    free_at = flight.leaves;
    flight.arrives = flight.leaves + Duration(options_.delay);
    from.leaving[static_cast<size_t>(flight.to)].push_back(std::move(flight));
  }

  /* Lets what has left go on its way, and gathers what happened to `me` since. */
  void Move(int me, std::vector<Flight>* packets, std::vector<int64_t>* done, std::vector<int>* broken) {
    std::vector<int> to_wake;
    {
      std::unique_lock<std::mutex> lock(mutex);
      resumed.wait(lock, [&] { return !at(me).stalled; });
      Rank& mine = at(me);
      const auto now = Clock::now();
      for (auto& queue : mine.leaving)
        while (!queue.empty() && queue.front().leaves <= now) {
          Flight flight = std::move(queue.front());
          queue.pop_front();
          if (flight.ticket != 0) done->push_back(flight.ticket);
          if (flight.tag != 0)
            flight.bytes.assign(static_cast<const char*>(flight.data), static_cast<const char*>(flight.data) + flight.size);
          if (at(flight.to).cut) continue;
          to_wake.push_back(flight.to);
          at(flight.to).arriving[static_cast<size_t>(me)].push_back(std::move(flight));
        }
      for (auto& queue : mine.arriving)
        while (!queue.empty() && queue.front().arrives <= now) {
          Flight flight = std::move(queue.front());
          queue.pop_front();
          if (flight.tag == 0)
            packets->push_back(std::move(flight));
          else
            mine.arrived[{flight.from, flight.tag}].push_back(std::move(flight));
        }
      Match(&mine, done);
      broken->swap(mine.broken);
    }
    for (int rank : to_wake) WakeRank(rank);
  }

  void WakeRank(int rank) {
    std::function<void()> wake;
    {
      std::lock_guard<std::mutex> lock(mutex);
      wake = at(rank).wake;
    }
    if (wake) wake();
  }

  /* Ends what this rank sends to and asks of the other. */
  void Drop(int me, int other) {
    std::lock_guard<std::mutex> lock(mutex);
    Rank& mine = at(me);
    std::deque<Flight>& leaving = mine.leaving[static_cast<size_t>(other)];
    leaving.erase(std::remove_if(leaving.begin(), leaving.end(), [](const Flight& f) { return f.tag != 0; }), leaving.end());
    for (Flight& flight : leaving) flight.ticket = 0;
    EraseOf(&mine.asked, other);
    EraseOf(&mine.arrived, other);
  }

  std::mutex mutex;  // guards all of it
  std::condition_variable resumed;
  size_t sent = 0;  // bytes

 private:
  static Clock::duration Duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  template <typename Parts>
  static void EraseOf(Parts* parts, int other) {
    parts->erase(parts->lower_bound({other, 0}), parts->lower_bound({other + 1, 0}));
  }

  static void Match(Rank* mine, std::vector<int64_t>* done) {
    for (auto it = mine->arrived.begin(); it != mine->arrived.end();) {
      const auto asked = mine->asked.find(it->first);
      while (asked != mine->asked.end() && !asked->second.empty() && !it->second.empty()) {
        const Reception& reception = asked->second.front();
        std::memcpy(reception.data, it->second.front().bytes.data(), std::min(reception.bytes, it->second.front().bytes.size()));
        done->push_back(reception.ticket);
        asked->second.pop_front();
        it->second.pop_front();
      }
      if (asked != mine->asked.end() && asked->second.empty()) mine->asked.erase(asked);
      it = it->second.empty() ? mine->arrived.erase(it) : std::next(it);
    }
  }

  const InProcessOptions options_;
  std::vector<Rank> ranks_;
};

namespace {

class InProcessLayer final : public PacketLayer {
 public:
  InProcessLayer(std::shared_ptr<InProcessConnections> connections, int rank) : connections_(std::move(connections)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return connections_->size(); }
  int max_tag() const override { return 1 << 20; }
  bool shared() const override { return true; }

  bool SendPacket(int to, const void* head, size_t head_bytes, const void* body, size_t body_bytes, int64_t ticket) override {
    Flight flight = NewFlight(to, head_bytes + body_bytes, ticket);
    const char *head_begin = static_cast<const char*>(head), *body_begin = static_cast<const char*>(body);
    flight.bytes.assign(head_begin, head_begin + head_bytes);
    flight.bytes.insert(flight.bytes.end(), body_begin, body_begin + body_bytes);
    connections_->Leave(std::move(flight));
    return false;
  }

  void SendPart(int to, int tag, const void* data, size_t bytes, int64_t ticket) override {
    Flight flight = NewFlight(to, bytes, ticket);
    flight.tag = tag;
    flight.data = data;
    connections_->Leave(std::move(flight));
  }

  void ReceivePart(int from, int tag, void* data, size_t bytes, int64_t ticket) override {
    std::lock_guard<std::mutex> lock(connections_->mutex);
    connections_->at(rank_).asked[{from, tag}].push_back({data, bytes, ticket});
  }

  bool Poll(Events* events) override {
    std::vector<Flight> packets;
    std::vector<int64_t> done;
    std::vector<int> broken;
    connections_->Move(rank_, &packets, &done, &broken);
    for (int64_t ticket : done) events->OnDone(ticket);
    for (const Flight& packet : packets) events->OnPacket(packet.from, packet.bytes.data(), packet.bytes.size());
    for (int rank : broken) events->OnBroken(rank, nullptr);
    return !done.empty() || !packets.empty() || !broken.empty();
  }

  void Drop(int rank) override { connections_->Drop(rank_, rank); }
  void Close(bool) override {}

 private:
  Flight NewFlight(int to, size_t size, int64_t ticket) const {
    Flight flight;
    flight.from = rank_;
    flight.to = to;
    flight.size = size;
    flight.ticket = ticket;
    return flight;
  }

  const std::shared_ptr<InProcessConnections> connections_;
  const int rank_;
};

}  // namespace

struct InProcessFabric::Rank {
  std::shared_ptr<ProgressTransport> transport;
  std::thread thread;
};

InProcessFabric::InProcessFabric(int workers, int servers, InProcessOptions options) {
  MXNET_CHECK_KIND(workers > 0 && servers >= 0, Value)
      << "[kvstore] " << workers << " workers and " << servers << " servers; accepted: 1 or more, 0 or more";
  const int n = workers + servers;
  std::vector<Peer> members(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    Peer& member = members[static_cast<size_t>(i)];
    member.rank = i;
    member.role = i < workers ? Role::kWorker : Role::kServer;
    member.number = i < workers ? i : i - workers;
    member.process = getpid();
    member.host = "in-process";
  }
  connections_ = std::make_shared<InProcessConnections>(n, options);
  for (int i = 0; i < n; ++i) {
    auto rank = std::make_unique<Rank>();
    rank->transport = std::make_shared<ProgressTransport>(std::make_unique<InProcessLayer>(connections_, i), members, options.progress);
    ProgressTransport* transport = rank->transport.get();
    if (options.tick) transport->SetTick([tick = options.tick, i] { tick(i); });
    if (options.end) transport->SetEnd([end = options.end, i] { end(i); });
    {
      std::lock_guard<std::mutex> lock(connections_->mutex);
      connections_->at(i).wake = [transport] { transport->Wake(); };
    }
    ranks_.push_back(std::move(rank));
  }
  for (auto& rank : ranks_) rank->thread = std::thread([transport = rank->transport] { transport->Run(); });
}

InProcessFabric::~InProcessFabric() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) Resume(i);
  for (auto& rank : ranks_) rank->transport->Stop(0);
  for (auto& rank : ranks_) rank->thread.join();
  std::lock_guard<std::mutex> lock(connections_->mutex);
  for (int i = 0; i < connections_->size(); ++i) connections_->at(i).wake = nullptr;
}

std::shared_ptr<Transport> InProcessFabric::At(int rank) { return ranks_.at(static_cast<size_t>(rank))->transport; }

void InProcessFabric::Cut(int rank, bool noticed) {
  {
    std::lock_guard<std::mutex> lock(connections_->mutex);
    InProcessConnections::Rank& cut = connections_->at(rank);
    cut.cut = true;
    for (auto& queue : cut.leaving) queue.clear();
    for (auto& queue : cut.arriving) queue.clear();
    for (int other = 0; other < connections_->size(); ++other) {
      if (other == rank) continue;
      cut.broken.push_back(other);
      if (noticed) connections_->at(other).broken.push_back(rank);
    }
  }
  for (auto& other : ranks_) other->transport->Wake();
}

void InProcessFabric::Stall(int rank) {
  std::lock_guard<std::mutex> lock(connections_->mutex);
  connections_->at(rank).stalled = true;
}

void InProcessFabric::Resume(int rank) {
  {
    std::lock_guard<std::mutex> lock(connections_->mutex);
    connections_->at(rank).stalled = false;
  }
  connections_->resumed.notify_all();
}

size_t InProcessFabric::Sent() const {
  std::lock_guard<std::mutex> lock(connections_->mutex);
  return connections_->sent;
}

}  // namespace kvstore
}  // namespace mxnet
