/* Discrete Fourier transforms on a GPU: a launch for each radix of the length. */
#ifndef MXNET_OPERATOR_SPECTRAL_GPU_FFT_H_
#define MXNET_OPERATOR_SPECTRAL_GPU_FFT_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace spectral {

/* Input 0 to output 0: `rows` real rows of n elements to rows of n pairs, or back. */
void TransformOnDevice(KernelArgs& args, int64_t rows, int64_t n, bool inverse);

}  // namespace spectral
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPECTRAL_GPU_FFT_H_
