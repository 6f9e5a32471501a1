/*
 * What a process does in its job, whatever its stores: requests to other ranks and their replies,
 * barriers, and who is told of what comes in.
 *
 * THREADS    Every function may be called from any thread, but for the ones that wait: these not
 *            from a Done.
 * FAILURE    A request to a rank that is or becomes lost fails with an Error that names it. What
 *            waits has an end: the rank that is waited for is lost at some time, or the time-out is
 *            over, or Interrupt is called.
 */
#ifndef MXNET_KVSTORE_DIST_JOB_H_
#define MXNET_KVSTORE_DIST_JOB_H_

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/waiting_work.h"
#include "kvstore/dist/all_reduce.h"
#include "kvstore/dist/protocol.h"
#include "kvstore/dist/steps.h"
#include "kvstore/dist/transport.h"

namespace mxnet {
namespace kvstore {

/* Made by std::make_shared. */
class Job final : public std::enable_shared_from_this<Job>, public engine::WaitingWork, private Transport::Handler {
 public:
  using Done = std::function<void(std::exception_ptr error, const Message& reply)>;

  /* Where a reply's payload goes; `keep` keeps that memory. */
  struct Destination {
    void* data = nullptr;
    size_t bytes = 0;
    std::shared_ptr<void> keep;
    bool is_source = false;  // the request's own payload lies there
  };

  explicit Job(std::shared_ptr<Transport> transport);
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /* This process's; JobTransport() is its transport, which ends with the process. Threads of a
   * worker that wait for the engine do its work. */
  static std::shared_ptr<Job> Get();
  /* Transport::Work, while an answer is waited for. */
  void Work(const std::function<bool()>& over) override;

  Transport* transport() const { return transport_.get(); }
  int workers() const { return static_cast<int>(transport_->RanksOf(Role::kWorker).size()); }
  int servers() const { return static_cast<int>(transport_->RanksOf(Role::kServer).size()); }
  Peer self() const { return transport_->Get(transport_->rank()); }
  int ServerRank(int number) const { return transport_->RanksOf(Role::kServer)[static_cast<size_t>(number)]; }

  /*
   * Sends a request; `payload`'s head is written here. A payload without an owner may change when
   * this returns: it is copied. `done` runs once, on the progress thread or on the caller's: when
   * the payload was sent and the reply is here, with the reply's payload in `into` where it has
   * memory; or with an error. Returns the request's number.
   */
  int64_t Ask(int to, Head head, Message payload, int priority, Destination into, Done done);
  /* The payload of a reply that is still to come goes there, if it is as long. */
  void Redirect(int64_t request, Destination into);
  /* The reply's payload as text. `timeout` in seconds; 0: none. `what` is for the error of a
   * time-out. */
  std::string AskAndWait(int to, Head head, Message payload, int priority, double timeout, const std::string& what);
  /* Messages without a reply. `sent` may run before this returns. */
  void Tell(int to, const Head& head, Message payload, int priority, std::function<void()> sent = nullptr);

  /* Returns when all workers have called it. PS_BARRIER_TIMEOUT is its time-out. */
  void Barrier(int store);
  /* What fails all that waits for other processes now and still does when it is called: somebody
   * wants to go on. */
  std::function<void(const std::string& why)> Interrupter();
  /* Throws the Error of the first server that is lost, if one is. */
  void CheckServers();

  /* Who is told of requests to servers and of lost ranks, or null. */
  void SetServer(Transport::Handler* server);
  /* Sums of workers without servers; null on servers. */
  AllReduce* all_reduce() { return all_reduce_.get(); }

  /* Steps of this worker's synchronous stores. */
  Steps* steps() { return &steps_; }

  /* A number for a store: the same for all workers, which make theirs in the same order. */
  int NewStore();

 private:
  struct Request;

  void OnMessage(int from, Message message) override;
  std::shared_ptr<void> Place(int from, const int64_t* head, size_t bytes) override;
  void OnLost(const Peer& peer) override;

  /* A part of a request is over: it was sent, or answered, or failed. */
  void Finish(int64_t number, bool sent, bool replied, std::exception_ptr error, Message reply);
  void OnBarrier(int from, const Head& head);
  void AnswerBarrier(int store);

  const std::shared_ptr<Transport> transport_;
  std::mutex mutex_;  // guards what follows
  int64_t next_request_ = 1;
  int stores_ = 0;
  std::unordered_map<int64_t, std::shared_ptr<Request>> requests_;
  std::map<int, std::string> lost_;              // by rank: what is said of it
  std::map<int, std::map<int, Head>> barriers_;  // by store: who waits, by rank
  std::string lost_server_;
  std::mutex server_mutex_;  // held while the server is called
  Transport::Handler* server_ = nullptr;
  bool served_ = false;                         // there was a server
  std::vector<int> gone_;                       // who is lost, as a server is told
  std::vector<std::pair<int, Message>> early_;  // came before the server was set
  const std::unique_ptr<AllReduce> all_reduce_;
  Steps steps_;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_JOB_H_
