/* Kernels of CUDA that the program brings as source text: a part of the C interface, whose rules
 * stand in c_api.h. */
#ifndef MXNET_C_API_RTC_H_
#define MXNET_C_API_RTC_H_

#include "mxnet/c_api.h"

/* Kernels of CUDA that the program brings as source text. Types of arguments are the numbers of
 * dtypes; `args` of a call has arrays' handles and pointers to numbers. Dimensions are those of the
 * launch, in blocks and threads; `shared_mem` is in bytes. */

/* Compiles `source`. Compiler messages are in the error. `exports`: names of templates' instances.
 **/
MXNET_C_DLL int MXRtcCudaModuleCreate(const char* source, int num_options, const char** options, int num_exports, const char** exports,
                                      CudaModuleHandle* out);

/* Gives a module back; its kernels keep it. */
MXNET_C_DLL int MXRtcCudaModuleFree(CudaModuleHandle handle);

/* A kernel of a module; for each argument, whether it is an array, is const, and its dtype. */
MXNET_C_DLL int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char* name, int num_args, int* is_ndarray, int* is_const,
                                      int* arg_types, CudaKernelHandle* out);

/* Gives a kernel back. */
MXNET_C_DLL int MXRtcCudaKernelFree(CudaKernelHandle handle);

/* Pushes a launch on GPU `dev_id`, behind what writes the arrays. */
MXNET_C_DLL int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void** args, uint32_t grid_dim_x, uint32_t grid_dim_y,
                                    uint32_t grid_dim_z, uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
                                    uint32_t shared_mem);

#endif /* MXNET_C_API_RTC_H_ */
