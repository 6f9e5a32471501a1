/* Data iterators, datasets, and functions that make batches of their items: a part of the C
 * interface (c_api.h). */
#ifndef MXNET_C_API_DATA_H_
#define MXNET_C_API_DATA_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creators live as long as the process. The list is sorted by name. */

/* The list lives as long as the process. */
MXNET_C_DLL int MXListDataIters(uint32_t* out_size, DataIterCreator** out_array);

/* Name, text and arguments of an iterator; the texts live as long as the process. */
MXNET_C_DLL int MXDataIterGetIterInfo(DataIterCreator creator, const char** name, const char** description, uint32_t* num_args,
                                      const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions);
/* Parameters come as texts; what the iterator does not know is ignored. The iterator stands before
 * its first batch. */

/* A new iterator. A parameter that is missing or wrong is an error. */
MXNET_C_DLL int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char** keys, const char** vals, DataIterHandle* out);

/* Gives an iterator back, and ends its threads. Null is allowed. */
MXNET_C_DLL int MXDataIterFree(DataIterHandle handle);
/* 1: there is a batch; 0: the epoch is over. */
MXNET_C_DLL int MXDataIterNext(DataIterHandle handle, int* out);
/* The next batch as a whole. Several threads may call this for one iterator: each batch goes to
 * one of them. `out` as above; where it is 0 there are no arrays. The caller frees the arrays; the
 * lists are valid until the thread's next call. out_size is 0 where the iterator does not number
 * rows. */

/* MXDataIterNext with the batch. */
MXNET_C_DLL int MXDataIterNextBatch(DataIterHandle handle, int* out, int* num_outputs, NDArrayHandle** outputs, uint64_t** out_index,
                                    uint64_t* out_size, int* pad);

/* Starts the next epoch. */
MXNET_C_DLL int MXDataIterBeforeFirst(DataIterHandle handle);
/* Batches in an epoch; -1: unknown. */
MXNET_C_DLL int MXDataIterGetLenHint(DataIterHandle handle, int64_t* len);
/* Of the batch of the last MXDataIterNext that gave 1; they fail if there is none. The caller frees
 * the arrays, and may keep them. The pointers of GetItems and GetIndex are valid until the next
 * call with this iterator. */

/* The batch's first array. */
MXNET_C_DLL int MXDataIterGetData(DataIterHandle handle, NDArrayHandle* out);

/* The batch's second array. */
MXNET_C_DLL int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle* out);

/* All arrays of the batch. */
MXNET_C_DLL int MXDataIterGetItems(DataIterHandle handle, int* num_outputs, NDArrayHandle** outputs);

/* Numbers of the batch's rows; none where the iterator does not number them. */
MXNET_C_DLL int MXDataIterGetIndex(DataIterHandle handle, uint64_t** out_index, uint64_t* out_size);

/* How many rows at the batch's end only fill it. */
MXNET_C_DLL int MXDataIterGetPadNum(DataIterHandle handle, int* pad);

/* Datasets. One may be used by several threads. A dataset, function or iterator that is made of
 * others is given their handles as decimal numbers, and they may be freed then. */

/* The list lives as long as the process, sorted by name. */
MXNET_C_DLL int MXListDatasets(uint32_t* out_size, DatasetCreator** out_array);

/* Name, text and arguments of a dataset; the texts live as long as the process. */
MXNET_C_DLL int MXDatasetGetDatasetInfo(DatasetCreator creator, const char** name, const char** description, uint32_t* num_args,
                                        const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions);

/* A new dataset. A parameter that is missing or wrong is an error. */
MXNET_C_DLL int MXDatasetCreateDataset(DatasetCreator handle, uint32_t num_param, const char** keys, const char** vals, DatasetHandle* out);

/* Gives a dataset back; what is made of it keeps it. */
MXNET_C_DLL int MXDatasetFree(DatasetHandle handle);

/* How many items there are. */
MXNET_C_DLL int MXDatasetGetLen(DatasetHandle handle, uint64_t* out);
/* The parts of an item. The caller frees the arrays; the list is valid until the thread's next
 * call. */
MXNET_C_DLL int MXDatasetGetItems(DatasetHandle handle, uint64_t index, int* num_outputs, NDArrayHandle** outputs);

/* The list lives as long as the process, sorted by name. */
MXNET_C_DLL int MXListBatchifyFunctions(uint32_t* out_size, BatchifyFunctionCreator** out_array);

/* Name, text and arguments of a function; the texts live as long as the process. */
MXNET_C_DLL int MXBatchifyFunctionGetFunctionInfo(BatchifyFunctionCreator creator, const char** name, const char** description,
                                                  uint32_t* num_args, const char*** arg_names, const char*** arg_type_infos,
                                                  const char*** arg_descriptions);

/* A new function. A parameter that is missing or wrong is an error. */
MXNET_C_DLL int MXBatchifyFunctionCreateFunction(BatchifyFunctionCreator handle, uint32_t num_param, const char** keys, const char** vals,
                                                 BatchifyFunctionHandle* out);
/* `inputs` has the num_output parts of an item one behind the other, and batch_size items. There
 * are num_output results, which the caller frees; the list is valid until the thread's next
 * call. */

/* `outputs` gets the batches, one for each part. */
MXNET_C_DLL int MXBatchifyFunctionInvoke(BatchifyFunctionHandle handle, int batch_size, int num_output, NDArrayHandle* inputs,
                                         NDArrayHandle** outputs);

/* Gives a function back; what is made of it keeps it. */
MXNET_C_DLL int MXBatchifyFunctionFree(BatchifyFunctionHandle handle);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_DATA_H_ */
