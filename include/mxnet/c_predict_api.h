/*
 * The C interface for inference: a symbol, its parameters, inputs in, outputs out.
 *
 * Every function returns 0 on success and -1 on failure; MXGetLastError() then tells why, on the
 * same thread. Pointers that a function hands out through `out` arguments stay valid until the next
 * call on the same thread or handle.
 */
#ifndef MXNET_C_PREDICT_API_H_
#define MXNET_C_PREDICT_API_H_

#include "mxnet/c_api.h"

/* Makes a predictor, which MXPredFree takes back, from the text of a symbol file and the bytes of a
 * parameter file. Inputs come by name; the shape of input i is
 * input_shape_data[input_shape_indptr[i]] to input_shape_data[input_shape_indptr[i + 1]], without
 * the latter. Devices as in MXNDArrayCreate. Arguments that neither inputs nor parameters give must
 * be labels. */
MXNET_C_DLL int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                             uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                             const uint32_t* input_shape_data, PredictorHandle* out);

/* MXPredCreate with dtypes of some arguments, by name. */
MXNET_C_DLL int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                               const uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                               const uint32_t* input_shape_data, const uint32_t num_provided_arg_dtypes,
                               const char** provided_arg_dtype_names, const int* provided_arg_dtypes, PredictorHandle* out);

/* MXPredCreate with results of nodes within the graph as outputs, by name. */
MXNET_C_DLL int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                                       uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                                       const uint32_t* input_shape_data, uint32_t num_output_nodes, const char** output_keys,
                                       PredictorHandle* out);

/* Writes `num_threads` predictors to `out`. They share parameters and compiled plan; inputs,
 * outputs and intermediate memory are their own. One thread at a time may use each. Each goes back
 * through MXPredFree. */
MXNET_C_DLL int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                                        uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                                        const uint32_t* input_shape_data, int num_threads, PredictorHandle* out);

/*
 * MXPredCreateMultiThread with the parameters in the file `param_file`, which is to stay as it is:
 * an array is read from it when a kernel wants it, and its memory goes once the kernel has packed
 * it. Predictors made from one file share its arrays.
 */
MXNET_C_DLL int MXPredCreateFromFile(const char* symbol_json_str, const char* param_file, int dev_type, int dev_id,
                                     uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                                     const uint32_t* input_shape_data, int num_threads, PredictorHandle* out);

/* Names (without "arg:" and "aux:") and dtypes of the parameters in a file. They are there until
 * the thread's next call. */
MXNET_C_DLL int MXPredParameterTypes(const char* param_file, uint32_t* num, const char*** names, const int** dtypes);

/* A new predictor for other shapes of inputs, which shares the parameters of `handle`; both go
 * back. */
MXNET_C_DLL int MXPredReshape(uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                              const uint32_t* input_shape_data, PredictorHandle handle, PredictorHandle* out);

/* Shape of an output. It lives as long as the predictor. */
MXNET_C_DLL int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data, uint32_t* shape_ndim);

/* Dtype of an output, as a number. */
MXNET_C_DLL int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype);

/* Copies an input. `size` counts elements of the input's own dtype, whatever the pointer's type
 * says. */
MXNET_C_DLL int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size);

/* Computes on the inputs that were set last; an error of a kernel may come with MXPredGetOutput. */
MXNET_C_DLL int MXPredForward(PredictorHandle handle);

/* Computes the graph up to operator number `step`, and says how many are left. */
MXNET_C_DLL int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);

/* Waits, and copies an output. `size` counts elements, and must be that of the output's shape; they
 * have the output's own dtype. */
MXNET_C_DLL int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size);

/* Gives a predictor back; null is allowed. */
MXNET_C_DLL int MXPredFree(PredictorHandle handle);

/* Reads a file of arrays from memory, as float32 on the CPU. Names, values and shapes live until
 * MXNDListFree. */

/* A new list of `out_length` arrays. Bytes that are no such file are an error. */
MXNET_C_DLL int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out, uint32_t* out_length);

/* Array `index` of the list; the key is an empty text where it has no name. */
MXNET_C_DLL int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key, const float** out_data, const uint32_t** out_shape,
                            uint32_t* out_ndim);

/* The compiled plan as one JSON object (docs/explain.md), with the times of `runs` runs, node by
 * node, on copies of what is bound; 0: none. The text lives until this thread's next call. */
MXNET_C_DLL int MXPredExplain(PredictorHandle handle, int runs, const char** out_json);

/* A callback for the result of each operator, with `monitor_all` for its inputs, too. The array
 * that it gets is the callback's to free. */
MXNET_C_DLL int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback, void* callback_handle, bool monitor_all);

/* Gives a list of arrays back. */
MXNET_C_DLL int MXNDListFree(NDListHandle handle);

#endif /* MXNET_C_PREDICT_API_H_ */
