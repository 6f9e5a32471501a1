/* What an operator record says beyond NNGetOpInfo of c_api.h. Failures: see c_api_error.h. */
#ifndef MXNET_C_API_OP_H_
#define MXNET_C_API_OP_H_

#include <stdint.h>

#ifndef MXNET_DLL
#define MXNET_DLL __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of the dtypes that the operator (a handle of NNGetOpHandle) accepts for input 0; none: no restriction. Static memory. */
MXNET_DLL int MXOpListDTypes(void* op, uint32_t* out_size, const int** out_dtypes);

#ifdef __cplusplus
}
#endif
#endif  /* MXNET_C_API_OP_H_ */
