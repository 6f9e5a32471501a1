/*
 * Elements of any floating dtype in memory, and the loops of norm_kernels.h on them. Half types are
 * computed in float, piece by piece through buffers that the first-level cache holds: a copy of the
 * whole array would go through memory. Numbers per column are float for half types, else of the
 * data's type.
 *
 * THREADS: any; results may lie where what they are made of element by element lies.
 */
#ifndef MXNET_OPERATOR_NN_NORM_NORM_DATA_H_
#define MXNET_OPERATOR_NN_NORM_NORM_DATA_H_

#include "mxnet/kernel_args.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/norm_kernels.h"

namespace mxnet {
namespace nn {

struct NormData {
  char* at = nullptr;
  int dtype = kFloat32;
  NormData() = default;
  NormData(void* begin, int type) : at(static_cast<char*>(begin)), dtype(type) {}
  explicit NormData(const TBlob& b) : NormData(b.dptr, b.dtype) {}
  int64_t item() const { return static_cast<int64_t>(DTypeSize(dtype)); }
  NormData operator+(int64_t elements) const { return {at + elements * item(), dtype}; }
  /* An element as a number. */
  double operator[](int64_t i) const;
};

/* Each as the function of norm_kernels.h with Norm in front. */
void Moments(NormData x, int64_t n, double shift, double* sum, double* squares);
void MomentsColumns(NormData x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares);
void GradientSums(NormData g, NormData x, int64_t n, double mean, double* sum, double* product, const NormMask* mask);
void GradientSumsColumns(NormData g, NormData x, int64_t rows, int64_t n, const double* mean, double* sum, double* product,
                         const NormMaskColumns* mask);
void ScaleLine(NormData x, NormData y, int64_t n, double scale, double shift, bool relu);
void ScaleColumns(NormData x, NormData y, int64_t rows, int64_t n, const void* scale, const void* shift, bool relu);
void ScaleAddLine(NormData x, NormData addend, NormData y, int64_t n, double scale, double shift, uint8_t* bits);
void ScaleAddColumns(NormData x, NormData addend, NormData y, int64_t rows, int64_t n, const void* scale, const void* shift, uint8_t* bits);
void KeepMarked(NormData g, const uint8_t* bits, NormData h, int64_t rows, int64_t n);
void GradientLine(NormData g, NormData x, NormData dx, int64_t n, double a, double b, double c, const NormMask* mask);
void GradientColumns(NormData g, NormData x, NormData dx, int64_t rows, int64_t n, const void* a, const void* b, const void* c,
                     const NormMaskColumns* mask);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_NORM_DATA_H_
