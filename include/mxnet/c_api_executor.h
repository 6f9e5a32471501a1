/* Executors: symbols bound to arrays: a part of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_EXECUTOR_H_
#define MXNET_C_API_EXECUTOR_H_

#include "mxnet/c_api.h"

/* Seven figures of a compiled plan: arena bytes, bytes without sharing, largest live set, nodes,
 * bulks, results computed in place, nodes removed. */
MXNET_C_DLL int MXExecutorGetPlanStats(ExecutorHandle handle, uint64_t* out_values);

/* The passes of the plan compiler in the order in which they run: name and one sentence, in
 * turn. */
MXNET_C_DLL int MXListPlanPasses(uint32_t* out_size, const char*** out_texts);

/* Executors: a symbol bound to arrays. MXExecutorForward computes; MXExecutorBackward computes
 * gradients of what `is_train` computed before, from the gradients of the outputs (none for
 * losses). The handles of outputs are new, and the caller frees them. */

/* Gives an executor back. Runs under way keep what they need. */
MXNET_C_DLL int MXExecutorFree(ExecutorHandle handle);

/* The plan for people; the text lives until this thread's next call. */
MXNET_C_DLL int MXExecutorPrint(ExecutorHandle handle, const char** out_str);

/* `is_train` 1 keeps what the backward pass needs. */
MXNET_C_DLL int MXExecutorForward(ExecutorHandle handle, int is_train);

/* `len` gradients of outputs; none where all outputs are losses. */
MXNET_C_DLL int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads);

/* The same; `is_train` 0 computes as inference did. */
MXNET_C_DLL int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads, int is_train);

/* `out_size` arrays; the list lives until this thread's next call. */
MXNET_C_DLL int MXExecutorOutputs(ExecutorHandle handle, uint32_t* out_size, NDArrayHandle** out);

/* Binds given arrays, in the order of the arguments and auxiliary states. Requests: 0 no gradient,
 * 1 written, 2 written in place, 3 added. The keys of a map are values of the attribute ctx_group,
 * with the device of each. `shared_exec`: an executor whose memory for intermediate results is
 * used, too. */

/* All arrays on one device. `arg_grad_store` has null where no gradient is wanted. */
MXNET_C_DLL int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len, NDArrayHandle* in_args,
                               NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                               ExecutorHandle* out);

/* The same with a map of groups to devices. */
MXNET_C_DLL int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                                const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args,
                                NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                                ExecutorHandle* out);

/* The same with an executor to share memory with, or null. */
MXNET_C_DLL int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                                 const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args,
                                 NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                                 ExecutorHandle shared_exec, ExecutorHandle* out);

/* Binds new arrays, whose shapes follow from some that are given as in MXSymbolInferShape. Names
 * before lists say which arguments requests, shapes, dtypes and storage types are for. With a null
 * list of requests no argument has a gradient. What is in the shared buffer is used, and new arrays
 * join it. The caller frees the arrays that are handed out. */

/* Shapes of unsigned dimensions. */
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

/* Shapes of signed dimensions. */
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

/* The same with wider numbers. */
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

/* Shapes of unsigned dimensions. `shared_exec` is the executor, and stays. */
MXNET_C_DLL int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id, uint32_t num_map_keys,
                                  const char** map_keys, const int* map_dev_types, const int* map_dev_ids,
                                  const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names,
                                  const uint32_t* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args,
                                  NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states, NDArrayHandle** aux_states,
                                  ExecutorHandle shared_exec, ExecutorHandle* out);

/* Shapes of signed dimensions. */
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

/* For results alone. `callback_handle` is given to each call. */
MXNET_C_DLL int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle);

/* With inputs, where `monitor_all`. */
MXNET_C_DLL int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle,
                                               bool monitor_all);

#endif /* MXNET_C_API_EXECUTOR_H_ */
