/*
 * Compiled plans through C: what they are, and graphs of mixed precision. Failures: see
 * c_api_error.h.
 */
#ifndef MXNET_C_API_PLAN_H_
#define MXNET_C_API_PLAN_H_

#include "mxnet/c_api.h"

/*
 * The plan that ran last as one JSON object (docs/explain.md), with the times of `runs` runs, node
 * by node, on the CPU; 0: none. Nothing of the caller's is written. `inputs` in the order of a
 * call; a null handle stands for zeros. The text lives until this thread's next call.
 */
MXNET_C_DLL int MXExecutorExplain(ExecutorHandle handle, int runs, const char** out_json);
MXNET_C_DLL int MXCachedOpExplain(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int runs, const char** out_json);
/* {operator: [precision, parameter, [values], is a loss]} as JSON: 1 gains from 16 bits, 2 needs
 * float32 (with a parameter: for these values), 3 inputs share the widest dtype; a loss is the
 * network's output at the same time, and true for the operator's own name, not for an alias. */
MXNET_C_DLL int MXListOpPrecisions(const char** out_json);
MXNET_C_DLL int MXReducePrecisionSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, uint32_t num_args, const int* arg_type_data,
                                        uint32_t num_ind_ptr, const int* ind_ptr, const int* target_dtype, const int cast_optional_params,
                                        const uint32_t num_target_dtype_op_names, const uint32_t num_fp32_op_names,
                                        const uint32_t num_widest_dtype_op_names, const uint32_t num_conditional_fp32_op_names,
                                        const uint32_t num_excluded_symbols, const uint32_t num_model_params,
                                        const char** target_dtype_op_names, const char** fp32_op_names, const char** widest_dtype_op_names,
                                        const char** conditional_fp32_op_names, const char** excluded_symbols,
                                        const char** conditional_param_names, const char** conditional_param_vals,
                                        const char** model_param_names, const char** arg_names);

#endif  // MXNET_C_API_PLAN_H_
