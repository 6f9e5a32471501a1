/* A kernel called for an eager operator: what it is given. */
#ifndef MXNET_IMPERATIVE_KERNEL_CALL_H_
#define MXNET_IMPERATIVE_KERNEL_CALL_H_

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "ndarray/run.h"

namespace mxnet {

/* With workspace memory, a state of its own where the record wants one, and a span of the
 * profiler. `waits`: for other operators, which may want workspace memory as well. `switches`: of
 * the caller, of a node that holds graphs. */
void CallKernel(const Kernel& kernel, const Attrs& attrs, Span<const TBlob> in, Span<const OpReq> req, Span<const TBlob> out,
                const RunContext& run, bool is_train, RandomState* random, bool waits = false, const InferSwitches* switches = nullptr);

/* For a kernel that asks for weights: as in a plan it finds by `weights` the forms of them that
 * plans have made, and keeps them in `state`. Inference, on the CPU. */
void CallKernelWithWeights(const Kernel& kernel, const Attrs& attrs, Span<const TBlob> in, Span<const uint64_t> in_versions,
                           Span<const TBlob> out, PlanWeights* weights, std::shared_ptr<OpState>* state);

/* What the kernel sees of an input. One that it looks at for its shape alone gets no memory if it
 * has none yet (placeholders of the tape). */
inline TBlob InputBlob(const Attrs& attrs, size_t i, const NDArray& a) {
  return attrs.ReadsOnlyShape(static_cast<int>(i)) ? PendingBlob(a) : a.blob();
}

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_KERNEL_CALL_H_
