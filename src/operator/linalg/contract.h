/*
 * Sums of products of arrays over labelled dimensions: what dot, matmul, tensordot, einsum and
 * their gradients are, for every dtype, where args.run says.
 *
 * A label is the number of an index. An operand has each of its labels once, with the stride of
 * that index in elements; a diagonal is a label whose stride is the sum of two. The result at the
 * labels of `out` is the sum, over all other labels, of the product of the operands. Labels that
 * only the result has repeat it. Two operands at a time are multiplied, of up to four in the order
 * with the fewest multiplications, of more those first whose product is smallest; by matrix
 * products where anything is summed.
 *
 * Numbers are summed as matrix products sum them; integers wrap around; of bools the product is
 * "and", the sum "or".
 */
#ifndef MXNET_OPERATOR_LINALG_CONTRACT_H_
#define MXNET_OPERATOR_LINALG_CONTRACT_H_

#include <cstdint>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace linalg {

struct Labelled {
  void* data = nullptr;
  std::vector<int> labels;
  std::vector<int64_t> strides;
};

/*
 * The dimensions of a row-major array `blob` under `labels`, one for each dimension, which may
 * repeat. Dimensions of size 1 are left out: they are repeated wherever others are larger.
 * `sizes` has the size of each label.
 */
Labelled Label(const TBlob& blob, const std::vector<int>& labels);

/*
 * out = the contraction of `in` (at least one). Elements of `out` that its labels do not reach (off
 * a diagonal) become 0. The dtype is that of `whole`, the array that `out` is a view of.
 */
void Contract(KernelArgs& args, const std::vector<int64_t>& sizes, std::vector<Labelled> in, const Labelled& out, const TBlob& whole);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_CONTRACT_H_
