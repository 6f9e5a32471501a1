/*
 * Pooled memory for every kind of device memory.
 *
 * A pool (Naive, Round, Unpooled; one per context, chosen by MXNET_{CPU,CPU_PINNED,GPU}_MEM_POOL_*)
 * rounds a request, serves it from its cache of freed blocks of that rounded size, or asks the
 * Backend for new memory. If that would eat into the reserve, or the backend fails, the pool
 * releases its cache and tries once more; then it throws Error(kOutOfMemory) with requested, used,
 * cached and total bytes.
 *
 * THREADS    Everything may be called from any thread.
 * OWNERSHIP  A Handle is a plain value; exactly one Free per Alloc. Alloc(0) returns dptr ==
 *            nullptr, Free of it is a no-op.
 * ALIGNMENT  CPU blocks are aligned to 64 bytes (page-aligned from 2 MiB), GPU blocks to 256.
 * FORK       A child may use and free what it inherited; shared blocks stay with the process that
 *            created them. GPU and CUDA-pinned pools are closed in the child: Alloc throws, Free
 *            does nothing.
 * SHARED     A cpu_shared block is a POSIX shared memory object found by (shared_pid, shared_id).
 *            Its name is needed only until the last reader has opened it, and is removed then: when
 *            its creator has freed it and no message announced by Share() is waiting. Mappings
 *            outlive the name. Messages are for whoever started the sending process (by fork or
 *            spawn) and uses this library too; when that process ends, what was sent to it and not
 *            opened is removed. What crashes leave behind is removed by the next process that opens
 *            a segment or creates its first, and by processes that go on opening some, once a
 *            second.
 */
#ifndef MXNET_STORAGE_H_
#define MXNET_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mxnet/base.h"

namespace mxnet {

struct StorageHandle {
  void* dptr = nullptr;
  size_t size = 0;     // bytes asked for
  size_t rounded = 0;  // bytes taken from the pool
  Context ctx;
  int shared_pid = -1;  // cpu_shared: who created the segment, and its number there
  int shared_id = -1;
  void* stream = nullptr;  // GPU: the stream whose order makes early reuse safe
};

struct StorageStats {
  uint64_t used_bytes = 0;    // rounded bytes handed out
  uint64_t cached_bytes = 0;  // kept in the pool
  uint64_t peak_bytes = 0;    // largest used + cached since start or ResetPeak
  uint64_t peak_used_bytes = 0;
  uint64_t hits = 0;      // requests served from the cache
  uint64_t misses = 0;    // requests that went to the backend
  uint64_t releases = 0;  // times the whole cache was given back
};

/* Raw memory of one context. Tests put a failing or counting one in its place. */
class StorageBackend {
 public:
  virtual ~StorageBackend() = default;
  /* Returns null when there is no memory; never throws. */
  virtual void* Malloc(size_t bytes, size_t alignment) = 0;
  virtual void Free(void* ptr, size_t bytes) = 0;
  /* Total 0: not known, there is no reserve to keep. */
  virtual void MemInfo(size_t* free_bytes, size_t* total_bytes) = 0;
  /* False: memory and handles are of no use in a forked child. */
  virtual bool SurvivesFork() const { return true; }
};

enum class PoolType : int { kNaive = 0, kRound = 1, kUnpooled = 2 };

/* What the environment says about one pool; plain numbers so that tests can make their own. */
struct PoolOptions {
  PoolType type = PoolType::kNaive;
  int reserve_percent = 5;
  size_t page_size = 4096;
  size_t large_alloc_round_size = 2097152;
  int round_linear_cutoff = 24;
  /*
   * The documented rounding, to the byte; 0 stays 0, and SIZE_MAX stands for a result that does not
   * fit. Naive: multiple of page_size; results above large_alloc_round_size become multiples of it.
   * Round: power of two up to 2^round_linear_cutoff, multiple of 2^round_linear_cutoff above.
   * Unpooled: unchanged.
   */
  size_t Round(size_t bytes) const;
};

class MXNET_DLL Storage {
 public:
  /* The process's storage. Never destroyed before the engine is. */
  static Storage* Get();
  virtual ~Storage() = default;

  /* Throws Error(kOutOfMemory), and Error(kValue) for a context that this build or machine does not
   * have. */
  virtual StorageHandle Alloc(size_t bytes, Context ctx) = 0;
  virtual void Free(const StorageHandle& handle) = 0;
  /* Bypasses the cache: gives the block back to the backend. */
  virtual void DirectFree(const StorageHandle& handle) = 0;
  /*
   * Announces one message that carries (shared_pid, shared_id) to another process: the segment can
   * be opened even when its creator frees it first. Each OpenShared takes one announcement. Returns
   * false when the name is gone already: copy into a new cpu_shared block and share that one.
   * REQUIRES: handle.ctx is cpu_shared.
   */
  virtual bool Share(const StorageHandle& handle) = 0;
  /*
   * Maps the segment that another process created with Alloc(bytes, cpu_shared); Free unmaps it.
   * Throws Error(kValue) when there is no such segment or it is smaller than `bytes`. 0 bytes: an
   * empty handle, as from Alloc(0).
   */
  virtual StorageHandle OpenShared(int shared_pid, int shared_id, size_t bytes) = 0;
  /* Gives cached blocks of `ctx` back to the system. */
  virtual void ReleaseAll(Context ctx) = 0;
  virtual StorageStats Stats(Context ctx) = 0;
  virtual void ResetPeak(Context ctx) = 0;
  virtual const char* PoolName(Context ctx) = 0;
};

/* A storage of one's own with given pool and backend for every context, for tests. */
std::unique_ptr<Storage> CreateStorage(const PoolOptions& options, std::shared_ptr<StorageBackend> backend);

}  // namespace mxnet
#endif  // MXNET_STORAGE_H_
