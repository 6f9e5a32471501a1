/* Loops of Activation and LeakyReLU for several instruction sets. */
#ifndef MXNET_OPERATOR_SHARED_ACTIVATION_KERNELS_H_
#define MXNET_OPERATOR_SHARED_ACTIVATION_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {
enum ActivationType : int {
  kActRelu,
  kActSigmoid,
  kActTanh,
  kActSoftRelu,
  kActSoftSign,
  kActLogSigmoid,
  kActMish,
  kActLeaky,
  kActElu,
  kActSelu,
  kActGelu
};
}  // namespace nn
MXNET_CPU_DECLARE(void ActivationForward(int type, int dtype, const void* x, void* y, int64_t n, double slope);
                  /* `value` is the output for relu, sigmoid, tanh, softrelu and log_sigmoid,
                   * the input for the others. */
                  void ActivationBackward(int type, int dtype, const void* og, const void* value, void* dx, int64_t n, double slope);
                  /* A row with a slope for each element; dx or sums (where the gradients of the
                   * slopes are added)
   * may be null. */
                  void PreluRow(int dtype, const void* x, const void* slopes, void* y, int64_t n);
                  void PreluRowBackward(int dtype, const void* og, const void* x, const void* slopes, void* dx, double* sums, int64_t n);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_ACTIVATION_KERNELS_H_
