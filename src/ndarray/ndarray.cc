// NDArray: creation, views, copies, waiting.
#include "mxnet/ndarray.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/device/device_interface.h"
#include "base/threads/fork_guard.h"
#include "mxnet/engine.h"
#include "ndarray/pinned_ring.h"
#include "ndarray/run.h"
#include "ndarray/spare_chunks.h"
#include "ndarray/sparse_copy.h"
#include "ndarray/stored.h"
#include "storage/device_memory.h"

namespace mxnet {

void CopyBetween(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  if (bytes == 0) return;
  if (!dst_ctx.is_gpu() && !src_ctx.is_gpu()) {
    std::memcpy(dst, src, bytes);
    return;
  }
  MXNET_CHECK(GpuInterface().copies) << "[NDArray] copy between " << src_ctx << " and " << dst_ctx << " needs a build with CUDA";
  CopyWithDevice(dst, dst_ctx, src, src_ctx, bytes, stream);
}

void FillBytes(void* dst, Context ctx, size_t bytes) {
  if (bytes == 0) return;
  if (!ctx.is_gpu()) {
    std::memset(dst, 0, bytes);
    return;
  }
  const std::vector<char> zeros(bytes, 0);
  CopyBetween(dst, ctx, zeros.data(), Context::CPU(), bytes, nullptr);
}

namespace {

// Sizes that pointers cannot address are a caller's mistake, not a reason to wrap around.
size_t CheckedBytes(const Shape& shape, int dtype) {
  const size_t item = DTypeSize(dtype);
  int64_t bytes = static_cast<int64_t>(item);
  bool odd = !shape.ndim_known() || item == 0;
  const int64_t* d = shape.dims();
  for (int i = 0; i < shape.ndim(); ++i) odd |= (d[i] < 0) | __builtin_mul_overflow(bytes, d[i], &bytes);
  if (__builtin_expect(!odd, 1)) return static_cast<size_t>(bytes);
  MXNET_CHECK_KIND(shape.known(), Value) << "[NDArray] shape " << shape << " is not fully known; every dimension must be >= 0";
  MXNET_CHECK_KIND(item > 0, Type) << "[NDArray] dtype number " << dtype << " does not exist; accepted: 0 to " << kNumDTypes - 1;
  MXNET_CHECK_KIND(!__builtin_mul_overflow(shape.Size(), static_cast<int64_t>(item), &bytes), Value)
      << "[NDArray] shape " << shape << " needs more bytes than can be addressed";
  return static_cast<size_t>(bytes);
}

/* Is a copy between arrays of the CPU so small that the caller makes it where it can? */
bool CopiesAtOnce(size_t bytes) { return static_cast<double>(bytes) * kNsPerCopiedByte < kInlineNanoseconds; }

/* Where an operation reads or writes. The chunk lives until then: the engine deletes it behind the
 * operation. */
struct Place {
  Chunk* chunk;
  size_t offset;
  char* On(const RunContext& run) const {
    AllocateOn(chunk, run);
    return static_cast<char*>(chunk->handle.dptr) + offset;
  }
};

Chunk* NewChunk(const Shape& shape, int dtype, Context ctx) {
  const size_t bytes = CheckedBytes(shape, dtype);
  Chunk* chunk = new Chunk;  // not make_unique, which would clear it first
  chunk->ctx = ctx;
  chunk->bytes = bytes;
  return chunk;
}

// Memory and variable of a chunk that nobody knows yet. A GPU's memory may still be in use by work
// under way: then the first writer waits for that.
void AllocateNew(Chunk* chunk) {
  chunk->delayed = true;
  std::vector<engine::DeviceWorkPtr> before;
  chunk->handle = storage::AllocBehind(chunk->bytes, chunk->ctx, &before);
  chunk->delayed = false;
  chunk->var = Engine::Get()->NewVariable();
  if (__builtin_expect(!before.empty(), 0)) engine::BeginBehind(chunk->var, before);
}

ForkMutex* const g_allocating = new ForkMutex(ForkLevel::kNDArray);

// A plan's worker binding its outputs and a caller handing one of them to the next operator may
// both come first: without the lock each got memory of its own.
template <typename MakeHandle>
void Serve(Chunk* chunk, const MakeHandle& make) {
  if (!chunk->is_delayed()) return;
  std::lock_guard<ForkMutex> lock(*g_allocating);
  if (!chunk->delayed) return;
  chunk->handle = make();
  __atomic_store_n(&chunk->delayed, false, __ATOMIC_RELEASE);
}

/* A sparse array begins with no elements. */
StorageHandle BeginSparse(Chunk* chunk) {
  chunk->sparse->Resize(0);
  return StorageHandle();
}

void (*g_storage_cast)(const NDArray& src, const NDArray& dst) = nullptr;

/* dst = src where one of them is sparse. */
void CopySparse(const NDArray& src, const NDArray& dst, int priority) {
  if (src.storage_type() != dst.storage_type()) {
    if (src.dtype() != dst.dtype()) {  // the cast of storage keeps the dtype
      const NDArray converted = NDArray::Make(TensorType(src.shape(), dst.dtype(), src.storage_type()), src.ctx(), true);
      CopyFromTo(src, converted, priority);
      return CopyFromTo(converted, dst, priority);
    }
    if (src.ctx().execution() == dst.ctx().execution()) return g_storage_cast(src, dst);
    // The cast is done on one device. The sparse form travels.
    const bool first = !src.is_sparse();
    const StorageType form = first ? dst.storage_type() : src.storage_type();
    const NDArray between = NDArray::Make(TensorType(src.shape(), src.dtype(), form), first ? src.ctx() : dst.ctx(), true);
    CopyFromTo(src, between, priority);
    return CopyFromTo(between, dst, priority);
  }
  Chunk *const from = src.chunk(), *const to = dst.chunk();
  const bool gpu = from->ctx.is_gpu() || to->ctx.is_gpu();
  const Context where = gpu ? (to->ctx.is_gpu() ? to->ctx : from->ctx) : Context::CPU();
  const FnProperty prop = !gpu ? FnProperty::kNormal : to->ctx.is_gpu() ? FnProperty::kCopyToGPU : FnProperty::kCopyFromGPU;
  Engine::Get()->PushSync(
      [from, to](RunContext run) {
        from->Allocate();
        to->Allocate();
        CopyParts(*from->sparse, to->sparse.get(), run.stream);
      },
      where, {from->var}, {to->var}, prop, priority, "copyto");
}

}  // namespace

bool SetStorageCast(void (*cast)(const NDArray& src, const NDArray& dst)) {
  g_storage_cast = cast;
  return true;
}

MXNET_DLL void Chunk::Allocate() {
  if (stored) return FillStored(this);
  Serve(this, [this] { return sparse ? BeginSparse(this) : Storage::Get()->Alloc(bytes, ctx); });
}

void AllocateOn(Chunk* chunk, const RunContext& run) {
  if (chunk->stored) return FillStored(chunk);
  Serve(chunk, [&] {
    if (chunk->sparse) return BeginSparse(chunk);
    return chunk->ctx == run.ctx ? storage::AllocOnStream(chunk->bytes, run) : Storage::Get()->Alloc(chunk->bytes, chunk->ctx);
  });
}

MXNET_DLL void Chunk::FreeMemory() {
  if (external_deleter) {
    storage::FinishDeletion();
    (*external_deleter)();
  } else if (sparse) {
    sparse->Free();
  } else if (!delayed) {
    storage::FreeWithVariable(handle);
  }
}

MXNET_DLL void Chunk::Destroy() {
  if (KeepSpare(this)) return;
  // When the variable is idle, the common case for temporaries, the engine calls this at once.
  Engine::Get()->DeleteVariable(
      [this](RunContext) {
        FreeMemory();
        delete this;
      },
      ctx.execution(), var);
}

NDArray::NDArray(const Shape& shape, Context ctx, int dtype, bool delay_alloc) : dtype_(dtype), shape_(shape) {
  std::unique_ptr<Chunk> chunk(NewChunk(shape, dtype, ctx));
  chunk->delayed = true;
  if (!delay_alloc)
    AllocateNew(chunk.get());
  else
    chunk->var = Engine::Get()->NewVariable();
  chunk_ = chunk.release();
}

NDArray NDArray::Make(const TensorType& type, Context ctx, bool delay_alloc) {
  if (!IsSparse(type.storage)) return NDArray(type.shape, ctx, type.dtype, delay_alloc);
  NDArray out;
  std::unique_ptr<Chunk> chunk(new Chunk);
  chunk->ctx = ctx;
  chunk->sparse = NewParts(type, ctx);
  chunk->stype = type.storage;
  chunk->delayed = true;
  if (!delay_alloc) chunk->Allocate();
  chunk->var = Engine::Get()->NewVariable();
  out.chunk_ = chunk.release();
  out.dtype_ = type.dtype;
  out.shape_ = type.shape;
  return out;
}

NDArray::NDArray(const TBlob& blob, std::function<void()> deleter) : dtype_(blob.dtype), shape_(blob.shape) {
  std::unique_ptr<Chunk> chunk(NewChunk(blob.shape, blob.dtype, blob.ctx));
  chunk->handle.dptr = blob.dptr;
  chunk->handle.size = chunk->bytes;
  chunk->handle.ctx = blob.ctx;
  if (!deleter) deleter = [] {};
  chunk->external_deleter = std::make_unique<std::function<void()>>(std::move(deleter));
  chunk->var = Engine::Get()->NewVariable();
  chunk_ = chunk.release();
}

NDArray NDArray::FromShared(int shared_pid, int shared_id, const Shape& shape, int dtype) {
  NDArray out;
  out.shape_ = shape;
  out.dtype_ = dtype;
  std::unique_ptr<Chunk> chunk(NewChunk(shape, dtype, Context::CPUShared(0)));
  chunk->handle = Storage::Get()->OpenShared(shared_pid, shared_id, chunk->bytes);
  chunk->var = Engine::Get()->NewVariable();
  out.chunk_ = chunk.release();
  return out;
}

NDArray::NDArray(const NDArray& o)
    : autograd_entry(o.autograd_entry),
      deferred_entry(o.deferred_entry),
      chunk_(o.chunk_),
      byte_offset_(o.byte_offset_),
      dtype_(o.dtype_),
      shape_(o.shape_) {
  if (chunk_) chunk_->AddRef();
}

NDArray::NDArray(NDArray&& o) noexcept
    : autograd_entry(std::move(o.autograd_entry)),
      deferred_entry(std::move(o.deferred_entry)),
      chunk_(o.chunk_),
      byte_offset_(o.byte_offset_),
      dtype_(o.dtype_),
      shape_(std::move(o.shape_)) {
  o.chunk_ = nullptr;
}

NDArray& NDArray::operator=(const NDArray& o) {
  if (this != &o) *this = NDArray(o);
  return *this;
}

NDArray& NDArray::operator=(NDArray&& o) noexcept {
  if (this != &o) {
    if (chunk_) chunk_->Release();
    chunk_ = o.chunk_;
    o.chunk_ = nullptr;
    byte_offset_ = o.byte_offset_;
    dtype_ = o.dtype_;
    shape_ = std::move(o.shape_);
    autograd_entry = std::move(o.autograd_entry);
    deferred_entry = std::move(o.deferred_entry);
  }
  return *this;
}

NDArray::~NDArray() {
  if (!chunk_) return;
  if (chunk_->refs.load(std::memory_order_acquire) == 1)
    chunk_->Destroy();  // nobody else can count
  else
    chunk_->Release();
}

void NDArray::Init(const Shape& shape, Context ctx, int dtype) { Init(shape, ctx, dtype, CheckedBytes(shape, dtype)); }

void NDArray::Init(const Shape& shape, Context ctx, int dtype, size_t bytes) {
  chunk_ = TakeSpare(bytes, ctx);
  if (!chunk_) {
    std::unique_ptr<Chunk> chunk(NewChunk(shape, dtype, ctx));
    AllocateNew(chunk.get());
    chunk_ = chunk.release();
  }
  shape_ = shape;
  dtype_ = dtype;
  byte_offset_ = 0;
}

TBlob NDArray::blob() const {
  chunk_->Allocate();
  TBlob blob{nullptr, shape_, dtype_, chunk_->ctx};
  if (chunk_->sparse)
    blob.sparse = chunk_->sparse.get();
  else
    blob.dptr = static_cast<char*>(chunk_->handle.dptr) + byte_offset_;
  return blob;
}

DenseBlob NDArray::data() const {
  MXNET_CHECK_KIND(chunk_->stype == StorageType::kDense, Value)
      << "[NDArray] a " << StorageTypeName(chunk_->stype) << " array of shape " << shape_
      << " where values of a dense one are read; accepted: what tostype('default') gives";
  chunk_->Allocate();
  return DenseBlob(TBlob{static_cast<char*>(chunk_->handle.dptr) + byte_offset_, shape_, dtype_, chunk_->ctx});
}

uint64_t NDArray::version() const { return Engine::Get()->Version(chunk_->var); }

void NDArray::WaitToRead() const {
  if (chunk_) Engine::Get()->WaitForVar(chunk_->var);
}

void NDArray::WaitToWrite() const {
  if (chunk_) Engine::Get()->WaitForVar(chunk_->var, true);
}

void NDArray::CopyBytesFrom(const void* src, size_t bytes) {
  const TBlob dst = data();
  MXNET_CHECK_KIND(bytes == dst.Bytes(), Value) << "[NDArray] copy of " << bytes << " bytes into an array of shape " << shape_
                                                << " and dtype " << DTypeName(dtype_) << "; it holds " << dst.Bytes();
  if (bytes == 0) return;
  Var* v = var();
  // Through the engine, so that the version advances and readers are ordered behind the copy; then
  // wait, because `src` is the caller's.
  RunOrPush([dst, src, bytes](RunContext run) { CopyBetween(dst.dptr, dst.ctx, src, Context::CPU(), bytes, run.stream); },
            dst.ctx.execution(), Span<Var* const>(), Span<Var* const>(&v, 1), true,
            dst.ctx.is_gpu() ? FnProperty::kCopyToGPU : FnProperty::kNormal, 0, "SyncCopyFromCPU", CoversChunk(*this) ? 0 : 1);
  WaitToRead();
}

void NDArray::CopyBytesTo(void* dst, size_t bytes) const {
  WaitToRead();
  const TBlob src = data();
  MXNET_CHECK_KIND(bytes == src.Bytes(), Value) << "[NDArray] copy of " << bytes << " bytes out of an array of shape " << shape_
                                                << " and dtype " << DTypeName(dtype_) << "; it holds " << src.Bytes();
  if (bytes == 0) return;
  // Other threads may write again as soon as the wait is over: the copy is a reader of its own.
  Var* const v = var();
  if (!src.ctx.is_gpu() && Engine::Get()->TryAcquire(&v, 1, nullptr, 0)) {
    std::memcpy(dst, src.dptr, bytes);
    return Engine::Get()->Release(&v, 1, nullptr, 0);
  }
  struct Done {  // what the copy writes, for the engine: its failure stays there
    Var* const var = Engine::Get()->NewVariable();
    ~Done() { Engine::Get()->DeleteVariable({}, Context::CPU(), var); }
  } done;
  Engine::Get()->PushSync([src, dst, bytes](RunContext run) { CopyBetween(dst, Context::CPU(), src.dptr, src.ctx, bytes, run.stream); },
                          src.ctx.execution(), {v}, {done.var}, src.ctx.is_gpu() ? FnProperty::kCopyFromGPU : FnProperty::kNormal, 0,
                          "SyncCopyToCPU");
  Engine::Get()->WaitForVar(done.var);
}

NDArray NDArray::Copy(Context ctx) const {
  if (is_sparse()) {
    NDArray out = Make(type(), ctx, true);
    for (int i = 0; i < 2; ++i) out.sparse()->shown_as[i] = sparse()->shown_as[i];
    CopyFromTo(*this, out);
    return out;
  }
  const size_t bytes = CheckedBytes(shape_, dtype_);
  NDArray out(shape_, ctx, dtype_, !CopiesAtOnce(bytes) && bytes < kRefusable);
  CopyFromTo(*this, out);
  return out;
}

/* Views are of dense arrays alone. */
static void NeedDense(const NDArray& a, const char* op) {
  MXNET_CHECK_KIND(!a.is_sparse(), Value) << op << " a " << StorageTypeName(a.storage_type()) << " array of shape " << a.shape()
                                          << " has no views; accepted: dense arrays (tostype('default') makes one)";
}

void NDArray::ReshapeAndAlloc(const Shape& shape) {
  NeedDense(*this, "[reshape]");
  MXNET_CHECK_KIND(!is_none(), Value) << "[reshape] the array is empty (none)";
  const size_t bytes = CheckedBytes(shape, dtype_);
  if (chunk_->stored) chunk_->Allocate();
  if (byte_offset_ + bytes > chunk_->bytes) {
    MXNET_CHECK_KIND(byte_offset_ == 0 && !chunk_->external_deleter && chunk_->handle.shared_id < 0, Value)
        << "[reshape] shape " << shape_ << " to " << shape << " needs " << bytes << " bytes where " << chunk_->bytes - byte_offset_
        << " are; accepted: an array that has memory of its own and all of it";
    std::lock_guard<ForkMutex> lock(*g_allocating);
    if (!chunk_->delayed) {
      StorageHandle more = Storage::Get()->Alloc(bytes, chunk_->ctx);
      std::swap(chunk_->handle, more);
      Storage::Get()->Free(more);
    }
    chunk_->bytes = bytes;
  }
  shape_ = shape;
}

NDArray NDArray::Slice(int64_t begin, int64_t end) const {
  NeedDense(*this, "[slice]");
  MXNET_CHECK_KIND(!is_none() && shape_.ndim() > 0, Index) << "[slice] an array of shape " << shape_ << " has no rows";
  const int64_t n = shape_[0];
  MXNET_CHECK_KIND(0 <= begin && begin <= end && end <= n, Index)
      << "[slice] rows [" << begin << ", " << end << ") of an array of shape " << shape_ << "; accepted: 0 <= begin <= end <= " << n;
  NDArray out = Detach();
  out.shape_[0] = end - begin;
  out.byte_offset_ += static_cast<size_t>(begin * shape_.Prod(1, shape_.ndim())) * DTypeSize(dtype_);
  return out;
}

NDArray NDArray::At(int64_t index) const {
  MXNET_CHECK_KIND(!is_none() && shape_.ndim() > 0, Index) << "[at] an array of shape " << shape_ << " has no rows";
  MXNET_CHECK_KIND(0 <= index && index < shape_[0], Index)
      << "[at] index " << index << " of an array of shape " << shape_ << "; accepted: 0 to " << shape_[0] - 1;
  NDArray out = Slice(index, index + 1);
  out.shape_ = Shape(shape_.dims() + 1, shape_.ndim() - 1);
  return out;
}

NDArray NDArray::Reshape(const Shape& shape) const {
  NeedDense(*this, "[reshape]");
  MXNET_CHECK_KIND(!is_none(), Value) << "[reshape] the array is empty (none)";
  MXNET_CHECK_KIND(shape.known() && shape.Size() == shape_.Size(), Value)
      << "[reshape] shape " << shape_ << " to " << shape << "; the number of elements must stay " << shape_.Size();
  NDArray out = Detach();
  out.shape_ = shape;
  return out;
}

NDArray NDArray::Window(size_t offset, const Shape& shape, int dtype) const {
  MXNET_CHECK_KIND(!is_none(), Value) << "[view] the array is empty (none)";
  NeedDense(*this, "[view]");
  const size_t bytes = static_cast<size_t>(shape_.Size()) * DTypeSize(dtype_), wanted = CheckedBytes(shape, dtype);
  MXNET_CHECK_KIND(offset <= bytes && wanted <= bytes - offset, Value)
      << "[view] shape " << shape << " of " << DTypeName(dtype) << " from byte " << offset << " on, of an array of " << bytes << " bytes";
  MXNET_CHECK_KIND(wanted == 0 || ((byte_offset_ + offset) & (DTypeSize(dtype) - 1)) == 0, Value)  // sizes are powers of 2
      << "[view] an array that begins in the middle of an element of " << DTypeName(dtype) << "; accepted: a copy() of it";
  NDArray out;
  out.chunk_ = chunk_;
  chunk_->AddRef();
  out.byte_offset_ = byte_offset_ + offset;
  out.dtype_ = dtype;
  out.shape_ = shape;
  return out;
}

NDArray NDArray::Detach() const {
  NDArray out;
  out.chunk_ = chunk_;
  if (chunk_) chunk_->AddRef();
  out.byte_offset_ = byte_offset_;
  out.dtype_ = dtype_;
  out.shape_ = shape_;
  return out;
}

Shape NDArray::InferReshape(const Shape& from, const std::vector<int64_t>& codes_in, bool reverse) {
  std::vector<int64_t> src(from.begin(), from.end()), codes(codes_in), out;
  auto fail = [&](const std::string& why) {
    MXNET_THROW(Value) << "[reshape] shape " << from << " with codes " << Shape(codes_in) << (reverse ? " (reverse)" : "") << ": " << why;
  };
  if (reverse) {
    std::reverse(src.begin(), src.end());
    std::reverse(codes.begin(), codes.end());
    // the two sizes of a split follow their -4, also when read from the right
    for (size_t i = 0; i < codes.size(); ++i)
      if (codes[i] == -4 && i >= 2) {
        const int64_t second = codes[i - 2], first = codes[i - 1];
        codes[i - 2] = -4;
        codes[i - 1] = second;
        codes[i] = first;
      }
  }
  size_t at = 0;
  int infer = -1;
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t c = codes[i];
    if (c == 0) {
      if (at >= src.size()) fail("0 has no dimension left to copy");
      out.push_back(src[at++]);
    } else if (c == -1) {
      if (infer >= 0) fail("-1 may stand only once");
      infer = static_cast<int>(out.size());
      out.push_back(1);
      ++at;
    } else if (c == -2) {
      while (at < src.size()) out.push_back(src[at++]);
    } else if (c == -3) {
      if (at + 1 >= src.size()) fail("-3 needs two dimensions to merge");
      out.push_back(src[at] * src[at + 1]);
      at += 2;
    } else if (c == -4) {
      if (at >= src.size()) fail("-4 has no dimension left to split");
      if (i + 2 >= codes.size()) fail("-4 must be followed by two sizes");
      int64_t a = codes[i + 1], b = codes[i + 2];
      const int64_t d = src[at++];
      if (a == -1 && b == -1) fail("only one of the two sizes behind -4 may be -1");
      if (a == -1) a = b > 0 ? d / b : 0;
      if (b == -1) b = a > 0 ? d / a : 0;
      if (a <= 0 || b <= 0 || a * b != d) fail("the two sizes behind -4 must multiply to " + std::to_string(d));
      out.push_back(a);
      out.push_back(b);
      i += 2;
    } else if (c > 0) {
      out.push_back(c);
      ++at;
    } else {
      fail("accepted: sizes > 0 and the codes 0, -1, -2, -3, -4");
    }
  }
  const int64_t total = from.Size();
  int64_t known = 1;
  for (size_t i = 0; i < out.size(); ++i)
    if (static_cast<int>(i) != infer) known *= out[i];
  if (infer >= 0) {
    if (known == 0 ? total != 0 : total % known != 0)
      fail("-1 cannot be resolved: " + std::to_string(total) + " elements over " + std::to_string(known));
    out[infer] = known == 0 ? 0 : total / known;
  } else if (known != total) {
    fail("the result has " + std::to_string(known) + " elements; it must have " + std::to_string(total));
  }
  if (reverse) std::reverse(out.begin(), out.end());
  return Shape(out.data(), static_cast<int>(out.size()));
}

MXNET_DLL void CopyFromTo(const NDArray& src, const NDArray& dst, int priority) {
  MXNET_CHECK_KIND(!src.is_none() && !dst.is_none(), Value) << "[copyto] an empty (none) array has nothing to copy";
  if (src.var() == dst.var() && src.byte_offset() == dst.byte_offset() && src.dtype() == dst.dtype() && src.shape() == dst.shape()) return;
  MXNET_CHECK_KIND(src.shape() == dst.shape(), Value)
      << "[copyto] source has shape " << src.shape() << ", destination " << dst.shape() << "; they must be equal";
  if (src.is_sparse() || dst.is_sparse()) return CopySparse(src, dst, priority);
  const TBlob from = PendingBlob(src), to = PendingBlob(dst);
  const int64_t n = from.Size();
  if (n == 0) return;
  if (to.ctx.is_gpu() && !to.dptr) Storage::Get()->PoolName(to.ctx);  // throws when this build or machine has no such device
  Var* reads[1] = {src.var()};
  Var* writes[1] = {dst.var()};
  const int num_reads = reads[0] == writes[0] ? 0 : 1;
  const bool gpu = from.ctx.is_gpu() || to.ctx.is_gpu();
  MXNET_CHECK_KIND(!gpu || from.dtype == to.dtype, Type)
      << "[copyto] from " << DTypeName(from.dtype) << " to " << DTypeName(to.dtype) << " across devices; cast first";
  const Context where = gpu ? (to.ctx.is_gpu() ? to.ctx : from.ctx) : Context::CPU();
  const FnProperty prop = !gpu ? FnProperty::kNormal : to.ctx.is_gpu() ? FnProperty::kCopyToGPU : FnProperty::kCopyFromGPU;
  auto fn = [from, to, n, source = Place{src.chunk(), src.byte_offset()}, target = Place{dst.chunk(), dst.byte_offset()}](RunContext run) {
    const void* const read = source.On(run);
    void* const written = target.On(run);
    if (from.dtype == to.dtype) {
      if (from.ctx.is_gpu() || to.ctx.is_gpu())
        CopyBetween(written, to.ctx, read, from.ctx, from.Bytes(), run.stream);
      else
        std::memmove(written, read, from.Bytes());  // views of one chunk may overlap
    } else {
      ConvertElements(read, from.dtype, written, to.dtype, n);
    }
  };
  RunOrPush(fn, where, Span<Var* const>(reads, num_reads), Span<Var* const>(writes, 1), CopiesAtOnce(from.Bytes()), prop, priority,
            "copyto", num_reads == 0 || !CoversChunk(dst) ? 1 : 0);
}

}  // namespace mxnet
