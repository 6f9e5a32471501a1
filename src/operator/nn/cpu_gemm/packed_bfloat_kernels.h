/*
 * The inner parts of convolutions and dense layers in bfloat16, for processors with AVX-512 and its
 * BF16 instructions (packed_bfloat.h asks for them). vdpbf16ps multiplies pairs of adjacent
 * elements and sums in float32: twice the multiplications of float32 in a cycle. Matrix tiles do
 * eight times as many again.
 *
 * As in packed_kernels.h a result's pixel is the sum over `segments` of products of `depth`
 * adjacent elements with as many rows of weights. Weights lie in panels of two vectors of 16
 * filters, the last panel having one to three, by pairs of rows; the last pair of a segment of odd
 * depth has a row of zeros:
 *   [panel][segment][pair][filters of the panel][2]
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_KERNELS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_KERNELS_H_

#include <cstdint>
#include <limits>

#include "base/half.h"

namespace mxnet {
namespace nn {

constexpr int kBfloatLanes = 16;  // filters of a vector
constexpr int kBfloatRows = 14;   // pixels of a register tile

/* Where a sum begins, and what happens to it before it is rounded: addend, then the bounds. NaN
 * stays. */
struct BfloatEpilogue {
  const float* bias = nullptr;       // by filter, whole vectors
  const bfloat16* addend = nullptr;  // as the result lies; may be the result
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

/* Adjacent pixels of the result: segment g of pixel i begins at rows[g * stride + i]. Or, for
 * matrix tiles, pixel i begins at flat + i * pitch, where its segments lie one behind the other,
 * each of an odd depth with a zero behind it. */
struct BfloatBlock {
  const bfloat16* const* rows = nullptr;
  int64_t stride = 0, count = 0;
  const bfloat16* flat = nullptr;  // null: rows
  int64_t pitch = 0;
  int64_t segments = 1, depth = 0, filters = 0;
  int64_t ld = 0;       // distance between pixels of the result, and of the addend
  bool onward = false;  // the panel behind the last one will be wanted next
};

/* Panels [begin, end) of a block's results, rounded; y and e.addend are the block's first pixel. */
void BfloatGemms(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, bfloat16* y);

/* The same unrounded: pixel i and the panels' filter j, from the first of them on, go to
 * wide[i * wide_ld + j]. */
void BfloatGemmsWide(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, float* wide,
                     int64_t wide_ld);

/* Both by matrix tiles (AMX), of flat blocks: to y where `wide` is null. REQUIRES: HasAmx(). */
void BfloatAmxGemms(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, bfloat16* y,
                    float* wide, int64_t wide_ld);

/* What becomes of `rows` rows of sums, `pitch` apart, that matrix tiles left; they begin with the
 * bias. y and e.addend are `ld` apart, rows of `wide` are not. */
void BfloatFinish(const float* sums, int64_t pitch, int64_t rows, int64_t filters, const BfloatEpilogue& e, bfloat16* y, int64_t ld);
void BfloatFinishWide(const float* sums, int64_t pitch, int64_t rows, int64_t filters, const BfloatEpilogue& e, int64_t ld, float* wide);

/* Packs weights of one segment: of a filter's element i they are from[filter * ld + i], or
 * from[i * ld + filter]. On the calling thread. */
void BfloatPackRows(int64_t filters, int64_t depth, const bfloat16* from, int64_t ld, bfloat16* packed);
void BfloatPackColumns(int64_t filters, int64_t depth, const bfloat16* from, int64_t ld, bfloat16* packed);

/* Few rows: sums(m, j) = data(m, k) * weight(j, k)^T for j in [begin, end), weights as they lie;
 * `sums` has n columns. */
void BfloatRows(int64_t m, int64_t n, int64_t k, const bfloat16* data, const bfloat16* weight, float* sums, int64_t begin, int64_t end);

/* float32 to bfloat16, to nearest even; subnormal numbers become zero. */
void BfloatRound(const float* in, bfloat16* out, int64_t n);

/* The same of gelu(in), x times the normal distribution function: exact to a bfloat16's last digit
 * or, below -3, to 1e-6. */
void BfloatGelu(const float* in, bfloat16* out, int64_t n);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_KERNELS_H_
