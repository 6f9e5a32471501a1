/*
 * NCCL between the devices of one process. An operation's part on a device waits on its stream
 * until the parts of all devices are there, as kernels do; a device has one such part under way at
 * a time, so that operations which come in different orders on two devices never end (and are
 * reported after a minute).
 */
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include "device.h"
#include "libraries.h"
#include "library_numbers.h"
#include "nccl_processes.h"

namespace host_gpu {
namespace {

struct Part {
  const char* function;
  int rank;
  const void* in;
  void* out;
  size_t count;
  ncclDataType_t type;
  int root;
};

/* Where the parts of one operation meet. */
struct Meeting {
  std::vector<Part> parts;
  bool done = false;
};

struct Clique {
  explicit Clique(const int* list, int n) : devices(list, list + n) {}
  const std::vector<int> devices;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool aborted = false;
  std::map<uint64_t, std::shared_ptr<Meeting>> meetings;
};

}  // namespace
}  // namespace host_gpu

struct ncclComm {
  std::shared_ptr<host_gpu::Processes> processes;  // or:
  std::shared_ptr<host_gpu::Clique> clique;
  int rank = 0;
  uint64_t next = 0;  // number of its next operation; belongs to who calls
};

namespace host_gpu {
namespace {

struct Queued {
  ncclComm_t comm;
  cudaStream_t stream;
  Part part;
};

std::atomic<int> g_groups{0};
thread_local int t_depth = 0;
thread_local std::vector<Queued> t_queue;
thread_local ncclResult_t t_failed = ncclSuccess;
thread_local std::string t_why;

ncclResult_t Refuse(ncclResult_t result, const char* function, const char* text) {
  Complain(function, text);
  t_why = text;
  if (t_depth > 0) t_failed = result;
  return result;
}

size_t SizeOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 0;
  }
}

template <typename T>
void SumInto(T* sum, const void* more, size_t count) {
  const T* m = static_cast<const T*>(more);
  for (size_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + m[i]);
}
// Between two devices half types travel as such: each sum of two is rounded.
void SumHalves(Number type, void* sum, const void* more, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = static_cast<int64_t>(i);
    Store<float>(type, sum, at, Load<float>(type, sum, at) + Load<float>(type, more, at));
  }
}

std::vector<char> Sum(const std::vector<Part>& parts) {  // in the order of ranks
  const size_t count = parts[0].count;
  std::vector<char> sum(count * SizeOf(parts[0].type));
  std::memcpy(sum.data(), parts[0].in, sum.size());
  for (size_t k = 1; k < parts.size(); ++k) {
    const void* more = parts[k].in;
    switch (parts[0].type) {
      case ncclInt8:
      case ncclUint8: SumInto(reinterpret_cast<uint8_t*>(sum.data()), more, count); break;
      case ncclInt32:
      case ncclUint32: SumInto(reinterpret_cast<uint32_t*>(sum.data()), more, count); break;
      case ncclInt64:
      case ncclUint64: SumInto(reinterpret_cast<uint64_t*>(sum.data()), more, count); break;
      case ncclFloat32: SumInto(reinterpret_cast<float*>(sum.data()), more, count); break;
      case ncclFloat64: SumInto(reinterpret_cast<double*>(sum.data()), more, count); break;
      default: SumHalves(parts[0].type == ncclFloat16 ? Number::kHalf : Number::kBfloat16, sum.data(), more, count); break;
    }
  }
  return sum;
}

void Compute(std::vector<Part> parts) {
  const Part& first = parts[0];
  for (const Part& p : parts)
    if (std::strcmp(p.function, first.function) != 0 || p.count != first.count || p.type != first.type || p.root != first.root)
      Complain(p.function, "the devices' operations with one number differ in kind, count, type or root");
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; });
  const size_t bytes = first.count * SizeOf(first.type);
  const bool broadcast = std::strcmp(first.function, "ncclBroadcast") == 0, reduce = std::strcmp(first.function, "ncclReduce") == 0;
  std::vector<char> result;
  if (broadcast) {
    const char* from = static_cast<const char*>(parts[static_cast<size_t>(first.root)].in);
    result.assign(from, from + bytes);
  } else {
    result = Sum(parts);
  }
  for (const Part& p : parts)
    if (!reduce || p.rank == p.root) std::memcpy(p.out, result.data(), bytes);
}

std::mutex& BusyWith(int device) {
  static std::vector<std::mutex>& all = *new std::vector<std::mutex>(16);
  return all[static_cast<size_t>(device)];
}

/* On a stream. */
void Meet(const std::shared_ptr<Clique>& clique, uint64_t number, const Part& part) {
  std::lock_guard<std::mutex> busy(BusyWith(clique->devices[static_cast<size_t>(part.rank)]));
  std::unique_lock<std::mutex> lock(clique->mutex);
  std::shared_ptr<Meeting>& place = clique->meetings[number];
  if (!place) place = std::make_shared<Meeting>();
  const std::shared_ptr<Meeting> meeting = place;
  meeting->parts.push_back(part);
  if (meeting->parts.size() == clique->devices.size()) {
    clique->meetings.erase(number);
    Compute(meeting->parts);
    meeting->done = true;
    clique->changed.notify_all();
    return;
  }
  if (!clique->changed.wait_for(lock, std::chrono::seconds(60), [&] { return meeting->done || clique->aborted; })) {
    Complain(part.function, "some devices never came: their operations are in another order, or were not all launched");
    clique->aborted = true;  // so that the program ends
    clique->changed.notify_all();
  }
}

ncclResult_t Flush() {
  std::vector<Queued> queue;
  queue.swap(t_queue);
  if (t_failed != ncclSuccess) {
    const ncclResult_t failed = t_failed;
    t_failed = ncclSuccess;
    return failed;
  }
  std::map<Clique*, std::vector<int>> counts;
  for (const Queued& q : queue) {
    std::vector<int>& c = counts[q.comm->clique.get()];
    c.resize(q.comm->clique->devices.size());
    ++c[static_cast<size_t>(q.comm->rank)];
  }
  for (const auto& c : counts)
    if (std::count(c.second.begin(), c.second.end(), c.second[0]) != static_cast<std::ptrdiff_t>(c.second.size()))
      return Refuse(ncclInvalidUsage, "ncclGroupEnd", "one thread serves all devices, and left some of them out of a group");
  if (Refuses("NCCL", "launch")) return t_why = "as HOST_GPU_NCCL_REFUSE asks", ncclUnhandledCudaError;
  for (const Queued& q : queue) {
    const std::shared_ptr<Clique> clique = q.comm->clique;
    const uint64_t number = q.comm->next++;
    if (q.comm->rank > 0) Rest();  // the first devices have begun
    Submit(q.stream, q.part.function, [clique, number, part = q.part] { Meet(clique, number, part); });
  }
  return ncclSuccess;
}

/* Memory that the device of a rank holds, aligned for the type. */
bool Lies(const void* p, size_t bytes, size_t alignment, int device) {
  int where = -1;
  return p != nullptr && reinterpret_cast<uintptr_t>(p) % alignment == 0 && PlaceOf(p, bytes, &where) == Place::kDevice && where == device;
}

ncclResult_t QueueWithProcesses(ncclComm_t comm, cudaStream_t stream, const Part& part);

ncclResult_t Queue(ncclComm_t comm, cudaStream_t stream, Part part) {
  const char* function = part.function;
  if (comm == nullptr) return Refuse(ncclInvalidArgument, function, "no communicator");
  if (comm->processes) return QueueWithProcesses(comm, stream, part);
  const Clique& clique = *comm->clique;
  const int device = clique.devices[static_cast<size_t>(comm->rank)];
  part.rank = comm->rank;
  if (clique.aborted) return Refuse(ncclInvalidUsage, function, "an aborted communicator");
  const std::shared_ptr<Stream> s = Find(stream);
  if (!s || s->device != device) return Refuse(ncclInvalidUsage, function, "a stream of another device than the communicator's");
  if (Capturing(*s)) return Refuse(ncclInvalidUsage, function, "the stand-in captures no collective operations");
  const size_t size = SizeOf(part.type), bytes = part.count * size;
  if (size == 0 || part.root < 0 || part.root >= static_cast<int>(clique.devices.size()))
    return Refuse(ncclInvalidArgument, function, "a type or root that does not exist");
  if (part.count == 0) return Refuse(ncclInvalidArgument, function, "nothing to do: callers leave such operations out");
  const bool broadcast = std::strcmp(function, "ncclBroadcast") == 0, root = part.rank == part.root;
  const bool reads = !broadcast || root, writes = root || std::strcmp(function, "ncclReduce") != 0;
  if ((reads && !Lies(part.in, bytes, size, device)) || (writes && !Lies(part.out, bytes, size, device)))
    return Refuse(ncclInvalidArgument, function, "memory that is not the device's, or not aligned for the type");
  if (reads && writes && part.in != part.out && static_cast<const char*>(part.in) < static_cast<char*>(part.out) + bytes &&
      static_cast<char*>(part.out) < static_cast<const char*>(part.in) + bytes)
    return Refuse(ncclInvalidArgument, function, "source and result overlap without being the same");
  t_queue.push_back({comm, stream, part});
  return t_depth > 0 ? ncclSuccess : Flush();
}

/* A sum with other processes, in place or not. */
ncclResult_t QueueWithProcesses(ncclComm_t comm, cudaStream_t stream, const Part& part) {
  const std::shared_ptr<Processes> processes = comm->processes;
  if (processes->aborted()) return Refuse(ncclInvalidUsage, part.function, "an aborted communicator");
  if (t_depth > 0) return Refuse(ncclInvalidUsage, part.function, "the stand-in has no groups of operations with other processes");
  if (std::strcmp(part.function, "ncclAllReduce") != 0) return Refuse(ncclInvalidUsage, part.function, "only sums go over processes");
  const std::shared_ptr<Stream> s = Find(stream);
  if (!s || s->device != processes->device()) return Refuse(ncclInvalidUsage, part.function, "a stream of another device");
  const size_t size = SizeOf(part.type), bytes = part.count * size;
  if (size == 0 || part.count == 0 || bytes > Processes::kMostBytes) return Refuse(ncclInvalidArgument, part.function, "a type or count");
  if (!Lies(part.in, bytes, size, processes->device()) || !Lies(part.out, bytes, size, processes->device()))
    return Refuse(ncclInvalidArgument, part.function, "memory that is not the device's, or not aligned for the type");
  if (processes->State() != ncclSuccess) return Refuse(ncclInvalidUsage, part.function, "a call before the last one has begun");
  if (Refuses("NCCL", "launch")) return t_why = "as HOST_GPU_NCCL_REFUSE asks", ncclUnhandledCudaError;
  processes->Asked();
  Submit(stream, part.function, [processes, part, bytes, number = processes->Next()] {
    std::vector<std::vector<char>> all;
    if (!processes->Meet(number, part.in, bytes, part.type, &all)) return;
    std::vector<Part> parts(all.size(), part);
    for (size_t i = 0; i < all.size(); ++i) parts[i].in = all[i].data();
    const std::vector<char> sum = Sum(parts);
    std::memcpy(part.out, sum.data(), bytes);
  });
  return ncclInProgress;
}

}  // namespace

void CheckNoLaunch(const char* function) {
  if (g_groups.load() > (t_depth > 0 ? 1 : 0))
    Complain(function, "may wait for a device while another thread launches a collective operation");
}

}  // namespace host_gpu

using host_gpu::Queue;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  HOST_GPU_COUNT_CALL();
  const char* as = std::getenv("HOST_GPU_NCCL_VERSION");
  *version = as ? std::atoi(as) : NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess           ? "no error"
         : result == ncclInvalidArgument ? "invalid argument"
         : result == ncclInvalidUsage    ? "invalid usage"
                                         : "unhandled cuda error";
}
const char* ncclGetLastError(ncclComm_t) { return host_gpu::t_why.c_str(); }

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  HOST_GPU_COUNT_CALL();
  host_gpu::CheckNoLaunch("ncclCommInitAll");
  if (host_gpu::Refuses("NCCL", "init")) return host_gpu::t_why = "as HOST_GPU_NCCL_REFUSE asks", ncclSystemError;
  for (int i = 0; i < count; ++i)
    if (devices[i] < 0 || devices[i] >= host_gpu::DeviceTotal() || std::count(devices, devices + count, devices[i]) != 1)
      return host_gpu::Refuse(ncclInvalidUsage, "ncclCommInitAll", "a device that is not there, or twice");
  const auto clique = std::make_shared<host_gpu::Clique>(devices, count);
  for (int i = 0; i < count; ++i) {
    comms[i] = new ncclComm;
    comms[i]->clique = clique;
    comms[i]->rank = i;
  }
  cudaSetDevice(devices[count - 1]);  // callers may not count on the one that they had
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  HOST_GPU_COUNT_CALL();
  if (!comm) return ncclInvalidArgument;
  if (comm->processes) return comm->processes->Abort(), ncclSuccess;
  std::lock_guard<std::mutex> lock(comm->clique->mutex);
  comm->clique->aborted = true;
  comm->clique->changed.notify_all();
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (!comm || !error) return ncclInvalidArgument;
  *error = host_gpu::Refuses("NCCL", "async") ? ncclSystemError : comm->processes ? comm->processes->State() : ncclSuccess;
  return ncclSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  HOST_GPU_ENTER();
  if (device < 0 || device >= host_gpu::DeviceTotal()) return host_gpu::Fail(cudaErrorInvalidDevice);
  const char *shared = std::getenv("HOST_GPU_SHARED"), *rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  std::snprintf(text, static_cast<size_t>(size), "%04x:%02x:00.0", rank && !shared ? std::atoi(rank) : 0, device);
  return cudaSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  HOST_GPU_COUNT_CALL();
  const std::string name = host_gpu::Processes::NewName();
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, name.c_str(), name.size());
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  HOST_GPU_COUNT_CALL();
  if (host_gpu::Refuses("NCCL", "init")) return host_gpu::t_why = "as HOST_GPU_NCCL_REFUSE asks", ncclSystemError;
  if (size < 1 || size > host_gpu::Processes::kMost || rank < 0 || rank >= size || config == nullptr || config->blocking != 0)
    return host_gpu::Refuse(ncclInvalidArgument, "ncclCommInitRankConfig", "a rank that does not exist, or a call that waits");
  *comm = new ncclComm;
  (*comm)->processes = host_gpu::Processes::Join(id.internal, rank, size, host_gpu::CurrentDevice());
  if (!(*comm)->processes) return host_gpu::t_why = "no shared memory", ncclSystemError;
  return ncclInProgress;
}

ncclResult_t ncclGroupStart() {
  HOST_GPU_COUNT_CALL();
  if (host_gpu::t_depth++ == 0) ++host_gpu::g_groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  HOST_GPU_COUNT_CALL();
  if (host_gpu::t_depth == 0) return host_gpu::Refuse(ncclInvalidUsage, "ncclGroupEnd", "no group was begun");
  if (host_gpu::t_depth > 1) return --host_gpu::t_depth, ncclSuccess;
  const ncclResult_t result = host_gpu::Flush();
  host_gpu::t_depth = 0;
  --host_gpu::g_groups;
  return result;
}

ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  HOST_GPU_COUNT_CALL();
  if (op != ncclSum) return host_gpu::Refuse(ncclInvalidArgument, "ncclReduce", "the stand-in makes sums only");
  return Queue(comm, stream, {"ncclReduce", 0, in, out, count, type, root});
}
ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  HOST_GPU_COUNT_CALL();
  return Queue(comm, stream, {"ncclBroadcast", 0, in, out, count, type, root});
}
ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  HOST_GPU_COUNT_CALL();
  if (op != ncclSum) return host_gpu::Refuse(ncclInvalidArgument, "ncclAllReduce", "the stand-in makes sums only");
  return Queue(comm, stream, {"ncclAllReduce", 0, in, out, count, type, 0});
}

}  // extern "C"
