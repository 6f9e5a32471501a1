/* Memory of the process's storage whose last use may still be under way on a device. On the CPU,
 * with nothing under way, these are Alloc and Free. */
#ifndef MXNET_STORAGE_DEVICE_MEMORY_H_
#define MXNET_STORAGE_DEVICE_MEMORY_H_

#include <vector>

#include "engine/gpu_work.h"
#include "mxnet/run_context.h"
#include "mxnet/storage.h"

namespace mxnet {
namespace storage {

/* The block may be in use by `work`: the caller makes the first writer wait for it
 * (engine::BeginBehind). */
StorageHandle AllocBehind(size_t bytes, Context ctx, std::vector<engine::DeviceWorkPtr>* work);
/* For an operation that runs: a block that its stream may write at once. */
StorageHandle AllocOnStream(size_t bytes, const RunContext& run);
/* Given back behind what an operation that runs has put on its stream so far. */
void FreeOnStream(const StorageHandle& handle, const RunContext& run);
/* Given back behind what is under way on the variable that is being deleted
 * (engine::WorkOfDeletion). */
void FreeWithVariable(const StorageHandle& handle);
/* Waits on the host for what is under way on the variable that is being deleted; for memory that
 * others own. */
void FinishDeletion();
/* Waits on the host for all that is under way on the device, faults left to others; for what
 * belongs to no variable. Nothing to do on the CPU. */
void FinishDevice(Context ctx);
/* Who keeps pinned memory that it can do without: asked, without a lock, before a request of such
 * memory is refused, and when all that is spare is wanted. One function, for good. */
void SetSpareHolder(void (*give_back)());
/* Who keeps blocks of the CPU's memory for the calling thread: asked before statistics are told and
 * when all that is spare is wanted. One function, for good. */
void SetThreadSpares(void (*give_back)());
/* Asks both, for memory of `ctx`. */
void GiveBackSpare(Context ctx);

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_DEVICE_MEMORY_H_
