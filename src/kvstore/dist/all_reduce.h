/*
 * Sums over the workers of a job that has no servers.
 *
 * Each worker owns an even share of an array's elements. It gets the others' values of its share,
 * adds all of them up in the order of the ranks, and sends the sum to all. So sums have the same
 * bits on all workers and in all runs: those of w0 + w1, + w2 and so on in the array's dtype.
 */
#ifndef MXNET_KVSTORE_DIST_ALL_REDUCE_H_
#define MXNET_KVSTORE_DIST_ALL_REDUCE_H_

#include <memory>

#include "kvstore/dist/transport.h"
#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {

/*
 * What AllReduce, Broadcast and Barrier of a store do in such a job. It becomes the transport's
 * handler until it is deleted; it says no goodbye.
 *
 * ORDER      All workers call AllReduce and Broadcast equally often for a key, in the same order.
 *            Calls for different keys may come in any order. A higher priority is sent first.
 * FAILURE    An array that needs a worker that is lost gets an error which names it; so do all that
 *            come later. Barrier throws it. Arrays of different sizes or dtypes of a key are an
 *            error on all workers.
 */
std::unique_ptr<KVTransport> CreateAllReduce(std::shared_ptr<Transport> transport);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_ALL_REDUCE_H_
