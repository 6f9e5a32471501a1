/* Parts of sparse arrays, for this folder and for kernels. */
#ifndef MXNET_NDARRAY_SPARSE_COPY_H_
#define MXNET_NDARRAY_SPARSE_COPY_H_

#include <functional>
#include <memory>

#include "mxnet/ndarray.h"
#include "mxnet/run_context.h"

namespace mxnet {

/* Empty parts. Throws Error for shapes that the storage does not have. */
std::unique_ptr<SparseParts> NewParts(const TensorType& type, const Context& ctx);
/* Parts for the time of a kernel, of the same storage, shape and dtype, that store nothing yet. */
class TempParts {
 public:
  explicit TempParts(const SparseParts& like) : TempParts(like, like.ctx) {}
  TempParts(const SparseParts& like, const Context& ctx) : parts_(NewParts(TensorType(like.shape, like.values.dtype, like.storage), ctx)) {
    parts_->Resize(0);
  }
  ~TempParts() { parts_->Free(); }
  TempParts(const TempParts&) = delete;
  TempParts& operator=(const TempParts&) = delete;
  SparseParts* get() const { return parts_.get(); }
  SparseParts* operator->() const { return parts_.get(); }

 private:
  std::unique_ptr<SparseParts> parts_;
};
/* Waits for an array on the CPU and calls `look`, while nobody changes it. */
void WhileUnchanged(const NDArray& array, const std::function<void()>& look, const char* name);
/* Waits for the array and shows its parts to `look`, on the CPU and while nobody changes them:
 * other threads may write again as soon as a wait is over. */
void LookAtParts(const NDArray& array, const std::function<void(const SparseParts&)>& look, const char* name);
/* All that `from` stores; dtypes are converted on the host. In an engine operation; waits for
 * `stream`, which is needed where a GPU takes part: before, because memory that work of others may
 * still read can be given back here, and behind. */
void CopyParts(const SparseParts& from, SparseParts* to, void* stream);
/*
 * SparseParts::Resize for an operation that runs on a GPU: memory that its stream may write at
 * once, and what was there is given back behind what the operation has put on the stream so far.
 * Index pointers of csr arrays are the caller's to fill, also of none.
 */
void ResizeOnStream(SparseParts* parts, int64_t count, const RunContext& run);
/* `part` gets other memory of the operation's stream. */
void ReplaceOnStream(SparsePart* part, const StorageHandle& memory, const RunContext& run);
/* Bytes between any two devices. In an engine operation. */
void CopyBetween(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream);
/* Zeros. */
void FillBytes(void* dst, Context ctx, size_t bytes);
/* How arrays of different storage are copied (dst = src): the operator cast_storage, which is above
 * this module. One function, for good. */
bool SetStorageCast(void (*cast)(const NDArray& src, const NDArray& dst));

}  // namespace mxnet
#endif  // MXNET_NDARRAY_SPARSE_COPY_H_
