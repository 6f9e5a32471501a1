/* The windows of convolutions and poolings: kernel, stride, dilation and padding of each spatial
 * axis, as attributes give them. */
#ifndef MXNET_ONNX_CONVERT_NEURAL_WINDOW_H_
#define MXNET_ONNX_CONVERT_NEURAL_WINDOW_H_

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

struct Window {
  Sizes in, kernel, stride, dilate, before, after, out;

  size_t rank() const { return kernel.size(); }
  int64_t Extent(size_t i) const { return (kernel[i] - 1) * dilate[i] + 1; }
  bool Symmetric() const { return before == after; }
  bool Dilated() const;
  /* Padding behind an axis with which windows without rounding give `out`. */
  int64_t After(size_t i) const;
};

/* The kernel of attribute kernel_shape, or `otherwise`. Throws Refuse for missing ones and for ones
 * that differ from `otherwise` where that is not empty. */
Sizes ReadKernel(const Call& c, const Sizes& otherwise, size_t rank);
/* Attributes strides, dilations. */
Sizes ReadPositive(const Call& c, const char* name, size_t rank, int64_t otherwise);
/* Attributes strides, dilations, pads, auto_pad, and ceil_mode where `ceil` allows it. */
Window ReadWindow(const Call& c, const Sizes& in, const Sizes& kernel, bool ceil);
/* x (batch, channels, spatial...) padded along the spatial axes. */
Value PadSpatial(const Call& c, const Value& x, const Sizes& before, const Sizes& after, double value);
/* Sizes behind the first two. */
Sizes Spatial(const Shape& shape);
/* Throws Refuse when a size exceeds what arrays can have. */
void CheckSmall(const Call& c, const char* what, const Sizes& sizes, int64_t least);

void ConvertConv(Call& c);
void ConvertConvTranspose(Call& c);
void ConvertDeformConv(Call& c);
void ConvertMaxPool(Call& c);
void ConvertMaxPoolWithMask(Call& c);
void ConvertAveragePool(Call& c);
void ConvertLpPool(Call& c);
void ConvertGlobalPool(Call& c);  // argument: avg, max
void ConvertGlobalLpPool(Call& c);
void ConvertMaxUnpool(Call& c);
void ConvertCol2Im(Call& c);
void ConvertResize10(Call& c);
void ConvertResize(Call& c);
void ConvertUpsample(Call& c);
void ConvertDepthToSpace(Call& c);
void ConvertSpaceToDepth(Call& c);
void ConvertGridSample(Call& c);
void ConvertAffineGrid(Call& c);
void ConvertLRN(Call& c);

/* Means of the windows that the attributes give, of x in the place of input 0. */
Value Averages(const Call& c, const Value& x);
/* The convolution of x (batch, channels, spatial) with w; bias may be none. */
Value Convolve(const Call& c, const Value& x, const Value& w, const Value& bias, const Window& window, int64_t groups);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_NEURAL_WINDOW_H_
