/*
 * The functions of index_common.h, pick.h and select.h where `run` says: on the CPU, or on a GPU's
 * stream through generated kernels.
 *
 * An index that is out of range and must be refused is found by a kernel whose finding is read
 * back: these functions wait for the stream then.
 */
#ifndef MXNET_OPERATOR_INDEXING_INDEX_H_
#define MXNET_OPERATOR_INDEXING_INDEX_H_

#include <vector>

#include "operator/indexing/index_common.h"
#include "operator/indexing/pick.h"
#include "operator/indexing/select.h"

namespace mxnet {

void ConvertIndices(const RunContext& run, const int64_t* values, const TBlob& out, int64_t n);
void TakeRows(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
              void* out);
/* `values` broadcast to shape `to`, which they must fit: their own memory where they have that many
 * elements, else a copy in the kernel's workspace. */
const void* RepeatedTo(KernelArgs& args, const TBlob& values, const Shape& to);
/* data (outer, size, inner) at index[0..num) of the middle dimension = rows (outer, num, inner); of
 * several rows for one place the last is kept. */
void PutRows(KernelArgs& args, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
             const TBlob& data);
/* TakeRows with zeros for every row whose place a later row names again: the gradient of the rows
 * of PutRows. */
void TakeKeptRows(KernelArgs& args, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
                  void* out);
void PickEntries(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, void* out);
void PutEntries(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, const int64_t* index,
                const TBlob& data);
void TakeLines(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
               void* out);
void PutLines(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
              const TBlob& data);
void FillOneHot(KernelArgs& a, const TBlob& out, const TBlob& index, int64_t depth, double on, double off);
void Select(const RunContext& run, const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes);

// ---- the GPU's part of functions that see the context in KernelArgs
int64_t* ReadIndicesOnDevice(KernelArgs& args, const TBlob& indices);
int64_t* ReadIndicesInRangeOnDevice(KernelArgs& args, const TBlob& indices, int64_t size, IndexMode mode);
/* With MXNET_ENFORCE_DETERMINISM sums keep the order of the indices, else they are atomic. `add`:
 * to what is in data. */
void AddRowsOnDevice(KernelArgs& args, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
                     const TBlob& data, bool add);
/* Flat index of each column of indices (m, n) of the first m dimensions of data; negative ones
 * count from the end, others out of range are refused; the message counts axes from `axis` on. */
int64_t* FlatIndicesOnDevice(KernelArgs& args, const TBlob& indices, const Shape& data, int axis = 0);
/* For each element of a mask how many before it are not zero, and behind the last one their number:
 * Size() + 1 numbers. */
int64_t* CountChosenOnDevice(KernelArgs& args, const TBlob& mask);
/* out (outer, size, piece): the n pieces of `chosen` (outer, n, piece) where the mask counted by
 * `before` was not zero, zeros elsewhere. */
void PutChosenOnDevice(const RunContext& run, const TBlob& chosen, const int64_t* before, int64_t outer, int64_t size, int64_t n,
                       int64_t piece_bytes, const TBlob& out);
/* out[i, k]: the index along dimension axes[k] of element i of an array of shape s. */
void IndexArrayOnDevice(const RunContext& run, const Shape& s, const std::vector<int>& axes, int64_t* out);
void RavelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* columns, int64_t n, int64_t* flat);
void UnravelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* flat, int64_t n, int64_t* columns);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_INDEX_H_
