/* Symbols: making, attributes, inference, files, partitioning, mixed precision: a part of the C
 * interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_SYMBOL_H_
#define MXNET_C_API_SYMBOL_H_

#include "mxnet/c_api.h"

/* A training step of `symbol` in at most `budget` bytes of arena (0: as few as possible). Shapes
 * and dtypes by input name; gradients of the arguments
   `grad_names` (none: of all). `out_symbol` is a copy with __force_mirroring__ on the nodes to recompute, whose names are `out_names`. out_bytes: arena,
   its lower bound, arena without recomputation. out_costs: rough nanoseconds and FLOPs of a step, and of what is recomputed: four values. */
MXNET_C_DLL int MXSymbolPlanMemory(SymbolHandle symbol, int dev_type, int dev_id, uint32_t num_shapes, const char** shape_names,
                                   const int64_t* shape_data, const uint32_t* shape_idx, uint32_t num_dtypes, const char** dtype_names,
                                   const int* dtypes, uint32_t num_grads, const char** grad_names, uint64_t budget,
                                   SymbolHandle* out_symbol, uint64_t* out_bytes, double* out_costs, uint32_t* out_num_names,
                                   const char*** out_names);

/* Names of all operators; handles of those that symbols can be made of; the name of one. */

/* Names, aliases among them. The list lives as long as the library. */
MXNET_C_DLL int MXListAllOpNames(uint32_t* out_size, const char*** out_array);

/* Handles, which are those of NNGetOpHandle. They live as long as the library. */
MXNET_C_DLL int MXSymbolListAtomicSymbolCreators(uint32_t* out_size, AtomicSymbolCreator** out_array);

/* The name of the operator of a handle. It lives as long as the library. */
MXNET_C_DLL int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char** name);

/* The variables that a graph reads, and the edges by which one enters the subgraph that its
 * attribute names. The caller frees the symbols. */

/* A new symbol for each variable. The list lives until this thread's next call. */
MXNET_C_DLL int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle** inputs, int* input_size);

/* Cuts these edges, which become inputs of the subgraph, and hands out what came in. */
MXNET_C_DLL int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle** inputs, int* input_size);

/* What is known of an operator: name, text, arguments with types and texts; in `key_var_num_args`
 * the parameter that counts the inputs of an operator with any number of them, else an empty text.
 */
MXNET_C_DLL int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char** name, const char** description, uint32_t* num_args,
                                            const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions,
                                            const char** key_var_num_args, const char** return_type DEFAULT(NULL));

/* New symbols, each of which goes back through MXSymbolFree: an operator without inputs, which
 * MXSymbolCompose gives it; a variable; several symbols as one; from a file or JSON text. */

/* An operator with `num_param` parameters as texts. Wrong ones are an error here or in
 * MXSymbolCompose. */
MXNET_C_DLL int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char** keys, const char** vals,
                                           SymbolHandle* out);

/* A variable of this name. */
MXNET_C_DLL int MXSymbolCreateVariable(const char* name, SymbolHandle* out);

/* A symbol with the outputs of all of `symbols`, which stay the caller's. */
MXNET_C_DLL int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle* symbols, SymbolHandle* out);

/* Reads a file of JSON. */
MXNET_C_DLL int MXSymbolCreateFromFile(const char* fname, SymbolHandle* out);

/* Reads JSON text, also of older versions. */
MXNET_C_DLL int MXSymbolCreateFromJSON(const char* json, SymbolHandle* out);

/* A copy of the graph without the casts that mixed precision put in. */
MXNET_C_DLL int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);

/* The graph as JSON (docs/file_formats.md). */

/* Writes a file, which is replaced as a whole. */
MXNET_C_DLL int MXSymbolSaveToFile(SymbolHandle symbol, const char* fname);

/* The text lives until this thread's next call. */
MXNET_C_DLL int MXSymbolSaveToJSON(SymbolHandle symbol, const char** out_json);

/* Gives a symbol's handle back; makes a copy with nodes of its own; a text for people. */

/* Gives the handle back; null is allowed. */
MXNET_C_DLL int MXSymbolFree(SymbolHandle symbol);

/* A copy, with nodes of its own. */
MXNET_C_DLL int MXSymbolCopy(SymbolHandle symbol, SymbolHandle* out);

/* Nodes with their inputs and attributes; the text lives until this thread's next call. */
MXNET_C_DLL int MXSymbolPrint(SymbolHandle symbol, const char** out_str);

/* Name and attributes of a node; `success` is 0 without one. Lists are pairs of key and value;
 * those of MXSymbolListAttr are of all nodes, with keys `node$key`. */

/* The name of the symbol's node; none for several outputs. */
MXNET_C_DLL int MXSymbolGetName(SymbolHandle symbol, const char** out, int* success);

/* The value of an attribute of the symbol's node. */
MXNET_C_DLL int MXSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);

/* Sets an attribute of the symbol's node. */
MXNET_C_DLL int MXSymbolSetAttr(SymbolHandle symbol, const char* key, const char* value);

/* 2 * `out_size` texts, of all nodes of the graph. */
MXNET_C_DLL int MXSymbolListAttr(SymbolHandle symbol, uint32_t* out_size, const char*** out);

/* 2 * `out_size` texts, of the symbol's node alone. */
MXNET_C_DLL int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t* out_size, const char*** out);

/* What MXSymbolGetNodes says of a node. */
enum MXNodeKind { kMXNodeOperator = 0, kMXNodeArgument = 1, kMXNodeAuxiliaryState = 2 };

/* All nodes of the graph, each behind those that it reads. A list that ends in `_ptr` has one
 * number more than there are nodes: what belongs to node i are the elements from ptr[i] to
 * ptr[i + 1]. `operators`: "null" for a variable, as in files. `kinds`: values of MXNodeKind.
 * `inputs` and `heads`, the outputs of the symbol: pairs of a node's number and an output's number.
 * `outputs`: names of all outputs, hidden ones too. `attrs`: pairs of a name and a value, as they
 * were given. `graphs`: of operators that hold graphs, which the caller frees; the other lists live
 * until this thread's next call of the function. */
MXNET_C_DLL int MXSymbolGetNodes(SymbolHandle symbol, uint32_t* num_nodes, const char*** names, const char*** operators, const int** kinds,
                                 const uint32_t** input_ptr, const uint32_t** inputs, const uint32_t** output_ptr, const char*** outputs,
                                 const uint32_t** attr_ptr, const char*** attrs, const uint32_t** graph_ptr, SymbolHandle** graphs,
                                 uint32_t* num_heads, const uint32_t** heads);

/* Names of the variables that are read (arguments), of the outputs, and of the variables that
 * operators write (auxiliary states, below). */

/* The order is that in which executors are given arrays. */
MXNET_C_DLL int MXSymbolListArguments(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array);

/* Names of outputs, as `node_output`. */
MXNET_C_DLL int MXSymbolListOutputs(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array);

/* How many outputs the symbol has. */
MXNET_C_DLL int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t* output_count);

/* New symbols: all results within the graph; the inputs of its last nodes, an empty one without
 * any; one of its outputs. */

/* A symbol whose outputs are all results, variables among them, in topological order. */
MXNET_C_DLL int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);

/* A symbol whose outputs are the inputs of the symbol's nodes. */
MXNET_C_DLL int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);

/* A symbol of output `index` alone. */
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
 * An unknown dimension is 0, and -1 while MXIsNumpyShape is 1. `complete` is 0 if shapes stay open;
 * Partial sets it to 1 always. 64: wider numbers. The lists live until this thread's next call. */

/* Unsigned dimensions. Contradictions are an error that names the node. */
MXNET_C_DLL int MXSymbolInferShape(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                   const uint32_t* arg_shape_data, uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                   const uint32_t*** in_shape_data, uint32_t* out_shape_size, const uint32_t** out_shape_ndim,
                                   const uint32_t*** out_shape_data, uint32_t* aux_shape_size, const uint32_t** aux_shape_ndim,
                                   const uint32_t*** aux_shape_data, int* complete);

/* The same with signed dimensions. */
MXNET_C_DLL int MXSymbolInferShapeEx(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                     const int* arg_shape_data, uint32_t* in_shape_size, const int** in_shape_ndim,
                                     const int*** in_shape_data, uint32_t* out_shape_size, const int** out_shape_ndim,
                                     const int*** out_shape_data, uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                     const int*** aux_shape_data, int* complete);

/* The same with wider numbers. */
MXNET_C_DLL int MXSymbolInferShapeEx64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                       const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                       const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                       const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                       const int64_t*** aux_shape_data, int* complete);

/* MXSymbolInferShape, where shapes may stay open. */
MXNET_C_DLL int MXSymbolInferShapePartial(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                          const uint32_t* arg_shape_data, uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                          const uint32_t*** in_shape_data, uint32_t* out_shape_size, const uint32_t** out_shape_ndim,
                                          const uint32_t*** out_shape_data, uint32_t* aux_shape_size, const uint32_t** aux_shape_ndim,
                                          const uint32_t*** aux_shape_data, int* complete);

/* MXSymbolInferShapeEx, where shapes may stay open. */
MXNET_C_DLL int MXSymbolInferShapePartialEx(SymbolHandle sym, uint32_t num_args, const char** keys, const uint32_t* arg_ind_ptr,
                                            const int* arg_shape_data, uint32_t* in_shape_size, const int** in_shape_ndim,
                                            const int*** in_shape_data, uint32_t* out_shape_size, const int** out_shape_ndim,
                                            const int*** out_shape_data, uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                            const int*** aux_shape_data, int* complete);

/* MXSymbolInferShapeEx64, where shapes may stay open. */
MXNET_C_DLL int MXSymbolInferShapePartialEx64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                              const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                              const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                              const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                              const int64_t*** aux_shape_data, int* complete);

/* The same for dtypes, where -1 is unknown. */

/* Contradictions are an error that names the node. The lists live until this thread's next call. */
MXNET_C_DLL int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data, uint32_t* in_type_size,
                                  const int** in_type_data, uint32_t* out_type_size, const int** out_type_data, uint32_t* aux_type_size,
                                  const int** aux_type_data, int* complete);

/* The same, where dtypes may stay open. */
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

/* The graph with operators on 8-bit integers, for mx.contrib.quantization: `offline_params` are
 * variables that come quantized (NAME_quantize, NAME_quantize_min, NAME_quantize_max);
 * `quantized_dtype` is int8, uint8 or auto; `quantize_mode` full or smart; `quantize_granularity`
 * tensor-wise or channel-wise, which the graph does not show. The names of results whose range it
 * wants to know, if `calib_quantize`, live until this thread's next call. */
MXNET_C_DLL int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, const int* dev_type,
                                 const uint32_t num_excluded_sym_names, const char** excluded_sym_names,
                                 const uint32_t num_excluded_op_names, const char** excluded_op_names, const uint32_t num_offline,
                                 const char** offline_params, const char* quantized_dtype, const bool calib_quantize,
                                 const char* quantize_mode, const char* quantize_granularity, uint32_t* out_num_calib_names,
                                 const char*** out_calib_names);

/* The quantized graph with these ranges of results. Names of others are ignored. */
MXNET_C_DLL int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, const uint32_t num_layers, const char** layer_names,
                                                 const float* low_quantiles, const float* high_quantiles, SymbolHandle* ret_sym_handle);

/* MXQuantizeSymbol for speed: a relu shares its range with what it follows, and what nodes in
 * float32 read comes from 32-bit integers. `calibrated`: MXSetCalibTableToQuantizedSymbol will be
 * called, so that a clip from 0 is a relu. */
MXNET_C_DLL int MXQuantizeSymbolEx(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, const uint32_t num_excluded_sym_names,
                                   const char** excluded_sym_names, const uint32_t num_excluded_op_names, const char** excluded_op_names,
                                   const uint32_t num_offline, const char** offline_params, const char* quantized_dtype,
                                   const bool calibrated, const char* quantize_mode, uint32_t* out_num_calib_names,
                                   const char*** out_calib_names);

/* Inference: the graph with BatchNorm and numbers behind convolutions and dense layers in float32
 * as part of their parameters. The outputs of `out_made` are the values of the parameters
 * `out_names`, from the old ones. Nodes of the names in `kept` stay. Shapes as for
 * MXOptimizeForBackend. The names live until this thread's next call. */
MXNET_C_DLL int MXSymbolFoldParameters(SymbolHandle sym_handle, const uint32_t num_shapes, const char** shape_names,
                                       const int64_t* shape_data, const uint32_t* shape_idx, const uint32_t num_kept, const char** kept,
                                       SymbolHandle* out_symbol, SymbolHandle* out_made, uint32_t* out_num_names, const char*** out_names);

/* The graph with the parts that a partitioner of this name takes as nodes of their own
 * (docs/guide/extend_with_a_library.md); the operator of a symbol, without inputs; the same as the
 * first with shapes, options and arguments that the partitioner adds. */

/* A new symbol. An unknown partitioner is an error. */
MXNET_C_DLL int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend, SymbolHandle* ret_sym_handle);

/* A new symbol of the node's operator with its parameters. */
MXNET_C_DLL int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);

/* A new symbol; the lists of what is added live until this thread's next call, and the caller frees
 * the arrays. */
MXNET_C_DLL int MXOptimizeForBackend(SymbolHandle sym_handle, const char* backend_name, const int dev_type, SymbolHandle* ret_sym_handle,
                                     const mx_uint args_len, NDArrayHandle* in_args_handle, const mx_uint aux_len,
                                     NDArrayHandle* in_aux_handle, const mx_uint num_options, const char** keys, const char** vals,
                                     const uint32_t num_input_shapes, const char** input_shape_names, const int64_t* input_shape_data,
                                     const uint32_t* input_shape_idx, const uint32_t num_input_dtypes, const char** input_dtype_names,
                                     const int* input_dtypes, const uint32_t num_input_stypes, const char** input_stype_names,
                                     const int* input_stypes, bool skip_infer, int* new_args_cnt, NDArrayHandle** new_args_handle,
                                     char*** new_arg_names_handle, int* new_aux_cnt, NDArrayHandle** new_aux_handle,
                                     char*** new_aux_names_handle);

/* Another handle for the same array or symbol. */
MXNET_C_DLL int MXShallowCopySymbol(SymbolHandle src, SymbolHandle* out);

/* The variables of a graph as one symbol. */
MXNET_C_DLL int MXSymbolGetInputs(SymbolHandle symbol, SymbolHandle* out);

/* Other names of MXSymbolInferShapeEx64 and MXSymbolInferShapePartialEx64, from MXNet 2.0. */

/* MXSymbolInferShapeEx64. */
MXNET_C_DLL int MXSymbolInferShape64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                     const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                     const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                     const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                     const int64_t*** aux_shape_data, int* complete);

/* MXSymbolInferShapePartialEx64. */
MXNET_C_DLL int MXSymbolInferShapePartial64(SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
                                            const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
                                            const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
                                            const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
                                            const int64_t*** aux_shape_data, int* complete);

/* Whether shapes of the graph depend on values. */
MXNET_C_DLL int MXCheckDynamicShapeOp(SymbolHandle sym_handle, bool* has_dynamic_shape);

#endif /* MXNET_C_API_SYMBOL_H_ */
