/*
 * ONNX models through C. A model is read once and called with inputs of any shapes; plans are made
 * for each set of shapes and kept. Calls of one model may come from several threads. Failures: see
 * c_api_error.h.
 *
 *   OnnxModelHandle model;
 *   MXOnnxModelCreate("m.onnx", 1, 0, &model);
 *   OnnxValueHandle x, *y;
 *   MXOnnxValueCreateTensor(array, &x);
 *   const char* names[] = {"input"};
 *   int count;
 *   MXOnnxModelRun(model, 1, names, &x, &count, &y);
 */
#ifndef MXNET_C_API_ONNX_H_
#define MXNET_C_API_ONNX_H_

#include "mxnet/c_api.h"

typedef void* OnnxModelHandle;
/* A tensor, strings, a sequence of values, or nothing (an optional that is empty). */
typedef void* OnnxValueHandle;

enum MXOnnxValueKind { kMXOnnxNone = 0, kMXOnnxTensor = 1, kMXOnnxStrings = 2, kMXOnnxSequence = 3 };

/* Reads a model and its external data. The file must stay as it is while the model is used: weights
 * are read when they are wanted. */
MXNET_C_DLL int MXOnnxModelCreate(const char* path, int dev_type, int dev_id, OnnxModelHandle* out);
/* From bytes, which are copied. `folder` has external data; null: there is none. */
MXNET_C_DLL int MXOnnxModelCreateFromBuffer(const void* bytes, size_t size, const char* folder, int dev_type, int dev_id,
                                            OnnxModelHandle* out);
/* Asks for products in bfloat16 (12) or float16 (2), as mixed precision has them, or in float32
 * (0): as the file says, the default, but that data in front of 8-bit weights in blocks, which is
 * rounded to 8 bits by default, keeps its digits. To be called before the first run. *used: what
 * the device computes in; processors without products of that dtype stay with float32. */
MXNET_C_DLL int MXOnnxModelSetPrecision(OnnxModelHandle handle, int dtype, int* used);
/* Gives a model back; values that it made stay. */
MXNET_C_DLL int MXOnnxModelFree(OnnxModelHandle handle);
/* One JSON object: inputs, outputs, opsets, metadata, producer, operators. The text lives until
 * this thread's next call. */
MXNET_C_DLL int MXOnnxModelDescribe(OnnxModelHandle handle, const char** out_json);
/* Names and dtypes (-1: none, or strings) of what a call has to give. The lists live until this
 * thread's next call. */
MXNET_C_DLL int MXOnnxModelListInputs(OnnxModelHandle handle, int* count, const char*** names, const int** dtypes);
/* The same of the results. */
MXNET_C_DLL int MXOnnxModelListOutputs(OnnxModelHandle handle, int* count, const char*** names, const int** dtypes);
/* The plans that were made so far, one line each. The text lives until this thread's next call. */
MXNET_C_DLL int MXOnnxModelExplain(OnnxModelHandle handle, const char** out_text);
/* The same plans as a JSON list (docs/explain.md), in the order in which they run, with the times
 * of `runs` runs, node by node, on inputs of zeros; 0: none. */
MXNET_C_DLL int MXOnnxModelExplainPlans(OnnxModelHandle handle, int runs, const char** out_json);
/* Computes all outputs. The caller frees the values in *outputs; the list itself lives until this
 * thread's next call. */
MXNET_C_DLL int MXOnnxModelRun(OnnxModelHandle handle, int num_inputs, const char** names, OnnxValueHandle* inputs, int* num_outputs,
                               OnnxValueHandle** outputs);
/* MXOnnxModelRun with arrays of the caller for some outputs, by name, which have their shapes and
 * dtypes: plans write there. They may lie on the model's device alone. An array that is an input,
 * too, is written in place where the operator that makes the output can do that and reads the input
 * last (a cache of keys), else when everything else is computed. */
MXNET_C_DLL int MXOnnxModelRunInto(OnnxModelHandle handle, int num_inputs, const char** names, OnnxValueHandle* inputs, int num_given,
                                   const char** given_names, NDArrayHandle* given, int* num_outputs, OnnxValueHandle** outputs);
/* The same computation for inputs of these shapes and dtypes (-1: the model's) as a symbol and its
 * parameters, by name. The caller frees symbol and arrays; the lists live until this thread's next
 * call. An error where shapes depend on contents. */
MXNET_C_DLL int MXOnnxModelConvert(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                                   const int* dtypes, SymbolHandle* symbol, int* num_params, const char*** param_names,
                                   NDArrayHandle** params);
/* MXOnnxModelConvert with contents for some inputs: the symbol is for these, and has no such
 * inputs. So a branch that an input chooses is the only one in it. The values are copied. */
MXNET_C_DLL int MXOnnxModelConvertFor(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                                      const int* dtypes, int num_given, const char** given_names, OnnxValueHandle* given,
                                      SymbolHandle* symbol, int* num_params, const char*** param_names, NDArrayHandle** params);
/* MXOnnxModelConvertFor for training. Variables of constants that are no weights, such as masks and
 * states of zeros, have the attribute `__constant__`. `with_operators`: what is computed of weights
 * alone is computed in the graph, so that there is one parameter for each weight of the file; 0: it
 * is a parameter. */
MXNET_C_DLL int MXOnnxModelConvertToLearn(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                                          const int* dtypes, int num_given, const char** given_names, OnnxValueHandle* given,
                                          int with_operators, SymbolHandle* symbol, int* num_params, const char*** param_names,
                                          NDArrayHandle** params);
/* For training a model that is no single graph, because shapes depend on contents: another model of
 * the same file, whose weights may be among the inputs of each call. Lists the names of the weights
 * and the arrays that the file has, which the caller frees; the lists live until this thread's next
 * call. */
MXNET_C_DLL int MXOnnxModelForTraining(OnnxModelHandle handle, OnnxModelHandle* out, int* num_weights, const char*** names,
                                       NDArrayHandle** weights);
/* A graph that a node of the model holds as its attribute `attribute` (the decoder of a search, the
 * branch of an If), as another model, on the same device. Constants of graphs around it that it
 * reads are its own; what is computed there is given in each call. `node`: the name of the node, or
 * of its first result where it has none; null: the only one with such a graph. */
MXNET_C_DLL int MXOnnxModelInner(OnnxModelHandle handle, const char* attribute, const char* node, OnnxModelHandle* out);
/* Runs a model of MXOnnxModelForTraining on arrays. While the thread records
 * (MXAutogradSetIsRecording) gradients pass from its results to its inputs; an error names a node
 * that would lose them. The caller frees the results; the list lives until this thread's next
 * call. */
MXNET_C_DLL int MXOnnxModelRunRecorded(OnnxModelHandle handle, int num_inputs, const char** names, NDArrayHandle* inputs, int* num_outputs,
                                       NDArrayHandle** outputs);
/* Operators that can be read: "DOMAIN OP FROM TO" each. The list lives until this thread's next
 * call. */
MXNET_C_DLL int MXOnnxListOps(int* count, const char*** out);

/* A value that shares the array's memory. */
MXNET_C_DLL int MXOnnxValueCreateTensor(NDArrayHandle array, OnnxValueHandle* out);
/* A tensor on the CPU from `size` bytes, which are copied. */
MXNET_C_DLL int MXOnnxValueCreateFromBytes(int dtype, int ndim, const int64_t* dims, const void* bytes, size_t size, OnnxValueHandle* out);
/* The same without a copy: the bytes stay as they are until MXOnnxValueFinish has returned, or the
 * value was in no call. They lie as the dtype wants it. No result shares their memory. */
MXNET_C_DLL int MXOnnxValueCreateOnBytes(int dtype, int ndim, const int64_t* dims, const void* bytes, size_t size, OnnxValueHandle* out);
/* Waits until no call reads the value any more. */
MXNET_C_DLL int MXOnnxValueFinish(OnnxValueHandle value);
/* A value of `count` texts, which are copied. */
MXNET_C_DLL int MXOnnxValueCreateStrings(int ndim, const int64_t* dims, int64_t count, const char** texts, OnnxValueHandle* out);
/* A sequence of `count` values, which stay the caller's. */
MXNET_C_DLL int MXOnnxValueCreateSequence(int count, OnnxValueHandle* elements, OnnxValueHandle* out);
/* Gives a value back. */
MXNET_C_DLL int MXOnnxValueFree(OnnxValueHandle value);
/* Which of MXOnnxValueKind a value is. */
MXNET_C_DLL int MXOnnxValueGetKind(OnnxValueHandle value, int* kind);
/* A new array handle that shares the value's memory. */
MXNET_C_DLL int MXOnnxValueGetTensor(OnnxValueHandle value, NDArrayHandle* out);
/* Of a tensor or of strings. The dimensions live as long as the value. */
MXNET_C_DLL int MXOnnxValueGetShape(OnnxValueHandle value, int* ndim, const int64_t** dims);
/* Waits, and copies a tensor's numbers as floats; `count` must be how many it has. */
MXNET_C_DLL int MXOnnxValueCopyFloats(OnnxValueHandle value, float* out, size_t count);
/* Texts and dimensions live as long as the value; the list until this thread's next call. */
MXNET_C_DLL int MXOnnxValueGetStrings(OnnxValueHandle value, int* ndim, const int64_t** dims, int64_t* count, const char*** texts);
/* New values, which the caller frees; the list lives until this thread's next call. */
MXNET_C_DLL int MXOnnxValueGetElements(OnnxValueHandle value, int* count, OnnxValueHandle** elements);

#endif  // MXNET_C_API_ONNX_H_
