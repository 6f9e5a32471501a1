/* A thread's own variables, for paths on which each call counts. */
#ifndef MXNET_BASE_THREADS_OWN_VARIABLE_H_
#define MXNET_BASE_THREADS_OWN_VARIABLE_H_

namespace mxnet {

/* Where the variable is, asked once: in a shared library asking is a call, and compilers repeat it
 * before each use, since they take the answer for a constant. */
template <typename T>
inline T* AskedOnce(T* variable) {
  asm("" : "+r"(variable));
  return variable;
}

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_OWN_VARIABLE_H_
