/* Operators that the program brings along: a part of the C interface (c_api.h). */
#ifndef MXNET_C_API_CUSTOM_H_
#define MXNET_C_API_CUSTOM_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The callbacks of an operator and of what describes it (MXCustomOpRegister). All return 0 on
 * failure. Arrays are tagged: 0 input, 1 output, 2 gradient of an input, 3 gradient of an output, 4
 * auxiliary state; the callee owns the handles. */
enum CustomOpCallbacks { kCustomOpDelete, kCustomOpForward, kCustomOpBackward };
enum CustomOpPropCallbacks {
  kCustomOpPropDelete,
  kCustomOpPropListArguments,
  kCustomOpPropListOutputs,
  kCustomOpPropListAuxiliaryStates,
  kCustomOpPropInferShape,
  kCustomOpPropDeclareBackwardDependency,
  kCustomOpPropCreateOperator,
  kCustomOpPropInferType,
  kCustomOpPropInferStorageType,
  kCustomOpPropBackwardInferStorageType
};
typedef int (*CustomOpFBFunc)(int size, void** ptrs, int* tags, const int* reqs, const int is_train, void* state);
typedef int (*CustomOpDelFunc)(void* state);
typedef int (*CustomOpListFunc)(char*** args, void* state);
typedef int (*CustomOpInferShapeFunc)(int num_tensors, int* ndims, int** shapes, void* state);
typedef int (*CustomOpInferTypeFunc)(int num_tensors, int* types, void* state);
typedef int (*CustomOpInferStorageTypeFunc)(int num_tensors, int* stypes, void* state);
typedef int (*CustomOpBackwardInferStorageTypeFunc)(int num_tensors, int* stypes, int* tags, void* state);
typedef int (*CustomOpBwdDepFunc)(const int* out_grad, const int* in_data, const int* out_data, int* num_deps, int** deps, void* state);
typedef int (*CustomOpCreateFunc)(const char* ctx, int num_inputs, unsigned** shapes, const int* ndims, const int* dtypes,
                                  struct MXCallbackList* ret, void* state);

/*
 * Makes Custom(op_type=...) known. `creator` is called for each use of the operator and fills in
 * the callbacks of CustomOpPropCallbacks. The last three may be left out: the results then have the
 * dtype of the first argument, and the operator gets dense copies of sparse arrays. A name that is
 * registered again is replaced. Forward and backward run on threads of their own.
 */
MXNET_C_DLL int MXCustomOpRegister(const char* op_type, CustomOpPropCreator creator);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_CUSTOM_H_ */
