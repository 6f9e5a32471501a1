/*
 * Transport: messages between the processes of one job.
 *
 * The stores and servers of `src/kvstore/dist` know each other only through this interface. Two
 * classes implement it: one over MPI, in a library of its own that is opened for `dist` stores
 * alone, and one within a process, for tests, which can delay, throttle and cut connections.
 *
 * MEMBERS    A job has a fixed number of ranks. Each has a role, and a number within its role: the
 *            workers are 0 to W-1, the servers 0 to S-1. A rank never comes back once it is lost.
 * ORDER      Messages of equal priority from one rank to another arrive in the order of their Send
 *            calls. A message of higher priority may overtake what waits to be sent, also between
 *            the parts that a long payload is cut into.
 * THREADS    Send, Peer, Lost and the getters may be called by any thread, also from a Handler.
 *            Handlers run one at a time, on the transport's own progress thread or on one that has
 *            called Work. They may not block: what takes long goes to the engine or to a thread of
 *            the receiver.
 * FAILURE    Send never throws for a peer that is lost: the message is dropped and `sent` runs. A
 *            peer counts as lost when nothing was heard from it for the time-out, when its
 *            connection broke, or when it has said goodbye. Handler::OnLost tells of it once.
 */
#ifndef MXNET_KVSTORE_DIST_TRANSPORT_H_
#define MXNET_KVSTORE_DIST_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mxnet {
namespace kvstore {

enum class Role : int32_t { kWorker = 0, kServer = 1 };

/* What is known of a rank. */
struct Peer {
  int rank = 0;  // in the job, 0 to size() - 1
  Role role = Role::kWorker;
  int number = 0;       // in its role
  int64_t process = 0;  // its process's number on its host
  std::string host;
  bool lost = false;
  bool said_goodbye = false;  // it ended in order; `lost` is true then too
  double silent_seconds = 0;  // since anything was heard from it
  /* "worker 2 (rank 3, process 4711 on host a)" */
  std::string str() const;
};

/* "worker 2 (rank 3, process 4711 on host a) is lost: it was last heard of 30.1 s ago". */
std::string LossText(const Peer& peer);
/* The Error of a store: "[kvstore] ..." */
std::exception_ptr StoreError(const std::string& text);
/* The same for what the user ended (engine/interrupted.h). */
std::exception_ptr InterruptedError(const std::string& text);

/*
 * A message. The payload's bytes stay as they are until they are sent: `owner` keeps them. Both
 * sides have the same byte order.
 */
struct Message {
  static constexpr int kWords = 8;
  int64_t head[kWords] = {};  // means what the senders and receivers agreed on (protocol.h)
  const void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

class Transport {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /* A whole message. `message.owner` keeps its payload as long as the receiver wants it. */
    virtual void OnMessage(int from, Message message) = 0;
    /*
     * Called before a payload arrives: memory of at least `bytes` to receive it in, which the
     * returned pointer keeps, or null where the transport may allocate. Saves a copy.
     */
    virtual std::shared_ptr<void> Place(int from, const int64_t* head, size_t bytes) = 0;
    /* Once for each peer that is lost, the ones that said goodbye included. */
    virtual void OnLost(const Peer& peer) = 0;
  };

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /* The peer as of now; `rank` may be this process's own. */
  virtual Peer Get(int rank) const = 0;
  /* Ranks of a role, in the order of their numbers. */
  virtual const std::vector<int>& RanksOf(Role role) const = 0;

  /* Messages are kept until a handler is set. `handler` outlives the transport, or is taken back
   * with null, which returns when no call of it is running. */
  virtual void SetHandler(Handler* handler) = 0;
  /*
   * Returns at once. `sent` (may be null) runs as handlers do, when the payload may change again. A
   * higher `priority` goes first. To oneself is allowed.
   */
  virtual void Send(int to, Message message, int priority, std::function<void()> sent) = 0;
  /*
   * Sends a short message before it returns, if nothing is to leave before it. Returns whether it
   * did: the payload may change then. Else nothing was sent.
   */
  virtual bool SendShort(int to, const Message& message, int priority) = 0;
  /*
   * For a thread that waits until `over`, which handlers make true: carries messages in place of
   * the progress thread. Returns when it is over, when another thread does this, or when nothing
   * has happened for a moment; the caller sleeps then. `over` is called often.
   */
  virtual void Work(const std::function<bool()>& over) = 0;
  /*
   * Says goodbye when all that was sent before has left, waits for it at most `seconds`, and stops
   * the progress thread. Called before the process ends.
   */
  virtual void Stop(double seconds) = 0;
};

/* Times in seconds; 0 for the time-out: never. */
struct TransportOptions {
  double heartbeat_interval = 1;  // PS_HEARTBEAT_INTERVAL
  double heartbeat_timeout = 30;  // PS_HEARTBEAT_TIMEOUT
  double start_timeout = 300;     // until all ranks are there
};

/*
 * The transport of this process's job, started on the first call, which returns when all ranks of
 * the job are there. Throws Error: this process is not part of a job, the library or MPI cannot be
 * loaded (with what to install), or not all ranks came in time.
 */
std::shared_ptr<Transport> JobTransport();

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_TRANSPORT_H_
