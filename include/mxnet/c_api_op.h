/* What an operator record says beyond NNGetOpInfo of c_api.h, and dtypes. Failures: see
 * c_api_error.h. */
#ifndef MXNET_C_API_OP_H_
#define MXNET_C_API_OP_H_

#include <stdint.h>

#ifndef MXNET_DLL
#define MXNET_DLL __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names of all dtypes, in the order of their numbers, and the bytes of an element of each. Static
 * memory. */
MXNET_DLL int MXListDTypes(uint32_t* out_size, const char*** out_names, const uint32_t** out_bytes);
/* Numbers of the dtypes that the operator (a handle of NNGetOpHandle) accepts for input 0; of one
 * without inputs for output 0. Static memory. */
MXNET_DLL int MXOpListDTypes(void* op, uint32_t* out_size, const int** out_dtypes);
/*
 * The dtype in which arrays meet, by NumPy's promotion, as this thread's MXSetIsNumpyDefaultDtype
 * has it: of `num` dtype numbers, at least one. `number` says what Python number is beside the
 * arrays: 0 none, 1 an integer, 2 a fraction. Operators do not run.
 */
MXNET_DLL int MXOpPromoteDTypes(uint32_t num, const int* dtypes, int number, int* out);
/*
 * Arrays from outside (not set by MXNDArraySetDeferredComputeVariable) that the graph recorded last
 * on this thread reads, and the names of the variables that stand for them. The handles are the
 * caller's; a second call gives none.
 */
MXNET_DLL int MXNDArrayTakeDeferredComputeConstants(int* out_size, void*** out_arrays, const char*** out_names);
/* Hidden attributes (`__key__`) of the nodes that deferred compute records on this thread from now
 * on, in the place of those set before; none with `num` 0. */
MXNET_DLL int MXNDArraySetDeferredComputeAttributes(uint32_t num, const char** keys, const char** values);

#ifdef __cplusplus
}
#endif
#endif /* MXNET_C_API_OP_H_ */
