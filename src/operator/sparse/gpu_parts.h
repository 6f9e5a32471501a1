/* What the GPU's kernels of sparse forms share. All work is put on the operation's stream; memory
 * of parts changes by ResizeOnStream. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_PARTS_H_
#define MXNET_OPERATOR_SPARSE_GPU_PARTS_H_

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/* Room for so many int64 numbers in the workspace, and a list of them as a tensor. */
int64_t* NumbersOnDevice(KernelArgs& args, int64_t count);
TBlob NumbersBlob(const int64_t* numbers, int64_t count);

/* Room in the workspace for a mark of each of so many items, uint8. */
TBlob MarksOnDevice(KernelArgs& args, int64_t count);
/* For each item how many before it are marked (not 0), and behind the last one their number, which
 * is read back as well. Waits. */
const int64_t* CountMarksOnDevice(KernelArgs& args, const TBlob& marks, int64_t* marked);
/* Each number becomes the sum of those before it; the last one, read back. Waits. */
int64_t SumBeforeOnDevice(KernelArgs& args, const TBlob& numbers);

/* The least power of two from `least` on, but `most`, one itself, where that is less: how many
 * threads share something. */
inline int64_t PowerOfTwo(int64_t least, int64_t most) {
  int64_t p = 1;
  while (p < least && p < most) p *= 2;
  return p;
}
constexpr int64_t kWarp = 32;

/* Of an element whose bits say whether it is 0 or -0. */
inline int64_t BitsThatMatter(int dtype) {
  return IsFloating(dtype) ? ~static_cast<int64_t>(uint64_t{1} << (8 * DTypeSize(dtype) - 1)) : ~int64_t{0};
}

/* CopyParts between arrays of one storage and dtype. */
void CopyOnDevice(KernelArgs& args, const SparseParts& from, SparseParts* to);
/* CopyIndex of sparse_values.h. */
void CopyIndexOnDevice(KernelArgs& args, const SparseParts& from, SparseParts* to);
/* row_sparse `out` gets these row numbers, and room for values. */
void StoreRowNumbersOnDevice(KernelArgs& args, const int64_t* numbers, int64_t count, SparseParts* out);
/* Stores every row of a row_sparse array, those that were not with zeros. Returns the values. */
void* MakeWholeOnDevice(KernelArgs& args, SparseParts* parts);

/* to[i] = from[i] + by. */
void ShiftNumbersOnDevice(KernelArgs& args, const int64_t* from, int64_t count, int64_t by, int64_t* to);
/* Resize(0), where args.run says. */
void StoreNothing(KernelArgs& args, SparseParts* parts);
/* SameIndex of parts whose sizes are alike. Waits. */
bool SameNumbersOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b);
/* GatherRows of sparse_values.h, with numbers in any order. */
void GatherRowsOnDevice(KernelArgs& args, const TBlob& in, const int64_t* number, int64_t count, void* out);
/* out[n] = where csr `at` stores element n, of an array that broadcasts to its shape: dense, or csr
 * (in order) of which what is not stored is 0. */
void GatherElementsOnDevice(KernelArgs& args, const TBlob& in, const SparseParts& at, void* out);
/* Which row each element of a csr array is in. */
const int64_t* RowsOfElementsOnDevice(KernelArgs& args, const SparseParts& csr);
const int64_t* RowsOfElementsOnDevice(KernelArgs& args, const int64_t* pointers, int64_t rows, int64_t elements);

/* For each of `rows` rows 1 + its place among these `count` numbers, which are there once each, or
 * 0. */
const int64_t* PlacesOnDevice(KernelArgs& args, const int64_t* number, int64_t count, int64_t rows);
/* Row number[n] of `to` = row n of `from`, rows of so many bytes; other rows stay. */
void SpreadRowsOnDevice(KernelArgs& args, const void* from, const int64_t* number, int64_t count, int64_t row_bytes, void* to);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_PARTS_H_
