/*
 * NDArray: a tensor whose contents are computed asynchronously.
 *
 * An NDArray is a view (shape, dtype, byte offset) of a Chunk. A Chunk owns memory and the engine
 * variable that orders access to it; views of one chunk share both, so writing through one is seen
 * through the other. Arrays are always contiguous and row-major. Copying an NDArray copies the
 * view, never the data.
 *
 * THREADS    Different NDArray objects may be used from different threads even when they share a
 *            chunk. One NDArray object is not to be modified by two threads at once.
 * LIFETIME   The memory is given back after the last view is gone and everything pushed on the
 *            variable is done.
 * FAILURE    A failed write leaves the error in the variable; WaitToRead and SyncCopyToCPU rethrow
 *            it.
 */
#ifndef MXNET_NDARRAY_H_
#define MXNET_NDARRAY_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node_entry.h"
#include "mxnet/storage.h"

namespace mxnet {

class Var;  // engine.h

/* One of the arrays that a sparse array is made of. Its memory may be larger than what it holds. */
struct SparsePart {
  StorageHandle memory;
  Shape shape;  // of what it holds
  int dtype = kInt64;
  int64_t Size() const { return shape.Size(); }
  size_t Bytes() const { return static_cast<size_t>(Size()) * DTypeSize(dtype); }
  template <typename T>
  T* data() const {
    return static_cast<T*>(memory.dptr);
  }
};

/*
 * What a sparse array stores: values and up to two index arrays.
 *
 *   row_sparse  `index[kRows]` has the numbers of the n stored rows, ascending, each once; `values`
 *               has shape (n, shape[1:]).
 *   csr         `index[kIndptr]` has shape[0] + 1 numbers that begin with 0 and do not fall; the
 *               elements of row r are numbers indptr[r] to indptr[r + 1] - 1 of `values` and of
 *               `index[kColumns]`, which are ascending in each row.
 *
 * INVARIANT: they belong to one chunk and are read and written under its variable: only inside an
 * engine operation, or after a wait. Index parts are int64 in memory, whatever dtype they are shown
 * as. What a caller or a file put in is looked at before a kernel sees it (Settle).
 */
struct MXNET_DLL SparseParts {
  static constexpr int kRows = 0, kIndptr = 0, kColumns = 1;
  StorageType storage = StorageType::kRowSparse;
  Context ctx;
  Shape shape;  // of the whole array
  SparsePart values, index[2];
  int shown_as[2] = {kInt64, kInt64};  // dtypes of the index parts for callers and files
  /* What is known of the parts; kernels of this library make ascending ones. */
  enum State : int { kAscending = 0, kInBounds = 1, kUnknown = 2 };
  std::atomic<int> state{kAscending};

  int num_index() const { return storage == StorageType::kCSR ? 2 : 1; }
  /* Rows of a row_sparse array, elements of a csr array. */
  int64_t stored() const { return values.shape[0]; }
  /*
   * Room for so many, with shapes set; memory that suffices stays, and so does what is in it; else
   * all parts but the index pointers lose what they held. Of a csr array the index pointers are
   * the caller's to fill (Resize(0) fills them with 0).
   */
  void Resize(int64_t count);
  /* The same; the first `keep` rows or elements are kept where they must move. CPU only. */
  void Grow(int64_t count, int64_t keep);
  /* Exchanges what they hold. REQUIRES: the same storage, shape and device. */
  void Swap(SparseParts* from);
  /*
   * Throws Error(kValue) with part and position where parts that a caller filled would lead outside
   * of arrays, and remembers what it found. Any thread that may read the parts may call it. CPU
   * only.
   */
  void Settle();
  /* Throws Error(kValue) when the elements of a csr row are not in ascending order, each once, as
   * callers may leave them; `op` is who needs that. REQUIRES: Settle was called. */
  void NeedAscending(const char* op) const;
  size_t Bytes() const;     // of what is held
  size_t Capacity() const;  // of the memory
  void Free();
};

class StoredContents;

/*
 * Memory and its variable. INVARIANT: `var` is valid for the chunk's whole life; `handle.dptr` is
 * null only while allocation is delayed or for zero bytes; `sparse` is there if `stype` says so,
 * and then it has all memory. The layout never depends on build options.
 */
struct Chunk {
  std::atomic<int> refs{1};
  bool delayed = false;
  StorageType stype = StorageType::kDense;
  Var* var = nullptr;
  Context ctx;
  size_t bytes = 0;  // to allocate when delayed
  StorageHandle handle;
  std::unique_ptr<std::function<void()>> external_deleter;  // set: the memory belongs to somebody else (DLPack, user buffers)
  std::unique_ptr<SparseParts> sparse;
  std::shared_ptr<StoredContents> stored;  // while delayed: what its memory is to hold (src/ndarray/stored.h)
  std::atomic<uint64_t> number{0};         // no other chunk has it; 0: nobody has asked yet (ContentsNumber)

  bool is_delayed() const { return __builtin_expect(__atomic_load_n(&delayed, __ATOMIC_ACQUIRE), 0); }
  void Allocate();  // serves a delayed allocation; no-op otherwise
  void AddRef() { refs.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }
  void Destroy();  // gives memory and variable back once nothing pushed uses them

 private:
  void FreeMemory();
};

/* What NDArray::data() gives: a TBlob whose address is read with its type, as in 1.x. */
struct DenseBlob : TBlob {
  explicit DenseBlob(TBlob blob) : TBlob(std::move(blob)) {}
  template <typename T>
  T* dptr() const {
    return data<T>();
  }
};

class MXNET_DLL NDArray {
 public:
  NDArray() = default;  // none
  NDArray(const Shape& shape, Context ctx, int dtype = kFloat32, bool delay_alloc = false);
  /* Of any storage (kUndefined: dense). A sparse one has no rows or elements, and int64 indices.
   * Throws Error(kValue) for shapes that its storage does not have. */
  static NDArray Make(const TensorType& type, Context ctx, bool delay_alloc = false);
  /* Without elements, for ReshapeAndAlloc. */
  explicit NDArray(Context ctx, int dtype = kFloat32) : NDArray(Shape{0}, ctx, dtype) {}
  /* Wraps memory that `deleter` gives back once nothing uses it. */
  NDArray(const TBlob& blob, std::function<void()> deleter);
  /* Opens a cpu_shared segment made by another process. */
  static NDArray FromShared(int shared_pid, int shared_id, const Shape& shape, int dtype);
  NDArray(const NDArray& o);
  NDArray(NDArray&& o) noexcept;
  NDArray& operator=(const NDArray& o);
  NDArray& operator=(NDArray&& o) noexcept;
  ~NDArray();

  bool is_none() const { return chunk_ == nullptr; }
  const Shape& shape() const { return shape_; }
  int dtype() const { return dtype_; }
  Context ctx() const { return chunk_->ctx; }
  StorageType storage_type() const { return chunk_ ? chunk_->stype : StorageType::kUndefined; }
  /* All unknown for none. */
  TensorType type() const { return chunk_ ? TensorType(shape_, dtype_, chunk_->stype) : TensorType(); }
  Var* var() const { return chunk_->var; }
  size_t byte_offset() const { return byte_offset_; }
  Chunk* chunk() const { return chunk_; }
  /* Is its memory still to be allocated? Any thread may ask. */
  bool delayed() const { return chunk_->is_delayed(); }
  bool is_sparse() const { return chunk_ && chunk_->sparse; }
  /* Null for dense ones. */
  SparseParts* sparse() const { return chunk_->sparse.get(); }
  /* Serves a delayed allocation. The pointer is only meaningful inside an engine operation or after
   * a wait. Throws Error(kGeneric) for a sparse array, which has no such memory. */
  DenseBlob data() const;
  /* The same for arrays of any storage. */
  TBlob blob() const;
  uint64_t version() const;

  void WaitToRead() const;
  void WaitToWrite() const;
  /* Blocking copies; `bytes` must equal the array's. Throws Error(kValue). */
  void CopyBytesFrom(const void* src, size_t bytes);
  void CopyBytesTo(void* dst, size_t bytes) const;
  /* The same by the number of elements, as in 1.x. */
  void SyncCopyFromCPU(const void* src, size_t size) { CopyBytesFrom(src, size * DTypeSize(dtype_)); }
  void SyncCopyToCPU(void* dst, size_t size) const { CopyBytesTo(dst, size * DTypeSize(dtype_)); }
  /* A fresh array with the same contents (asynchronous). */
  NDArray Copy(Context ctx) const;

  /* Views. Throw Error(kIndex)/Error(kValue) when out of range or of another size. */
  NDArray Slice(int64_t begin, int64_t end) const;  // rows [begin, end) of dimension 0
  NDArray At(int64_t index) const;                  // dimension 0 dropped
  NDArray Reshape(const Shape& shape) const;        // same number of elements
  /* The bytes from `offset` on, read as they are: any part of the array's, of any dtype. The
   * address must be a multiple of the dtype's size. */
  NDArray Window(size_t offset, const Shape& shape, int dtype) const;
  /* Resolves the codes 0, -1, -2, -3, -4 (`reverse`: from the right). */
  static Shape InferReshape(const Shape& from, const std::vector<int64_t>& codes, bool reverse);
  NDArray Detach() const;
  /* Gives this array another shape, and its chunk more memory where the shape needs it; then what
   * it held is lost. For operations whose results have a size that only they know: other views of
   * the chunk see it as well. REQUIRES: inside an operation that writes the variable, or nothing is
   * pushed that uses it. Throws Error(kValue) for sparse arrays, and where a view, or memory of
   * somebody else, would have to grow. */
  void ReshapeAndAlloc(const Shape& shape);
  /* Array whose rank was unknown at creation (outputs of value-dependent operators) gets its
   * memory. REQUIRES: is_none(). */
  void Init(const Shape& shape, Context ctx, int dtype);
  /* The same where the bytes of shape and dtype are known. */
  void Init(const Shape& shape, Context ctx, int dtype, size_t bytes);

  // Autograd and deferred compute: which graph entry computed this array. Owned by
  // src/imperative.
  NodeEntry autograd_entry;
  NodeEntry deferred_entry;

 private:
  Chunk* chunk_ = nullptr;
  size_t byte_offset_ = 0;
  int dtype_ = kFloat32;
  Shape shape_;
};

/* dst = src: across devices, dtypes and storages, ordered by the engine. Shapes must be equal. */
MXNET_DLL void CopyFromTo(const NDArray& src, const NDArray& dst, int priority = 0);
/* Converts `count` elements between any two dtypes, on the CPU. */
void ConvertElements(const void* src, int src_dtype, void* dst, int dst_dtype, int64_t count);

/*
 * Are the parts of a sparse array, whoever filled them, what SparseParts says? Throws Error(kValue)
 * with the part and the position of what is not. `full`: looks at all indices; else at shapes and
 * ends alone. Waits for the array.
 */
MXNET_DLL void CheckSparse(const NDArray& array, bool full);
/* A copy of the values (part -1) or of an index array, dense; waits for the array. */
MXNET_DLL NDArray CopyOfPart(const NDArray& array, int part);
/* Fills a part from a dense array of the same number of dimensions; the part gets its shape. The
 * other parts have to fit when the array is used. */
MXNET_DLL void SetPart(const NDArray& array, int part, const NDArray& from);

/*
 * Containers of named arrays. Saving writes a temporary file and renames it. Loading accepts
 * every version, checks all sizes against what is left of the input before it allocates, and throws
 * Error(kIO) with the byte offset of what is malformed.
 */
void SaveNDArrays(const std::string& path, const std::vector<NDArray>& arrays, const std::vector<std::string>& names);
void LoadNDArrays(const std::string& path, std::vector<NDArray>* arrays, std::vector<std::string>* names);
void LoadNDArrays(const void* buffer, size_t size, std::vector<NDArray>* arrays, std::vector<std::string>* names);
std::string SaveNDArrayRaw(const NDArray& array);
NDArray LoadNDArrayRaw(const void* buffer, size_t size);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_H_
