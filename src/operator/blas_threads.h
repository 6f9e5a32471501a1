/* Threads of the BLAS and LAPACK library. */
#ifndef MXNET_OPERATOR_BLAS_THREADS_H_
#define MXNET_OPERATOR_BLAS_THREADS_H_

namespace mxnet {

/* Before calls of the library: with MXNET_ENFORCE_DETERMINISM=1 it uses one thread. */
void SettleBlasThreads();

/*
 * While one of these lives, BLAS and LAPACK calls use the thread that makes them. Others may find
 * that so, too: then they take longer. The library's own threads wait for a processor while those
 * of OpenMP look for work, which they do for milliseconds.
 */
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  const bool counts_;  // the library has such threads
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_BLAS_THREADS_H_
