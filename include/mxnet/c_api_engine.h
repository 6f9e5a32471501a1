/* The engine: functions of the program as operations, and switches of threads: a part of the C
 * interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_ENGINE_H_
#define MXNET_C_API_ENGINE_H_

#include "mxnet/c_api.h"

/* Operations that this thread pushes from now on fail with "called at `site`" ("train.py:12"),
 * unless the binding knows better; null ends that. */
MXNET_C_DLL int MXEngineMarkCallSite(const char* site);

/* Four counts of operations since start: pushed, computed on the pushing thread, computed in bulks;
 * and of bulks. */
MXNET_C_DLL int MXEngineStats(uint64_t* out);

/* Waits for what was pushed. The library's user calls it before it ends, so that no operation calls
 * into what is torn down. */
MXNET_C_DLL int MXNotifyShutdown(void);

/* Waits for what was pushed before a fork, so that the child can read it. Returns at once inside an
 * operation, and after ten seconds in which no operation ended: that which is under way may need
 * the thread that forks. Failures are left to who waits for arrays. */
MXNET_C_DLL int MXEngineWaitBeforeFork(void);

/* How many threads an operator may use on the CPU from now on. */
MXNET_C_DLL int MXSetNumOMPThreads(int thread_num);

/* How many operators at most are pushed as one operation on this thread; hands out the number
 * before. */
MXNET_C_DLL int MXEngineSetBulkSize(int bulk_size, int* prev_bulk_size);

/* Gives what a device's pool keeps for reuse back to the system. */
MXNET_C_DLL int MXStorageEmptyCache(int dev_type, int dev_id);

/* Runs a function of the program as an operation of the engine, after all that wrote what it reads.
 * An asynchronous one says itself when it has finished. Variables are those of arrays; with ND they
 * are given as arrays. `deleter` is called for `func_param` before a wait for it returns. */

/* `async_func` says that it has finished by its second argument, an OnComplete of engine.h, which
 * programs in C++ call. `wait`: the function waits for others, and gets a thread that may. */
MXNET_C_DLL int MXEnginePushAsync(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                  EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle,
                                  int num_mutable_vars, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                  const char* opr_name DEFAULT(NULL), bool wait DEFAULT(false));

/* `sync_func` has finished when it returns. */
MXNET_C_DLL int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                 EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle,
                                 int num_mutable_vars, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                 const char* opr_name DEFAULT(NULL));

/* MXEnginePushAsync with arrays in the place of their variables. */
MXNET_C_DLL int MXEnginePushAsyncND(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                    NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle,
                                    int num_mutable_nds, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                    const char* opr_name DEFAULT(NULL), bool wait DEFAULT(false));

/* MXEnginePushSync with arrays in the place of their variables. */
MXNET_C_DLL int MXEnginePushSyncND(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                   NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle,
                                   int num_mutable_nds, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                   const char* opr_name DEFAULT(NULL));

/* Whether floats nearer to 0 than the smallest normal one count as 0 on the CPU; hands out what
 * held before. */
MXNET_C_DLL int MXSetFlushDenorms(bool value, bool* prev_state);

#endif /* MXNET_C_API_ENGINE_H_ */
