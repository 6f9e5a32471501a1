/*
 * What a whole process or thread is told: a part of the C interface (c_api.h). Streams of other
 * libraries, NVIDIA's tools, switches of the graph compiler, and the roles of distributed stores.
 */
#ifndef MXNET_C_API_PROCESS_H_
#define MXNET_C_API_PROCESS_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `stream`, as DLPack numbers streams (1 and 2: default streams), waits for what is under way on
 * the array, which is on a GPU. 0: the host waits. */
MXNET_C_DLL int MXPushStreamDep(NDArrayHandle handle, int stream);
/* The stream that others are to order their work before, when they hand arrays on that GPU over:
 * the legacy default stream, 1. */
MXNET_C_DLL int MXGetCurrentStream(int device_id, int* stream);

/* NVTX ranges of this thread, which Nsight shows, and where tools begin and end to record when they
 * are told to wait for that. `color`: 0xRRGGBB. Errors in a build without CUDA. */

/* Begins a range on this thread. The name is copied. */
MXNET_C_DLL int MXNVTXRangePush(const char* name, mx_uint color);

/* Ends this thread's last range. */
MXNET_C_DLL int MXNVTXRangePop();

/* Tools begin to record. */
MXNET_C_DLL int MXCUDAProfilerStart();

/* Tools end to record. */
MXNET_C_DLL int MXCUDAProfilerStop();

/* Bits of what graphs that this thread makes are kept from. 1: mixed precision keeps the nodes made
 * meanwhile in float32. Unknown bits are an error. */

/* Sets the bits for this thread; `prev` gets those before. */
MXNET_C_DLL int MXSetOptimizationConstraints(unsigned int constraints, unsigned int* prev);

/* Hands the bits of this thread out. */
MXNET_C_DLL int MXGetOptimizationConstraints(unsigned int* curr);
/* Whether plans made from now on may lay images channels last (the pass `layout` of
 * docs/passes.md). On from the start. */

/* Sets it for the whole process. */
MXNET_C_DLL int MXSetOptimizeLayout(bool val);

/* Hands out whether they may. */
MXNET_C_DLL int MXGetOptimizeLayout(bool* val);

/* Loads a library of users' own operators, partitioners and passes, made with mxnet/lib_api.h, by
 * its path. `verbose`: what it has is printed. Loading one again does nothing. */
MXNET_C_DLL int MXLoadLib(const char* path, unsigned verbose);
/* Operators compiled by TVM are not read: always an error that says so. */

/* Always an error. */
MXNET_C_DLL int MXLoadTVMOp(const char* libpath);

/* Always an error. */
MXNET_C_DLL int MXLoadTVMConfig(ConfigSpaces config);

/* Sets variables of the process' environment (DMLC_ROLE and others that name the machines of a
 * store). Not while other threads read the environment. */
MXNET_C_DLL int MXInitPSEnv(uint32_t num_vars, const char** keys, const char** vals);
/* Whether the processes of a store wait for each other before it is freed; they do not unless this
 * is called. Of a store in one process nothing is to be waited for. */
MXNET_C_DLL int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit);
/* In a process whose role is server: serves until the store's workers have ended, and calls the
 * controller and the updater on this thread. Elsewhere it returns at once. */
MXNET_C_DLL int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller, void* controller_handle);
/* How many servers keep the store's values; 0 where the workers do. */
MXNET_C_DLL int MXKVStoreGetNumServers(KVStoreHandle handle, int* servers);
/* Whether several servers may each keep a part of a value that is initialised from now on (1 at
 * first). 0 is for optimizers that take norms of whole weights. */
MXNET_C_DLL int MXKVStoreSetSplitsValues(KVStoreHandle handle, int split);
/* SIGINT lets what waits for other processes of the job fail, from now on; whatever handled it
 * before is called as well. */
MXNET_C_DLL int MXKVStoreFollowInterrupts();
/* Called by a controller or updater that failed: the workers that wait for it get the text. */
MXNET_C_DLL int MXKVStoreReportServerError(KVStoreHandle handle, const char* text);
/* Called by a controller: what the worker that sent the command gets. */
MXNET_C_DLL int MXKVStoreSetServerReply(KVStoreHandle handle, const char* text);
/* MXKVStoreSendCommmandToServers with the servers' replies, one for each. */
MXNET_C_DLL int MXKVStoreAskServers(KVStoreHandle handle, int cmd_id, const char* cmd_body, mx_uint* out_size, const char*** out_replies);
/* Called by an updater on a server: which part of the key's value it was given, from 0, and which
 * element of the value is the part's first. Servers keep large values in parts. */
MXNET_C_DLL int MXKVStoreGetServerPart(KVStoreHandle handle, int64_t* part, int64_t* begin);

/*
 * What a file is, told by its first bytes: "onnx", "torch", "safetensors", "params", "symbol",
 * "folder" and others, or "" for what has no sign, is not there, or is no file. Texts are static.
 */
MXNET_C_DLL int MXFileKind(const char* path, const char** kind);
/* The same of a file's contents, or of its first 512 bytes: then a zip archive is "zip". */
MXNET_C_DLL int MXFileKindOfBytes(const void* bytes, size_t size, const char** kind);
/* A kind in words, and what a program in Python and one in C or C++ does with such a file. */
MXNET_C_DLL int MXFileKindWords(const char* kind, const char** what, const char** in_python, const char** in_c);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_PROCESS_H_ */
