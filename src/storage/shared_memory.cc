#include "storage/shared_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/round_up.h"

namespace mxnet {
namespace storage {
namespace {

constexpr uint64_t kMagic = 0x3130746e65676573;  // "segent01"
constexpr size_t kHeaderBytes = 4096;            // keeps the data page-aligned
constexpr size_t kPage = 4096;
constexpr int64_t kSweepEveryNs = 1000000000;
constexpr int kMostAncestors = 64;

using Process = SharedMemory::Process;

/*
 * The first page of a segment. `references` counts what still needs the name: the creator's
 * mappings in the upper half, messages announced by Share() and not yet opened in the lower. Who
 * brings it to zero removes the name; it never leaves zero.
 */
struct SegmentHeader {
  std::atomic<uint64_t> magic;  // written last
  uint64_t bytes;
  Process creator;
  Process owner;  // the nearest ancestor of the creator that uses this library, else the creator
  std::atomic<uint64_t> references;
};
constexpr uint64_t kCreatorReference = uint64_t{1} << 32;
constexpr uint64_t kMessageMask = kCreatorReference - 1;
static_assert(std::atomic<uint64_t>::is_always_lock_free, "counts are shared between processes");

int64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

// What /proc tells of a process. False when there is none; a zombie is none.
bool ReadProcess(int32_t pid, uint64_t* start, int32_t* parent) {
  *start = 0;
  *parent = 0;
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return !(kill(pid, 0) != 0 && errno == ESRCH);  // without /proc, and for processes that hide from us
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* at = strrchr(text, ')');  // the program's name may hold spaces and brackets
  if (at == nullptr || at[1] == '\0') return true;
  at += 2;
  if (*at == 'Z' || *at == 'X') return false;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = strchr(at, ' ');
    if (at == nullptr) break;
    ++at;
    if (field == 3) *parent = static_cast<int32_t>(strtol(at, nullptr, 10));
  }
  if (at != nullptr) *start = strtoull(at, nullptr, 10);
  return true;
}

bool ReadStart(int32_t pid, uint64_t* start) {
  int32_t parent = 0;
  return ReadProcess(pid, start, &parent);
}

// "dev inode" of the file that this code was loaded from, as /proc/<pid>/maps writes it; "" when it
// cannot be told.
std::string LibraryFile(int32_t pid, const std::string& wanted) {
  FILE* maps = fopen(("/proc/" + std::to_string(pid) + "/maps").c_str(), "re");
  if (maps == nullptr) return "";
  const auto here = reinterpret_cast<uintptr_t>(&LibraryFile);
  std::string found;
  char line[4400];
  while (found.empty() && fgets(line, sizeof line, maps) != nullptr) {
    uintptr_t begin = 0, end = 0;
    char file[64];
    int inode_at = 0, inode_end = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %n%*s %*s%n", &begin, &end, &inode_at, &inode_end) < 2) continue;
    const int length = inode_end - inode_at;
    if (inode_at == 0 || length <= 0 || length >= static_cast<int>(sizeof file)) continue;
    const std::string name(line + inode_at, length);
    if (wanted.empty() ? begin <= here && here < end : name == wanted) found = name;
  }
  fclose(maps);
  return found;
}

/*
 * Who receives what this process sends: whoever started it, by fork or by running the program anew,
 * and uses this library too. Others in between (a fork server, a shell) are passed over.
 */
Process FindOwner(const Process& self) {
  const std::string library = LibraryFile(self.pid, "");
  uint64_t start = 0;
  int32_t pid = self.pid, parent = 0;
  for (int i = 0; i < kMostAncestors && !library.empty(); ++i) {
    if (!ReadProcess(pid, &start, &parent) || parent <= 1) break;
    pid = parent;
    if (!LibraryFile(pid, library).empty()) {
      Process owner;
      owner.pid = pid;
      ReadStart(pid, &owner.start);
      return owner;
    }
  }
  return self;
}

bool Same(const Process& a, const Process& b) { return a.pid == b.pid && a.start == b.start; }

bool Alive(const Process& process) {
  uint64_t start = 0;
  if (!ReadStart(process.pid, &start)) return false;
  return start == 0 || process.start == 0 || start == process.start;
}

Process Identify(int32_t pid) {
  Process process;
  process.pid = pid;
  ReadStart(pid, &process.start);
  return process;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

SegmentHeader* HeaderOf(const StorageHandle& handle) {
  return reinterpret_cast<SegmentHeader*>(static_cast<char*>(handle.dptr) - kHeaderBytes);
}

void Unlink(int pid, int id) { shm_unlink(("/" + SharedMemory::Name(pid, id)).c_str()); }

bool MayRemove(const SegmentHeader& header, const Process* exiting) {
  const bool awaited = (header.references.load() & kMessageMask) > 0;
  if (exiting != nullptr) {
    if (Same(header.owner, *exiting)) return true;  // nobody is left to open it
    if (Same(header.creator, *exiting)) return !awaited;
  }
  if (Alive(header.creator)) return false;
  return !awaited || Same(header.owner, header.creator) || !Alive(header.owner);
}

// `exiting`: this process, when it is ending.
int SweepNames(const Process* exiting) {
  DIR* dir = opendir("/dev/shm");
  if (dir == nullptr) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(dir)) {
    int pid = 0, id = 0, length = 0;
    if (sscanf(entry->d_name, "mxnet-%d-%d%n", &pid, &id, &length) != 2 || entry->d_name[length] != '\0') continue;
    if (exiting == nullptr && pid == getpid()) continue;
    const std::string name = std::string("/") + entry->d_name;
    const Descriptor fd(shm_open(name.c_str(), O_RDONLY | O_CLOEXEC, 0));
    struct stat info;
    if (fd.get() < 0 || fstat(fd.get(), &info) != 0 || info.st_uid != geteuid()) continue;
    bool remove = false;
    if (static_cast<size_t>(info.st_size) < kHeaderBytes) {
      Process creator;  // it died before it gave the segment its size
      creator.pid = pid;
      remove = !Alive(creator);
    } else {
      void* base = mmap(nullptr, kHeaderBytes, PROT_READ, MAP_SHARED, fd.get(), 0);
      if (base == MAP_FAILED) continue;
      const auto* header = static_cast<const SegmentHeader*>(base);
      if (header->magic.load(std::memory_order_acquire) == kMagic) {
        remove = MayRemove(*header, exiting);
      } else {
        Process creator;
        creator.pid = pid;
        remove = !Alive(creator);
      }
      munmap(base, kHeaderBytes);
    }
    if (remove && shm_unlink(name.c_str()) == 0) ++removed;
  }
  closedir(dir);
  return removed;
}

// At normal exit a process removes what it and those that it started left, whatever became of them.
struct ExitSweep {
  ~ExitSweep() {
    const Process self = Identify(getpid());
    SweepNames(&self);
  }
} exit_sweep;

}  // namespace

SharedMemory::SharedMemory() { AddForkGuarded(this, ForkLevel::kStorage); }

SharedMemory::~SharedMemory() { RemoveForkGuarded(this); }

std::string SharedMemory::Name(int pid, int id) { return "mxnet-" + std::to_string(pid) + "-" + std::to_string(id); }

int SharedMemory::Sweep() { return SweepNames(nullptr); }

void SharedMemory::SweepIfOlder(int64_t age) {
  const int64_t now = NowNs();
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (swept_at_ >= 0 && now - swept_at_ < age) return;
    swept_at_ = now;
  }
  Sweep();
}

void SharedMemory::Count(size_t rounded) {
  std::lock_guard<std::mutex> guard(mutex_);
  ++stats_.misses;
  stats_.used_bytes += rounded;
  stats_.peak_used_bytes = std::max(stats_.peak_used_bytes, stats_.used_bytes);
  stats_.peak_bytes = stats_.peak_used_bytes;
}

StorageHandle SharedMemory::Alloc(size_t bytes, Context ctx) {
  static std::atomic<int> next_id{0};
  MXNET_CHECK_KIND(bytes < size_t{1} << 62, OutOfMemory)
      << "[storage] out of memory on " << ctx.str() << ": " << bytes << " bytes requested; accepted: what /dev/shm can hold";
  SweepIfOlder(INT64_MAX);  // once: those that receive go on
  StorageHandle handle;
  handle.size = bytes;
  handle.rounded = RoundUp(bytes, kPage);
  handle.ctx = ctx;
  handle.shared_pid = getpid();
  int raw = -1;
  do {  // a number is taken only when a dead process of the same pid left its segment
    handle.shared_id = next_id.fetch_add(1, std::memory_order_relaxed) & 0x7fffffff;
    raw = shm_open(("/" + Name(handle.shared_pid, handle.shared_id)).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (raw < 0 && errno == EEXIST);
  const Descriptor fd(raw);
  MXNET_CHECK_KIND(raw >= 0, IO) << "[storage] cannot create shared memory: " << strerror(errno)
                                 << "; accepted: a writable /dev/shm and free file descriptors";
  const size_t total = handle.rounded + kHeaderBytes;
  // Reserves the pages now: a full /dev/shm is an error here and would be SIGBUS at the first
  // touch.
  int error = posix_fallocate(raw, 0, static_cast<off_t>(total));
  if (error == ENOSPC && Sweep() > 0) error = posix_fallocate(raw, 0, static_cast<off_t>(total));
  void* base = error == 0 ? mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, raw, 0) : MAP_FAILED;
  if (base == MAP_FAILED) {
    if (error == 0) error = errno;
    Unlink(handle.shared_pid, handle.shared_id);
    MXNET_THROW(OutOfMemory) << "[storage] out of memory on " << ctx.str() << ": " << bytes << " bytes requested, " << Stats().used_bytes
                             << " used by this process (" << strerror(error) << "); accepted: a smaller request, or a larger /dev/shm";
  }
  auto* header = new (base) SegmentHeader;
  header->bytes = bytes;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (self_.pid != handle.shared_pid) {  // at first use, also the first one after a fork
      self_ = Identify(handle.shared_pid);
      owner_ = FindOwner(self_);
    }
    header->creator = self_;
    header->owner = owner_;
  }
  header->references.store(kCreatorReference);
  header->magic.store(kMagic, std::memory_order_release);
  handle.dptr = static_cast<char*>(base) + kHeaderBytes;
  Count(handle.rounded);
  return handle;
}

StorageHandle SharedMemory::Open(int pid, int id, size_t bytes) {
  if (bytes == 0) {
    StorageHandle empty;
    empty.ctx = Context::CPUShared(0);
    return empty;
  }
  SweepIfOlder(kSweepEveryNs);
  const std::string name = Name(pid, id);
  const Descriptor fd(pid > 0 && id >= 0 ? shm_open(("/" + name).c_str(), O_RDWR | O_CLOEXEC, 0) : -1);
  struct stat info;
  MXNET_CHECK_KIND(fd.get() >= 0 && fstat(fd.get(), &info) == 0, Value)
      << "[storage] no shared memory segment " << name << "; accepted: process and number of a cpu_shared array that is "
      << "alive, or was announced with Share and not opened yet";
  const size_t file_bytes = static_cast<size_t>(info.st_size);
  MXNET_CHECK_KIND(file_bytes > kHeaderBytes && bytes <= file_bytes - kHeaderBytes, Value)
      << "[storage] shared memory segment " << name << " has " << (file_bytes > kHeaderBytes ? file_bytes - kHeaderBytes : 0) << " bytes, "
      << bytes << " were asked for; accepted: at most its size";
  void* base = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  MXNET_CHECK_KIND(base != MAP_FAILED, OutOfMemory)
      << "[storage] cannot map shared memory segment " << name << " of " << file_bytes << " bytes: " << strerror(errno);
  auto* header = static_cast<SegmentHeader*>(base);
  if (header->magic.load(std::memory_order_acquire) != kMagic || bytes > header->bytes) {
    munmap(base, file_bytes);
    MXNET_THROW(Value) << "[storage] shared memory segment " << name << " is not one of " << bytes
                       << " bytes; accepted: a segment made by this library, and at most its size";
  }
  uint64_t references = header->references.load(), left = 0;
  do {
    left = references;
    if (getpid() == pid) left += kCreatorReference;  // our Free below counts for the creator
    if ((references & kMessageMask) > 0) --left;
  } while (references != 0 && !header->references.compare_exchange_weak(references, left));
  if (references != 0 && left == 0) Unlink(pid, id);

  StorageHandle handle;
  handle.size = bytes;
  handle.rounded = file_bytes - kHeaderBytes;
  handle.ctx = Context::CPUShared(0);
  handle.shared_pid = pid;
  handle.shared_id = id;
  handle.dptr = static_cast<char*>(base) + kHeaderBytes;
  Count(handle.rounded);
  return handle;
}

bool SharedMemory::Share(const StorageHandle& handle) {
  if (handle.dptr == nullptr) return true;  // nothing to keep
  MXNET_CHECK_KIND(handle.shared_pid > 0, Value)
      << "[storage] Share of a block on " << handle.ctx.str() << "; accepted: a cpu_shared block";
  std::atomic<uint64_t>& count = HeaderOf(handle)->references;
  uint64_t references = count.load();
  do {
    if (references == 0 || (references & kMessageMask) == kMessageMask) return false;
  } while (!count.compare_exchange_weak(references, references + 1));
  return true;
}

void SharedMemory::Free(const StorageHandle& handle) {
  SegmentHeader* header = HeaderOf(handle);
  // A fork of the creator frees its inherited mapping only.
  if (handle.shared_pid == getpid()) {
    if (header->references.fetch_sub(kCreatorReference) == kCreatorReference) Unlink(handle.shared_pid, handle.shared_id);
  }
  munmap(header, handle.rounded + kHeaderBytes);
  std::lock_guard<std::mutex> guard(mutex_);
  stats_.used_bytes -= handle.rounded;
}

StorageStats SharedMemory::Stats() {
  std::lock_guard<std::mutex> guard(mutex_);
  return stats_;
}

void SharedMemory::ResetPeak() {
  std::lock_guard<std::mutex> guard(mutex_);
  stats_.peak_bytes = stats_.peak_used_bytes = stats_.used_bytes;
}

}  // namespace storage
}  // namespace mxnet
