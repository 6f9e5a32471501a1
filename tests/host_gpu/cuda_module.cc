/* Modules and launches of the CUDA runtime: a module is a shared library that nvrtc.cc made. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unordered_set>

#include "device.h"

namespace host_gpu {
namespace {

struct Entry {  // as nvrtc.cc writes it
  const char* name;
  int count;
  const size_t* sizes;
  int (*run)(void* const*, const unsigned*, const unsigned*, char*);
};

}  // namespace
}  // namespace host_gpu

struct CUlib_st {
  std::mutex mutex;  // one kernel of a module at a time: what a block shares is one set of variables
  std::map<std::string, CUkern_st*> kernels;
};
struct CUkern_st {
  CUlib_st* library;
  const host_gpu::Entry* entry;
  int dynamic = 48 * 1024;  // most bytes of dynamic shared memory
};

namespace host_gpu {
namespace {

std::mutex& g_kernels_mutex = *new std::mutex;
std::unordered_set<const void*>& g_kernels = *new std::unordered_set<const void*>;

// Where the shared library begins: "PTX" has a few lines of text in front.
const char* Image(const char* code) {
  if (std::memcmp(code, ".version", 8) != 0) return code;
  const char* elf = std::strstr(code, ELFMAG);
  return elf ? elf : code;
}

// Its length, from its own header: the last part is the table of sections.
size_t ImageBytes(const char* code) {
  Elf64_Ehdr header;
  std::memcpy(&header, code, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

bool Fits(dim3 grid, dim3 block) {
  return grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= 2147483647u && grid.y <= 65535 && grid.z <= 65535 && block.x >= 1 &&
         block.y >= 1 && block.z >= 1 && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
         uint64_t{block.x} * block.y * block.z <= 1024;
}

/* A module's file, which stays until the process ends: dlopen takes a file of the same name or
 * inode for one that it has loaded. */
std::string NewFile() {
  struct Folder {
    std::string path;
    int count = 0;
    pid_t owner = getpid();
  };
  static Folder* const folder = [] {
    char made[] = "/tmp/host_gpu_modules_XXXXXX";
    static Folder* f = new Folder;
    f->path = mkdtemp(made) ? made : "/tmp";
    std::atexit([] {
      if (getpid() != f->owner) return;
      for (int i = 0; i < f->count; ++i) unlink((f->path + "/" + std::to_string(i)).c_str());
      rmdir(f->path.c_str());
    });
    return f;
  }();
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  return folder->path + "/" + std::to_string(folder->count++);
}

CUkern_st* KernelOf(const void* function) {
  std::lock_guard<std::mutex> lock(g_kernels_mutex);
  return g_kernels.count(function) ? static_cast<CUkern_st*>(const_cast<void*>(function)) : nullptr;
}

}  // namespace
}  // namespace host_gpu

using host_gpu::Complain;
using host_gpu::Fail;

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned, cudaLibraryOption*, void**,
                                unsigned) {
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaLibraryLoadData");
  const char* image = host_gpu::Image(static_cast<const char*>(code));
  const size_t bytes = host_gpu::ImageBytes(image);
  if (bytes == 0) return Fail(cudaErrorInvalidKernelImage);
  const std::string path = host_gpu::NewFile();
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  const bool written = file >= 0 && write(file, image, bytes) == static_cast<ssize_t>(bytes);
  if (file >= 0) close(file);
  void* handle = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!written) return Fail(cudaErrorOperatingSystem);
  const auto* entries = handle ? static_cast<const host_gpu::Entry*>(dlsym(handle, "emu_kernels")) : nullptr;
  const int* count = handle ? static_cast<const int*>(dlsym(handle, "emu_kernel_count")) : nullptr;
  if (!entries || !count) return Fail(cudaErrorInvalidKernelImage);
  auto* made = new CUlib_st;
  std::lock_guard<std::mutex> lock(host_gpu::g_kernels_mutex);
  for (int i = 0; i < *count; ++i) {
    auto* kernel = new CUkern_st{made, &entries[i]};
    made->kernels[entries[i].name] = kernel;
    host_gpu::g_kernels.insert(kernel);
  }
  *library = made;
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {  // what runs still runs: code stays mapped
  HOST_GPU_ENTER();
  host_gpu::CheckNoLaunch("cudaLibraryUnload");
  std::lock_guard<std::mutex> lock(host_gpu::g_kernels_mutex);
  for (const auto& k : library->kernels) host_gpu::g_kernels.erase(k.second);
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  HOST_GPU_ENTER();
  const auto found = library->kernels.find(name);
  if (found == library->kernels.end()) return Fail(cudaErrorSymbolNotFound);
  *kernel = found->second;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  HOST_GPU_ENTER();
  CUkern_st* kernel = host_gpu::KernelOf(function);
  if (!kernel) return Fail(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > 227 * 1024) return Fail(cudaErrorInvalidValue);
    kernel->dynamic = value;
  }
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream) {
  HOST_GPU_ENTER();
  CUkern_st* kernel = host_gpu::KernelOf(function);
  if (!kernel) return Fail(cudaErrorInvalidDeviceFunction);
  const auto s = host_gpu::Find(stream);
  if (!s) return Fail(cudaErrorInvalidResourceHandle);
  if (stream == nullptr) Complain(kernel->entry->name, "on the legacy default stream, which nothing of ours waits for");
  if (s->device != host_gpu::CurrentDevice()) {
    Complain("cudaLaunchKernel", "the stream is not one of the current device");
    return Fail(cudaErrorInvalidResourceHandle);
  }
  if (!host_gpu::Fits(grid, block) || shared > static_cast<size_t>(kernel->dynamic)) {
    Complain(kernel->entry->name, "grid, block or dynamic shared memory beyond the device's limits");
    return Fail(cudaErrorInvalidConfiguration);
  }
  if (host_gpu::NullMode() && !host_gpu::Capturing(*s)) return cudaSuccess;
  // arguments are read before the call returns
  const host_gpu::Entry* entry = kernel->entry;
  auto values = std::make_shared<std::vector<std::vector<char>>>();
  for (int i = 0; i < entry->count; ++i)
    values->emplace_back(static_cast<const char*>(args[i]), static_cast<const char*>(args[i]) + entry->sizes[i]);
  return host_gpu::Submit(stream, entry->name, [kernel, entry, values, grid, block, shared] {
    std::vector<void*> pointers;
    std::vector<std::vector<char>> copy = *values;  // a kernel may change its arguments
    for (auto& v : copy) pointers.push_back(v.data());
    std::vector<char> dynamic(shared + 16);
    const unsigned g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    for (size_t i = 0; i < copy.size(); ++i)
      for (size_t at = 0; at + 8 <= copy[i].size() && at < 64; at += 8) {
        void* value;
        std::memcpy(&value, copy[i].data() + at, 8);
        host_gpu::Trace("with", entry->name, value);
      }
    static const char* const faulty = std::getenv("HOST_GPU_FAULT");
    if (faulty && *faulty && std::strstr(entry->name, faulty)) host_gpu::Break();
    if (host_gpu::Usable() != cudaSuccess) return;
    std::lock_guard<std::mutex> lock(kernel->library->mutex);
    if (entry->run(pointers.data(), g, b, dynamic.data()) != 0) Complain(entry->name, "threads of a block wait at different barriers");
  });
}

}  // extern "C"
