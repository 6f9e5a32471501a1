/*
 * Kernels that move elements without looking at them: they know an element's size (1, 2, 4 or 8
 * bytes), not its dtype. All split their work over threads. Offsets and counts are in elements
 * unless named bytes.
 */
#ifndef MXNET_OPERATOR_MATRIX_MOVE_CPU_H_
#define MXNET_OPERATOR_MATRIX_MOVE_CPU_H_

#include <cstdint>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {

/* memcpy on several threads. Nothing happens when src == dst. REQUIRES: no other overlap. */
void CopyBytes(const void* src, void* dst, int64_t bytes);

/*
 * Copies a box: out[i0, i1, ...] = src[sum of i_k * src_stride[k]] where out is addressed by
 * dst_stride in the same way. Neighbouring dimensions that are contiguous on both sides are merged
 * first and the destination is walked as it lies. Strides may be negative or 0 (source only).
 */
MXNET_DLL void CopyStrided(const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim,
                           size_t elem_bytes);

/* dst = src with axes permuted: dimension i of dst is dimension axes[i] of src. REQUIRES: dst does
 * not overlap src. */
void Permute(const void* src, const Shape& src_shape, const int* axes, void* dst, size_t elem_bytes);

/* `rows` pieces of row_bytes each; the next one begins pitch bytes behind the last. Concatenation
 * and splitting along an axis. */
void CopyRows(const void* src, int64_t src_pitch, void* dst, int64_t dst_pitch, int64_t row_bytes, int64_t rows);

/* `rows` pieces of that many bytes, side by side in memory. */
struct RowsOfPart {
  const void* src;
  int64_t row_bytes;
};
/* Row by row, what CopyRows does part by part: dst has row 0 of all parts, then row 1 of all. */
void JoinRows(const std::vector<RowsOfPart>& parts, void* dst, int64_t rows);
/* The same where each row of each part is one element. REQUIRES: IsEvenStep(count, elem_bytes). */
void JoinElements(const void* const* parts, int count, void* dst, int64_t rows, size_t elem_bytes);

/*
 * dst[...] += src[...] over a box as in CopyStrided, where dimensions of destination stride 0 sum.
 * Works on one thread per piece of the outermost dimension whose destination stride is not 0, so
 * the sums have one order. Half types are summed in float.
 */
void AddStrided(const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim,
                int dtype);

/* Zeroes memory, on several threads when large. */
void ZeroBytes(void* dst, int64_t bytes);

/* Row-major strides of a shape, in elements. */
void RowMajorStrides(const Shape& shape, int64_t* strides);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_MOVE_CPU_H_
