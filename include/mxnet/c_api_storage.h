/*
 * Statistics of memory pools through C; MXStorageEmptyCache and MXGetGPU* are in c_api.h. Devices
 * are numbered as in contexts: dev_type 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared. Failures: see
 * c_api_error.h.
 */
#ifndef MXNET_C_API_STORAGE_H_
#define MXNET_C_API_STORAGE_H_

#include <stdint.h>

#ifndef MXNET_DLL
#define MXNET_DLL __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One consistent reading of a context's pool: used_bytes, cached_bytes, peak_bytes (of used and
 * cached together), peak_used_bytes, hits, misses, releases, in this order.
 */
MXNET_DLL int MXStorageStats(int dev_type, int dev_id, uint64_t out[7]);
/*
 * What a context's pool may hold, used and cached together, before it gives cached blocks back by
 * itself, and the blocks and bytes that it has given back so: limit_bytes, given_back_blocks,
 * given_back_bytes, in this order. All 0 for cpu_shared, which caches nothing.
 */
MXNET_DLL int MXStorageBound(int dev_type, int dev_id, uint64_t out[3]);
/* The peaks start again at what is held now. */
MXNET_DLL int MXStorageResetPeak(int dev_type, int dev_id);
/* "Naive", "Round" or "Unpooled"; the text is static. */
MXNET_DLL int MXStoragePoolName(int dev_type, int dev_id, const char** out);

#ifdef __cplusplus
}
#endif
#endif /* MXNET_C_API_STORAGE_H_ */
