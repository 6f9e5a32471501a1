/* The functions of move.h where `run` says: on the CPU, or on a GPU's stream through generated
 * kernels. The same meaning otherwise. */
#ifndef MXNET_OPERATOR_MATRIX_GPU_MOVE_H_
#define MXNET_OPERATOR_MATRIX_GPU_MOVE_H_

#include "mxnet/run_context.h"
#include "operator/matrix/move.h"

namespace mxnet {

void CopyBytes(const RunContext& run, const void* src, void* dst, int64_t bytes);
/* On a GPU: at most 8 dimensions after merging, else Error(kValue). */
void CopyStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride,
                 const int64_t* shape, int ndim, size_t elem_bytes);
void Permute(const RunContext& run, const void* src, const Shape& src_shape, const int* axes, void* dst, size_t elem_bytes);
void CopyRows(const RunContext& run, const void* src, int64_t src_pitch, void* dst, int64_t dst_pitch, int64_t row_bytes, int64_t rows);
/* On a GPU with sums in double or int64, one order for a shape. */
void AddStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride,
                const int64_t* shape, int ndim, int dtype);
void ZeroBytes(const RunContext& run, void* dst, int64_t bytes);

/* On a GPU: to = from, whose channels lie where its own layout says. */
void ConvertLayoutOnDevice(const RunContext& run, const TBlob& from, const TBlob& to);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_GPU_MOVE_H_
