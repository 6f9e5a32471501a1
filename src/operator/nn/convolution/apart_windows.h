/*
 * The gradient of a convolution by its data where windows do not overlap, which is also a
 * transposed convolution whose stride is its kernel: each pixel gives a window of its own. A matrix
 * product gives the windows of some lines, whose numbers then go to their places. PP-OCR's last
 * layer, 24 channels of 320 x 320 to one, takes 3 ms so instead of the vector library's 21. Where
 * images have few channels, windows that overlap are added to their places: FSRCNN's last layer, 56
 * channels of 48 x 48 to one by windows of 9 x 9, takes 0.35 ms instead of 1.8.
 */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_APART_WINDOWS_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_APART_WINDOWS_H_

#include "mxnet/op.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace nn {

/* False: the case is another one, and nothing was done. */
bool ApartWindows(KernelArgs& args, const ConvCall& call);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_APART_WINDOWS_H_
