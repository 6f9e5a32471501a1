#include "ndarray/stored.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/mix.h"
#include "base/round_up.h"
#include "base/threads/fork_guard.h"
#include "mxnet/engine.h"
#include "ndarray/outside.h"
#include "ndarray/run.h"

namespace mxnet {
namespace {

ForkMutex* const g_stored = new ForkMutex(ForkLevel::kNDArray);

/* Address space; on the boundary of a huge page where one fits in. */
void* Reserve(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), length = RoundUp(bytes, page), spare = bytes >= kHugePage ? kHugePage : 0;
  void* raw = mmap(nullptr, length + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  if (spare == 0) return raw;
  char* begin = static_cast<char*>(raw);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + length, spare - before);
  madvise(begin + before, length, MADV_HUGEPAGE);
  return begin + before;
}

void Unmap(void* memory, size_t bytes) { munmap(memory, RoundUp(bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)))); }

constexpr size_t kLeastGivenBack = 1 << 14;  // bytes

/*
 * Small contents lie side by side: a model of integers has a thousand scales and zero points, and
 * each would take a page of the pool. A block goes when the last array in it does.
 */
constexpr size_t kBlock = 1 << 18;

struct Pieces {
  std::shared_ptr<char> block;
  size_t used = 0;
};
Pieces* const g_pieces = new Pieces();  // guarded by g_stored

std::shared_ptr<char> TakePiece(size_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t room = RoundUp(bytes, kAlignment);
  std::lock_guard<ForkMutex> lock(*g_stored);
  if (!g_pieces->block || room > kBlock - g_pieces->used) {
    void* memory = std::aligned_alloc(kAlignment, kBlock);
    if (memory == nullptr) throw std::bad_alloc();
    *g_pieces = {std::shared_ptr<char>(static_cast<char*>(memory), std::free), 0};
  }
  std::shared_ptr<char> piece(g_pieces->block, g_pieces->block.get() + g_pieces->used);
  g_pieces->used += room;
  if (g_pieces->used == kBlock) g_pieces->block.reset();
  return piece;
}

/* Numbers that lie far apart: what is mixed into them, versions and sizes, must not make one
 * another. */
uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return Mix(0, ++last) >> 2;  // the first two bits have other meanings (outside.cc)
}

/* Of its own, for whoever writes the array does not write its contents. */
class CopiedContents final : public StoredContents {
 public:
  CopiedContents(const void* bytes, size_t size) : bytes_(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + size) {}
  void Read(void* to) const override { std::memcpy(to, bytes_.data(), bytes_.size()); }

 private:
  const std::vector<char> bytes_;
};

}  // namespace

StoredContents::StoredContents() : id_(NextId()) {}

NDArray StoredArray(const Shape& shape, int dtype, std::shared_ptr<StoredContents> contents) {
  TBlob blob;
  blob.shape = shape;
  blob.dtype = dtype;
  const size_t bytes = blob.Bytes();
  if (bytes < kLeastGivenBack) {
    const std::shared_ptr<char> piece = TakePiece(bytes);
    contents->Read(piece.get());
    blob.dptr = piece.get();
    NDArray array(blob, [piece] {});
    contents->filled_ = true;
    contents->version_ = array.version();
    array.chunk()->stored = std::move(contents);
    return array;
  }
  void* const memory = blob.dptr = Reserve(bytes);
  NDArray array(blob, [memory, bytes] { Unmap(memory, bytes); });
  contents->version_ = array.version();
  array.chunk()->stored = std::move(contents);
  array.chunk()->delayed = true;
  return array;
}

NDArray ConstantArray(const Shape& shape, int dtype, const void* bytes) {
  const size_t size = TensorType(shape, dtype).Bytes();
  if (size > 0 && size <= kSmallConstant) return StoredArray(shape, dtype, std::make_shared<CopiedContents>(bytes, size));
  NDArray array(shape, Context::CPU(), dtype);
  if (size > 0) array.CopyBytesFrom(bytes, size);
  return array;
}

uint64_t StoredIn(const NDArray& array) {
  const StoredContents* stored = array.chunk()->stored.get();
  return stored && array.byte_offset() == 0 && array.version() == stored->version_ ? stored->id_ : 0;
}

uint64_t ContentsNumber(const NDArray& array) {
  Chunk* const chunk = array.chunk();
  uint64_t number = StoredIn(array);
  if (number == 0) {
    number = chunk->number.load(std::memory_order_relaxed);
    if (number == 0) {
      const uint64_t fresh = NextId();
      if (chunk->number.compare_exchange_strong(number, fresh, std::memory_order_relaxed)) number = fresh;
    }
    if (WrittenOutside(*chunk)) return 0;
    number = Mix(Mix(number, array.version()), array.byte_offset());
  }
  for (int64_t d : array.shape()) number = Mix(number, static_cast<uint64_t>(d));
  return Mix(number, static_cast<uint64_t>(array.dtype())) | 1;
}

void SetHasForms(const NDArray& array) {
  if (StoredIn(array) != 0) array.chunk()->stored->SetHasForms();
}

bool HasForms(const NDArray& array) { return StoredIn(array) != 0 && array.chunk()->stored->has_forms(); }

bool IsFilled(const NDArray& array) {
  std::lock_guard<ForkMutex> lock(*g_stored);
  return array.chunk()->stored && array.chunk()->stored->filled_;
}

void FillStored(Chunk* chunk) {
  if (!chunk->is_delayed()) return;
  std::lock_guard<ForkMutex> lock(*g_stored);
  StoredContents& stored = *chunk->stored;
  if (!stored.filled_) stored.Read(chunk->handle.dptr);
  stored.filled_ = true;
  __atomic_store_n(&chunk->delayed, false, __ATOMIC_RELEASE);
}

std::function<void(size_t, void*, size_t)> PartsOfStored(const NDArray& array, bool transposed) {
  const Chunk* const chunk = array.chunk();
  if (!chunk->is_delayed() || (transposed && !CoversChunk(array))) return {};
  std::lock_guard<ForkMutex> lock(*g_stored);
  const StoredContents* const read = transposed ? chunk->stored->Transposed() : chunk->stored.get();
  if (chunk->stored->filled_ || !read || !read->HasParts()) return {};
  return [stored = chunk->stored, read, begin = array.byte_offset()](size_t offset, void* to, size_t size) {
    read->ReadPart(begin + offset, to, size);
  };
}

bool HoldStored(Chunk* chunk) {
  std::lock_guard<ForkMutex> lock(*g_stored);
  if (!chunk->is_delayed()) return false;
  StoredContents& stored = *chunk->stored;
  if (!stored.filled_) stored.Read(chunk->handle.dptr);
  stored.filled_ = true;
  ++stored.holders_;
  return true;
}

void ReleaseStored(Chunk* chunk) {
  std::lock_guard<ForkMutex> lock(*g_stored);
  StoredContents& stored = *chunk->stored;
  if (--stored.holders_ > 0 || !chunk->is_delayed()) return;
  stored.filled_ = false;
  madvise(chunk->handle.dptr, chunk->bytes, MADV_DONTNEED);
}

}  // namespace mxnet
