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
MXNET_C_DLL int MXListFunctions(uint32_t* out_size, FunctionHandle** out_array);
MXNET_C_DLL int MXGetFunction(const char* name, FunctionHandle* out);
MXNET_C_DLL int MXFuncGetInfo(FunctionHandle fun, const char** name, const char** description, uint32_t* num_args, const char*** arg_names,
                              const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type DEFAULT(NULL));
MXNET_C_DLL int MXFuncDescribe(FunctionHandle fun, uint32_t* num_use_vars, uint32_t* num_scalars, uint32_t* num_mutate_vars,
                               int* type_mask);
MXNET_C_DLL int MXFuncInvoke(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args, NDArrayHandle* mutate_vars);
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
MXNET_C_DLL int NNGraphCreate(SymbolHandle symbol, GraphHandle* graph);
MXNET_C_DLL int NNGraphFree(GraphHandle handle);
MXNET_C_DLL int NNGraphGetSymbol(GraphHandle graph, SymbolHandle* symbol);
MXNET_C_DLL int NNGraphSetJSONAttr(GraphHandle handle, const char* key, const char* json_value);
MXNET_C_DLL int NNGraphGetJSONAttr(GraphHandle handle, const char* key, const char** json_out, int* success);
MXNET_C_DLL int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char* key, SymbolHandle list);
MXNET_C_DLL int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char** pass_names, GraphHandle* dst);

/*
 * A CUDA kernel of which only the body is given: its arguments are pointers named like the arrays,
 * those to inputs const. In the body, NAME_ndim and NAME_dims are the arrays' ranks and sizes at
 * MXRtcCreate. MXRtcPush takes arrays of the same dtypes, and runs behind what writes them.
 */
MXNET_C_DLL int MXRtcCreate(char* name, uint32_t num_input, uint32_t num_output, char** input_names, char** output_names,
                            NDArrayHandle* inputs, NDArrayHandle* outputs, char* kernel, RtcHandle* out);
MXNET_C_DLL int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output, NDArrayHandle* inputs, NDArrayHandle* outputs,
                          uint32_t gridDimX, uint32_t gridDimY, uint32_t gridDimZ, uint32_t blockDimX, uint32_t blockDimY,
                          uint32_t blockDimZ);
MXNET_C_DLL int MXRtcFree(RtcHandle handle);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_GRAPH_H_ */
