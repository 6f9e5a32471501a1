/*
 * The C interface of libmxnet.so. This header has what all of it needs, and includes the others,
 * one for each area (its end lists them). c_predict_api.h, for inference alone, is included by its
 * users, as are c_api_env.h, c_api_op.h, c_api_plan.h and c_api_storage.h.
 *
 * Errors: a function returns 0 on success and -1 on failure. MXGetLastError() then tells why, on
 * the same thread. After a failure, `out` arguments are not to be used. A null pointer that is not
 * allowed, and a count that does not fit, are errors.
 *
 * Ownership: a new handle is the caller's, who gives it back through the matching Free. Arrays and
 * symbols that come in a list are the caller's one by one, but the list is the library's. Texts,
 * shapes and lists that a function hands out are the library's. They stay valid until the next call
 * on the same thread or handle, unless something else is said. What the caller passes in stays the
 * caller's, and is read before the function returns.
 *
 * Threads: every function may be called on any thread. Several threads may use one array or store
 * at a time, and one symbol while nobody changes it. One thread at a time may use another object,
 * such as an executor, where nothing else is said; different ones are independent. The error and
 * the texts that were handed out are each thread's own.
 *
 * Time: functions that compute push operations, and return before these have run. Their errors
 * come up where somebody waits for the arrays.
 */
#ifndef MXNET_C_API_H_
#define MXNET_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DEFAULT(x) = x
#define MXNET_EXTERN_C extern "C"
#else
#define DEFAULT(x)
#define MXNET_EXTERN_C
#endif
#ifndef MXNET_C_DLL
#define MXNET_C_DLL MXNET_EXTERN_C __attribute__((visibility("default")))
#endif

typedef uint32_t mx_uint;
typedef uint32_t nn_uint;
typedef float mx_float;
typedef int64_t dim_t;
/* Opaque handles. Each comes from a function of this interface and goes back through the matching
 * Free. */
typedef void* NDArrayHandle;
typedef const void* FunctionHandle;
typedef void* AtomicSymbolCreator;
typedef void* OpHandle;
typedef void* SymbolHandle;
typedef void* GraphHandle;
typedef void* ExecutorHandle;
typedef void* CachedOpHandle;
typedef void* KVStoreHandle;
typedef void* DataIterCreator;
typedef void* DataIterHandle;
typedef void* DatasetCreator;
typedef void* DatasetHandle;
typedef void* BatchifyFunctionCreator;
typedef void* BatchifyFunctionHandle;
typedef void* RecordIOHandle;
typedef void* RtcHandle;
typedef void* CudaModuleHandle;
typedef void* CudaKernelHandle;
typedef void* ProfileHandle;
typedef void* DLManagedTensorHandle;
typedef void* DLManagedTensorVersionedHandle;
typedef const void* ContextHandle;
typedef const void* EngineFnPropertyHandle;
typedef void* EngineVarHandle;
typedef void* ConfigSpaces;
typedef void* PredictorHandle;
typedef void* NDListHandle;
/* A generator of random numbers beside those that MXRandomSeed seeds. */
typedef void* RandomGeneratorHandle;

struct LibFeature {
  const char* name;
  bool enabled;
};
/* A table of callbacks and their contexts, as custom operators and functions pass it. */
struct MXCallbackList {
  int num_callbacks;
  int (**callbacks)(void);
  void** contexts;
};
enum CustomFunctionProps { kCustomFunctionBackward, kCustomFunctionDelete };
typedef int (*CustomFunctionBwdFunc)(int num_ograds, int num_igrads, void** ptrs, const int* reqs, const int is_train, void* state);
typedef int (*CustomFunctionDelFunc)(void* state);
typedef int (*CustomOpPropCreator)(const char* op_type, const int num_kwargs, const char** keys, const char** values,
                                   struct MXCallbackList* ret);
typedef void (*ExecutorMonitorCallback)(const char* name, NDArrayHandle array, void* handle);
typedef void (*CachedOpMonitorCallback)(const char* name, const char* opr_name, NDArrayHandle array);
typedef void (*PredMonitorCallback)(const char* name, NDArrayHandle array, void* handle);
typedef void (*MXKVStoreUpdater)(int key, NDArrayHandle recv, NDArrayHandle local, void* handle);
typedef void (*MXKVStoreStrUpdater)(const char* key, NDArrayHandle recv, NDArrayHandle local, void* handle);
typedef void (*MXKVStoreServerController)(int head, const char* body, void* controller_handle);
typedef void (*EngineAsyncFunc)(void* run_context, void* on_complete, void* param);
typedef void (*EngineSyncFunc)(void* run_context, void* param);
typedef void (*EngineFuncParamDeleter)(void* param);

/* Kind of the last error of this thread: 0 generic, 1 value, 2 type, 3 index, 4 dtype not
 * supported, 5 out of memory, 6 input or output. */
MXNET_C_DLL int MXGetLastErrorKind(void);

/* Why the last call on this thread failed; an empty text if none has. */
MXNET_C_DLL const char* MXGetLastError(void);

/* What the library was built with: an array of `size` names with whether each is enabled. It lives
 * as long as the library. */
MXNET_C_DLL int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size);

/* Seeds the generators of random numbers of all devices, or of one device. */

/* Seeds every device's generators with numbers that follow from `seed`. */
MXNET_C_DLL int MXRandomSeed(int seed);

/* Seeds the generators of one device. */
MXNET_C_DLL int MXRandomSeedContext(int seed, int dev_type, int dev_id);

/* Where the generators that MXRandomSeed seeds stand: `size` numbers, which live until the thread's
 * next call. Waits for the draws. */
MXNET_C_DLL int MXRandomGetState(uint64_t* size, const uint64_t** out);

/* Goes back to where MXRandomGetState was called. An error of a value for other numbers. */
MXNET_C_DLL int MXRandomSetState(uint64_t size, const uint64_t* state);

/* Makes a generator that shares nothing with the others: equal seeds and equal draws give equal
 * numbers. Each device has a sequence of its own. */
MXNET_C_DLL int MXRandomGeneratorCreate(uint64_t seed, RandomGeneratorHandle* out);

/* Frees a generator. Operators that were pushed with it still draw from it. */
MXNET_C_DLL int MXRandomGeneratorFree(RandomGeneratorHandle handle);

/* From now on, operators of this thread draw from a generator; from the device's if `handle` is
 * null. `previous`, which may be null, gets what was in use. */
MXNET_C_DLL int MXRandomGeneratorUse(RandomGeneratorHandle handle, RandomGeneratorHandle* previous);

/* How many blocks of 128 bits have been drawn for a device; waits for the draws. */
MXNET_C_DLL int MXRandomGeneratorGetPosition(RandomGeneratorHandle handle, int dev_type, int dev_id, uint64_t* out);

/* Goes to where so many blocks of 128 bits have been drawn for a device. */
MXNET_C_DLL int MXRandomGeneratorSetPosition(RandomGeneratorHandle handle, int dev_type, int dev_id, uint64_t position);

/* GPUs that the library can use, and the free and total memory of one: in MiB, or in bytes (64). */

/* How many GPUs there are; 0 in a build without CUDA. */
MXNET_C_DLL int MXGetGPUCount(int* out);

/* Free and total MiB of GPU `dev`. An error without that GPU. */
MXNET_C_DLL int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem);

/* Free and total bytes of GPU `dev`. */
MXNET_C_DLL int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem);

/* The version as major * 10000 + minor * 100 + patch. */
MXNET_C_DLL int MXGetVersion(int* out);

/* 1 if the library was compiled with the C++11 ABI of std::string. */
MXNET_C_DLL int MXLibInfoCompiledWithCXX11ABI(int* result);

/* Where the sources came from. */

/* The branch of the sources. The text is static. */
MXNET_C_DLL int MXGetBranch(const char** out);

/* The commit of the sources. The text is static. */
MXNET_C_DLL int MXGetCommitHash(const char** out);

#include "mxnet/c_api_custom.h"
#include "mxnet/c_api_data.h"
#include "mxnet/c_api_engine.h"
#include "mxnet/c_api_executor.h"
#include "mxnet/c_api_graph.h"
#include "mxnet/c_api_imperative.h"
#include "mxnet/c_api_kvstore.h"
#include "mxnet/c_api_ndarray.h"
#include "mxnet/c_api_nnvm.h"
#include "mxnet/c_api_process.h"
#include "mxnet/c_api_profiler.h"
#include "mxnet/c_api_recordio.h"
#include "mxnet/c_api_rtc.h"
#include "mxnet/c_api_symbol.h"

#endif /* MXNET_C_API_H_ */
