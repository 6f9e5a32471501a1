/*
 * Winograd convolutions F(4x4, 3x3) and F(2x2, 3x3) of 8-bit integers, whose sums are exact
 * (docs/winograd.md): transformed data and transformed weights are whole numbers that fit into 16
 * bits, products and sums are taken modulo 2^32, and what they are divided by in the end is 4 times
 * an odd number, which has an inverse. So sums below 2^29 come out as they are, whatever overflowed
 * on the way.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_WINOGRAD_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_WINOGRAD_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/cpu_gemm/winograd_kernels.h"
#include "operator/quantized/packed_job.h"

namespace mxnet {
namespace quantized {

/* The tile of the job, if this method is the fastest. False: it is not, or cannot compute it.
 * `kept`: the weights are packed once for many calls. */
bool WinogradTakes(const PackedJob& job, bool kept, nn::WinogradDims* dims);

/* Is such a tile faster than a library's direct sums by instructions for products of bytes? */
bool BeatsByteProducts(const nn::WinogradDims& d);

/* Numbers of the transformed weights, and how they come from those of `job` as they lie. */
int64_t WinogradWeights(const nn::WinogradDims& d);
nn::WeightParts TransformedParts(const PackedJob& job, const nn::WinogradDims& d);

/* job.packed is not looked at. */
void WinogradProducts(KernelArgs& args, const PackedJob& job, const nn::WinogradDims& d, const int16_t* weights);

}  // namespace quantized

/*
 * V and M as in winograd_kernels.h, tiles and points so many numbers apart; U is [panel of
 * kWideColumns filters][point][pair of channels][filter][2].
 *
 * ByteLanes: numbers of 16 bits of a vector, of which V has whole ones; ByteRows: rows of a
 * register tile. BytesToPoints: tiles [begin, end) of x - zero into V. FiltersToPoints: a panel
 * of U, of the first filters. MultiplyPoints: M = V U for `tiles` tiles and panels [begin, end),
 * with which M begins; the Wide ones are those without instructions that add to sums.
 * PointsToSums: sums[pixel of the tile * pitch + filter] of n filters, in whole vectors, of a
 * tile's products.
 */
struct BytePart {
  int16_t* v;
  int64_t tile, point;
};
struct ProductPart {
  int32_t* m;
  int64_t tile, point;
};

MXNET_CPU_DECLARE(int64_t ByteLanes(); int64_t ByteRows(); void BytesToPoints(const nn::WinogradDims& d, const void* x, bool is_unsigned,
                                                                              int zero, int64_t begin, int64_t end, const BytePart& v);
                  void FiltersToPoints(const nn::WinogradDims& d, const int8_t* weights, bool weights_last, int16_t* u);
                  void MultiplyPoints(const nn::WinogradDims& d, const BytePart& v, int64_t tiles, const int16_t* u, int64_t begin,
                                      int64_t end, const ProductPart& m);
                  int64_t WideRows(); void MultiplyWidePoints(const nn::WinogradDims& d, const BytePart& v, int64_t tiles, const int16_t* u,
                                                              int64_t begin, int64_t end, const ProductPart& m);
                  void PointsToSums(const nn::WinogradDims& d, const int32_t* m, int64_t point, int64_t n, int32_t* sums, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_WINOGRAD_H_
