/* Operators by name on arrays, recording and gradients, deferred compute, compiled graphs: a part
 * of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_IMPERATIVE_H_
#define MXNET_C_API_IMPERATIVE_H_

#include "mxnet/c_api.h"

/* Seven figures of a compiled plan: arena bytes, bytes without sharing, largest live set, nodes,
 * bulks, results computed in place, nodes removed. */
MXNET_C_DLL int MXCachedOpGetPlanStats(CachedOpHandle handle, uint64_t* out_values);

/* The array's gradient, null without one. MXNDArrayDetach gives the same values outside of what is
 * recorded. Each is a new handle. */

/* A new handle of the gradient that was attached, or null. */
MXNET_C_DLL int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle* out);

/* A new handle of the same memory, of which nothing is recorded. */
MXNET_C_DLL int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle* out);

/* Whether a backward pass has written the array's gradient since this was set to 0. */

/* Sets the state, 0 or 1. */
MXNET_C_DLL int MXNDArraySetGradState(NDArrayHandle handle, int state);

/* Hands the state out. */
MXNET_C_DLL int MXNDArrayGetGradState(NDArrayHandle handle, int* out);

/* Whether gradients would flow through what this thread computes of the array now: it records, and
 * the array has a gradient of its own or was computed from such arrays. */
MXNET_C_DLL int MXNDArrayIsRecorded(NDArrayHandle handle, int* out);

/* Computes an operator now. Parameters come as texts. With `*num_outputs` 0 the outputs are new
 * arrays, which the caller frees; else `*outputs` are written. Ex also hands out storage types. */

/* `creator` is an operator's handle (NNGetOpHandle). The list of outputs lives until this thread's
 * next call. */
MXNET_C_DLL int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                                   NDArrayHandle** outputs, int num_params, const char** param_keys, const char** param_vals);

/* The same; `out_stypes` gets a list of storage types, all 0. */
MXNET_C_DLL int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                                     NDArrayHandle** outputs, int num_params, const char** param_keys, const char** param_vals,
                                     const int** out_stypes);

/* Whether operations are recorded for gradients, and whether operators compute as in training; each
 * for this thread. The functions that set hand out what was set before. */

/* Starts (1) or ends (0) recording. */
MXNET_C_DLL int MXAutogradSetIsRecording(int is_recording, int* prev);

/* Training (1) or inference (0), for dropout and the like. */
MXNET_C_DLL int MXAutogradSetIsTraining(int is_training, int* prev);

/* Whether this thread records. */
MXNET_C_DLL int MXAutogradIsRecording(bool* curr);

/* Whether operators compute as in training. */
MXNET_C_DLL int MXAutogradIsTraining(bool* curr);

/* Whether 0 and no dimensions are lengths and scalars, as in NumPy, or mean unknown (0). Each
 * thread has its own answer, unless the answer was given for all. */

/* 1: they are lengths and scalars. 2: so they are in all threads. 0: they mean unknown. */
MXNET_C_DLL int MXIsNumpyShape(int* curr);

/* Sets that for this thread, or with 2 for all of them; 0 ends what holds for all, too. `prev` gets
 * 1 if they were lengths and scalars here before. */
MXNET_C_DLL int MXSetIsNumpyShape(int is_np_shape, int* prev);

/* Attaches gradients to arrays. Requests: 0 none, 1 written, 3 added. */
MXNET_C_DLL int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array, NDArrayHandle* grad_handles);

/* Backpropagates from arrays, whose own gradients are `ograd_handles` (null: ones). Gradients go to
 * the marked arrays; with `var_handles` the gradients of these are handed out. `retain_graph` keeps
 * what was recorded, `create_graph` records the computation of gradients. */

/* From ones. What was recorded is freed. */
MXNET_C_DLL int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle* output_handles);

/* From `ograd_handles`; single ones in it may be null. */
MXNET_C_DLL int MXAutogradBackward(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles, int retain_graph);

/* The same with all options. The lists of gradients live until this thread's next call; the caller
 * frees the arrays. */
MXNET_C_DLL int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles,
                                     uint32_t num_variables, NDArrayHandle* var_handles, int retain_graph, int create_graph, int is_train,
                                     NDArrayHandle** grad_handles, int** grad_stypes);

/* The graph that an array was computed by, as a new symbol. */
MXNET_C_DLL int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle* out);

/* Compiled graphs that are called with arrays, in the order of the symbol's inputs. Flags are those
 * of hybridize, such as static_alloc. `thread_safe`: several threads may call it at once. */

/* A compiled graph without flags. The symbol may be freed afterwards. */
MXNET_C_DLL int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle* out);

/* The same with `num_flags` flags, as texts. An unknown one is an error. */
MXNET_C_DLL int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out);

/* The same, and several threads may call it where `thread_safe`. */
MXNET_C_DLL int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out,
                                   bool thread_safe DEFAULT(false));

/* Gives a compiled graph back. Calls under way keep what they need. */
MXNET_C_DLL int MXFreeCachedOp(CachedOpHandle handle);

/* Calls a compiled graph; outputs as in MXImperativeInvoke. */

/* `inputs` are in the order of the symbol's inputs. The list of outputs lives until this thread's
 * next call. */
MXNET_C_DLL int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs);

/* The same; `out_stypes` gets a list of storage types, all 0. */
MXNET_C_DLL int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                                   const int** out_stypes);

/* A callback for the results (and with `monitor_all` the inputs) of each operator of the next
 * calls. */
MXNET_C_DLL int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback, bool monitor_all);

/* Records a function of the program, with callbacks for its backward pass, as what computed the
 * outputs. */
MXNET_C_DLL int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs, NDArrayHandle* outputs,
                                       struct MXCallbackList* callbacks);

/* Whether float64 is the dtype of floats that nothing is said of (mx.np). */

/* Whether it is, for the whole process. */
MXNET_C_DLL int MXIsNumpyDefaultDtype(bool* curr);

/* Sets that; `prev` gets what held before. */
MXNET_C_DLL int MXSetIsNumpyDefaultDtype(bool dtype_flag, bool* prev);

/* MXAutogradMarkVariables, but results of recorded operations stay results: gradients go on to what
 * they were computed from. So it is with arrays of mx.np. */
MXNET_C_DLL int MXAutogradMarkResults(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array, NDArrayHandle* grad_handles);

/* Takes the gradients from arrays again. */
MXNET_C_DLL int MXAutogradDropGrads(uint32_t num_var, NDArrayHandle* var_handles);

/* The graph of the last call, after all passes. */
MXNET_C_DLL int MXCachedOpGetOptimizedSymbol(CachedOpHandle handle, SymbolHandle* out);

/* Deferred compute: while it is on, operators on this thread also note the graph that they are.
 * Arrays are named as variables, and the graph that outputs come from is handed out as a symbol.
 */

/* 1 while it is on, for this thread. */
MXNET_C_DLL int MXNDArrayIsDeferredCompute(int* curr);

/* Turns it on or off; `prev` gets what held before. */
MXNET_C_DLL int MXNDArraySetIsDeferredCompute(int deferred_compute_enabled, int* prev);

/* Array i of `num` stands for variable i. */
MXNET_C_DLL int MXNDArraySetDeferredComputeVariable(NDArrayHandle* arrays, SymbolHandle* variables, int num);

/* A new symbol with these outputs. An array that nothing is noted of is an error. */
MXNET_C_DLL int MXNDArrayGetDeferredComputeSymbol(NDArrayHandle* output_handles, int num_outputs, SymbolHandle* out);

/* Whether the shape of an array that was made while this thread noted operators depends on values:
 * boolean masks, nonzero, unique and what follows from them. It has the one that the inputs' values
 * give now. */
MXNET_C_DLL int MXNDArrayShapeIsValue(NDArrayHandle handle, int* out);

/* Forgets what is noted of these arrays. */
MXNET_C_DLL int MXNDArrayClearDeferredCompute(NDArrayHandle* arrays, int num);

#endif /* MXNET_C_API_IMPERATIVE_H_ */
