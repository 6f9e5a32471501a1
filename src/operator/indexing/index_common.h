/* Index arrays of any dtype as int64, and what happens to indices that are out of range. What takes
 * a KernelArgs works where its `run` says. */
#ifndef MXNET_OPERATOR_INDEXING_INDEX_COMMON_H_
#define MXNET_OPERATOR_INDEXING_INDEX_COMMON_H_

#include <cstdint>

#include "mxnet/kernel_args.h"

namespace mxnet {

/* Out of range: the nearest, counted around, or refused; kFromEnd takes [-size, 0) from the end
 * and refuses the rest. */
enum class IndexMode : int { kClip = 0, kWrap = 1, kRaise = 2, kFromEnd = 3 };

/* The index array as int64: itself when it is that, else a copy in the kernel's workspace. Floats
 * are cut off towards zero; NaN becomes INT64_MIN. */
const int64_t* ReadIndices(KernelArgs& args, const TBlob& indices);

/* n of the indices on the CPU from `first` on, converted in the same way. */
void CopyIndices(const TBlob& indices, int64_t first, int64_t n, int64_t* to);

/* Copies with every index in [0, size), as `mode` says; what it refuses is an Error(kIndex).
 * REQUIRES: size > 0 or the array is empty (else Error(kIndex)). */
const int64_t* ReadIndicesInRange(KernelArgs& args, const TBlob& indices, int64_t size, IndexMode mode);

/* Writes int64 numbers in the dtype of `out`. */
void ConvertIndices(const int64_t* values, const TBlob& out, int64_t n);

/* out (outer, num, inner) = data (outer, size, inner) at index[0..num) of the middle dimension.
 * REQUIRES: indices in range. */
void TakeRows(const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num, void* out);

/* data (outer, size, inner) = 0, then += rows (outer, num, inner) at index. Sums have one order on
 * any number of threads; half types are summed in float. */
void AddRows(KernelArgs& args, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
             const TBlob& data);

/* flat[i] = the flat index of column i of `in` (m, n), indices of the first m dimensions of data,
 * on the CPU. `from_end`: negative ones count from the end. False where one is out of range. */
bool FlattenIndices(const int64_t* in, int64_t m, int64_t n, const Shape& data, bool from_end, int64_t* flat);

/* Flat indices of an array of shape `target` from columns (ndim, n) of indices, and, on the CPU,
 * the other way. The first size is not looked at. */
void RavelIndices(const RunContext& run, const Shape& target, const int64_t* columns, int64_t n, int64_t* flat);
void UnravelIndices(const Shape& target, const TBlob& flat, const TBlob& columns);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_INDEX_COMMON_H_
