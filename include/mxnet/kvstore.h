/*
 * Key-value stores: keep one value per key and bring the copies of it that devices and workers hold
 * together.
 *
 * A push adds up a key's values over the devices of this process, then, through the transport, over
 * workers. The sum replaces what is stored, or is handed to the updater, which changes what is
 * stored. A pull copies what is stored into arrays.
 *
 *   local    (local_update_cpu, local_allreduce_cpu) values are summed in CPU memory, by
 *            MXNET_KVSTORE_REDUCTION_NTHREADS threads for more than MXNET_KVSTORE_BIGARRAY_BOUND
 *            elements
 *   device   (local_allreduce_device) values are summed on one of their GPUs: each key has its
 *            home, and homes are spread over the GPUs. With MXNET_KVSTORE_USETREE sums go along
 *            trees of the links between devices (src/kvstore/tree.h).
 *   nccl     as device; NVIDIA's library sums and sends what lies on several GPUs
 *
 * ORDER      All work goes through the engine: calls return before it is done, and arrays order it.
 *            Per key, calls take effect in call order.
 * THREADS    Calls on different keys may come from different threads; calls on one key, and
 *            SetUpdater, may not overlap.
 * FAILURE    Wrong arguments throw at once and leave the store as it was. Errors of the work itself
 *            stay with the arrays.
 */
#ifndef MXNET_KVSTORE_H_
#define MXNET_KVSTORE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {

/* All keys of one store are numbers, or all are names. */
struct KVKey {
  bool named = false;
  int number = 0;
  std::string name;
  KVKey(int n) : number(n) {}                                // NOLINT: implicit on purpose
  KVKey(std::string n) : named(true), name(std::move(n)) {}  // NOLINT
  KVKey(const char* n) : KVKey(std::string(n)) {}            // NOLINT
  std::string str() const { return named ? name : std::to_string(number); }
};

/*
 * What differs between one process and many. Arrays are in this process; the calls are
 * asynchronous: they read and write the arrays through the engine. The local transport has one
 * worker and does nothing.
 */
class KVTransport {
 public:
  virtual ~KVTransport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /* sum = its sum over all workers. */
  virtual void AllReduce(const KVKey& key, NDArray* sum, int priority) = 0;
  /* value = the first worker's. */
  virtual void Broadcast(const KVKey& key, NDArray* value, int priority) = 0;
  /* Returns when all workers have called it. */
  virtual void Barrier() = 0;
  virtual int NumDeadNodes(int node_id, int timeout_seconds) = 0;
  /* To all servers; nothing happens when there are none. */
  virtual void SendCommand(int id, const std::string& body) = 0;
};

class MXNET_DLL KVStore {
 public:
  /* Changes *stored by what was pushed, e.g. an optimizer's step. Called on the thread that pushes,
   * holding no lock. */
  using Updater = std::function<void(const KVKey& key, const NDArray& pushed, NDArray* stored)>;
  using Keys = std::vector<KVKey>;
  using Arrays = std::vector<NDArray*>;

  /* `type` in any case. Throws Error(kValue) that lists what is accepted. */
  static std::unique_ptr<KVStore> Create(const std::string& type);
  virtual ~KVStore() = default;

  /* First values. Throws Error(kValue) for a key that has one. */
  virtual void Init(const Keys& keys, const Arrays& values) = 0;
  /* Equal keys (in any places) belong together: their values are added up. Shapes must be those of
   * Init, values of other dtypes than the first are converted. */
  virtual void Push(const Keys& keys, const Arrays& values, int priority = 0) = 0;
  virtual void Pull(const Keys& keys, const Arrays& outs, int priority = 0) = 0;
  /* Push then Pull. */
  virtual void PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority = 0) = 0;
  /* Init then Pull. */
  virtual void Broadcast(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority = 0) = 0;
  /* Empty: sums replace what is stored. */
  virtual void SetUpdater(Updater updater) = 0;
  /*
   * {{"type", "2bit"}, {"threshold", "0.5"}}: each value that is pushed becomes -threshold, 0 or
   * threshold; with "1bit" 1 above the threshold, else -1. What that leaves out is added to the
   * next push of the same device. "none" ends it. Device stores and float32 only.
   */
  virtual void SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) = 0;

  virtual const std::string& type() const = 0;
  virtual KVTransport* transport() = 0;
};

}  // namespace mxnet
#endif  // MXNET_KVSTORE_H_
