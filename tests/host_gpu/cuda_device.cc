/* Devices, errors, memory and copies of the CUDA runtime. */
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "device.h"

namespace host_gpu {
namespace {

int Number(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoi(text) : fallback;
}

thread_local cudaError_t t_last = cudaSuccess;
thread_local int t_device = 0;
std::atomic<pid_t> g_owner{0};
std::atomic<bool> g_broken{false};

/* One arena for each device; blocks are multiples of 512 bytes. Invariant: `free` and `used`
 * together cover it, and no two free blocks meet. */
struct Arena {
  std::mutex mutex;
  char* base = nullptr;
  size_t bytes = 0, in_use = 0;
  std::map<char*, size_t> free, used;
};

Arena& ArenaOf(int device) {
  static std::vector<Arena>* const arenas = [] {
    auto* made = new std::vector<Arena>(static_cast<size_t>(DeviceTotal()));
    for (Arena& a : *made) {
      a.bytes = static_cast<size_t>(std::max(1, Number("HOST_GPU_MEMORY", 4096))) << 20;
      void* p = mmap(nullptr, a.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) std::abort();
      a.base = static_cast<char*>(p);
      a.free[a.base] = a.bytes;
    }
    return made;
  }();
  return (*arenas)[static_cast<size_t>(device)];
}

bool Guarded() {
  static const bool guarded = Number("HOST_GPU_GUARD", 0) != 0;
  return guarded;
}
std::mutex& g_touch_mutex = *new std::mutex;
int g_touching = 0;
void Protect(int access) {
  for (int d = 0; d < DeviceTotal(); ++d) mprotect(ArenaOf(d).base, ArenaOf(d).bytes, access);
}

std::mutex& g_pinned_mutex = *new std::mutex;
std::map<const char*, size_t>& g_pinned = *new std::map<const char*, size_t>;

template <typename Map>
bool Inside(const Map& blocks, const char* p, size_t bytes) {
  auto after = blocks.upper_bound(const_cast<char*>(p));
  if (after == blocks.begin()) return false;
  --after;
  return p + bytes <= after->first + after->second;
}

}  // namespace

int DeviceTotal() {
  static const int total = std::min(std::max(0, Number("HOST_GPU_DEVICES", 1)), 16);
  return total;
}
int CurrentDevice() { return t_device; }
cudaError_t Fail(cudaError_t status) {
  if (status != cudaSuccess) t_last = status;
  return status;
}
cudaError_t Usable() {
  pid_t nobody = 0;
  const pid_t self = getpid();
  if (!g_owner.compare_exchange_strong(nobody, self) && nobody != self) return Fail(cudaErrorInitializationError);
  if (g_broken.load(std::memory_order_acquire)) return Fail(cudaErrorIllegalAddress);
  return DeviceTotal() > 0 ? cudaSuccess : Fail(cudaErrorNoDevice);
}
void Break() { g_broken.store(true, std::memory_order_release); }

Touch::Touch() {
  if (!Guarded()) return;
  std::lock_guard<std::mutex> lock(g_touch_mutex);
  if (g_touching++ == 0) Protect(PROT_READ | PROT_WRITE);
}
Touch::~Touch() {
  if (!Guarded()) return;
  std::lock_guard<std::mutex> lock(g_touch_mutex);
  if (--g_touching == 0) Protect(PROT_NONE);
}

Place PlaceOf(const void* pointer, size_t bytes, int* device) {
  const char* p = static_cast<const char*>(pointer);
  for (int d = 0; d < DeviceTotal(); ++d) {
    Arena& a = ArenaOf(d);
    if (p < a.base || p >= a.base + a.bytes) continue;
    if (device) *device = d;
    std::lock_guard<std::mutex> lock(a.mutex);
    if (!Inside(a.used, p, bytes)) Complain("memory", "an access outside the allocations of a device");
    return Place::kDevice;
  }
  std::lock_guard<std::mutex> lock(g_pinned_mutex);
  return Inside(g_pinned, p, bytes) ? Place::kPinned : Place::kPageable;
}

bool OnDevice(const void* pointer, size_t bytes) {
  const char* p = static_cast<const char*>(pointer);
  for (int d = 0; d < DeviceTotal(); ++d) {
    Arena& a = ArenaOf(d);
    std::lock_guard<std::mutex> lock(a.mutex);
    if (Inside(a.used, p, bytes)) return true;
  }
  return false;
}

namespace {

cudaError_t Allocate(void** out, size_t bytes) {
  Arena& a = ArenaOf(t_device);
  const size_t size = (std::max<size_t>(bytes, 1) + 511) / 512 * 512;
  {
    std::lock_guard<std::mutex> lock(a.mutex);
    auto best = a.free.end();
    for (auto i = a.free.begin(); i != a.free.end(); ++i)
      if (i->second >= size && (best == a.free.end() || i->second < best->second)) best = i;
    if (best == a.free.end()) return cudaErrorMemoryAllocation;
    char* p = best->first;
    const size_t rest = best->second - size;
    a.free.erase(best);
    if (rest) a.free[p + size] = rest;
    a.used[p] = size;
    a.in_use += size;
    *out = p;
  }
  if (!NullMode()) {
    const Touch touch;
    std::memset(*out, 0xcb, size);  // nobody may count on zeros
  }
  return cudaSuccess;
}

cudaError_t Release(void* pointer) {
  char* p = static_cast<char*>(pointer);
  for (int d = 0; d < DeviceTotal(); ++d) {
    Arena& a = ArenaOf(d);
    if (p < a.base || p >= a.base + a.bytes) continue;
    Drain(d);  // as the real one waits for its device
    std::lock_guard<std::mutex> lock(a.mutex);
    const auto found = a.used.find(p);
    if (found == a.used.end()) break;
    size_t size = found->second;
    a.in_use -= size;
    a.used.erase(found);
    auto next = a.free.lower_bound(p);
    if (next != a.free.end() && p + size == next->first) {
      size += next->second;
      next = a.free.erase(next);
    }
    if (next != a.free.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == p) {
        before->second += size;
        return cudaSuccess;
      }
    }
    a.free[p] = size;
    return cudaSuccess;
  }
  Complain("cudaFree", "a pointer that cudaMalloc did not return, or one freed twice");
  return cudaErrorInvalidValue;
}

bool Fits(cudaMemcpyKind kind, Place dst, Place src) {
  const bool to = dst == Place::kDevice, from = src == Place::kDevice;
  switch (kind) {
    case cudaMemcpyHostToHost: return !to && !from;
    case cudaMemcpyHostToDevice: return to && !from;
    case cudaMemcpyDeviceToHost: return !to && from;
    case cudaMemcpyDeviceToDevice: return to && from;
    default: return kind == cudaMemcpyDefault;
  }
}

void Move(void* dst, const void* src, size_t bytes) {
  const Touch touch;
  Trace("from", "copy", src);
  Trace("to", "copy", dst);
  std::memmove(dst, src, bytes);
}

cudaError_t CopyOn(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  if (bytes == 0) return cudaSuccess;
  const Place to = PlaceOf(dst, bytes, nullptr), from = PlaceOf(src, bytes, nullptr);
  if (!Fits(kind, to, from)) {
    Complain("cudaMemcpy", "the kind of copy does not fit where the pointers are");
    return cudaErrorInvalidMemcpyDirection;
  }
  if (NullMode()) {
    if (to != Place::kDevice) std::memset(dst, 0, bytes);
    return cudaSuccess;
  }
  const std::shared_ptr<Stream> s = Find(stream);
  if (!s) return cudaErrorInvalidResourceHandle;
  const bool captured = Capturing(*s);
  if (!captured && from == Place::kPageable) {  // pageable memory is read before the call returns
    const auto copy = std::make_shared<std::vector<char>>(static_cast<const char*>(src), static_cast<const char*>(src) + bytes);
    const cudaError_t status = Submit(stream, "copy", [dst, copy, bytes] { Move(dst, copy->data(), bytes); });
    if (status != cudaSuccess) return status;
  } else {
    const cudaError_t status = Submit(stream, "copy", [dst, src, bytes] { Move(dst, src, bytes); });
    if (status != cudaSuccess) return status;
  }
  if (captured) return waits ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
  if (waits || to == Place::kPageable) s->Wait(s->Last());  // ... or written
  return cudaSuccess;
}

}  // namespace
}  // namespace host_gpu

using host_gpu::Fail;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t last = host_gpu::t_last;
  host_gpu::t_last = cudaSuccess;
  return last;
}
const char* cudaGetErrorString(cudaError_t status) {
  static thread_local std::string text;
  switch (status) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorInitializationError: return "initialization error";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: text = "host_gpu: CUDA error " + std::to_string(static_cast<int>(status)); return text.c_str();
  }
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  HOST_GPU_ENTER();
  *count = host_gpu::DeviceTotal();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  HOST_GPU_ENTER();
  *device = host_gpu::t_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  HOST_GPU_ENTER();
  if (device < 0 || device >= host_gpu::DeviceTotal()) return Fail(cudaErrorInvalidDevice);
  host_gpu::t_device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  HOST_GPU_ENTER();
  if (device < 0 || device >= host_gpu::DeviceTotal()) return Fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMultiProcessorCount: *value = host_gpu::kMultiprocessors; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
    default:
      host_gpu::Complain("cudaDeviceGetAttribute", "an attribute that the stand-in does not know");
      return Fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  HOST_GPU_ENTER();
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = host_gpu::DeviceTotal() > 0 ? CUDART_VERSION : 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  HOST_GPU_ENTER();
  if (device < 0 || peer < 0 || device >= host_gpu::DeviceTotal() || peer >= host_gpu::DeviceTotal()) return Fail(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  HOST_GPU_ENTER();
  const auto exists = [](int d) { return d >= 0 && d < host_gpu::DeviceTotal(); };
  if (!exists(device) || !exists(peer) || device == peer) return Fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrAccessSupported: *value = 1; return cudaSuccess;
    case cudaDevP2PAttrPerformanceRank: *value = device / 2 == peer / 2 ? 0 : 1; return cudaSuccess;  // pairs are closer
    default: return Fail(cudaErrorInvalidValue);
  }
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaDeviceEnablePeerAccess");
  static std::mutex mutex;
  static std::set<std::pair<int, int>> on;
  if (flags != 0 || peer == host_gpu::t_device || peer < 0 || peer >= host_gpu::DeviceTotal()) return Fail(cudaErrorInvalidDevice);
  std::lock_guard<std::mutex> lock(mutex);
  return on.insert({host_gpu::t_device, peer}).second ? cudaSuccess : Fail(cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceSynchronize() {
  HOST_GPU_ENTER();
  host_gpu::Drain(host_gpu::t_device);
  return host_gpu::Usable();
}

cudaError_t cudaMalloc(void** p, size_t bytes) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaMalloc");
  if (!p) return Fail(cudaErrorInvalidValue);
  *p = nullptr;
  return bytes == 0 ? cudaSuccess : Fail(host_gpu::Allocate(p, bytes));
}
cudaError_t cudaFree(void* p) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaFree");
  return p ? Fail(host_gpu::Release(p)) : cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  HOST_GPU_ENTER();
  host_gpu::Arena& a = host_gpu::ArenaOf(host_gpu::t_device);
  std::lock_guard<std::mutex> lock(a.mutex);
  *total = a.bytes;
  *free_bytes = a.bytes - a.in_use;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaHostAlloc");
  if (posix_memalign(p, 4096, std::max<size_t>(bytes, 1)) != 0) return Fail(cudaErrorMemoryAllocation);
  std::lock_guard<std::mutex> lock(host_gpu::g_pinned_mutex);
  host_gpu::g_pinned[static_cast<const char*>(*p)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaFreeHost");
  if (!p) return cudaSuccess;
  for (int d = 0; d < host_gpu::DeviceTotal(); ++d) host_gpu::Drain(d);
  {
    std::lock_guard<std::mutex> lock(host_gpu::g_pinned_mutex);
    if (host_gpu::g_pinned.erase(static_cast<const char*>(p)) == 0) {
      host_gpu::Complain("cudaFreeHost", "a pointer that cudaHostAlloc did not return");
      return Fail(cudaErrorInvalidValue);
    }
  }
  free(p);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  HOST_GPU_ENTER();
  *attributes = {};
  int device = 0;
  switch (host_gpu::PlaceOf(p, 1, &device)) {
    case host_gpu::Place::kDevice:
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = device;
      attributes->devicePointer = const_cast<void*>(p);
      break;
    case host_gpu::Place::kPinned:
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = attributes->devicePointer = const_cast<void*>(p);
      break;
    default:
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->hostPointer = const_cast<void*>(p);
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  HOST_GPU_ENTER();
  return Fail(host_gpu::CopyOn(dst, src, bytes, kind, stream, false));
}
cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  HOST_GPU_ENTER();
  return Fail(host_gpu::CopyOn(dst, src, bytes, kind, nullptr, true));
}
cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t bytes, cudaStream_t stream) {
  HOST_GPU_ENTER();
  int to = -1, from = -1;
  if (bytes && (host_gpu::PlaceOf(dst, bytes, &to) != host_gpu::Place::kDevice ||
                host_gpu::PlaceOf(src, bytes, &from) != host_gpu::Place::kDevice || to != dst_device || from != src_device)) {
    host_gpu::Complain("cudaMemcpyPeer", "memory that is not on the device named");
    return Fail(cudaErrorInvalidValue);
  }
  return Fail(host_gpu::CopyOn(dst, src, bytes, cudaMemcpyDeviceToDevice, stream, false));
}
cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t bytes) {
  const cudaError_t status = cudaMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, nullptr);
  if (status == cudaSuccess) host_gpu::Drain(host_gpu::t_device);
  return status;
}

}  // extern "C"
