/* Functions of older programs: a part of the C interface (c_api.h). The first operators on arrays,
 * graphs with attributes and passes by name, and CUDA kernels given as a body. */
#ifndef MXNET_C_API_GRAPH_H_
#define MXNET_C_API_GRAPH_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The four functions on arrays that came before operators: _set_value, _onehot_encode,
 * fill_element_0index and _imdecode. Each is an operator of that name today. `scalar_args` are its
 * parameters as numbers, in the order in which MXFuncGetInfo lists them behind the arrays;
 * MXFuncInvokeEx takes others by name. An unknown name gives a null handle and no error.
 * `type_mask`: 1 arrays come before numbers, 4 the arrays to write may be empty ones.
 */

/* Handles of the four. The list lives as long as the library. */
MXNET_C_DLL int MXListFunctions(uint32_t* out_size, FunctionHandle** out_array);

/* The handle of a name. */
MXNET_C_DLL int MXGetFunction(const char* name, FunctionHandle* out);

/* Name, text and arguments; the texts live as long as the library. */
MXNET_C_DLL int MXFuncGetInfo(FunctionHandle fun, const char** name, const char** description, uint32_t* num_args, const char*** arg_names,
                              const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type DEFAULT(NULL));

/* How many arrays are read, numbers given, and arrays written. */
MXNET_C_DLL int MXFuncDescribe(FunctionHandle fun, uint32_t* num_use_vars, uint32_t* num_scalars, uint32_t* num_mutate_vars,
                               int* type_mask);

/* Computes now. The arrays stay the caller's. */
MXNET_C_DLL int MXFuncInvoke(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args, NDArrayHandle* mutate_vars);

/* The same with `num_params` further parameters as texts. */
MXNET_C_DLL int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args, NDArrayHandle* mutate_vars, int num_params,
                               char** param_keys, char** param_vals);

/*
 * A symbol with named attributes. Attributes are written as ["TYPE", VALUE], with TYPE one of int,
 * size_t, str, list_int, list_str and list_shape; the lists of results that Gradient reads
 * (grad_ys, grad_xs, grad_ys_out_grad) are set by NNGraphSetNodeEntryListAttr_.
 *
 * Passes: InferShape (shape_inputs, shape_attr_key -> shape, shape_num_unknown_nodes), InferType
 * (dtype_inputs, dtype_attr_key -> dtype, dtype_num_unknown_nodes), SaveJSON (-> json), LoadJSON
 * and LoadLegacyJSON (json), Gradient and MXGradient, OrderMutation, PlanMemory and MXPlanMemory
 * (shape, dtype -> storage_id, storage_inplace_index, storage_allocated_bytes), PrintGraphIR
 * (join_node_attrs -> graphir). CorrectLayout, BuildSubgraph and PlaceDevice leave the graph: a
 * plan does their work. `dst` is a new graph; `src` stays.
 */

/* A new graph of a symbol, which stays the caller's. */
MXNET_C_DLL int NNGraphCreate(SymbolHandle symbol, GraphHandle* graph);

/* Gives a graph back. */
MXNET_C_DLL int NNGraphFree(GraphHandle handle);

/* A new symbol of the graph. */
MXNET_C_DLL int NNGraphGetSymbol(GraphHandle graph, SymbolHandle* symbol);

/* Sets an attribute. Text that is not of that form is an error. */
MXNET_C_DLL int NNGraphSetJSONAttr(GraphHandle handle, const char* key, const char* json_value);

/* An attribute; `success` is 0 without it. The text lives until this thread's next call. */
MXNET_C_DLL int NNGraphGetJSONAttr(GraphHandle handle, const char* key, const char** json_out, int* success);

/* Sets a list of results: the outputs of a symbol. */
MXNET_C_DLL int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char* key, SymbolHandle list);

/* Runs passes in their order. An unknown one, or a missing attribute, is an error. */
MXNET_C_DLL int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char** pass_names, GraphHandle* dst);

/*
 * A CUDA kernel of which only the body is given: its arguments are pointers named like the arrays,
 * those to inputs const. In the body, NAME_ndim and NAME_dims are the arrays' ranks and sizes at
 * MXRtcCreate. MXRtcPush takes arrays of the same dtypes, and runs behind what writes them.
 */

/* Compiles the kernel; an error in a build without CUDA. */
MXNET_C_DLL int MXRtcCreate(char* name, uint32_t num_input, uint32_t num_output, char** input_names, char** output_names,
                            NDArrayHandle* inputs, NDArrayHandle* outputs, char* kernel, RtcHandle* out);

/* Pushes a launch. Dimensions are in blocks and in threads. */
MXNET_C_DLL int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output, NDArrayHandle* inputs, NDArrayHandle* outputs,
                          uint32_t gridDimX, uint32_t gridDimY, uint32_t gridDimZ, uint32_t blockDimX, uint32_t blockDimY,
                          uint32_t blockDimZ);

/* Gives a kernel back. */
MXNET_C_DLL int MXRtcFree(RtcHandle handle);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_GRAPH_H_ */
