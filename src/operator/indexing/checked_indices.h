/*
 * MXNET_CHECK_INDICES: labels and indices that are out of range are an Error(kIndex) which names
 * operator, value and place, where 1.x clips or ignores them. A kernel is wrapped once, where its
 * record is made; with the variable off the wrapper costs one test.
 */
#ifndef MXNET_OPERATOR_INDEXING_CHECKED_INDICES_H_
#define MXNET_OPERATOR_INDEXING_CHECKED_INDICES_H_

#include <cmath>
#include <utility>

#include "mxnet/env.h"
#include "operator/indexing/index_common.h"

namespace mxnet {

/* Which entries of an index array are accepted: those in [low, size), cut off towards zero, and
 * those equal to `ignored`. */
struct IndexRange {
  int64_t size = 0;
  double ignored = std::nan("");  // not a number: nothing
  int64_t low = 0;                // 0 or 1: lengths of sequences
  bool any = false;               // this call takes every index (mode wrap, labels that are probabilities)
};

/* Looks at all entries of `indices`, on the device that they are on. Throws Error(kIndex). */
void CheckIndexArray(KernelArgs& args, const TBlob& indices, const IndexRange& range);

/* `kernel`, before which input `input`, where there is one, is looked at when the variable is on.
 * `range` is called with the KernelArgs. */
template <typename Range, typename Function>
Kernel WithCheckedIndices(int input, Range range, Function kernel) {
  return [input, range, kernel](KernelArgs& args) {
    if (__builtin_expect(Env::Get().check_indices, 0) && input < args.in.size()) CheckIndexArray(args, args.in[input], range(args));
    kernel(args);
  };
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_CHECKED_INDICES_H_
