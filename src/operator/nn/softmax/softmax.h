/* Running softmax loops over an axis, for the operators that are made of it. */
#ifndef MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_H_
#define MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_H_

#include <algorithm>

#include "mxnet/env.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/softmax/softmax_kernels.h"

namespace mxnet {
namespace nn {

inline int64_t SoftmaxGrain(const SoftmaxCall& c) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, c.length * c.inner)); }

/* run(call, begin, end) by slices of the outer dimension; where these are fewer than threads, by
 * ranges of the inner one. */
template <typename F>
void ForSoftmaxParts(const SoftmaxCall& c, int64_t outer, F&& run) {
  constexpr int64_t kColumns = 64;  // a thread's least: whole lines of the cache
  const int threads = OmpMaxThreads();
  if (outer >= threads || c.inner < 2 * kColumns) return ParallelFor(outer, SoftmaxGrain(c), [&](int64_t b, int64_t e) { run(c, b, e); });
  const int64_t groups = (c.inner + kColumns - 1) / kColumns;
  ParallelFor(groups, std::max<int64_t>(1, 8192 / (kColumns * c.length * outer)), [&](int64_t b, int64_t e) {
    SoftmaxCall part = c;
    part.first = b * kColumns, part.last = std::min(e * kColumns, c.inner);
    run(part, 0, outer);
  });
}

template <typename T>
void RunSoftmax(SoftmaxCall c, const T* x, T* y, int64_t outer) {
  if (outer * c.length * c.inner == 0) return;
  c.safe = Env::Get().safe_accumulation;
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  ForSoftmaxParts(c, outer, [&](const SoftmaxCall& part, int64_t b, int64_t e) {
    MXNET_CPU_CALL(SoftmaxForward)(part, dtype, x, y, b, e);
  });
}

template <typename T>
void RunSoftmaxBackward(SoftmaxCall c, const T* og, const T* y, T* dx, int64_t outer) {
  if (outer * c.length * c.inner == 0) return;
  c.safe = Env::Get().safe_accumulation;
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  ForSoftmaxParts(c, outer, [&](const SoftmaxCall& part, int64_t b, int64_t e) {
    MXNET_CPU_CALL(SoftmaxBackward)(part, dtype, og, y, dx, b, e);
  });
}

/* The same for arrays of which at least one is float16 or bfloat16 and none float64, without float
 * copies of them. */
void RunSoftmaxHalf(SoftmaxCall c, const TBlob& x, const TBlob& y, int64_t outer);
/* c.mask: elements whose gradient does not count. */
void RunSoftmaxBackwardHalf(SoftmaxCall c, const TBlob& og, const TBlob& y, const TBlob& dx, int64_t outer);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_H_
