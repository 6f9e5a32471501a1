/*
 * What carries bytes between the ranks of a job, below ProgressTransport: small packets, which are
 * copied, and parts of payloads, which the receiver gets where it wants them.
 *
 * One class carries them over MPI (src/mpi, a shared library that uses nothing of libmxnet.so, so
 * nothing here may throw or is defined in a source file), one within a process
 * (tests/cpp/kvstore/in_process.cc).
 *
 * ORDER      Packets from one rank to another arrive in the order of their SendPacket calls. So do
 *            parts with the same tag. Between packets and parts there is no order.
 * THREADS    One thread makes all calls, or several, one at a time, where the layer is shared().
 *            Events may call the layer.
 */
#ifndef MXNET_KVSTORE_DIST_PACKET_LAYER_H_
#define MXNET_KVSTORE_DIST_PACKET_LAYER_H_

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace kvstore {

class PacketLayer {
 public:
  /* Of the head of a packet, and of its body where there are few ranks: each has memory for one of
   * each other. */
  static constexpr size_t kMaxHead = 512, kMaxBody = 64 << 10, kMaxBodyOfMany = 16 << 10;
  static constexpr int kFew = 64;

  class Events {
   public:
    virtual ~Events() = default;
    /* `bytes` are valid during the call. */
    virtual void OnPacket(int from, const void* bytes, size_t size) = 0;
    /* The operation with this ticket is done, a send: its memory may change. */
    virtual void OnDone(int64_t ticket) = 0;
    /* The connection to this rank broke; `why` may be null. May be called more than once. */
    virtual void OnBroken(int rank, const char* why) = 0;
  };

  virtual ~PacketLayer() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /* Most bytes of the body of a packet. */
  size_t max_body() const { return size() <= kFew ? kMaxBody : kMaxBodyOfMany; }
  /* Copies both; they arrive as one. Returns whether they have left: the ticket is never done
   * then. */
  virtual bool SendPacket(int to, const void* head, size_t head_bytes, const void* body, size_t body_bytes, int64_t ticket) = 0;
  virtual void SendPart(int to, int tag, const void* data, size_t bytes, int64_t ticket) = 0;
  /* Tags are 1 to max_tag(). */
  virtual void ReceivePart(int from, int tag, void* data, size_t bytes, int64_t ticket) = 0;
  virtual int max_tag() const = 0;
  virtual bool shared() const = 0;
  /* Moves what can be moved, without waiting. Returns whether there was an event. */
  virtual bool Poll(Events* events) = 0;
  /* Ends all operations with this rank; their tickets are never done. Memory of those that were on
   * their way may still be read or written for a while. */
  virtual void Drop(int rank) = 0;
  /* The last call. `in_order`: all ranks are at the same point, so it may wait for the others. */
  virtual void Close(bool in_order) = 0;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_PACKET_LAYER_H_
