/* Reductions over whole tensors: any set of axes, any dtype, threads, OpReq. The one place with
 * reduction strides. */
#ifndef MXNET_OPERATOR_REDUCE_REDUCE_H_
#define MXNET_OPERATOR_REDUCE_REDUCE_H_

#include <vector>

#include "mxnet/kernel_args.h"
#include "operator/reduce/reduce_loops.h"

namespace mxnet {
namespace reduce {

/* What happens to a reduced value before it is stored: result = value / divisor, then its square
 * root. */
struct Finish {
  double divisor = 1;
  bool sqrt = false;
  double initial = 0;  // with has_initial: merged into the value first (sums, prod, max, min)
  bool has_initial = false;
};

/*
 * out (=, +=) reduction of `in` over the dimensions d with reduced[d]. out holds the kept
 * dimensions in the order of memory; its own shape is not looked at beyond its number of elements.
 * On the CPU images may have their channels last. `as_float`:
 * integers are accumulated and finished in double (means of integers). `call` says where to run,
 * and serves workspace.
 */
void Reduce(const KernelArgs& call, Kind kind, const TBlob& in, const std::vector<char>& reduced, const Finish& finish, bool as_float,
            const TBlob& out, OpReq req);

/* Checks and normalises axes: sorted, non-negative. Throws Error(kValue) "[op] axis..." when out of
 * range or given twice. */
std::vector<int> NormalizeAxes(const std::string& op, const Shape& axes, int ndim);

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_REDUCE_H_
