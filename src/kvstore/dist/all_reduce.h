/*
 * Sums over the workers of a job that has no servers.
 *
 * Each worker owns an even share of an array's elements. It gets the others' values of its share,
 * adds all of them up in the order of the workers' numbers, and sends the sum to all. So sums have
 * the same bits on all workers and in all runs: those that SumArrays (kvstore/reduce.h) makes of
 * the workers' arrays. A short array belongs to one worker as a whole, another one for each key.
 */
#ifndef MXNET_KVSTORE_DIST_ALL_REDUCE_H_
#define MXNET_KVSTORE_DIST_ALL_REDUCE_H_

#include <functional>
#include <memory>
#include <string>

#include "kvstore/dist/transport.h"
#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {

/*
 * One for a process, which whoever handles the transport's messages calls: for those whose first
 * word has kMessageKind in its lowest byte, and for ranks that are lost. It outlives the stores.
 *
 * ORDER      All workers call Sum and Broadcast equally often for a key of a store, in the same
 *            order. Calls for different keys come in any order. Higher priorities are sent first.
 * THREADS    The two may be called from any thread; not for one key at a time. They return at once.
 * FAILURE    An array that needs a worker that is lost gets an error which names it, raised by
 *            whoever waits for the array; so do later ones. So it does where workers gave arrays of
 *            different sizes or dtypes.
 */
class AllReduce final : public Transport::Handler {
 public:
  static constexpr int kMessageKind = 64;

  explicit AllReduce(std::shared_ptr<Transport> transport);
  ~AllReduce() override;

  /*
   * sum = its sum over all workers. Arrays on GPUs go through the hosts, unless `may_gpu` says that
   * all workers have GPUs that can add up by themselves (GpuSums::Missing): the same for all
   * calls of a store, and on all workers. These sums have the library's order, not that of the
   * workers.
   */
  void Sum(int store, const KVKey& key, const NDArray& sum, int priority, bool may_gpu = false);
  /* value = that of worker 0. */
  void Broadcast(int store, const KVKey& key, const NDArray& value, int priority);

  void OnMessage(int from, Message message) override;
  std::shared_ptr<void> Place(int from, const int64_t* head, size_t bytes) override;
  void OnLost(const Peer& peer) override;
  /* What fails the calls that are under way now and still are when it is called, on all workers. */
  std::function<void(const std::string& why)> Interrupter();
  /* Calls are under way. */
  bool busy() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_ALL_REDUCE_H_
