/*
 * Errors of the C ABI. Every function that returns int returns 0 on success and -1 on failure; what went wrong is kept per
 * thread until the next failure on that thread.
 */
#ifndef MXNET_C_API_ERROR_H_
#define MXNET_C_API_ERROR_H_

#ifndef MXNET_DLL
#define MXNET_DLL __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Message of the last failure on this thread; "" before the first. Valid until the next failure on this thread. */
MXNET_DLL const char* MXGetLastError(void);
MXNET_DLL const char* NNGetLastError(void);
/* Its kind: 0 other, 1 value, 2 type, 3 index, 4 not implemented for this dtype, 5 out of memory, 6 input or output. */
MXNET_DLL int MXGetLastErrorKind(void);
/* For callbacks that report their own failure; the kind becomes 0. */
MXNET_DLL void NNAPISetLastError(const char* msg);

#ifdef __cplusplus
}
#endif
#endif  /* MXNET_C_API_ERROR_H_ */
