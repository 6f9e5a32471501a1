// What stores ask their job, and which store a type's name stands for.
#include <algorithm>
#include <chrono>
#include <climits>
#include <future>
#include <utility>

#include "base/device/device_query.h"
#include "base/foreign_env.h"
#include "base/logging.h"
#include "kvstore/dist/gpu_sums.h"
#include "kvstore/dist/server.h"
#include "kvstore/dist/store.h"

namespace mxnet {
namespace kvstore {
namespace {

/* In a job without servers: the sums of all workers are made by an all-reduce, and each worker
 * keeps the values and runs the updater. */
class PeerStore final : public LocalStore {
 public:
  PeerStore(std::string name, bool on_device, const std::shared_ptr<Job>& job)
      : LocalStore(std::move(name), on_device, std::make_unique<DistTransport>(job)), on_device_(on_device) {}
  ~PeerStore() override { own()->Close(); }
  void Init(const Keys& keys, const Arrays& values) override {
    LocalStore::Init(keys, values);
    transport()->Barrier();
    if (on_device_ && !std::exchange(agreed_, true)) own()->AgreeOnGpus();
  }

 private:
  DistTransport* own() { return static_cast<DistTransport*>(transport()); }

  const bool on_device_;
  bool agreed_ = false;
};

/* In a server's process: the updater comes from a controller, and all else from the workers. */
class ServerStore final : public KVStore {
 public:
  ServerStore(std::string type, const std::shared_ptr<Job>& job) : type_(std::move(type)), transport_(job), server_(job) {}

  void Init(const Keys&, const Arrays&) override { Refuse("init"); }
  void Push(const Keys&, const Arrays&, int) override { Refuse("push"); }
  void Pull(const Keys&, const Arrays&, int) override { Refuse("pull"); }
  void PullRowSparse(const Keys&, const Arrays&, const Arrays&, int) override { Refuse("row_sparse_pull"); }
  void PushPull(const Keys&, const Arrays&, const Keys&, const Arrays&, int) override { Refuse("pushpull"); }
  void Broadcast(const Keys&, const Arrays&, const Keys&, const Arrays&, int) override { Refuse("broadcast"); }
  void SetGradientCompression(const std::vector<std::pair<std::string, std::string>>&) override { Refuse("set_gradient_compression"); }
  void SetUpdater(Updater updater) override { server_.SetUpdater(std::move(updater)); }
  const std::string& type() const override { return type_; }
  KVTransport* transport() override { return &transport_; }
  void RunServer(const Controller& controller) override { server_.Run(controller); }
  void SetServerReply(const std::string& text) override { server_.SetReply(text); }
  void ReportServerError(const std::string& text) override { server_.ReportError(text); }
  ServerPart UpdatedPart() const override { return server_.part(); }

 private:
  [[noreturn]] static void Refuse(const char* what) {
    MXNET_THROW(Value) << "[kvstore] " << what << " was called in a server's process; accepted: calls of workers";
  }

  const std::string type_;
  DistTransport transport_;
  Server server_;
};

}  // namespace

DistType DistType::Parse(const std::string& name, bool p3) {
  DistType type;
  std::string rest = name.compare(0, 4, "dist") == 0 ? name.substr(4) : "?";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('_', 1), rest.size());
    const std::string word = rest.substr(0, end);
    rest.erase(0, end);
    if (word == "_async") {
      type.sync = false;
    } else if (word == "_device") {
      type.on_device = true;
    } else if (word == "_p3") {
      type.slices = true;
    } else {
      MXNET_CHECK_KIND(word == "_sync", Value) << "[kvstore] there is no store of type '" << name
                                               << "'; accepted: dist, dist_sync, dist_device_sync, dist_sync_device, dist_async, "
                                                  "dist_async_device, dist_device_async, dist_p3";
    }
  }
  type.slices = type.sync && (type.slices || p3);
  return type;
}

/* A worker that has GPUs but lacks the library is told what it lacks. */
void DistTransport::AgreeOnGpus() {
  int gpus = 0;
  try {
    gpus = DeviceCount(DeviceType::kGPU);
  } catch (const std::exception&) {  // who uses one hears of it
  }
  const std::string missing = GpuSums::Missing();
  int32_t able = gpus > 0 && missing.empty();
  NDArray all(Shape({1}), Context::CPU(), kInt32);
  all.CopyBytesFrom(&able, sizeof able);
  job_->all_reduce()->Sum(-1 - store_, 0, all, INT_MAX);
  all.CopyBytesTo(&able, sizeof able);
  gpus_add_up_ = able == job_->workers();
  if (!gpus_add_up_ && gpus > 0 && !missing.empty() && job_->workers() > 1)
    LogWarning("[kvstore] sums of the workers' GPUs go through the memory of the hosts: " + missing);
}

void DistTransport::AllReduce(const KVKey& key, NDArray* sum, int priority) {
  job_->all_reduce()->Sum(store_, key, *sum, priority, gpus_add_up_);
}

void DistTransport::Broadcast(const KVKey& key, NDArray* value, int priority) {
  job_->all_reduce()->Broadcast(store_, key, *value, priority);
}

void DistTransport::Begin(bool push) {
  std::lock_guard<std::mutex> hold(mutex_);
  ++all_;
  if (push) ++pushes_;
}

void DistTransport::End(bool push) {
  std::lock_guard<std::mutex> hold(mutex_);
  --all_;
  if (push) --pushes_;
  ended_.notify_all();
}

void DistTransport::WaitForOwn(bool all) {
  std::unique_lock<std::mutex> hold(mutex_);
  ended_.wait(hold, [&] { return (all ? all_ : pushes_) == 0; });
}

void DistTransport::Close() {
  WaitForOwn(true);
  if (!barrier_before_exit_) return;
  try {
    Head head;
    head.kind = Kind::kFlush;
    head.flags = kLeaving;  // who waits for a push of this worker is told
    AskServers(head, "");
    job_->Barrier(store_);
  } catch (const std::exception& e) {
    LogWarning(e.what());
  }
}

std::vector<std::string> DistTransport::AskServers(const Head& asked, const std::string& text) {
  Head head = asked;
  head.store = store_;
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < job_->servers(); ++i) {
    auto answer = std::make_shared<std::promise<std::string>>();
    answers.push_back(answer->get_future());
    // After all that this worker has sent.
    job_->Ask(job_->ServerRank(i), head, TextMessage(head, text), INT_MIN, Job::Destination(),
              [answer](std::exception_ptr error, const Message& reply) {
                if (error)
                  answer->set_exception(error);
                else
                  answer->set_value(TextOf(reply));
              });
  }
  for (auto& answer : answers) {
    job_->transport()->Work([&answer] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    answer.wait();
  }
  std::vector<std::string> texts;
  for (auto& answer : answers) texts.push_back(answer.get());
  return texts;
}

void DistTransport::Barrier() {
  WaitForOwn(false);
  Head head;
  head.kind = Kind::kFlush;
  AskServers(head, "");
  job_->Barrier(store_);
}

std::vector<std::string> DistTransport::SendCommand(int id, const std::string& body) {
  WaitForOwn(true);
  Head head;
  head.kind = Kind::kCommand;
  head.version = id;
  return AskServers(head, body);
}

int DistTransport::NumDeadNodes(int node_id, int timeout_seconds) {
  int dead = 0;
  const auto count = [&](Role role, int group, int first) {
    const std::vector<int>& ranks = job_->transport()->RanksOf(role);
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (node_id < 8 ? !(node_id & group) : node_id != first + 2 * static_cast<int>(i)) continue;
      const Peer peer = job_->transport()->Get(ranks[i]);
      const bool silent = peer.rank != job_->transport()->rank() && peer.silent_seconds > timeout_seconds;
      dead += !peer.said_goodbye && (peer.lost || silent) ? 1 : 0;
    }
  };
  count(Role::kServer, 2, 8);
  count(Role::kWorker, 4, 9);
  return dead;
}

std::unique_ptr<KVStore> CreateDistStore(const std::string& name, const std::shared_ptr<Job>& job) {
  const DistType type = DistType::Parse(name, ForeignText("DMLC_PS_VAN_TYPE") == "p3");
  if (job->self().role == Role::kServer) return std::make_unique<ServerStore>(name, job);
  if (job->servers() > 0) return std::make_unique<DistStore>(name, type, job);
  MXNET_CHECK_KIND(type.sync, Value)
      << "[kvstore] a store of type '" << name
      << "' needs servers and this job has none; accepted: at least one server (launch.py -s 1), or dist_sync";
  return std::make_unique<PeerStore>(name, type.on_device, job);
}

std::unique_ptr<KVStore> CreateDistStore(const std::string& name) {
  DistType::Parse(name, false);  // before the job starts
  return CreateDistStore(name, Job::Get());
}

}  // namespace kvstore
}  // namespace mxnet
