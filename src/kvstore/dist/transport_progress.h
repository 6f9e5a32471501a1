/*
 * The Transport over any PacketLayer: queues by priority, payloads cut into parts, heartbeats, and
 * who is lost. The thread that calls Run, the progress thread, makes all calls of the handler and
 * of the layer, but for two cases. While nobody else calls the layer, Send and SendShort hand a
 * message to it themselves. And a thread that waits for messages calls Work: it does what the
 * progress thread would, which rests meanwhile.
 *
 * PACKETS    A message is one packet if its payload is short. Otherwise a packet with its head goes
 *            first; the receiver finds memory for the payload and receives the parts there. Few
 *            parts are on their way to a rank at a time, so what is of higher priority waits for
 *            no more than these.
 * DELIVERY   A whole message waits for those of the same or a higher priority from the same rank
 *            whose heads came before it.
 * SLEEP      With nothing to do the progress thread sleeps for an eighth of the time since something
 *            happened, between 25 us and 1 ms. Send wakes it. First it polls instead: for a
 *            millisecond where that was of use before, or would have been, else for 100 us. One
 *            thread of a process polls at a time: where callers of Work come and go, the progress
 *            thread sleeps.
 * END        Goodbye is sent when all else has left, and is answered. A rank that was taken for
 *            lost and speaks again is told so, and then takes this rank for lost.
 */
#ifndef MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_H_
#define MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kvstore/dist/packet_layer.h"
#include "kvstore/dist/transport.h"

namespace mxnet {
namespace kvstore {

struct ProgressOptions {
  TransportOptions times;
  size_t part_bytes = 1 << 20;    // of a long payload
  size_t window_bytes = 2 << 20;  // on their way to one rank, at least one part
  bool waits_for_all = false;     // Stop returns when all ranks have ended, however long that takes
};

class ProgressTransport final : public Transport, private PacketLayer::Events {
 public:
  /* `members`: what is known of all ranks, in their order. */
  ProgressTransport(std::unique_ptr<PacketLayer> layer, std::vector<Peer> members, ProgressOptions options);
  ~ProgressTransport() override;

  /* The progress thread's work; returns after Stop. */
  void Run();
  /* Any thread: that rank has ended. */
  void ReportLost(int rank);
  /* Any thread: there may be something to do. */
  void Wake();
  /* Called by the progress thread every 50 ms or so. Set before Run. */
  void SetTick(std::function<void()> tick) { tick_ = std::move(tick); }
  /* Called by the progress thread for a rank that is lost without a goodbye. Set before Run. */
  void SetLose(std::function<void(int)> lose) { lose_ = std::move(lose); }
  /* Called by the progress thread when all is said, before Stop returns: the process may end then,
   * and this thread with it. Set before Run. */
  void SetEnd(std::function<void()> end) { end_ = std::move(end); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  Peer Get(int rank) const override;
  const std::vector<int>& RanksOf(Role role) const override { return role == Role::kWorker ? workers_ : servers_; }
  void SetHandler(Handler* handler) override;
  void Send(int to, Message message, int priority, std::function<void()> sent) override;
  bool SendShort(int to, const Message& message, int priority) override;
  void Work(const std::function<bool()>& over) override;
  void Stop(double seconds) override;

 private:
  struct Outgoing {
    int to = 0;
    Message message;
    int priority = 0;
    std::function<void()> sent;
    int tag = 0;
    size_t posted = 0;  // bytes handed to the layer
    int flying = 0;     // parts on their way
    bool head_left = false;
  };
  struct Incoming {
    Message message;
    int priority = 0;
    int tag = 0;
    size_t part = 0;      // bytes of a part
    size_t asked = 0;     // bytes that the layer was asked for
    size_t received = 0;  // bytes
    std::shared_ptr<void> memory;
    bool whole() const { return received == message.bytes; }
  };
  /* What a ticket stands for. */
  struct Operation {
    int rank = 0;
    size_t bytes = 0;
    std::shared_ptr<Outgoing> outgoing;  // a part of it
    std::shared_ptr<Incoming> incoming;
    bool packet = false;
  };
  struct Remote {
    Peer peer;  // guarded by state_mutex_
    std::atomic<int64_t> heard{0};
    // Guarded by run_mutex_:
    int64_t spoken = 0;
    std::map<int, std::deque<std::shared_ptr<Outgoing>>, std::greater<int>> waiting;
    size_t flying_bytes = 0;
    int flying_packets = 0;
    std::list<std::shared_ptr<Incoming>> incoming;
    bool lost = false, goodbye_came = false, goodbye_left = false, answered = false, told = false;
  };
  struct Event {  // for the handler
    int from = 0;
    Message message;
    bool lost = false;
  };

  void OnPacket(int from, const void* bytes, size_t size) override;
  void OnDone(int64_t ticket) override;
  void OnBroken(int rank, const char* why) override;

  /* A message to this rank may leave before Send returns. */
  bool MayLeaveAtOnce(const Remote& remote, size_t bytes) const;
  /* To be called when a message was sent on a thread that is not in Run or Work. */
  void NoteSent(bool left);
  /* only_messages: leaves what else was told to the progress thread. */
  bool TakeInbox(bool only_messages);
  /* On the thread that sends: hands messages to the layer, unless another thread is there. */
  bool SendHere();
  /* Moves and delivers what there is; returns whether there was anything. REQUIRES: run_mutex_. */
  bool Move(bool only_messages);
  bool Schedule(int to);
  void SendHead(const std::shared_ptr<Outgoing>& out);
  void SendWhole(int to, const Message& message, int priority);
  void SendPart(const std::shared_ptr<Outgoing>& out);
  void SendControl(int to, int kind);
  void SendPacket(int to, const void* head, size_t head_bytes, const void* body = nullptr, size_t body_bytes = 0);
  int64_t NewTicket(Operation operation);
  void StartMessage(int from, const void* bytes, size_t size);
  void AskForParts(int from, const std::shared_ptr<Incoming>& in);
  void Local(const std::shared_ptr<Outgoing>& out);
  void Gather(int from);
  void Goodbye(int from);
  void Lose(int rank);
  void Abandon(int rank);
  void Close();
  void Finish(const std::shared_ptr<Outgoing>& out);
  bool Deliver();
  void Beat(int64_t now);
  void NoteBusy(int64_t now);
  /* Polling was in vain. */
  void LosePatience();
  bool Listens(const Remote& remote) const;
  bool Ended(int64_t now);
  void Rest(int64_t now, bool flying);
  bool Sleep(int64_t pause);
  std::shared_ptr<void> PlaceFor(int from, const int64_t* head, size_t bytes);
  bool Forked() const;
  void CheckProcess() const;

  const std::unique_ptr<PacketLayer> layer_;
  const ProgressOptions options_;
  const int rank_;
  const int forks_;  // that had made this process when this was made
  std::deque<Remote> peers_;
  std::vector<int> workers_, servers_;
  std::function<void()> tick_;
  std::function<void(int)> lose_;
  std::function<void()> end_;
  mutable std::mutex state_mutex_;

  std::mutex inbox_mutex_;
  std::condition_variable wake_, stopped_;
  std::atomic<bool> inbox_used_{false};
  std::vector<std::shared_ptr<Outgoing>> inbox_;  // guarded by inbox_mutex_, like what follows
  std::vector<int> reported_;
  bool woken_ = false, closed_ = false, run_ended_ = false;
  std::atomic<int64_t> deadline_{0};  // of Stop; 0: not called

  std::mutex handler_mutex_;
  Handler* handler_ = nullptr;
  std::atomic<int> handler_wanted_{0};
  std::atomic<std::thread::id> runner_{};  // who moves and delivers
  std::atomic<bool> working_{false};       // a thread is in Work
  std::atomic<int64_t> worked_{0};         // when one last got what it waited for; 0: it sleeps now
  std::atomic<int64_t> busy_since_{0};     // when something last happened
  std::atomic<int64_t> resting_until_{0};
  std::atomic<int64_t> patience_{1000000};  // how long to poll after something has happened, in ns

  std::mutex run_mutex_;  // held while the layer is called; guards what follows
  bool over_ = false;     // no call of the layer may follow
  std::unordered_map<int64_t, Operation> operations_;
  int64_t next_ticket_ = 1;
  int next_tag_ = 0;
  int64_t last_beat_ = 0;
  int flying_parts_ = 0;
  bool polled_ = false;  // the progress thread, since something happened
  std::deque<Event> events_;
  std::vector<std::shared_ptr<Outgoing>> done_;  // `sent` is to be called
  std::vector<Operation> abandoned_;             // keeps the memory of what was on its way from or to lost ranks
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_H_
