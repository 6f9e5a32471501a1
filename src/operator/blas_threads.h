/* Threads of the BLAS and LAPACK library. */
#ifndef MXNET_OPERATOR_BLAS_THREADS_H_
#define MXNET_OPERATOR_BLAS_THREADS_H_

namespace mxnet {

/* Before calls of the library: with MXNET_ENFORCE_DETERMINISM=1 it uses one thread. */
void SettleBlasThreads();

}  // namespace mxnet
#endif  // MXNET_OPERATOR_BLAS_THREADS_H_
