/* What the kernels of sparse forms share: values by dtype, zeros. */
#ifndef MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_
#define MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_

#include <algorithm>
#include <cstdint>

#include "mxnet/base.h"
#include "mxnet/error.h"
#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"
#include "ndarray/sparse_copy.h"

namespace mxnet {
namespace sparse {

/* Elements that are worth a thread of their own. */
constexpr int64_t kRowGrain = 1 << 14;
/* The same in rows of so many elements each; `elements`: where those of a row are worth more. */
inline int64_t Grain(int64_t row_size, int64_t elements = kRowGrain) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(1, row_size));
}

/* visit(f), where f(data, i) tells whether element i is neither 0 nor -0: by its bits. */
template <typename F>
void VisitNonZero(int dtype, F&& visit) {
  const bool sign = IsFloating(dtype);
  switch (DTypeSize(dtype)) {
    case 1: return visit([](const void* d, int64_t i) { return static_cast<const uint8_t*>(d)[i] != 0; });
    case 2:
      return visit([m = static_cast<uint16_t>(sign ? 0x7fff : 0xffff)](const void* d, int64_t i) {
        return (static_cast<const uint16_t*>(d)[i] & m) != 0;
      });
    case 4:
      return visit(
          [m = sign ? 0x7fffffffu : 0xffffffffu](const void* d, int64_t i) { return (static_cast<const uint32_t*>(d)[i] & m) != 0; });
    default:
      return visit([m = sign ? ~(uint64_t{1} << 63) : ~uint64_t{0}](const void* d, int64_t i) {
        return (static_cast<const uint64_t*>(d)[i] & m) != 0;
      });
  }
}

inline bool AnyNonZero(const void* data, int64_t count, int dtype) {
  bool any = false;
  VisitNonZero(dtype, [&](auto is_nonzero) {
    for (int64_t i = 0; i < count && !any; ++i) any = is_nonzero(data, i);
  });
  return any;
}

// What takes a KernelArgs works where its `run` says; all that a GPU computes is put on its stream.

/* Elements of an array of any storage, in a dense one of its shape and dtype. */
void ToDense(KernelArgs& args, const TBlob& in, const TBlob& out);
/* What of a dense array is not 0. */
void FromDense(KernelArgs& args, const TBlob& in, SparseParts* out);
/* The array, or a dense copy of it in the workspace. */
TBlob AsDense(KernelArgs& args, const TBlob& in);

/* What a sparse array stores, as a tensor. */
inline TBlob ValuesOf(const SparseParts& parts) {
  TBlob values;
  values.dptr = parts.values.memory.dptr, values.shape = parts.values.shape, values.dtype = parts.values.dtype, values.ctx = parts.ctx;
  return values;
}

/* Elements of one row of a row_sparse array. */
inline int64_t RowSize(const SparseParts& parts) { return parts.shape.Prod(1, parts.shape.ndim()); }

/*
 * Runs `dense`, the kernel of a pointwise operator, on what args.in[main] stores: the result
 * has its index parts. Other inputs of the same shape (of any storage), or which broadcast to it
 * (dense), are read at the same positions. REQUIRES: kernel(0, anything else) does not matter.
 */
void OnValues(KernelArgs& args, const Kernel& dense, int main);
/* The same with the kernel of the form's own record. */
void OnValuesOfFirst(KernelArgs& args);
/* f(0) = 0, for a pointwise operator of one input with these parameters: its kernel is asked. */
bool KeepsZero(const Attrs& attrs);

/* The kernel of the dense record whose form runs, for the device that it runs on. */
const Kernel* DenseKernel(const KernelArgs& args);
/* Runs a dense kernel with these inputs; `out` is the one output. */
void RunKernel(KernelArgs& args, const Kernel& dense, Span<const TBlob> in, const TBlob& out);
/* args.out[output] = what compute(dense output) leaves there. */
template <typename F>
void ThroughDense(KernelArgs& args, int output, F&& compute) {
  const TBlob& out = args.out[output];
  if (!out.sparse) return compute(out);
  TBlob dense = out;
  dense.sparse = nullptr;
  dense.dptr = args.workspace(out.Bytes());
  compute(dense);
  FromDense(args, dense, out.sparse);
}
/* One output, by the dense kernel: for results of storages that nothing else makes. */
void RunDense(KernelArgs& args, int output);
/* One dense output, by the dense kernel, which works in place on a sparse operand that was written
 * there. REQUIRES: the operator is pointwise. */
void IntoDense(KernelArgs& args);

/* out = the index parts of `from`, and room for values. */
void CopyIndex(KernelArgs& args, const SparseParts& from, SparseParts* out);
/* Values of the rows with these ascending numbers, of a dense or row_sparse array; what that does
 * not store is 0. The first on the CPU. */
void GatherRows(const TBlob& in, const int64_t* rows, int64_t count, char* out);
void GatherRows(KernelArgs& args, const TBlob& in, const int64_t* rows, int64_t count, char* out);
/* The first number in [at, last) that is not below `row`: near `at` at once, far ones in steps that
 * double (Bentley, Yao: "An almost optimal algorithm for unbounded searching", 1976). */
const int64_t* NextRow(const int64_t* at, const int64_t* last, int64_t row);
/* Are the same rows or elements stored? */
bool SameIndex(KernelArgs& args, const SparseParts& a, const SparseParts& b);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_
