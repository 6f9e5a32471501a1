/* Which server keeps which part of a key's value. The same for all workers: it depends on nothing
 * but the arguments. */
#ifndef MXNET_KVSTORE_DIST_SHARDING_H_
#define MXNET_KVSTORE_DIST_SHARDING_H_

#include <cstdint>
#include <vector>

#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {

/* Elements [begin, begin + count) of a value. */
struct Part {
  int server = 0;  // 0 to servers - 1
  int64_t begin = 0, count = 0;
};

struct ShardingOptions {
  int servers = 1;
  int64_t split_from = 1000000;  // MXNET_KVSTORE_BIGARRAY_BOUND
  int64_t slice = 0;             // P3: MXNET_KVSTORE_SLICE_THRESHOLD; 0: values are not sliced
  int64_t row = 0;               // elements of a row of the value; 0: it has none
  bool whole_rows = false;       // parts are rows, and not sliced: of row_sparse values
};

/* A number for a key, well spread and never 0. */
int64_t KeyHash(const KVKey& key);

/*
 * The parts of a value of `size` elements, in order; at least one. Without `whole_rows` all but the
 * last begin and end at multiples of 64 elements, so that the codes of gradient compression fill
 * whole words; and at rows, so that gradients of rows can be sent, where that leaves the parts
 * about even.
 *
 *   without slices  at least `split_from` elements are split evenly over all servers, fewer go to
 *                   one server that the hash picks
 *   with slices     each has `slice` elements, made a multiple of 64; they go to the servers in
 *                   turn, from the one on that the hash picks
 */
std::vector<Part> Shard(int64_t key_hash, int64_t size, const ShardingOptions& options);
/* Is each part some rows? */
bool AreRows(const std::vector<Part>& parts, int64_t row);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_SHARDING_H_
