/*
 * Backends of device memory that a build links (files ending in _cuda.cc), registered before main.
 * The host's own memory is always there and needs no entry; an entry for pinned memory takes
 * precedence over it.
 */
#ifndef MXNET_STORAGE_BACKEND_REGISTRY_H_
#define MXNET_STORAGE_BACKEND_REGISTRY_H_

#include <memory>

#include "mxnet/storage.h"

namespace mxnet {
namespace storage {

/* Throws Error when the device does not exist. May return null for pinned memory: then plain memory
 * serves. */
using BackendFactory = std::shared_ptr<StorageBackend> (*)(int dev_id);

/* Returns true, for use in a static initialiser. */
bool RegisterBackend(DeviceType type, BackendFactory factory);
/* Null when the build has none. */
BackendFactory FindBackend(DeviceType type);
/* The host's memory, one object for all contexts that live in it. */
std::shared_ptr<StorageBackend> HostBackend();

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_BACKEND_REGISTRY_H_
