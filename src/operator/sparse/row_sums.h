/* Sums of rows by their numbers, as gradients of what picks rows from a table are made. */
#ifndef MXNET_OPERATOR_SPARSE_ROW_SUMS_H_
#define MXNET_OPERATOR_SPARSE_ROW_SUMS_H_

#include <cstdint>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/*
 * `out` gets the rows that occur in `number`, ascending, each with the sum of the rows of `from`
 * (n, the size of a row of out) that have this number. Sums have the order of `from` on any number
 * of threads, and on a GPU one order for a shape; half types are summed in float. Takes time in
 * proportion to n. Works where args.run says, and waits for a GPU.
 * REQUIRES: numbers in [0, rows of out); the same dtype.
 */
void SumRows(KernelArgs& args, const int64_t* number, int64_t n, const void* from, SparseParts* out);

/* On the CPU: where row `number` is stored, or -1. `whole`: every row is. */
int64_t FindRow(const SparseParts& parts, int64_t number, bool whole);
inline bool IsWhole(const SparseParts& parts) { return parts.stored() == parts.shape[0]; }

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_ROW_SUMS_H_
