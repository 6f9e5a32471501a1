/*
 * The inner parts of convolutions and dense layers with packed weights, and of depthwise
 * convolutions, one set per instruction set.
 *
 * A packed convolution is a matrix product that finds its rows through pointers (Dukhan, "The
 * indirect convolution algorithm", arXiv 1907.02129): a result's pixel is the sum over `segments`
 * of the product of `depth` adjacent floats with as many rows of weights. Tensors are
 * channels-last, so a segment is one position of the window, or one line of it.
 *
 * Weights are packed into panels of two vectors of filters; the last panel has one to three, filled
 * up with zeros:
 *   [panel][segment][depth][filters of the panel]
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PACKED_KERNELS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PACKED_KERNELS_H_

#include <cstdint>
#include <limits>

namespace mxnet {
namespace nn {

/* What happens to a sum before it is stored: bias, addend, then the bounds. NaN stays. */
struct PackedEpilogue {
  const float* bias = nullptr;    // by filter
  const float* addend = nullptr;  // as the result lies; may be the result
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

/* Adjacent pixels of the result: segment g of pixel i begins at rows[g * stride + i] + shift. */
struct PackedBlock {
  const float* const* rows = nullptr;
  int64_t stride = 0, count = 0;
  int64_t segments = 1, depth = 0, filters = 0, shift = 0;
  int64_t ld = 0;  // distance between pixels of the result, and of the addend
  float* const* outs =
      nullptr;  // where the pixels' first vectors of filters go, when they do not lie so; their vectors are `apart`. Filters are whole vectors then
  int64_t apart = 0;
  bool onward = false;  // the panel behind the last one will be wanted next
  bool begun = false;   // sums begin with what the result holds
};

/* Vectors that filters fill, and panels of them. */
inline int64_t PackedVectors(int64_t filters, int lanes) { return (filters + lanes - 1) / lanes; }
inline int64_t PackedPanels(int64_t filters, int lanes) {
  const int64_t panels = PackedVectors(filters, lanes) / 2;
  return panels > 0 ? panels : 1;
}

constexpr int kMostDepthwiseTaps = 7;

/* A depthwise convolution with a square window of 3, 5 or 7 lines, channels-last; weights are
 * [vector of channels][taps x taps][lanes], the last vector ending with the last channel. */
struct DepthwiseDims {
  int64_t batch = 0, channels = 0, h = 0, w = 0, oh = 0, ow = 0;
  int taps = 3, stride = 1, pad_h = 0, pad_w = 0;  // stride: 1 or 2; pad: at most half a window
};

}  // namespace nn
}  // namespace mxnet

#define MXNET_PACKED_KERNELS                                                                                                              \
  int PackedLanes();                                                                                                                      \
  int PackedRows(); /* pixels of a register tile */                                                                                       \
  /* Panels [begin, end) of the results of a block; y is its first pixel, e.addend too. */                                                \
  void PackedGemms(const nn::PackedBlock& block, const float* packed, int64_t begin, int64_t end, const nn::PackedEpilogue& e, float* y); \
  /* Lines [begin, end) of all images' results, channels [c_begin, c_end): c_begin is a multiple of
   * the lanes, c_end too or the last. At least a vector of channels, with an addend whole vectors.
   * */                                       \
  void DepthwiseLines(const nn::DepthwiseDims& d, const float* x, const float* weight, int64_t begin, int64_t end, int64_t c_begin,       \
                      int64_t c_end, const nn::PackedEpilogue& e, float* y);                                                              \
  /* One or two (`height`) adjacent lines of results of 3x3 windows, channels [c_begin, c_end),
   * whole vectors. lines[i] is the i-th line of data that they need, from the first column on that
   * a window reaches, with zeros where it reaches outside: [column][lanes] of the first vector, the
   * others `apart`. y is the first pixel of the result, e.addend is not looked at. */                                           \
  void DepthwiseVectors(const nn::DepthwiseDims& d, int height, const float* const* lines, int64_t apart, const float* weight,            \
                        int64_t c_begin, int64_t c_end, const nn::PackedEpilogue& e, float* y);

#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PACKED_KERNELS_H_
