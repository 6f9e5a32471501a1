/* Sums between an example and the vectors of a support vector machine, for each instruction set. */
#ifndef MXNET_ONNX_CONVERT_TREES_SVM_SUMS_H_
#define MXNET_ONNX_CONVERT_TREES_SVM_SUMS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* sums[v]: of (x[f] - vectors[f][v])^2 over features f if `apart`, else of x[f] * vectors[f][v]. */
MXNET_CPU_DECLARE(void SvmSums(bool apart, const float* x, const float* vectors, int64_t features, int64_t count, float* sums);)
MXNET_CPU_DECLARE(void SvmSumsDouble(bool apart, const double* x, const float* vectors, int64_t features, int64_t count, double* sums);)

}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TREES_SVM_SUMS_H_
