/*
 * NCCL, opened when a store first needs it: it is no part of the CUDA toolkit, and a program on one
 * GPU shall run on a machine that lacks it. What the process has already (PyTorch's, say) is used;
 * then libnccl.so.2 where the loader finds it. Linked only when USE_CUDA=ON.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/device/device_interface.h"
#include "base/device/device_scope.h"
#include "base/threads/collective_launch.h"
#include "kvstore/nccl.h"
#include "mxnet/env.h"
#include "mxnet/error.h"

namespace mxnet {
namespace nccl {
namespace {

struct Functions {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclCommInitAll) init_all;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclReduce) reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAllReduce) all_reduce;
  // of groups of processes; null in versions before kOldestJoined
  decltype(&ncclGetUniqueId) unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
};

constexpr int kOldest = 21000;         // the first with bfloat16
constexpr int kOldestJoined = 21400;   // the first whose calls need not wait for other processes
constexpr size_t kMostTogether = 256;  // calls of a group: what NCCL keeps for one grows with it

struct Clique {
  std::vector<int> devices;
  std::vector<ncclComm_t> comms;
  std::vector<void*> streams;
  std::string broken;  // by what
};

/* All of it is guarded by CollectiveLaunchMutex and stays until the process ends. */
struct State {
  bool open = false;
  Functions f = {};
  std::map<std::vector<int>, std::unique_ptr<Clique>> cliques;
  std::map<int, void*> streams;  // of devices
  int version = 0;
};
State* const g_state = new State;

std::string VersionText(int v) {
  const int major = v >= 10000 ? v / 10000 : v / 1000, minor = v >= 10000 ? v / 100 % 100 : v / 100 % 10;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(v % 100);
}

std::string Open() {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
  State& s = *g_state;
  if (s.open) return "";
  void* library = RTLD_DEFAULT;
  if (dlsym(RTLD_DEFAULT, "ncclAllReduce") == nullptr) {
    library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      return std::string("libnccl.so.2 cannot be loaded (") + (why ? why : "no reason given") +
             "); the Python package nvidia-nccl-cu13 has it, as do NVIDIA's system packages";
    }
  }
  Functions f = {};
  const char* lacking = nullptr;
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    if (*function == nullptr) lacking = name;
  };
  find("ncclGetVersion", &f.get_version);
  find("ncclGetErrorString", &f.error_string);
  find("ncclGetLastError", &f.last_error);
  find("ncclCommInitAll", &f.init_all);
  find("ncclCommAbort", &f.abort);
  find("ncclCommGetAsyncError", &f.async_error);
  find("ncclGroupStart", &f.group_start);
  find("ncclGroupEnd", &f.group_end);
  find("ncclReduce", &f.reduce);
  find("ncclBroadcast", &f.broadcast);
  find("ncclAllReduce", &f.all_reduce);
  int version = 0;
  if (f.get_version != nullptr && f.get_version(&version) == ncclSuccess && version < kOldest)
    return "version " + VersionText(version) + " is older than " + VersionText(kOldest);
  if (lacking != nullptr) return std::string("the library has no ") + lacking + "; " + VersionText(kOldest) + " and later versions have it";
  f.unique_id = reinterpret_cast<decltype(f.unique_id)>(dlsym(library, "ncclGetUniqueId"));
  f.init_rank = reinterpret_cast<decltype(f.init_rank)>(dlsym(library, "ncclCommInitRankConfig"));
  s.f = f;
  s.version = version;
  s.open = true;
  return "";
}

void Check(ncclResult_t result, const char* what, ncclComm_t comm = nullptr) {
  if (result == ncclSuccess) return;
  cudaGetLastError();  // the next call of the runtime must not find it
  const Functions& f = g_state->f;
  const char* more = f.last_error(comm);
  MXNET_THROW(Generic) << "[kvstore] NCCL: " << what << " failed: " << f.error_string(result) << (more && *more ? ": " : "")
                       << (more ? more : "");
}

std::string Text(const std::vector<int>& devices) {
  std::string text;
  for (int d : devices) text += (text.empty() ? "gpu(" : ", gpu(") + std::to_string(d) + ")";
  return text;
}

/* REQUIRES: CollectiveLaunchMutex. */
void* StreamOf(int device) {
  void*& stream = g_state->streams[device];
  if (stream == nullptr) {
    const DeviceScope scope(device);
    MXNET_CHECK(scope.ok()) << "[kvstore] gpu(" << device << ") cannot be selected";
    stream = GpuInterface().streams.get()->create(true);  // few blocks that others wait for: they go first
  }
  return stream;
}

void* CliqueOf(const std::vector<int>& devices) {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());  // makes memory, and waits for devices
  State& s = *g_state;
  std::unique_ptr<Clique>& place = s.cliques[devices];
  if (place == nullptr) {
    auto made = std::make_unique<Clique>();
    made->devices = devices;
    made->comms.resize(devices.size(), nullptr);
    for (int dev : devices) made->streams.push_back(StreamOf(dev));
    int current = -1;
    if (cudaGetDevice(&current) != cudaSuccess) cudaGetLastError();
    const ncclResult_t result = s.f.init_all(made->comms.data(), static_cast<int>(devices.size()), devices.data());
    if (current >= 0 && cudaSetDevice(current) != cudaSuccess) cudaGetLastError();  // it goes through all of them
    const std::string what = "joining " + Text(devices);
    Check(result, what.c_str());
    place = std::move(made);
  }
  return place.get();
}

ncclDataType_t TypeOf(int dtype) {
  switch (dtype) {
    case kFloat32: return ncclFloat32;
    case kFloat64: return ncclFloat64;
    case kFloat16: return ncclFloat16;
    case kBfloat16: return ncclBfloat16;
    case kUint8: return ncclUint8;
    case kInt8: return ncclInt8;
    case kInt32: return ncclInt32;
    case kUint32: return ncclUint32;
    case kInt64: return ncclInt64;
    case kUint64: return ncclUint64;
    default: MXNET_THROW(Type) << "[kvstore] NCCL has no dtype " << DTypeName(dtype);
  }
}

/* A recorded event, given back when what waits for it has been told so. */
class Mark {
 public:
  Mark(int dev, void* stream) : event_(GpuInterface().streams.get()->record_on(dev, stream)) {}
  ~Mark() { GpuInterface().streams.get()->release(event_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  /* All that was on the stream is done. Throws Error on a fault of the device. */
  bool IsThere() const { return GpuInterface().streams.get()->passed(event_); }
  void Precede(void* stream) const { GpuInterface().streams.get()->wait(stream, event_); }

 private:
  void* const event_;
};

void Launch(const Clique& c, const Call& call) {
  const Functions& f = g_state->f;
  const ncclDataType_t type = TypeOf(call.dtype);
  const size_t count = static_cast<size_t>(call.count);
  for (size_t i = 0; i < c.comms.size(); ++i) {
    const cudaStream_t stream = static_cast<cudaStream_t>(c.streams[i]);
    switch (call.kind) {
      case Call::kReduce:
        Check(f.reduce(call.in[i], call.out[i], count, type, ncclSum, call.root, c.comms[i], stream), "a reduction", c.comms[i]);
        break;
      case Call::kBroadcast: {
        const bool root = static_cast<int>(i) == call.root;
        void* const out = call.out[i] != nullptr ? call.out[i] : const_cast<void*>(call.in[i]);  // a root that keeps what it has: in place
        Check(f.broadcast(root ? call.in[i] : out, out, count, type, call.root, c.comms[i], stream), "a broadcast", c.comms[i]);
        break;
      }
      case Call::kAllReduce:
        Check(f.all_reduce(call.in[i], call.out[i], count, type, ncclSum, c.comms[i], stream), "a sum", c.comms[i]);
        break;
    }
  }
}

/* Without it, kernels that wait for others which will never come would hold their devices for
 * ever. */
void Break(Clique* c, const std::string& why) {
  c->broken = why;
  for (ncclComm_t comm : c->comms) g_state->f.abort(comm);
  for (size_t i = 0; i < c->devices.size(); ++i) {
    const DeviceScope scope(c->devices[i]);
    if (!scope.ok() || cudaStreamSynchronize(static_cast<cudaStream_t>(c->streams[i])) != cudaSuccess) cudaGetLastError();
  }
  cudaGetLastError();
}

void Run(void* clique, const std::vector<Call>& calls, const RunContext& run) {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
  Clique* c = static_cast<Clique*>(clique);
  const Functions& f = g_state->f;
  MXNET_CHECK(c->broken.empty()) << "[kvstore] NCCL between " << Text(c->devices) << " is of no use since it failed: " << c->broken;
  {
    const Mark inputs(run.ctx.dev_id, run.stream);
    for (void* stream : c->streams) inputs.Precede(stream);
  }
  try {
    for (ncclComm_t comm : c->comms) {
      ncclResult_t late = ncclSuccess;
      Check(f.async_error(comm, &late), "asking for errors", comm);
      Check(late, "what was under way", comm);
    }
    for (size_t begin = 0; begin < calls.size(); begin += kMostTogether) {
      Check(f.group_start(), "beginning a group");
      try {
        for (size_t i = begin; i < std::min(calls.size(), begin + kMostTogether); ++i) Launch(*c, calls[i]);
      } catch (const std::exception&) {
        f.group_end();  // the thread leaves the group in any case
        throw;
      }
      Check(f.group_end(), "launching a group");
    }
    for (size_t i = 0; i < c->devices.size(); ++i) Mark(c->devices[i], c->streams[i]).Precede(run.stream);
  } catch (const std::exception& e) {
    Break(c, e.what());
    throw;
  }
}

// ---- groups of processes ----

/* One GPU of this process among those of others. Belongs to one thread. */
struct Group {
  int device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  const std::atomic<bool>* lost = nullptr;
  std::string broken;
};

std::string MissingJoined() {
  const State& s = *g_state;
  if (s.f.unique_id != nullptr && s.f.init_rank != nullptr && s.version >= kOldestJoined) return "";
  return "NCCL " + VersionText(s.version) + " cannot be interrupted while it waits for other processes; " + VersionText(kOldestJoined) +
         " and later versions can";
}

/* NCCL tells devices apart by this. */
std::string Identity(int device) {
  char host[256] = "", bus[64] = "";
  gethostname(host, sizeof host - 1);
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess) cudaGetLastError();
  return std::string(host) + " " + bus;
}

std::string NewGroup() {
  ncclUniqueId id;
  Check(g_state->f.unique_id(&id), "making a group of processes");
  return std::string(id.internal, sizeof id.internal);
}

/* What was asked of the group goes on in the background: until it has begun, or failed. */
void Settle(Group* g, ncclResult_t result, const char* what) {
  while (result == ncclInProgress) {
    MXNET_CHECK(!*g->lost) << "[kvstore] NCCL: " << what << " was given up, since a process is lost";
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    const ncclResult_t asked = g_state->f.async_error(g->comm, &result);
    if (asked != ncclSuccess) result = asked;
  }
  Check(result, what, g->comm);
}

void CheckWhole(const Group& g) {
  MXNET_CHECK(g.broken.empty()) << "[kvstore] NCCL between the workers is of no use since it failed: " << g.broken;
}

/* Kernels that wait for other processes end. */
[[noreturn]] void GiveUp(Group* g, const std::exception& why) {
  g->broken = why.what();
  if (g->comm != nullptr) g_state->f.abort(g->comm);
  if (g->stream != nullptr) cudaStreamSynchronize(g->stream);
  cudaGetLastError();
  throw;
}

void* Join(const std::string& id, int device, int number, int size, const std::atomic<bool>* lost) {
  auto g = std::make_unique<Group>();
  g->device = device;
  g->lost = lost;
  ncclUniqueId unique;
  MXNET_CHECK(id.size() == sizeof unique.internal) << "[kvstore] the identity of a group of GPUs has " << id.size() << " bytes";
  std::memcpy(unique.internal, id.data(), id.size());
  const DeviceScope scope(device);
  MXNET_CHECK(scope.ok()) << "[kvstore] gpu(" << device << ") cannot be selected";
  try {
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());  // makes memory
    g->stream = static_cast<cudaStream_t>(StreamOf(device));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    Settle(g.get(), g_state->f.init_rank(&g->comm, size, unique, number, &config), "joining the GPUs of other processes");
  } catch (const std::exception& e) {
    GiveUp(g.get(), e);
  }
  return g.release();
}

void Add(void* group, void* data, int64_t count, int dtype) {
  Group* g = static_cast<Group*>(group);
  CheckWhole(*g);
  const DeviceScope scope(g->device);
  try {
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
    const ncclResult_t result = g_state->f.all_reduce(data, data, static_cast<size_t>(count), TypeOf(dtype), ncclSum, g->comm, g->stream);
    Settle(g, result, "a sum over processes");
  } catch (const std::exception& e) {
    GiveUp(g, e);
  }
}

void Finish(void* group) {
  Group* g = static_cast<Group*>(group);
  CheckWhole(*g);
  const DeviceScope scope(g->device);
  try {
    const Mark end(g->device, g->stream);
    for (int64_t looks = 0; !end.IsThere(); ++looks) {
      MXNET_CHECK(!*g->lost) << "[kvstore] a sum over processes was given up, since one is lost";
      ncclResult_t late = ncclSuccess;
      Check(g_state->f.async_error(g->comm, &late), "asking for errors", g->comm);
      if (late != ncclInProgress) Check(late, "a sum over processes", g->comm);
      std::this_thread::sleep_for(std::chrono::microseconds(looks < 20 ? 5 : 50));
    }
  } catch (const std::exception& e) {
    GiveUp(g, e);
  }
}

const Joined kJoined = {MissingJoined, Identity, NewGroup, Join, Add, Finish};

double Link(int device, int other) {
  int supported = 0, rank = 0;
  if (cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrAccessSupported, device, other) != cudaSuccess || supported == 0 ||
      cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, device, other) != cudaSuccess || !Env::Get().enable_gpu_p2p) {
    cudaGetLastError();
    return 0;
  }
  return 1.0 / (1 + rank);  // 0 is the fastest
}

const Library kNccl = {Open, CliqueOf, Run, Link, &kJoined};
[[maybe_unused]] const bool registered = GpuInterface().collectives.Register(&kNccl);

}  // namespace
}  // namespace nccl
}  // namespace mxnet
