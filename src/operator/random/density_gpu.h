/* Densities on a GPU: the formulas of density_formulas.cuh as kernels. Arrays as in density.cc. */
#ifndef MXNET_OPERATOR_RANDOM_DENSITY_GPU_H_
#define MXNET_OPERATOR_RANDOM_DENSITY_GPU_H_

#include "mxnet/kernel_args.h"
#include "operator/random/density.h"

namespace mxnet {

void PdfOnDevice(KernelArgs& args, Density kind, bool is_log);
void PdfBackwardOnDevice(KernelArgs& args, Density kind, bool is_log);
void DirichletOnDevice(KernelArgs& args, bool is_log);
void DirichletBackwardOnDevice(KernelArgs& args, bool is_log);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DENSITY_GPU_H_
