/*
 * The C interface of libmxnet.so.
 *
 * Every function returns 0 on success and -1 on failure; MXGetLastError() then tells why, on the
 * same thread. Pointers that a function hands out through `out` arguments stay valid until the next
 * call on the same thread or handle.
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

/* Ours, not in 1.9.1. */
/* Kind of the last error of this thread: 0 generic, 1 value, 2 type, 3 index, 4 dtype not
 * supported, 5 out of memory, 6 input or output. */
MXNET_C_DLL int MXGetLastErrorKind(void);
/* Seven figures of a compiled plan: arena bytes, bytes without sharing, largest live set, nodes,
 * bulks, results computed in place, nodes removed. */
MXNET_C_DLL int MXExecutorGetPlanStats(ExecutorHandle handle, uint64_t* out_values);
MXNET_C_DLL int MXCachedOpGetPlanStats(CachedOpHandle handle, uint64_t* out_values);
/* DLPack for a consumer's CUDA stream, as DLPack numbers them (1 and 2: default streams, else a
 * cudaStream_t): the stream waits for what is under way on the array's
   GPU. -1: nobody waits. 0: the host does, as it must for arrays that are not on a GPU. Versioned: a tensor of DLPack 1.x. What is taken has to be ready for the
   legacy default stream; of a tensor for reading only the array is a copy. */
MXNET_C_DLL int MXNDArrayToDLPackForStream(NDArrayHandle handle, int64_t stream, DLManagedTensorHandle* out_dlpack);
MXNET_C_DLL int MXNDArrayToDLPackVersioned(NDArrayHandle handle, int64_t stream, bool is_copied,
                                           DLManagedTensorVersionedHandle* out_dlpack);
MXNET_C_DLL int MXNDArrayFromDLPackVersioned(DLManagedTensorVersionedHandle dlpack, NDArrayHandle* out_handle);
/* Row-major memory on a GPU of an object with __cuda_array_interface__, ready for `stream` (-1: for
 * all). `owner`: a PyObject* or null, of which the array takes
   one reference and gives it back when it is gone. */
MXNET_C_DLL int MXNDArrayFromCudaArray(void* data, int ndim, const int64_t* shape, int dtype, int64_t stream, void* owner,
                                       NDArrayHandle* out_handle);
/* The destructor of a Python capsule of a DLPack tensor, of either kind: frees what nobody
 * consumed. Native, because it also runs while an exception is on its way and
   while the interpreter ends, when no Python function can be called. `capsule` is a PyObject*; the process must hold the interpreter. */
MXNET_C_DLL void MXNDArrayFreeDLPackCapsule(void* capsule);
/* The passes of the plan compiler in the order in which they run: name and one sentence, in
 * turn. */
MXNET_C_DLL int MXListPlanPasses(uint32_t* out_size, const char*** out_texts);
/* A training step of `symbol` in at most `budget` bytes of arena (0: as few as possible). Shapes
 * and dtypes by input name; gradients of the arguments
   `grad_names` (none: of all). `out_symbol` is a copy with __force_mirroring__ on the nodes to recompute, whose names are `out_names`. out_bytes: arena,
   its lower bound, arena without recomputation. out_costs: rough nanoseconds and FLOPs of a step, and of what is recomputed: four values. */
MXNET_C_DLL int MXSymbolPlanMemory(SymbolHandle symbol, int dev_type, int dev_id, uint32_t num_shapes, const char** shape_names,
                                   const int64_t* shape_data, const uint32_t* shape_idx, uint32_t num_dtypes, const char** dtype_names,
                                   const int* dtypes, uint32_t num_grads, const char** grad_names, uint64_t budget,
                                   SymbolHandle* out_symbol, uint64_t* out_bytes, double* out_costs, uint32_t* out_num_names,
                                   const char*** out_names);
/* Operations that this thread pushes from now on fail with "called at `site`" ("train.py:12"),
 * unless the binding knows better; null ends that. */
MXNET_C_DLL int MXEngineMarkCallSite(const char* site);
/* 1 while the profiler runs (paused or not), else 0. */
MXNET_C_DLL int MXGetProfilerState(int* out);
/* Four counts of operations since start: pushed, computed on the pushing thread, computed in bulks;
 * and of bulks. */
MXNET_C_DLL int MXEngineStats(uint64_t* out);

/* Why the last call on this thread failed; an empty text if none has. */
MXNET_C_DLL const char* MXGetLastError(void);

/* What the library was built with: an array of `size` names with whether each is enabled. It lives
 * as long as the library. */
MXNET_C_DLL int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size);

/* Seeds the generators of random numbers of all devices, or of one device. */
MXNET_C_DLL int MXRandomSeed(int seed);
MXNET_C_DLL int MXRandomSeedContext(int seed, int dev_type, int dev_id);

/* Waits for what was pushed. The library's user calls it before it ends, so that no operation calls
 * into what is torn down. */
MXNET_C_DLL int MXNotifyShutdown(void);

/* The profiler (docs/profiler.md). Keys and values of its configuration are those of
 * mx.profiler.set_config. A state is 0 (stopped) or 1 (running). Dumping writes the trace file;
 * `finished` ends the profile. The names with `Process` take a store and 0 for the worker or 1 for
 * the server process. */
MXNET_C_DLL int MXSetProcessProfilerConfig(int num_params, const char* const* keys, const char* const* vals, KVStoreHandle kvstoreHandle);
MXNET_C_DLL int MXSetProfilerConfig(int num_params, const char* const* keys, const char* const* vals);
MXNET_C_DLL int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_C_DLL int MXSetProfilerState(int state);
MXNET_C_DLL int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_C_DLL int MXDumpProfile(int finished);

/* Totals by name as text. `reset` forgets them afterwards. `format`: 0 a table, 1 JSON; `sort_by`:
 * 0 total, 1 average, 2 least, 3 greatest, 4 number. */
MXNET_C_DLL int MXAggregateProfileStatsPrint(const char** out_str, int reset);
MXNET_C_DLL int MXAggregateProfileStatsPrintEx(const char** out_str, int reset, int format, int sort_by, int ascending);

/* Stops recording for a while (`paused` 1), and goes on (0). */
MXNET_C_DLL int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_C_DLL int MXProfilePause(int paused);

/* Objects of the program in the trace: domains group tasks, frames, counters and markers under a
 * name. Each handle goes back through MXProfileDestroyHandle. Durations (tasks, frames, events) are
 * started and stopped. A marker is one point in time, of the process, the thread, the task or its
 * domain. */
MXNET_C_DLL int MXProfileCreateDomain(const char* domain, ProfileHandle* out);
MXNET_C_DLL int MXProfileCreateTask(ProfileHandle domain, const char* task_name, ProfileHandle* out);
MXNET_C_DLL int MXProfileCreateFrame(ProfileHandle domain, const char* frame_name, ProfileHandle* out);
MXNET_C_DLL int MXProfileCreateEvent(const char* event_name, ProfileHandle* out);
MXNET_C_DLL int MXProfileCreateCounter(ProfileHandle domain, const char* counter_name, ProfileHandle* out);
MXNET_C_DLL int MXProfileDestroyHandle(ProfileHandle frame_handle);
MXNET_C_DLL int MXProfileDurationStart(ProfileHandle duration_handle);
MXNET_C_DLL int MXProfileDurationStop(ProfileHandle duration_handle);
MXNET_C_DLL int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);
MXNET_C_DLL int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);
MXNET_C_DLL int MXProfileSetMarker(ProfileHandle domain, const char* instant_marker_name, const char* scope);

/* How many threads an operator may use on the CPU from now on. */
MXNET_C_DLL int MXSetNumOMPThreads(int thread_num);

/* How many operators at most are pushed as one operation on this thread; hands out the number
 * before. */
MXNET_C_DLL int MXEngineSetBulkSize(int bulk_size, int* prev_bulk_size);

/* GPUs that the library can use, and the free and total memory of one: in MiB, or in bytes (64). */
MXNET_C_DLL int MXGetGPUCount(int* out);
MXNET_C_DLL int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem);
MXNET_C_DLL int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem);

/* The version as major * 10000 + minor * 100 + patch. */
MXNET_C_DLL int MXGetVersion(int* out);

/* New arrays; the handle goes back through MXNDArrayFree. Device types: 1 CPU, 2 GPU, 3 page-locked
 * memory, 5 shared memory. Dtypes: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6
 * int64, 7 bool, 12 bfloat16. MXNDArrayCreate makes float32. With `delay_alloc` memory is taken at
 * the first use. MXNDArrayCreateNone makes an array without shape, for outputs. */
MXNET_C_DLL int MXNDArrayCreateNone(NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayCreate(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayCreateEx(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                                  NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayCreateEx64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                                    NDArrayHandle* out);

/* One array as bytes, in the format of the files, and back. */
MXNET_C_DLL int MXNDArrayLoadFromRawBytes(const void* buf, size_t size, NDArrayHandle* out);
MXNET_C_DLL int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t* out_size, const char** out_buf);

/* Files of several arrays, with a name for each or with none (`keys` null). Loading makes
 * `out_size` new arrays, which the caller frees; the lists themselves live until the next call on
 * the thread. The same from memory: MXNDArrayLoadFromBuffer. */
MXNET_C_DLL int MXNDArraySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys);
MXNET_C_DLL int MXNDArrayLoad(const char* fname, uint32_t* out_size, NDArrayHandle** out_arr, uint32_t* out_name_size,
                              const char*** out_names);
MXNET_C_DLL int MXNDArrayLoadFromBuffer(const void* ndarray_buffer, size_t size, uint32_t* out_size, NDArrayHandle** out_arr,
                                        uint32_t* out_name_size, const char*** out_names);

/* Copies between the caller's memory and an array, and waits for that. `size` counts elements, and
 * must be that of the array. */
MXNET_C_DLL int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void* data, size_t size);
MXNET_C_DLL int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void* data, size_t size);

/* Copies an array into another one, and waits for that. `i` is -1 for the whole array. */
MXNET_C_DLL int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src, const int i);

/* Waits until what is under way has written the array, or has written and read it, or for
 * everything. Raises the errors of these operations. */
MXNET_C_DLL int MXNDArrayWaitToRead(NDArrayHandle handle);
MXNET_C_DLL int MXNDArrayWaitToWrite(NDArrayHandle handle);
MXNET_C_DLL int MXNDArrayWaitAll(void);

/* Gives an array's handle back. Operations under way keep the memory. */
MXNET_C_DLL int MXNDArrayFree(NDArrayHandle handle);

/* Views, which share the array's memory: rows `begin` to `end` of the first dimension, or one of
 * them without that dimension. Each is a new handle. */
MXNET_C_DLL int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end, NDArrayHandle* out);
MXNET_C_DLL int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle* out);

/* 0 for dense arrays, -1 for an array without shape. */
MXNET_C_DLL int MXNDArrayGetStorageType(NDArrayHandle handle, int* out_storage_type);

/* The same elements in another shape, as a new handle. A dimension of 0 keeps the one at its place,
 * -1 follows from the others, -2 to -4 are those of the operator reshape. `reverse` counts from the
 * last dimension. */
MXNET_C_DLL int MXNDArrayReshape(NDArrayHandle handle, int ndim, int* dims, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t* dims, bool reverse, NDArrayHandle* out);

/* Number of dimensions and dimensions. Ex: -1 where unknown; 64: dimensions beyond 32 bits, which
 * the others refuse. */
MXNET_C_DLL int MXNDArrayGetShape(NDArrayHandle handle, uint32_t* out_dim, const uint32_t** out_pdata);
MXNET_C_DLL int MXNDArrayGetShapeEx(NDArrayHandle handle, int* out_dim, const int** out_pdata);
MXNET_C_DLL int MXNDArrayGetShapeEx64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata);

/* The address of the first element, after waiting for what writes the array. The caller may read
 * and write there until the array is used otherwise. */
MXNET_C_DLL int MXNDArrayGetData(NDArrayHandle handle, void** out_pdata);

/* Exchange of arrays without a copy by DLPack. The consumer of a DLManagedTensor calls its deleter;
 * MXNDArrayCallDLPackDeleter does so for one that nobody consumed. `transient_handle`: the caller's
 * struct is copied, and may go. */
MXNET_C_DLL int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle* out_dlpack);
MXNET_C_DLL int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle* out_handle);
MXNET_C_DLL int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle, NDArrayHandle* out_handle);
MXNET_C_DLL int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);

/* Dtype and device of an array, as numbers. */
MXNET_C_DLL int MXNDArrayGetDType(NDArrayHandle handle, int* out_dtype);
MXNET_C_DLL int MXNDArrayGetContext(NDArrayHandle handle, int* out_dev_type, int* out_dev_id);

/* The array's gradient, null without one. MXNDArrayDetach gives the same values outside of what is
 * recorded. Each is a new handle. */
MXNET_C_DLL int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle* out);

/* Whether a backward pass has written the array's gradient since this was set to 0. */
MXNET_C_DLL int MXNDArraySetGradState(NDArrayHandle handle, int state);
MXNET_C_DLL int MXNDArrayGetGradState(NDArrayHandle handle, int* out);

/* Computes an operator now. Parameters come as texts. With `*num_outputs` 0 the outputs are new
 * arrays, which the caller frees; else `*outputs` are written. Ex also hands out storage types. */
MXNET_C_DLL int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                                   NDArrayHandle** outputs, int num_params, const char** param_keys, const char** param_vals);
MXNET_C_DLL int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                                     NDArrayHandle** outputs, int num_params, const char** param_keys, const char** param_vals,
                                     const int** out_stypes);

/* Whether operations are recorded for gradients, and whether operators compute as in training; each
 * for this thread. The functions that set hand out what was set before. */
MXNET_C_DLL int MXAutogradSetIsRecording(int is_recording, int* prev);
MXNET_C_DLL int MXAutogradSetIsTraining(int is_training, int* prev);
MXNET_C_DLL int MXAutogradIsRecording(bool* curr);
MXNET_C_DLL int MXAutogradIsTraining(bool* curr);

/* Whether 0 and no dimensions are lengths and scalars, as in NumPy, or mean unknown (0). Each
 * thread has its own answer. */
MXNET_C_DLL int MXIsNumpyShape(int* curr);
MXNET_C_DLL int MXSetIsNumpyShape(int is_np_shape, int* prev);

/* Attaches gradients to arrays. Requests: 0 none, 1 written, 3 added. */
MXNET_C_DLL int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array, NDArrayHandle* grad_handles);

/* Backpropagates from arrays, whose own gradients are `ograd_handles` (null: ones). Gradients go to
 * the marked arrays; with `var_handles` the gradients of these are handed out. `retain_graph` keeps
 * what was recorded, `create_graph` records the computation of gradients. */
MXNET_C_DLL int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle* output_handles);
MXNET_C_DLL int MXAutogradBackward(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles, int retain_graph);
MXNET_C_DLL int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles,
                                     uint32_t num_variables, NDArrayHandle* var_handles, int retain_graph, int create_graph, int is_train,
                                     NDArrayHandle** grad_handles, int** grad_stypes);

/* The graph that an array was computed by, as a new symbol. */
MXNET_C_DLL int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle* out);

/* Compiled graphs that are called with arrays, in the order of the symbol's inputs. Flags are those
 * of hybridize, such as static_alloc. `thread_safe`: several threads may call it at once. */
MXNET_C_DLL int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle* out);
MXNET_C_DLL int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out);
MXNET_C_DLL int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out,
                                   bool thread_safe DEFAULT(false));
MXNET_C_DLL int MXFreeCachedOp(CachedOpHandle handle);

/* Calls a compiled graph; outputs as in MXImperativeInvoke. */
MXNET_C_DLL int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs);
MXNET_C_DLL int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                                   const int** out_stypes);

/* A callback for the results (and with `monitor_all` the inputs) of each operator of the next
 * calls. */
MXNET_C_DLL int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback, bool monitor_all);

/* Names of all operators; handles of those that symbols can be made of; the name of one. */
MXNET_C_DLL int MXListAllOpNames(uint32_t* out_size, const char*** out_array);
MXNET_C_DLL int MXSymbolListAtomicSymbolCreators(uint32_t* out_size, AtomicSymbolCreator** out_array);
MXNET_C_DLL int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char** name);

/* The variables that a graph reads, and the edges by which one enters the subgraph that its
 * attribute names. The caller frees the symbols. */
MXNET_C_DLL int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle** inputs, int* input_size);
MXNET_C_DLL int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle** inputs, int* input_size);

/* What is known of an operator: name, text, arguments with types and texts; in `key_var_num_args`
 * the parameter that counts the inputs of an operator with any number of them, else an empty text.
 */
MXNET_C_DLL int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char** name, const char** description, uint32_t* num_args,
                                            const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions,
                                            const char** key_var_num_args, const char** return_type DEFAULT(NULL));

/* New symbols, each of which goes back through MXSymbolFree: an operator without inputs, which
 * MXSymbolCompose gives it; a variable; several symbols as one; from a file or JSON text. */
MXNET_C_DLL int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char** keys, const char** vals,
                                           SymbolHandle* out);
MXNET_C_DLL int MXSymbolCreateVariable(const char* name, SymbolHandle* out);
MXNET_C_DLL int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle* symbols, SymbolHandle* out);
MXNET_C_DLL int MXSymbolCreateFromFile(const char* fname, SymbolHandle* out);
MXNET_C_DLL int MXSymbolCreateFromJSON(const char* json, SymbolHandle* out);

/* A copy of the graph without the casts that mixed precision put in. */
MXNET_C_DLL int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);

/* The graph as JSON (docs/file_formats.md). */
MXNET_C_DLL int MXSymbolSaveToFile(SymbolHandle symbol, const char* fname);
MXNET_C_DLL int MXSymbolSaveToJSON(SymbolHandle symbol, const char** out_json);

/* Gives a symbol's handle back; makes a copy with nodes of its own; a text for people. */
MXNET_C_DLL int MXSymbolFree(SymbolHandle symbol);
MXNET_C_DLL int MXSymbolCopy(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int MXSymbolPrint(SymbolHandle symbol, const char** out_str);

/* Name and attributes of a node; `success` is 0 without one. Lists are pairs of key and value;
 * those of MXSymbolListAttr are of all nodes, with keys `node$key`. */
MXNET_C_DLL int MXSymbolGetName(SymbolHandle symbol, const char** out, int* success);
MXNET_C_DLL int MXSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);
MXNET_C_DLL int MXSymbolSetAttr(SymbolHandle symbol, const char* key, const char* value);
MXNET_C_DLL int MXSymbolListAttr(SymbolHandle symbol, uint32_t* out_size, const char*** out);
MXNET_C_DLL int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t* out_size, const char*** out);

/* Names of the variables that are read (arguments), of the outputs, and of the variables that
 * operators write (auxiliary states, below). */
MXNET_C_DLL int MXSymbolListArguments(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array);
MXNET_C_DLL int MXSymbolListOutputs(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array);
MXNET_C_DLL int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t* output_count);

/* New symbols: all results within the graph; the inputs of its last nodes, an empty one without
 * any; one of its outputs. */
MXNET_C_DLL int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle* out);

/* Names of the variables that operators write, such as running means. */
MXNET_C_DLL int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array);

/* Gives a symbol its inputs, by position (`keys` null) or by name, and its name. The symbol itself
 * changes. */
MXNET_C_DLL int MXSymbolCompose(SymbolHandle sym, const char* name, uint32_t num_args, const char** keys, SymbolHandle* args);

/* The graph of the gradients with respect to arguments. */
MXNET_C_DLL int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char** wrt, SymbolHandle* out);

/* All shapes that follow from some. Given shapes lie one after the other in `arg_shape_data`, and
 * `arg_ind_ptr` says where each begins. Arguments come by name, or by position with `keys` null.
 * `complete` is 0 if shapes stay open. Without Ex, 0 is an unknown dimension; Ex: -1; 64: wider
 * numbers. Partial accepts contradictions of what is unknown. */
MXNET_C_DLL int MXSymbolInferShape(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                   const uint32_t* arg_shape_data, uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                   const uint32_t*** in_shape_data, uint32_t* out_shape_size, const uint32_t** out_shape_ndim,
                                   const uint32_t*** out_shape_data, uint32_t* aux_shape_size, const uint32_t** aux_shape_ndim,
                                   const uint32_t*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapeEx(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                     const int* arg_shape_data, uint32_t* in_shape_size, const int** in_shape_ndim,
                                     const int*** in_shape_data, uint32_t* out_shape_size, const int** out_shape_ndim,
                                     const int*** out_shape_data, uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                     const int*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapeEx64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                       const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                       const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                       const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                       const int64_t*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapePartial(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                          const uint32_t* arg_shape_data, uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                          const uint32_t*** in_shape_data, uint32_t* out_shape_size, const uint32_t** out_shape_ndim,
                                          const uint32_t*** out_shape_data, uint32_t* aux_shape_size, const uint32_t** aux_shape_ndim,
                                          const uint32_t*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapePartialEx(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                            const int* arg_shape_data, uint32_t* in_shape_size, const int** in_shape_ndim,
                                            const int*** in_shape_data, uint32_t* out_shape_size, const int** out_shape_ndim,
                                            const int*** out_shape_data, uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                            const int*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapePartialEx64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                              const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                              const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                              const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                              const int64_t*** aux_shape_data, int* complete);

/* The same for dtypes, where -1 is unknown. */
MXNET_C_DLL int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data, uint32_t* in_type_size,
                                  const int** in_type_data, uint32_t* out_type_size, const int** out_type_data, uint32_t* aux_type_size,
                                  const int** aux_type_data, int* complete);
MXNET_C_DLL int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data,
                                         uint32_t* in_type_size, const int** in_type_data, uint32_t* out_type_size,
                                         const int** out_type_data, uint32_t* aux_type_size, const int** aux_type_data, int* complete);

/* The graph in mixed precision: lists of operators that compute in the target dtype, in float32, in
 * the widest dtype of their inputs, or in float32 for some values of a parameter; nodes that are
 * left out. mx.amp calls it. */
MXNET_C_DLL int MXReducePrecisionSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, uint32_t num_args, const int* arg_type_data,
                                        uint32_t num_ind_ptr, const int* ind_ptr, const int* target_dtype, const int cast_optional_params,
                                        const uint32_t num_target_dtype_op_names, const uint32_t num_fp32_op_names,
                                        const uint32_t num_widest_dtype_op_names, const uint32_t num_conditional_fp32_op_names,
                                        const uint32_t num_excluded_symbols, const uint32_t num_model_params,
                                        const char** target_dtype_op_names, const char** fp32_op_names, const char** widest_dtype_op_names,
                                        const char** conditional_fp32_op_names, const char** excluded_symbols,
                                        const char** conditional_param_names, const char** conditional_param_vals,
                                        const char** model_param_names, const char** arg_names);

/* The graph with the parts that a partitioner of this name takes as nodes of their own
 * (docs/guide/extend_with_a_library.md); the operator of a symbol, without inputs; the same as the
 * first with shapes, options and arguments that the partitioner adds. */
MXNET_C_DLL int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend, SymbolHandle* ret_sym_handle);
MXNET_C_DLL int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);
MXNET_C_DLL int MXOptimizeForBackend(SymbolHandle sym_handle, const char* backend_name, const int dev_type, SymbolHandle* ret_sym_handle,
                                     const mx_uint args_len, NDArrayHandle* in_args_handle, const mx_uint aux_len,
                                     NDArrayHandle* in_aux_handle, const mx_uint num_options, const char** keys, const char** vals,
                                     const uint32_t num_input_shapes, const char** input_shape_names, const int64_t* input_shape_data,
                                     const uint32_t* input_shape_idx, const uint32_t num_input_dtypes, const char** input_dtype_names,
                                     const int* input_dtypes, const uint32_t num_input_stypes, const char** input_stype_names,
                                     const int* input_stypes, bool skip_infer, int* new_args_cnt, NDArrayHandle** new_args_handle,
                                     char*** new_arg_names_handle, int* new_aux_cnt, NDArrayHandle** new_aux_handle,
                                     char*** new_aux_names_handle);

/* Executors: a symbol bound to arrays. MXExecutorForward computes; MXExecutorBackward computes
 * gradients of what `is_train` computed before, from the gradients of the outputs (none for
 * losses). The handles of outputs are new, and the caller frees them. */
MXNET_C_DLL int MXExecutorFree(ExecutorHandle handle);
MXNET_C_DLL int MXExecutorPrint(ExecutorHandle handle, const char** out_str);
MXNET_C_DLL int MXExecutorForward(ExecutorHandle handle, int is_train);
MXNET_C_DLL int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads);
MXNET_C_DLL int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads, int is_train);
MXNET_C_DLL int MXExecutorOutputs(ExecutorHandle handle, uint32_t* out_size, NDArrayHandle** out);

/* Binds given arrays, in the order of the arguments and auxiliary states. Requests: 0 no gradient,
 * 1 written, 2 written in place, 3 added. The keys of a map are values of the attribute ctx_group,
 * with the device of each. `shared_exec`: an executor whose memory for intermediate results is
 * used, too. */
MXNET_C_DLL int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len, NDArrayHandle* in_args,
                               NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                               ExecutorHandle* out);
MXNET_C_DLL int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                                const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args,
                                NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                                ExecutorHandle* out);
MXNET_C_DLL int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                                 const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args,
                                 NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                                 ExecutorHandle shared_exec, ExecutorHandle* out);

/* Binds new arrays, whose shapes follow from some that are given as in MXSymbolInferShape. Names
 * before lists say which arguments requests, shapes, dtypes and storage types are for. What is in
 * the shared buffer is used, and new arrays join it. The caller frees the arrays that are handed
 * out. */
MXNET_C_DLL int MXExecutorSimpleBind(SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,
                                     const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,
                                     const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
                                     const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,
                                     const char** provided_arg_shape_names, const uint32_t* provided_arg_shape_data,
                                     const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
                                     const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                                     const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,
                                     const int* provided_arg_stypes, const uint32_t num_shared_arg_names, const char** shared_arg_name_list,
                                     int* shared_buffer_len, const char** shared_buffer_name_list, NDArrayHandle* shared_buffer_handle_list,
                                     const char*** updated_shared_buffer_name_list, NDArrayHandle** updated_shared_buffer_handle_list,
                                     uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
                                     NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);
MXNET_C_DLL int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys, const char** g2c_keys, const int* g2c_dev_types,
    const int* g2c_dev_ids, const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
    const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names,
    const int* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
    const char** provided_arg_dtype_names, const int* provided_arg_dtypes, const uint32_t num_provided_arg_stypes,
    const char** provided_arg_stype_names, const int* provided_arg_stypes, const uint32_t num_shared_arg_names,
    const char** shared_arg_name_list, int* shared_buffer_len, const char** shared_buffer_name_list,
    NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list,
    NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,
    uint32_t* num_aux_states, NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);
MXNET_C_DLL int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys, const char** g2c_keys, const int* g2c_dev_types,
    const int* g2c_dev_ids, const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
    const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names,
    const int64_t* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
    const char** provided_arg_dtype_names, const int* provided_arg_dtypes, const uint32_t num_provided_arg_stypes,
    const char** provided_arg_stype_names, const int* provided_arg_stypes, const uint32_t num_shared_arg_names,
    const char** shared_arg_name_list, int* shared_buffer_len, const char** shared_buffer_name_list,
    NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list,
    NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,
    uint32_t* num_aux_states, NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);

/* An executor of the same graph for other shapes, which shares the arrays that keep theirs.
 * `partial_shaping` allows others to change than those that were asked for, `allow_up_sizing`
 * larger ones. */
MXNET_C_DLL int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id, uint32_t num_map_keys,
                                  const char** map_keys, const int* map_dev_types, const int* map_dev_ids,
                                  const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names,
                                  const uint32_t* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args,
                                  NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states, NDArrayHandle** aux_states,
                                  ExecutorHandle shared_exec, ExecutorHandle* out);
MXNET_C_DLL int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id, uint32_t num_map_keys,
                                    const char** map_keys, const int* map_dev_types, const int* map_dev_ids,
                                    const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names,
                                    const int* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args,
                                    NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
                                    NDArrayHandle** aux_states, ExecutorHandle shared_exec, ExecutorHandle* out);

/* The graph as it is computed, after all passes. */
MXNET_C_DLL int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle* out);

/* A callback for every result; `monitor_all`: for inputs, too. The array that it gets is the
 * callback's to free. */
MXNET_C_DLL int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle);
MXNET_C_DLL int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle,
                                               bool monitor_all);

/* Stores that sum arrays of several devices under keys. Types are those of mx.kv.create. Names with
 * Ex take texts as keys, the others numbers. A key may come several times in a call, once for each
 * device. Larger priorities go first. */
MXNET_C_DLL int MXKVStoreCreate(const char* type, KVStoreHandle* out);
MXNET_C_DLL int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char** keys, const char** vals);
MXNET_C_DLL int MXKVStoreFree(KVStoreHandle handle);
MXNET_C_DLL int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals);
MXNET_C_DLL int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals);
MXNET_C_DLL int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority);
MXNET_C_DLL int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority);
MXNET_C_DLL int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority,
                                        bool ignore_sparse);
MXNET_C_DLL int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority,
                                          bool ignore_sparse);
MXNET_C_DLL int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals, int priority);
MXNET_C_DLL int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals, int priority);
MXNET_C_DLL int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum, const int* okeys,
                                   NDArrayHandle* vals, NDArrayHandle* outs, int priority);
MXNET_C_DLL int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum, const char** okeys,
                                     NDArrayHandle* vals, NDArrayHandle* outs, int priority);
MXNET_C_DLL int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum, const int* okeys, NDArrayHandle* vals,
                                  NDArrayHandle* outs, int priority);
MXNET_C_DLL int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum, const char** okeys,
                                    NDArrayHandle* vals, NDArrayHandle* outs, int priority);

/* What is called for each key with the sum and the stored array, instead of storing the sum. The
 * arrays are the callback's to free. */
MXNET_C_DLL int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void* updater_handle);
MXNET_C_DLL int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater, MXKVStoreStrUpdater str_updater,
                                      void* updater_handle);

/* Type of a store, the number of this process, and how many there are. */
MXNET_C_DLL int MXKVStoreGetType(KVStoreHandle handle, const char** type);
MXNET_C_DLL int MXKVStoreGetRank(KVStoreHandle handle, int* ret);
MXNET_C_DLL int MXKVStoreGetGroupSize(KVStoreHandle handle, int* ret);

/* The role of this process, from the environment. */
MXNET_C_DLL int MXKVStoreIsWorkerNode(int* ret);
MXNET_C_DLL int MXKVStoreIsServerNode(int* ret);
MXNET_C_DLL int MXKVStoreIsSchedulerNode(int* ret);

/* Waits until all workers are here; sends a command to the servers; counts processes that were not
 * heard of for `timeout_sec` seconds. */
MXNET_C_DLL int MXKVStoreBarrier(KVStoreHandle handle);
MXNET_C_DLL int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char* cmd_body);
MXNET_C_DLL int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int* number, const int timeout_sec DEFAULT(60));

/* Files of records (docs/file_formats.md). Positions are bytes from the start of the file; a reader
 * can seek to where a record begins. A record of a reader lives until its next call; at the end of
 * the file it is null. */
MXNET_C_DLL int MXRecordIOWriterCreate(const char* uri, RecordIOHandle* out);
MXNET_C_DLL int MXRecordIOWriterFree(RecordIOHandle handle);
MXNET_C_DLL int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size);
MXNET_C_DLL int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos);
MXNET_C_DLL int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out);
MXNET_C_DLL int MXRecordIOReaderFree(RecordIOHandle handle);
MXNET_C_DLL int MXRecordIOReaderReadRecord(RecordIOHandle handle, char const** buf, size_t* size);
MXNET_C_DLL int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos);
MXNET_C_DLL int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos);

/* Records a function of the program, with callbacks for its backward pass, as what computed the
 * outputs. */
MXNET_C_DLL int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs, NDArrayHandle* outputs,
                                       struct MXCallbackList* callbacks);

/* Kernels of CUDA that the program brings as source text. Types of arguments are the numbers of
 * dtypes; `args` of a call has arrays' handles and pointers to numbers. Dimensions are those of the
 * launch, in blocks and threads; `shared_mem` is in bytes. */
MXNET_C_DLL int MXRtcCudaModuleCreate(const char* source, int num_options, const char** options, int num_exports, const char** exports,
                                      CudaModuleHandle* out);
MXNET_C_DLL int MXRtcCudaModuleFree(CudaModuleHandle handle);
MXNET_C_DLL int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char* name, int num_args, int* is_ndarray, int* is_const,
                                      int* arg_types, CudaKernelHandle* out);
MXNET_C_DLL int MXRtcCudaKernelFree(CudaKernelHandle handle);
MXNET_C_DLL int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void** args, uint32_t grid_dim_x, uint32_t grid_dim_y,
                                    uint32_t grid_dim_z, uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
                                    uint32_t shared_mem);

/* Arrays in memory that processes share: what names the memory of an array, and an array on what
 * another process named. */
MXNET_C_DLL int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int* shared_pid, int* shared_id);
MXNET_C_DLL int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t* shape, uint32_t ndim, int dtype,
                                             NDArrayHandle* out);

/* Gives what a device's pool keeps for reuse back to the system. */
MXNET_C_DLL int MXStorageEmptyCache(int dev_type, int dev_id);

/* MXNDArrayCreateFromSharedMem with dimensions that may be 0. */
MXNET_C_DLL int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int* shape, int ndim, int dtype, NDArrayHandle* out);

/* Runs a function of the program as an operation of the engine, after all that wrote what it reads.
 * An asynchronous one says itself when it has finished. Variables are those of arrays; with ND they
 * are given as arrays. `deleter` is called for `func_param` afterwards. */
MXNET_C_DLL int MXEnginePushAsync(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                  EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle,
                                  int num_mutable_vars, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                  const char* opr_name DEFAULT(NULL), bool wait DEFAULT(false));
MXNET_C_DLL int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                 EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle,
                                 int num_mutable_vars, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                 const char* opr_name DEFAULT(NULL));

/* Another handle for the same array or symbol. */
MXNET_C_DLL int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle* out);
MXNET_C_DLL int MXShallowCopySymbol(SymbolHandle src, SymbolHandle* out);
MXNET_C_DLL int MXEnginePushAsyncND(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                    NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle,
                                    int num_mutable_nds, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                    const char* opr_name DEFAULT(NULL), bool wait DEFAULT(false));
MXNET_C_DLL int MXEnginePushSyncND(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                   NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle,
                                   int num_mutable_nds, EngineFnPropertyHandle prop_handle DEFAULT(NULL), int priority DEFAULT(0),
                                   const char* opr_name DEFAULT(NULL));

/* The functions NN... do what MX... of the same name do, for programs that were written for NNVM.
 * Errors are the same ones. */
MXNET_C_DLL void NNAPISetLastError(const char* msg);
MXNET_C_DLL const char* NNGetLastError(void);
MXNET_C_DLL int NNListAllOpNames(nn_uint* out_size, const char*** out_array);
MXNET_C_DLL int NNGetOpHandle(const char* op_name, OpHandle* op_out);
MXNET_C_DLL int NNListUniqueOps(nn_uint* out_size, OpHandle** out_array);
MXNET_C_DLL int NNGetOpInfo(OpHandle op, const char** real_name, const char** description, nn_uint* num_doc_args, const char*** arg_names,
                            const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type);
MXNET_C_DLL int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char** keys, const char** vals, SymbolHandle* out);
MXNET_C_DLL int NNSymbolCreateVariable(const char* name, SymbolHandle* out);
MXNET_C_DLL int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle* symbols, SymbolHandle* out);
MXNET_C_DLL int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep);
MXNET_C_DLL int NNSymbolFree(SymbolHandle symbol);
MXNET_C_DLL int NNSymbolCopy(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int NNSymbolPrint(SymbolHandle symbol, const char** out_str);
MXNET_C_DLL int NNSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);
MXNET_C_DLL int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char** keys, const char** values);
MXNET_C_DLL int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint* out_size, const char*** out);
MXNET_C_DLL int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint* out_size, SymbolHandle** out_sym_array);
MXNET_C_DLL int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint* out_size, const char*** out_str_array);
MXNET_C_DLL int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint* out_size, const char*** out_str_array);
MXNET_C_DLL int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint* output_count);
MXNET_C_DLL int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);
MXNET_C_DLL int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle* out);
MXNET_C_DLL int NNSymbolCompose(SymbolHandle sym, const char* name, nn_uint num_args, const char** keys, SymbolHandle* args);

/* 1 if the library was compiled with the C++11 ABI of std::string. */
MXNET_C_DLL int MXLibInfoCompiledWithCXX11ABI(int* result);

/* Whether floats nearer to 0 than the smallest normal one count as 0 on the CPU; hands out what
 * held before. */
MXNET_C_DLL int MXSetFlushDenorms(bool value, bool* prev_state);

/* A name in front of what this thread records and allocates from now on. */
MXNET_C_DLL int MXSetProfilerScope(const char* scope);

/* Where the sources came from. */
MXNET_C_DLL int MXGetBranch(const char** out);
MXNET_C_DLL int MXGetCommitHash(const char** out);

/* Other names of MXNDArrayCreateEx64, MXNDArraySave and MXNDArrayGetShapeEx64, from MXNet 2.0. */
MXNET_C_DLL int MXNDArrayCreate64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype, NDArrayHandle* out);
MXNET_C_DLL int MXNDArrayLegacySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys);
MXNET_C_DLL int MXNDArrayGetShape64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata);

/* Whether float64 is the dtype of floats that nothing is said of (mx.np). */
MXNET_C_DLL int MXIsNumpyDefaultDtype(bool* curr);
MXNET_C_DLL int MXSetIsNumpyDefaultDtype(bool dtype_flag, bool* prev);

/* Takes the gradients from arrays again. */
MXNET_C_DLL int MXAutogradDropGrads(uint32_t num_var, NDArrayHandle* var_handles);

/* The graph of the last call, after all passes. */
MXNET_C_DLL int MXCachedOpGetOptimizedSymbol(CachedOpHandle handle, SymbolHandle* out);

/* Deferred compute: while it is on, operators on this thread also note the graph that they are.
 * Arrays are named as variables, and the graph that outputs come from is handed out as a symbol.
 */
MXNET_C_DLL int MXNDArrayIsDeferredCompute(int* curr);
MXNET_C_DLL int MXNDArraySetIsDeferredCompute(int deferred_compute_enabled, int* prev);
MXNET_C_DLL int MXNDArraySetDeferredComputeVariable(NDArrayHandle* arrays, SymbolHandle* variables, int num);
MXNET_C_DLL int MXNDArrayGetDeferredComputeSymbol(NDArrayHandle* output_handles, int num_outputs, SymbolHandle* out);
MXNET_C_DLL int MXNDArrayClearDeferredCompute(NDArrayHandle* arrays, int num);

/* The variables of a graph as one symbol. */
MXNET_C_DLL int MXSymbolGetInputs(SymbolHandle symbol, SymbolHandle* out);

/* Other names of MXSymbolInferShapeEx64 and MXSymbolInferShapePartialEx64, from MXNet 2.0. */
MXNET_C_DLL int MXSymbolInferShape64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                     const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                     const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                     const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                     const int64_t*** aux_shape_data, int* complete);
MXNET_C_DLL int MXSymbolInferShapePartial64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                            const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                            const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                            const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                            const int64_t*** aux_shape_data, int* complete);

/* Whether shapes of the graph depend on values. */
MXNET_C_DLL int MXCheckDynamicShapeOp(SymbolHandle sym_handle, bool* has_dynamic_shape);

#include "mxnet/c_api_custom.h"
#include "mxnet/c_api_data.h"
#include "mxnet/c_api_graph.h"
#include "mxnet/c_api_process.h"

#endif /* MXNET_C_API_H_ */
