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
 *   dist_sync (dist, and other names that start so) sums over all workers of a job, which the
 *            servers make and keep; with 'device' in the name values of one worker are summed on
 *            its GPUs
 *   dist_async  servers apply each push at once
 *   dist_p3  dist_sync in slices that go by priority
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
  /* Servers of the job; 0 where the workers keep the values. */
  virtual int servers() const { return 0; }
  /* sum = its sum over all workers. */
  virtual void AllReduce(const KVKey& key, NDArray* sum, int priority) = 0;
  /* value = the first worker's. */
  virtual void Broadcast(const KVKey& key, NDArray* value, int priority) = 0;
  /* Returns when all workers have called it. Throws Error when one is lost or has ended, or when
   * the time-out (PS_BARRIER_TIMEOUT, in seconds) is over. */
  virtual void Barrier() = 0;
  /*
   * How many of some processes are lost or were not heard of for so long. Below 8 `node_id` is a
   * sum of groups: 2 are the servers, 4 the workers. Server i is 8 + 2 i, worker i is 9 + 2 i.
   */
  virtual int NumDeadNodes(int node_id, int timeout_seconds) = 0;
  /* To all servers, and returns their replies when all have done it; nothing happens when there are
   * none. What this worker pushed and pulled before is done then. Throws Error for what failed. */
  virtual std::vector<std::string> SendCommand(int id, const std::string& body) = 0;
  /* Whether the workers wait for each other before a store is freed. */
  virtual void SetBarrierBeforeExit(bool wait) = 0;
  /* Whether several servers may each keep a part of a value that is initialised from now on. At
   * first they may. An optimizer that takes norms of weights needs them whole. */
  virtual void SetSplitsValues(bool) {}
};

/* In a process of a distributed job: SIGINT (Ctrl-C) lets calls and arrays that wait for other
 * processes fail, so that the program can go on to end. The handler that was there is called as
 * well. */
MXNET_DLL void FollowInterrupts();

class MXNET_DLL KVStore {
 public:
  /* Changes *stored by what was pushed, e.g. an optimizer's step. Called on the thread that pushes,
   * holding no lock. */
  using Updater = std::function<void(const KVKey& key, const NDArray& pushed, NDArray* stored)>;
  /* What a server does with a command of a worker. */
  using Controller = std::function<void(int id, const std::string& body)>;
  using Keys = std::vector<KVKey>;
  using Arrays = std::vector<NDArray*>;

  /* `type` in any case. Throws Error(kValue) that lists what is accepted. */
  static std::unique_ptr<KVStore> Create(const std::string& type);
  virtual ~KVStore() = default;

  /* First values. Throws Error(kValue) for a key that has one. */
  virtual void Init(const Keys& keys, const Arrays& values) = 0;
  /* Equal keys (in any places) belong together: their values are added up. Shapes must be those of
   * Init, values of other dtypes than the first are converted. What is stored keeps the storage of
   * Init; dense and row_sparse values go together. */
  virtual void Push(const Keys& keys, const Arrays& values, int priority = 0) = 0;
  virtual void Pull(const Keys& keys, const Arrays& outs, int priority = 0) = 0;
  /*
   * outs[i] = the rows row_ids[i] of what is stored. Row ids are numbers in any order, also
   * repeated; `outs` are row_sparse and have each row once, also those that are not stored, as
   * zeros. Throws Error(kValue) for arrays of other storages; an id outside of the value is an
   * Error(kIndex) that stays with the array.
   */
  virtual void PullRowSparse(const Keys& keys, const Arrays& outs, const Arrays& row_ids, int priority = 0) = 0;
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

  /*
   * In a server's process: serves until the workers have ended, calling the controller and the
   * updater on this thread. Elsewhere it returns at once.
   */
  virtual void RunServer(const Controller& controller) = 0;
  /* Within a controller: what the worker gets as reply. */
  virtual void SetServerReply(const std::string& text) = 0;
  /* The updater or controller that runs on this server has failed: the workers are told. */
  virtual void ReportServerError(const std::string& text) = 0;
  /* Which part of a key's value the server's updater is called for. */
  struct ServerPart {
    int64_t number = 0;
    int64_t begin = 0;  // its first element in the whole value
  };
  virtual ServerPart UpdatedPart() const = 0;
};

}  // namespace mxnet
#endif  // MXNET_KVSTORE_H_
