/* Stores that sum arrays under keys: a part of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_KVSTORE_H_
#define MXNET_C_API_KVSTORE_H_

#include "mxnet/c_api.h"

/* Stores that sum arrays of several devices under keys. Types are those of mx.kv.create. Names with
 * Ex take texts as keys, the others numbers. A key may come several times in a call, once for each
 * device. Larger priorities go first. */

/* A new store. An unknown type is an error. */
MXNET_C_DLL int MXKVStoreCreate(const char* type, KVStoreHandle* out);

/* Options as texts: type and threshold. Call it before the first value. */
MXNET_C_DLL int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char** keys, const char** vals);

/* Gives a store back; of one between processes, tells the others. */
MXNET_C_DLL int MXKVStoreFree(KVStoreHandle handle);

/* First values of keys. A key that has one is an error. */
MXNET_C_DLL int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals);

/* Sums the arrays of each key, and stores the sum or gives it to the updater. Does not wait. */
MXNET_C_DLL int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority);

/* Rows `row_ids[i]` of the value of keys[i] into the row_sparse array vals[i]. */
MXNET_C_DLL int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals,
                                       const NDArrayHandle* row_ids, int priority);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals,
                                         const NDArrayHandle* row_ids, int priority);

/* MXKVStorePull; `ignore_sparse` leaves sparse arrays as they are, as MXKVStorePull does. */
MXNET_C_DLL int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority,
                                        bool ignore_sparse);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority,
                                          bool ignore_sparse);

/* Writes the values of keys to arrays. Does not wait; reading the arrays does. */
MXNET_C_DLL int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority);

/* Keys `vkeys` get the first process' `vals`, which are written to `outs` of the keys `okeys`. */
MXNET_C_DLL int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum, const int* okeys,
                                   NDArrayHandle* vals, NDArrayHandle* outs, int priority);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum, const char** okeys,
                                     NDArrayHandle* vals, NDArrayHandle* outs, int priority);

/* Pushes `vals`, and pulls into `outs`, in one step. */
MXNET_C_DLL int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum, const int* okeys, NDArrayHandle* vals,
                                  NDArrayHandle* outs, int priority);

/* The same with texts as keys. */
MXNET_C_DLL int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum, const char** okeys,
                                    NDArrayHandle* vals, NDArrayHandle* outs, int priority);

/* What is called for each key with the sum and the stored array, instead of storing the sum. The
 * arrays are the callback's to free. */

/* For keys that are numbers. `updater_handle` is given to each call. */
MXNET_C_DLL int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void* updater_handle);

/* For keys of both kinds; either callback may be null where its kind is not used. */
MXNET_C_DLL int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater, MXKVStoreStrUpdater str_updater,
                                      void* updater_handle);

/* Type of a store, the number of this process, and how many there are. */

/* The text lives as long as the store. */
MXNET_C_DLL int MXKVStoreGetType(KVStoreHandle handle, const char** type);

/* From 0; 0 in one process. */
MXNET_C_DLL int MXKVStoreGetRank(KVStoreHandle handle, int* ret);

/* 1 in one process. */
MXNET_C_DLL int MXKVStoreGetGroupSize(KVStoreHandle handle, int* ret);

/* The role of this process, from the environment. */

/* 1 for a worker, also in one process. */
MXNET_C_DLL int MXKVStoreIsWorkerNode(int* ret);

/* 1 for a server. */
MXNET_C_DLL int MXKVStoreIsServerNode(int* ret);

/* 1 for the scheduler. */
MXNET_C_DLL int MXKVStoreIsSchedulerNode(int* ret);

/* Waits until all workers are here; sends a command to the servers; counts processes that were not
 * heard of for `timeout_sec` seconds. */

/* Waits; nothing in one process. */
MXNET_C_DLL int MXKVStoreBarrier(KVStoreHandle handle);

/* `cmd_id` and text go to the servers' controller. Waits until each has handled it. */
MXNET_C_DLL int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char* cmd_body);

/* Counts among the processes that `node_id` stands for; 0 in one process. */
MXNET_C_DLL int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int* number, const int timeout_sec DEFAULT(60));

#endif /* MXNET_C_API_KVSTORE_H_ */
