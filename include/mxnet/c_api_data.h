/* Data iterators: a part of the C interface (c_api.h). */
#ifndef MXNET_C_API_DATA_H_
#define MXNET_C_API_DATA_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creators live as long as the process. The list is sorted by name. */
MXNET_C_DLL int MXListDataIters(uint32_t* out_size, DataIterCreator** out_array);
MXNET_C_DLL int MXDataIterGetIterInfo(DataIterCreator creator, const char** name, const char** description, uint32_t* num_args,
                                      const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions);
/* Parameters come as texts; what the iterator does not know is ignored. The iterator stands before
 * its first batch. */
MXNET_C_DLL int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char** keys, const char** vals, DataIterHandle* out);
MXNET_C_DLL int MXDataIterFree(DataIterHandle handle);
/* 1: there is a batch; 0: the epoch is over. */
MXNET_C_DLL int MXDataIterNext(DataIterHandle handle, int* out);
MXNET_C_DLL int MXDataIterBeforeFirst(DataIterHandle handle);
/* Batches in an epoch; -1: unknown. */
MXNET_C_DLL int MXDataIterGetLenHint(DataIterHandle handle, int64_t* len);
/* Of the batch of the last Next that gave 1; they fail if there is none. The caller frees the
 * arrays, and may keep them. The pointers of GetItems and GetIndex are valid until the next call
 * with this iterator. */
MXNET_C_DLL int MXDataIterGetData(DataIterHandle handle, NDArrayHandle* out);
MXNET_C_DLL int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle* out);
MXNET_C_DLL int MXDataIterGetItems(DataIterHandle handle, int* num_outputs, NDArrayHandle** outputs);
MXNET_C_DLL int MXDataIterGetIndex(DataIterHandle handle, uint64_t** out_index, uint64_t* out_size);
MXNET_C_DLL int MXDataIterGetPadNum(DataIterHandle handle, int* pad);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_DATA_H_ */
