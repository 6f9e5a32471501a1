/*
 * Memory of devices as a part of their interface (base/device/device_interface.h). The host's own
 * memory is always there and needs none; a part for pinned memory takes precedence over it.
 */
#ifndef MXNET_STORAGE_BACKEND_REGISTRY_H_
#define MXNET_STORAGE_BACKEND_REGISTRY_H_

#include <memory>

#include "base/device/device_interface.h"
#include "mxnet/storage.h"

namespace mxnet {
namespace storage {

struct MemoryHooks {
  /* Throws Error when the device does not exist. May return null for pinned memory: then plain
   * memory serves. */
  std::shared_ptr<StorageBackend> (*make)(int dev_id);
};
/* The host's memory, one object for all contexts that live in it. */
std::shared_ptr<StorageBackend> HostBackend();

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_BACKEND_REGISTRY_H_
