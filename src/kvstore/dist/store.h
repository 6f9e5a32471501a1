/*
 * The stores of a job with servers, on a worker: the values of this process are added up as `local`
 * and `device` do, then sent to the servers, which add up those of all workers.
 *
 * Each key has a variable that all its pushes and pulls write, so that they take effect in call
 * order. Sums are sent from where they lie and pulled to where they are wanted, if that is memory
 * of the host and the dtype is the stored value's.
 *
 * Of row_sparse values and sums the rows that are there travel, and with row_sparse_pull those that
 * are asked for; also of dense values, if their parts are rows (sharding.h).
 */
#ifndef MXNET_KVSTORE_DIST_STORE_H_
#define MXNET_KVSTORE_DIST_STORE_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kvstore/compression.h"
#include "kvstore/dist/job.h"
#include "kvstore/dist/sharding.h"
#include "kvstore/local.h"

namespace mxnet {
namespace kvstore {

/* What the name of a type says. */
struct DistType {
  bool sync = true, on_device = false, slices = false;
  /* `name` in lower case: dist, and behind it in any order _sync, _async, _device, _p3. Throws
   * Error(kValue). `p3`: synchronous types have slices (DMLC_PS_VAN_TYPE). */
  static DistType Parse(const std::string& name, bool p3);
};

/* What a store is asked about its job. */
class DistTransport : public KVTransport {
 public:
  explicit DistTransport(std::shared_ptr<Job> job) : job_(std::move(job)), store_(job_->NewStore()) {}
  int rank() const override { return job_->self().number; }
  int size() const override { return job_->workers(); }
  int servers() const override { return job_->servers(); }
  /* Of stores without servers alone; the first: once, on all workers. */
  void AgreeOnGpus();
  void AllReduce(const KVKey& key, NDArray* sum, int priority) override;
  void Broadcast(const KVKey& key, NDArray* value, int priority) override;
  void Barrier() override;
  int NumDeadNodes(int node_id, int timeout_seconds) override;
  std::vector<std::string> SendCommand(int id, const std::string& body) override;
  void SetBarrierBeforeExit(bool wait) override { barrier_before_exit_ = wait; }
  void SetSplitsValues(bool split) override { splits_values_ = split; }
  bool splits_values() const { return splits_values_; }

  Job* job() const { return job_.get(); }
  int store() const { return store_; }
  void Begin(bool push);
  void End(bool push);
  /* All that was begun has ended; with the barrier before the exit. */
  void Close();

 private:
  /* Waits for what this worker pushed to be sent; `all`: for its pulls as well. */
  void WaitForOwn(bool all);
  /* All servers answer, or an Error is thrown. */
  std::vector<std::string> AskServers(const Head& head, const std::string& text);

  const std::shared_ptr<Job> job_;
  const int store_;
  std::atomic<bool> barrier_before_exit_{false}, splits_values_{true};
  bool gpus_add_up_ = false;  // arrays that lie on them, over all workers
  std::mutex mutex_;
  std::condition_variable ended_;
  int64_t pushes_ = 0, all_ = 0;  // under way
};

class DistStore final : public LocalStore {
 public:
  DistStore(std::string name, DistType type, const std::shared_ptr<Job>& job);
  ~DistStore() override;

  void Init(const Keys& keys, const Arrays& values) override;
  void Push(const Keys& keys, const Arrays& values, int priority) override;
  void Pull(const Keys& keys, const Arrays& outs, int priority) override;
  void PullRowSparse(const Keys& keys, const Arrays& outs, const Arrays& row_ids, int priority) override;
  void PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override;
  /* The servers have the updater; this one is never called. */
  void SetUpdater(Updater) override {}
  bool KeepsCSR() const override { return false; }
  void SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) override;

 private:
  struct Foreseen;   // a value that is pulled before the program asks for it
  struct Remote;     // a key's value on the servers
  struct Operation;  // a push, a pull or both
  /* What a call does with one key. */
  struct Step {
    Entry* entry = nullptr;
    const NDArray* sum = nullptr;  // to push, or null
    Arrays outs;                   // to pull to
  };

  /* First values to the servers. */
  void SendFirst(const KVKey& key, const NDArray& value, Remote* remote);
  /* The sum as it is sent: in memory of the host, of the stored value's dtype, compressed. */
  NDArray Source(Remote* remote, const Entry& entry, const NDArray& sum, int priority);
  /* Where a pull of `outs` goes. */
  NDArray Target(Remote* remote, const Entry& entry, const Arrays& outs);
  void Run(const std::shared_ptr<Operation>& operation, int priority);
  /* Decides whether the reply to a push that is about to run brings the value of a later pull, or
   * gives a pull the reply of the push before. */
  void Foresee(Operation* operation);
  static void Start(const std::shared_ptr<Operation>& operation);
  Remote* RemoteOf(const Entry* entry);
  static std::shared_ptr<Operation> NewOperation(const Entry* entry, Remote* remote);

  // store_rows.cc
  /* The step of a key whose value or sum is row_sparse. */
  void RunSparse(const Step& step, Remote* remote, int priority);
  static void StartRows(const std::shared_ptr<Operation>& operation);
  static void SendRows(const std::shared_ptr<Operation>& operation);
  static void AskForAll(const std::shared_ptr<Operation>& operation);
  static void AskForRows(const std::shared_ptr<Operation>& operation);

  static std::vector<Step> Steps(const std::vector<Pushed>& pushed, const std::vector<NDArray>& sums, const std::vector<Entry*>& entries,
                                 const Arrays& outs);

  const DistType dist_;
  DistTransport* const own_;  // transport()
  Compression compression_;
  std::mutex mutex_;  // guards remotes_, not what it holds
  std::map<const Entry*, std::unique_ptr<Remote>> remotes_;
};

/* The store of a dist type for this process: of a worker or a server. Throws Error. */
std::unique_ptr<KVStore> CreateDistStore(const std::string& name);
std::unique_ptr<KVStore> CreateDistStore(const std::string& name, const std::shared_ptr<Job>& job);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_STORE_H_
