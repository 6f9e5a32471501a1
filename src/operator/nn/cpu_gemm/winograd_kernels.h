/*
 * The inner parts of a Winograd convolution (Lavin & Gray, arXiv 1509.09308), one set per
 * instruction set.
 *
 * F(m x m, r x r) cuts the output into tiles of m x m, each computed from a = m + r - 1 squared
 * inputs. Data tiles and filters are transformed into a * a points; at each point the tiles'
 * channels are multiplied with the filters' (a matrix product), and the products are transformed
 * back:  Y = At [(G g Gt) . (Bt d B)] A. A window that is one wide in a dimension is left as it is
 * there.
 *
 * Tensors are channels-last (N, H, W, C). Per block of tiles,
 *   V   [tile][point][C rounded up to lanes]           transformed data
 *   U   [panel of `panel` filters][point][C][panel]    transformed weights, rows of filters filled
 *       up with zeros
 *   M   [tile][point][filters of some panels]          products
 *
 * Large U that come from memory for every image are kept in three or two bytes a number
 * (WinogradDims::weight_bytes). A (panel, point) then has the panel's scales and, for each pair of
 * channels, vectors of 32-bit words. Of the pair's four vectors of numbers (first channel's
 * filters, second channel's),
 *   3 bytes: words 0, 1, 2 have those of vectors 0, 1, 2 in their upper 24 bits, and in their
 *   lowest 8 bits together those of vector 3, the lowest first; 2 bytes: words 0, 1 have those of
 *   vectors 0, 1 in their upper 16 bits and those of vectors 2, 3 in their lower ones.
 * A word is converted as it is: what lies in its lower bits is known when the upper ones are
 * rounded. Numbers are integers, times the filter's scale; where scales are zero they are the upper
 * bits of float32 (WinogradCompact says when).
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_KERNELS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_KERNELS_H_

#include <cstdint>

namespace mxnet {
namespace nn {

struct WinogradDims {
  int points = 6;  // 4, 6, 8 or 10 in each dimension where the window is wider than one
  int window_h = 3, window_w = 3;
  int64_t batch = 0, c = 0, k = 0;       // channels in, channels out
  int64_t apart_h = 1, apart_w = 1;      // images lie in each other, as of a dilated window: from one pixel of an image to the next
  int64_t h = 0, w = 0, oh = 0, ow = 0;  // sizes in, sizes out; they need not fit together: what lies outside the data is zero
  int64_t pad_h = 0, pad_w = 0;          // of the side before
  int weight_bytes = 4;                  // of a number of U: 4, 3 or 2
  int TileH() const { return window_h == 1 ? 1 : points - window_h + 1; }
  int TileW() const { return window_w == 1 ? 1 : points - window_w + 1; }
  int Points() const { return (window_h == 1 ? 1 : points) * (window_w == 1 ? 1 : points); }
  int64_t Weights() const { return Points() * c * k; }  // numbers of U
  int64_t TilesH() const { return (oh + TileH() - 1) / TileH(); }
  int64_t TilesW() const { return (ow + TileW() - 1) / TileW(); }
  int64_t Tiles() const { return batch * TilesH() * TilesW(); }
};

/* Where a tile begins: its image, its first row and column of the result. */
struct WinogradTile {
  int64_t n, y, x;
  /* Where its image begins, of images of h x w, in pixels. */
  int64_t Image(const WinogradDims& d, int64_t h, int64_t w) const {
    const int64_t of = n / (d.apart_h * d.apart_w), row = n / d.apart_w % d.apart_h, column = n % d.apart_w;
    return (of * h * d.apart_h + row) * w * d.apart_w + column;
  }
  WinogradTile(const WinogradDims& d, int64_t tile) {
    const int64_t tw = d.TilesW(), th = d.TilesH();
    x = tile % tw * d.TileW();
    y = tile / tw % th * d.TileH();
    n = tile / (tw * th);
  }
};

/* Strides of a weight (K, C, window_h, window_w) in elements; `rotated`: the window is read
 * backwards. */
struct WinogradFilter {
  const float* ptr = nullptr;
  int64_t k = 0, c = 0, r = 0, s = 0;
  bool rotated = false;
};

/* The same for a gradient that is written. */
struct WinogradFilterGradient {
  float* ptr = nullptr;
  int64_t k = 0, c = 0, r = 0, s = 0;
};

struct WinogradGeometry {
  int lanes, rows, panel;  // floats of a vector, rows and filters of a register tile
};

/* What happens to a result before it is stored. */
struct WinogradEpilogue {
  const float* bias = nullptr;    // by filter
  const float* addend = nullptr;  // same order and size as the result; may be the result
  bool relu = false;
};

/* A part of V or M: element (tile, point, channel) lies at ptr[tile * tile_stride + point *
 * point_stride + channel]. */
struct WinogradPart {
  float* ptr = nullptr;
  int64_t tile_stride = 0, point_stride = 0;
};

}  // namespace nn
}  // namespace mxnet

#define MXNET_WINOGRAD_KERNELS                                                                                                             \
  nn::WinogradGeometry WinogradShape();                                                                                                    \
  /* Panels [begin, end) of U for channels [c_begin, c_end). */                                                                            \
  void WinogradWeights(const nn::WinogradDims& d, const nn::WinogradFilter& f, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, \
                       float* u);                                                                                                          \
  /* Floats' room of a panel's weights at one point. */                                                                                    \
  int64_t WinogradChunk(const nn::WinogradDims& d);                                                                                        \
  /* From a panel of U in floats that in d.weight_bytes. */                                                                                \
  void WinogradCompact(const nn::WinogradDims& d, const float* plain, float* compact);                                                     \
  /* Tiles [begin, end) of data into V; tile `begin` lies first. */                                                                        \
  void WinogradInput(const nn::WinogradDims& d, const float* x, int64_t begin, int64_t end, const nn::WinogradPart& v);                    \
  /* M = V U for `tiles` tiles and panels [begin, end); M begins with panel `begin`. */                                                    \
  void WinogradGemms(const nn::WinogradDims& d, const nn::WinogradPart& v, int64_t tiles, const float* u, int64_t begin, int64_t end,      \
                     const nn::WinogradPart& m);                                                                                           \
  /* Results of tiles [begin, end) and filters [k_begin, k_end) from M, which begins with both. */                                         \
  void WinogradOutput(const nn::WinogradDims& d, const nn::WinogradPart& m, int64_t begin, int64_t end, int64_t k_begin, int64_t k_end,    \
                      const nn::WinogradEpilogue& e, float* y);                                                                            \
  /* Tiles [begin, end) of the result's gradient, transformed with A; filters are rounded up to a panel. */                                \
  void WinogradGradient(const nn::WinogradDims& d, const float* y, int64_t begin, int64_t end, const nn::WinogradPart& w);                 \
  /* At points [begin, end): U [point][C][filters rounded up to panels] = or += sums over tiles of V times W. */                           \
  void WinogradSums(const nn::WinogradDims& d, const nn::WinogradPart& v, const nn::WinogradPart& w, int64_t tiles, int64_t begin,         \
                    int64_t end, bool add, float* u);                                                                                      \
  /* Gt U G of channels [c_begin, c_end). */                                                                                               \
  void WinogradWeightGradient(const nn::WinogradDims& d, const float* u, int64_t c_begin, int64_t c_end,                                   \
                              const nn::WinogradFilterGradient& f);

#endif  // MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_KERNELS_H_
